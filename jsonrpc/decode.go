package jsonrpc

import (
	"errors"
	"io"
	"strconv"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// The bounds of a [Decoder] that says nothing else.
const (
	DefaultMaxID      = 1024
	DefaultMaxMembers = 256
	DefaultMaxBatch   = 1000
)

// Decoder decodes frames. The zero value is usable; it may be used by several
// goroutines.
type Decoder struct {
	MaxDepth   int // levels of nesting; 0 means jsonwire.DefaultDepth
	MaxID      int // bytes of an id; 0 means DefaultMaxID
	MaxMembers int // members of the envelope and of params each; 0 means DefaultMaxMembers
	// Methods maps the names of known methods to themselves, so that decoding
	// one of them need not copy it.
	Methods map[string]string
}

// A DecodeError is a frame that was refused: the error to reply with, and the
// id of the request if one could be read.
type DecodeError struct {
	ID  ID
	Err *Error
	// Response is set when the frame has no method but a result or an error.
	// A response is never answered.
	Response bool
}

func (e *DecodeError) Error() string { return e.Err.Error() }

func (e *DecodeError) Unwrap() error { return e.Err }

// IsBatch reports whether a frame holds an array.
func IsBatch(frame []byte) bool {
	i := jsonwire.SkipSpace(frame)
	return i < len(frame) && frame[i] == '['
}

// Decode decodes the single message in a frame. The message refers to the
// frame. The error is a [*DecodeError].
func (d *Decoder) Decode(frame []byte) (Message, error) {
	e := envelope{d: d, b: frame}
	if err := e.scan(); err != nil {
		return nil, &DecodeError{ID: e.readableID(), Err: err}
	}
	return e.message()
}

// Split checks the batch in a frame and returns its members, each to be decoded
// on its own. The error is a [*DecodeError]; an empty batch is one.
func (d *Decoder) Split(frame []byte, max int) ([][]byte, error) {
	if max <= 0 {
		max = DefaultMaxBatch
	}
	if err := jsonwire.Valid(frame, d.depth()+1); err != nil {
		return nil, &DecodeError{Err: syntaxError(err)}
	}
	var members [][]byte
	for a := jsonwire.Elements(frame[jsonwire.SkipSpace(frame):]); ; {
		m, ok := a.Next()
		if !ok {
			break
		}
		if members = append(members, m); len(members) > max {
			return nil, &DecodeError{Err: Errorf(CodeInvalidRequest, "the batch has more than %d members", max)}
		}
	}
	if len(members) == 0 {
		return nil, &DecodeError{Err: Errorf(CodeInvalidRequest, "the batch is empty")}
	}
	return members, nil
}

func (d *Decoder) depth() int {
	if d.MaxDepth > 0 {
		return d.MaxDepth
	}
	return jsonwire.DefaultDepth
}

func (d *Decoder) maxID() int {
	if d.MaxID > 0 {
		return d.MaxID
	}
	return DefaultMaxID
}

func (d *Decoder) maxMembers() int {
	if d.MaxMembers > 0 {
		return d.MaxMembers
	}
	return DefaultMaxMembers
}

// envelope is a message while it is scanned. The fields are raw values within
// the frame, nil while they have not been seen.
type envelope struct {
	d                                   *Decoder
	b                                   []byte
	version, id, method, result, errObj []byte
	req                                 *Request // made when params is met, or at the end
	params                              paramsState
	others                              [][]byte // names of members that we do not know
}

type paramsState uint8

const (
	paramsAbsent paramsState = iota
	paramsObject
	paramsOther     // something that is no object
	paramsDuplicate // an object with a name twice
	paramsCrowded   // an object with too many members
)

func (e *envelope) request() *Request {
	if e.req == nil {
		e.req = new(Request)
	}
	return e.req
}

func syntaxError(err error) *Error {
	return Errorf(CodeParse, "parse error: %v", err)
}

// scan walks over the frame once.
func (e *envelope) scan() *Error {
	i := jsonwire.SkipSpace(e.b)
	if i == len(e.b) {
		return syntaxError(&jsonwire.SyntaxError{Offset: i, Err: io.ErrUnexpectedEOF})
	}
	if e.b[i] != '{' {
		if err := jsonwire.Valid(e.b, e.d.depth()); err != nil {
			return syntaxError(err)
		}
		return Errorf(CodeInvalidRequest, "a message must be a JSON object")
	}
	n, crowd, err := e.members(i)
	if err != nil {
		return syntaxError(&jsonwire.SyntaxError{Offset: n, Err: err})
	}
	if n += jsonwire.SkipSpace(e.b[n:]); n < len(e.b) {
		return syntaxError(&jsonwire.SyntaxError{Offset: n, Err: jsonwire.ErrTrailing})
	}
	return crowd
}

// members scans the object at i and returns the offset behind it. The second
// result says what is wrong with a well-formed object as a message.
func (e *envelope) members(i int) (int, *Error, error) {
	var invalid *Error
	i++
	i += jsonwire.SkipSpace(e.b[i:])
	if i < len(e.b) && e.b[i] == '}' {
		return i + 1, nil, nil
	}
	for {
		start := i
		n, err := jsonwire.ConsumeMemberName(e.b[i:])
		i += n
		if err != nil {
			return i, nil, err
		}
		name := e.b[start : start+jsonwire.SkipString(e.b[start:])]
		n, refused, err := e.member(name, i)
		i += n
		if err != nil {
			return i, nil, err
		}
		if invalid == nil {
			invalid = refused
		}
		n, end, err := jsonwire.ConsumeNext(e.b[i:], '}')
		i += n
		if err != nil || end {
			return i, invalid, err
		}
	}
}

// member scans the value at i and files it under its name. It returns the
// length of the value.
func (e *envelope) member(name []byte, i int) (int, *Error, error) {
	known := name
	for _, c := range name {
		if c == '\\' { // rare: a name spelled with escapes
			known = jsonwire.AppendQuote(nil, jsonwire.Unquote(name))
			break
		}
	}
	var field *[]byte
	switch string(known) {
	case `"jsonrpc"`:
		field = &e.version
	case `"id"`:
		field = &e.id
	case `"method"`:
		field = &e.method
	case `"result"`:
		field = &e.result
	case `"error"`:
		field = &e.errObj
	case `"params"`:
		if e.params != paramsAbsent {
			n, err := jsonwire.ConsumeValue(e.b[i:], e.d.depth()-1)
			return n, duplicate("params"), err
		}
		n, err := e.scanParams(i)
		return n, nil, err
	default:
		n, err := jsonwire.ConsumeValue(e.b[i:], e.d.depth()-1)
		return n, e.other(known), err
	}
	n, err := jsonwire.ConsumeValue(e.b[i:], e.d.depth()-1)
	if *field != nil {
		return n, duplicate(string(known[1 : len(known)-1])), err
	}
	*field = e.b[i : i+n]
	return n, nil, err
}

func duplicate(name string) *Error {
	return Errorf(CodeInvalidRequest, "the message has the member %q twice", name)
}

// other notes a member that is not part of JSON-RPC. Such members are ignored,
// but not when one comes twice.
func (e *envelope) other(name []byte) *Error {
	for _, o := range e.others {
		if string(o) == string(name) {
			return Errorf(CodeInvalidRequest, "the message has a member twice")
		}
	}
	if e.others = append(e.others, name); len(e.others) > e.d.maxMembers() {
		return Errorf(CodeInvalidRequest, "the message has more than %d members that are not part of JSON-RPC", e.d.maxMembers())
	}
	return nil
}

// scanParams scans the value at i and notes where its members are.
func (e *envelope) scanParams(i int) (int, error) {
	if i == len(e.b) || e.b[i] != '{' {
		e.params = paramsOther
		return jsonwire.ConsumeValue(e.b[i:], e.d.depth()-1)
	}
	e.params = paramsObject
	p := &e.request().Params
	b := e.b[i:]
	p.Raw = b
	n := 1
	n += jsonwire.SkipSpace(b[n:])
	if n < len(b) && b[n] == '}' {
		p.Raw = b[:n+1]
		return n + 1, nil
	}
	for {
		m := member{name: uint32(n)}
		k, err := jsonwire.ConsumeMemberName(b[n:])
		if err != nil {
			return n + k, err
		}
		m.nameEnd = uint32(n + jsonwire.SkipString(b[n:]))
		n += k
		m.value = uint32(n)
		k, err = jsonwire.ConsumeValue(b[n:], e.d.depth()-2)
		if n += k; err != nil {
			return n, err
		}
		m.valueEnd = uint32(n)
		e.noteParam(p, m)
		k, end, err := jsonwire.ConsumeNext(b[n:], '}')
		if n += k; err != nil {
			return n, err
		}
		if end {
			p.Raw = b[:n]
			return n, nil
		}
	}
}

func (e *envelope) noteParam(p *Params, m member) {
	switch {
	case e.params != paramsObject:
	case len(p.members) >= e.d.maxMembers():
		e.params = paramsCrowded
	case !p.add(m):
		e.params = paramsDuplicate
	}
}

// readableID returns the id of a frame that was refused, for the reply.
func (e *envelope) readableID() ID {
	if e.id == nil || len(e.id) > e.d.maxID() {
		return ""
	}
	id, _ := ParseID(e.id, e.d.maxID())
	return id
}

// message builds the message out of its parts.
func (e *envelope) message() (Message, error) {
	isResponse := e.method == nil && (e.result != nil || e.errObj != nil)
	if err := e.check(); err != nil {
		return nil, &DecodeError{ID: e.readableID(), Err: err, Response: isResponse}
	}
	if isResponse {
		r, err := e.response()
		if err != nil {
			return nil, &DecodeError{ID: e.readableID(), Err: err, Response: true}
		}
		return r, nil
	}
	r := e.request()
	if e.id != nil {
		r.ID, _ = ParseID(e.id, e.d.maxID())
	}
	if err := e.checkParams(); err != nil {
		return nil, &DecodeError{ID: r.ID, Err: err}
	}
	r.Method = e.methodName()
	return r, nil
}

func (e *envelope) methodName() string {
	if inner := e.method[1 : len(e.method)-1]; e.d.Methods != nil {
		if name, ok := e.d.Methods[string(inner)]; ok {
			return name
		}
	}
	return jsonwire.Unquote(e.method)
}

// check decides whether the parts make a message.
func (e *envelope) check() *Error {
	if e.version == nil {
		return Errorf(CodeInvalidRequest, `the member "jsonrpc" is missing: want "2.0"`)
	}
	if e.version[0] != '"' || !jsonwire.EqualString(e.version, "2.0") {
		return Errorf(CodeInvalidRequest, `the member "jsonrpc" must be "2.0"`)
	}
	if err := e.checkID(); err != nil {
		return err
	}
	switch {
	case e.method == nil && e.result == nil && e.errObj == nil:
		return Errorf(CodeInvalidRequest, `the message has no "method", "result" or "error"`)
	case e.method != nil && (e.result != nil || e.errObj != nil):
		return Errorf(CodeInvalidRequest, `the message has a "method" as well as a "result" or an "error"`)
	case e.result != nil && e.errObj != nil:
		return Errorf(CodeInvalidRequest, `the message has a "result" as well as an "error"`)
	case e.method != nil && e.method[0] != '"':
		return Errorf(CodeInvalidRequest, `the member "method" must be a string`)
	}
	return nil
}

func (e *envelope) checkID() *Error {
	if e.id == nil {
		return nil
	}
	if e.method == nil && e.errObj != nil && string(e.id) == "null" {
		return nil // an error that answers no request in particular
	}
	if len(e.id) > e.d.maxID() && (e.id[0] == '"' || e.id[0] == '-' || e.id[0] >= '0' && e.id[0] <= '9') {
		return Errorf(CodeInvalidRequest, "the id has %d bytes, at most %d are allowed", len(e.id), e.d.maxID())
	}
	if _, ok := ParseID(e.id, e.d.maxID()); !ok {
		return Errorf(CodeInvalidRequest, "the id must be a string or an integer")
	}
	return nil
}

func (e *envelope) checkParams() *Error {
	switch e.params {
	case paramsOther:
		return Errorf(CodeInvalidParams, "params must be an object")
	case paramsDuplicate:
		return Errorf(CodeInvalidParams, "params has a member twice")
	case paramsCrowded:
		return Errorf(CodeInvalidParams, "params has more than %d members", e.d.maxMembers())
	}
	return nil
}

// response builds a response.
func (e *envelope) response() (*Response, *Error) {
	r := new(Response)
	if e.id != nil {
		r.ID, _ = ParseID(e.id, e.d.maxID())
	}
	if e.result != nil {
		switch {
		case e.result[0] != '{':
			return nil, Errorf(CodeInvalidRequest, "the result must be an object")
		case r.ID == "":
			return nil, Errorf(CodeInvalidRequest, "a result needs an id")
		}
		r.Result = e.result
		return r, nil
	}
	obj, err := errorObject(e.errObj)
	if err != nil {
		return nil, Errorf(CodeInvalidRequest, "invalid error object: %v", err)
	}
	r.Error = obj
	return r, nil
}

// errorObject reads the error object of a response.
func errorObject(raw []byte) (*Error, error) {
	if raw[0] != '{' {
		return nil, errors.New("it is not an object")
	}
	code, message := jsonwire.Lookup(raw, "code"), jsonwire.Lookup(raw, "message")
	n, err := strconv.Atoi(string(code))
	switch {
	case err != nil:
		return nil, errors.New(`"code" must be an integer`)
	case message == nil || message[0] != '"':
		return nil, errors.New(`"message" must be a string`)
	}
	return &Error{Code: n, Message: jsonwire.Unquote(message), Data: jsonwire.Lookup(raw, "data")}, nil
}

package jsonrpc

import (
	"errors"
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

// maxName bounds the names of the members that are compared with one another,
// in bytes, and with that the time that looking for duplicates takes.
const maxName = 1024

// A DecodeError is a frame that was refused: the error to reply with, and the
// id of the request if one could be read. Of an id that comes twice, or that may
// have been cut off, none can.
type DecodeError struct {
	ID  ID
	Err *Error
	// Response is set when the frame has no method but a result or an error.
	// A response is never answered, since its id is one of our own.
	Response bool
	// Notification is set when the frame would be a notification if its params
	// or its other members were as they should. A notification is never
	// answered.
	Notification bool
}

func (e *DecodeError) Error() string { return e.Err.Error() }

func (e *DecodeError) Unwrap() error { return e.Err }

// IsBatch reports whether a frame holds an array.
func IsBatch(frame []byte) bool {
	i := jsonwire.SkipSpace(frame)
	return i < len(frame) && frame[i] == '['
}

// Decode decodes the single message in a frame, which must be shorter than
// 4 GiB. The message refers to the frame. The error is a [*DecodeError].
func (d *Decoder) Decode(frame []byte) (Message, error) { return d.decode(frame, nil) }

// decode is [Decoder.Decode] into a zero request, if the message is one; nil
// makes a new one.
func (d *Decoder) decode(frame []byte, into *Request) (Message, error) {
	e := envelope{d: d, b: frame, req: into}
	if err := e.scan(); err != nil {
		return nil, e.refusal(syntaxError(err), false)
	}
	if err := e.check(); err != nil {
		return nil, e.refusal(err, e.isNotification())
	}
	if e.isResponse() {
		r, err := e.response()
		if err != nil {
			return nil, e.refusal(err, false)
		}
		return r, nil
	}
	return e.finish(), nil
}

// Split checks the batch in a frame, at most max members (0 means
// [DefaultMaxBatch]), and returns the members, each to be decoded on its own.
// The error is a [*DecodeError]; an empty batch is one.
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
	idEnd                               int      // offset behind the id
	idTwice                             bool     // so it is not known which one is meant
	req                                 *Request // made when params is met, or at the end
	params                              paramsState
	others                              [][]byte // names of members that we do not know
	invalid                             *Error   // the first thing wrong with well-formed members
}

type paramsState uint8

const (
	paramsAbsent paramsState = iota
	paramsObject
	paramsOther     // something that is no object
	paramsDuplicate // an object with a name twice
	paramsCrowded   // an object with too many members
	paramsLongName  // an object with a very long name
)

func (e *envelope) request() *Request {
	if e.req == nil {
		e.req = new(Request)
	}
	return e.req
}

// refuse notes what is wrong with the members as a message, unless something
// else was before.
func (e *envelope) refuse(format string, args ...any) {
	if e.invalid == nil {
		e.invalid = Errorf(CodeInvalidRequest, format, args...)
	}
}

func syntaxError(err error) *Error {
	return Errorf(CodeParse, "parse error: %v", err)
}

// scan walks over the frame once. The error is a [*jsonwire.SyntaxError].
func (e *envelope) scan() error {
	i := jsonwire.SkipSpace(e.b)
	if i == len(e.b) || e.b[i] != '{' {
		e.refuse("a message must be a JSON object")
		return jsonwire.Valid(e.b, e.d.depth())
	}
	n, err := e.members(i)
	if err != nil {
		if e.id != nil && e.idEnd+jsonwire.SkipSpace(e.b[e.idEnd:]) >= n {
			e.id = nil // it may be cut off: 1 may have been the start of 12
		}
		return &jsonwire.SyntaxError{Offset: n, Err: err}
	}
	if n += jsonwire.SkipSpace(e.b[n:]); n < len(e.b) {
		return &jsonwire.SyntaxError{Offset: n, Err: jsonwire.ErrTrailing}
	}
	return nil
}

// members scans the object at i and returns the offset behind it, or that of
// the fault.
func (e *envelope) members(i int) (int, error) {
	i++
	i += jsonwire.SkipSpace(e.b[i:])
	if i < len(e.b) && e.b[i] == '}' {
		return i + 1, nil
	}
	for {
		n, nameEnd, escaped, err := jsonwire.ConsumeMemberName(e.b[i:])
		if err != nil {
			return i + n, err
		}
		name := e.b[i : i+nameEnd]
		if escaped {
			name = jsonwire.AppendQuote(nil, jsonwire.Unquote(name))
		}
		i += n
		n, err = e.member(name, i)
		if i += n; err != nil {
			return i, err
		}
		n, end, err := jsonwire.ConsumeNext(e.b[i:], '}')
		if i += n; err != nil || end {
			return i, err
		}
	}
}

// member scans the value at i and files it under its name. It returns the
// length of the value. What is cut off by a fault is filed as well, so that a
// broken response is known for one.
func (e *envelope) member(name []byte, i int) (int, error) {
	var field *[]byte
	switch string(name) {
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
		if e.params == paramsAbsent {
			return e.scanParams(i)
		}
		e.refuse(`the message has the member "params" twice`)
	default:
		e.other(name)
	}
	n, err := jsonwire.ConsumeValue(e.b[i:], e.d.depth()-1)
	switch {
	case field == nil:
	case *field == nil:
		*field = e.b[i : i+n]
		if field == &e.id {
			e.idEnd = i + n
		}
	default:
		e.refuse("the message has the member %s twice", name)
		e.idTwice = e.idTwice || field == &e.id
	}
	return n, err
}

// other notes a member that is not part of JSON-RPC. Such members are ignored,
// but not when one comes twice.
func (e *envelope) other(name []byte) {
	switch {
	case e.invalid != nil: // one reason is enough
	case len(name) > maxName:
		e.refuse("the message has a member whose name is longer than %d bytes", maxName)
	case containsName(e.others, name):
		e.refuse("the message has a member twice")
	case len(e.others) == e.d.maxMembers():
		e.refuse("the message has more than %d members that are not part of JSON-RPC", e.d.maxMembers())
	default:
		e.others = append(e.others, name)
	}
}

func containsName(names [][]byte, name []byte) bool {
	for _, n := range names {
		if string(n) == string(name) {
			return true
		}
	}
	return false
}

// scanParams scans the value at i and notes where its members are.
func (e *envelope) scanParams(i int) (int, error) {
	b := e.b[i:]
	if len(b) == 0 || b[0] != '{' {
		e.params = paramsOther
		return jsonwire.ConsumeValue(b, e.d.depth()-1)
	}
	if e.d.depth() < 2 {
		return 0, jsonwire.ErrDepth
	}
	e.params = paramsObject
	p := &e.request().Params
	p.Raw = b
	n := 1
	n += jsonwire.SkipSpace(b[n:])
	if n < len(b) && b[n] == '}' {
		p.Raw = b[:n+1]
		return n + 1, nil
	}
	for {
		k, nameEnd, escaped, err := jsonwire.ConsumeMemberName(b[n:])
		if err != nil {
			return n + k, err
		}
		m := member{name: uint32(n), nameEnd: uint32(n + nameEnd)}
		n += k
		m.value = uint32(n)
		k, err = jsonwire.ConsumeValue(b[n:], e.d.depth()-2)
		if n += k; err != nil {
			return n, err
		}
		m.valueEnd = uint32(n)
		e.noteParam(p, m, escaped)
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

func (e *envelope) noteParam(p *Params, m member, escaped bool) {
	switch {
	case e.params != paramsObject: // one reason is enough
	case m.nameEnd-m.name > maxName:
		e.params = paramsLongName
	case len(p.members) >= e.d.maxMembers():
		e.params = paramsCrowded
	case !p.add(m, escaped):
		e.params = paramsDuplicate
	}
}

// refusal is the error for a frame that cannot be accepted.
func (e *envelope) refusal(err *Error, notification bool) *DecodeError {
	return &DecodeError{ID: e.readableID(), Err: err, Response: e.isResponse(), Notification: notification}
}

// readableID returns the id of a frame that is refused, for the reply.
func (e *envelope) readableID() ID {
	if e.idTwice {
		return ""
	}
	id, _ := ParseID(e.id, e.d.maxID())
	return id
}

// isResponse reports whether the frame has the parts of a response.
func (e *envelope) isResponse() bool {
	return e.method == nil && (e.result != nil || e.errObj != nil)
}

// isNotification reports whether the frame has the parts of a notification,
// whatever its params and its other members are.
func (e *envelope) isNotification() bool {
	return e.id == nil && e.checkParts() == nil && !e.isResponse()
}

// finish makes the request of an envelope that has been checked.
func (e *envelope) finish() *Request {
	r := e.request()
	if e.id != nil {
		r.ID = ID(e.id)
	}
	r.Method = e.methodName()
	return r
}

func (e *envelope) methodName() string {
	if name, ok := e.d.Methods[string(e.method[1:len(e.method)-1])]; ok {
		return name
	}
	return jsonwire.Unquote(e.method)
}

// check decides whether a well-formed frame is a message.
func (e *envelope) check() *Error {
	if e.invalid != nil {
		return e.invalid
	}
	if err := e.checkParts(); err != nil {
		return err
	}
	if e.isResponse() {
		return nil
	}
	return e.checkParams()
}

// checkParts decides whether the parts are those of one kind of message.
func (e *envelope) checkParts() *Error {
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
	switch {
	case e.id == nil || validID(e.id, e.d.maxID()):
		return nil
	case e.method == nil && e.errObj != nil && string(e.id) == "null":
		return nil // an error that answers no request in particular
	case validID(e.id, len(e.id)):
		return Errorf(CodeInvalidRequest, "the id has %d bytes, at most %d are allowed", len(e.id), e.d.maxID())
	}
	return Errorf(CodeInvalidRequest, "the id must be a string or an integer")
}

func (e *envelope) checkParams() *Error {
	switch e.params {
	case paramsOther:
		return Errorf(CodeInvalidParams, "params must be an object")
	case paramsDuplicate:
		return Errorf(CodeInvalidParams, "params has a member twice")
	case paramsCrowded:
		return Errorf(CodeInvalidParams, "params has more than %d members", e.d.maxMembers())
	case paramsLongName:
		return Errorf(CodeInvalidParams, "params has a member whose name is longer than %d bytes", maxName)
	}
	return nil
}

// response builds a response.
func (e *envelope) response() (*Response, *Error) {
	r := new(Response)
	r.ID, _ = ParseID(e.id, e.d.maxID())
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

package jsonrpc

import (
	"slices"
	"strconv"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// Message is a [*Request] or a [*Response].
type Message interface{ message() }

// Request is a request, or a notification if it has no id. It refers to the
// bytes of the frame that it was decoded from.
type Request struct {
	ID     ID
	Method string
	Params Params
}

// Response is the answer to a request. Exactly one of Result and Error is set.
// An error that answers no request in particular has no id.
type Response struct {
	ID     ID
	Result []byte // raw JSON object
	Error  *Error

	fault error // why a message that answers a request is no response
}

func (*Request) message()  {}
func (*Response) message() {}

// IsNotification reports whether the request expects no answer.
func (r *Request) IsNotification() bool { return r.ID == "" }

const inlineMembers = 3

// Params is the params object of a request and where its members are.
type Params struct {
	Raw     []byte // the object as it came, or nil if there was none
	members []member
	inline  [inlineMembers]member // room for the usual number
	// What the names mean, by member, if some name is spelled with an escape; else
	// nil, and the bytes say so.
	names *[]string
}

// member is where a member is within Params.Raw.
type member struct{ name, nameEnd, value, valueEnd uint32 }

// Get returns the value of a member as raw JSON, or nil.
func (p *Params) Get(name string) []byte {
	for i := range p.members {
		if p.is(i, name) {
			m := &p.members[i]
			return p.Raw[m.value:m.valueEnd]
		}
	}
	return nil
}

// is reports whether the i-th member has the name.
func (p *Params) is(i int, name string) bool {
	if p.names != nil {
		return (*p.names)[i] == name
	}
	m := &p.members[i]
	return string(p.Raw[m.name+1:m.nameEnd-1]) == name
}

// add notes a member. It reports false if there is one of that name.
func (p *Params) add(m member, escaped bool) bool {
	if escaped && p.names == nil {
		p.spellOut()
	}
	if !p.isNew(m) {
		return false
	}
	if p.members == nil {
		p.members = p.inline[:0]
	}
	p.members = append(p.members, m)
	return true
}

// isNew reports whether there is no member of that name yet, and notes what the
// name means if that is done.
func (p *Params) isNew(m member) bool {
	if p.names != nil {
		name := jsonwire.Unquote(p.Raw[m.name:m.nameEnd])
		if slices.Contains(*p.names, name) {
			return false
		}
		*p.names = append(*p.names, name)
		return true
	}
	name := p.Raw[m.name:m.nameEnd]
	for i := range p.members {
		o := &p.members[i]
		if string(p.Raw[o.name:o.nameEnd]) == string(name) {
			return false
		}
	}
	return true
}

// spellOut notes what the names so far mean, none of which has an escape.
func (p *Params) spellOut() {
	names := make([]string, 0, len(p.members)+1)
	for _, m := range p.members {
		names = append(names, string(p.Raw[m.name+1:m.nameEnd-1]))
	}
	p.names = &names
}

// AppendRequest appends a request, or a notification if id is empty. Params is
// raw JSON without line ends, or nil.
func AppendRequest(dst []byte, id ID, method string, params []byte) []byte {
	dst = appendMethod(dst, id, method)
	if params != nil {
		dst = append(dst, `,"params":`...)
		dst = append(dst, params...)
	}
	return append(dst, '}')
}

// appendMethod appends the start of a request, up to the method.
func appendMethod(dst []byte, id ID, method string) []byte {
	dst = append(dst, `{"jsonrpc":"2.0",`...)
	if id != "" {
		dst = append(dst, `"id":`...)
		dst = append(dst, id...)
		dst = append(dst, ',')
	}
	dst = append(dst, `"method":`...)
	return jsonwire.AppendQuote(dst, method)
}

// appendHead appends the start of a response, up to the result.
func appendHead(dst []byte, id ID) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	return append(dst, `,"result":`...)
}

// AppendResult appends a response with a result, raw JSON without line ends.
func AppendResult(dst []byte, id ID, result []byte) []byte {
	dst = appendHead(dst, id)
	dst = append(dst, result...)
	return append(dst, '}')
}

// AppendError appends a response with an error. Without an id the member is
// left out if omit is set, and null otherwise.
func AppendError(dst []byte, id ID, omit bool, e *Error) []byte {
	dst = append(dst, `{"jsonrpc":"2.0"`...)
	switch {
	case id != "":
		dst = append(dst, `,"id":`...)
		dst = append(dst, id...)
	case !omit:
		dst = append(dst, `,"id":null`...)
	}
	dst = append(dst, `,"error":`...)
	dst = e.Append(dst)
	return append(dst, '}')
}

// Append appends the message as one frame. Line ends that its params came with
// are left out, since a frame may be a line.
func (r *Request) Append(dst []byte) []byte {
	dst = appendMethod(dst, r.ID, r.Method)
	if r.Params.Raw != nil {
		dst = append(dst, `,"params":`...)
		dst = jsonwire.AppendLine(dst, r.Params.Raw)
	}
	return append(dst, '}')
}

// Append appends the message as one frame, without line ends as for a request.
func (r *Response) Append(dst []byte) []byte {
	if r.Error != nil {
		return AppendError(dst, r.ID, true, r.Error)
	}
	return append(jsonwire.AppendLine(appendHead(dst, r.ID), r.Result), '}')
}

// intID returns the id for the n-th request of our own.
func intID(n uint64) ID { return ID(strconv.FormatUint(n, 10)) }

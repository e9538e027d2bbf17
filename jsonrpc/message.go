package jsonrpc

import (
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
}

func (*Request) message()  {}
func (*Response) message() {}

// IsNotification reports whether the request expects no answer.
func (r *Request) IsNotification() bool { return r.ID == "" }

const inlineMembers = 6

// Params is the params object of a request and where its members are.
type Params struct {
	Raw     []byte // the object as it came, or nil if there was none
	members []member
	inline  [inlineMembers]member // room for the usual number
}

// member is where a member is within Params.Raw.
type member struct{ name, nameEnd, value, valueEnd uint32 }

// Get returns the value of a member as raw JSON, or nil.
func (p *Params) Get(name string) []byte {
	for i := range p.members {
		m := &p.members[i]
		if jsonwire.EqualString(p.Raw[m.name:m.nameEnd], name) {
			return p.Raw[m.value:m.valueEnd]
		}
	}
	return nil
}

// add notes a member. It reports false if there is one of that name.
func (p *Params) add(m member) bool {
	name := p.Raw[m.name:m.nameEnd]
	for i := range p.members {
		o := &p.members[i]
		if jsonwire.EqualStrings(p.Raw[o.name:o.nameEnd], name) {
			return false
		}
	}
	if p.members == nil {
		p.members = p.inline[:0]
	}
	p.members = append(p.members, m)
	return true
}

// AppendRequest appends a request, or a notification if id is empty. Params is
// raw JSON without line ends, or nil.
func AppendRequest(dst []byte, id ID, method string, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0",`...)
	if id != "" {
		dst = append(dst, `"id":`...)
		dst = append(dst, id...)
		dst = append(dst, ',')
	}
	dst = append(dst, `"method":`...)
	dst = jsonwire.AppendQuote(dst, method)
	if params != nil {
		dst = append(dst, `,"params":`...)
		dst = append(dst, params...)
	}
	return append(dst, '}')
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

// Append appends the message as one frame.
func (r *Request) Append(dst []byte) []byte {
	return AppendRequest(dst, r.ID, r.Method, r.Params.Raw)
}

// Append appends the message as one frame.
func (r *Response) Append(dst []byte) []byte {
	if r.Error != nil {
		return AppendError(dst, r.ID, true, r.Error)
	}
	return AppendResult(dst, r.ID, r.Result)
}

// intID returns the id for the n-th request of our own.
func intID(n uint64) ID { return ID(strconv.FormatUint(n, 10)) }

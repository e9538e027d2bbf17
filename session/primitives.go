package session

import (
	"errors"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// lister returns the handler of a list method.
func lister(kind policy.Kind) func(*exchange, []byte) ([]byte, error) {
	return func(x *exchange, dst []byte) ([]byte, error) { return x.list(dst, kind) }
}

func (x *exchange) list(dst []byte, kind policy.Kind) ([]byte, error) {
	raw := x.req.Params.Get("cursor")
	cursor, has := "", raw != nil && string(raw) != "null"
	if has {
		var err error
		if cursor, err = x.text("cursor"); err != nil {
			return dst, err
		}
	}
	dst, err := x.server.layer.AppendList(x.open(dst), kind, &x.Request, cursor, has)
	if err != nil {
		return dst, err
	}
	return x.close(x.appendCaching(dst, x.server.layer.Private()), nil), nil
}

func (x *exchange) callTool(dst []byte) ([]byte, error) {
	name := x.req.Params.Get("name")
	if len(name) == 0 || name[0] != '"' {
		return dst, invalidParams("tools/call: params.name must be a string")
	}
	args := x.req.Params.Get("arguments")
	if x.headers != nil {
		if err := x.checkParamHeaders(x.server.layer.Tool(&x.Request, name), args); err != nil {
			return dst, err
		}
	}
	target := jsonwire.Unquote(name)
	if err := x.restore(target, args); err != nil {
		return dst, err
	}
	if tool := x.taskTool(name); tool != nil {
		return x.callTask(dst, tool, name, args, target)
	}
	res, err := x.server.layer.CallTool(x.ctx, &x.Request, name, args)
	if err != nil {
		return x.unfinished(dst, err, target, args)
	}
	return x.close(res.AppendMembers(x.open(dst), x.Version), res.Meta), nil
}

func (x *exchange) readResource(dst []byte) ([]byte, error) {
	uri, err := x.text("uri")
	if err != nil {
		return dst, err
	}
	if err := x.restore(uri, nil); err != nil {
		return dst, err
	}
	res, err := x.server.layer.ReadResource(x.ctx, &x.Request, uri)
	if err != nil {
		return x.unfinished(dst, err, uri, nil)
	}
	dst = res.AppendMembers(x.open(dst), x.Version)
	if x.Version.Stateless() {
		// What a resource holds may change at any time, and who may read it is
		// decided for each read.
		dst = append(dst, `,"ttlMs":0,"cacheScope":"private"`...)
	}
	return x.close(dst, res.Meta), nil
}

func (x *exchange) getPrompt(dst []byte) ([]byte, error) {
	name, err := x.text("name")
	if err != nil {
		return dst, err
	}
	raw := x.req.Params.Get("arguments")
	args, err := x.stringMap("arguments", raw)
	if err != nil {
		return dst, err
	}
	if err := x.restore(name, raw); err != nil {
		return dst, err
	}
	res, err := x.server.layer.GetPrompt(x.ctx, &x.Request, name, args)
	if err != nil {
		return x.unfinished(dst, err, name, raw)
	}
	return x.close(res.AppendMembers(x.open(dst), x.Version), res.Meta), nil
}

// unfinished answers a call that has no result: with what the client is asked,
// or with the error.
func (x *exchange) unfinished(dst []byte, err error, target string, args []byte) ([]byte, error) {
	if errors.Is(err, registry.ErrInputRequired) && x.Version.Stateless() {
		return x.inputRequired(dst, target, args)
	}
	return dst, err
}

// stringMap reads an object whose values are strings; nothing and null are an
// empty one.
func (x *exchange) stringMap(name string, raw []byte) (map[string]string, error) {
	m := make(map[string]string)
	if raw == nil || string(raw) == "null" {
		return m, nil
	}
	if raw[0] != '{' {
		return nil, invalidParams("%s: params.%s must be an object", x.req.Method, name)
	}
	for o := jsonwire.Members(raw); ; {
		k, v, ok := o.Next()
		if !ok {
			return m, nil
		}
		key := jsonwire.Unquote(k)
		if v[0] != '"' {
			return nil, invalidParams("%s: params.%s: the value of %q must be a string", x.req.Method, name, key)
		}
		if _, twice := m[key]; twice {
			return nil, invalidParams("%s: params.%s has the member %q twice", x.req.Method, name, key)
		}
		m[key] = jsonwire.Unquote(v)
	}
}

func (x *exchange) complete(dst []byte) ([]byte, error) {
	arg := x.req.Params.Get("argument")
	name, value := jsonwire.Lookup(arg, "name"), jsonwire.Lookup(arg, "value")
	if len(name) == 0 || name[0] != '"' || len(value) == 0 || value[0] != '"' {
		return dst, invalidParams("completion/complete: params.argument must be an object with the strings name and value")
	}
	given, err := x.stringMap("context.arguments", jsonwire.Lookup(x.req.Params.Get("context"), "arguments"))
	if err != nil {
		return dst, err
	}
	c := &layer.CompletionRequest{Argument: jsonwire.Unquote(name), Value: jsonwire.Unquote(value), Given: given}
	res, err := x.completeRef(x.req.Params.Get("ref"), c)
	if err != nil {
		return dst, err
	}
	return x.close(res.AppendMembers(x.open(dst), x.Version), nil), nil
}

// completeRef completes for what a reference points to.
func (x *exchange) completeRef(ref []byte, c *layer.CompletionRequest) (*protocol.Completion, error) {
	kind := jsonwire.Lookup(ref, "type")
	member := ""
	switch {
	case len(kind) == 0 || kind[0] != '"':
	case jsonwire.EqualString(kind, "ref/prompt"):
		member = "name"
	case jsonwire.EqualString(kind, "ref/resource"):
		member = "uri"
	}
	target := jsonwire.Lookup(ref, member)
	if member == "" || len(target) == 0 || target[0] != '"' {
		return nil, invalidParams(`completion/complete: params.ref must be {"type":"ref/prompt","name":…} or {"type":"ref/resource","uri":…}`)
	}
	if member == "name" {
		return x.server.layer.CompletePrompt(x.ctx, &x.Request, jsonwire.Unquote(target), c)
	}
	return x.server.layer.CompleteResource(x.ctx, &x.Request, jsonwire.Unquote(target), c)
}

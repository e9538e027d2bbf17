package session

import (
	"context"
	"sync"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/protocol"
)

// listen serves subscriptions/listen: it acknowledges what it will honour,
// sends what happens, and answers when the server ends it. A client ends it by
// cancelling the request, and then gets no answer.
func (x *exchange) listen(dst []byte) ([]byte, error) {
	want, err := x.listenFilter()
	if err != nil {
		return dst, err
	}
	if x.session != nil {
		if !x.session.beginListen() {
			return dst, protocol.Errorf(protocol.CodeInternal, "%d listens are open, which is the limit: end one first", x.server.maxListens)
		}
		defer x.session.endListen()
	}
	sub, err := x.startListen(want)
	if err != nil {
		return dst, err
	}
	if sub != nil {
		defer sub.Close()
	}
	select {
	case <-x.ctx.Done():
		return dst, context.Cause(x.ctx)
	case <-x.drained:
	}
	if sub != nil {
		sub.Close() // nothing follows the result
	}
	dst = append(dst, `{"resultType":"complete",`...)
	dst = append(dst, x.server.meta...)
	dst = append(dst, ',', '"')
	dst = append(dst, protocol.MetaSubscriptionID...)
	dst = append(dst, `":`...)
	dst = append(dst, x.req.ID...)
	return append(dst, `}}`...), nil
}

// startListen subscribes and acknowledges, in this order, so that nothing is
// missed in between; what happens meanwhile waits for the acknowledgement.
func (x *exchange) startListen(want notify.Filter) (*notify.Subscriber, error) {
	id := []byte(x.req.ID)
	var first sync.Mutex // held until the acknowledgement is out
	var sub *notify.Subscriber
	first.Lock()
	if x.server.hub != nil {
		var err error
		ctx, peer := x.ctx, x.peer
		sub, err = x.server.hub.Subscribe(want, func(events []notify.Event) {
			first.Lock()
			defer first.Unlock()
			for _, e := range events {
				if peer.Send(ctx, appendChange(nil, e, id)) != nil {
					return // the listen is over
				}
			}
		})
		if err != nil {
			return nil, hubError(err)
		}
	}
	err := x.peer.Send(x.ctx, appendAcknowledgement(nil, want, id))
	first.Unlock()
	if err != nil {
		if sub != nil {
			sub.Close()
		}
		return nil, err
	}
	return sub, nil
}

// appendAcknowledgement appends the first message of a listen.
func appendAcknowledgement(dst []byte, f notify.Filter, id []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":"`...)
	dst = append(dst, protocol.NotifyAcknowledged...)
	dst = append(dst, `","params":{"notifications":{`...)
	start := len(dst)
	for _, flag := range []struct {
		name string
		on   bool
	}{{"toolsListChanged", f.Tools}, {"promptsListChanged", f.Prompts}, {"resourcesListChanged", f.Resources}} {
		if flag.on {
			dst = append(dst, ',', '"')
			dst = append(dst, flag.name...)
			dst = append(dst, `":true`...)
		}
	}
	if len(f.URIs) > 0 {
		dst = append(dst, `,"resourceSubscriptions":`...)
		dst = protocol.AppendStrings(dst, f.URIs)
	}
	if len(dst) > start {
		dst = append(dst[:start], dst[start+1:]...) // the first comma
	}
	dst = append(dst, `},`...)
	dst = appendSubscription(dst, id)
	return append(dst, `}}`...)
}

// listenFilter reads what the client wants to know and leaves out what it may
// not, or what this server never announces.
func (x *exchange) listenFilter() (notify.Filter, error) {
	var f notify.Filter
	raw := x.req.Params.Get("notifications")
	if len(raw) == 0 || raw[0] != '{' {
		return f, invalidParams("subscriptions/listen: params.notifications must be an object")
	}
	for o := jsonwire.Members(raw); ; {
		key, value, ok := o.Next()
		if !ok {
			break
		}
		var err error
		switch {
		case jsonwire.EqualString(key, "toolsListChanged"):
			f.Tools, err = flag("toolsListChanged", value)
		case jsonwire.EqualString(key, "promptsListChanged"):
			f.Prompts, err = flag("promptsListChanged", value)
		case jsonwire.EqualString(key, "resourcesListChanged"):
			f.Resources, err = flag("resourcesListChanged", value)
		case jsonwire.EqualString(key, "resourceSubscriptions"):
			f.URIs, err = x.listenURIs(value)
		}
		if err != nil {
			return f, err
		}
	}
	if x.server.hub == nil {
		return notify.Filter{}, nil
	}
	return f, nil
}

func flag(name string, raw []byte) (bool, error) {
	switch string(raw) {
	case "true":
		return true, nil
	case "false", "null":
		return false, nil
	}
	return false, invalidParams("subscriptions/listen: params.notifications.%s must be a boolean", name)
}

// listenURIs reads the resources that a listen is about. Those that do not
// exist for the principal are left out, which the acknowledgement shows.
func (x *exchange) listenURIs(raw []byte) ([]string, error) {
	if string(raw) == "null" {
		return nil, nil
	}
	if raw[0] != '[' {
		return nil, invalidParams("subscriptions/listen: params.notifications.resourceSubscriptions must be an array of URIs")
	}
	var uris []string
	seen := make(map[string]bool)
	for a := jsonwire.Elements(raw); ; {
		v, ok := a.Next()
		if !ok {
			return uris, nil
		}
		if v[0] != '"' {
			return nil, invalidParams("subscriptions/listen: params.notifications.resourceSubscriptions must be an array of URIs")
		}
		uri := jsonwire.Unquote(v)
		if seen[uri] {
			continue
		}
		if seen[uri] = true; len(seen) > x.server.maxSubs {
			return nil, invalidParams("subscriptions/listen: a listen may be about %d resources at most", x.server.maxSubs)
		}
		if x.server.layer.Serves(&x.Request, uri) {
			uris = append(uris, uri)
		}
	}
}

// beginListen counts a listen and reports whether there may be one more.
func (s *Session) beginListen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listens >= s.server.maxListens {
		return false
	}
	s.listens++
	return true
}

func (s *Session) endListen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listens--
}

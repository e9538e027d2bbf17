package session

import (
	"errors"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
)

// announceChanges subscribes a handshake session to the changes of lists. What
// it wants to know of resources is added by resources/subscribe.
func (s *Session) announceChanges(peer jsonrpc.Peer) {
	if s.server.hub == nil {
		return
	}
	// The function refers to the session and the session to the subscriber; the
	// hub, which refers to neither but weakly, keeps none of them alive.
	sub, err := s.server.hub.Subscribe(notify.Filter{Tools: true, Prompts: true, Resources: true}, func(events []notify.Event) {
		life := s.lifetime()
		for _, e := range events {
			if s.server.conceals(e, s.principal, s.negotiated()) {
				continue
			}
			if peer.Send(life, appendChange(nil, e, nil)) != nil {
				return // the connection is over
			}
		}
	})
	if err != nil {
		s.server.log.Warn("a session is not told of changes", "error", err)
		return
	}
	if !s.keepChanges(sub) {
		sub.Close()
	}
}

// conceals reports whether the principal may not learn of an event. Who subscribes
// to a resource is told of what is below it too, some of which may be hidden.
func (s *Server) conceals(e notify.Event, p *policy.Principal, v protocol.Version) bool {
	return e.Kind == notify.ResourceUpdated && s.layer.Hides(&layer.Request{Principal: p, Version: v}, e.URI)
}

// keepChanges makes the session the owner of what announces changes to it, and
// adds the resources that it subscribed to before the handshake was over. It
// reports false if the session has ended.
func (s *Session) keepChanges(sub *notify.Subscriber) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.changes = sub
	for uri := range s.watched {
		if err := sub.AddURI(uri); err != nil {
			s.server.log.Warn("a session is not told of updates to a resource", "error", err)
		}
	}
	return true
}

// appendChange appends the notification for an event. Subscription is the raw
// id of the listen that it belongs to, or empty.
func appendChange(dst []byte, e notify.Event, subscription []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":"`...)
	switch e.Kind {
	case notify.ToolsChanged:
		dst = append(dst, protocol.NotifyToolsListChanged...)
	case notify.PromptsChanged:
		dst = append(dst, protocol.NotifyPromptsListChanged...)
	case notify.ResourcesChanged:
		dst = append(dst, protocol.NotifyResourcesListChanged...)
	case notify.ResourceUpdated:
		dst = append(dst, protocol.NotifyResourceUpdated...)
	}
	dst = append(dst, '"')
	if e.Kind != notify.ResourceUpdated && len(subscription) == 0 {
		return append(dst, '}')
	}
	dst = append(dst, `,"params":{`...)
	if e.Kind == notify.ResourceUpdated {
		dst = append(dst, `"uri":`...)
		dst = jsonwire.AppendQuote(dst, e.URI)
		if len(subscription) > 0 {
			dst = append(dst, ',')
		}
	}
	if len(subscription) > 0 {
		dst = appendSubscription(dst, subscription)
	}
	return append(dst, `}}`...)
}

// appendSubscription appends the metadata that ties a message to a listen.
func appendSubscription(dst, id []byte) []byte {
	dst = append(dst, `"_meta":{"`...)
	dst = append(dst, protocol.MetaSubscriptionID...)
	dst = append(dst, `":`...)
	dst = append(dst, id...)
	return append(dst, '}')
}

// subscribe records that a handshake session wants to know of updates to a
// resource. What does not exist for the principal cannot be subscribed to.
func (x *exchange) subscribe(dst []byte) ([]byte, error) {
	uri, err := x.text("uri")
	if err != nil {
		return dst, err
	}
	if x.server.hub == nil {
		return dst, x.unknownMethod()
	}
	if !x.server.layer.Serves(&x.Request, uri) {
		return dst, x.server.layer.NotFound(&x.Request, uri)
	}
	if err := x.session.watch(uri); err != nil {
		return dst, err
	}
	return x.empty(dst), nil
}

// watch adds a URI to what the session subscribed to.
func (s *Session) watch(uri string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.watched[uri]:
		return nil
	case len(uri) > notify.MaxURIBytes:
		return invalidParams("the uri has %d bytes, at most %d can be subscribed to", len(uri), notify.MaxURIBytes)
	case len(s.watched) >= s.server.maxSubs:
		return protocol.Errorf(protocol.CodeInternal, "a session may subscribe to %d resources at most: unsubscribe from one first", s.server.maxSubs)
	}
	if s.changes != nil {
		if err := s.changes.AddURI(uri); err != nil {
			return hubError(err)
		}
	}
	if s.watched == nil {
		s.watched = make(map[string]bool)
	}
	s.watched[uri] = true
	return nil
}

// hubError turns a refusal of the hub into one for the peer.
func hubError(err error) error {
	switch {
	case errors.Is(err, notify.ErrURI):
		return invalidParams("%v", err)
	case errors.Is(err, notify.ErrTooMany):
		return protocol.Errorf(protocol.CodeInternal, "%v", err)
	}
	return err
}

// unsubscribe takes a subscription back. One that is not there is no error.
func (x *exchange) unsubscribe(dst []byte) ([]byte, error) {
	uri, err := x.text("uri")
	if err != nil {
		return dst, err
	}
	if x.server.hub == nil {
		return dst, x.unknownMethod()
	}
	s := x.session
	s.mu.Lock()
	delete(s.watched, uri)
	if s.changes != nil {
		s.changes.RemoveURI(uri)
	}
	s.mu.Unlock()
	return x.empty(dst), nil
}

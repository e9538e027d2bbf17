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
	want, ids, err := x.listenFilter()
	if err != nil {
		return dst, err
	}
	if err := x.beginListen(); err != nil {
		return dst, err
	}
	defer x.endListen()
	end, err := x.startListen(want, ids)
	if err != nil {
		return dst, err
	}
	defer end()
	select {
	case <-x.ctx.Done():
		return dst, context.Cause(x.ctx)
	case <-x.drained():
	}
	end() // nothing follows the result
	dst = append(dst, `{"resultType":"complete",`...)
	dst = append(dst, x.server.meta...)
	dst = append(dst, ',', '"')
	dst = append(dst, protocol.MetaSubscriptionID...)
	dst = append(dst, `":`...)
	dst = append(dst, x.req.ID...)
	return append(dst, `}}`...), nil
}

// startListen subscribes and acknowledges, in this order, so that nothing is
// missed in between; what happens meanwhile waits for the acknowledgement. It
// returns what ends the listen, which may be called again.
func (x *exchange) startListen(want notify.Filter, tasks []string) (end func(), err error) {
	id := []byte(x.req.ID)
	var first sync.Mutex // held until the acknowledgement is out
	first.Lock()
	var subs []*notify.Subscriber
	end = func() {
		for _, sub := range subs {
			sub.Close()
		}
	}
	subs, err = x.subscribeAll(want, tasks, id, &first)
	if err == nil {
		err = x.peer.Send(x.ctx, appendAcknowledgement(nil, want, tasks, id))
	}
	first.Unlock()
	if err != nil {
		end()
		return nil, err
	}
	return end, nil
}

// subscribeAll subscribes to what a listen is about. It returns the subscribers
// that there are after an error, too.
func (x *exchange) subscribeAll(want notify.Filter, tasks []string, id []byte, first *sync.Mutex) (subs []*notify.Subscriber, err error) {
	if x.server.hub != nil {
		sub, err := x.watchChanges(want, id, first)
		if err != nil {
			return nil, hubError(err)
		}
		subs = append(subs, sub)
	}
	if len(tasks) > 0 {
		sub, err := x.watchTasks(tasks, id, first)
		if err != nil {
			return subs, hubError(err)
		}
		subs = append(subs, sub)
	}
	return subs, nil
}

// watchChanges sends the events of the hub, after first has been unlocked for
// the first time.
func (x *exchange) watchChanges(want notify.Filter, id []byte, first *sync.Mutex) (*notify.Subscriber, error) {
	ctx, peer := x.ctx, x.peer
	return x.server.hub.Subscribe(want, func(events []notify.Event) {
		first.Lock()
		defer first.Unlock()
		for _, e := range events {
			if x.server.conceals(e, x.Principal, x.Version) {
				continue
			}
			if peer.Send(ctx, appendChange(nil, e, id)) != nil {
				return // the listen is over
			}
		}
	})
}

// appendAcknowledgement appends the first message of a listen.
func appendAcknowledgement(dst []byte, f notify.Filter, tasks []string, id []byte) []byte {
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
	if len(tasks) > 0 {
		dst = append(dst, `,"taskIds":`...)
		dst = protocol.AppendStrings(dst, tasks)
	}
	if len(dst) > start {
		dst = append(dst[:start], dst[start+1:]...) // the first comma
	}
	dst = append(dst, `},`...)
	dst = appendSubscription(dst, id)
	return append(dst, `}}`...)
}

// listenFilter reads what the client wants to know, the ids of tasks apart, and
// leaves out what it may not, or what this server never announces.
func (x *exchange) listenFilter() (f notify.Filter, tasks []string, err error) {
	raw := x.req.Params.Get("notifications")
	if len(raw) == 0 || raw[0] != '{' {
		return f, nil, invalidParams("subscriptions/listen: params.notifications must be an object")
	}
	for o := jsonwire.Members(raw); ; {
		key, value, ok := o.Next()
		if !ok {
			break
		}
		switch {
		case jsonwire.EqualString(key, "toolsListChanged"):
			f.Tools, err = flag("toolsListChanged", value)
		case jsonwire.EqualString(key, "promptsListChanged"):
			f.Prompts, err = flag("promptsListChanged", value)
		case jsonwire.EqualString(key, "resourcesListChanged"):
			f.Resources, err = flag("resourcesListChanged", value)
		case jsonwire.EqualString(key, "resourceSubscriptions"):
			f.URIs, err = x.listenURIs(value)
		case jsonwire.EqualString(key, "taskIds"):
			tasks, err = x.listenTasks(value)
		}
		if err != nil {
			return f, nil, err
		}
	}
	if x.server.hub == nil {
		return notify.Filter{}, tasks, nil
	}
	return f, tasks, nil
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
	uris, err := x.listenStrings("resourceSubscriptions", raw)
	if err != nil {
		return nil, err
	}
	served := uris[:0]
	for _, uri := range uris {
		if x.server.layer.Serves(&x.Request, uri) {
			served = append(served, uri)
		}
	}
	return served, nil
}

// listenStrings reads an array of strings, each once; null is an empty one.
func (x *exchange) listenStrings(name string, raw []byte) ([]string, error) {
	if string(raw) == "null" {
		return nil, nil
	}
	if raw[0] != '[' {
		return nil, invalidParams("subscriptions/listen: params.notifications.%s must be an array of strings", name)
	}
	var list []string
	seen := make(map[string]bool)
	for a := jsonwire.Elements(raw); ; {
		v, ok := a.Next()
		if !ok {
			return list, nil
		}
		if v[0] != '"' {
			return nil, invalidParams("subscriptions/listen: params.notifications.%s must be an array of strings", name)
		}
		s := jsonwire.Unquote(v)
		if seen[s] {
			continue
		}
		if seen[s] = true; len(seen) > x.server.maxSubs {
			return nil, invalidParams("subscriptions/listen: params.notifications.%s may have %d members at most", name, x.server.maxSubs)
		}
		list = append(list, s)
	}
}

// beginListen counts a listen, or refuses it: one session may not have many, and
// neither may a principal whose requests come by themselves, or it would leave no
// subscriber of the hub to others.
func (x *exchange) beginListen() error {
	if x.session == nil {
		if !x.server.listens.begin(x.Principal.ID, x.server.maxOwnListens) {
			return protocol.Errorf(protocol.CodeInternal, "this principal has %d listens open, which is the limit: end one first", x.server.maxOwnListens)
		}
		return nil
	}
	s := x.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listens >= s.server.maxListens {
		return protocol.Errorf(protocol.CodeInternal, "%d listens are open, which is the limit: end one first", x.server.maxListens)
	}
	s.listens++
	return nil
}

func (x *exchange) endListen() {
	if x.session == nil {
		x.server.listens.end(x.Principal.ID)
		return
	}
	x.session.mu.Lock()
	defer x.session.mu.Unlock()
	x.session.listens--
}

// tally counts something by principal.
type tally struct {
	mu    sync.Mutex
	count map[string]int
}

// begin counts one more, if there are fewer than limit.
func (t *tally) begin(owner string, limit int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count[owner] >= limit {
		return false
	}
	if t.count == nil {
		t.count = make(map[string]int)
	}
	t.count[owner]++
	return true
}

func (t *tally) end(owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count[owner]--; t.count[owner] == 0 {
		delete(t.count, owner)
	}
}

package session

import (
	"bytes"
	"sync"

	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/protocol"
)

// listenTasks reads the tasks that a listen is about. Those that do not exist
// for the principal are left out, which the acknowledgement shows.
func (x *exchange) listenTasks(raw []byte) ([]string, error) {
	if string(raw) == "null" || !x.server.tasks.offered() {
		return nil, nil
	}
	if err := x.needTasks(); err != nil {
		return nil, err
	}
	ids, err := x.listenStrings("taskIds", raw)
	if err != nil {
		return nil, err
	}
	known := ids[:0]
	for _, id := range ids {
		if _, _, err := x.server.tasks.find(x.Principal, id); err == nil {
			known = append(known, id)
		}
	}
	return known, nil
}

// watchTasks sends what becomes of tasks, in full and once per state, after
// first has been unlocked for the first time.
func (x *exchange) watchTasks(ids []string, subscription []byte, first *sync.Mutex) (*notify.Subscriber, error) {
	ctx, peer, principal, m := x.ctx, x.peer, x.Principal, x.server.tasks
	sent := make(map[string][]byte) // by id, what was sent last, nil if nothing follows; guarded by first
	return m.hub.Subscribe(notify.Filter{URIs: ids}, func(events []notify.Event) {
		first.Lock()
		defer first.Unlock()
		for _, e := range events {
			last, known := sent[e.URI]
			if known && last == nil {
				continue
			}
			r, _, err := m.find(principal, e.URI)
			if err != nil {
				continue // forgotten since
			}
			state := m.appendDetailed(nil, r)
			if bytes.Equal(state, last) {
				continue
			}
			if sent[e.URI] = state; r.Status.Terminal() {
				sent[e.URI] = nil
			}
			if peer.Send(ctx, appendTaskChange(nil, state, subscription)) != nil {
				return // the listen is over
			}
		}
	})
}

// appendTaskChange appends the notification about a task, given its members.
func appendTaskChange(dst, state, subscription []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":"`+protocol.NotifyTasks+`","params":{`...)
	dst = append(append(dst, state...), ',')
	dst = appendSubscription(dst, subscription)
	return append(dst, `}}`...)
}

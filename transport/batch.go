package transport

import (
	"errors"
	"net/http"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
)

// batch serves an array of messages, which only 2025-03-26 has. The members are
// served one after the other and answered together.
func (h *Handler) batch(w http.ResponseWriter, r *http.Request, p *policy.Principal, body []byte, accept forms) {
	members, err := h.decoder.Split(body, 0)
	if err != nil {
		h.broken(w, r, err)
		return
	}
	if !h.mayBatch(r) {
		h.refuse(w, r, http.StatusBadRequest, noBatches)
		return
	}
	s, release, ok := h.sessionOf(w, r, p, "")
	if !ok {
		return
	}
	defer release()
	if !s.handler.Dialect().Batches {
		h.refuse(w, r, http.StatusBadRequest, noBatches)
		return
	}
	batch := make([]jsonrpc.Message, len(members))
	refusals := make([][]byte, len(members))
	for i, raw := range members {
		if batch[i], refusals[i] = h.readMember(raw); h.isModern(batch[i]) {
			h.refuse(w, r, http.StatusBadRequest, "a request of "+protocol.LatestStateless.String()+" cannot be part of a batch: post it by itself")
			return
		}
	}
	answers := make([][]byte, 0, len(members))
	bytes := 0
	for i, m := range batch {
		answer := refusals[i]
		switch req, _ := m.(*jsonrpc.Request); {
		case m == nil:
		case bytes > maxBatchBytes && req != nil && !req.IsNotification():
			answer = jsonrpc.AppendError(nil, req.ID, true, jsonrpc.Errorf(jsonrpc.CodeInternal, "the answers before this one have more than %d bytes: send the rest of the batch again, in smaller ones", maxBatchBytes))
		default:
			answer = h.member(s, m)
		}
		if answer != nil {
			answers = append(answers, answer)
			bytes += len(answer)
		}
	}
	h.answerBatch(w, r, answers, accept)
}

// maxBatchBytes bounds the answers of one batch, which are all in memory until the
// last one is there; it may be passed by the size of one.
const maxBatchBytes = 16 << 20

const noBatches = "batches are not part of this protocol version: post each message by itself"

// mayBatch reports whether the headers of a request allow a batch: they name no
// version that has none, and nothing of one message.
func (h *Handler) mayBatch(r *http.Request) bool {
	if len(r.Header[headerMethod]) > 0 || len(r.Header[headerName]) > 0 {
		return false
	}
	v := r.Header[headerVersion]
	return len(v) == 0 || protocol.ParseVersion(v[0]).AllowsBatch()
}

// readMember decodes a member of a batch, or returns the refusal of one that is
// no message, or nothing if that must not be answered.
func (h *Handler) readMember(raw []byte) (jsonrpc.Message, []byte) {
	m, err := h.decoder.Decode(raw)
	if err == nil {
		return m, nil
	}
	var de *jsonrpc.DecodeError
	switch {
	case !errors.As(err, &de):
		return nil, jsonrpc.AppendError(nil, "", false, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the member is not a message"))
	case de.Notification, de.Response:
		h.log.Warn("ignoring an invalid member of a batch", "error", de.Err)
		return nil, nil // neither is ever answered
	}
	return nil, jsonrpc.AppendError(nil, de.ID, false, de.Err)
}

// isModern reports whether a message is a request that claims the stateless era.
func (h *Handler) isModern(m jsonrpc.Message) bool {
	req, ok := m.(*jsonrpc.Request)
	return ok && h.opts.Backend.Claims(req)
}

// member serves one member of a batch and returns its answer, if it has one.
func (h *Handler) member(s *httpSession, m jsonrpc.Message) []byte {
	if r, ok := m.(*jsonrpc.Response); ok {
		s.answer(r)
		return nil
	}
	req := m.(*jsonrpc.Request)
	switch {
	case req.IsNotification():
		s.handler.Notify(h.life, req, s)
		return nil
	case req.Method == protocol.MethodInitialize:
		return jsonrpc.AppendError(nil, req.ID, true, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "initialize cannot be part of a batch"))
	}
	x := &exchange{h: h, session: s, req: req}
	if !s.enter(x) {
		return jsonrpc.AppendError(nil, req.ID, true, h.tooManyCalls())
	}
	defer s.leave(x)
	frame, _ := jsonrpc.Answer(&x.ctx, h.log, s.handler, req, x, nil) // the answer says it
	x.ctx.Cancel(jsonrpc.ErrClosed)
	if x.cancelled.Load() {
		return nil
	}
	return frame
}

// answerBatch answers with an array, or with one event for each answer.
func (h *Handler) answerBatch(w http.ResponseWriter, r *http.Request, answers [][]byte, accept forms) {
	switch {
	case len(answers) == 0:
		h.status(w, http.StatusAccepted)
	case accept.json:
		out := []byte{'['}
		for i, a := range answers {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, a...)
		}
		h.frame(w, http.StatusOK, append(out, ']'))
	default:
		events := h.newEvents(w, r)
		for _, a := range answers {
			_ = events.send(&event{data: a}) // a client that is gone needs no answer
		}
		_ = events.finish(nil)
	}
}

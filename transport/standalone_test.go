package transport

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/protocol"
)

// silent is a session that does nothing.
type silent struct{}

func (silent) Handle(_ context.Context, _ *jsonrpc.Request, _ jsonrpc.Peer, dst []byte) ([]byte, error) {
	return dst, nil
}
func (silent) Notify(context.Context, *jsonrpc.Request, jsonrpc.Peer) {}
func (silent) Dialect() jsonrpc.Dialect                               { return jsonrpc.Dialect{} }
func (silent) Drain()                                                 {}
func (silent) Version() protocol.Version                              { return protocol.LatestHandshake }

// A GET that was on its way when its session ended is carried by nothing that
// would ever end it. No client can bring that about for certain, so the test is
// inside.
func TestNoStreamOfASessionThatHasEnded(t *testing.T) {
	h := &Handler{}
	h.opts.WriteTimeout = time.Second
	s := h.newSession(silent{})
	s.Close()
	r := httptest.NewRequest(http.MethodGet, "/mcp", nil)
	out := h.newEvents(httptest.NewRecorder(), r)
	defer out.end(errStreamDone)
	if h.attach(r, s, out) != nil || !s.isFinished() {
		t.Error("a stream of a session that has ended is carried")
	}
}

package transport

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// readBody reads the body of a request. It has refused the request if it
// reports false.
func (h *Handler) readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if r.ContentLength > h.opts.MaxBody {
		h.refuseUnread(w, r, http.StatusRequestEntityTooLarge, tooLarge)
		return nil, false
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(h.opts.BodyTimeout)) // not every writer has deadlines
	body, err := readAtMost(r.Body, r.ContentLength, h.opts.MaxBody)
	switch {
	case err == nil:
		_ = rc.SetReadDeadline(time.Time{}) // or the watch for a client that leaves would end with it
		return body, true
	case errors.Is(err, errTooLarge):
		h.refuseUnread(w, r, http.StatusRequestEntityTooLarge, tooLarge)
	case errors.Is(err, os.ErrDeadlineExceeded):
		h.refuseUnread(w, r, http.StatusRequestTimeout, "the body did not arrive within "+h.opts.BodyTimeout.String())
	default:
		h.refuseUnread(w, r, http.StatusBadRequest, "the body did not arrive whole")
	}
	return nil, false
}

const tooLarge = "the body is larger than the limit for one message"

var errTooLarge = errors.New(tooLarge)

// trusted is how much memory is set aside for a body because its length was
// announced. More is only for bytes that have come.
const trusted = 128 << 10

// readAtMost reads r to its end. Size is what the sender announced, or negative.
func readAtMost(r io.Reader, size, limit int64) ([]byte, error) {
	if 0 <= size && size <= trusted {
		b := make([]byte, size)
		_, err := io.ReadFull(r, b)
		return b, err
	}
	b := make([]byte, 0, 4<<10)
	if size >= 0 {
		b = make([]byte, 0, trusted)
	}
	for {
		n, err := r.Read(b[len(b):cap(b)])
		if b = b[:len(b)+n]; int64(len(b)) > limit {
			return nil, errTooLarge
		}
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
		if len(b) == cap(b) {
			b = grow(b, size)
		}
	}
}

// grow makes more room: four times as much, or as much as was announced, plus the
// byte that it takes to see the end, if that is not more than sixteen times what
// has come.
func grow(b []byte, size int64) []byte {
	room := 4 * int64(cap(b))
	if size >= int64(len(b)) {
		room = min(16*int64(cap(b)), size) + 1
	}
	return append(make([]byte, 0, room), b...)
}

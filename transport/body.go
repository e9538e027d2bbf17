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
func (h *Handler) readBody(w http.ResponseWriter, r *http.Request, rc *http.ResponseController) ([]byte, bool) {
	if r.ContentLength > h.opts.MaxBody {
		h.tooLarge(w)
		return nil, false
	}
	_ = rc.SetReadDeadline(time.Now().Add(h.opts.BodyTimeout)) // not every writer has deadlines
	body, err := readAtMost(r.Body, r.ContentLength, h.opts.MaxBody)
	if err == nil {
		_ = rc.SetReadDeadline(time.Time{})
		return body, true
	}
	w.Header().Set("Connection", "close")
	switch {
	case errors.Is(err, errTooLarge):
		h.tooLarge(w)
	case errors.Is(err, os.ErrDeadlineExceeded):
		h.refuse(w, http.StatusRequestTimeout, "the body did not arrive within "+h.opts.BodyTimeout.String())
	default:
		h.refuse(w, http.StatusBadRequest, "the body did not arrive whole")
	}
	return nil, false
}

func (h *Handler) tooLarge(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	h.refuse(w, http.StatusRequestEntityTooLarge, "the body is larger than the limit for one message")
}

var errTooLarge = errors.New("too large")

// readAtMost reads r to its end. Size is what the sender announced, or negative.
func readAtMost(r io.Reader, size, limit int64) ([]byte, error) {
	if size >= 0 {
		b := make([]byte, size)
		_, err := io.ReadFull(r, b)
		return b, err
	}
	b := make([]byte, 0, 4<<10)
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
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
	}
}

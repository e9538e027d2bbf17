package transport

import (
	"net/http"
	"strconv"
	"strings"
)

// forms are the forms of answer that a client accepts.
type forms struct{ json, events bool }

// accepted reads the Accept header as RFC 9110 section 12.5.1 says: of the
// ranges that match a type the most specific decides, a weight of zero excludes
// it, and no header accepts everything.
func accepted(r *http.Request) forms {
	values := r.Header["Accept"]
	if len(values) == 0 {
		return forms{true, true}
	}
	if len(values) == 1 && values[0] == "application/json, text/event-stream" {
		return forms{true, true}
	}
	json, events := weight{}, weight{}
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			json.consider(part, "application", "json")
			events.consider(part, "text", "event-stream")
		}
	}
	return forms{json.q > 0, events.q > 0}
}

// weight is what is known of one type so far.
type weight struct {
	specific int // of the range that decided: 1 */*, 2 type/*, 3 type/subtype
	q        float64
}

// consider takes one range of the header into account.
func (w *weight) consider(part, kind, subtype string) {
	media, params, _ := strings.Cut(part, ";")
	k, s, ok := strings.Cut(strings.ToLower(strings.TrimSpace(media)), "/")
	if !ok {
		return
	}
	specific := 0
	switch {
	case k == kind && s == subtype:
		specific = 3
	case k == kind && s == "*":
		specific = 2
	case k == "*" && s == "*":
		specific = 1
	}
	if specific == 0 || specific < w.specific {
		return
	}
	w.specific, w.q = specific, quality(params)
}

// quality reads the weight among the parameters of a range; a broken one counts
// as none.
func quality(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		name, value, ok := strings.Cut(strings.TrimSpace(p), "=")
		if !ok || !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		if q, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && q >= 0 && q <= 1 {
			return q
		}
	}
	return 1
}

// isJSON reports whether the body of a request is JSON by its media type, and
// sent as it is.
func isJSON(r *http.Request) bool {
	values := r.Header["Content-Type"]
	if len(values) != 1 {
		return false
	}
	media, _, _ := strings.Cut(values[0], ";")
	if !strings.EqualFold(strings.TrimSpace(media), "application/json") {
		return false
	}
	for _, coding := range r.Header["Content-Encoding"] {
		if !strings.EqualFold(strings.TrimSpace(coding), "identity") {
			return false
		}
	}
	return true
}

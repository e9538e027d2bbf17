package protocol_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/internal/speccheck"
	"cloudg.dev/cloudg/protocol"
)

// specification reads the schemas once.
var specification = sync.OnceValues(func() (*speccheck.Spec, error) { return speccheck.Find("..") })

// spec returns the schemas of the specification. Without them the tests compare
// bytes, but nothing judges whether these are the right ones.
func spec(t *testing.T) *speccheck.Spec {
	t.Helper()
	return speccheck.Need(t, specification)
}

// since is what is written from a version on, until the next one in a list.
type since struct {
	version protocol.Version
	want    string
}

// always is what is written in every version.
func always(want string) []since { return []since{{protocol.Unknown, want}} }

// in returns what is written in a version.
func in(list []since, v protocol.Version) string {
	want := "nothing: the list does not begin with the oldest version"
	for _, s := range list {
		if s.version <= v {
			want = s.want
		}
	}
	return want
}

// everyVersion returns all versions and the unknown one, which is written to as
// if it were the oldest.
func everyVersion() []protocol.Version {
	return slices.Insert(protocol.Versions(), 0, protocol.Unknown)
}

// prefix is in the buffer already when something is appended. It ends like an
// object, lest somebody takes it for the end of what was appended.
const prefix = `{"x":{}`

// check compares what was appended to the prefix, and judges it by the
// definition of the version that it is a value of. The frame around it makes
// such a value of it, with a verb %s where it belongs.
func check(t *testing.T, v protocol.Version, got []byte, want, definition, frame string) {
	t.Helper()
	appended, ok := strings.CutPrefix(string(got), prefix)
	if !ok {
		t.Fatalf("%s: what was in the buffer is gone: %s", v, got)
	}
	if diff := cmp.Diff(want, appended); diff != "" {
		t.Errorf("%s (-want +got):\n%s", v, diff)
	}
	value := []byte(strings.Replace(frame, "%s", appended, 1))
	if err := jsonwire.Valid(value, 0); err != nil {
		t.Fatalf("%s: no JSON: %v\n%s", v, err, value)
	}
	if v == protocol.Unknown {
		return
	}
	if err := spec(t).Validate(v, definition, value); err != nil {
		t.Errorf("%v\n%s", err, value)
	}
}

package task_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/task"
)

func TestRecordSurvivesItsText(t *testing.T) {
	now := time.Date(2026, 8, 1, 10, 0, 0, 7_000_000, time.UTC)
	id := strings.Repeat("A2", 13)
	for _, tc := range []struct {
		name string
		in   task.Record
		want string
	}{
		{
			"running", task.Record{ID: id, Owner: "local", Status: task.Working, Created: now, Updated: now, TTL: time.Hour},
			`{"id":"` + id + `","owner":"local","status":"working","message":"","created":"2026-08-01T10:00:00.007Z","updated":"2026-08-01T10:00:00.007Z","ttlMs":3600000}`,
		},
		{
			"with a result", task.Record{ID: id, Owner: "ü\"\n", Status: task.Completed, Message: "done", Created: now, Updated: now.Add(time.Second), TTL: time.Millisecond, Detail: []byte(`{"n":12345678901234567890, "s":"\u00e9"}`)},
			`{"id":"` + id + `","owner":"ü\"\n","status":"completed","message":"done","created":"2026-08-01T10:00:00.007Z","updated":"2026-08-01T10:00:01.007Z","ttlMs":1,"detail":{"n":12345678901234567890, "s":"\u00e9"}}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := string(tc.in.Append(nil))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			back, err := task.Parse([]byte(got))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tc.in, back); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	good := text(record("o", task.Completed, `{"a":1}`))
	swap := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for _, tc := range []struct{ name, in string }{
		{"nothing", ""},
		{"another kind of document", `[1]`},
		{"an empty object", `{}`},
		{"cut off", good[:len(good)-1]},
		{"cut off in the middle", good[:len(good)/2]},
		{"zeroes, as some file systems leave them", strings.Repeat("\x00", len(good))},
		{"two records", good + good},
		{"an unknown status", swap(`"completed"`, `"done"`)},
		{"a status of another type", swap(`"completed"`, `3`)},
		{"a result that is not there", swap(`,"detail":{"a":1}`, ``)},
		{"no owner", swap(`"owner"`, `"order"`)},
		{"an id that is a path", swap(`"id":"`, `"id":"../`)},
		{"a time that is none", swap(`"created":"2`, `"created":"x`)},
		{"no time to live", swap(`"ttlMs":3600000`, `"ttlMs":0`)},
		{"a time to live without end", swap(`"ttlMs":3600000`, `"ttlMs":9223372036854775807`)},
		{"a time to live that is a text", swap(`"ttlMs":3600000`, `"ttlMs":"3600000"`)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if r, err := task.Parse([]byte(tc.in)); err == nil {
				t.Errorf("accepted as %s", text(r))
			}
		})
	}
}

func TestIDs(t *testing.T) {
	seen := make(map[string]bool)
	for range 1000 {
		id := task.NewID()
		if !task.ValidID(id) || seen[id] {
			t.Fatalf("NewID returned %q, which is not valid or not new", id)
		}
		seen[id] = true
	}
	for _, id := range []string{"", "A", "../../../../../../etc/passwd", "abcdefghijklmnopqrstuvwxyz", strings.Repeat("A", 19), strings.Repeat("A", 65), strings.Repeat("A", 25) + "/", strings.Repeat("A", 25) + "."} {
		if task.ValidID(id) {
			t.Errorf("ValidID(%q) is true", id)
		}
	}
}

func TestTerminal(t *testing.T) {
	want := map[task.Status]bool{task.Working: false, task.InputRequired: false, task.Completed: true, task.Failed: true, task.Cancelled: true}
	got := make(map[task.Status]bool)
	for s := range want {
		got[s] = s.Terminal()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("terminal (-want +got):\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{}`))
	f.Add(record("o", task.Failed, `{"code":-32603,"message":"m"}`).Append(nil))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := task.Parse(raw)
		if err != nil {
			return
		}
		again, err := task.Parse(r.Append(nil))
		if err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
		if diff := cmp.Diff(text(r), text(again)); diff != "" {
			t.Errorf("records (-first +second):\n%s", diff)
		}
	})
}

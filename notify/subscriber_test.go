package notify_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"cloudg.dev/cloudg/notify"
	"github.com/google/go-cmp/cmp"
)

func TestSubscriber_filterChanges(t *testing.T) {
	tools := notify.Event{Kind: notify.ToolsChanged}
	tests := []struct {
		name   string
		filter notify.Filter
		before []notify.Event // published before the change, in the same window
		change func(s *notify.Subscriber) error
		after  []notify.Event
		want   []notify.Event
	}{
		{
			"AddURI", notify.Filter{URIs: []string{"a"}}, []notify.Event{updated("b")},
			func(s *notify.Subscriber) error { return s.AddURI("b") },
			[]notify.Event{updated("a"), updated("b/1")}, []notify.Event{updated("a"), updated("b/1")},
		},
		{
			"AddURI to the zero filter", notify.Filter{}, nil,
			func(s *notify.Subscriber) error { return errors.Join(s.AddURI("b"), s.AddURI("b")) },
			[]notify.Event{updated("b")}, []notify.Event{updated("b")},
		},
		{
			"RemoveURI drops what waits", notify.Filter{URIs: []string{"a", "b"}}, []notify.Event{updated("b/1"), updated("a")},
			func(s *notify.Subscriber) error { s.RemoveURI("b"); s.RemoveURI("b"); return nil },
			[]notify.Event{updated("b/2")}, []notify.Event{updated("a")},
		},
		{
			"RemoveURI keeps what another URI covers", notify.Filter{URIs: []string{"a", "a/b"}}, []notify.Event{updated("a/b/c")},
			func(s *notify.Subscriber) error { s.RemoveURI("a/b"); return nil },
			nil, []notify.Event{updated("a/b/c")},
		},
		{
			"RemoveURI of something covered only", notify.Filter{URIs: []string{"a"}}, nil,
			func(s *notify.Subscriber) error { s.RemoveURI("a/b"); return nil },
			[]notify.Event{updated("a/b")}, []notify.Event{updated("a/b")},
		},
		{
			"SetFilter replaces everything", notify.Filter{Tools: true, URIs: []string{"a"}}, []notify.Event{tools, updated("a")},
			func(s *notify.Subscriber) error {
				return s.SetFilter(notify.Filter{Prompts: true, URIs: []string{"b"}})
			},
			[]notify.Event{tools, updated("a"), updated("b"), {Kind: notify.PromptsChanged}},
			[]notify.Event{{Kind: notify.PromptsChanged}, updated("b")},
		},
		{
			"SetFilter with nothing left to deliver", notify.Filter{Tools: true}, []notify.Event{tools},
			func(s *notify.Subscriber) error { return s.SetFilter(notify.Filter{}) },
			nil, nil,
		},
		{
			"SetFilter that fails keeps the old one", notify.Filter{Tools: true}, []notify.Event{tools},
			func(s *notify.Subscriber) error {
				if err := s.SetFilter(notify.Filter{URIs: []string{""}}); !errors.Is(err, notify.ErrURI) {
					return fmt.Errorf("SetFilter error = %v, want ErrURI", err)
				}
				return nil
			},
			nil, []notify.Event{tools},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHub(t, nil)
				var got recorder
				s := subscribe(t, h, tt.filter, got.deliver)
				for _, e := range tt.before {
					h.Publish(e)
				}
				if err := tt.change(s); err != nil {
					t.Error(err)
				}
				for _, e := range tt.after {
					h.Publish(e)
				}
				settle()
				var want [][]notify.Event
				if tt.want != nil {
					want = [][]notify.Event{tt.want}
				}
				if diff := cmp.Diff(want, got.take()); diff != "" {
					t.Errorf("deliveries (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A delivery that turns out empty must leave the timer usable.
func TestSubscriber_deliversAfterAnEmptyWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, nil)
		var got recorder
		s := subscribe(t, h, notify.Filter{URIs: []string{"a"}}, got.deliver)
		h.Publish(updated("a"))
		s.RemoveURI("a")
		settle()
		if err := s.AddURI("a"); err != nil {
			t.Fatal(err)
		}
		h.Publish(updated("a"))
		settle()
		if diff := cmp.Diff([][]notify.Event{{updated("a")}}, got.take()); diff != "" {
			t.Errorf("deliveries (-want +got):\n%s", diff)
		}
	})
}

func TestSubscriber_bounds(t *testing.T) {
	h := newHub(t, &notify.Options{MaxURIs: 1000, MaxTotalURIs: 1500})
	nop := func([]notify.Event) {}
	one, two := subscribe(t, h, notify.Filter{}, nop), subscribe(t, h, notify.Filter{}, nop)

	fill := func(s *notify.Subscriber) (added int) {
		for i := range 10_000 {
			switch err := s.AddURI(fmt.Sprintf("x://%d", i)); {
			case err == nil:
				added++
			case !errors.Is(err, notify.ErrTooMany):
				t.Fatalf("AddURI error = %v, want ErrTooMany", err)
			}
		}
		return added
	}
	if got := fill(one); got != 1000 {
		t.Errorf("first subscriber could add %d URIs, want 1000", got)
	}
	if got := fill(two); got != 500 {
		t.Errorf("second subscriber could add %d URIs, want the 500 that were left", got)
	}
	if err := one.AddURI(""); !errors.Is(err, notify.ErrURI) {
		t.Errorf("AddURI of nothing: error = %v, want ErrURI", err)
	}
	if err := one.AddURI("x://7"); err != nil {
		t.Errorf("AddURI of a known URI at the bound: %v", err)
	}
	if err := two.SetFilter(notify.Filter{URIs: uris(600)}); !errors.Is(err, notify.ErrTooMany) {
		t.Errorf("SetFilter beyond the total: error = %v, want ErrTooMany", err)
	}
	if err := one.SetFilter(notify.Filter{URIs: []string{"x://7"}}); err != nil {
		t.Errorf("SetFilter: %v", err)
	}
	if err := two.SetFilter(notify.Filter{URIs: uris(600)}); err != nil {
		t.Errorf("SetFilter after room was made: %v", err)
	}
	if got, want := h.Stats().URIs, 601; got != want {
		t.Errorf("Stats.URIs = %d, want %d", got, want)
	}
	one.Close()
	two.Close()
	if got := h.Stats(); got.URIs != 0 || got.Subscribers != 0 || got.Leaked != 0 {
		t.Errorf("Stats after Close = %+v, want nothing left and no leak", got)
	}
}

func uris(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("y://%d", i)
	}
	return list
}

func TestSubscriber_closed(t *testing.T) {
	h := newHub(t, nil)
	s := subscribe(t, h, notify.Filter{URIs: []string{"a"}}, func([]notify.Event) {})
	s.Close()
	for name, err := range map[string]error{
		"AddURI":    s.AddURI("b"),
		"SetFilter": s.SetFilter(notify.Filter{Tools: true}),
	} {
		if !errors.Is(err, notify.ErrClosed) {
			t.Errorf("%s error = %v, want ErrClosed", name, err)
		}
	}
	s.RemoveURI("a")
	if got := h.Stats(); got.Subscribers != 0 || got.URIs != 0 {
		t.Errorf("Stats = %+v, want nothing", got)
	}
}

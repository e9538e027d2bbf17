package notify_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/notify"
	"github.com/google/go-cmp/cmp"
)

const window = notify.DefaultWindow

// settle lets every armed timer fire and every delivery end.
func settle() {
	time.Sleep(window)
	synctest.Wait()
}

func TestHub_delivery(t *testing.T) {
	var (
		tools     = notify.Event{Kind: notify.ToolsChanged}
		prompts   = notify.Event{Kind: notify.PromptsChanged}
		resources = notify.Event{Kind: notify.ResourcesChanged}
	)
	tests := []struct {
		name   string
		filter notify.Filter
		in     []notify.Event
		want   []notify.Event // in one delivery; none when nil
	}{
		{"zero filter wants nothing", notify.Filter{}, []notify.Event{tools, prompts, resources, updated("a")}, nil},
		{"tools only", notify.Filter{Tools: true}, []notify.Event{resources, tools, prompts, updated("a")}, []notify.Event{tools}},
		{"prompts only", notify.Filter{Prompts: true}, []notify.Event{resources, tools, prompts, updated("a")}, []notify.Event{prompts}},
		{"resources only", notify.Filter{Resources: true}, []notify.Event{resources, tools, prompts, updated("a")}, []notify.Event{resources}},
		{
			"kinds in their order, updates in the order of first publication",
			notify.Filter{Tools: true, Prompts: true, Resources: true, URIs: []string{"z", "m", "a"}},
			[]notify.Event{updated("z"), resources, updated("a"), tools, updated("m"), updated("z"), prompts, tools},
			[]notify.Event{tools, prompts, resources, updated("z"), updated("a"), updated("m")},
		},
		{
			"a URI on a list change is ignored",
			notify.Filter{Tools: true},
			[]notify.Event{{Kind: notify.ToolsChanged, URI: "x"}, {Kind: notify.ToolsChanged, URI: "y"}},
			[]notify.Event{tools},
		},
		{"no kind", notify.Filter{Tools: true, URIs: []string{"a"}}, []notify.Event{{}, {URI: "a"}}, nil},
		{"unknown kind", notify.Filter{Tools: true, URIs: []string{"a"}}, []notify.Event{{Kind: 200, URI: "a"}}, nil},
		{"update without a URI", notify.Filter{URIs: []string{"a"}}, []notify.Event{updated("")}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHub(t, nil)
				var got recorder
				subscribe(t, h, tt.filter, got.deliver)
				for _, e := range tt.in {
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

func TestHub_coverage(t *testing.T) {
	long := "file:///" + strings.Repeat("d/", notify.MaxURIBytes)
	letters := strings.Repeat("a", notify.MaxURIBytes)
	tests := []struct {
		name       string
		subscribed string
		event      string
		want       string // the reported URI; empty when none
	}{
		{"itself", "file:///a", "file:///a", "file:///a"},
		{"child", "file:///a", "file:///a/b", "file:///a/b"},
		{"grandchild", "file:///a", "file:///a/b/c", "file:///a/b/c"},
		{"with a final slash", "file:///a", "file:///a/", "file:///a/"},
		{"sibling with the same beginning", "file:///a", "file:///ab", ""},
		{"parent", "file:///a/b", "file:///a", ""},
		{"folder form: itself", "file:///a/", "file:///a/", "file:///a/"},
		{"folder form: child", "file:///a/", "file:///a/b", "file:///a/b"},
		{"folder form: not the bare name", "file:///a/", "file:///a", ""},
		{"doubled slash", "file:///a", "file:///a//b", "file:///a//b"},
		{"doubled slash, folder form", "file:///a/", "file:///a//b", "file:///a//b"},
		{"file root", "file:///", "file:///a", "file:///a"},
		{"authority", "x://host", "x://host/a", "x://host/a"},
		{"scheme", "file:", "file:///a", "file:///a"},
		{"leading slash", "/", "/a", "/a"},
		{"case matters", "file:///A", "file:///a", ""},
		{"no slash at all", "urn:a", "urn:a:b", ""},
		{"event too long to be kept", "file:///d", long, "file:///d"},
		{"longest subscription", long[:notify.MaxURIBytes], long, long[:notify.MaxURIBytes]},
		{"longest subscription, the event itself", long[:notify.MaxURIBytes], long[:notify.MaxURIBytes], long[:notify.MaxURIBytes]},
		{"longest subscription, a slash after it", letters, letters + "/a/b", letters},
		{"longest subscription, one byte less", long[:notify.MaxURIBytes-1], long, long[:notify.MaxURIBytes-1]},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHub(t, nil)
				var got recorder
				subscribe(t, h, notify.Filter{URIs: []string{tt.subscribed}}, got.deliver)
				h.Publish(updated(tt.event))
				settle()
				var want [][]notify.Event
				if tt.want != "" {
					want = [][]notify.Event{{updated(tt.want)}}
				}
				if diff := cmp.Diff(want, got.take()); diff != "" {
					t.Errorf("deliveries (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Field case A79: a reload that adds 200 tools is one notification.
func TestHub_A79_stormIsOneDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, nil)
		var got recorder
		subscribe(t, h, notify.Filter{Tools: true, URIs: []string{"dir"}}, got.deliver)
		for range 200 {
			h.Publish(notify.Event{Kind: notify.ToolsChanged})
			h.Publish(updated("dir/a"))
		}
		settle()
		want := [][]notify.Event{{{Kind: notify.ToolsChanged}, updated("dir/a")}}
		if diff := cmp.Diff(want, got.take()); diff != "" {
			t.Errorf("deliveries (-want +got):\n%s", diff)
		}
		stats := notify.Stats{Subscribers: 1, URIs: 1, Published: 400, Deliveries: 1, Delivered: 2}
		if diff := cmp.Diff(stats, h.Stats()); diff != "" {
			t.Errorf("Stats (-want +got):\n%s", diff)
		}
	})
}

func TestHub_windowStartsAtFirstEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const window = time.Second
		h := newHub(t, &notify.Options{Window: window})
		start := time.Now()
		var at []time.Duration
		subscribe(t, h, notify.Filter{URIs: []string{"a"}}, func([]notify.Event) { at = append(at, time.Since(start)) })
		// A new event every 300 ms, 20 times: a timer that each of them pushed
		// forward would not fire before the end.
		for i := range 20 {
			h.Publish(updated(fmt.Sprintf("a/%d", i)))
			time.Sleep(300 * time.Millisecond)
		}
		time.Sleep(window)
		synctest.Wait()
		want := []time.Duration{1000, 2200, 3400, 4600, 5800}
		for i := range want {
			want[i] *= time.Millisecond
		}
		if diff := cmp.Diff(want, at); diff != "" {
			t.Errorf("times of delivery (-want +got):\n%s", diff)
		}
	})
}

func TestHub_subscribersGetTheirOwnSlices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, nil)
		var one, two recorder
		spoil := func(r *recorder) func([]notify.Event) {
			return func(events []notify.Event) {
				r.deliver(append([]notify.Event(nil), events...))
				clear(events)
			}
		}
		subscribe(t, h, notify.Filter{Tools: true}, spoil(&one))
		subscribe(t, h, notify.Filter{Tools: true}, spoil(&two))
		for range 2 {
			h.Publish(notify.Event{Kind: notify.ToolsChanged})
			settle()
		}
		want := [][]notify.Event{{{Kind: notify.ToolsChanged}}, {{Kind: notify.ToolsChanged}}}
		for _, got := range []*recorder{&one, &two} {
			if diff := cmp.Diff(want, got.take()); diff != "" {
				t.Errorf("deliveries (-want +got):\n%s", diff)
			}
		}
	})
}

func TestHub_slowDeliveryDelaysOnlyItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, nil)
		var slow, fast recorder
		release := make(chan struct{})
		subscribe(t, h, notify.Filter{Tools: true, Prompts: true}, func(events []notify.Event) {
			slow.deliver(events)
			<-release
		})
		subscribe(t, h, notify.Filter{Tools: true, Prompts: true}, fast.deliver)

		tools, prompts := notify.Event{Kind: notify.ToolsChanged}, notify.Event{Kind: notify.PromptsChanged}
		h.Publish(tools)
		settle()
		for range 3 {
			h.Publish(prompts)
			h.Publish(tools)
			settle()
		}
		if diff := cmp.Diff([][]notify.Event{{tools}}, slow.take()); diff != "" {
			t.Errorf("slow, while it is blocked (-want +got):\n%s", diff)
		}
		both := []notify.Event{tools, prompts}
		if diff := cmp.Diff([][]notify.Event{{tools}, both, both, both}, fast.take()); diff != "" {
			t.Errorf("fast (-want +got):\n%s", diff)
		}

		close(release)
		synctest.Wait()
		if got := slow.take(); got != nil {
			t.Errorf("slow got %v at once, want another window first", got)
		}
		settle()
		if diff := cmp.Diff([][]notify.Event{both}, slow.take()); diff != "" {
			t.Errorf("slow, after it was released (-want +got):\n%s", diff)
		}
	})
}

// Field case A82, the hub's part: a reader that left does not let a queue grow,
// whatever is published.
func TestHub_A82_pendingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const exact = 100
		h := newHub(t, &notify.Options{MaxPending: exact})
		var got recorder
		subscribe(t, h, notify.Filter{URIs: []string{"x://a", "x://b", "x://b/deep"}}, got.deliver)
		var want []notify.Event
		for i := range 10_000 {
			e := updated(fmt.Sprintf("x://a/%d", i))
			h.Publish(e)
			if i < exact {
				want = append(want, e)
			}
		}
		h.Publish(updated("x://a/7")) // known, so no room is needed
		h.Publish(updated("x://b/1"))
		settle()
		// Less exact beyond the bound, but nothing is lost and nothing is reported
		// that was not asked for.
		want = append(want, updated("x://a"), updated("x://b"))
		if diff := cmp.Diff([][]notify.Event{want}, got.take()); diff != "" {
			t.Errorf("deliveries (-want +got):\n%s", diff)
		}

		h.Publish(updated("x://a/9999"))
		settle()
		if diff := cmp.Diff([][]notify.Event{{updated("x://a/9999")}}, got.take()); diff != "" {
			t.Errorf("after the storm (-want +got):\n%s", diff)
		}
	})
}

func TestHub_subscribeErrors(t *testing.T) {
	nop := func([]notify.Event) {}
	many := []string{"a", "b", "c"}
	tests := []struct {
		name string
		in   notify.Filter
		want error
	}{
		{"empty URI", notify.Filter{URIs: []string{"a", ""}}, notify.ErrURI},
		{"long URI", notify.Filter{URIs: []string{strings.Repeat("a", notify.MaxURIBytes+1)}}, notify.ErrURI},
		{"longest URI", notify.Filter{URIs: []string{strings.Repeat("a", notify.MaxURIBytes)}}, nil},
		{"too many URIs", notify.Filter{URIs: many}, notify.ErrTooMany},
		{"repetitions count once", notify.Filter{URIs: []string{"a", "b", "a", "b"}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHub(t, &notify.Options{MaxURIs: 2})
			s, err := h.Subscribe(tt.in, nop)
			if !errors.Is(err, tt.want) {
				t.Errorf("Subscribe error = %v, want %v", err, tt.want)
			}
			if (s == nil) != (tt.want != nil) {
				t.Errorf("Subscribe = %v with error %v", s, err)
			}
			if s != nil {
				s.Close()
			}
			if got := h.Stats(); got.Subscribers != 0 || got.URIs != 0 {
				t.Errorf("Stats = %+v, want nothing left", got)
			}
		})
	}
	t.Run("no function", func(t *testing.T) {
		if s, err := newHub(t, nil).Subscribe(notify.Filter{}, nil); s != nil || err == nil {
			t.Errorf("Subscribe = %v, %v; want an error", s, err)
		}
	})
	t.Run("too many subscribers", func(t *testing.T) {
		h := newHub(t, &notify.Options{MaxSubscribers: 1})
		first := subscribe(t, h, notify.Filter{}, nop)
		if _, err := h.Subscribe(notify.Filter{}, nop); !errors.Is(err, notify.ErrTooMany) {
			t.Errorf("second Subscribe error = %v, want ErrTooMany", err)
		}
		first.Close()
		subscribe(t, h, notify.Filter{}, nop)
	})
	t.Run("too many URIs in total", func(t *testing.T) {
		h := newHub(t, &notify.Options{MaxTotalURIs: 3})
		first := subscribe(t, h, notify.Filter{URIs: []string{"a", "b"}}, nop)
		if _, err := h.Subscribe(notify.Filter{URIs: []string{"a", "b"}}, nop); !errors.Is(err, notify.ErrTooMany) {
			t.Errorf("second Subscribe error = %v, want ErrTooMany", err)
		}
		first.Close()
		subscribe(t, h, notify.Filter{URIs: []string{"a", "b"}}, nop)
	})
	t.Run("closed hub", func(t *testing.T) {
		h := newHub(t, nil)
		h.Close()
		if _, err := h.Subscribe(notify.Filter{}, nop); !errors.Is(err, notify.ErrClosed) {
			t.Errorf("Subscribe error = %v, want ErrClosed", err)
		}
	})
}

func TestKind_String(t *testing.T) {
	tests := []struct {
		in   notify.Kind
		want string
	}{
		{notify.ToolsChanged, "ToolsChanged"},
		{notify.PromptsChanged, "PromptsChanged"},
		{notify.ResourcesChanged, "ResourcesChanged"},
		{notify.ResourceUpdated, "ResourceUpdated"},
		{0, "Kind(0)"},
		{9, "Kind(9)"},
	}
	for _, tt := range tests {
		if got := tt.in.String(); got != tt.want {
			t.Errorf("Kind(%d).String() = %q, want %q", uint8(tt.in), got, tt.want)
		}
	}
}

// What was subscribed to for a moment does not wait for ever behind a delivery
// that is stuck.
func TestHub_pendingIsBoundedWhateverWasSubscribed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, &notify.Options{MaxPending: 1, MaxURIs: 1})
		release := make(chan struct{})
		var got recorder
		s := subscribe(t, h, notify.Filter{Tools: true}, func(events []notify.Event) {
			got.deliver(events)
			<-release
		})
		h.Publish(notify.Event{Kind: notify.ToolsChanged})
		settle()
		before := heap()
		for i := range 5000 {
			uri := fmt.Sprintf("file:///%04d/%s", i, strings.Repeat("x", 4000))
			if err := s.AddURI(uri); err != nil {
				t.Fatal(err)
			}
			h.Publish(updated(uri))
			s.RemoveURI(uri)
		}
		if grown := int64(heap() - before); grown > 1<<20 {
			t.Errorf("the heap has grown by %d KiB for 5000 updates that nobody asks for any more", grown>>10)
		}
		if err := s.AddURI("file:///last"); err != nil {
			t.Fatal(err)
		}
		h.Publish(updated("file:///last"))
		close(release)
		settle()
		settle()
		want := [][]notify.Event{{{Kind: notify.ToolsChanged}}, {updated("file:///last")}}
		if diff := cmp.Diff(want, got.take()); diff != "" {
			t.Errorf("deliveries (-want +got):\n%s", diff)
		}
	})
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

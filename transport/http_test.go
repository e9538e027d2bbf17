package transport_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestA14ParallelClientsWithTheSameID(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, &siteOptions{})
		first, second := s.open("2025-11-25", nil), s.open("2025-06-18", nil)
		results := make(chan string, 200)
		for i := range 200 {
			h := []header{first, second}[i%2]
			text := strings.Repeat("x", i)
			req := s.request(http.MethodPost, "/mcp", call("2", "echo", `{"text":"`+text+`"}`), h)
			go func() { // its result is taken below
				a, err := s.try(req)
				if err != nil {
					t.Error(err)
				}
				if !strings.Contains(a.body, `"text":"`+text+`"`) || !strings.HasPrefix(a.body, `{"jsonrpc":"2.0","id":2,`) {
					results <- a.body
					return
				}
				results <- ""
			}()
		}
		for range 200 {
			if wrong := <-results; wrong != "" {
				t.Errorf("an answer for somebody else: %s", wrong)
			}
		}
	})
}

func TestConversation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		h := s.open("2025-11-25", nil)
		if a := s.post(call("1", "echo", `{"text":"hello"}`), h); a.status != 200 || a.header.Get("Content-Type") != "application/json" || !strings.Contains(a.body, "hello") {
			t.Errorf("echo: %d %v %s", a.status, a.header, a.body)
		}
		st := s.stream(s.request(http.MethodPost, "/mcp", call("2", "steps", `{"n":3}`), h))
		events := st.rest()
		if len(events) != 5 || events[0].id == "" || events[0].data != "" || events[0].retry != "1000" || !strings.Contains(events[4].data, "done 3") {
			t.Errorf("steps: %+v", events)
		}
		body, mh := modernCall("3", "echo", `{"text":"hello"}`)
		if a := s.post(body, mh); a.status != 200 || !strings.Contains(a.body, `"resultType":"complete"`) {
			t.Errorf("modern: %d %s", a.status, a.body)
		}
		synctest.Wait()
		if got := s.store.Stats(); got.Sessions != 1 || got.InUse != 0 {
			t.Errorf("store: %+v", got)
		}
		if a := s.do(http.MethodDelete, "/mcp", "", h); a.status != http.StatusNoContent {
			t.Errorf("DELETE: %d %s", a.status, a.body)
		}
		if a := s.post(call("4", "echo", `{"text":""}`), h); a.status != http.StatusNotFound {
			t.Errorf("after DELETE: %d %s", a.status, a.body)
		}
		time.Sleep(time.Hour)
	})
}

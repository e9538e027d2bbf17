package layer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"github.com/google/go-cmp/cmp"
)

// page returns a page of the tools, by name, and the next cursor.
func page(t *testing.T, l *layer.Layer, r *layer.Request, cursor string) (names, next string) {
	t.Helper()
	raw, err := l.AppendList([]byte("{"), policy.Tool, r, cursor, cursor != "")
	must(t, err)
	var list struct {
		Tools      []struct{ Name string }
		NextCursor *string
	}
	must(t, json.Unmarshal(append(raw, '}'), &list))
	var all []string
	for _, e := range list.Tools {
		all = append(all, e.Name)
	}
	if list.NextCursor != nil {
		if next = *list.NextCursor; next == "" {
			t.Error("there is a cursor, and it is empty")
		}
	}
	return strings.Join(all, " "), next
}

// numbered returns so many tools.
func numbered(n int) []registry.Tool {
	var tools []registry.Tool
	for i := range n {
		tools = append(tools, tool(fmt.Sprint(i), text("")))
	}
	return tools
}

func TestPages(t *testing.T) {
	tests := []struct {
		name        string
		size, tools int
		want        []string
	}{
		{"none", 3, 0, []string{""}},
		{"less than a page", 3, 2, []string{"0 1"}},
		{"exactly a page", 3, 3, []string{"0 1 2"}},
		{"one more", 3, 4, []string{"0 1 2", "3"}},
		{"two pages", 3, 6, []string{"0 1 2", "3 4 5"}},
		{"one by one", 1, 3, []string{"0", "1", "2"}},
		{"no pages", -1, 5, []string{"0 1 2 3 4"}},
		{"the default", 0, 5, []string{"0 1 2 3 4"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := withTools(t, layer.Options{PageSize: tt.size}, numbered(tt.tools)...)
			var got []string
			for cursor := ""; len(got) == 0 || cursor != ""; {
				var names string
				names, cursor = page(t, l, local(), cursor)
				got = append(got, names)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("pages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestForeignCursors(t *testing.T) {
	reg := registry.New(nil)
	must(t, reg.AddTool(numbered(4)...))
	for i := range 4 {
		must(t, reg.AddPrompt(registry.Prompt{Name: fmt.Sprint(i), Handler: func(context.Context, *registry.Call) (*protocol.GetPromptResult, error) { return nil, nil }}))
	}
	key := []byte(strings.Repeat("k", 32))
	l := layer.New(&layer.Options{Registry: reg, PageSize: 2, CursorKey: key})
	_, cursor := page(t, l, local(), "")
	bob := local()
	bob.Principal = policy.NewPrincipal("bob", "local")
	replica := layer.New(&layer.Options{Registry: reg, PageSize: 2, CursorKey: key})
	stranger := layer.New(&layer.Options{Registry: reg, PageSize: 2})
	tests := []struct {
		name string
		l    *layer.Layer
		kind policy.Kind
		r    *layer.Request
		in   string
		ok   bool
	}{
		{"its own list", l, policy.Tool, local(), cursor, true},
		{"a replica", replica, policy.Tool, local(), cursor, true},
		{"another process", stranger, policy.Tool, local(), cursor, false},
		{"another kind", l, policy.Prompt, local(), cursor, false},
		{"another principal", l, policy.Tool, bob, cursor, false},
		{"another version, which sees other bytes", l, policy.Tool, in(protocol.V20241105), cursor, false},
		{"made up", l, policy.Tool, local(), "AAAA", false},
		{"empty", l, policy.Tool, local(), "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.l.AppendList([]byte("x"), tt.kind, tt.r, tt.in, true)
			if tt.ok {
				must(t, err)
				return
			}
			if want := "-32602 invalid cursor: start again without one "; object(t, err) != want || string(got) != "x" {
				t.Errorf("%s, %s; want %s and nothing appended", object(t, err), got, want)
			}
		})
	}
	must(t, reg.AddTool(tool("new", text(""))))
	if _, err := l.AppendList(nil, policy.Tool, local(), cursor, true); err == nil {
		t.Error("the cursor of a list that has changed was accepted")
	}
}

// Lists are kept for each class of principals and each version, and no longer
// than they are true.
func TestListsAreKept(t *testing.T) {
	j := new(journal)
	reg := registry.New(nil)
	must(t, reg.AddTool(tool("a", text("")), tool("b", text(""))))
	l := layer.New(&layer.Options{Registry: reg, Access: &access{journal: j}})
	as := func(id string, v protocol.Version, roles ...string) *layer.Request {
		return &layer.Request{Principal: policy.NewPrincipal(id, roles...), Version: v}
	}
	steps := []struct {
		name     string
		change   func() error
		r        *layer.Request
		want     string
		rendered bool
	}{
		{"the first", nil, as("alice", protocol.LatestHandshake, "x"), "a b", true},
		{"again", nil, as("alice", protocol.LatestHandshake, "x"), "a b", false},
		{"somebody who sees the same", nil, as("bob", protocol.LatestHandshake, "x"), "a b", false},
		{"another version", nil, as("alice", protocol.LatestStateless, "x"), "a b", true},
		{"somebody who sees something else", nil, as("carol", protocol.LatestHandshake, "blind"), "", true},
		{"the first again", nil, as("alice", protocol.LatestHandshake, "x"), "a b", false},
		{"after a change", func() error { return reg.AddTool(tool("c", text(""))) }, as("alice", protocol.LatestHandshake, "x"), "a b c", true},
		{"and for others", nil, as("carol", protocol.LatestHandshake, "blind"), "", true},
	}
	for _, tt := range steps {
		if tt.change != nil {
			must(t, tt.change())
		}
		j.take()
		got, _ := page(t, l, tt.r, "")
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if rendered := len(j.take()) > 0; rendered != tt.rendered {
			t.Errorf("%s: the list was made: %v, want %v", tt.name, rendered, tt.rendered)
		}
	}
	if !l.Private() || withTools(t, layer.Options{}).Private() {
		t.Error("lists are private if somebody decides who sees what")
	}
}

func TestListsWhileTheRegistryChanges(t *testing.T) {
	reg := registry.New(nil)
	l := layer.New(&layer.Options{Registry: reg, PageSize: -1})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 100 {
			if err := reg.AddTool(tool(fmt.Sprint(i), text(""))); err != nil {
				t.Error(err)
			}
		}
	})
	for range 4 {
		wg.Go(func() {
			least := 0
			for range 100 {
				names, _ := page(t, l, local(), "")
				n := len(strings.Fields(names))
				if n < least {
					t.Errorf("%d tools after %d", n, least)
				}
				least = n
			}
		})
	}
	wg.Wait()
}

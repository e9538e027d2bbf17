package protocol_test

import (
	"slices"
	"strings"
	"testing"

	"cloudg.dev/cloudg/protocol"
)

// Where a buffer has room, appending allocates nothing: results go to pooled
// buffers. Only a block that has to be replaced by a text costs that text.
func TestAppendingDoesNotAllocate(t *testing.T) {
	text := &protocol.Text{Text: strings.Repeat("line \"x\" é\xff\n", 200), Annotations: everything(), Meta: []byte(metadata)}
	image := &protocol.Image{Data: make([]byte, 3000), MIMEType: "image/png", Annotations: everything()}
	contents := protocol.ResourceContents{URI: "a:b", MIMEType: "a/b", Blob: make([]byte, 3000), Meta: []byte(metadata)}
	tests := []struct {
		name string
		in   result
		from protocol.Version
	}{
		{"tool", &protocol.CallToolResult{
			Content:           []protocol.Content{text, image, &protocol.EmbeddedResource{Resource: contents, Annotations: everything()}},
			StructuredContent: []byte(metadata), IsError: true,
		}, protocol.V20241105},
		{"tool with audio", &protocol.CallToolResult{Content: []protocol.Content{&protocol.Audio{Data: make([]byte, 3000), MIMEType: "audio/wav"}}}, protocol.V20250326},
		{"tool with a link", &protocol.CallToolResult{Content: []protocol.Content{&protocol.ResourceLink{
			URI: "a:b", Name: "n", Title: "t", Size: 1 << 40, HasSize: true, Icons: []protocol.Icon{{Src: "data:,x", Sizes: []string{"any"}}}, Annotations: everything(),
		}}}, protocol.V20250618},
		{"read", &protocol.ReadResourceResult{Contents: []protocol.ResourceContents{contents, {URI: "a:c", Text: "t"}}}, protocol.V20241105},
		{"prompt", &protocol.GetPromptResult{Description: "d", Messages: []protocol.PromptMessage{{Role: protocol.RoleUser, Content: text}}}, protocol.V20241105},
		{"completion", &protocol.Completion{Values: make([]string, 200), Total: 1000}, protocol.V20241105},
	}
	dst := make([]byte, 0, 64<<10)
	for _, tt := range tests {
		for _, v := range protocol.Versions() {
			if v < tt.from {
				continue
			}
			if n := testing.AllocsPerRun(20, func() { dst = tt.in.AppendMembers(dst[:0], v) }); n != 0 {
				t.Errorf("%s, %s: %v allocations, want 0", tt.name, v, n)
			}
		}
	}
}

// A large result makes room for itself at once, however small the buffer was.
func TestLargeResultsGrowOnce(t *testing.T) {
	const most = 2 // the room, and under the race detector a copy that is optimized away elsewhere
	many := func(c protocol.Content) protocol.CallToolResult {
		return protocol.CallToolResult{Content: slices.Repeat([]protocol.Content{c}, 64)}
	}
	data := make([]byte, 4<<10)
	lines := strings.Repeat(strings.Repeat("x", 79)+"\n", 50)
	mixed := many(&protocol.Text{Text: lines})
	mixed.StructuredContent = []byte(`{"a":"` + strings.Repeat("x", 256<<10) + `"}`)
	tests := []struct {
		name string
		in   protocol.CallToolResult
	}{
		{"text", many(&protocol.Text{Text: lines})},
		{"images", many(&protocol.Image{Data: data})},
		{"audio", many(&protocol.Audio{Data: data})},
		{"embedded text", many(&protocol.EmbeddedResource{Resource: protocol.ResourceContents{Text: lines}})},
		{"embedded bytes", many(&protocol.EmbeddedResource{Resource: protocol.ResourceContents{Blob: data}})},
		{"text and structure", mixed},
	}
	for _, tt := range tests {
		var got []byte
		// Enough runs for what the runtime allocates once, with its first collection.
		if n := testing.AllocsPerRun(30, func() { got = tt.in.AppendMembers(nil, protocol.LatestStateless) }); n > most {
			t.Errorf("%s: %v allocations, want %d at most", tt.name, n, most)
		}
		if room, size := cap(got), len(got); room > size+size/4 {
			t.Errorf("%s: room for %d bytes was made for %d", tt.name, room, size)
		}
	}
}

// No room is made for what the version leaves out.
func TestNoRoomForWhatIsLeftOut(t *testing.T) {
	r := protocol.CallToolResult{
		Content:           []protocol.Content{&protocol.Audio{Data: make([]byte, 64<<10), MIMEType: "audio/wav"}},
		StructuredContent: []byte(`{"a":"` + strings.Repeat("x", 64<<10) + `"}`),
	}
	if got := r.AppendMembers(nil, protocol.V20241105); cap(got) > 1<<10 {
		t.Errorf("room for %d bytes was made for %d", cap(got), len(got))
	}
}

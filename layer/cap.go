package layer

import (
	"fmt"
	"unicode/utf8"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// cap cuts the text of a result that is larger than the tool may return, on a
// character boundary, and says so. Structured content cannot be cut; if it is
// too large by itself the result becomes an error that says what to do.
func (l *Layer) cap(e *registry.ToolEntry, res *protocol.CallToolResult) *protocol.CallToolResult {
	limit := e.MaxOutput
	if limit == 0 {
		limit = l.maxOutput
	}
	if limit < 0 {
		return res
	}
	if n := len(res.StructuredContent); n > limit {
		return registry.ErrorResult(fmt.Sprintf("The result of %s has %d bytes, more than the %d that one result may have. Ask for less: narrow the query, or use paging if the tool has it.", e.Name, n, limit))
	}
	total := 0
	for _, c := range res.Content {
		total += textLen(c)
	}
	if total <= limit {
		return res
	}
	return capText(res, limit, total)
}

func textLen(c protocol.Content) int {
	switch c := c.(type) {
	case *protocol.Text:
		return len(c.Text)
	case *protocol.EmbeddedResource:
		return len(c.Resource.Text)
	}
	return 0
}

// capText returns a copy of the result with limit bytes of text and a note.
// What the handler returned is not touched, since it may keep it.
func capText(res *protocol.CallToolResult, limit, total int) *protocol.CallToolResult {
	out := *res
	out.Content = make([]protocol.Content, 0, len(res.Content)+1)
	left := limit
	for _, c := range res.Content {
		n := textLen(c)
		if n > left {
			c = cutText(c, left)
			n = left
		}
		left -= n
		if t, ok := c.(*protocol.Text); ok && t.Text == "" {
			continue // there are models that refuse an empty text
		}
		out.Content = append(out.Content, c)
	}
	note := fmt.Sprintf("[Truncated: the text has %d bytes, of which the first %d are shown. Ask for less: narrow the query, or read the rest in parts if the tool can do that.]", total, limit)
	out.Content = append(out.Content, &protocol.Text{Text: note})
	return &out
}

func cutText(c protocol.Content, n int) protocol.Content {
	switch c := c.(type) {
	case *protocol.Text:
		cut := *c
		cut.Text = cut.Text[:runeFloor(cut.Text, n)]
		return &cut
	case *protocol.EmbeddedResource:
		cut := *c
		cut.Resource.Text = cut.Resource.Text[:runeFloor(cut.Resource.Text, n)]
		return &cut
	}
	return c
}

// runeFloor returns the largest character boundary of s that is at most n.
func runeFloor(s string, n int) int {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

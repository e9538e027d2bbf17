package frontmatter

import "cloudg.dev/cloudg/internal/jsonwire"

// kind is what a node is.
type kind uint8

const (
	literal  kind = iota // null, a boolean or a number; the text is JSON
	str                  // a string
	sequence             // items
	mapping              // members
)

// node is a value of the document.
type node struct {
	kind    kind
	text    string
	items   []*node
	members []member
}

// member is one entry of a mapping.
type member struct {
	key   string
	line  int // of the file
	value *node
}

func null() *node { return &node{kind: literal, text: "null"} }

// appendJSON appends the node as JSON on one line.
func (n *node) appendJSON(dst []byte) []byte {
	switch n.kind {
	case literal:
		return append(dst, n.text...)
	case str:
		return jsonwire.AppendQuote(dst, n.text)
	case sequence:
		dst = append(dst, '[')
		for i, item := range n.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.appendJSON(dst)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, m := range n.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonwire.AppendQuote(dst, m.key), ':')
		dst = m.value.appendJSON(dst)
	}
	return append(dst, '}')
}

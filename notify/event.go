package notify

import "strconv"

// Kind says what changed. The order of the constants is the order of events
// within a delivery. The zero Kind is no event.
type Kind uint8

const (
	// ToolsChanged says that the list of tools changed.
	ToolsChanged Kind = iota + 1
	// PromptsChanged says that the list of prompts changed.
	PromptsChanged
	// ResourcesChanged says that the list of resources or of resource templates
	// changed.
	ResourcesChanged
	// ResourceUpdated says that the content of one resource changed.
	ResourceUpdated
)

// String returns the constant's name, or its number when it is none of them.
func (k Kind) String() string {
	switch k {
	case ToolsChanged:
		return "ToolsChanged"
	case PromptsChanged:
		return "PromptsChanged"
	case ResourcesChanged:
		return "ResourcesChanged"
	case ResourceUpdated:
		return "ResourceUpdated"
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// isList reports whether k is one of the kinds that concern a whole list, of
// which a subscriber can have at most one event waiting each.
func (k Kind) isList() bool { return k >= ToolsChanged && k < ResourceUpdated }

// Event is one change.
type Event struct {
	Kind Kind
	URI  string // the resource; empty unless Kind is ResourceUpdated
}

// listKinds is how many list kinds there are.
const listKinds = int(ResourceUpdated - ToolsChanged)

// kindSet is a set of list kinds.
type kindSet uint8

func (s kindSet) has(k Kind) bool { return s&(1<<k) != 0 }

func (s kindSet) with(k Kind) kindSet { return s | 1<<k }

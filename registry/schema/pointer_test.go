package schema

import "testing"

func TestPointerTo(t *testing.T) {
	const doc = ` {"a" : [1, {"b/c": "x,]}"}, [ ] , "y"], "~d": {"e":null}, "": [[0]] }`
	tests := []struct {
		name, at, want string
	}{
		{"the root", `{"a"`, ""},
		{"a member", `[1,`, "/a"},
		{"a name", `"a"`, "/a"},
		{"the first element", `1,`, "/a/0"},
		{"an object in an array", `{"b/c"`, "/a/1"},
		{"a name with a slash", `"b/c"`, "/a/1/b~1c"},
		{"text with brackets", `"x,]}"`, "/a/1/b~1c"},
		{"an empty array", `[ ]`, "/a/2"},
		{"behind containers", `"y"`, "/a/3"},
		{"a name with a tilde", `"~d"`, "/~0d"},
		{"a value inside", `null`, "/~0d/e"},
		{"the empty name", `[[0]]`, "/"},
		{"nested arrays", `0]]`, "//0/0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			offset := -1
			for i := range len(doc) - len(tt.at) + 1 {
				if doc[i:i+len(tt.at)] == tt.at {
					offset = i
					break
				}
			}
			if got := pointerTo([]byte(doc), offset); got != tt.want {
				t.Errorf("offset %d: got %q, want %q", offset, got, tt.want)
			}
		})
	}
}

package uritemplate_test

import (
	"fmt"
	"slices"

	"cloudg.dev/cloudg/registry/uritemplate"
)

func ExampleTemplate_Match() {
	t, err := uritemplate.Parse("file:///{+path}{?line}")
	if err != nil {
		fmt.Println(err)
		return
	}
	vars, ok := t.Match("file:///src/my%20notes.txt?line=3", nil)
	fmt.Println(ok)
	for _, v := range vars {
		fmt.Printf("%s: %s\n", v.Name, v.Value)
	}
	// Output:
	// true
	// path: src/my notes.txt
	// line: 3
}

func ExampleTemplate_Expand() {
	t, err := uritemplate.Parse("user://{name}{?lang,page}")
	if err != nil {
		fmt.Println(err)
		return
	}
	values := map[string]string{"name": "Ada Lovelace", "page": "2"}
	fmt.Println(t.Expand(func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	}))
	// Output: user://Ada%20Lovelace?page=2
}

func ExampleParse_refused() {
	_, err := uritemplate.Parse("note://{id:3}")
	fmt.Println(err)
	// Output: uri template: byte 7: "{id:3}": the modifier ":3" is not supported, for such a value cannot be matched again; supported are {a} {+a} {#a} {.a} {/a} {;a} {?a} {&a}, several names as in {?a,b}
}

func ExampleCompare() {
	var templates []*uritemplate.Template
	for _, s := range []string{"note://{+path}", "note://{id}", "note://{id}/history"} {
		t, err := uritemplate.Parse(s)
		if err != nil {
			fmt.Println(err)
			return
		}
		templates = append(templates, t)
	}
	slices.SortFunc(templates, uritemplate.Compare)
	for _, t := range templates {
		fmt.Println(t)
	}
	// Output:
	// note://{id}/history
	// note://{id}
	// note://{+path}
}

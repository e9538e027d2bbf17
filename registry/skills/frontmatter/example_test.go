package frontmatter_test

import (
	"fmt"

	"cloudg.dev/cloudg/registry/skills/frontmatter"
)

func ExampleParse() {
	f, err := frontmatter.Parse([]byte(`---
name: pdf-tools
description: >-
  Take text out of
  PDF files.
metadata: {version: "1.20", sizes: [1, 0x10]}
---

# PDF tools
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(f.JSON))
	fmt.Println("the description is on line", f.Line("description"))

	_, err = frontmatter.Parse([]byte("---\nname: x\ndescription: Use when: never\n---\n"))
	fmt.Println(err)
	// Output:
	// {"name":"pdf-tools","description":"Take text out of PDF files.","metadata":{"version":"1.20","sizes":[1,16]}}
	// the description is on line 3
	// line 3: a colon in Use when: never: quote the whole value
}

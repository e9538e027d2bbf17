package jsonwire_test

import (
	"fmt"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// A document is checked once, then read where it lies.
func Example() {
	doc := []byte(`{"name":"read_file","arguments":{"path":"caf\u00e9.txt","lines":[1,20]}}`)
	if err := jsonwire.Valid(doc, 0); err != nil {
		fmt.Println(err)
		return
	}
	args := jsonwire.Lookup(doc, "arguments")
	fmt.Println(jsonwire.Unquote(jsonwire.Lookup(args, "path")))
	for a := jsonwire.Elements(jsonwire.Lookup(args, "lines")); ; {
		line, ok := a.Next()
		if !ok {
			break
		}
		fmt.Printf("%s\n", line)
	}
	// Output:
	// café.txt
	// 1
	// 20
}

// A fault has a place.
func ExampleValid() {
	fmt.Println(jsonwire.Valid([]byte(`{"a":1,}`), 0))
	fmt.Println(jsonwire.Valid([]byte(`{"a":"b`), 0))
	// Output:
	// a member name was expected at byte 7
	// the input ends inside a value at byte 7
}

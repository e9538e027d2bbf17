package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"cloudg.dev/cloudg/registry/schema"
)

func Example() {
	type arguments struct {
		City string `json:"city" jsonschema:"name of the city, in English,minLength=1"`
		Days int    `json:"days" jsonschema:"default=3,minimum=1,maximum=14"`
	}
	codec, err := schema.NewCodec[arguments](nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", codec.Schema())

	var args arguments
	fmt.Println(codec.Decode([]byte(`{"city":"Lisbon"}`), &args), args)
	fmt.Println(codec.Decode([]byte(`{"cty":"Lisbon","days":30}`), &args))
	// Output:
	// {"type":"object","properties":{"city":{"type":"string","description":"name of the city, in English","minLength":1},"days":{"type":"integer","default":3,"minimum":1,"maximum":14}},"required":["city"],"additionalProperties":false}
	// <nil> {Lisbon 3}
	// unknown argument "cty"; did you mean "city"?; argument "days": must be at most 14; missing required argument "city" (string)
}

func ExampleSchema_Validate() {
	s, err := schema.Compile([]byte(`{"type":"object","properties":{"tags":{"type":"array","items":{"enum":["red","green"]}}}}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = s.Validate([]byte(`{"tags":["red","gren"]}`))
	fmt.Println(err)
	var ve *schema.ValidationError
	if errors.As(err, &ve) {
		data, _ := json.Marshal(ve.Violations)
		fmt.Printf("%s\n", data)
	}
	// Output:
	// argument "tags[1]": expected one of "red", "green"; did you mean "green"?
	// [{"path":"/tags/1","message":"expected one of \"red\", \"green\"; did you mean \"green\"?","keyword":"enum"}]
}

func ExampleLint() {
	for _, f := range schema.Lint(schema.Tool{Name: "search", Input: []byte(`{"type":"object","properties":{"ids":{"type":"array"}},"additionalProperties":false}`)}) {
		fmt.Println(f.Level, f.Rule, f.Path)
	}
	// Output:
	// warning missing-items /properties/ids
	// info size
}

func ExampleWrap() {
	doc, wrapped, _ := schema.Wrap([]byte(`{"type":"array","items":{"type":"string"}}`))
	fmt.Printf("%v %s\n", wrapped, doc)
	fmt.Printf("%s\n", schema.AppendWrapped(nil, []byte(`["a"]`)))
	// Output:
	// true {"type":"object","properties":{"result":{"type":"array","items":{"type":"string"}}},"required":["result"]}
	// {"result":["a"]}
}

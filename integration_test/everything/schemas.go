package main

import (
	"context"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// schema2020 must reach tools/list as it is.
const schema2020 = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
	`"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},` +
	`"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},` +
	`"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],` +
	`"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},` +
	`"additionalProperties":false}`

const headerSchema = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`

// schemaTools registers the tools of the suite that are about their schemas.
func (f *fixtures) schemaTools() error {
	ok := func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
		return contents(text("ok")), nil
	}
	if err := f.tool("json_schema_2020_12_tool", "Has a schema with many keywords.", schema2020, ok); err != nil {
		return err
	}
	return f.tool("test_x_mcp_header", "Has a parameter that is mirrored in a header.", headerSchema, ok)
}

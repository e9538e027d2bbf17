package schema

// headerKeyword is the annotation that asks a client to send the value of a
// property as an HTTP header as well.
const headerKeyword = "x-mcp-header"

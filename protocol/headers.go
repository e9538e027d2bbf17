package protocol

// Headers are the headers of an HTTP request that repeat what is in its body,
// with all the values that were sent. They exist in the stateless era only.
type Headers struct {
	Version []string // MCP-Protocol-Version
	Method  []string // Mcp-Method
	Name    []string // Mcp-Name
	// Param returns the values of the header Mcp-Param- with the given suffix.
	Param func(suffix string) []string
}

// Package layer is the one path of every request, whatever brought it: stdio,
// HTTP, the command line, an adapter. In this order a request meets
//
//  1. visibility: what its principal may not see does not exist,
//  2. middleware, outermost first,
//  3. access, with rate limits and audit,
//  4. validation of its arguments,
//  5. the handler, under a timeout,
//  6. validation of what a tool returns, and the cap on the size of its text.
//
// Lists are rendered once for each set of principals that sees the same, and
// served as bytes.
package layer

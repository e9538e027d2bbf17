// Package layer is the one path of every request, whatever brought it: stdio,
// HTTP, the command line, a program that calls it. In this order a request meets
//
//  1. visibility: what its principal may not see does not exist,
//  2. middleware, outermost first,
//  3. access: [Access] may refuse it, by whatever rule,
//  4. validation of its arguments, which for a typed tool binds them as well,
//  5. the handler, under a timeout,
//  6. validation of what a tool returns, and the cap on the size of its text.
//
// A panic of a handler is an error like any other. What a model can act on, such
// as arguments that the schema refuses, a failure that the tool reports on
// purpose and a timeout, becomes a result with isError.
//
// Lists are rendered once for each set of principals that sees the same, and
// served as bytes.
package layer

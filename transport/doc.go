// Package transport carries frames between peers and the engine. It never looks
// into params.
//
// [Lines] is the stdio transport: one message per line.
package transport

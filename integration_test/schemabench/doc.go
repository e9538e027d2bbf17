// Package schemabench measures registry/schema against other validators, and
// compares its verdicts with theirs. It is a module of its own, so that the
// root module needs none of them.
package schemabench

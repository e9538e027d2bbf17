// Package frontmatter reads the YAML block at the top of a Markdown file and
// gives it back as JSON.
//
// It knows the part of YAML 1.2 that people write there, and refuses the rest
// with the line and the reason, so that nothing is ever read differently from
// how its author meant it:
//
//   - mappings and sequences, in blocks and in brackets, nested
//   - plain, 'single' and "double" quoted scalars, over several lines if need be
//   - literal (|) and folded (>) block scalars with all their indicators
//   - comments
//
// Refused are anchors and aliases, tags, directives, merge keys, explicit keys
// (? key), keys that are no scalars, and a key that occurs twice. Numbers that
// JSON does not have (.inf, .nan) are refused as well.
//
// A plain scalar is null, a boolean or a number exactly when the core schema of
// YAML 1.2 says so: yes, on and 2026-11-30 are strings. Numbers keep their
// digits, however many there are.
package frontmatter

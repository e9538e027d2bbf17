// Package schema knows JSON Schema: it compiles a schema once, checks raw JSON
// against it, derives schemas from Go types, and joins both in a [Codec] that
// checks and decodes in one pass.
//
// # Checking
//
// [Compile] reads a document of draft 2020-12, or of draft-07 by its $schema.
// References lead inside the document or to documents that are given; nothing
// is fetched. [Schema.Validate] works on the bytes: numbers are compared digit
// by digit and never become floating point, no maps are built, and nothing is
// allocated for a value that conforms. What does not conform is evaluated a
// second time to say why, as text that a model can act on and as data with a
// JSON Pointer. Such text names types, members and what the schema allows, and
// never repeats a value.
//
// Input has to be valid JSON, which the scanner of messages establishes once for
// a whole message: well-formed UTF-8, bounded nesting. This package does not
// check that again, and only promises to work on what has been checked.
//
// # Bounds
//
// Whoever writes the schema, or the value, may be hostile. A document is
// bounded in bytes and in subschemas, a pattern in size, an evaluation in depth
// and in steps; see [Options]. Patterns run on RE2, which never backtracks. A
// bound that is passed gives an error: a [*SchemaError] when compiling, one that
// wraps [ErrLimit] when checking.
//
// # Readings
//
// Where JSON Schema leaves room, or clients need more than it says:
//
//   - A member that the schema names may be there only once.
//   - format is an annotation unless [Options.AssertFormat] or the vocabulary of
//     the meta-schema says otherwise.
//   - pattern is an expression of ECMA-262, translated where RE2 says the same in
//     other words, and refused at compile time where it cannot.
//   - dependencies still works in draft 2020-12.
//   - For decoded arguments, and with [Options.NullAsAbsent], null for an optional
//     member counts as absent.
//
// # Everything else about tool schemas
//
// [Headers] reads and checks the x-mcp-header annotations. [Lint] lists what
// clients are known to choke on. [Relabel], [Flatten] and [Wrap] rewrite a
// schema, each in one stated way and only when asked.
//
// Schemas and codecs are immutable and may be used by any number of goroutines.
package schema

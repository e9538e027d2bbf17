// Package files offers file operations that cannot leave a set of allowed directories, the roots.
//
// It knows nothing of MCP: every operation takes a context and an input struct and returns an output struct, whose
// json and jsonschema tags describe them to whoever turns them into tools. The error texts are written for the reader who
// has to choose the next call: they say what was wrong and which operation or argument would be right.
//
// # Confinement
//
// Each root is an [os.Root], opened once. Paths are cleaned lexically and matched against the roots; what is left is
// opened component by component through the root, so neither "..", nor a symbolic link, nor a component that is exchanged
// while the operation runs leads out. Symbolic links that stay inside their root are followed when reading, and are never
// followed by a walk, a replacement or a deletion. Absolute link targets count as leaving the root. A path outside every
// root gets one and the same answer, whatever exists there: nothing outside is ever looked at. Hard links and mounts
// inside a root are part of it.
//
// # Paths
//
// A path is absolute, or relative to the first root, or a file URI. Output uses "/" everywhere, relative to the first root
// where possible, so that every path that is returned can be passed back. Name bytes that are not UTF-8 are shown as U+FFFD.
//
// # Limits
//
// Everything is bounded, by [Options] and by the bounds that the fields of the inputs document. At a bound an operation
// returns what it has and says so, or refuses before it has begun. Long loops end soon after their context does.
//
// # Concurrency
//
// All methods of [Files] may be called concurrently. Operations that change something run one at a time, which makes the
// comparison of a SHA-256 and the replacement that depends on it one step among the users of one Files.
package files

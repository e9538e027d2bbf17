package uritemplate

import "fmt"

// A ParseError says why a template was refused.
type ParseError struct {
	Offset   int    // where the refused part begins, in bytes
	Template string // the whole template
	Reason   string // what is wrong, with the refused part and what is supported instead
}

// Error returns the place and the reason. It does not repeat the whole template.
func (e *ParseError) Error() string {
	return fmt.Sprintf("uri template: byte %d: %s", e.Offset, e.Reason)
}

// supported ends the reason for each refused expression.
const supported = "supported are {a} {+a} {#a} {.a} {/a} {;a} {?a} {&a}, several names as in {?a,b}"

// excerptLen bounds the part of a template that a reason repeats, in bytes.
const excerptLen = 80

// excerpt returns s as it may be shown in one line of an error.
func excerpt(s string) string {
	if len(s) > excerptLen {
		return fmt.Sprintf("%q...", s[:excerptLen])
	}
	return fmt.Sprintf("%q", s)
}

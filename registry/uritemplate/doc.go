// Package uritemplate reads URI templates (RFC 6570), writes URIs from them and, which the RFC leaves open, reads the
// variables back out of a URI.
//
// A server announces a family of resources as one template and is then asked for a concrete URI. So a template is only
// useful here if a URI can be taken apart again, and [Parse] refuses, with the reason, every template for which that
// cannot be done. All eight operators are supported, with one or several names:
//
//	{a} {a,b}     text                one or more unreserved characters or percent-encoded bytes
//	{.a} {/a,b}   .text  /text/text   the same, each value behind its mark
//	{+a}          any/text            one or more characters, reserved ones such as / included
//	{#a}          #any/text           the same behind a #
//	{;a,b}        ;a=text;b=text      optional parameters, in any order
//	{?a,b}        ?a=text&b=text      optional parameters, in any order
//	{&a,b}        &a=text&b=text      optional parameters, in any order
//
// Refused are the modifiers of level 4, {a:3} and {a*}: the rest of a cut value is lost, and a list needs a type that a
// URI does not carry. Refused are also a name that occurs twice, a value directly behind another value ({a}{b}), and
// text behind optional parameters that could be a part of them ({?a}b).
//
// # Reading a URI
//
// Variables outside of optional parameters are required: a URI in which one of them is absent or empty does not match.
// Where a URI can be read in several ways, an earlier variable takes as much as it can: {name}.{ext} reads a.tar.gz as
// "a.tar" and "gz". A reserved value ends before the mark (; ? or &) of optional parameters that follow anywhere in the
// template, so {+path}{?line} reads a/b?line=3 as expected.
//
// URIs are compared in a normal form, in which %2f is %2F, %41 is A, and an é is %C3%A9 (RFC 3986, section 6.2.2, and
// RFC 3987, section 3.1). Nothing else is folded: letter case counts, and dot segments stay. Values are
// percent-decoded, hence the value of {a} may hold a slash (from %2F), and that of any variable may be "..": who builds
// a file name from it has to check it. A value that is not UTF-8 or holds a NUL does not match.
//
// [Template.Match] undoes [Template.Expand]: what matches can be written again from its variables and then matches with
// the same variables. For reserved values this refuses two kinds of rare URI. One holds an encoded reserved character
// that would change the reading once Expand writes it plainly, as RFC 6570 has it. The other is encoded twice, such as
// %2541, which Expand would take for something already encoded.
package uritemplate

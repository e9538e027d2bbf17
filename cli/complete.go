package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/protocol"
)

// complete prints the values that an argument of a prompt, or a variable of a
// resource template, may have.
func (inv *invocation) complete(ctx context.Context) (err error) {
	params, err := appendReference(nil, inv.operands[0])
	if err != nil {
		return err
	}
	value := ""
	if len(inv.operands) > 2 {
		value = inv.operands[2]
	}
	params = jsonwire.AppendQuote(append(params, `,"argument":{"name":`...), inv.operands[1])
	params = jsonwire.AppendQuote(append(params, `,"value":`...), value)
	params = appendGiven(append(params, '}'), inv.set.given)

	c, err := inv.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	raw, err := c.request(ctx, protocol.MethodComplete, params)
	if err != nil {
		return err
	}
	return inv.printCompletion(raw)
}

// appendReference appends the member that says what to complete for.
func appendReference(dst []byte, ref string) ([]byte, error) {
	kind, name, ok := strings.Cut(ref, ":")
	switch {
	case ok && name != "" && kind == "prompt":
		dst = append(dst, `"ref":{"type":"ref/prompt","name":`...)
	case ok && name != "" && kind == "resource":
		dst = append(dst, `"ref":{"type":"ref/resource","uri":`...)
	default:
		return nil, usagef("REF must be prompt:NAME or resource:TEMPLATE, as 'cloudg prompts' and 'cloudg resources' show them")
	}
	return append(jsonwire.AppendQuote(dst, name), '}'), nil
}

// appendGiven appends the values of other arguments, if there are any.
func appendGiven(dst []byte, given map[string]string) []byte {
	if len(given) == 0 {
		return dst
	}
	dst = append(dst, `,"context":{"arguments":{`...)
	for i, name := range slices.Sorted(maps.Keys(given)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonwire.AppendQuote(dst, name), ':')
		dst = jsonwire.AppendQuote(dst, given[name])
	}
	return append(dst, "}}"...)
}

// printCompletion prints one value a line, and tells of those left out.
func (inv *invocation) printCompletion(raw []byte) error {
	var res struct {
		Completion struct {
			Values  []string
			HasMore bool
		}
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return fmt.Errorf("reading the result: %w", err)
	}
	for _, v := range res.Completion.Values {
		inv.printLine(v)
	}
	if res.Completion.HasMore {
		fmt.Fprintln(inv.env.Stderr, "There are more: give more of the value.")
	}
	return nil
}

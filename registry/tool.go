package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry/schema"
)

// ToolHandler runs a tool. An error that is a [*Failure] becomes a result with
// isError, one that is meant for the peer ([*protocol.Error]) is sent as it is,
// and any other is logged and answered as an internal error.
type ToolHandler func(context.Context, *Call) (*protocol.CallToolResult, error)

// Tool is the specification of a tool. Name, InputSchema and Handler are
// mandatory; [Typed] sets the last two, and OutputSchema, from a function.
type Tool struct {
	Name        string // 1 to 128 letters, digits, '_', '-', '.'
	Title       string
	Description string
	Icons       []protocol.Icon
	Annotations *ToolAnnotations // unset hints are derived from Capabilities

	Category     string
	Tags         []string
	Sensitivity  policy.Sensitivity
	Capabilities policy.Capabilities

	InputSchema  []byte        // raw JSON, an object schema; listed as it is
	OutputSchema []byte        // raw JSON, or nil
	Timeout      time.Duration // 0: the layer's default; negative: none
	MaxOutput    int           // bytes of text; 0: the layer's default; negative: none
	Meta         []byte        // raw JSON object, or nil
	Task         TaskMode      // whether a call may go on as a task
	Handler      ToolHandler

	bound bool // the handler validates the arguments itself, while it binds them
	exact bool // what the handler returns is right by construction: it is made of a Go type
}

// TaskMode says whether a call of a tool may go on after its request was
// answered, as a task that the client looks after. Only clients that declare the
// tasks extension, which the handshake era does not have, are given tasks.
type TaskMode uint8

// The task modes.
const (
	// TaskNever means that the client waits for the result.
	TaskNever TaskMode = iota
	// TaskOptional means that a call becomes a task when its handler says so,
	// with [Call.StartTask], or when it takes longer than the server likes to
	// keep a client waiting. Without the extension, and when there are too many
	// tasks, the client waits.
	TaskOptional
	// TaskAlways means that a call is a task from the moment its arguments are
	// accepted. Without the extension it is refused.
	TaskAlways
)

// ToolAnnotations are hints about what a tool does. A nil hint is derived.
type ToolAnnotations struct {
	Title                                        string
	ReadOnly, Destructive, Idempotent, OpenWorld *bool
}

// Typed makes a tool from a function of Go types. The input schema is derived
// from In, unless t has one; the output schema from Out, unless t has one or Out
// is a string, which becomes a text, or a *[protocol.CallToolResult], which is
// taken as it is.
func Typed[In, Out any](t Tool, fn func(context.Context, *Call, In) (Out, error)) (Tool, error) {
	in, err := codecFor[In](t.InputSchema)
	if err != nil {
		return Tool{}, fmt.Errorf("tool %q: input: %w", t.Name, err)
	}
	t.InputSchema = in.Schema()
	t.bound = true
	derived := t.OutputSchema == nil
	handler, out, err := handlerOf(in, fn, t.OutputSchema)
	if err != nil {
		return Tool{}, fmt.Errorf("tool %q: output: %w", t.Name, err)
	}
	t.OutputSchema, t.Handler = out, handler
	_, asItIs := any((*Out)(nil)).(**protocol.CallToolResult)
	t.exact = derived && !asItIs && !constrained(out)
	return t, nil
}

// typedRun is one run of a function of Go types.
type typedRun[In, Out any] struct {
	in  In
	out Out
}

func (r *typedRun[In, Out]) run(ctx context.Context, call *Call, in *schema.Codec[In], fn func(context.Context, *Call, In) (Out, error)) (err error) {
	if err := in.Decode(call.Arguments, &r.in); err != nil {
		return &InvalidArguments{err}
	}
	r.out, err = fn(ctx, call, r.in)
	return err
}

// A textRun has room for a result of text, in the same allocation.
type textRun[In, Out any] struct {
	typedRun[In, Out]
	textBlock
}

// A structuredRun has room for a result with small structured content.
type structuredRun[In, Out any] struct {
	typedRun[In, Out]
	result protocol.CallToolResult
	room   [48]byte
}

// handlerOf makes a handler of a function, and returns the schema of the
// structured content, nil if there is none.
func handlerOf[In, Out any](in *schema.Codec[In], fn func(context.Context, *Call, In) (Out, error), doc []byte) (ToolHandler, []byte, error) {
	switch any((*Out)(nil)).(type) {
	case **protocol.CallToolResult:
		return func(ctx context.Context, call *Call) (*protocol.CallToolResult, error) {
			r := new(typedRun[In, Out])
			if err := r.run(ctx, call, in, fn); err != nil {
				return nil, err
			}
			if res := *any(&r.out).(**protocol.CallToolResult); res != nil {
				return res, nil
			}
			return new(protocol.CallToolResult), nil
		}, doc, nil
	case *string:
		return func(ctx context.Context, call *Call) (*protocol.CallToolResult, error) {
			r := new(textRun[In, Out])
			if err := r.run(ctx, call, in, fn); err != nil {
				return nil, err
			}
			return r.set(*any(&r.out).(*string)), nil
		}, doc, nil
	}
	out, err := codecFor[Out](doc)
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, call *Call) (*protocol.CallToolResult, error) {
		r := new(structuredRun[In, Out])
		if err := r.run(ctx, call, in, fn); err != nil {
			return nil, err
		}
		raw, err := out.Append(r.room[:0], &r.out)
		if err != nil {
			return nil, fmt.Errorf("encoding the result: %w", err)
		}
		r.result.StructuredContent = raw // sent with a text twin
		return &r.result, nil
	}, out.Schema(), nil
}

func codecFor[T any](doc []byte) (*schema.Codec[T], error) {
	if doc != nil {
		return schema.NewCodecFor[T](doc, nil)
	}
	return schema.NewCodec[T](nil)
}

// textBlock is a result with one text block, in one allocation instead of three.
type textBlock struct {
	result  protocol.CallToolResult
	content [1]protocol.Content
	text    protocol.Text
}

func (b *textBlock) set(text string) *protocol.CallToolResult {
	b.text.Text = text
	b.content[0] = &b.text
	b.result.Content = b.content[:]
	return &b.result
}

// TextResult returns a result with one text block.
func TextResult(text string) *protocol.CallToolResult { return new(textBlock).set(text) }

// StructuredResult returns a result with structured content and its text twin,
// the same JSON as text, for clients that read only one of the two.
func StructuredResult(raw []byte) *protocol.CallToolResult {
	res := TextResult(string(raw))
	res.StructuredContent = raw
	return res
}

// ErrorResult returns a result with isError and one text block.
func ErrorResult(text string) *protocol.CallToolResult {
	res := TextResult(text)
	res.IsError = true
	return res
}

// ToolEntry is a registered tool. It is immutable.
type ToolEntry struct {
	Tool
	Subject policy.Subject

	input  *schema.Schema // nil if the handler validates
	output *schema.Schema // nil without an output schema
	wraps  bool           // the output is no object, so older versions get it wrapped
	legacy []byte         // the output schema for versions that want an object

	headers []schema.Header // properties of the input that travel as headers too
}

func newToolEntry(t Tool, schemas *schemaCache) (*ToolEntry, error) {
	if err := checkName("tool", t.Name); err != nil {
		return nil, err
	}
	fail := func(what string, err error) (*ToolEntry, error) {
		return nil, fmt.Errorf("tool %q: %s: %w", t.Name, what, err)
	}
	if t.Handler == nil {
		return fail("handler", errMissing)
	}
	if len(t.InputSchema) == 0 {
		return fail("input schema", errMissing)
	}
	if err := checkMeta(t.Meta); err != nil {
		return fail("_meta", err)
	}
	if t.Task > TaskAlways {
		return fail("task mode", errors.New("unknown: want TaskNever, TaskOptional or TaskAlways"))
	}
	e := &ToolEntry{Tool: t}
	e.Subject = policy.Subject{Kind: policy.Tool, Name: t.Name, Category: t.Category, Tags: t.Tags, Sensitivity: t.Sensitivity, Capabilities: t.Capabilities}
	if err := e.compile(schemas); err != nil {
		return nil, fmt.Errorf("tool %q: %w", t.Name, err)
	}
	return e, nil
}

// Headers returns the properties of the input that travel as headers too.
func (e *ToolEntry) Headers() []schema.Header { return e.headers }

// compile prepares the schemas.
func (e *ToolEntry) compile(schemas *schemaCache) error {
	headers, err := schemas.headersOf(e.InputSchema)
	if err != nil {
		return fmt.Errorf("input schema: %w", err)
	}
	e.headers = headers
	if !e.bound {
		s, err := schemas.input(e.InputSchema)
		if err != nil {
			return fmt.Errorf("input schema: %w", err)
		}
		e.input = s
	}
	if t := jsonwire.Lookup(trim(e.InputSchema), "type"); t == nil || t[0] != '"' || !jsonwire.EqualString(t, "object") {
		return errors.New(`input schema: the root must have "type":"object"`)
	}
	if e.OutputSchema == nil {
		return nil
	}
	s, err := schema.Compile(e.OutputSchema, &schema.Options{Noun: "result"})
	if err != nil {
		return fmt.Errorf("output schema: %w", err)
	}
	if trim(e.OutputSchema)[0] != '{' {
		return errors.New("output schema: it must be a JSON object")
	}
	e.output = s
	if e.legacy, e.wraps, err = schema.Wrap(e.OutputSchema); err != nil {
		return fmt.Errorf("output schema: %w", err)
	}
	return nil
}

// InvalidArguments means that the arguments of a call break the tool's input
// schema. The text says where and what would be right, and repeats no value.
type InvalidArguments struct{ Err error }

func (e *InvalidArguments) Error() string { return e.Err.Error() }

func (e *InvalidArguments) Unwrap() error { return e.Err }

// ValidateInput checks raw arguments against the input schema. It returns nil
// for a tool made by [Typed], whose handler validates while it binds.
func (e *ToolEntry) ValidateInput(raw []byte) error {
	if e.input == nil {
		return nil
	}
	if err := e.input.Validate(raw); err != nil {
		return &InvalidArguments{err}
	}
	return nil
}

// ValidateOutput checks structured content, nil if the result has none, against
// the output schema if there is one.
func (e *ToolEntry) ValidateOutput(raw []byte) error {
	switch {
	case e.output == nil:
		return nil
	case raw == nil:
		return errNoStructure
	}
	return e.output.Validate(raw)
}

// ExactOutput reports whether what the handler returns is right by construction:
// it is made of a Go type, and the output schema, if there is one, comes from the
// same type and says nothing that the type does not.
func (e *ToolEntry) ExactOutput() bool { return e.exact }

// constrained reports whether a derived schema may say more than its type. A
// property that is called like a keyword only makes the answer careful.
func constrained(doc []byte) bool {
	for _, keyword := range []string{"minimum", "maximum", "exclusiveM", "multipleOf", "minLength", "maxLength", "pattern", "format", "enum", "const", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "Pattern", "anyOf", "oneOf", "allOf", "not"} {
		if bytes.Contains(doc, []byte(`"`+keyword)) {
			return true
		}
	}
	return false
}

// WrapsOutput reports whether the structured content is no object by its
// schema, so that versions which want an object get {"result": …}.
func (e *ToolEntry) WrapsOutput() bool { return e.wraps }

// AppendDefinition appends the tool as tools/list shows it to a client of the
// given version.
func (e *ToolEntry) AppendDefinition(dst []byte, v protocol.Version) []byte {
	dst = append(dst, `{"name":`...)
	dst = jsonwire.AppendQuote(dst, e.Name)
	if v.HasTitle() {
		dst = protocol.AppendText(dst, "title", e.Title)
	}
	dst = protocol.AppendText(dst, "description", e.Description)
	dst = append(dst, `,"inputSchema":`...)
	dst = jsonwire.AppendLine(dst, e.InputSchema)
	if e.OutputSchema != nil && v.HasStructuredContent() {
		dst = append(dst, `,"outputSchema":`...)
		if v.AnyStructuredContent() {
			dst = jsonwire.AppendLine(dst, e.OutputSchema)
		} else {
			dst = jsonwire.AppendLine(dst, e.legacy)
		}
	}
	if v.HasToolAnnotations() {
		dst = e.appendAnnotations(dst)
	}
	if v.HasIcons() {
		dst = protocol.AppendIcons(dst, e.Icons)
	}
	dst = protocol.AppendMeta(dst, e.Meta, v)
	return append(dst, '}')
}

// appendAnnotations appends the hints; those that the author left open follow
// from the capabilities.
func (e *ToolEntry) appendAnnotations(dst []byte) []byte {
	var a ToolAnnotations
	if e.Annotations != nil {
		a = *e.Annotations
	}
	writes := e.Capabilities.Any(policy.WriteState | policy.WriteFS | policy.Exec)
	readOnly := pick(a.ReadOnly, !writes)
	dst = append(dst, `,"annotations":{"readOnlyHint":`...)
	dst = appendBool(dst, readOnly)
	if !readOnly {
		dst = append(dst, `,"destructiveHint":`...)
		dst = appendBool(dst, pick(a.Destructive, true))
		dst = append(dst, `,"idempotentHint":`...)
		dst = appendBool(dst, pick(a.Idempotent, false))
	}
	dst = append(dst, `,"openWorldHint":`...)
	dst = appendBool(dst, pick(a.OpenWorld, e.Capabilities.Any(policy.Network|policy.Exec)))
	if a.Title != "" {
		dst = protocol.AppendText(dst, "title", a.Title)
	}
	return append(dst, '}')
}

func pick(p *bool, derived bool) bool {
	if p != nil {
		return *p
	}
	return derived
}

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}

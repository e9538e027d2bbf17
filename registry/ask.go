package registry

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry/schema"
)

// Ability is a set of things that a client can do for a server.
type Ability uint8

// The abilities that a client may declare.
const (
	CanElicitForm  Ability = 1 << iota // ask the user to fill in a form
	CanElicitURL                       // ask the user to open a URL
	CanSample                          // let its model generate
	CanSampleTools                     // and let that model use tools
	CanListRoots                       // tell its roots
	CanRunTasks                        // take a task instead of a result
)

// ErrInputRequired means that the client has to be asked and the call will be
// made again with the answer. A handler returns it, wrapped or not.
var ErrInputRequired = errors.New("input of the client is required")

// A MissingAbilityError means that a call needs an ability that the client did
// not declare. A handler may do without, or return it: the client is then told
// what to declare.
type MissingAbilityError struct{ Missing Ability }

func (e *MissingAbilityError) Error() string {
	return "the client does not declare " + e.Missing.String()
}

// String names the abilities as capabilities of the protocol.
func (a Ability) String() string {
	text := ""
	for i, name := range []string{"elicitation.form", "elicitation.url", "sampling", "sampling.tools", "roots", "the extension io.modelcontextprotocol/tasks"} {
		if a&(1<<i) == 0 {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += name
	}
	return text
}

// AppendCapabilities appends the abilities as a ClientCapabilities object.
func (a Ability) AppendCapabilities(dst []byte) []byte {
	dst = append(dst, '{')
	start := len(dst)
	switch a & (CanElicitForm | CanElicitURL) {
	case CanElicitForm:
		dst = append(dst, `,"elicitation":{"form":{}}`...)
	case CanElicitURL:
		dst = append(dst, `,"elicitation":{"url":{}}`...)
	case CanElicitForm | CanElicitURL:
		dst = append(dst, `,"elicitation":{"form":{},"url":{}}`...)
	}
	switch {
	case a&CanSampleTools != 0:
		dst = append(dst, `,"sampling":{"tools":{}}`...)
	case a&CanSample != 0:
		dst = append(dst, `,"sampling":{}`...)
	}
	if a&CanListRoots != 0 {
		dst = append(dst, `,"roots":{}`...)
	}
	if a&CanRunTasks != 0 {
		dst = append(dst, `,"extensions":{"io.modelcontextprotocol/tasks":{}}`...)
	}
	if len(dst) > start {
		dst = append(dst[:start], dst[start+1:]...) // the first comma
	}
	return append(dst, '}')
}

// ParseAbilities reads a ClientCapabilities object, valid raw JSON.
func ParseAbilities(raw []byte) (a Ability) {
	if e := jsonwire.Lookup(raw, "elicitation"); isObject(e) {
		form, url := jsonwire.Lookup(e, "form"), jsonwire.Lookup(e, "url")
		if isObject(url) {
			a |= CanElicitURL
		}
		if isObject(form) || url == nil { // an empty object means forms only
			a |= CanElicitForm
		}
	}
	if s := jsonwire.Lookup(raw, "sampling"); isObject(s) {
		a |= CanSample
		if isObject(jsonwire.Lookup(s, "tools")) {
			a |= CanSampleTools
		}
	}
	if isObject(jsonwire.Lookup(raw, "roots")) {
		a |= CanListRoots
	}
	if isObject(jsonwire.Lookup(jsonwire.Lookup(raw, "extensions"), protocol.ExtensionTasks)) {
		a |= CanRunTasks
	}
	return a
}

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// Question is something that a handler asks of the client.
type Question struct {
	Key    string // names it within the call; the same in every run of the handler
	Method string
	Params []byte // raw JSON object
	Needs  Ability
	Check  func(raw []byte) error // accepts an answer, raw JSON
}

// Require returns a [*MissingAbilityError] unless the client declared all of
// the given abilities.
func (c *Call) Require(a Ability) error {
	client, ok := c.asker()
	if !ok {
		return &MissingAbilityError{Missing: a}
	}
	var missing Ability
	for bit := Ability(1); bit != 0; bit <<= 1 {
		if a&bit != 0 && !client.Has(bit) {
			missing |= bit
		}
	}
	if missing != 0 {
		return &MissingAbilityError{Missing: missing}
	}
	return nil
}

// ask puts a question to the client.
func (c *Call) ask(ctx context.Context, q *Question) ([]byte, error) {
	if q.Key == "" {
		return nil, errors.New("a question needs a key")
	}
	if q.Needs == 0 {
		return nil, errors.New("a question needs an ability")
	}
	if err := c.Require(q.Needs); err != nil {
		return nil, err
	}
	client, _ := c.asker() // Require has seen it
	return client.Ask(ctx, q)
}

// The actions of a user who was asked.
const (
	ActionAccept  string = "accept"
	ActionDecline string = "decline"
	ActionCancel  string = "cancel"
)

// Elicitation is a question to the user: a form, or a URL to open.
type Elicitation struct {
	Message string
	Form    *Form  // the fields to fill in; or
	Schema  []byte // the form as a raw JSON schema, flat, with primitive members; or
	URL     string // what to open. Secrets are asked for by URL only
	// ID names a URL elicitation for clients of 2025-11-25, which is to be unique;
	// empty: a random one.
	ID string
}

// ElicitResult is what the user did.
type ElicitResult struct {
	Action  string // ActionAccept, ActionDecline or ActionCancel
	Content []byte // raw JSON object of the fields; {} unless it is an accepted form
}

// Accepted reports whether the user agreed. For a URL that means consent to open
// it, not that anything was done there.
func (r *ElicitResult) Accepted() bool { return r.Action == ActionAccept }

// Field returns the value of a field as raw JSON, or nil.
func (r *ElicitResult) Field(name string) []byte { return jsonwire.Lookup(r.Content, name) }

// Text returns the value of a text field, or "".
func (r *ElicitResult) Text(name string) string {
	if v := r.Field(name); len(v) > 0 && v[0] == '"' {
		return jsonwire.Unquote(v)
	}
	return ""
}

// Elicit asks the user. The key names the question within the call.
//
// In the handshake era Elicit waits for the answer. In the stateless era a
// client cannot be called: Elicit returns [ErrInputRequired], the handler returns
// it too, and is run again from the start when the client has the answer, which
// Elicit then returns. A handler that needs several answers may ask for all of
// them before it returns:
//
//	name, err1 := call.Elicit(ctx, "name", …)
//	roots, err2 := call.Roots(ctx, "roots")
//	if err := errors.Join(err1, err2); err != nil {
//		return nil, err
//	}
//
// What a handler does before it asks it does again in the next run; [Once] keeps
// the results of steps that must not be repeated.
//
// A client that did not declare what the question needs gives a
// [*MissingAbilityError]. An answer that does not fit the question is the
// client's fault: the error says so to the client. In the handshake era a client
// that refuses to ask, or does not answer in time, gives a [*Failure].
func (c *Call) Elicit(ctx context.Context, key string, e *Elicitation) (*ElicitResult, error) {
	q, err := c.elicitation(key, e)
	if err != nil {
		return nil, err
	}
	raw, err := c.ask(ctx, q)
	if err != nil {
		return nil, err
	}
	r := &ElicitResult{Action: jsonwire.Unquote(jsonwire.Lookup(raw, "action")), Content: []byte("{}")}
	if content := jsonwire.Lookup(raw, "content"); content != nil && e.URL == "" && r.Accepted() {
		r.Content = content
	}
	return r, nil
}

// elicitation turns an Elicitation into a question.
func (c *Call) elicitation(key string, e *Elicitation) (*Question, error) {
	if e.URL != "" {
		return c.urlElicitation(key, e)
	}
	q := &Question{Key: key, Method: protocol.MethodElicit, Needs: CanElicitForm}
	if !c.Version.HasElicitation() {
		return nil, &MissingAbilityError{Missing: CanElicitForm}
	}
	form := e.Schema
	if e.Form != nil {
		var err error
		if form, err = e.Form.appendFor(nil, c.Version); err != nil {
			return nil, err
		}
	}
	compiled, err := schema.Compile(form, &schema.Options{AssertFormat: true, Noun: "field"})
	if err != nil {
		return nil, fmt.Errorf("elicitation %q: the form: %w", key, err)
	}
	q.Params = append(q.Params, '{')
	if c.Version.HasURLElicitation() {
		q.Params = append(q.Params, `"mode":"form",`...)
	}
	q.Params = append(q.Params, `"message":`...)
	q.Params = jsonwire.AppendQuote(q.Params, e.Message)
	q.Params = append(q.Params, `,"requestedSchema":`...)
	q.Params = append(jsonwire.AppendLine(q.Params, form), '}')
	q.Check = func(raw []byte) error { return checkForm(raw, compiled) }
	return q, nil
}

// urlElicitation is elicitation for a URL.
func (c *Call) urlElicitation(key string, e *Elicitation) (*Question, error) {
	if !c.Version.HasURLElicitation() {
		return nil, &MissingAbilityError{Missing: CanElicitURL}
	}
	if u, err := url.Parse(e.URL); err != nil || !u.IsAbs() {
		return nil, fmt.Errorf("elicitation %q: the URL is not an absolute one", key) // it may hold what is not for the log
	}
	return &Question{Key: key, Method: protocol.MethodElicit, Needs: CanElicitURL, Params: e.appendURL(nil, c.Version), Check: checkAction}, nil
}

func (e *Elicitation) appendURL(dst []byte, v protocol.Version) []byte {
	dst = append(dst, `{"mode":"url","message":`...)
	dst = jsonwire.AppendQuote(dst, e.Message)
	dst = append(dst, `,"url":`...)
	dst = jsonwire.AppendQuote(dst, e.URL)
	if !v.Stateless() {
		id := e.ID
		if id == "" {
			id = rand.Text()
		}
		dst = protocol.AppendText(dst, "elicitationId", id)
	}
	return append(dst, '}')
}

func checkAction(raw []byte) error {
	action := jsonwire.Lookup(raw, "action")
	if len(action) > 0 && action[0] == '"' {
		switch jsonwire.Unquote(action) {
		case ActionAccept, ActionDecline, ActionCancel:
			return nil
		}
	}
	return errors.New(`want an object with "action": "accept", "decline" or "cancel"`)
}

// checkForm accepts what a user did with a form.
func checkForm(raw []byte, form *schema.Schema) error {
	if err := checkAction(raw); err != nil {
		return err
	}
	if jsonwire.Unquote(jsonwire.Lookup(raw, "action")) != ActionAccept {
		return nil
	}
	content := jsonwire.Lookup(raw, "content")
	switch {
	case isObject(content):
		return form.Validate(content)
	case content == nil && form.Validate([]byte("{}")) == nil:
		return nil // there was nothing that had to be filled in
	}
	return errors.New(`an accepted form needs "content", an object`)
}

// SampleMessage is one message for the client's model. Content is a block, or a
// raw JSON array of blocks where the version has that.
type SampleMessage struct {
	Role    protocol.Role
	Content protocol.Content
	Raw     []byte // in place of Content: the content as raw JSON
}

// Sampling is a request to the client's model.
type Sampling struct {
	Messages     []SampleMessage
	MaxTokens    int
	SystemPrompt string
	Tools        []byte // raw JSON array of tools that the model may use, or nil; from 2025-11-25 on
	ToolChoice   []byte // raw JSON object, or nil; as Tools
	// More has further parameters as a raw JSON object, such as temperature or
	// modelPreferences.
	More []byte
}

// SampleResult is what the client's model generated. It is the client's word.
type SampleResult struct {
	Role, Model, StopReason string
	Content                 []byte // raw JSON: a block or an array of blocks
}

// Text returns the text of the first text block, or "".
func (r *SampleResult) Text() string {
	block := r.Content
	if len(block) > 0 && block[0] == '[' {
		for a := jsonwire.Elements(r.Content); ; {
			v, ok := a.Next()
			if !ok {
				return ""
			}
			if t := jsonwire.Lookup(v, "text"); len(t) > 0 && t[0] == '"' {
				return jsonwire.Unquote(t)
			}
		}
	}
	if t := jsonwire.Lookup(block, "text"); len(t) > 0 && t[0] == '"' {
		return jsonwire.Unquote(t)
	}
	return ""
}

// Sample asks the client's model. See [Call.Elicit] for the key and for when it
// returns [ErrInputRequired].
func (c *Call) Sample(ctx context.Context, key string, s *Sampling) (*SampleResult, error) {
	q, err := c.sampling(key, s)
	if err != nil {
		return nil, err
	}
	raw, err := c.ask(ctx, q)
	if err != nil {
		return nil, err
	}
	r := &SampleResult{Content: jsonwire.Lookup(raw, "content")}
	for name, field := range map[string]*string{"role": &r.Role, "model": &r.Model, "stopReason": &r.StopReason} {
		if v := jsonwire.Lookup(raw, name); len(v) > 0 && v[0] == '"' {
			*field = jsonwire.Unquote(v)
		}
	}
	return r, nil
}

// sampling turns a Sampling into a question.
func (c *Call) sampling(key string, s *Sampling) (*Question, error) {
	needs := CanSample
	if s.Tools != nil || s.ToolChoice != nil {
		needs |= CanSampleTools
		if !hasSamplingTools(c.Version) {
			return nil, &MissingAbilityError{Missing: CanSampleTools}
		}
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("sampling %q: %w", key, err)
	}
	return &Question{Key: key, Method: protocol.MethodSample, Params: s.append(nil, c.Version), Needs: needs, Check: checkSample}, nil
}

// check reports what cannot be sent.
func (s *Sampling) check() error {
	for i, m := range s.Messages {
		if m.Content == nil && m.Raw == nil {
			return fmt.Errorf("message %d has no content", i+1)
		}
		if err := checkRaw(m.Raw); err != nil {
			return fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	for name, raw := range map[string][]byte{"tools": s.Tools, "tool choice": s.ToolChoice, "other members": s.More} {
		if err := checkRaw(raw); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// checkRaw accepts nil or JSON.
func checkRaw(raw []byte) error {
	if raw == nil {
		return nil
	}
	return jsonwire.Valid(raw, 0)
}

// hasSamplingTools reports whether a model that is asked may be given tools. The
// revision that has modes of elicitation was the first.
func hasSamplingTools(v protocol.Version) bool { return v.HasURLElicitation() }

func (s *Sampling) append(dst []byte, v protocol.Version) []byte {
	dst = append(dst, `{"messages":[`...)
	for i, m := range s.Messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"role":`...)
		dst = jsonwire.AppendQuote(dst, string(m.Role))
		dst = append(dst, `,"content":`...)
		if m.Raw != nil {
			dst = jsonwire.AppendLine(dst, m.Raw)
		} else {
			dst = m.Content.Append(dst, v)
		}
		dst = append(dst, '}')
	}
	dst = fmt.Appendf(dst, `],"maxTokens":%d`, s.MaxTokens)
	dst = protocol.AppendText(dst, "systemPrompt", s.SystemPrompt)
	if s.Tools != nil {
		dst = jsonwire.AppendLine(append(dst, `,"tools":`...), s.Tools)
	}
	if s.ToolChoice != nil {
		dst = jsonwire.AppendLine(append(dst, `,"toolChoice":`...), s.ToolChoice)
	}
	dst = protocol.AppendMembers(dst, s.More)
	return append(dst, '}')
}

func checkSample(raw []byte) error {
	content := jsonwire.Lookup(raw, "content")
	if !isString(jsonwire.Lookup(raw, "role")) || !isString(jsonwire.Lookup(raw, "model")) || content == nil {
		return errors.New(`want an object with "role", "content" and "model"`)
	}
	if content[0] != '[' {
		return checkBlock(content)
	}
	for a := jsonwire.Elements(content); ; {
		v, ok := a.Next()
		if !ok {
			return nil
		}
		if err := checkBlock(v); err != nil {
			return err
		}
	}
}

func checkBlock(raw []byte) error {
	if !isString(jsonwire.Lookup(raw, "type")) {
		return errors.New(`"content" must be a block, an object with "type", or an array of blocks`)
	}
	return nil
}

func isString(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }

// Root is a folder that the client works in. It is a hint, not a permission.
type Root struct{ URI, Name string }

// Roots asks the client for its roots. See [Call.Elicit] for the key and for
// when it returns [ErrInputRequired].
func (c *Call) Roots(ctx context.Context, key string) ([]Root, error) {
	raw, err := c.ask(ctx, &Question{Key: key, Method: protocol.MethodRootsList, Params: []byte("{}"), Needs: CanListRoots, Check: checkRoots})
	if err != nil {
		return nil, err
	}
	var roots []Root
	for a := jsonwire.Elements(jsonwire.Lookup(raw, "roots")); ; {
		v, ok := a.Next()
		if !ok {
			return roots, nil
		}
		root := Root{URI: jsonwire.Unquote(jsonwire.Lookup(v, "uri"))}
		if name := jsonwire.Lookup(v, "name"); len(name) > 0 && name[0] == '"' {
			root.Name = jsonwire.Unquote(name)
		}
		roots = append(roots, root)
	}
}

func checkRoots(raw []byte) error {
	list := jsonwire.Lookup(raw, "roots")
	if len(list) == 0 || list[0] != '[' {
		return errors.New(`want an object with "roots", an array`)
	}
	for a := jsonwire.Elements(list); ; {
		v, ok := a.Next()
		if !ok {
			return nil
		}
		if uri := jsonwire.Lookup(v, "uri"); len(uri) == 0 || uri[0] != '"' {
			return errors.New(`each root must have "uri", a string`)
		}
	}
}

// Once returns the result of fn, which is called in the first run of a handler
// only: later runs of the same call get the result of the first from the state
// that travels with the call. A step that must not be repeated, such as an order
// that is placed, goes into it. The result must survive JSON.
//
//	id, err := registry.Once(ctx, call, "order", func(ctx context.Context) (string, error) {
//		return shop.Place(ctx, cart)
//	})
//	…
//	answer, err := call.Elicit(ctx, "confirm", …) // the next run does not order again
func Once[T any](ctx context.Context, c *Call, key string, fn func(context.Context) (T, error)) (T, error) {
	var v T
	client, keeps := c.asker()
	if keeps {
		if raw, ok := client.Load(key); ok {
			err := json.Unmarshal(raw, &v)
			return v, err
		}
	}
	v, err := fn(ctx)
	if err != nil || !keeps {
		return v, err
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return v, fmt.Errorf("keeping the result of %q: %w", key, err)
	}
	client.Save(key, raw)
	return v, nil
}

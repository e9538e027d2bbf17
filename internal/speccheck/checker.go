package speccheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/protocol"
)

// object is a JSON object with the bytes of its members kept.
type object = map[string]json.RawMessage

// Checker follows one conversation with a server over a stream. Its methods may
// be called by several goroutines.
type Checker struct {
	spec *Spec

	mu         sync.Mutex // guards the fields below
	negotiated protocol.Version
	abilities  object                // what the client declared in the handshake
	ready      bool                  // notifications/initialized was sent
	asked      map[string]bool       // raw ids of the server's requests
	requests   map[string][]*request // by raw id; several when an id is used twice
}

// request is a request that was sent and is not answered.
type request struct {
	id, method string
	modern     bool // it claims the stateless era
	token      string
	logs       bool // it asked for log messages
	cancelled  bool
	progress   *float64 // the latest, nil before the first
	listening  bool     // a listen that was acknowledged
}

// NewChecker returns a checker for a conversation that has not begun. Without a
// spec it checks the rules only, not the schemas.
func NewChecker(spec *Spec) *Checker {
	return &Checker{spec: spec, requests: make(map[string][]*request), asked: make(map[string]bool)}
}

// Sent notes a line that goes to the server, before it does. What it cannot
// read it ignores: clients are not judged.
func (c *Checker) Sent(line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line = bytes.TrimPrefix(line, []byte("\ufeff"))
	if jsonwire.Valid(line, 0) != nil {
		return
	}
	var batch []json.RawMessage
	switch isBatch := json.Unmarshal(line, &batch) == nil && line[0] == '['; {
	case !isBatch:
		batch = []json.RawMessage{line}
	case !c.negotiated.AllowsBatch():
		return // it is refused as a whole
	}
	for _, raw := range batch {
		var message object
		if json.Unmarshal(raw, &message) == nil {
			c.sentLocked(message)
		}
	}
}

func (c *Checker) sentLocked(message object) {
	method, params := text(message["method"]), members(message["params"])
	meta := members(params["_meta"])
	id := string(message["id"])
	if method == protocol.MethodInitialize && c.negotiated == protocol.Unknown {
		c.abilities = members(params["capabilities"])
	}
	switch {
	case id == "" && method == protocol.NotifyInitialized:
		c.ready = true
	case id == "" && method == protocol.NotifyCancelled:
		for _, r := range c.requests[string(params["requestId"])] {
			r.cancelled = true
		}
	case method == "" && (message["result"] != nil || message["error"] != nil):
	case id != "" && id != "null":
		c.requests[id] = append(c.requests[id], &request{
			id: id, method: method,
			modern: meta[protocol.MetaProtocolVersion] != nil || meta[protocol.MetaClientCapabilities] != nil || meta[protocol.MetaClientInfo] != nil || method == protocol.MethodDiscover,
			token:  string(meta[protocol.MetaProgressToken]),
			logs:   meta[protocol.MetaLogLevel] != nil,
		})
	}
}

// Received judges a line that came from the server, without its end.
func (c *Checker) Received(line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.receivedLocked(line); err != nil {
		const most = 2000 // bytes of the line that are shown
		shown := line
		if len(shown) > most {
			shown = append(bytes.Clone(shown[:most]), "…"...)
		}
		return fmt.Errorf("%w\n\tin %s", err, shown)
	}
	return nil
}

func (c *Checker) receivedLocked(line []byte) error {
	if bytes.ContainsAny(line, "\r\n") {
		return errors.New("a line end within a message")
	}
	if err := jsonwire.Valid(line, 0); err != nil {
		return err
	}
	if line[0] != '[' {
		return c.messageLocked(line)
	}
	if !c.negotiated.AllowsBatch() {
		return fmt.Errorf("a batch was sent in version %s", c.negotiated)
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(line, &batch); err != nil {
		return err
	}
	for _, m := range batch {
		if err := c.messageLocked(m); err != nil {
			return err
		}
	}
	if len(batch) == 0 {
		return errors.New("an empty batch")
	}
	return nil
}

func (c *Checker) messageLocked(raw []byte) error {
	var m object
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	switch {
	case m["method"] != nil && m["id"] != nil:
		return c.requestLocked(raw, m)
	case m["method"] != nil:
		return c.notificationLocked(raw, m)
	case m["error"] != nil && (m["id"] == nil || string(m["id"]) == "null"):
		return c.anonymousLocked(m)
	default:
		return c.responseLocked(raw, m)
	}
}

// anonymousLocked judges an error that answers no request in particular. The
// null of JSON-RPC is not in the schemas, which demand an id or leave it out.
func (c *Checker) anonymousLocked(m object) error {
	if c.negotiated.OmitsUnknownID() != (m["id"] == nil) {
		return fmt.Errorf("an error without a known id: its id must be left out from 2025-11-25 on and be null before, this is version %s", c.negotiated)
	}
	m["id"] = json.RawMessage(`0`)
	whole, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return c.spec.Validate(c.versionLocked(false), errorDefinition(c.versionLocked(false)), whole)
}

// versionLocked returns the version that an answer is judged by: before a
// handshake the newest is.
func (c *Checker) versionLocked(modern bool) protocol.Version {
	switch {
	case modern:
		return protocol.LatestStateless
	case c.negotiated == protocol.Unknown:
		return protocol.LatestHandshake
	}
	return c.negotiated
}

func (c *Checker) responseLocked(raw []byte, m object) error {
	id := string(m["id"])
	open := c.requests[id]
	if len(open) == 0 {
		if errorCode(m) == protocol.CodeParse {
			return c.spec.Validate(c.versionLocked(false), errorDefinition(c.versionLocked(false)), raw)
		}
		return fmt.Errorf("an answer to %s, which is not in flight", id)
	}
	// Of several with one id all but the first are refused.
	i := 0
	if m["error"] != nil {
		i = len(open) - 1
	}
	r := open[i]
	c.requests[id] = slices.Delete(open, i, i+1)
	if m["error"] != nil {
		return c.errorLocked(raw, m, r)
	}
	return c.resultLocked(raw, m, r)
}

func (c *Checker) errorLocked(raw []byte, m object, r *request) error {
	v := c.versionLocked(r.modern)
	if err := c.spec.Validate(v, errorDefinition(v), raw); err != nil {
		return err
	}
	switch code := errorCode(m); code {
	case protocol.CodeUnsupportedVersion:
		if r.modern {
			return c.spec.Validate(v, "UnsupportedProtocolVersionError", raw)
		}
		return fmt.Errorf("code %d belongs to the stateless era", code)
	case protocol.CodeMissingCapability:
		if r.modern {
			return c.spec.Validate(v, "MissingRequiredClientCapabilityError", raw)
		}
		return fmt.Errorf("code %d belongs to the stateless era", code)
	case protocol.CodeHeaderMismatch:
		return fmt.Errorf("code %d on a stream, where there are no headers", code)
	case protocol.CodeResourceNotFound, protocol.CodeURLElicitation:
		if r.modern {
			return fmt.Errorf("code %d belongs to the handshake era", code)
		}
	}
	return nil
}

// errorCode returns the code of an error response, or 0.
func errorCode(m object) int {
	var code int
	_ = json.Unmarshal(members(m["error"])["code"], &code) // the schema wants an integer
	return code
}

func (c *Checker) resultLocked(raw []byte, m object, r *request) error {
	if r.method == protocol.MethodInitialize && !r.modern {
		c.negotiated = protocol.ParseVersion(text(members(m["result"])["protocolVersion"]))
	}
	v := c.versionLocked(r.modern)
	envelope := "JSONRPCResponse"
	if c.spec.Has(v, "JSONRPCResultResponse") {
		envelope = "JSONRPCResultResponse"
	}
	if err := c.spec.Validate(v, envelope, raw); err != nil {
		return err
	}
	if err := c.resultOfMethod(v, r, m["result"]); err != nil {
		return err
	}
	result := members(m["result"])
	if v.Stateless() {
		return checkStatelessResult(r, result)
	}
	return checkHandshakeResult(r.method, result)
}

// resultOfMethod judges a result by the method that was called, and by what kind
// of result it says that it is.
func (c *Checker) resultOfMethod(v protocol.Version, r *request, result json.RawMessage) error {
	kind := text(members(result)["resultType"])
	name, tasks := resultDefinition(r.method), taskDefinition(r.method)
	switch {
	case r.modern && kind == protocol.ResultTask && r.method == protocol.MethodToolsCall:
		return c.spec.ValidateTasks("CreateTaskResult", result)
	case r.modern && tasks != "":
		return c.spec.ValidateTasks(tasks, result)
	case kind == protocol.ResultInputRequired && mayAsk(r.method):
		name = "InputRequiredResult"
	case name == "":
		return fmt.Errorf("a result for %s, which no version has", r.method)
	}
	return c.spec.Validate(v, name, result)
}

func checkStatelessResult(r *request, result object) error {
	meta := members(result["_meta"])
	if meta[protocol.MetaServerInfo] == nil {
		return errors.New("a result without server info")
	}
	if got := string(meta[protocol.MetaSubscriptionID]); r.method == protocol.MethodListen && got != r.id {
		return fmt.Errorf("the result of listen %s has the subscription id %q", r.id, got)
	}
	return nil
}

// checkHandshakeResult refuses what belongs to the stateless era.
func checkHandshakeResult(method string, result object) error {
	for _, key := range []string{"resultType", "ttlMs", "cacheScope"} {
		if result[key] != nil {
			return fmt.Errorf("a result of the handshake era has %s", key)
		}
	}
	if members(result["_meta"])[protocol.MetaServerInfo] != nil {
		return errors.New("a result of the handshake era has server info")
	}
	if resultDefinition(method) == "EmptyResult" && len(result) > 0 {
		return errors.New("a result that should be {} has members")
	}
	return nil
}

// Unanswered returns the methods of the requests that are neither answered nor
// cancelled, in the order of their ids.
func (c *Checker) Unanswered() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	for id, open := range c.requests {
		for _, r := range open {
			if !r.cancelled {
				list = append(list, id+" "+r.method)
			}
		}
	}
	slices.Sort(list)
	return list
}

// errorDefinition returns the name of the definition of an error response.
func errorDefinition(v protocol.Version) string {
	if v.OmitsUnknownID() {
		return "JSONRPCErrorResponse"
	}
	return "JSONRPCError"
}

// resultDefinition returns the name of the definition that a result has to
// match, or "" for a method without one.
func resultDefinition(method string) string {
	switch method {
	case protocol.MethodInitialize:
		return "InitializeResult"
	case protocol.MethodDiscover:
		return "DiscoverResult"
	case protocol.MethodPing, protocol.MethodSetLevel, protocol.MethodResourcesSubscribe, protocol.MethodResourcesUnsubscribe:
		return "EmptyResult"
	case protocol.MethodToolsList:
		return "ListToolsResult"
	case protocol.MethodToolsCall:
		return "CallToolResult"
	case protocol.MethodResourcesList:
		return "ListResourcesResult"
	case protocol.MethodResourcesTemplatesList:
		return "ListResourceTemplatesResult"
	case protocol.MethodResourcesRead:
		return "ReadResourceResult"
	case protocol.MethodPromptsList:
		return "ListPromptsResult"
	case protocol.MethodPromptsGet:
		return "GetPromptResult"
	case protocol.MethodComplete:
		return "CompleteResult"
	case protocol.MethodListen:
		return "SubscriptionsListenResult"
	}
	return ""
}

// taskDefinition returns the name of the definition of a result in the tasks
// extension, or "" for a method that is not the extension's.
func taskDefinition(method string) string {
	switch method {
	case protocol.MethodTasksGet:
		return "GetTaskResult"
	case protocol.MethodTasksUpdate:
		return "UpdateTaskResult"
	case protocol.MethodTasksCancel:
		return "CancelTaskResult"
	}
	return ""
}

// mayAsk reports whether a request of the method may be answered with what the
// client is asked.
func mayAsk(method string) bool {
	return method == protocol.MethodToolsCall || method == protocol.MethodPromptsGet || method == protocol.MethodResourcesRead
}

// members returns the members of an object; anything else has none.
func members(raw json.RawMessage) object {
	var o object
	_ = json.Unmarshal(raw, &o) // anything else has no members
	return o
}

// text returns a string; anything else is none.
func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // anything else is no text
	return s
}

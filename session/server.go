package session

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
)

// The defaults of [Options].
const (
	DefaultListTTL          = time.Minute
	DefaultMaxSubscriptions = 1000
	DefaultMaxListens       = 64
	DefaultMaxOwnListens    = 1024
	DefaultStateTTL         = 10 * time.Minute
	DefaultMaxRounds        = 8
	DefaultAskTimeout       = 5 * time.Minute
)

// Options configures a [Server]. Layer and Info are mandatory.
type Options struct {
	Layer        *layer.Layer
	Info         protocol.Implementation
	Instructions string      // for the model; sent by initialize and server/discover
	Hub          *notify.Hub // nil: no change is ever announced, and listChanged is not declared
	// ListTTL is how long a client may keep a list or the answer to
	// server/discover; 0 means DefaultListTTL, negative that it must not.
	ListTTL          time.Duration
	MaxSubscriptions int // resource URIs of a session or a listen; 0: DefaultMaxSubscriptions
	MaxListens       int // listens of a session at one time; 0: DefaultMaxListens
	// MaxOwnListens is how many listens that came by themselves, without a
	// connection of their own here, a principal may have at one time; 0:
	// DefaultMaxOwnListens.
	MaxOwnListens int
	// StateKeys are secrets of at least MinStateKey bytes under which the state
	// of a call is sealed that has to ask its client in the stateless era. The
	// first one seals, all of them open, so that a key can be replaced; replicas
	// share them. None: a random one, which only this process has.
	StateKeys  [][]byte
	StateTTL   time.Duration // how long a client may take to answer; 0: DefaultStateTTL
	MaxRounds  int           // how often one call may ask; 0: DefaultMaxRounds
	AskTimeout time.Duration // for an answer in the handshake era; 0: DefaultAskTimeout
	Extensions []Extension   // beyond the protocol itself
	Tasks      TaskOptions   // calls that go on after their request was answered
	Logger     *slog.Logger  // nil discards
}

// Server is what the sessions of all peers share. Its methods may be called by
// several goroutines.
type Server struct {
	layer         *layer.Layer
	info          protocol.Implementation
	instructions  string
	hub           *notify.Hub
	listTTL       time.Duration
	maxSubs       int
	maxListens    int
	maxOwnListens int
	listens       tally // those that came by themselves
	askTimeout    time.Duration
	maxRounds     int
	sealer        *sealer
	extensions    []Extension
	tasks         *tasks
	log           *slog.Logger

	drained chan struct{} // closed by Drain
	drain   func()        // closes it, once

	methods   map[string]*method
	toolsCall *method // one of them
	names     map[string]string
	meta      []byte // `"_meta":{"io.modelcontextprotocol/serverInfo":…` without the closing brace
}

// NewServer returns a server. The error says which option is wrong.
func NewServer(o *Options) (*Server, error) {
	s := &Server{layer: o.Layer, info: o.Info, instructions: o.Instructions, hub: o.Hub, listTTL: o.ListTTL, maxSubs: o.MaxSubscriptions, maxListens: o.MaxListens, maxOwnListens: o.MaxOwnListens, log: o.Logger}
	switch {
	case s.listTTL == 0:
		s.listTTL = DefaultListTTL
	case s.listTTL < 0:
		s.listTTL = 0
	}
	if s.maxSubs <= 0 {
		s.maxSubs = DefaultMaxSubscriptions
	}
	if s.maxListens <= 0 {
		s.maxListens = DefaultMaxListens
	}
	if s.maxOwnListens <= 0 {
		s.maxOwnListens = DefaultMaxOwnListens
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.askTimeout, s.maxRounds = o.AskTimeout, o.MaxRounds
	if s.askTimeout <= 0 {
		s.askTimeout = DefaultAskTimeout
	}
	if s.maxRounds <= 0 {
		s.maxRounds = DefaultMaxRounds
	}
	ttl := o.StateTTL
	if ttl <= 0 {
		ttl = DefaultStateTTL
	}
	var err error
	if s.sealer, err = newSealer(o.StateKeys, ttl); err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	s.tasks = newTasks(&o.Tasks, s.layer, s.log)
	s.drained = make(chan struct{})
	s.drain = sync.OnceFunc(func() { close(s.drained) })
	s.methods = make(map[string]*method)
	s.names = make(map[string]string)
	for _, m := range methodTable() {
		s.methods[m.name] = &m
		s.names[m.name] = m.name
	}
	s.toolsCall = s.methods[protocol.MethodToolsCall]
	if err := s.addExtensions(o.Extensions); err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	for _, name := range []string{protocol.NotifyInitialized, protocol.NotifyCancelled} {
		s.names[name] = name
	}
	s.meta = append(s.meta, `"_meta":{`...)
	s.meta = jsonwire.AppendQuote(s.meta, protocol.MetaServerInfo)
	s.meta = append(s.meta, ':')
	s.meta = s.info.Append(s.meta, protocol.LatestStateless)
	return s, nil
}

// Decoder returns a decoder that knows the names of the server's methods.
func (s *Server) Decoder() jsonrpc.Decoder { return jsonrpc.Decoder{Methods: s.names} }

// Ordered reports whether requests of the method are handled before anything
// behind them: everything after a handshake depends on it.
func (s *Server) Ordered(method string) bool { return method == protocol.MethodInitialize }

// NewSession returns the session of one peer on a connection.
func (s *Server) NewSession(p *policy.Principal) *Session {
	return &Session{server: s, principal: p, logLevel: protocol.LogInfo}
}

// appendCapabilities appends what the server can do, for a peer that speaks the
// version.
func (s *Server) appendCapabilities(dst []byte, v protocol.Version) []byte {
	changes := "{}"
	resources := "{}"
	if s.hub != nil {
		changes = `{"listChanged":true}`
		resources = `{"subscribe":true,"listChanged":true}`
	}
	dst = append(dst, `{"tools":`...)
	dst = append(dst, changes...)
	dst = append(dst, `,"resources":`...)
	dst = append(dst, resources...)
	dst = append(dst, `,"prompts":`...)
	dst = append(dst, changes...)
	if v.DeclaresCompletions() {
		dst = append(dst, `,"completions":{}`...)
	}
	dst = append(dst, `,"logging":{}`...)
	return append(s.appendExtensions(dst, v), '}')
}

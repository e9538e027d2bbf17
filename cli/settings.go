package cli

import (
	"io"
	"log/slog"
	"net/netip"
	"time"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/transport"
)

// settings are what the options say.
type settings struct {
	roots       []string
	allowWrite  bool
	skills      []string
	taskDir     string // empty: tasks are kept in memory
	prefix      string
	filter      filter
	timeout     time.Duration // negative: none
	pageSize    int
	maxOutput   int // negative: no limit
	maxLine     int
	maxInFlight int           // 0: what the transport has as its default
	drain       time.Duration // negative: none
	stateKeys   []string      // specifications, not read yet
	logLevel    level
	logJSON     bool

	transport transportKind
	http      httpSettings

	version   protocol.Version
	json      bool
	raw       bool
	templates bool
	lint      bool
	strict    bool
	arguments string // as it was written; empty: none
	given     map[string]string
	within    time.Duration
}

// httpSettings are what the options of the HTTP transports say.
type httpSettings struct {
	listen           string
	path, publicPath string
	trustedProxies   []netip.Prefix

	allowedHosts, allowedOrigins, corsOrigins []string

	tokens []string // specifications, not read yet
	noAuth bool

	certFile, keyFile, clientCA string

	stateless, jsonResponse, alwaysSSE bool

	maxBody, maxHeader                       int
	maxConnections, maxStreams               int
	maxSessions, maxPerPrincipal             int // 0: the default
	headerTimeout, bodyTimeout, writeTimeout time.Duration
	idle                                     time.Duration // negative: never; 0: the default
	keepAlive                                time.Duration // negative: never
}

func defaults() *settings {
	return &settings{
		timeout:   layer.DefaultTimeout,
		maxOutput: layer.DefaultMaxOutput,
		maxLine:   transport.DefaultMaxLine,
		drain:     2 * time.Second, // clients kill about 4 s after they closed the input
		logLevel:  level{slog.LevelInfo, protocol.LogInfo},
		version:   protocol.LatestStateless,
		given:     make(map[string]string),
		within:    transport.DefaultProbeTimeout,
		http: httpSettings{
			listen:         "127.0.0.1:8765",
			path:           transport.DefaultPath,
			maxBody:        transport.DefaultMaxBody,
			maxHeader:      transport.DefaultMaxHeaderBytes,
			maxConnections: transport.DefaultMaxConnections,
			maxStreams:     transport.DefaultMaxStreams,
			headerTimeout:  transport.DefaultReadHeaderTimeout,
			bodyTimeout:    transport.DefaultBodyTimeout,
			writeTimeout:   transport.DefaultWriteTimeout,
			keepAlive:      transport.DefaultKeepAlive,
		},
	}
}

// logger returns the logger that the settings ask for.
func (s *settings) logger(w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: s.logLevel.own}
	if s.logJSON {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// maxMessage returns how many bytes an incoming message may have, and the
// option that says so.
func (s *settings) maxMessage() (int, string) {
	if s.transport.overHTTP() {
		return s.http.maxBody, "--max-body"
	}
	return s.maxLine, "--max-line"
}

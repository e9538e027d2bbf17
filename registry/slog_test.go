package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// timed notes the time of records on their way to another handler: on the wire a
// record has none.
type timed struct {
	slog.Handler
	times *[]time.Time
}

func (h timed) Handle(ctx context.Context, r slog.Record) error {
	*h.times = append(*h.times, r.Time)
	return h.Handler.Handle(ctx, r)
}

func (h timed) WithAttrs(attrs []slog.Attr) slog.Handler {
	return timed{h.Handler.WithAttrs(attrs), h.times}
}

func (h timed) WithGroup(name string) slog.Handler { return timed{h.Handler.WithGroup(name), h.times} }

func TestLoggerIsASlogHandler(t *testing.T) {
	var client *interviewer
	var times []time.Time
	slogtest.Run(t, func(*testing.T) slog.Handler {
		client, times = &interviewer{level: protocol.LogDebug}, nil
		return timed{client.call(protocol.LatestHandshake).Logger("l").Handler(), &times}
	}, func(t *testing.T) map[string]any {
		if len(client.logged) != 1 {
			t.Fatalf("the messages are %q", client.logged)
		}
		level, rest, _ := strings.Cut(client.logged[0], " ")
		var record map[string]any
		if err := json.Unmarshal([]byte(strings.TrimPrefix(rest, "l ")), &record); err != nil {
			t.Fatalf("%v in %s", err, rest)
		}
		record[slog.LevelKey] = level
		if !times[0].IsZero() {
			record[slog.TimeKey] = times[0]
		}
		return record
	})
}

type secret struct{}

func (secret) LogValue() slog.Value { return slog.StringValue("***") }

func TestLoggerData(t *testing.T) {
	log := func(f func(*slog.Logger)) string {
		client := &interviewer{level: protocol.LogDebug}
		f(client.call(protocol.LatestHandshake).Logger("l"))
		return strings.Join(client.logged, "\n")
	}
	empty := slog.Group("empty", slog.Attr{}, slog.Group("inner"))
	tests := []struct {
		name string
		in   func(*slog.Logger)
		want string
	}{
		{"message", func(l *slog.Logger) { l.Info("a \"b\"\n\xff") }, `info l {"msg":"a \"b\"\n` + "\ufffd" + `"}`},
		{"values", func(l *slog.Logger) {
			l.Warn("m", "i", -1, "u", uint64(1<<63), "f", 1.5, "b", true, "s", "<x>", "d", 1500*time.Millisecond, "t", time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC))
		}, `warning l {"msg":"m","i":-1,"u":9223372036854775808,"f":1.5,"b":true,"s":"<x>","d":"1.5s","t":"2026-01-02T03:04:05.000000006Z"}`},
		{"other values", func(l *slog.Logger) {
			l.Error("m", "err", errors.New("no"), "list", []string{"<a>"}, "map", map[string]int{"b": 2, "a": 1}, "nil", nil, "func", func() {} == nil, "secret", secret{})
		}, `error l {"msg":"m","err":"no","list":["<a>"],"map":{"a":1,"b":2},"nil":null,"func":false,"secret":"***"}`},
		{"no JSON", func(l *slog.Logger) { l.Debug("m", "c", complex(1, 2)) }, `debug l {"msg":"m","c":"(1+2i)"}`},
		{"groups", func(l *slog.Logger) {
			l.With("a", 1).WithGroup("g").With("b", 2).WithGroup("h").Info("m", "c", 3, slog.Group("k", "d", 4), empty)
		}, `info l {"msg":"m","a":1,"g":{"b":2,"h":{"c":3,"k":{"d":4}}}}`},
		{"groups in one go", func(l *slog.Logger) { l.WithGroup("g").WithGroup("h").With("a", 1).Info("m") }, `info l {"msg":"m","g":{"h":{"a":1}}}`},
		{"empty groups", func(l *slog.Logger) { l.WithGroup("g").With(empty).WithGroup("h").Info("m", empty, slog.Attr{}) }, `info l {"msg":"m"}`},
		{"nothing more", func(l *slog.Logger) { l.With("a", 1).WithGroup("g").Info("m") }, `info l {"msg":"m","a":1}`},
		{"inline", func(l *slog.Logger) {
			l.WithGroup("g").Info("m", slog.Group("", "a", 1, slog.Group("", "b", 2)), slog.Int("c", 3))
		}, `info l {"msg":"m","g":{"a":1,"b":2,"c":3}}`},
		{"siblings", func(l *slog.Logger) {
			g := l.WithGroup("g")
			g.With("a", 1).Info("m")
			g.With("b", 2).Info("m")
			g.Info("m", "c", 3)
		}, `info l {"msg":"m","g":{"a":1}}` + "\n" + `info l {"msg":"m","g":{"b":2}}` + "\n" + `info l {"msg":"m","g":{"c":3}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, log(tt.in)); diff != "" {
				t.Errorf("the messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoggerLevels(t *testing.T) {
	tests := []struct {
		name   string
		client registry.Client
		want   []bool // debug, info, warn, error, and far beyond
	}{
		{"nobody", nil, []bool{false, false, false, false, false}},
		{"nothing wanted", &interviewer{}, []bool{false, false, false, false, false}},
		{"all", &interviewer{level: protocol.LogDebug}, []bool{true, true, true, true, true}},
		{"from info", &interviewer{level: protocol.LogInfo}, []bool{false, true, true, true, true}},
		{"from warning", &interviewer{level: protocol.LogWarning}, []bool{false, false, true, true, true}},
		{"from error", &interviewer{level: protocol.LogError}, []bool{false, false, false, true, true}},
		{"only worse", &interviewer{level: protocol.LogEmergency}, []bool{false, false, false, false, false}},
		{"a client that decides later", silent{}, []bool{true, true, true, true, true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := (&registry.Call{Client: tt.client}).Logger("l")
			var got []bool
			for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError, 100} {
				got = append(got, l.Enabled(context.Background(), level))
				l.Log(context.Background(), level, "m")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("enabled (-want +got):\n%s", diff)
			}
			if tt.client == nil { // a handler may be used without asking first
				if err := l.Handler().Handle(context.Background(), slog.Record{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

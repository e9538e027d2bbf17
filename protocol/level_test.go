package protocol_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/protocol"
)

func TestLogLevels(t *testing.T) {
	want := []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
	if diff := cmp.Diff(want, protocol.LogLevels()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	levels := []protocol.LogLevel{
		protocol.LogDebug, protocol.LogInfo, protocol.LogNotice, protocol.LogWarning,
		protocol.LogError, protocol.LogCritical, protocol.LogAlert, protocol.LogEmergency,
	}
	worst := protocol.LogNone
	for i, level := range levels {
		if level <= worst {
			t.Errorf("%s is not more severe than %s", level, worst)
		}
		worst = level
		if got := level.String(); got != want[i] {
			t.Errorf("level %d is called %q, want %q", level, got, want[i])
		}
		if got := protocol.ParseLogLevel(want[i]); got != level {
			t.Errorf("ParseLogLevel(%q) = %s", want[i], got)
		}
		for _, v := range protocol.Versions() {
			if err := spec(t).Validate(v, "LoggingLevel", []byte(`"`+level.String()+`"`)); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestNoLogLevel(t *testing.T) {
	for _, in := range []string{"", "none", "Debug", "debug ", "warn", "fatal", "trace", "0", "3"} {
		if got := protocol.ParseLogLevel(in); got != protocol.LogNone {
			t.Errorf("ParseLogLevel(%q) = %s, want none", in, got)
		}
	}
	for _, level := range []protocol.LogLevel{protocol.LogNone, protocol.LogEmergency + 1, 255} {
		if got := level.String(); got != "none" {
			t.Errorf("level %d is called %q, want none", level, got)
		}
	}
}

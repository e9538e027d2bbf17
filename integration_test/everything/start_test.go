package main

import (
	"log/slog"
	"testing"

	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/registry"
)

// BenchmarkRegister measures what the fixtures cost at start.
func BenchmarkRegister(b *testing.B) {
	b.ReportAllocs()
	hub := notify.New(nil)
	defer hub.Close()
	for b.Loop() {
		f := &fixtures{reg: registry.New(nil), hub: hub, log: slog.New(slog.DiscardHandler)}
		if err := f.register(0); err != nil {
			b.Fatal(err)
		}
	}
}

package catalog_test

import (
	"testing"

	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/catalog"
)

// BenchmarkRegister is what the catalog adds to the start of the command.
func BenchmarkRegister(b *testing.B) {
	o := &catalog.Options{Roots: []string{b.TempDir()}, AllowWrite: true}
	b.ReportAllocs()
	for b.Loop() {
		c, err := catalog.Register(registry.New(nil), o)
		if err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}

package cli

import (
	"runtime/debug"

	"cloudg.dev/cloudg/protocol"
)

// build is what the binary knows of its own making.
type build struct {
	version           string // of the module, or "devel"
	revision, revised string // of the source, and when; empty if unknown
	modified          bool   // the source was changed since
}

// readBuild reads the build information of a binary; nil means that there is
// none.
func readBuild(info *debug.BuildInfo) build {
	b := build{version: "devel"}
	if info == nil {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.revision = s.Value
		case "vcs.time":
			b.revised = s.Value
		case "vcs.modified":
			b.modified = s.Value == "true"
		}
	}
	return b
}

// implementation returns what the server says of itself.
func (e *Env) implementation() protocol.Implementation {
	return protocol.Implementation{Name: "cloudg", Title: "cloudg", Version: readBuild(e.Build).version}
}

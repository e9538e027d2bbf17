package cli

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/protocol"
)

// version tells what this binary is.
func (inv *invocation) version(context.Context) error {
	b := readBuild(inv.env.Build)
	if inv.set.json {
		inv.out.Write(b.appendJSON(nil))
		return nil
	}
	fmt.Fprintf(&inv.out, "cloudg %s\n", b.version)
	fmt.Fprintf(&inv.out, "go %s %s/%s\n", strings.TrimPrefix(runtime.Version(), "go"), runtime.GOOS, runtime.GOARCH)
	if b.revision != "" {
		state := "as committed"
		if b.modified {
			state = "changed since"
		}
		fmt.Fprintf(&inv.out, "revision %s %s (%s)\n", b.revision, b.revised, state)
	}
	fmt.Fprintf(&inv.out, "protocol %s\n", strings.Join(versionNames(), ", "))
	return nil
}

// appendJSON appends the same as a line of JSON.
func (b *build) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"name":"cloudg","version":`...)
	dst = jsonwire.AppendQuote(dst, b.version)
	dst = protocol.AppendText(dst, "go", strings.TrimPrefix(runtime.Version(), "go"))
	dst = protocol.AppendText(dst, "os", runtime.GOOS)
	dst = protocol.AppendText(dst, "arch", runtime.GOARCH)
	dst = protocol.AppendText(dst, "revision", b.revision)
	dst = protocol.AppendText(dst, "revisionTime", b.revised)
	dst = fmt.Appendf(dst, `,"modified":%t,"protocolVersions":`, b.modified)
	dst = protocol.AppendStrings(dst, versionNames())
	return append(dst, "}\n"...)
}

package catalog

import (
	"errors"
	"log/slog"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/catalog/files"
	"cloudg.dev/cloudg/registry/catalog/host"
)

// The categories of the catalog.
const (
	CategoryHost  string = "host"  // facts about the machine
	CategoryFiles string = "files" // files below the roots
	CategoryMeta  string = "meta"  // the server itself
)

// readBytes is how much of a file one call returns unless the caller says
// otherwise: about what the largest result of a tool may be by default. Ten
// times as much would fill the whole context of many a model.
const readBytes = 128 << 10

// Options says what of the catalog is offered. The zero value offers all that
// needs no directory.
type Options struct {
	// Roots are the directories whose files may be used, at most 64. Relative
	// paths begin at the first.
	Roots []string
	// AllowWrite also offers the tools that change files. It needs a root.
	AllowWrite bool
	// Accept decides what is registered; nil means everything. It sees names
	// as they are here, without the prefix of the registry.
	Accept func(*policy.Subject) bool
	// Visible says what a principal may know of, so that neither server_info
	// counts nor a prompt names what is hidden from it; nil means everything.
	Visible func(*policy.Principal, *policy.Subject) bool
	// Info is the server that server_info tells about.
	Info protocol.Implementation
	// Logger is told what is left out; nil discards.
	Logger *slog.Logger
}

// Catalog is the built-in catalog in a registry. Its owner closes it when the
// registry is no longer served.
type Catalog struct {
	reg     *registry.Registry
	host    *host.Host
	files   *files.Files // nil without roots
	write   bool
	info    protocol.Implementation
	visible func(*policy.Principal, *policy.Subject) bool
}

// Register adds the catalog to the registry. The error says which option is
// wrong, or which name is taken; nothing stays registered then.
func Register(reg *registry.Registry, o *Options) (*Catalog, error) {
	if o == nil {
		o = new(Options)
	}
	c := &Catalog{reg: reg, host: host.New(host.Source{}), write: o.AllowWrite, info: o.Info, visible: o.Visible}
	if c.visible == nil {
		c.visible = func(*policy.Principal, *policy.Subject) bool { return true }
	}
	if err := c.open(o); err != nil {
		return nil, err
	}
	r := newRegistrar(reg, o)
	c.addHost(r)
	c.addFiles(r)
	c.addServer(r)
	if r.err != nil {
		r.rollBack()
		return nil, errors.Join(r.err, c.Close())
	}
	return c, nil
}

// open opens the roots, if there are any.
func (c *Catalog) open(o *Options) (err error) {
	if len(o.Roots) == 0 {
		if o.AllowWrite {
			return errors.New("--allow-write has no effect without a directory to write in: add --root DIR")
		}
		return nil
	}
	c.files, err = files.Open(files.Options{Roots: o.Roots, AllowWrite: o.AllowWrite, ReadBytes: readBytes})
	return err
}

// Close releases the roots. Calls that are still running fail, as later ones
// do; what was registered stays in the registry.
func (c *Catalog) Close() error {
	if c.files == nil {
		return nil
	}
	return c.files.Close()
}

package cli

import (
	"errors"
	"io"
	"log/slog"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/catalog"
	"cloudg.dev/cloudg/session"
)

// instructions tell a model what the server is for.
const instructions = "This server tells about the machine it runs on, and about the files below the directories that its operator allowed. " +
	"Nothing here reaches the network. A tool that refuses a call says what to do instead."

// assembly is a server in parts, ready to serve.
type assembly struct {
	sessions *session.Server
	snapshot *registry.Snapshot // what is registered; it does not change
	closers  []io.Closer        // in the order in which they were opened
}

// assemble builds what the settings describe. The caller closes it.
func (inv *invocation) assemble(sessionLog *slog.Logger) (_ *assembly, err error) {
	hub := notify.New(nil)
	a := &assembly{closers: []io.Closer{hub}}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	reg := registry.New(&registry.Options{Prefix: inv.set.prefix, OnChange: session.Announce(hub)})
	info := inv.env.implementation()
	source, err := inv.env.Register(reg, &catalog.Options{
		Roots: inv.set.roots, AllowWrite: inv.set.allowWrite, Accept: inv.set.filter.accept, Info: info, Logger: inv.log,
	})
	if err != nil {
		return nil, err // it names the option
	}
	a.closers = append(a.closers, source)
	if err := inv.set.filter.check(); err != nil {
		return nil, err
	}
	a.snapshot = reg.Snapshot()
	a.sessions, err = session.NewServer(&session.Options{
		Layer:        inv.layer(reg),
		Info:         info,
		Instructions: instructions,
		Hub:          hub,
		Logger:       sessionLog,
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

func (inv *invocation) layer(reg *registry.Registry) *layer.Layer {
	return layer.New(&layer.Options{
		Registry: reg, Timeout: inv.set.timeout, MaxOutput: inv.set.maxOutput, PageSize: inv.set.pageSize, Logger: inv.log,
	})
}

// Close closes the parts, the last first.
func (a *assembly) Close() error {
	var errs []error
	for i := len(a.closers) - 1; i >= 0; i-- {
		errs = append(errs, a.closers[i].Close())
	}
	a.closers = nil
	return errors.Join(errs...)
}

// subject returns what is known of a primitive that a list shows under a name
// or a URI.
func (a *assembly) subject(kind policy.Kind, name string) *policy.Subject {
	switch kind {
	case policy.Tool:
		if e := a.snapshot.Tool(name); e != nil {
			return &e.Subject
		}
	case policy.Prompt:
		if e := a.snapshot.Prompt(name); e != nil {
			return &e.Subject
		}
	case policy.Resource:
		if e := a.snapshot.Resource(name); e != nil {
			return &e.Subject
		}
	case policy.ResourceTemplate:
		if e := a.snapshot.Template(name); e != nil {
			return &e.Subject
		}
	}
	return new(policy.Subject)
}

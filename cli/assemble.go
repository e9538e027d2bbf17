package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/catalog"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/task"
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

// serving is what a server has that clients of other processes use.
type serving struct {
	log       *slog.Logger
	stateKeys [][]byte // none: a random one
}

// assemble builds what the settings describe. The caller closes it. Without
// serving it is for this process alone: what others share, such as the directory
// of tasks, is left alone.
func (inv *invocation) assemble(s *serving) (_ *assembly, err error) {
	// Every session subscribes, however many there may be, besides requests that listen.
	sessions := cmp.Or(inv.set.http.maxSessions, session.DefaultMaxSessions)
	hub := notify.New(&notify.Options{MaxSubscribers: sessions + notify.DefaultMaxSubscribers})
	a := &assembly{closers: []io.Closer{hub}}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	reg := registry.New(&registry.Options{Prefix: inv.set.prefix, OnChange: session.Announce(hub)})
	o := &session.Options{Info: inv.env.implementation(), Instructions: instructions, Hub: hub}
	var cursorKey []byte
	if s != nil {
		o.StateKeys = s.stateKeys
		if cursorKey, err = session.CursorKey(s.stateKeys); err != nil {
			return nil, fmt.Errorf("--state-key: %w", err)
		}
	}
	if err := inv.fill(a, reg, o, cursorKey); err != nil {
		return nil, err
	}
	a.snapshot = reg.Snapshot()
	o.Layer = inv.layer(reg, cursorKey)
	if s != nil {
		o.Logger = s.log
		if err := inv.openTasks(a, o); err != nil {
			return nil, err
		}
	}
	if a.sessions, err = session.NewServer(o); err != nil {
		return nil, err
	}
	a.closers = append(a.closers, taskStopper{a.sessions})
	return a, nil
}

// fill registers what there is to serve.
func (inv *invocation) fill(a *assembly, reg *registry.Registry, o *session.Options, cursorKey []byte) error {
	source, err := inv.env.Register(reg, &catalog.Options{
		Roots: inv.set.roots, AllowWrite: inv.set.allowWrite, Accept: inv.set.filter.accept, Info: o.Info, Logger: inv.log,
	})
	if err != nil {
		return err // it names the option
	}
	a.closers = append(a.closers, source)
	if len(inv.set.skills) > 0 {
		if err := inv.addSkills(a, reg, o, cursorKey); err != nil {
			return fmt.Errorf("--skills: %w", err)
		}
	}
	return inv.set.filter.check()
}

// openTasks opens the directory in which tasks are kept, if one is given.
func (inv *invocation) openTasks(a *assembly, o *session.Options) error {
	if inv.set.taskDir == "" {
		return nil
	}
	dir, err := task.OpenDir(inv.set.taskDir, &task.Options{Logger: inv.log})
	if err != nil {
		return fmt.Errorf("--task-dir: %w", err)
	}
	a.closers = append(a.closers, dir)
	o.Tasks.Store = dir
	return nil
}

// taskStopper ends the tasks of a server that has no requests any more.
type taskStopper struct{ server *session.Server }

// Close waits until the tasks have taken note of the end, but not long: one that
// does not look is reported as failed.
func (s taskStopper) Close() error {
	const patience = time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return s.server.Shutdown(ctx)
}

func (inv *invocation) layer(reg *registry.Registry, cursorKey []byte) *layer.Layer {
	return layer.New(&layer.Options{
		Registry: reg, Timeout: inv.set.timeout, MaxOutput: inv.set.maxOutput, PageSize: inv.set.pageSize,
		CursorKey: cursorKey, Logger: inv.log,
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

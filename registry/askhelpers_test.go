package registry_test

import (
	"context"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// everything is what a client can declare.
const everything = registry.CanElicitForm | registry.CanElicitURL | registry.CanSample | registry.CanSampleTools | registry.CanListRoots | registry.CanRunTasks

// interviewer is a client that answers at once and keeps what it is asked.
type interviewer struct {
	can    registry.Ability
	answer string
	asked  []*registry.Question
	kept   map[string][]byte
	level  protocol.LogLevel // from which on it wants log messages
	logged []string          // level, logger and data
}

func (i *interviewer) Progress(context.Context, float64, float64, string) error { return nil }

func (i *interviewer) Log(_ context.Context, level protocol.LogLevel, logger string, data []byte) error {
	i.logged = append(i.logged, level.String()+" "+logger+" "+string(data))
	return nil
}

func (i *interviewer) Wants(level protocol.LogLevel) bool {
	return i.level != protocol.LogNone && level >= i.level
}

func (i *interviewer) Has(a registry.Ability) bool { return i.can&a == a }

func (i *interviewer) Ask(_ context.Context, q *registry.Question) ([]byte, error) {
	i.asked = append(i.asked, q)
	if err := q.Check([]byte(i.answer)); err != nil {
		return nil, err
	}
	return []byte(i.answer), nil
}

func (i *interviewer) Load(key string) ([]byte, bool) {
	raw, ok := i.kept[key]
	return raw, ok
}

func (i *interviewer) Save(key string, raw []byte) {
	if i.kept == nil {
		i.kept = make(map[string][]byte)
	}
	i.kept[key] = raw
}

// call returns a call of the client, which speaks the version.
func (i *interviewer) call(v protocol.Version) *registry.Call {
	return &registry.Call{Version: v, Client: i}
}

// silent is a client that takes notifications only.
type silent struct{}

func (silent) Progress(context.Context, float64, float64, string) error { return nil }

func (silent) Log(context.Context, protocol.LogLevel, string, []byte) error { return nil }

var (
	_ registry.Asker  = (*interviewer)(nil)
	_ registry.Client = silent{}
)

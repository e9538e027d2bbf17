package task

import (
	"sync"
	"time"
)

// Memory is a [Store] that ends with the process. It is always open.
type Memory struct {
	mu      sync.Mutex // guards the fields below
	index   index
	records map[string]*Record
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store. A nil o stands for the defaults.
func NewMemory(o *Options) *Memory {
	return &Memory{index: newIndex(o.withDefaults()), records: make(map[string]*Record)}
}

// Put implements [Store].
func (m *Memory) Put(r *Record) error {
	if err := r.check(); err != nil {
		return err
	}
	size := int64(len(r.Append(nil)))
	kept := *r
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.index.fits(r, size); err != nil {
		m.sweepLocked(time.Now())
		if err := m.index.fits(r, size); err != nil {
			return err
		}
	}
	m.index.set(r, size)
	m.records[r.ID] = &kept
	return nil
}

// Get implements [Store].
func (m *Memory) Get(id string) (*Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.index.live(id, time.Now()) {
		return nil, ErrUnknown
	}
	r := *m.records[id]
	return &r, nil
}

// Sweep implements [Store]. It never fails.
func (m *Memory) Sweep() (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sweepLocked(time.Now()), nil
}

func (m *Memory) sweepLocked(now time.Time) time.Time {
	ids, next := m.index.expired(now)
	for _, id := range ids {
		m.index.drop(id)
		delete(m.records, id)
	}
	return next
}

package task_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/task"
)

// stores are what the contract is tested with.
func stores() map[string]func(*testing.T, *task.Options) task.Store {
	return map[string]func(*testing.T, *task.Options) task.Store{
		"Memory": func(_ *testing.T, o *task.Options) task.Store { return task.NewMemory(o) },
		"Dir":    func(t *testing.T, o *task.Options) task.Store { return open(t, t.TempDir(), o) },
	}
}

// contract runs a test with each store, in a bubble with a clock of its own.
func contract(t *testing.T, o *task.Options, test func(t *testing.T, s task.Store)) {
	for name, make := range stores() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, make(t, o)) })
		})
	}
}

func TestStoreKeeps(t *testing.T) {
	contract(t, nil, func(t *testing.T, s task.Store) {
		a, b := record("a", task.Working, ""), record("b", task.Completed, `{"content":[],"big":12345678901234567890}`)
		put(t, s, a, b)
		done := *a
		done.Status, done.Detail, done.Message = task.Failed, []byte(`{"code":-1,"message":"m"}`), "so it is"
		put(t, s, &done)
		want := []string{text(&done), text(b), task.ErrUnknown.Error(), task.ErrUnknown.Error()}
		got := []string{get(s, a.ID), get(s, b.ID), get(s, task.NewID()), get(s, "../lock")}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
	})
}

func TestStoreRefusesWhatIsNoRecord(t *testing.T) {
	contract(t, nil, func(t *testing.T, s task.Store) {
		for name, spoil := range map[string]func(*task.Record){
			"id":           func(r *task.Record) { r.ID = "../../../../../../../../x" },
			"status":       func(r *task.Record) { r.Status = "" },
			"time to live": func(r *task.Record) { r.TTL = 0 },
		} {
			r := record("o", task.Working, "")
			if spoil(r); s.Put(r) == nil {
				t.Errorf("a record without a good %s was accepted", name)
			}
		}
	})
}

func TestStoreForgets(t *testing.T) {
	contract(t, nil, func(t *testing.T, s task.Store) {
		short, long := record("o", task.Completed, `{}`), record("o", task.Completed, `{}`)
		short.TTL = time.Minute
		put(t, s, short, long)
		sweep := func(want time.Time) {
			t.Helper()
			next, err := s.Sweep()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, next); diff != "" {
				t.Errorf("time of the next sweep (-want +got):\n%s", diff)
			}
		}
		sweep(short.Expires())
		time.Sleep(time.Minute - time.Millisecond)
		if got := get(s, short.ID); got != text(short) {
			t.Errorf("forgotten before its time: %s", got)
		}
		time.Sleep(time.Millisecond)
		if got := get(s, short.ID); got != task.ErrUnknown.Error() {
			t.Errorf("there after its time: %s", got)
		}
		sweep(long.Expires())
		time.Sleep(time.Hour)
		sweep(time.Time{})
	})
}

func TestStoreBounds(t *testing.T) {
	contract(t, &task.Options{MaxRecords: 3, MaxPerOwner: 2, MaxBytes: 1000}, func(t *testing.T, s task.Store) {
		first := record("a", task.Completed, `{}`)
		put(t, s, first, record("a", task.Working, ""))
		refused := func(r *task.Record) {
			t.Helper()
			if err := s.Put(r); !errors.Is(err, task.ErrFull) {
				t.Errorf("the error is %v, want ErrFull", err)
			}
		}
		refused(record("a", task.Working, "")) // the owner's bound
		put(t, s, record("b", task.Working, ""))
		refused(record("c", task.Working, "")) // the bound of all
		large := *first
		large.Detail = fmt.Appendf(nil, `{"text":"%01000d"}`, 0)
		refused(&large)
		if diff := cmp.Diff(text(first), get(s, first.ID)); diff != "" {
			t.Errorf("after a refusal the old record is not there (-want +got):\n%s", diff)
		}
		time.Sleep(time.Hour)
		put(t, s, record("a", task.Working, ""), record("a", task.Working, ""), record("c", task.Working, "")) // there is room again
	})
}

func TestStoreIsForManyGoroutines(t *testing.T) {
	contract(t, nil, func(t *testing.T, s task.Store) {
		var wg sync.WaitGroup
		for _, owner := range owners(8) {
			wg.Go(func() {
				for range 20 {
					r := record(owner, task.Working, "")
					done := *r
					done.Status, done.Detail = task.Completed, []byte(`{"content":[]}`)
					if err := errors.Join(s.Put(r), s.Put(&done)); err != nil {
						t.Error(err)
					}
					if diff := cmp.Diff(text(&done), get(s, r.ID)); diff != "" {
						t.Errorf("record (-want +got):\n%s", diff)
					}
					if _, err := s.Sweep(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}

// TestStoreSharesNothing guards the records that a store has against those who
// asked for them.
func TestStoreSharesNothing(t *testing.T) {
	contract(t, nil, func(t *testing.T, s task.Store) {
		r := record("o", task.Working, "")
		put(t, s, r)
		want := text(r)
		r.Status = task.Failed
		got, err := s.Get(r.ID)
		if err != nil {
			t.Fatal(err)
		}
		got.Owner = "somebody else"
		if diff := cmp.Diff(want, get(s, r.ID)); diff != "" {
			t.Errorf("record (-want +got):\n%s", diff)
		}
		if !slices.Equal([]byte(want), []byte(get(s, r.ID))) {
			t.Error("reading changes the record")
		}
	})
}

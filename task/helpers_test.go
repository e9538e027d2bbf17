package task_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cloudg.dev/cloudg/task"
)

// record returns a record that is worth keeping for an hour.
func record(owner string, status task.Status, detail string) *task.Record {
	now := task.Now()
	r := &task.Record{ID: task.NewID(), Owner: owner, Status: status, Created: now, Updated: now, TTL: time.Hour}
	if detail != "" {
		r.Detail = []byte(detail)
	}
	return r
}

// open opens a directory and closes it at the end of the test.
func open(t *testing.T, path string, o *task.Options) *task.Dir {
	t.Helper()
	d, err := task.OpenDir(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// put puts records that must be accepted.
func put(t *testing.T, s task.Store, records ...*task.Record) {
	t.Helper()
	for _, r := range records {
		if err := s.Put(r); err != nil {
			t.Fatal(err)
		}
	}
}

// get returns what a store says of a task: its record or its error.
func get(s task.Store, id string) string {
	r, err := s.Get(id)
	if err != nil {
		return err.Error()
	}
	return string(r.Append(nil))
}

func text(r *task.Record) string { return string(r.Append(nil)) }

// names returns the names of the files in a directory, without the lock.
func names(t *testing.T, path string) []string {
	t.Helper()
	list, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	found := []string{}
	for _, e := range list {
		if e.Name() != "lock" {
			found = append(found, e.Name())
		}
	}
	return found
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// owners returns n names of principals.
func owners(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("owner-%d", i))
	}
	return list
}

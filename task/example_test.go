package task_test

import (
	"errors"
	"fmt"
	"os"
	"time"

	"cloudg.dev/cloudg/task"
)

// A store in a directory outlives its process: what had ended is still there,
// and what ran has failed.
func ExampleOpenDir() {
	path, err := os.MkdirTemp("", "tasks")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(path)
	store, err := task.OpenDir(path, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := task.Now()
	ended := &task.Record{ID: task.NewID(), Owner: "ann", Status: task.Completed, Created: now, Updated: now, TTL: time.Hour, Detail: []byte(`{"content":[]}`)}
	runs := &task.Record{ID: task.NewID(), Owner: "ann", Status: task.Working, Created: now, Updated: now, TTL: time.Hour}
	err = errors.Join(store.Put(ended), store.Put(runs), store.Close())
	if err != nil {
		fmt.Println(err)
		return
	}

	store, err = task.OpenDir(path, nil) // as the next process does
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	for _, id := range []string{ended.ID, runs.ID, task.NewID()} {
		record, err := store.Get(id)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%s %s\n", record.Status, record.Detail)
	}
	// Output:
	// completed {"content":[]}
	// failed {"code":-32603,"message":"the server was restarted while the task ran"}
	// task: unknown
}

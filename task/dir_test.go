package task_test

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/task"
)

func TestDirSurvivesARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "tasks")
	d := open(t, path, nil)
	working, asking, done := record("o", task.Working, ""), record("o", task.InputRequired, `{"k":{}}`), record("o", task.Completed, `{"content":[]}`)
	old := record("o", task.Completed, `{}`)
	old.Created, old.TTL = old.Created.Add(-time.Hour), 59*time.Minute
	put(t, d, working, asking, done, old)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, path, working.ID+".tmp", "half a rec") // its process was killed while it wrote
	d = open(t, path, nil)
	for name, id := range map[string]string{"that ran": working.ID, "that asked": asking.ID} {
		r, err := d.Get(id)
		if err != nil {
			t.Fatalf("a task %s: %v", name, err)
		}
		if r.Status != task.Failed || string(r.Detail) != `{"code":-32603,"message":"`+task.RestartText+`"}` || r.Owner != "o" {
			t.Errorf("a task %s is now %s", name, text(r))
		}
	}
	want := []string{text(done), task.ErrUnknown.Error()}
	if diff := cmp.Diff(want, []string{get(d, done.ID), get(d, old.ID)}); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if got := len(names(t, path)); got != 3 {
		t.Errorf("%d files are there, want one for each task that is not over", got)
	}
}

func TestDirLeavesAloneWhatIsNotIts(t *testing.T) {
	path := t.TempDir()
	d := open(t, path, nil)
	good, torn, moved := record("o", task.Completed, `{}`), record("o", task.Completed, `{}`), record("o", task.Completed, `{}`)
	put(t, d, good, torn, moved)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, path, torn.ID+".json", text(torn)[:30])
	other := task.NewID()
	if err := os.Rename(filepath.Join(path, moved.ID+".json"), filepath.Join(path, other+".json")); err != nil {
		t.Fatal(err)
	}
	unfinished := task.NewID()
	write(t, path, unfinished+".tmp", "half a rec")
	write(t, path, "notes.txt", "buy milk")
	folder, link := task.NewID(), task.NewID()
	if err := os.Mkdir(filepath.Join(path, folder+".json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(good.ID+".json", filepath.Join(path, link+".json")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}

	var log bytes.Buffer
	d = open(t, path, &task.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	want := map[string]string{good.ID: text(good)}
	for _, id := range []string{torn.ID, moved.ID, other, unfinished, folder, link} {
		want[id] = task.ErrUnknown.Error()
	}
	got := make(map[string]string)
	for id := range want {
		got[id] = get(d, id)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	for _, name := range []string{torn.ID + ".json", other + ".json", "notes.txt", folder + ".json"} {
		if !strings.Contains(log.String(), "file="+name) {
			t.Errorf("the log does not name %s", name)
		}
		if _, err := os.Lstat(filepath.Join(path, name)); err != nil {
			t.Errorf("%s was touched: %v", name, err)
		}
	}
	if strings.Contains(log.String(), "milk") {
		t.Error("the log repeats what is in a file")
	}
	if _, err := os.Lstat(filepath.Join(path, unfinished+".tmp")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a write that did not end was not cleared away: %v", err)
	}
}

func TestDirIsForItsUserAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no permission bits here")
	}
	path := filepath.Join(t.TempDir(), "tasks")
	d := open(t, path, nil)
	r := record("o", task.Working, "")
	put(t, d, r)
	want := map[string]string{".": "drwx------", "lock": "-rw-------", r.ID + ".json": "-rw-------"}
	got := make(map[string]string)
	for name := range want {
		info, err := os.Stat(filepath.Join(path, name))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = info.Mode().String()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}
	if err := errors.Join(d.Close(), os.Chmod(path, 0o755)); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	open(t, path, &task.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if !strings.Contains(log.String(), "open to other users") {
		t.Error("a directory that others may look into is not reported")
	}
}

func TestDirBelongsToOneProcess(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no lock here")
	}
	path := t.TempDir()
	d := open(t, path, nil)
	if _, err := task.OpenDir(path, nil); err == nil || !strings.Contains(err.Error(), "another process uses it") {
		t.Errorf("the error for a directory in use is %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, path, nil)
}

func TestDirSaysWhatIsWrong(t *testing.T) {
	path := t.TempDir()
	write(t, path, "file", "")
	if _, err := task.OpenDir(filepath.Join(path, "file"), nil); err == nil || !strings.Contains(err.Error(), "task directory") {
		t.Errorf("the error for a file is %v", err)
	}
}

func TestDirAfterClose(t *testing.T) {
	d := open(t, t.TempDir(), nil)
	r := record("o", task.Working, "")
	put(t, d, r)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	_, getErr := d.Get(r.ID)
	_, sweepErr := d.Sweep()
	for name, err := range map[string]error{"Put": d.Put(r), "Get": getErr, "Sweep": sweepErr} {
		if !errors.Is(err, task.ErrClosed) {
			t.Errorf("%s: %v, want ErrClosed", name, err)
		}
	}
	if err := d.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

// TestDirTellsOfItsDisk takes the directory away while it is in use.
func TestDirTellsOfItsDisk(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 && runtime.GOOS != "linux" {
		t.Skip("a directory in use cannot be taken away here")
	}
	path := filepath.Join(t.TempDir(), "tasks")
	d := open(t, path, nil)
	kept := record("o", task.Completed, `{}`)
	put(t, d, kept)
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	r := record("o", task.Working, "")
	if err := d.Put(r); err == nil || errors.Is(err, task.ErrFull) {
		t.Errorf("putting a record where nothing can be written: %v", err)
	}
	want := []string{task.ErrUnknown.Error(), task.ErrUnknown.Error()}
	if diff := cmp.Diff(want, []string{get(d, r.ID), get(d, kept.ID)}); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// TestDirKeepsWhatABoundWouldRefuse lowers the bounds between two processes.
func TestDirKeepsWhatABoundWouldRefuse(t *testing.T) {
	path := t.TempDir()
	d := open(t, path, nil)
	a, b := record("o", task.Completed, `{}`), record("o", task.Completed, `{}`)
	put(t, d, a, b)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = open(t, path, &task.Options{MaxRecords: 1})
	if diff := cmp.Diff([]string{text(a), text(b)}, []string{get(d, a.ID), get(d, b.ID)}); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if err := d.Put(record("o", task.Working, "")); !errors.Is(err, task.ErrFull) {
		t.Errorf("one record more: %v, want ErrFull", err)
	}
}

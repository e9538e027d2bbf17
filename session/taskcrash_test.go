package session_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/task"
)

// crashDirectory is the variable that makes a process of this test binary a
// server that is to be killed; its value is the directory of the tasks.
const crashDirectory = "CLOUDG_TEST_TASK_DIRECTORY"

// crashWorkers is how many clients of such a server have a task at one time.
const crashWorkers = 4

// crashResult is what a task of such a server returns for its client's text.
func crashResult(text string) string { return text + strings.Repeat(".", 20_000) }

// TestCrashingServer is the server of TestTasksSurviveKills. It says what its
// clients know: "begun" for a task that was created, "ended" for a result that
// was read.
func TestCrashingServer(t *testing.T) {
	path := os.Getenv(crashDirectory)
	if path == "" {
		t.Skip("this is a part of TestTasksSurviveKills")
	}
	dir, err := task.OpenDir(path, &task.Options{MaxRecords: 1 << 20, MaxPerOwner: 1 << 20, MaxBytes: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	job := may("job", registry.TaskAlways, func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
		if err := wait(ctx, time.Duration(rand.IntN(2000))*time.Microsecond); err != nil {
			return nil, err
		}
		return registry.TextResult(crashResult(string(call.Arguments))), nil
	})
	s := taskFixture{options: session.TaskOptions{Store: dir}}.start(t, job)
	s.unjudged = true
	var out sync.Mutex
	say := func(what, id, text string) {
		out.Lock()
		defer out.Unlock()
		fmt.Fprintf(os.Stdout, "%s %s %s\n", what, id, text)
	}
	var wg sync.WaitGroup
	for w := range crashWorkers {
		wg.Go(func() {
			c := s.client()
			for n := range 100_000 { // until somebody kills the process
				text := fmt.Sprintf(`{"n":"%d-%d"}`, w, n)
				id := c.begin("job", text)
				say("begun", id, text)
				for !strings.HasPrefix(c.get(id).result, `{"resultType":"complete","taskId":"`+id+`","status":"completed"`) {
					<-time.After(200 * time.Microsecond)
				}
				say("ended", id, text)
			}
		})
	}
	wg.Wait()
}

// crashTest is what is known of the tasks of servers that were killed.
type crashTest struct {
	t        *testing.T
	path     string
	begun    map[string]string // the client's text by id
	ended    map[string]bool
	settled  map[string]string // the record after the restart, by id
	unheard  int               // tasks of which no client had heard
	writing  int               // kills in the middle of a write
	kills    int
	lost     int // tasks that ran when their server was killed
	finished int
}

// TestTasksSurviveKills kills a server with SIGKILL at random moments while
// tasks run and are written. Whatever a client has heard of is there afterwards,
// with its result if it had one, and once.
func TestTasksSurviveKills(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGKILL here")
	}
	rounds, perDirectory := 100, 10
	switch {
	case os.Getenv("CI") == "true":
		rounds = 500
	case testing.Short():
		rounds = 20
	}
	c := &crashTest{t: t, begun: make(map[string]string), ended: make(map[string]bool), settled: make(map[string]string)}
	for round := range rounds {
		if round%perDirectory == 0 {
			c.path = filepath.Join(t.TempDir(), fmt.Sprint("tasks", round))
			clear(c.settled)
			clear(c.begun)
			clear(c.ended)
		}
		c.killOne()
		c.check()
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
		if round%perDirectory == perDirectory-1 {
			if err := os.RemoveAll(c.path); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d kills, %d of them in the middle of a write; %d tasks finished, %d interrupted, of which clients had not heard of %d", c.kills, c.writing, c.finished, c.lost, c.unheard)
}

// killOne starts a server and kills it after it has said a random number of
// things, and a random time.
func (c *crashTest) killOne() {
	c.t.Helper()
	self, err := os.Executable()
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.CommandContext(c.t.Context(), self, "-test.run=^TestCrashingServer$")
	cmd.Env = append(os.Environ(), crashDirectory+"="+c.path)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	for range rand.IntN(16) {
		c.hear(lines)
	}
	<-time.After(time.Duration(rand.IntN(3000)) * time.Microsecond)
	if err := cmd.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	for c.hear(lines) { // what it said until then is true
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
		c.t.Errorf("the server was not killed but ended: %v", err)
	}
	c.kills++
}

// hear reads one line of a server. It reports false at the end.
func (c *crashTest) hear(lines *bufio.Reader) bool {
	line, err := lines.ReadString('\n')
	if err != nil {
		if !errors.Is(err, io.EOF) {
			c.t.Error(err)
		}
		return false
	}
	fields := strings.Fields(line)
	if len(fields) != 3 {
		c.t.Errorf("the server said %q", line)
		return false
	}
	switch id := fields[1]; fields[0] {
	case "begun":
		if c.begun[id] != "" || c.settled[id] != "" {
			c.t.Errorf("the id %s was given to two tasks", id)
		}
		c.begun[id] = fields[2]
	case "ended":
		c.ended[id] = true
	default:
		c.t.Errorf("the server said %q", line)
	}
	return true
}

// check opens the directory as the next server would, and compares what is there
// with what clients know.
func (c *crashTest) check() {
	c.t.Helper()
	if temps, err := filepath.Glob(filepath.Join(c.path, "*.tmp")); err != nil {
		c.t.Fatal(err)
	} else if len(temps) > 0 {
		c.writing++
	}
	dir, err := task.OpenDir(c.path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	defer dir.Close()
	files, err := filepath.Glob(filepath.Join(c.path, "*.*"))
	if err != nil {
		c.t.Fatal(err)
	}
	unheard := 0
	found := make(map[string]bool)
	for _, f := range files {
		id, ok := strings.CutSuffix(filepath.Base(f), ".json")
		if !ok {
			c.t.Errorf("%s was left behind", f)
			continue
		}
		found[id] = true
		if c.begun[id] == "" && c.settled[id] == "" {
			unheard++
		}
		c.checkOne(dir, id)
	}
	if unheard > crashWorkers {
		c.t.Errorf("clients have not heard of %d tasks, of which there were %d at one time", unheard, crashWorkers)
	}
	c.unheard += unheard
	for id := range c.begun {
		if !found[id] {
			c.t.Errorf("task %s is lost", id)
		}
	}
}

// checkOne checks one task after a restart.
func (c *crashTest) checkOne(dir *task.Dir, id string) {
	c.t.Helper()
	r, err := dir.Get(id)
	if err != nil {
		c.t.Errorf("task %s: %v", id, err)
		return
	}
	now := string(r.Append(nil))
	if before := c.settled[id]; before != "" {
		if now != before {
			c.t.Errorf("task %s changed although it was over", id)
		}
		return
	}
	c.settled[id] = now
	text, heard := c.begun[id]
	switch {
	case r.Status == task.Completed:
		c.finished++
		if want := registry.TextResult(crashResult(text)).AppendMembers([]byte(`{"resultType":"complete",`), protocol.V20260728); heard && string(r.Detail) != string(want)+"}" {
			c.t.Errorf("task %s has not its result but %.100q", id, r.Detail)
		}
	case c.ended[id]:
		c.t.Errorf("task %s had ended and is now %s", id, r.Status)
	case r.Status == task.Failed && r.Message == task.RestartText:
		c.lost++
	default:
		c.t.Errorf("task %s is %s: %s", id, r.Status, r.Message)
	}
}

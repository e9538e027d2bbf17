package integration_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the server answers into the transcripts")

// TestTranscripts replays the conversations in testdata, one per section of the
// specification. A transcript has lines of these kinds:
//
//	# text              a comment
//	$ everything ARGS   how the server is started, the first line
//	-> message          what the client sends
//	->                  the client closes the server's input
//	<- message          what the server answers, in this order and nothing else
//
// In what the server answers, * stands for any text without a quote. So does
// ${name}, and what it stood for is put in its place in what the client sends
// later.
//
// With -update the answers are replaced by what the server says. What comes
// without having been asked for must be announced by a line "<- *" for each.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.transcript"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts were found: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".transcript"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
			args, ok := strings.CutPrefix(lines[0], "$ everything")
			if !ok {
				t.Fatalf("%s does not begin with $ everything", file)
			}
			r := replay{server: start(t, strings.Fields(args)...), captured: make(map[string]string)}
			for i := 0; i < len(lines); {
				i = r.block(lines, i, fmt.Sprintf("%s:%d", file, i+1))
			}
			r.end(file)
			if *update {
				if err := os.WriteFile(file, []byte(strings.Join(r.out, "\n")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// replay plays a transcript.
type replay struct {
	*server
	seen     int // lines of the server that were matched
	captured map[string]string
	out      []string
	ended    bool
}

// block plays what the client sends next and what the server answers to it. It
// returns where the next block begins.
func (r *replay) block(lines []string, i int, where string) int {
	for ; i < len(lines) && !strings.HasPrefix(lines[i], "<-"); i++ {
		r.out = append(r.out, lines[i])
		message, isSent := strings.CutPrefix(lines[i], "->")
		switch message = strings.TrimSpace(message); {
		case !isSent:
		case message == "":
			r.ended = true
			r.stdin.Close()
		default:
			for name, value := range r.captured {
				message = strings.ReplaceAll(message, "${"+name+"}", value)
			}
			r.send(message)
		}
	}
	first := i
	for ; i < len(lines) && strings.HasPrefix(lines[i], "<-"); i++ {
	}
	if *update {
		r.record(i - first)
		return i
	}
	for _, line := range lines[first:i] {
		r.expect(strings.TrimPrefix(line, "<- "), where)
	}
	return i
}

// next waits for the next frame.
func (r *replay) next(what string) string {
	r.t.Helper()
	n := r.seen
	r.seen++
	return r.await(what, func(frames []*frame) *frame {
		left := n
		for _, f := range frames {
			if f.line != "" {
				if left--; left < 0 {
					return f
				}
			}
		}
		return nil
	}).line
}

// lines returns what the server wrote so far.
func (r *replay) lines() []*frame { return r.all(func(f *frame) bool { return f.line != "" }) }

// expect matches the next frame against a line.
func (r *replay) expect(want, where string) {
	r.t.Helper()
	pattern := regexp.QuoteMeta(want)
	pattern = strings.ReplaceAll(pattern, `\*`, `[^"]*`)
	pattern = regexp.MustCompile(`\\\$\\\{(\w+)\\\}`).ReplaceAllString(pattern, `(?P<$1>[^"]*)`)
	re, err := regexp.Compile(`\A` + pattern + `\z`)
	if err != nil {
		r.t.Fatalf("%s: %v", where, err)
	}
	got := r.next("the answer at " + where)
	found := re.FindStringSubmatch(got)
	if found == nil {
		r.t.Fatalf("%s: the server answered\n\t%s\nwant\n\t%s", where, got, want)
	}
	for i, name := range re.SubexpNames() {
		if name != "" {
			r.captured[name] = found[i]
		}
	}
}

var (
	incident = regexp.MustCompile(`incident [A-Z0-9]+`)
	cursor   = regexp.MustCompile(`"nextCursor":"([^"]+)"`)
)

// record writes what the server answers: all that was asked for, and as many
// frames as the transcript had, at least.
func (r *replay) record(least int) {
	for n := 0; n < least || len(r.waiting()) > 0; n++ {
		line := r.next("an answer to record")
		if found := cursor.FindStringSubmatch(line); found != nil {
			r.captured["cursor"] = found[1]
		}
		line = incident.ReplaceAllString(line, "incident *")
		r.out = append(r.out, "<- "+cursor.ReplaceAllString(line, `"nextCursor":"$${cursor}"`))
	}
}

// waiting returns the requests that an answer is due to and has not been read.
func (r *replay) waiting() []string {
	var due []string
	for _, open := range r.checker.Unanswered() {
		if r.ended || !strings.HasSuffix(open, "subscriptions/listen") {
			due = append(due, open)
		}
	}
	if n := len(r.lines()); len(due) == 0 && n > r.seen {
		due = append(due, "a line that is there already")
	}
	return due
}

// end ends the server, which must have nothing more to say.
func (r *replay) end(file string) {
	if code := r.server.end(); code != 0 {
		r.t.Errorf("%s: exit code %d, want 0", file, code)
	}
	for _, f := range r.lines()[r.seen:] {
		r.t.Errorf("%s: the server said at the end\n\t%s", file, f.line)
	}
}

package files_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/catalog/files"
)

// numbered writes the lines from 1 to n, with some replaced.
func numbered(n int, replaced map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if line, ok := replaced[i]; ok {
			b.WriteString(line)
			continue
		}
		fmt.Fprintf(&b, "%d\n", i)
	}
	return b.String()
}

func TestUnifiedDiff(t *testing.T) {
	tests := []struct {
		name     string
		old, new string
		want     string
	}{
		{"equal", "a\n", "a\n", ""},
		{"from nothing", "", "a\nb\n", "--- a/f\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"to nothing", "a\n", "", "--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-a\n"},
		{"one line", "a\nb\nc\n", "a\nX\nc\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+X\n c\n"},
		{"newline at the end", "a\nb", "a\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		{"far down", numbered(20, nil), numbered(20, map[int]string{10: "ten\n"}),
			"--- a/f\n+++ b/f\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n"},
		{"two hunks", numbered(20, nil), numbered(20, map[int]string{2: "", 15: "15\nnew\n"}),
			"--- a/f\n+++ b/f\n@@ -1,5 +1,4 @@\n 1\n-2\n 3\n 4\n 5\n@@ -13,6 +12,7 @@\n 13\n 14\n 15\n+new\n 16\n 17\n 18\n"},
		{"touching hunks are one", numbered(9, nil), numbered(9, map[int]string{1: "", 8: ""}),
			"--- a/f\n+++ b/f\n@@ -1,9 +1,7 @@\n-1\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n 9\n"},
		{"repeated lines", "x\nx\nx\n", "x\nx\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,2 @@\n x\n x\n-x\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, truncated := files.UnifiedDiff("f", tt.old, tt.new, 1<<20)
			equal(t, tt.want, got)
			equal(t, false, truncated)
		})
	}
}

func TestUnifiedDiff_bounds(t *testing.T) {
	old, new := numbered(100, nil), numbered(100, map[int]string{10: "x\n", 90: "y\n"})
	whole, _ := files.UnifiedDiff("f", old, new, 1<<20)
	got, truncated := files.UnifiedDiff("f", old, new, len(whole)-1)
	if !truncated || !strings.HasPrefix(whole, got) || !strings.HasSuffix(got, " 13\n") {
		t.Errorf("truncated %v: %q", truncated, got)
	}
	if got, truncated := files.UnifiedDiff("f", strings.Repeat("a\n", 200_000), strings.Repeat("b\n", 200_000), 1<<20); got != "" || !truncated {
		t.Errorf("too many lines: %d bytes, truncated %v", len(got), truncated)
	}
	// More edits than are searched for: one block, which still applies.
	before, after := numbered(3000, nil), strings.ReplaceAll(numbered(3000, nil), "\n", "x\n")
	got, _ = files.UnifiedDiff("f", before, after, 1<<20)
	equal(t, after, apply(t, before, got))
}

// apply is a strict reader of unified diffs: every context line and removed line must be where the diff says.
func apply(t *testing.T, old, diff string) string {
	t.Helper()
	if diff == "" {
		return old
	}
	source := strings.SplitAfter(old, "\n")
	var out strings.Builder
	at := 0
	lines := strings.SplitAfter(diff, "\n")[2:]
	for i, line := range lines {
		if line == "" || line[0] == '\\' {
			continue
		}
		if line[0] == '@' {
			start := spanStart(t, line)
			for ; at < start; at++ {
				out.WriteString(source[at])
			}
			continue
		}
		body := line[1:]
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], `\`) {
			body = strings.TrimSuffix(body, "\n")
		}
		if line[0] != '+' {
			if at >= len(source) || source[at] != body {
				t.Fatalf("line %d of the diff, %q, does not fit", i+3, line)
			}
			at++
		}
		if line[0] != '-' {
			out.WriteString(body)
		}
	}
	return out.String() + strings.Join(source[at:], "")
}

// spanStart gives how many lines of the old text come before a hunk.
func spanStart(t *testing.T, header string) int {
	t.Helper()
	span, _, _ := strings.Cut(strings.TrimPrefix(header, "@@ -"), " ")
	line, count, _ := strings.Cut(span, ",")
	n, err := strconv.Atoi(line)
	must(t, err)
	if count == "0" {
		return n
	}
	return n - 1
}

// FuzzUnifiedDiff: applying the diff gives the new text, and the other way round.
func FuzzUnifiedDiff(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\nd")
	f.Add("", "x")
	f.Add("x\nx\nx\ny\n", "x\ny\nx\n")
	f.Add(numbered(30, nil), numbered(30, map[int]string{3: "", 20: "q\nr\n"}))
	f.Add("a\n\n\n\nb", "\n\na\nb\n\n")
	f.Fuzz(func(t *testing.T, old, new string) {
		diff, truncated := files.UnifiedDiff("f", old, new, 1<<20)
		if truncated {
			t.Skip("beyond the bound")
		}
		if (diff == "") != (old == new) {
			t.Fatalf("diff %q of %q and %q", diff, old, new)
		}
		if got := apply(t, old, diff); got != new {
			t.Fatalf("applying\n%s\nto %q gives %q, want %q", diff, old, got, new)
		}
	})
}

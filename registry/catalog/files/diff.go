package files

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// diffContext is how many equal lines surround a change.
	diffContext = 3
	// maxDiffEdits bounds the search for the shortest script, and maxDiffSteps the comparisons that it makes. Texts that
	// differ more are shown as one replaced block, which is a valid diff too.
	maxDiffEdits = 1000
	maxDiffSteps = 5_000_000
	// maxDiffLines is how long the part of a text that differs may be; beyond it there is no diff.
	maxDiffLines = 100_000
)

// unifiedDiff describes how to get from old to new, in the unified format with three lines of context. It is empty if they
// are equal. A diff of more than bound bytes ends after the last hunk that fits; truncated says so.
func unifiedDiff(name, old, new string, bound int) (diff string, truncated bool) {
	if old == new {
		return "", false
	}
	above, old, new := differingPart(old, new)
	if max(strings.Count(old, "\n"), strings.Count(new, "\n")) > maxDiffLines {
		return "", true
	}
	a, b := splitLines(old), splitLines(new)
	name = oneLine(strings.TrimPrefix(name, "/"))
	out := diffWriter{above: above, bound: bound}
	fmt.Fprintf(&out.text, "--- a/%s\n+++ b/%s\n", name, name)
	for group := range hunks(shortestScript(a, b)) {
		whole := out.text.Len()
		if out.hunk(group, a, b); out.text.Len() > bound {
			return out.text.String()[:whole], true
		}
	}
	return out.text.String(), false
}

// differingPart sets aside the lines that both texts begin and end with, all but the ones that are shown as context. A long
// text in which little changes is so never split into lines. above is the number of lines before the part.
func differingPart(old, new string) (above int, oldPart, newPart string) {
	shorter := min(len(old), len(new))
	head := 0
	for head < shorter && old[head] == new[head] {
		head++
	}
	head = strings.LastIndexByte(old[:head], '\n') + 1
	tail := 0
	for tail < shorter-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	if head+tail < max(len(old), len(new)) {
		tail = afterLines(old[len(old)-tail:], 1)
	}
	tail = afterLines(old[len(old)-tail:], diffContext)
	for i := 0; i < diffContext && head > 0; i++ {
		head = strings.LastIndexByte(old[:head-1], '\n') + 1
	}
	return strings.Count(old[:head], "\n"), old[head : len(old)-tail], new[head : len(new)-tail]
}

// afterLines is how much of s is left after n lines.
func afterLines(s string, n int) int {
	for ; n > 0; n-- {
		end := strings.IndexByte(s, '\n')
		if end < 0 {
			return 0
		}
		s = s[end+1:]
	}
	return len(s)
}

// splitLines keeps the line ends, so that a missing one at the end of the text is a difference.
func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// change says that the lines a[fromA:toA] are replaced by b[fromB:toB].
type change struct {
	fromA, toA, fromB, toB int
}

// shortestScript is the greedy algorithm of Myers. For a growing number of edits it notes how far each diagonal of the
// grid of both texts gets, and then walks back through the notes.
func shortestScript(a, b []string) []change {
	most := min(maxDiffEdits, len(a)+len(b))
	middle := most + 1
	reach := make([]int32, 2*middle+1) // by diagonal, shifted by middle: how many lines of a are used up
	var notes [][]int32
	steps := 0
	for edits := 0; edits <= most && steps <= maxDiffSteps; edits++ {
		notes = append(notes, slices.Clone(reach[middle-edits-1:middle+edits+2]))
		for k := -edits; k <= edits; k += 2 {
			x := int(reach[middle+k-1]) + 1
			if comesFromAbove(k, edits, reach[middle+k-1], reach[middle+k+1]) {
				x = int(reach[middle+k+1])
			}
			for y := x - k; x < len(a) && y < len(b) && a[x] == b[y]; y++ {
				x++
				steps++
			}
			steps++
			reach[middle+k] = int32(x)
			if x >= len(a) && x-k >= len(b) {
				return walkBack(notes, len(a), len(b))
			}
		}
	}
	return []change{{toA: len(a), toB: len(b)}}
}

// comesFromAbove decides which edit leads to diagonal k: an inserted line from the diagonal above it, or a deleted one from
// the diagonal below. The one that gets further is better.
func comesFromAbove(k, edits int, below, above int32) bool {
	return k == -edits || k != edits && below < above
}

// walkBack finds the edits that led to the end of both texts, and joins the ones that touch.
func walkBack(notes [][]int32, x, y int) []change {
	var list []change
	for edits := len(notes) - 1; edits > 0; edits-- {
		note, k := notes[edits], x-y
		at := k + edits + 1 // where diagonal k is in the note
		from := k - 1
		if comesFromAbove(k, edits, note[at-1], note[at+1]) {
			from = k + 1
		}
		fromX := int(note[from+edits+1])
		fromY := fromX - from
		// What lies between the edit's end and (x, y) is equal.
		edit := change{fromA: fromX, toA: fromX, fromB: fromY, toB: fromY}
		if from > k {
			edit.toB++
		} else {
			edit.toA++
		}
		if n := len(list); n > 0 && list[n-1].fromA == edit.toA && list[n-1].fromB == edit.toB {
			list[n-1].fromA, list[n-1].fromB = edit.fromA, edit.fromB
		} else {
			list = append(list, edit)
		}
		x, y = fromX, fromY
	}
	slices.Reverse(list)
	return list
}

// hunks groups changes whose context would touch.
func hunks(list []change) func(yield func([]change) bool) {
	return func(yield func([]change) bool) {
		for len(list) > 0 {
			n := 1
			for n < len(list) && list[n].fromA-list[n-1].toA <= 2*diffContext {
				n++
			}
			if !yield(list[:n]) {
				return
			}
			list = list[n:]
		}
	}
}

// diffWriter writes hunks.
type diffWriter struct {
	text  strings.Builder
	above int
	bound int
}

// hunk writes one group of changes with its context. It gives up beyond the bound.
func (w *diffWriter) hunk(group []change, a, b []string) {
	first, last := group[0], group[len(group)-1]
	lead := min(diffContext, first.fromA)
	trail := min(diffContext, len(a)-last.toA)
	fmt.Fprintf(&w.text, "@@ -%s +%s @@\n",
		w.span(first.fromA-lead, last.toA+trail), w.span(first.fromB-lead, last.toB+trail))
	at := first.fromA - lead
	for _, c := range group {
		w.lines(" ", a[at:c.fromA])
		w.lines("-", a[c.fromA:c.toA])
		w.lines("+", b[c.fromB:c.toB])
		at = c.toA
	}
	w.lines(" ", a[at:at+trail])
}

// span writes a range of lines; an empty one is named by the line before it.
func (w *diffWriter) span(from, to int) string {
	count := to - from
	line := w.above + from + 1
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", line-1)
	case 1:
		return fmt.Sprint(line)
	}
	return fmt.Sprintf("%d,%d", line, count)
}

func (w *diffWriter) lines(mark string, lines []string) {
	for _, line := range lines {
		if w.text.Len() > w.bound {
			return
		}
		w.text.WriteString(mark)
		w.text.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			w.text.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

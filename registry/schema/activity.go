package schema

import (
	"regexp/syntax"
	"slices"
	"unicode"
)

// maxExplored bounds the steps of looking at what a program can do.
const maxExplored = 50_000

// activity returns how many threads of a program can be alive at once, which is
// what matching takes per character: one, for the many patterns in which the
// next character always decides. It explores the sets of threads that any text
// can lead to; if there are too many of them, the answer is the size of the
// program.
func activity(prog *syntax.Prog) int {
	x := explorer{prog: prog, runes: representatives(prog), seen: map[string]bool{}, left: maxExplored}
	x.start = x.closure([]uint32{uint32(prog.Start)})
	x.visit(x.start)
	for len(x.todo) > 0 && x.left > 0 {
		set := x.todo[len(x.todo)-1]
		x.todo = x.todo[:len(x.todo)-1]
		for _, r := range x.runes {
			x.visit(x.step(set, r))
		}
	}
	if x.left <= 0 {
		return len(prog.Inst)
	}
	return max(x.most, 1)
}

// An explorer walks through the sets of threads of a program.
type explorer struct {
	prog  *syntax.Prog
	runes []rune // one of each kind that the program can tell apart
	start []uint32
	seen  map[string]bool
	todo  [][]uint32
	most  int
	left  int // of maxExplored
}

// visit notes a set of threads.
func (x *explorer) visit(set []uint32) {
	key := make([]byte, 0, 4*len(set))
	for _, pc := range set {
		key = append(key, byte(pc), byte(pc>>8), byte(pc>>16), byte(pc>>24))
	}
	if x.seen[string(key)] {
		return
	}
	x.seen[string(key)] = true
	x.most = max(x.most, len(set))
	x.todo = append(x.todo, set)
}

// step returns the threads after a character. A match may start anywhere, so
// those of the start come along.
func (x *explorer) step(set []uint32, r rune) []uint32 {
	next := slices.Clone(x.start)
	anchored := x.prog.StartCond()&syntax.EmptyBeginText != 0
	if anchored {
		next = next[:0]
	}
	for _, pc := range set {
		x.left--
		if i := &x.prog.Inst[pc]; i.MatchRunePos(r) >= 0 {
			next = append(next, i.Out)
		}
	}
	return x.closure(next)
}

// closure follows the instructions that take no character.
func (x *explorer) closure(pcs []uint32) []uint32 {
	var set []uint32
	seen := map[uint32]bool{}
	for len(pcs) > 0 && x.left > 0 {
		pc := pcs[len(pcs)-1]
		pcs = pcs[:len(pcs)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		x.left--
		switch i := &x.prog.Inst[pc]; i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			pcs = append(pcs, i.Out, i.Arg)
		case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
			pcs = append(pcs, i.Out)
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			set = append(set, pc)
		}
	}
	slices.Sort(set)
	return set
}

// representatives lists a character from each range between the borders of the
// classes of a program.
func representatives(prog *syntax.Prog) []rune {
	runes := []rune{0, '\n', '\n' + 1}
	for i := range prog.Inst {
		inst := &prog.Inst[i]
		if inst.Op != syntax.InstRune && inst.Op != syntax.InstRune1 {
			continue
		}
		for j, r := range inst.Rune {
			if len(inst.Rune) == 1 {
				runes = append(runes, r, r+1, unicode.SimpleFold(r))
				continue
			}
			runes = append(runes, r+rune(j%2)) // a range ends before what follows it
		}
		if len(runes) > maxExplored {
			break
		}
	}
	slices.Sort(runes)
	return slices.Compact(runes)
}

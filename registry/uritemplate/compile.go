package uritemplate

// A step is one thing that a URI must show in turn: literal text, a value, or optional parameters.
type step struct {
	kind stepKind
	text string   // stepLiteral: in normal form
	set  byteSet  // stepValue: the characters the value is written with
	op   operator // stepParams
	lo   int      // stepValue, stepParams: the first variable
	hi   int      // stepParams: behind the last variable
}

type stepKind uint8

const (
	stepLiteral stepKind = iota
	stepValue
	stepParams
)

// compile turns the pieces into steps. It refuses what leaves open where a value ends.
func (t *Template) compile() error {
	for _, p := range t.pieces {
		if reason := t.addPiece(p); reason != "" {
			return t.refuse(p.offset, p.end, reason)
		}
	}
	return nil
}

func (t *Template) addPiece(p piece) (reason string) {
	switch {
	case p.lo == p.hi:
		text, _ := normalise(p.literal) // parsed literals always have a normal form
		return t.addLiteral(text)
	case p.op.named:
		t.addParams(p)
		return ""
	}
	mark := p.op.first
	for v := p.lo; v < p.hi; v++ {
		if reason := t.addLiteral(mark); reason != "" {
			return reason
		}
		if reason := t.addValue(v, p.op); reason != "" {
			return reason
		}
		mark = p.op.sep
	}
	return ""
}

// addLiteral adds text, to the step before it where that is literal too.
func (t *Template) addLiteral(text string) (reason string) {
	if text == "" {
		return ""
	}
	t.literals += len(text)
	if last := t.lastStep(); last != nil && last.kind == stepLiteral {
		last.text += text
		return ""
	}
	if t.openTo(text[0]) {
		return "this text could be a part of the optional parameters before it"
	}
	t.steps = append(t.steps, step{kind: stepLiteral, text: text})
	return ""
}

// openTo reports whether c could go on with the optional parameters that end here. All of them in a row are asked,
// because the later ones may be absent.
func (t *Template) openTo(c byte) bool {
	for i := len(t.steps) - 1; i >= 0 && t.steps[i].kind == stepParams; i-- {
		op := t.steps[i].op
		if op.chars().with('=').with(op.first[0]).with(op.sep[0]).has(c) {
			return true
		}
	}
	return false
}

func (t *Template) addValue(v int, op operator) (reason string) {
	if last := t.lastStep(); last != nil && last.kind != stepLiteral {
		return "nothing separates this value from the expression before it, so it cannot be matched"
	}
	t.steps = append(t.steps, step{kind: stepValue, set: op.chars(), lo: v})
	return ""
}

// addParams adds optional parameters. No value before them may hold the character that starts them: such a value would
// swallow them, as it takes what it can and they may be absent.
func (t *Template) addParams(p piece) {
	for i := range t.steps {
		t.steps[i].set = t.steps[i].set.without(p.op.first[0])
	}
	t.steps = append(t.steps, step{kind: stepParams, op: p.op, lo: p.lo, hi: p.hi})
}

func (t *Template) lastStep() *step {
	if len(t.steps) == 0 {
		return nil
	}
	return &t.steps[len(t.steps)-1]
}

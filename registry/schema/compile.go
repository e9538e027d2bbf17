package schema

import (
	"errors"
	"fmt"
	"slices"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// A compiler turns schema objects into nodes.
type compiler struct {
	*loader
	hasher  *hasher
	nodes   map[*byte]*node // by the first byte of the schema, so that recursion ends
	order   []*node         // in the order in which they were met
	dynamic map[string]bool // the names that a $dynamicRef looks for
}

func newCompiler(doc []byte, opts Options, h *hasher) (*compiler, *resource, error) {
	c := &compiler{loader: newLoader(opts), hasher: h, nodes: map[*byte]*node{}, dynamic: map[string]bool{}}
	root, err := c.load(doc, opts.BaseURI, true)
	return c, root, err
}

// compile compiles a resource and all that it leads to.
func (c *compiler) compile(root *resource) (*node, error) {
	n, err := c.node(root.root, root)
	if err != nil {
		return nil, err
	}
	if err := c.compileDynamic(); err != nil {
		return nil, err
	}
	if err := c.refuseLoops(); err != nil {
		return nil, err
	}
	for _, n := range c.order {
		setLink(n)
	}
	return n, nil
}

// compileDynamic compiles what a $dynamicRef may lead to: the dynamic anchors
// of all resources that are in use. Doing so may bring more into use.
func (c *compiler) compileDynamic() error {
	if len(c.dynamic) == 0 {
		return nil
	}
	for again := true; again; {
		again = false
		for _, r := range c.roots {
			for name, raw := range r.dynamic {
				if !r.used || !c.dynamic[name] || r.nodes[name] != nil {
					continue
				}
				n, err := c.node(raw, r)
				if err != nil {
					return err
				}
				r.nodes[name] = n
				again = true
			}
		}
	}
	return nil
}

// setLink lets a node that is nothing but a reference, as nearly all with one
// are, point to where the references end.
func setLink(n *node) {
	end := n
	for end.link == nil && end.isLink() {
		end = end.inner.ref
	}
	if end.link != nil {
		end = end.link
	}
	// The whole way is done at once, so that a long one is walked only once.
	for n != end && n.link == nil {
		n.link = end
		n = n.inner.ref
	}
}

func (n *node) isLink() bool {
	a := n.inner
	return a != nil && a.ref != nil && a.onlyRef() && n.scope == nil && !n.never && n.types == 0 &&
		n.values == nil && n.number == nil && n.text == nil && n.array == nil && n.object == nil && n.unseen == nil
}

func (a *applicators) onlyRef() bool {
	return a.dynamic == nil && a.allOf == nil && a.anyOf == nil && a.oneOf == nil && a.not == nil && a.condition == nil
}

// node compiles one schema of a resource, unless that was done before.
func (c *compiler) node(raw []byte, r *resource) (*node, error) {
	if inner, ok := c.roots[&raw[0]]; ok {
		r = inner
	}
	if n, ok := c.nodes[&raw[0]]; ok {
		return n, nil
	}
	if err := c.count(1); err != nil {
		return nil, c.fault(r, raw, "", err)
	}
	if r.err != nil {
		return nil, c.fault(r, raw, "$schema", r.err)
	}
	r.used = true
	n := &node{raw: raw, scope: r}
	c.nodes[&raw[0]] = n
	c.order = append(c.order, n)
	switch string(raw) {
	case "true":
		return n, nil
	case "false":
		n.never = true
		return n, nil
	}
	if raw[0] != '{' {
		return nil, c.fault(r, raw, "", fmt.Errorf("expected an object or a boolean, found %s", typeOf(raw[0])))
	}
	b := builder{compiler: c, resource: r, node: n, raw: raw}
	return n, b.build()
}

// errLoop is the fault of a schema that applies itself to the same value again.
var errLoop = errors.New("the schema leads back to itself without looking into the value")

// refuseLoops finds schemas whose evaluation would not end, and takes the note
// of the resource from the nodes if no reference is dynamic.
func (c *compiler) refuseLoops() error {
	var visit func(n *node) error
	visit = func(n *node) error {
		switch n.visit {
		case visiting:
			return c.fault(n.scope, n.raw, "$ref", errLoop)
		case visited:
			return nil
		}
		n.visit = visiting
		for _, next := range n.inPlace() {
			if err := visit(next); err != nil {
				return err
			}
		}
		n.visit = visited
		return nil
	}
	for _, n := range c.order {
		if err := visit(n); err != nil {
			return err
		}
	}
	if len(c.dynamic) == 0 {
		for _, n := range c.order {
			n.scope = nil
		}
	}
	return nil
}

// inPlace lists the subschemas that apply to the same value as the node.
func (n *node) inPlace() []*node {
	var list []*node
	add := func(nodes ...*node) {
		for _, n := range nodes {
			if n != nil {
				list = append(list, n)
			}
		}
	}
	if a := n.inner; a != nil {
		add(a.ref, a.not, a.condition, a.then, a.otherwise)
		list = slices.Concat(list, a.allOf, a.anyOf, a.oneOf)
		if a.dynamic != nil {
			add(a.dynamic.first)
		}
	}
	if n.object != nil {
		for _, d := range n.object.dependencies {
			add(d.node)
		}
	}
	return list
}

// A builder compiles the keywords of one schema object.
type builder struct {
	*compiler
	resource *resource
	node     *node
	raw      []byte

	condition, then, otherwise []byte // if, then, else
	items, additionalItems     []byte
	minContains, maxContains   []byte
	required                   []byte
	additional                 []byte
}

func (b *builder) fail(keyword string, err error) error {
	return b.fault(b.resource, b.raw, keyword, err)
}

// errRepeated is the fault of a schema object with two members of one name.
var errRepeated = errors.New("the keyword is there twice")

// build goes through the keywords in the order of the document, and then
// through those that depend on one another.
func (b *builder) build() error {
	d := b.resource.dialect
	if ref := jsonwire.Lookup(b.raw, "$ref"); d.draft7 && ref != nil {
		return b.reference("$ref", ref) // whatever stands beside it is ignored
	}
	var seen names
	for o := jsonwire.Members(b.raw); ; {
		name, value, ok := o.Next()
		if !ok {
			break
		}
		keyword := jsonwire.Unquote(name)
		if !seen.add(keyword) {
			return b.fail(keyword, errRepeated)
		}
		if err := b.keyword(keyword, value); err != nil {
			return err
		}
	}
	return b.finish()
}

// names is a set of names, of which there are few as a rule.
type names struct {
	few  []string
	many map[string]bool
}

// add adds a name and reports whether it is new.
func (n *names) add(name string) bool {
	if n.many != nil {
		if n.many[name] {
			return false
		}
		n.many[name] = true
		return true
	}
	if slices.Contains(n.few, name) {
		return false
	}
	if n.few = append(n.few, name); len(n.few) > 2*fewMembers {
		n.many = map[string]bool{}
		for _, name := range n.few {
			n.many[name] = true
		}
	}
	return true
}

// keyword compiles one keyword. Those without a meaning in the dialect are
// passed over, as the specification wants it.
func (b *builder) keyword(keyword string, value []byte) error {
	d := b.resource.dialect
	var err error
	var known bool
	if !d.draft7 {
		if known, err = b.coreKeyword(keyword, value); known {
			return err
		}
	}
	if d.has(vocabApplicator) {
		if known, err = b.applicatorKeyword(keyword, value); known {
			return err
		}
	}
	if d.has(vocabUnevaluated) {
		if known, err = b.unevaluatedKeyword(keyword, value); known {
			return err
		}
	}
	if d.has(vocabValidation) {
		if known, err = b.validationKeyword(keyword, value); known {
			return err
		}
	}
	if keyword == "format" && (b.opts.AssertFormat || d.has(vocabFormatAssertion)) {
		return b.format(value)
	}
	return nil
}

func (b *builder) coreKeyword(keyword string, value []byte) (bool, error) {
	switch keyword {
	case "$ref", "$dynamicRef":
		return true, b.reference(keyword, value)
	case "$id", "$schema", "$anchor", "$dynamicAnchor", "$comment":
		if value[0] != '"' {
			return true, b.expected(keyword, value, "a string")
		}
		return true, nil
	case "$defs":
		if value[0] != '{' {
			return true, b.expected(keyword, value, "an object")
		}
		return true, nil
	}
	return false, nil
}

func (b *builder) expected(keyword string, value []byte, what string) error {
	return b.fail(keyword, fmt.Errorf("expected %s, found %s", what, typeOf(value[0])))
}

// reference compiles $ref and $dynamicRef.
func (b *builder) reference(keyword string, value []byte) error {
	if value[0] != '"' {
		return b.expected(keyword, value, "a string")
	}
	raw, in, name, err := b.target(b.resource, jsonwire.Unquote(value))
	if err != nil {
		return b.fail(keyword, err)
	}
	n, err := b.compiler.node(raw, in)
	if err != nil {
		return err
	}
	if _, ok := in.dynamic[name]; ok && keyword == "$dynamicRef" {
		b.compiler.dynamic[name] = true
		b.inner().dynamic = &dynamicRef{name: name, first: n}
		return nil
	}
	if keyword == "$dynamicRef" && b.inner().ref != nil {
		b.inner().allOf = append(b.inner().allOf, n)
		return nil
	}
	b.inner().ref = n
	return nil
}

func (b *builder) inner() *applicators {
	if b.node.inner == nil {
		b.node.inner = &applicators{}
	}
	return b.node.inner
}

func (b *builder) array() *arrayRules {
	if b.node.array == nil {
		b.node.array = &arrayRules{maxItems: -1, maxContains: -1, minContains: 1}
	}
	return b.node.array
}

func (b *builder) text() *textRules {
	if b.node.text == nil {
		b.node.text = &textRules{maxLength: -1}
	}
	return b.node.text
}

func (b *builder) number() *numberRules {
	if b.node.number == nil {
		b.node.number = &numberRules{}
	}
	return b.node.number
}

func (b *builder) object() *objectRules {
	if b.node.object == nil {
		b.node.object = &objectRules{maxProperties: -1}
	}
	return b.node.object
}

func (b *builder) unseen() *unevaluated {
	if b.node.unseen == nil {
		b.node.unseen = &unevaluated{}
	}
	return b.node.unseen
}

// sub compiles a subschema.
func (b *builder) sub(raw []byte) (*node, error) { return b.compiler.node(raw, b.resource) }

// subs compiles an array of subschemas, which may not be empty.
func (b *builder) subs(keyword string, value []byte) ([]*node, error) {
	if value[0] != '[' {
		return nil, b.expected(keyword, value, "an array of schemas")
	}
	var list []*node
	for a := jsonwire.Elements(value); ; {
		raw, ok := a.Next()
		if !ok {
			break
		}
		n, err := b.sub(raw)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	if list == nil {
		return nil, b.fail(keyword, errors.New("expected at least one schema, found an empty array"))
	}
	return list, nil
}

func (b *builder) applicatorKeyword(keyword string, value []byte) (known bool, err error) {
	switch keyword {
	case "allOf":
		var list []*node
		list, err = b.subs(keyword, value)
		b.inner().allOf = append(b.inner().allOf, list...)
	case "anyOf":
		b.inner().anyOf, err = b.subs(keyword, value)
	case "oneOf":
		b.inner().oneOf, err = b.subs(keyword, value)
	case "not":
		b.inner().not, err = b.sub(value)
	case "if":
		b.condition = value
	case "then":
		b.then = value
	case "else":
		b.otherwise = value
	default:
		if known, err = b.objectApplicator(keyword, value); known {
			return true, err
		}
		return b.arrayApplicator(keyword, value)
	}
	return true, err
}

func (b *builder) objectApplicator(keyword string, value []byte) (known bool, err error) {
	switch keyword {
	case "properties":
		err = b.properties(value)
	case "patternProperties":
		err = b.patternProperties(value)
	case "additionalProperties":
		b.additional = value
	case "propertyNames":
		b.object().names, err = b.sub(value)
	case "dependentSchemas":
		if b.resource.dialect.draft7 {
			return false, nil
		}
		err = b.dependencies(keyword, value)
	case "dependencies":
		// Gone since draft 2019-09, but still widely written.
		err = b.dependencies(keyword, value)
	default:
		return false, nil
	}
	return true, err
}

func (b *builder) arrayApplicator(keyword string, value []byte) (known bool, err error) {
	d := b.resource.dialect
	switch keyword {
	case "items":
		b.items = value
	case "contains":
		b.array().contains, err = b.sub(value)
	case "additionalItems":
		b.additionalItems = value
	case "prefixItems":
		if d.draft7 {
			return false, nil
		}
		b.array().prefix, err = b.subs(keyword, value)
	default:
		return false, nil
	}
	return true, err
}

func (b *builder) unevaluatedKeyword(keyword string, value []byte) (known bool, err error) {
	switch keyword {
	case "unevaluatedProperties":
		b.unseen().properties, err = b.sub(value)
	case "unevaluatedItems":
		b.unseen().items, err = b.sub(value)
	default:
		return false, nil
	}
	return true, err
}

// finish compiles the keywords whose meaning depends on others.
func (b *builder) finish() error {
	steps := []func() error{b.finishItems, b.finishContains, b.finishCondition, b.finishRequired}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	if b.additional != nil {
		n, err := b.sub(b.additional)
		if err != nil {
			return err
		}
		b.object().additional = n
	}
	b.finishMembers()
	return nil
}

// finishItems compiles items, which in draft-07 is a tuple if it is an array.
func (b *builder) finishItems() (err error) {
	if b.items == nil {
		return b.checkSub(b.additionalItems)
	}
	if b.items[0] != '[' {
		b.array().items, err = b.sub(b.items)
		return err
	}
	if !b.resource.dialect.draft7 {
		return b.fail("items", errors.New("expected a schema, found an array: a tuple is written with prefixItems in draft 2020-12"))
	}
	if string(b.items) != "[]" {
		if b.array().prefix, err = b.subs("items", b.items); err != nil {
			return err
		}
	}
	if b.additionalItems != nil {
		b.array().items, err = b.sub(b.additionalItems)
	}
	return err
}

// checkSub compiles a subschema only to see whether it is one.
func (b *builder) checkSub(raw []byte) error {
	if raw == nil {
		return nil
	}
	_, err := b.sub(raw)
	return err
}

func (b *builder) finishContains() error {
	least, most := 1, -1
	var err error
	if b.minContains != nil {
		if least, err = b.length("minContains", b.minContains); err != nil {
			return err
		}
	}
	if b.maxContains != nil {
		if most, err = b.length("maxContains", b.maxContains); err != nil {
			return err
		}
	}
	if b.node.array != nil {
		b.node.array.minContains, b.node.array.maxContains = least, most
	}
	return nil
}

func (b *builder) finishCondition() (err error) {
	if b.condition == nil {
		return errors.Join(b.checkSub(b.then), b.checkSub(b.otherwise))
	}
	a := b.inner()
	if a.condition, err = b.sub(b.condition); err != nil {
		return err
	}
	if b.then != nil {
		if a.then, err = b.sub(b.then); err != nil {
			return err
		}
	}
	if b.otherwise != nil {
		a.otherwise, err = b.sub(b.otherwise)
	}
	return err
}

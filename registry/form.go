package registry

import (
	"slices"
	"strconv"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/protocol"
)

// Form is a flat form for [Elicitation], with the kinds of field that all
// clients can show (SEP-1034, SEP-1330).
type Form struct{ Fields []Field }

// Field is one field of a form.
type Field struct {
	Name        string
	Kind        FieldKind
	Title       string
	Description string
	Required    bool
	Default     []byte // raw JSON, or nil

	Format               string // of text: "email", "uri", "date" or "date-time"
	MinLength, MaxLength int    // of text; 0: none
	Minimum, Maximum     *float64
	Choices              []Choice // of FieldChoice and FieldChoices
	MinItems, MaxItems   int      // of FieldChoices; 0: none
	// EnumNames shows the titles of a FieldChoice in the older form, beside the
	// values. Clients that know nothing else are shown that in any case.
	EnumNames bool
}

// Choice is a value that a field can have. Without titles the values are shown.
type Choice struct{ Value, Title string }

// FieldKind is what a field holds.
type FieldKind uint8

// The kinds of field.
const (
	FieldText FieldKind = iota
	FieldNumber
	FieldInteger
	FieldBoolean
	FieldChoice  // one of Choices
	FieldChoices // some of Choices
)

// Append appends the form as a JSON schema, as the newest version wants it.
func (f *Form) Append(dst []byte) []byte {
	dst = append(dst, `{"type":"object","properties":{`...)
	var required []string
	for i := range f.Fields {
		field := &f.Fields[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonwire.AppendQuote(dst, field.Name)
		dst = append(dst, ':')
		dst = field.append(dst)
		if field.Required {
			required = append(required, field.Name)
		}
	}
	dst = append(dst, '}')
	if len(required) > 0 {
		dst = append(dst, `,"required":`...)
		dst = protocol.AppendStrings(dst, required)
	}
	return append(dst, '}')
}

// hasRichForms reports whether forms have defaults for every kind of field,
// choices with titles, and fields for several choices. They came with the modes
// of elicitation.
func hasRichForms(v protocol.Version) bool { return v.HasURLElicitation() }

// appendFor appends the form for a client that speaks the version. What an older
// one does not know is said in its way or left out; a field that is required and
// cannot be shown is a [*Failure].
func (f *Form) appendFor(dst []byte, v protocol.Version) ([]byte, error) {
	if hasRichForms(v) {
		return f.Append(dst), nil
	}
	plain := Form{Fields: make([]Field, 0, len(f.Fields))}
	for _, field := range f.Fields {
		if field.Kind == FieldChoices {
			if field.Required {
				return dst, Failf("the form cannot be shown to a client that speaks %s: it has a field with several choices", v)
			}
			continue
		}
		if field.Kind != FieldBoolean {
			field.Default = nil
		}
		field.EnumNames = true
		plain.Fields = append(plain.Fields, field)
	}
	return plain.Append(dst), nil
}

func (f *Field) append(dst []byte) []byte {
	dst = append(dst, `{"type":"`...)
	switch f.Kind {
	case FieldNumber:
		dst = append(dst, "number"...)
	case FieldInteger:
		dst = append(dst, "integer"...)
	case FieldBoolean:
		dst = append(dst, "boolean"...)
	case FieldChoices:
		dst = append(dst, "array"...)
	default:
		dst = append(dst, "string"...)
	}
	dst = append(dst, '"')
	dst = protocol.AppendText(dst, "title", f.Title)
	dst = protocol.AppendText(dst, "description", f.Description)
	dst = f.appendLimits(dst)
	switch f.Kind {
	case FieldChoice:
		dst = f.appendChoices(dst, "oneOf")
	case FieldChoices:
		dst = append(dst, `,"items":{`...)
		start := len(dst)
		if !f.titled() {
			dst = append(dst, `,"type":"string"`...)
		}
		dst = f.appendChoices(dst, "anyOf")
		dst = append(dst[:start], dst[start+1:]...) // the first comma
		dst = append(dst, '}')
	}
	if f.Default != nil {
		dst = jsonwire.AppendLine(append(dst, `,"default":`...), f.Default)
	}
	return append(dst, '}')
}

func (f *Field) appendLimits(dst []byte) []byte {
	dst = protocol.AppendText(dst, "format", f.Format)
	for _, limit := range []struct {
		name string
		n    int
	}{{"minLength", f.MinLength}, {"maxLength", f.MaxLength}, {"minItems", f.MinItems}, {"maxItems", f.MaxItems}} {
		if limit.n > 0 {
			dst = append(append(append(dst, ',', '"'), limit.name...), '"', ':')
			dst = strconv.AppendInt(dst, int64(limit.n), 10)
		}
	}
	if f.Minimum != nil {
		dst = jsonwire.AppendFloat(append(dst, `,"minimum":`...), *f.Minimum)
	}
	if f.Maximum != nil {
		dst = jsonwire.AppendFloat(append(dst, `,"maximum":`...), *f.Maximum)
	}
	return dst
}

// hasTitles reports whether a choice has a title.
func (f *Field) hasTitles() bool {
	return slices.ContainsFunc(f.Choices, func(c Choice) bool { return c.Title != "" })
}

// listsNames reports whether titles are shown in the older form, which exists
// for a single choice only.
func (f *Field) listsNames() bool { return f.EnumNames && f.Kind == FieldChoice && f.hasTitles() }

// titled reports whether each choice is a schema with its title.
func (f *Field) titled() bool { return f.hasTitles() && !f.listsNames() }

// label is what a choice is shown as.
func (c *Choice) label() string {
	if c.Title == "" {
		return c.Value
	}
	return c.Title
}

// appendChoices appends the choices, with a comma before them: as an
// enumeration, or under the keyword if they have titles.
func (f *Field) appendChoices(dst []byte, keyword string) []byte {
	if f.titled() {
		dst = append(append(append(dst, ',', '"'), keyword...), `":[`...)
		for i, c := range f.Choices {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = jsonwire.AppendQuote(append(dst, `{"const":`...), c.Value)
			dst = jsonwire.AppendQuote(append(dst, `,"title":`...), c.label())
			dst = append(dst, '}')
		}
		return append(dst, ']')
	}
	values, titles := make([]string, len(f.Choices)), make([]string, len(f.Choices))
	for i, c := range f.Choices {
		values[i], titles[i] = c.Value, c.label()
	}
	dst = protocol.AppendStrings(append(dst, `,"enum":`...), values)
	if f.listsNames() {
		dst = protocol.AppendStrings(append(dst, `,"enumNames":`...), titles)
	}
	return dst
}

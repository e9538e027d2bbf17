package protocol

import (
	"strconv"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// Implementation names a client or a server. Name and version are mandatory.
type Implementation struct {
	Name, Version                  string
	Title, Description, WebsiteURL string
	Icons                          []Icon
}

// Append appends the JSON object.
func (i *Implementation) Append(dst []byte, v Version) []byte {
	dst = append(dst, `{"name":`...)
	dst = jsonwire.AppendQuote(dst, i.Name)
	if v.HasTitle() {
		dst = AppendText(dst, "title", i.Title)
	}
	dst = append(dst, `,"version":`...)
	dst = jsonwire.AppendQuote(dst, i.Version)
	if v.HasIcons() {
		dst = AppendText(dst, "description", i.Description)
		dst = AppendText(dst, "websiteUrl", i.WebsiteURL)
		dst = AppendIcons(dst, i.Icons)
	}
	return append(dst, '}')
}

// Icon is a picture that a client may show. Src is an https: or data: URI.
type Icon struct {
	Src      string
	MIMEType string
	Sizes    []string // "48x48" or "any"
	Theme    string   // "light", "dark" or empty
}

// AppendIcons appends a member "icons" with a comma before it, or nothing.
func AppendIcons(dst []byte, icons []Icon) []byte {
	if len(icons) == 0 {
		return dst
	}
	dst = append(dst, `,"icons":[`...)
	for i, icon := range icons {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"src":`...)
		dst = jsonwire.AppendQuote(dst, icon.Src)
		dst = AppendText(dst, "mimeType", icon.MIMEType)
		if len(icon.Sizes) > 0 {
			dst = append(dst, `,"sizes":`...)
			dst = AppendStrings(dst, icon.Sizes)
		}
		dst = AppendText(dst, "theme", icon.Theme)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// Annotations tell a client whom content is for and how much it matters.
type Annotations struct {
	Audience     []string // "user", "assistant"
	Priority     float64  // 0 to 1; sent only if HasPriority, and never outside these bounds
	HasPriority  bool
	LastModified string // ISO 8601
}

// AppendAnnotations appends a member "annotations" with a comma before it, or
// nothing for nil.
func AppendAnnotations(dst []byte, a *Annotations, v Version) []byte {
	if a == nil {
		return dst
	}
	dst = append(dst, `,"annotations":{`...)
	start := len(dst)
	if len(a.Audience) > 0 {
		dst = append(dst, `,"audience":`...)
		dst = AppendStrings(dst, a.Audience)
	}
	if a.HasPriority && 0 <= a.Priority && a.Priority <= 1 { // which NaN is not
		dst = append(dst, `,"priority":`...)
		dst = jsonwire.AppendFloat(dst, a.Priority)
	}
	if v.HasLastModified() {
		dst = AppendText(dst, "lastModified", a.LastModified)
	}
	return closeObject(dst, start)
}

// closeObject ends an object whose members, each with a comma before it, begin
// at start: the first comma goes.
func closeObject(dst []byte, start int) []byte {
	if len(dst) > start {
		dst = append(dst[:start], dst[start+1:]...)
	}
	return append(dst, '}')
}

// AppendStrings appends an array of strings.
func AppendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonwire.AppendQuote(dst, s)
	}
	return append(dst, ']')
}

// AppendText appends a string member with a comma before it unless the value is
// empty. The name must need no escapes.
func AppendText(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	dst = append(dst, '"', ':')
	return jsonwire.AppendQuote(dst, value)
}

// AppendMeta appends a member "_meta" with a comma before it, or nothing if
// meta is no object or the version has none.
func AppendMeta(dst, meta []byte, v Version) []byte {
	if !v.HasTitle() || !isObject(meta) {
		return dst
	}
	dst = append(dst, `,"_meta":`...)
	return jsonwire.AppendLine(dst, meta)
}

// isObject reports whether raw JSON is an object.
func isObject(raw []byte) bool {
	i := jsonwire.SkipSpace(raw)
	return i < len(raw) && raw[i] == '{'
}

// appendInt appends an integer member with a comma before it.
func appendInt(dst []byte, name string, value int64) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	dst = append(dst, '"', ':')
	return strconv.AppendInt(dst, value, 10)
}

// AppendMembers appends the members of a raw object, each after a comma, or
// nothing if obj is no object.
func AppendMembers(dst, obj []byte) []byte {
	if !isObject(obj) {
		return dst
	}
	start := len(dst)
	dst = jsonwire.AppendLine(dst, obj)
	if jsonwire.SkipSpace(dst[start+1:]) == len(dst)-start-2 {
		return dst[:start] // an empty object
	}
	dst[start] = ',' // in place of the opening brace
	return dst[:len(dst)-1]
}

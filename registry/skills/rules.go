package skills

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/registry/skills/frontmatter"
)

const (
	maxSkillName     = 64
	maxCompatibility = 500 // characters
)

// head is what the frontmatter of a skill says.
type head struct {
	name, description string
	nameLine          int    // of the file
	json              []byte // all of it
}

// parseHead reads the frontmatter of a SKILL.md and checks what every skill must
// say. All else is the author's business.
func parseHead(manifest []byte) (*head, error) {
	if len(manifest) > MaxManifest {
		return nil, fmt.Errorf("the file has more than %d bytes", MaxManifest)
	}
	f, err := frontmatter.Parse(manifest)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(manifest) || bytes.IndexByte(manifest, 0) >= 0 {
		return nil, errors.New("the file is not text in UTF-8")
	}
	h := &head{json: f.JSON, nameLine: f.Line("name")}
	if h.name, err = text(f, "name", true, maxSkillName); err != nil {
		return nil, err
	}
	if err := checkSkillName(h.name); err != nil {
		return nil, faultIn(f, "name", "%v", err)
	}
	if h.description, err = text(f, "description", true, MaxDescription); err != nil {
		return nil, err
	}
	if _, err = text(f, "compatibility", false, maxCompatibility); err != nil {
		return nil, err
	}
	if _, err = text(f, "license", false, 0); err != nil {
		return nil, err
	}
	if m := jsonwire.Lookup(f.JSON, "metadata"); m != nil && m[0] != '{' {
		return nil, faultIn(f, "metadata", "metadata must be a mapping")
	}
	return h, nil
}

// text returns a member that must be a string, not empty, and of at most so many
// characters, unless that is 0.
func text(f *frontmatter.Frontmatter, key string, mandatory bool, most int) (string, error) {
	raw := jsonwire.Lookup(f.JSON, key)
	switch {
	case raw == nil && mandatory:
		return "", faultIn(f, key, "the frontmatter has no %s", key)
	case raw == nil:
		return "", nil
	case raw[0] != '"':
		return "", faultIn(f, key, "%s must be text: quote it if it looks like something else", key)
	}
	s := jsonwire.Unquote(raw)
	if strings.TrimSpace(s) == "" {
		return "", faultIn(f, key, "%s is empty", key)
	}
	if n := utf8.RuneCountInString(s); most > 0 && n > most {
		return "", faultIn(f, key, "%s has %d characters, at most %d are allowed", key, n, most)
	}
	return s, nil
}

func faultIn(f *frontmatter.Frontmatter, key, format string, args ...any) error {
	return &frontmatter.Error{Line: f.Line(key), Text: fmt.Sprintf(format, args...)}
}

// checkSkillName accepts lower-case words of letters and digits with single
// hyphens between them.
func checkSkillName(name string) error {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		case c == '-' && i > 0 && i < len(name)-1 && name[i-1] != '-':
		case c == '-':
			return fmt.Errorf("the name %q must not begin or end with a hyphen or have two in a row", name)
		default:
			return fmt.Errorf("the name %q may have the letters a to z, digits and hyphens only", name)
		}
	}
	return nil
}

// checkPrefix accepts directories above a skill that can begin a URI as they
// are: the first one is where other URIs have a host name.
func checkPrefix(dir string) error {
	for i := range len(dir) {
		c := dir[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			continue
		}
		return fmt.Errorf("the directory %q above the skill begins its URI: its name may have letters, digits and - . _ ~ only", dir)
	}
	return nil
}

// checkFileName refuses names that have no URI which all clients read alike.
func checkFileName(name string) error {
	if !utf8.ValidString(name) {
		return errors.New("the name is not UTF-8")
	}
	for _, r := range name {
		if r < ' ' || r == 0x7f || r == '%' || r == '\\' {
			return fmt.Errorf("the name must not have the character %q", r)
		}
	}
	return nil
}

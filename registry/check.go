package registry

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"

	"cloudg.dev/cloudg/internal/jsonwire"
)

const maxName = 128

var (
	errMissing     = errors.New("missing")
	errNoStructure = errors.New("the result has no structured content although the tool has an output schema")
)

// checkName accepts the names that all clients can use: PROTOCOL R7.6.
func checkName(kind, name string) error {
	if name == "" {
		return fmt.Errorf("%s: the name is empty", kind)
	}
	if len(name) > maxName {
		return fmt.Errorf("%s %.40q…: the name has %d bytes, at most %d are allowed", kind, name, len(name), maxName)
	}
	for i := range len(name) {
		c := name[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.' {
			continue
		}
		return fmt.Errorf("%s %q: byte %d of the name is not a letter, a digit, '_', '-' or '.'", kind, name, i)
	}
	return nil
}

// checkURI accepts absolute URIs.
func checkURI(uri string) error {
	if uri == "" {
		return errors.New("the URI is empty")
	}
	for i := range len(uri) {
		if c := uri[i]; c <= ' ' || c >= 0x7f {
			return fmt.Errorf("byte %d of the URI must be percent-encoded", i)
		}
	}
	u, err := url.Parse(uri)
	if err != nil {
		return errors.New("this is not a URI (RFC 3986)")
	}
	if u.Scheme == "" {
		return errors.New("the URI has no scheme")
	}
	return nil
}

// checkMeta accepts nothing or a JSON object.
func checkMeta(meta []byte) error {
	if len(meta) == 0 {
		return nil
	}
	if err := jsonwire.Valid(meta, 0); err != nil {
		return err
	}
	if trim(meta)[0] != '{' {
		return errors.New("this is not a JSON object")
	}
	return nil
}

func trim(doc []byte) []byte { return bytes.Trim(doc, " \t\r\n") }

package protocol_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/protocol"
)

func TestImplementation(t *testing.T) {
	tests := []struct {
		name string
		in   protocol.Implementation
		want []since
	}{
		{"nothing", protocol.Implementation{}, always(`{"name":"","version":""}`)},
		{"what is mandatory", protocol.Implementation{Name: "n", Version: "1.0"}, always(`{"name":"n","version":"1.0"}`)},
		{"everything", protocol.Implementation{
			Name: "n", Version: "1.0", Title: "N", Description: "the \"n\"", WebsiteURL: "https://example.com/",
			Icons: []protocol.Icon{{Src: "https://example.com/i.svg", MIMEType: "image/svg+xml", Sizes: []string{"any"}, Theme: "light"}, {Src: "data:image/png;base64,AA=="}},
		}, []since{
			{protocol.Unknown, `{"name":"n","version":"1.0"}`},
			{versionC, `{"name":"n","title":"N","version":"1.0"}`},
			{versionD, `{"name":"n","title":"N","version":"1.0","description":"the \"n\"","websiteUrl":"https://example.com/","icons":[{"src":"https://example.com/i.svg","mimeType":"image/svg+xml","sizes":["any"],"theme":"light"},{"src":"data:image/png;base64,AA=="}]}`},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, v := range everyVersion() {
				check(t, v, tt.in.Append([]byte(prefix), v), in(tt.want, v), "Implementation", "%s")
			}
		})
	}
}

// Helpers are what [protocol] lends to packages that write messages themselves.
// Each row appends to an object that has a member already.
func TestHelpers(t *testing.T) {
	const newest = protocol.LatestStateless
	tests := []struct {
		name string
		in   func(dst []byte) []byte
		want string
	}{
		{"no icons", func(dst []byte) []byte { return protocol.AppendIcons(dst, nil) }, ``},
		{"icons without icons", func(dst []byte) []byte { return protocol.AppendIcons(dst, []protocol.Icon{}) }, ``},
		{"icon without sizes", func(dst []byte) []byte {
			return protocol.AppendIcons(dst, []protocol.Icon{{Src: "data:,x", Sizes: []string{}}})
		}, `,"icons":[{"src":"data:,x"}]`},

		{"text", func(dst []byte) []byte { return protocol.AppendText(dst, "a", "\"\xff\n") }, `,"a":"\"` + "\ufffd" + `\n"`},
		{"empty text", func(dst []byte) []byte { return protocol.AppendText(dst, "a", "") }, ``},

		{"strings", func(dst []byte) []byte {
			return protocol.AppendStrings(append(dst, `,"a":`...), []string{"b", "", "\"a"})
		}, `,"a":["b","","\"a"]`},
		{"no strings", func(dst []byte) []byte { return protocol.AppendStrings(append(dst, `,"a":`...), nil) }, `,"a":[]`},

		{"members of nil", members(nil), ``},
		{"members of nothing", members([]byte{}), ``},
		{"members of white space", members([]byte(" \r\n\t")), ``},
		{"members of null", members([]byte("null")), ``},
		{"members of an array", members([]byte(`[{"a":1}]`)), ``},
		{"members of a string", members([]byte(`"{}"`)), ``},
		{"members of an empty object", members([]byte(`{}`)), ``},
		{"members of an empty object with white space", members([]byte(" {\t } ")), ``},
		{"members of an empty object on two lines", members([]byte("{\r\n}\n")), ``},
		{"members of an object", members([]byte(`{"a":1}`)), `,"a":1`},
		{"members of an object with white space", members([]byte("\t{ \"a\" : 1 }\n")), `, "a" : 1 `},
		{"members of an object on several lines", members([]byte("{\n\t\"a\": \"x  y\",\r\n\t\"b\": 2\n}")), `,"a":"x  y","b":2`},
		{"members of an object with objects", members([]byte(`{"a":{"b":{}},"c":[{}]}`)), `,"a":{"b":{}},"c":[{}]`},
		{"members that look like an end", members([]byte(`{"a":"}"}`)), `,"a":"}"`},
		{"members that an object ends with", members([]byte(`{"a":{}}`)), `,"a":{}`},

		{"metadata nil", meta(nil, newest), ``},
		{"metadata nothing", meta([]byte{}, newest), ``},
		{"metadata white space", meta([]byte(" \n"), newest), ``},
		{"metadata null", meta([]byte("null"), newest), ``},
		{"metadata array", meta([]byte("[]"), newest), ``},
		{"metadata empty", meta([]byte(`{}`), newest), `,"_meta":{}`},
		{"metadata", meta([]byte(" {\n\"a\" : {\"b\": 1e400}}\r\n"), newest), `,"_meta":{"a":{"b":1e400}}`},
		{"metadata in the first version that has it", meta([]byte(`{"a":1}`), versionC), `,"_meta":{"a":1}`},
		{"metadata in an older version", meta([]byte(`{"a":1}`), versionB), ``},
		{"metadata in no version", meta([]byte(`{"a":1}`), protocol.Unknown), ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := string(tt.in([]byte(prefix)))
			if diff := cmp.Diff(prefix+tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !json.Valid([]byte(got + "}")) {
				t.Errorf("%s} is no object", got)
			}
		})
	}
}

func members(obj []byte) func([]byte) []byte {
	return func(dst []byte) []byte { return protocol.AppendMembers(dst, obj) }
}

func meta(raw []byte, v protocol.Version) func([]byte) []byte {
	return func(dst []byte) []byte { return protocol.AppendMeta(dst, raw, v) }
}

package skills

import (
	"bytes"
	"path"
	"strings"
	"unicode/utf8"
)

const (
	typeMarkdown  = "text/markdown"
	typeText      = "text/plain"
	typeBinary    = "application/octet-stream"
	typeDirectory = "inode/directory"
)

// mediaType returns the type of a file and whether it is served as text. Text is
// what survives a JSON string unchanged, byte for byte, as its digest demands.
func mediaType(name string, data []byte) (mime string, text bool) {
	text = utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
	mime, textual := typeOf(strings.ToLower(path.Ext(name)))
	switch {
	case text && (mime == "" || !textual):
		return typeText, true
	case !text && (mime == "" || textual):
		return typeBinary, false
	}
	return mime, text
}

// typeOf returns the type that an extension stands for, and whether such a file
// is text. The table is our own, since the machine's differs from host to host;
// it has what skills are made of.
func typeOf(ext string) (mime string, textual bool) {
	switch ext {
	case ".md", ".markdown":
		return typeMarkdown, true
	case ".html", ".htm":
		return "text/html", true
	case ".css":
		return "text/css", true
	case ".csv":
		return "text/csv", true
	case ".py":
		return "text/x-python", true
	case ".go":
		return "text/x-go", true
	case ".js", ".mjs", ".cjs":
		return "text/javascript", true
	case ".ts", ".tsx":
		return "application/typescript", true
	case ".sh", ".bash":
		return "application/x-sh", true
	case ".json":
		return "application/json", true
	case ".jsonl", ".ndjson":
		return "application/jsonl", true
	case ".yaml", ".yml":
		return "application/yaml", true
	case ".toml":
		return "application/toml", true
	case ".xml", ".xsd", ".xsl":
		return "application/xml", true
	case ".sql":
		return "application/sql", true
	case ".svg":
		return "image/svg+xml", true
	case ".png":
		return "image/png", false
	case ".jpg", ".jpeg":
		return "image/jpeg", false
	case ".gif":
		return "image/gif", false
	case ".webp":
		return "image/webp", false
	case ".pdf":
		return "application/pdf", false
	case ".zip":
		return "application/zip", false
	case ".gz", ".tgz":
		return "application/gzip", false
	case ".docx":
		return "application/vnd.openxmlformats-officedocument.wordprocessingml.document", false
	case ".xlsx":
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", false
	case ".pptx":
		return "application/vnd.openxmlformats-officedocument.presentationml.presentation", false
	case ".ttf":
		return "font/ttf", false
	case ".otf":
		return "font/otf", false
	case ".woff2":
		return "font/woff2", false
	case ".wasm":
		return "application/wasm", false
	}
	return "", false
}

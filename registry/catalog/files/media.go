package files

import (
	"mime"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"
)

// sniffBytes is how much of a file its type is guessed from.
const sniffBytes = 512

const (
	typeText   = "text/plain"
	typeBinary = "application/octet-stream"
)

// The kinds of media that can be shown as such.
const (
	mediaImage = "image"
	mediaAudio = "audio"
)

// content is what the beginning of a file and its name tell.
type content struct {
	mime string
	// text is set when the beginning is text, whatever the name says.
	text bool
}

// classify guesses the type of a file. Its name decides among text formats, which look alike; for everything else
// the bytes do, since a wrong extension must not turn text into an image.
func classify(name string, head []byte) content {
	named := typeOf(strings.ToLower(path.Ext(name)))
	if isText(head) {
		if named == "" || !isTextType(named) {
			named = typeText
		}
		return content{mime: named, text: true}
	}
	sniffed, _, err := mime.ParseMediaType(http.DetectContentType(head))
	switch {
	case err == nil && sniffed == "audio/wave":
		return content{mime: "audio/wav"}
	case err == nil && sniffed != typeBinary && !strings.HasPrefix(sniffed, "text/") && !(sniffed == "application/zip" && named != ""):
		return content{mime: sniffed}
	case named != "" && !isTextType(named):
		return content{mime: named}
	}
	return content{mime: typeBinary}
}

// media names the kind of content that a client can show, or is empty.
func (c content) media() string {
	switch {
	case c.text:
		return ""
	case strings.HasPrefix(c.mime, "image/"):
		return mediaImage
	case strings.HasPrefix(c.mime, "audio/"):
		return mediaAudio
	}
	return ""
}

// isText reports whether the beginning of a file is text: it has no NUL, and at most three bytes in ten are control
// characters or no UTF-8. Some must be allowed, since logs in old encodings are text too.
func isText(head []byte) bool {
	head = wholeRunes(head)
	total, odd := len(head), 0
	for len(head) > 0 {
		r, size := utf8.DecodeRune(head)
		switch {
		case r == 0:
			return false
		case r == utf8.RuneError && size == 1:
			odd++
		case r < ' ' && !strings.ContainsRune("\t\n\v\f\r\b\x1b", r):
			odd++
		}
		head = head[size:]
	}
	return odd*10 <= total*3
}

// isTextType reports whether files of a type are text.
func isTextType(mimeType string) bool {
	if strings.HasPrefix(mimeType, "text/") {
		return true
	}
	switch mimeType {
	case "application/json", "application/jsonl", "application/xml", "application/yaml", "application/toml",
		"application/javascript", "application/typescript", "application/sql", "application/x-sh", "image/svg+xml":
		return true
	}
	return false
}

// typeOf is the type of an extension. The table is our own: what the machine's says would differ from host to host.
func typeOf(ext string) string {
	switch ext {
	case ".txt", ".log", ".conf", ".cfg", ".ini", ".env", ".properties":
		return typeText
	case ".md", ".markdown":
		return "text/markdown"
	case ".html", ".htm":
		return "text/html"
	case ".css":
		return "text/css"
	case ".csv":
		return "text/csv"
	case ".tsv":
		return "text/tab-separated-values"
	case ".go":
		return "text/x-go"
	case ".py":
		return "text/x-python"
	case ".rs":
		return "text/x-rust"
	case ".c", ".h":
		return "text/x-c"
	case ".cc", ".cpp", ".cxx", ".hpp":
		return "text/x-c++"
	case ".java":
		return "text/x-java"
	case ".rb":
		return "text/x-ruby"
	case ".diff", ".patch":
		return "text/x-diff"
	case ".js", ".mjs", ".cjs":
		return "text/javascript"
	case ".ts", ".tsx":
		return "application/typescript"
	case ".json":
		return "application/json"
	case ".jsonl", ".ndjson":
		return "application/jsonl"
	case ".xml", ".xsd", ".xsl":
		return "application/xml"
	case ".yaml", ".yml":
		return "application/yaml"
	case ".toml":
		return "application/toml"
	case ".sql":
		return "application/sql"
	case ".sh", ".bash":
		return "application/x-sh"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	case ".bmp":
		return "image/bmp"
	case ".ico":
		return "image/x-icon"
	case ".avif":
		return "image/avif"
	case ".tif", ".tiff":
		return "image/tiff"
	case ".mp3":
		return "audio/mpeg"
	case ".wav":
		return "audio/wav"
	case ".ogg", ".oga", ".opus":
		return "audio/ogg"
	case ".flac":
		return "audio/flac"
	case ".m4a":
		return "audio/mp4"
	case ".mp4":
		return "video/mp4"
	case ".webm":
		return "video/webm"
	case ".pdf":
		return "application/pdf"
	case ".zip":
		return "application/zip"
	case ".jar":
		return "application/java-archive"
	case ".docx":
		return "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	case ".xlsx":
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	case ".pptx":
		return "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	case ".gz", ".tgz":
		return "application/gzip"
	case ".tar":
		return "application/x-tar"
	case ".wasm":
		return "application/wasm"
	}
	return ""
}

package catalog

import (
	"fmt"
	"strconv"
	"strings"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry/catalog/files"
)

// showListing is the text of list_directory: a summary, then a line for each
// entry, or the tree.
func showListing(out *files.ListDirectoryOut) []protocol.Content {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s, %s in files\n", out.Path, count(out.Directories, "directory", "directories"), count(out.Files, "file", "files"), size(out.SizeBytes))
	b.WriteString(out.Tree)
	writeEntries(&b, out.Entries)
	writeNotes(&b, out.NextOffset, out.Notes)
	return []protocol.Content{textBlock(b.String())}
}

// showFound is the text of find_files.
func showFound(out *files.FindFilesOut) []protocol.Content {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", out.Path, count(out.Total, "entry matches", "entries match"))
	writeEntries(&b, out.Entries)
	writeNotes(&b, out.NextOffset, out.Notes)
	return []protocol.Content{textBlock(b.String())}
}

// writeEntries writes a line for each entry: its time, its size, and its path.
func writeEntries(b *strings.Builder, entries []files.Entry) {
	for _, e := range entries {
		length := "-"
		if e.Kind == "file" {
			length = size(e.SizeBytes)
		}
		fmt.Fprintf(b, "%-20s %10s  %s", e.Modified, length, oneLine(e.Path))
		switch e.Kind {
		case "directory":
			b.WriteString("/")
		case "symlink":
			b.WriteString(" -> " + oneLine(e.Target))
		case "other":
			b.WriteString(" (no regular file)")
		}
		if e.Error != "" {
			b.WriteString(" (" + e.Error + ")")
		}
		b.WriteString("\n")
	}
}

// writeNotes writes how to go on, and what was left out.
func writeNotes(b *strings.Builder, nextOffset int, notes []string) {
	if nextOffset > 0 {
		fmt.Fprintf(b, "[there is more: call again with offset %d]\n", nextOffset)
	}
	for _, note := range notes {
		b.WriteString("[" + note + "]\n")
	}
}

// showFile is what read_file returns besides its structured content: the content
// itself, and what there is to say about it.
func showFile(out *files.ReadFileOut) []protocol.Content {
	if m := media(out.Media, out.MimeType, out.Data); m != nil {
		out.Data = nil // once is enough
		return []protocol.Content{m, textBlock(fmt.Sprintf("[%s: %s, %s]", out.Path, out.MimeType, size(out.SizeBytes)))}
	}
	blocks := []protocol.Content{textBlock(content(out.Text, out.Data, out.Encoding))}
	if about := aboutPart(out); about != "" {
		blocks = append(blocks, textBlock("["+out.Path+": "+about+"]"))
	}
	return blocks
}

// media is an image or a recording, nil for anything else.
func media(kind, mimeType string, data []byte) protocol.Content {
	switch kind {
	case "image":
		return &protocol.Image{Data: data, MIMEType: mimeType}
	case "audio":
		return &protocol.Audio{Data: data, MIMEType: mimeType}
	}
	return nil
}

// content is what a file holds as text.
func content(text string, data []byte, encoding string) string {
	if encoding != "base64" {
		return text
	}
	return encodeBase64(data)
}

// aboutPart says which part of a file a text is, or nothing if it is all of it.
func aboutPart(out *files.ReadFileOut) string {
	var about []string
	partly := out.StartLine > 1 || out.NextOffset > 0 || out.ByteOffset > 0 || out.NextByteOffset > 0
	switch {
	case out.SizeBytes == 0 && out.Text == "" && len(out.Data) == 0: // files that a kernel makes up have no size
		about = append(about, "the file is empty")
	case partly && out.StartLine > 0:
		lines := "lines " + strconv.Itoa(out.StartLine) + " to " + strconv.Itoa(out.EndLine)
		if out.TotalLines > 0 {
			lines += " of " + strconv.Itoa(out.TotalLines)
		}
		about = append(about, lines)
	case partly && out.NextOffset == 0:
		about = append(about, fmt.Sprintf("from byte %d of a file of %s", out.ByteOffset, size(out.SizeBytes)))
	}
	switch {
	case out.Note != "":
		about = append(about, out.Note)
	case out.NextOffset > 0:
		about = append(about, fmt.Sprintf("the next line is offset %d", out.NextOffset))
	case out.NextByteOffset > 0:
		about = append(about, fmt.Sprintf("the next byte is byte_offset %d", out.NextByteOffset))
	}
	return strings.Join(about, "; ")
}

// showFiles is what read_files returns besides its structured content: each file
// under its name.
func showFiles(out *files.ReadFilesOut) []protocol.Content {
	blocks := make([]protocol.Content, 0, len(out.Files))
	for i := range out.Files {
		f := &out.Files[i]
		head := "==> " + oneLine(f.Path) + " <==\n"
		switch m := media(f.Media, f.MimeType, f.Data); {
		case f.Error != "":
			blocks = append(blocks, textBlock(head+"[error: "+f.Error+"]"))
		case m != nil:
			f.Data = nil // once is enough
			blocks = append(blocks, textBlock(head+"["+f.MimeType+", "+size(f.SizeBytes)+"]"), m)
		case f.Note != "":
			blocks = append(blocks, textBlock(head+f.Text), textBlock("["+f.Path+": "+f.Note+"]"))
		default:
			blocks = append(blocks, textBlock(head+f.Text))
		}
	}
	return blocks
}

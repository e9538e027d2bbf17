package files

import (
	"context"
	"io"
	"strconv"
	"strings"
)

// maxEdits is how many replacements one call makes.
const maxEdits = 100

// EditFileIn says which pieces of text to replace. The replacements are made in order, each in the result of the one
// before, and either all of them or none.
type EditFileIn struct {
	Path           string `json:"path" jsonschema:"description=Text file to change: absolute or relative to the first root"`
	Edits          []Edit `json:"edits" jsonschema:"description=Replacements that are made one after the other,minItems=1,maxItems=100"`
	DryRun         bool   `json:"dry_run,omitempty" jsonschema:"description=Only show the diff and change nothing,default=false"`
	ExpectedSHA256 string `json:"expected_sha256,omitempty" jsonschema:"description=Only edit if the file still has this SHA-256 (see file_info)"`
}

// Edit is one replacement.
type Edit struct {
	OldText    string `json:"old_text" jsonschema:"description=Exact text to replace with enough around it to be unique,minLength=1"`
	NewText    string `json:"new_text" jsonschema:"description=What takes its place; empty to delete it"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"description=Replace every occurrence instead of exactly one,default=false"`
}

// EditFileOut tells what was or would be changed.
type EditFileOut struct {
	Path          string `json:"path" jsonschema:"description=The file"`
	Written       bool   `json:"written" jsonschema:"description=Whether the file was changed; false for a dry run"`
	Replacements  int    `json:"replacements" jsonschema:"description=How many pieces of text were replaced,minimum=0"`
	Diff          string `json:"diff" jsonschema:"description=The change as a unified diff"`
	DiffTruncated bool   `json:"diff_truncated,omitempty" jsonschema:"description=Whether the diff is longer than what is shown"`
	SizeBytes     int64  `json:"size_bytes" jsonschema:"description=Size of the new content,minimum=0"`
	SHA256        string `json:"sha256" jsonschema:"description=SHA-256 of the new content in hexadecimal"`
}

// EditFile replaces exact pieces of a text file. The file is replaced in one step and keeps its permissions; if all its
// lines end in CRLF, so do the new ones.
func (f *Files) EditFile(ctx context.Context, in EditFileIn) (EditFileOut, error) {
	done, err := f.beginWrite(ctx)
	if err != nil {
		return EditFileOut{}, err
	}
	defer done()
	if len(in.Edits) == 0 || len(in.Edits) > maxEdits {
		return EditFileOut{}, failf(ErrInvalid, "edits must hold from 1 to %d replacements, not %d", maxEdits, len(in.Edits))
	}
	p, err := f.locateTarget(in.Path)
	if err != nil {
		return EditFileOut{}, err
	}
	old, err := f.existing(p)
	if err != nil {
		return EditFileOut{}, err
	}
	before, err := f.loadForEdit(ctx, p)
	if err != nil {
		return EditFileOut{}, err
	}
	if err := f.expect(ctx, p, old, in.ExpectedSHA256); err != nil {
		return EditFileOut{}, err
	}
	after, count, err := f.applyEdits(ctx, p, before, in.Edits)
	if err != nil {
		return EditFileOut{}, err
	}
	out := EditFileOut{Path: p.shown, Replacements: count, SizeBytes: int64(len(after)), SHA256: sumOf([]byte(after))}
	out.Diff, out.DiffTruncated = unifiedDiff(p.shown, before, after, f.opts.MaxDiffBytes)
	out.Diff = strings.ToValidUTF8(out.Diff, "\uFFFD")
	if in.DryRun {
		return out, nil
	}
	if err := f.put(ctx, p, []byte(after), old); err != nil {
		return EditFileOut{}, err
	}
	out.Written = true
	return out, nil
}

// loadForEdit reads the whole file, which must be text.
func (f *Files) loadForEdit(ctx context.Context, p place) (string, error) {
	file, info, err := f.open(p)
	if err != nil {
		return "", err
	}
	defer file.Close()
	most := f.opts.MaxFileBytes
	data, err := io.ReadAll(cancellable{ctx, io.LimitReader(file, most+1)})
	switch {
	case err != nil:
		return "", f.explain(p, err)
	case int64(len(data)) > most:
		return "", failf(ErrTooLarge, "%q has %s, more than the %s that can be edited", p.shown, humanSize(info.Size()), humanSize(most))
	case looksBinary(data):
		return "", failf(ErrKind, "%q is not text; write_file with encoding base64 replaces it as a whole", p.shown)
	}
	return string(data), nil
}

// applyEdits makes all replacements.
func (f *Files) applyEdits(ctx context.Context, p place, text string, edits []Edit) (result string, count int, err error) {
	for i, e := range edits {
		if err := ctx.Err(); err != nil {
			return "", 0, err
		}
		e.OldText, e.NewText = likeFile(text, e.OldText), likeFile(text, e.NewText)
		found := strings.Count(text, e.OldText)
		if err := checkEdit(p, text, i, found, e); err != nil {
			return "", 0, err
		}
		grown := int64(len(text)) + int64(found)*int64(len(e.NewText)-len(e.OldText))
		if err := f.checkSize(grown); err != nil {
			return "", 0, err
		}
		text = strings.ReplaceAll(text, e.OldText, e.NewText)
		count += found
	}
	return text, count, nil
}

// likeFile gives a piece of text the line ends of the file, if those are all of one kind.
func likeFile(file, piece string) string {
	crlf := strings.Count(file, "\r\n")
	all := strings.Count(file, "\n")
	switch {
	case all == 0 || crlf != 0 && crlf != all:
		return piece
	case crlf == 0:
		return strings.ReplaceAll(piece, "\r\n", "\n")
	}
	return strings.ReplaceAll(strings.ReplaceAll(piece, "\r\n", "\n"), "\n", "\r\n")
}

// checkEdit refuses a replacement that does not name one place, and says how to name it.
func checkEdit(p place, text string, index, found int, e Edit) error {
	number := strconv.Itoa(index + 1)
	switch {
	case e.OldText == "":
		return failf(ErrInvalid, "old_text of edit %s is empty; write_file creates a file or replaces all of it", number)
	case e.OldText == e.NewText:
		return failf(ErrInvalid, "new_text of edit %s is the same as its old_text", number)
	case found == 0:
		return failf(ErrConflict, "old_text of edit %s is not in %q; %s", number, p.shown, hint(text, e.OldText))
	case found > 1 && !e.ReplaceAll:
		return failf(ErrConflict, "old_text of edit %s is in %q %d times (lines %s); add lines around it to make it unique, or set replace_all",
			number, p.shown, found, linesOf(text, e.OldText))
	}
	return nil
}

// linesOf names the lines in which the first few occurrences of a piece begin.
func linesOf(text, piece string) string {
	const most = 5
	var lines []string
	for line, pos := 1, 0; ; {
		at := strings.Index(text[pos:], piece)
		if at < 0 {
			break
		}
		if len(lines) == most {
			lines = append(lines, "…")
			break
		}
		line += strings.Count(text[pos:pos+at], "\n")
		lines = append(lines, strconv.Itoa(line))
		line += strings.Count(piece, "\n")
		pos += at + len(piece)
	}
	return strings.Join(lines, ", ")
}

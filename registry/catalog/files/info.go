package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// FileInfoIn says what to describe.
type FileInfoIn struct {
	Path   string `json:"path" jsonschema:"description=File or directory or link: absolute or relative to the first root or a file URI"`
	SHA256 bool   `json:"sha256,omitempty" jsonschema:"description=Compute the SHA-256 of a file,default=false"`
	Lines  bool   `json:"lines,omitempty" jsonschema:"description=Count the lines of a text file,default=false"`
}

// FileInfoOut describes a file, a directory, a link or something else. A link is described itself, not what it leads to;
// only what is asked for of the content is that of the file at its end.
type FileInfoOut struct {
	Path         string `json:"path" jsonschema:"description=Path to pass to other operations"`
	AbsolutePath string `json:"absolute_path" jsonschema:"description=The same as an absolute path"`
	URI          string `json:"uri" jsonschema:"description=The same as a file URI"`
	Kind         string `json:"kind" jsonschema:"description=What it is,enum=file|directory|symlink|other"`
	SizeBytes    int64  `json:"size_bytes" jsonschema:"description=Size of a file; 0 for everything else,minimum=0"`
	Mode         string `json:"mode" jsonschema:"description=Kind and permissions as ls shows them"`
	Permissions  string `json:"permissions" jsonschema:"description=Permission bits as four octal digits"`
	Modified     string `json:"modified" jsonschema:"description=Time of the last change of the content in RFC 3339"`
	Accessed     string `json:"accessed,omitempty" jsonschema:"description=Time of the last access in RFC 3339 where the system tells it"`
	Changed      string `json:"changed,omitempty" jsonschema:"description=Time of the last change of content or metadata in RFC 3339 where the system tells it"`
	MimeType     string `json:"mime_type,omitempty" jsonschema:"description=Type of a file guessed from name and content"`
	Target       string `json:"target,omitempty" jsonschema:"description=Where a link points to"`
	TargetKind   string `json:"target_kind,omitempty" jsonschema:"description=What a link leads to; absent if that is missing or may not be followed,enum=file|directory|other"`
	SHA256       string `json:"sha256,omitempty" jsonschema:"description=SHA-256 of the content in hexadecimal if asked for"`
	Lines        *int   `json:"lines,omitempty" jsonschema:"description=Number of lines if asked for,minimum=0"`
}

// FileInfo describes one path.
func (f *Files) FileInfo(ctx context.Context, in FileInfoIn) (FileInfoOut, error) {
	p, err := f.locate(in.Path)
	if err != nil {
		return FileInfoOut{}, err
	}
	info, err := p.root.dir.Lstat(p.rel)
	if err != nil {
		return FileInfoOut{}, f.explain(p, err)
	}
	out := f.describe(p, info)
	switch {
	case out.Kind == kindSymlink:
		f.describeLink(p, &out)
		if out.TargetKind != kindFile || !in.SHA256 && !in.Lines {
			break
		}
		if err := f.describeContent(ctx, p, in, &out); err != nil {
			return FileInfoOut{}, err
		}
		return out, ctx.Err()
	case out.Kind == kindFile:
		if err := f.describeContent(ctx, p, in, &out); err != nil {
			return FileInfoOut{}, err
		}
		return out, ctx.Err()
	}
	if in.SHA256 || in.Lines {
		return FileInfoOut{}, failf(ErrKind, "%q is a %s; sha256 and lines are for regular files", p.shown, out.Kind)
	}
	return out, ctx.Err()
}

// describe gives what the directory entry tells.
func (f *Files) describe(p place, info fs.FileInfo) FileInfoOut {
	out := FileInfoOut{
		Path:         p.shown,
		AbsolutePath: strings.ToValidUTF8(p.abs(), "\uFFFD"),
		URI:          f.syntax.toURI(p.abs()),
		Kind:         kindOf(info.Mode()),
		Mode:         info.Mode().String(),
		Permissions:  fmt.Sprintf("%04o", octal(info.Mode())),
		Modified:     stamp(info.ModTime()),
	}
	if out.Kind == kindFile {
		out.SizeBytes = info.Size()
	}
	if accessed, changed, ok := times(info); ok {
		out.Accessed, out.Changed = stamp(accessed), stamp(changed)
	}
	return out
}

// octal gives the permission bits with set-user-ID, set-group-ID and sticky where Unix has them.
func octal(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	for flag, bit := range map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if mode&flag != 0 {
			bits |= bit
		}
	}
	return bits
}

// describeLink says where a link points. A target that may not be followed is shown, since the link itself is inside, but
// nothing is said about what is there.
func (f *Files) describeLink(p place, out *FileInfoOut) {
	if target, err := p.root.dir.Readlink(p.rel); err == nil {
		out.Target = strings.ToValidUTF8(target, "\uFFFD")
	}
	if info, err := p.root.dir.Stat(p.rel); err == nil {
		out.TargetKind = kindOf(info.Mode())
	}
}

// describeContent looks into a file as far as it was asked for. A file that may not be read is described without.
func (f *Files) describeContent(ctx context.Context, p place, in FileInfoIn, out *FileInfoOut) error {
	file, info, err := f.open(p)
	if errors.Is(err, ErrDenied) && !in.SHA256 && !in.Lines {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	head := make([]byte, sniffBytes)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return f.explain(p, err)
	}
	kind := classify(p.rel, head[:n])
	out.MimeType = kind.mime
	if !in.SHA256 && !in.Lines {
		return nil
	}
	if info.Size() > f.opts.MaxHashBytes {
		return failf(ErrTooLarge, "%q has %s, more than the %s that are read for sha256 and lines", p.shown, humanSize(info.Size()), humanSize(f.opts.MaxHashBytes))
	}
	if in.Lines && !kind.text {
		return failf(ErrKind, "%q is not text but %s; lines can be counted in text only", p.shown, kind.mime)
	}
	sum, lines, err := digest(ctx, file, f.opts.MaxHashBytes)
	if err != nil {
		return f.explain(p, err)
	}
	if in.SHA256 {
		out.SHA256 = sum
	}
	if in.Lines {
		out.Lines = &lines
	}
	return nil
}

// digest reads a file once for its SHA-256 and its number of lines.
func digest(ctx context.Context, file *os.File, bound int64) (sum string, lines int, err error) {
	hash := sha256.New()
	count := lineCounter{}
	section := io.NewSectionReader(file, 0, bound)
	if _, err := io.CopyBuffer(io.MultiWriter(hash, &count), cancellable{ctx, section}, make([]byte, scanBuffer)); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(hash.Sum(nil)), count.total(), nil
}

// lineCounter counts lines as they are written to it; bytes after the last newline are a line.
type lineCounter struct {
	newlines int
	open     bool
}

// Write counts the lines that end in b.
func (c *lineCounter) Write(b []byte) (int, error) {
	if len(b) > 0 {
		c.newlines += bytes.Count(b, []byte("\n"))
		c.open = b[len(b)-1] != '\n'
	}
	return len(b), nil
}

func (c *lineCounter) total() int {
	if c.open {
		return c.newlines + 1
	}
	return c.newlines
}

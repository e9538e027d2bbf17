package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
)

// The modes of a write.
const (
	modeCreate    = "create"
	modeOverwrite = "overwrite"
)

// WriteFileIn says what to write.
type WriteFileIn struct {
	Path           string `json:"path" jsonschema:"description=File to write: absolute or relative to the first root; its directory must exist"`
	Content        string `json:"content" jsonschema:"description=The whole new content"`
	Encoding       string `json:"encoding,omitempty" jsonschema:"description=How content is given,enum=text|base64,default=text"`
	Mode           string `json:"mode,omitempty" jsonschema:"description=create fails if the file exists; overwrite replaces or creates it,enum=create|overwrite,default=create"`
	ExpectedSHA256 string `json:"expected_sha256,omitempty" jsonschema:"description=Only overwrite if the file still has this SHA-256 (see file_info)"`
}

// WriteFileOut tells what was written.
type WriteFileOut struct {
	Path      string `json:"path" jsonschema:"description=The file"`
	Created   bool   `json:"created" jsonschema:"description=Whether the file is new"`
	SizeBytes int64  `json:"size_bytes" jsonschema:"description=Size of the new content,minimum=0"`
	SHA256    string `json:"sha256" jsonschema:"description=SHA-256 of the new content in hexadecimal"`
}

// WriteFile writes a whole file in one step: whoever reads it meanwhile sees the old or the new content. An existing file
// keeps its permissions, but belongs to the user that the server runs as. A symbolic link is not written through.
func (f *Files) WriteFile(ctx context.Context, in WriteFileIn) (WriteFileOut, error) {
	done, err := f.beginWrite(ctx)
	if err != nil {
		return WriteFileOut{}, err
	}
	defer done()
	p, err := f.locateTarget(in.Path)
	if err != nil {
		return WriteFileOut{}, err
	}
	mode, err := choice("mode", in.Mode, modeCreate, modeOverwrite)
	if err != nil {
		return WriteFileOut{}, err
	}
	data, err := f.decodeContent(in)
	if err != nil {
		return WriteFileOut{}, err
	}
	old, err := f.existing(p)
	if err != nil {
		return WriteFileOut{}, err
	}
	if old != nil && mode == modeCreate {
		return WriteFileOut{}, failf(ErrExists, "%q exists already; set mode to overwrite to replace it, or change a part of it with edit_file", p.shown)
	}
	if err := f.expect(ctx, p, old, in.ExpectedSHA256); err != nil {
		return WriteFileOut{}, err
	}
	if err := f.put(ctx, p, data, old); err != nil {
		return WriteFileOut{}, err
	}
	return WriteFileOut{Path: p.shown, Created: old == nil, SizeBytes: int64(len(data)), SHA256: sumOf(data)}, nil
}

// locateTarget finds the place of something to be written, which cannot be a root.
func (f *Files) locateTarget(input string) (place, error) {
	p, err := f.locate(input)
	if err == nil && p.rel == "." {
		return p, failf(ErrKind, "%q is an allowed root itself; name something inside it", p.shown)
	}
	return p, err
}

// decodeContent gives the bytes to write.
func (f *Files) decodeContent(in WriteFileIn) ([]byte, error) {
	encoding, err := choice("encoding", in.Encoding, encodingText, encodingBase64)
	if err != nil {
		return nil, err
	}
	data := []byte(in.Content)
	if encoding == encodingBase64 {
		if data, err = base64.StdEncoding.DecodeString(in.Content); err != nil {
			return nil, failf(ErrInvalid, "content is not base64: %v; use the standard alphabet with padding", err)
		}
	}
	return data, f.checkSize(int64(len(data)))
}

func (f *Files) checkSize(size int64) error {
	if size > f.opts.MaxFileBytes {
		return failf(ErrTooLarge, "the content has %s, more than the %s that are written at once", humanSize(size), humanSize(f.opts.MaxFileBytes))
	}
	return nil
}

// existing describes the file that a write would replace, nil if there is none. Anything but a regular file is refused.
func (f *Files) existing(p place) (fs.FileInfo, error) {
	info, err := p.root.dir.Lstat(p.rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, f.explain(p, err)
	case info.IsDir():
		return nil, failf(ErrKind, "%q is a directory; name a file in it", p.shown)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, failf(ErrKind, "%q is a symbolic link, which is not written through; write to the file that it leads to (file_info shows it)", p.shown)
	case !info.Mode().IsRegular():
		return nil, failf(ErrKind, "%q is a %s; only regular files are written", p.shown, special(info.Mode()))
	}
	return info, nil
}

// expect compares the SHA-256 of the file with the one that the caller last saw.
func (f *Files) expect(ctx context.Context, p place, old fs.FileInfo, want string) error {
	if want == "" {
		return nil
	}
	if raw, err := hex.DecodeString(want); err != nil || len(raw) != sha256.Size {
		return failf(ErrInvalid, "expected_sha256 must be 64 hexadecimal digits, not %s", clip(want))
	}
	if old == nil {
		return failf(ErrConflict, "%q does not exist, but expected_sha256 says what it should contain; leave expected_sha256 away to create it", p.shown)
	}
	file, info, err := f.open(p)
	if err != nil {
		return err
	}
	defer file.Close()
	if info.Size() > f.opts.MaxHashBytes {
		return failf(ErrTooLarge, "%q has %s, too much to compare with expected_sha256", p.shown, humanSize(info.Size()))
	}
	got, _, err := digest(ctx, file, f.opts.MaxHashBytes)
	if err != nil {
		return f.explain(p, err)
	}
	return compareSum(p, got, want)
}

func compareSum(p place, got, want string) error {
	if !strings.EqualFold(got, want) {
		return failf(ErrConflict, "%q has changed: its SHA-256 is %s, not the expected one; read it again before writing", p.shown, got)
	}
	return nil
}

// put replaces a file that was there before, or creates one that was not.
func (f *Files) put(ctx context.Context, p place, data []byte, old fs.FileInfo) error {
	dir, name, err := f.openParent(p)
	if err != nil {
		return parentAdvice(p, err)
	}
	defer dir.Close()
	if err := ctx.Err(); err != nil {
		return err
	}
	return f.explainWrite(p, commit(ctx, dir, name, bytes.NewReader(data), old))
}

// commit writes content under a name, replacing old or, if that is nil, nothing.
func commit(ctx context.Context, dir *os.Root, name string, content io.Reader, old fs.FileInfo) error {
	if old == nil {
		return createFile(ctx, dir, name, content, nil)
	}
	return replaceFile(ctx, dir, name, content, old.Mode())
}

// explainWrite is explain for changes; nil stays nil.
func (f *Files) explainWrite(p place, err error) error {
	if err == nil {
		return nil
	}
	return f.explain(p, err)
}

// parentAdvice says how to get the directory that is missing.
func parentAdvice(p place, err error) error {
	if errors.Is(err, ErrNotFound) {
		return failf(ErrNotFound, "the directory of %q does not exist; make_directory creates it", p.shown)
	}
	return err
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

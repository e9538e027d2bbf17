package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"
)

// The encodings in which content is returned and accepted.
const (
	encodingAuto   = "auto"
	encodingText   = "text"
	encodingBase64 = "base64"
)

// ReadFileIn says which part of a file to read, and how. Of offset with limit, head, tail, and byte_offset with
// byte_length only one way may be used; without any of them the file is read from its beginning.
type ReadFileIn struct {
	Path       string `json:"path" jsonschema:"description=File to read: absolute or relative to the first root or a file URI"`
	Encoding   string `json:"encoding,omitempty" jsonschema:"description=auto returns text as text and images and audio as data; text replaces bytes that are no UTF-8; base64 returns the exact bytes,enum=auto|text|base64,default=auto"`
	Offset     int    `json:"offset,omitempty" jsonschema:"description=First line to return,minimum=1"`
	Limit      int    `json:"limit,omitempty" jsonschema:"description=How many lines to return,minimum=1"`
	Head       int    `json:"head,omitempty" jsonschema:"description=Return only this many lines from the beginning,minimum=1"`
	Tail       int    `json:"tail,omitempty" jsonschema:"description=Return only this many lines from the end,minimum=1"`
	ByteOffset int64  `json:"byte_offset,omitempty" jsonschema:"description=First byte to return counted from 0,minimum=0"`
	ByteLength int64  `json:"byte_length,omitempty" jsonschema:"description=How many bytes to return,minimum=1"`
	MaxBytes   int64  `json:"max_bytes,omitempty" jsonschema:"description=Most bytes to return: 1 MiB unless given (10 MiB for a whole image or recording),minimum=1,maximum=10485760"`
}

// ReadFileOut is the content of a file or a part of it. Text is set for text and Data for everything else.
type ReadFileOut struct {
	Path           string `json:"path" jsonschema:"description=The file"`
	MimeType       string `json:"mime_type" jsonschema:"description=Type guessed from name and content"`
	Encoding       string `json:"encoding" jsonschema:"description=Whether the content is in text or in data,enum=text|base64"`
	Media          string `json:"media,omitempty" jsonschema:"description=Set when data is a whole image or recording,enum=image|audio"`
	SizeBytes      int64  `json:"size_bytes" jsonschema:"description=Size of the whole file,minimum=0"`
	Modified       string `json:"modified" jsonschema:"description=Time of the last change in RFC 3339"`
	Text           string `json:"text,omitempty" jsonschema:"description=The content as text"`
	Data           []byte `json:"data,omitempty" jsonschema:"description=The content in base64"`
	StartLine      int    `json:"start_line,omitzero" jsonschema:"description=Number of the first line in text if lines were read and any is there"`
	EndLine        int    `json:"end_line,omitzero" jsonschema:"description=Number of the last line in text"`
	TotalLines     int    `json:"total_lines,omitzero" jsonschema:"description=Lines of the whole file if the end was reached"`
	ByteOffset     int64  `json:"byte_offset,omitzero" jsonschema:"description=Where in the file the content begins if bytes were read"`
	InvalidUTF8    bool   `json:"invalid_utf8,omitempty" jsonschema:"description=Whether bytes that are no UTF-8 were replaced by U+FFFD"`
	Truncated      bool   `json:"truncated" jsonschema:"description=Whether there is more that was asked for than was returned"`
	NextOffset     int    `json:"next_offset,omitzero" jsonschema:"description=Line to continue with as offset"`
	NextByteOffset int64  `json:"next_byte_offset,omitzero" jsonschema:"description=Byte to continue with as byte_offset"`
	Note           string `json:"note,omitempty" jsonschema:"description=What was left out or replaced and how to get it"`
}

// ReadFile reads a file or a part of it.
func (f *Files) ReadFile(ctx context.Context, in ReadFileIn) (ReadFileOut, error) {
	p, err := f.locate(in.Path)
	if err != nil {
		return ReadFileOut{}, err
	}
	r, err := f.newReading(in)
	if err != nil {
		return ReadFileOut{}, err
	}
	file, info, err := f.open(p)
	if err != nil {
		return ReadFileOut{}, err
	}
	defer file.Close()
	if err := r.read(ctx, p, file, info); err != nil {
		return ReadFileOut{}, f.explain(p, err)
	}
	return r.out, nil
}

// The ways to choose a part of a file.
type part int

const (
	partLines part = iota
	partTail
	partBytes
)

// reading is one read under way.
type reading struct {
	ReadFileIn
	part part
	// whole is set when the caller chose no part.
	whole bool
	// bound is the most bytes to return, and maxMedia for a whole image or recording, which is of no use in parts.
	bound, maxMedia int64
	maxScan         int64

	place place
	file  *os.File
	out   ReadFileOut
}

// newReading checks the arguments.
func (f *Files) newReading(in ReadFileIn) (*reading, error) {
	r := &reading{ReadFileIn: in, maxScan: f.opts.MaxScanBytes, maxMedia: f.opts.MaxFileBytes}
	var err error
	if r.Encoding, err = choice("encoding", in.Encoding, encodingAuto, encodingText, encodingBase64); err != nil {
		return nil, err
	}
	if r.bound, err = within("max_bytes", in.MaxBytes, f.opts.ReadBytes, f.opts.MaxFileBytes); err != nil {
		return nil, err
	}
	if in.MaxBytes > 0 {
		r.maxMedia = r.bound
	}
	if in.Offset < 0 || in.Limit < 0 || in.Head < 0 || in.Tail < 0 || in.ByteOffset < 0 || in.ByteLength < 0 {
		return nil, failf(ErrInvalid, "offset, limit, head, tail, byte_offset and byte_length must not be negative; tail counts from the end")
	}
	if err := r.choosePart(); err != nil {
		return nil, err
	}
	if r.part == partBytes && r.ByteLength > 0 {
		r.bound = min(r.bound, r.ByteLength)
	}
	return r, nil
}

// choosePart finds out which of the ways to choose a part is used.
func (r *reading) choosePart() error {
	ways := 0
	for _, way := range []struct {
		used bool
		part part
	}{
		{r.Offset > 0 || r.Limit > 0, partLines},
		{r.Head > 0, partLines},
		{r.Tail > 0, partTail},
		{r.ByteOffset > 0 || r.ByteLength > 0, partBytes},
	} {
		if way.used {
			ways++
			r.part = way.part
		}
	}
	switch {
	case ways > 1:
		return failf(ErrInvalid, "use only one of offset with limit, head, tail, and byte_offset with byte_length")
	case r.Encoding == encodingBase64 && ways == 1 && r.part != partBytes:
		return failf(ErrInvalid, "with encoding base64 a part is chosen by byte_offset and byte_length, not by lines")
	case r.Encoding == encodingBase64:
		r.part = partBytes
	}
	r.whole = ways == 0
	if r.Head > 0 {
		r.Limit = r.Head
	}
	r.Offset = max(r.Offset, 1)
	return nil
}

// read reads the part that was chosen from the open file.
func (r *reading) read(ctx context.Context, p place, file *os.File, info fs.FileInfo) error {
	r.place, r.file = p, file
	head := make([]byte, sniffBytes)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	kind := classify(p.rel, head[:n])
	r.out = ReadFileOut{
		Path:      p.shown,
		MimeType:  kind.mime,
		SizeBytes: info.Size(),
		Modified:  stamp(info.ModTime()),
		Encoding:  encodingText,
	}
	switch {
	case r.Encoding == encodingBase64:
		return r.binary(ctx)
	case r.Encoding == encodingAuto && r.whole && kind.media() != "":
		return r.media(ctx, kind.media())
	case !kind.text:
		return failf(ErrKind, "%q is not text but %s of %s; set encoding to base64 to get its bytes, or use file_info to describe it",
			p.shown, kind.mime, humanSize(info.Size()))
	case r.part == partBytes:
		return r.textBytes(ctx)
	case r.part == partTail:
		return r.tail(ctx)
	}
	return r.lines(ctx)
}

// bytes reads up to the bound from an offset, and reports whether there is more.
func (r *reading) bytes(ctx context.Context, offset, bound int64) (data []byte, more bool, err error) {
	section := io.NewSectionReader(r.file, offset, bound+1)
	data, err = io.ReadAll(cancellable{ctx, section})
	if int64(len(data)) > bound {
		return data[:bound], true, err
	}
	return data, false, err
}

// media reads a whole image or recording.
func (r *reading) media(ctx context.Context, kind string) error {
	data, more, err := r.bytes(ctx, 0, r.maxMedia)
	if err != nil {
		return err
	}
	if more {
		return failf(ErrTooLarge, "%q is %s of %s, more than the %s that are returned whole; set encoding to base64 and use byte_offset to read it in parts",
			r.place.shown, r.out.MimeType, humanSize(r.out.SizeBytes), humanSize(r.maxMedia))
	}
	r.out.Encoding, r.out.Media, r.out.Data = encodingBase64, kind, data
	return nil
}

// binary reads exact bytes.
func (r *reading) binary(ctx context.Context) error {
	data, more, err := r.bytes(ctx, r.ByteOffset, r.bound)
	if err != nil {
		return err
	}
	r.out.Encoding, r.out.Data, r.out.ByteOffset = encodingBase64, data, r.ByteOffset
	r.continueBytes(int64(len(data)), more)
	return nil
}

// textBytes reads a range of bytes as text. Runes that the range cuts in two are left to the ranges beside it.
func (r *reading) textBytes(ctx context.Context) error {
	data, more, err := r.bytes(ctx, r.ByteOffset, r.bound)
	if err != nil {
		return err
	}
	skip := 0
	if r.ByteOffset > 0 {
		for skip < min(utf8.UTFMax-1, len(data)) && !utf8.RuneStart(data[skip]) {
			skip++
		}
	}
	data = data[skip:]
	if kept := wholeRunes(data); more && len(kept) > 0 {
		data = kept
	}
	r.out.ByteOffset = r.ByteOffset + int64(skip)
	r.continueBytes(int64(len(data)), more)
	return r.setText(data)
}

// continueBytes says where to go on after n bytes. What was asked for in full is not truncated, but there may still be a
// next range.
func (r *reading) continueBytes(n int64, more bool) {
	if !more {
		return
	}
	r.out.NextByteOffset = r.out.ByteOffset + n
	r.out.Truncated = r.ByteLength == 0 || r.ByteLength > r.bound
	if r.out.Truncated {
		r.out.Note = "the file goes on; continue with byte_offset " + decimal(r.out.NextByteOffset)
	}
}

// setText stores text. What is no UTF-8 is an error unless the caller insists on text.
func (r *reading) setText(data []byte) error {
	if !utf8.Valid(data) {
		if r.Encoding == encodingAuto {
			return failf(ErrKind, "%q is not valid UTF-8; set encoding to text to read it with the bad bytes replaced, or to base64 to get the exact bytes",
				r.place.shown)
		}
		r.out.InvalidUTF8 = true
		r.addNote("bytes that are no UTF-8 are shown as U+FFFD; encoding base64 returns the exact bytes")
	}
	r.out.Text = validText(data)
	return nil
}

func (r *reading) addNote(note string) {
	if r.out.Note != "" {
		r.out.Note += "; "
	}
	r.out.Note += note
}

package files

import (
	"context"
)

// maxReadPaths is how many files one call reads.
const maxReadPaths = 50

// ReadFilesIn names several files to read.
type ReadFilesIn struct {
	Paths    []string `json:"paths" jsonschema:"description=Files to read: each absolute or relative to the first root,minItems=1,maxItems=50"`
	MaxBytes int64    `json:"max_bytes,omitempty" jsonschema:"description=Most bytes to return for all files together: 1 MiB unless given,minimum=1,maximum=10485760"`
}

// ReadFilesOut holds one result for each path, in the order of the paths.
type ReadFilesOut struct {
	Files     []ReadResult `json:"files" jsonschema:"description=One result for each path in the same order"`
	Failed    int          `json:"failed" jsonschema:"description=How many of them could not be read,minimum=0"`
	SizeBytes int64        `json:"size_bytes" jsonschema:"description=Bytes of content returned in all,minimum=0"`
}

// ReadResult is the content of one file, or the error that reading it gave.
type ReadResult struct {
	Path       string `json:"path" jsonschema:"description=The file"`
	MimeType   string `json:"mime_type,omitempty" jsonschema:"description=Type guessed from name and content"`
	Encoding   string `json:"encoding,omitempty" jsonschema:"description=Whether the content is in text or in data,enum=text|base64"`
	Media      string `json:"media,omitempty" jsonschema:"description=Set when data is a whole image or recording,enum=image|audio"`
	SizeBytes  int64  `json:"size_bytes" jsonschema:"description=Size of the whole file; 0 if it could not be read,minimum=0"`
	Text       string `json:"text,omitempty" jsonschema:"description=The content as text"`
	Data       []byte `json:"data,omitempty" jsonschema:"description=The content in base64"`
	Truncated  bool   `json:"truncated,omitempty" jsonschema:"description=Whether the file goes on"`
	NextOffset int    `json:"next_offset,omitzero" jsonschema:"description=Line to continue with as offset of read_file"`
	Note       string `json:"note,omitempty" jsonschema:"description=What was left out and how to get it"`
	Error      string `json:"error,omitempty" jsonschema:"description=Why the file could not be read"`
}

// ReadFiles reads several files. A file that cannot be read does not keep the others from being read.
func (f *Files) ReadFiles(ctx context.Context, in ReadFilesIn) (ReadFilesOut, error) {
	if len(in.Paths) == 0 || len(in.Paths) > maxReadPaths {
		return ReadFilesOut{}, failf(ErrInvalid, "paths must name from 1 to %d files, not %d", maxReadPaths, len(in.Paths))
	}
	left, err := within("max_bytes", in.MaxBytes, f.opts.ReadBytes, f.opts.MaxFileBytes)
	if err != nil {
		return ReadFilesOut{}, err
	}
	out := ReadFilesOut{Files: make([]ReadResult, 0, len(in.Paths))}
	for _, name := range in.Paths {
		result := f.readOne(ctx, name, left)
		if err := ctx.Err(); err != nil {
			return ReadFilesOut{}, err
		}
		size := int64(len(result.Text) + len(result.Data))
		left = max(0, left-size)
		out.SizeBytes += size
		if result.Error != "" {
			out.Failed++
		}
		out.Files = append(out.Files, result)
	}
	return out, nil
}

// readOne reads one of several files with what is left of the bound.
func (f *Files) readOne(ctx context.Context, name string, left int64) ReadResult {
	if left == 0 {
		return ReadResult{Path: name, Error: "not read: the files before it used up max_bytes; read it with another call"}
	}
	got, err := f.ReadFile(ctx, ReadFileIn{Path: name, MaxBytes: left})
	if err != nil {
		return ReadResult{Path: name, Error: err.Error()}
	}
	return ReadResult{
		Path:       got.Path,
		MimeType:   got.MimeType,
		Encoding:   got.Encoding,
		Media:      got.Media,
		SizeBytes:  got.SizeBytes,
		Text:       got.Text,
		Data:       got.Data,
		Truncated:  got.Truncated,
		NextOffset: got.NextOffset,
		Note:       got.Note,
	}
}

package catalog

import (
	"context"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/catalog/files"
)

// readOutput bounds the content of files in one result, in bytes of JSON. The
// arguments allow 10 MiB of content, and of that JSON makes at most six times as
// much.
const readOutput = 64 << 20

// fileTool is what the tools that read files have in common.
func fileTool(name, title, description string, maxOutput int) registry.Tool {
	return registry.Tool{
		Name: name, Title: title, Description: description,
		Category: CategoryFiles, Sensitivity: policy.Confidential, Capabilities: policy.ReadFS, MaxOutput: maxOutput,
	}
}

// addFiles registers the category files.
func (c *Catalog) addFiles(r *registrar) {
	r.tool(registry.Typed(fileTool("list_roots", "Allowed directories",
		"The directories whose files may be used, and whether files may be changed. "+
			"Call it first when a path is refused or when you do not know where to look; then go on with list_directory. "+
			"Relative paths begin at the first directory.",
		0), c.roots))
	if c.files == nil {
		return
	}
	c.addLookups(r)
	c.addReads(r)
	if c.write {
		c.addWrites(r)
	}
	c.addFileTemplate(r)
	c.addInvestigate(r)
	c.addSummarize(r)
}

// addLookups registers the tools that tell which files there are.
func (c *Catalog) addLookups(r *registrar) {
	r.tool(rendered(fileTool("list_directory", "List a directory",
		"What is in a directory, with kinds, sizes and times: one level unless depth says more (up to 10), directories first, 500 entries to a page unless limit says otherwise. "+
			"Set tree to true for a compact picture of a whole subtree. "+
			"To find files by name, size or age use find_files; to find them by content use search_text. "+
			"Symbolic links are shown and not followed. More pages: call again with offset set to next_offset.",
		pageOutput), operation(c.files.ListDirectory), showListing))
	r.tool(rendered(fileTool("find_files", "Find files",
		"Files below a directory by name or path (glob such as *.go or src/**/*_test.go), kind, size and time of change, 200 to a page unless limit says otherwise. "+
			"Sort by size for what fills a disk, or by modified for what changed last. "+
			"For what files contain use search_text. Symbolic links are reported and not followed, and at most 200000 entries are visited. "+
			"More pages: call again with offset set to next_offset.",
		pageOutput), operation(c.files.FindFiles), showFound))
	r.tool(rendered(fileTool("search_text", "Search in files",
		"Lines that match a regular expression (RE2: no lookaround, no backreferences) or a literal text in the text files below a directory, or in one file, with lines around them if before and after say so. "+
			"Narrow it with the globs include and exclude; set files_only to see just which files match. "+
			"It returns at most 200 matches, and 50 from one file, unless limit and max_per_file say otherwise; binary files and files over 8 MiB are skipped and counted. "+
			"Then read_file with offset and limit shows more around a match. It reports progress.",
		2*pageOutput), c.search, showMatches))
	r.tool(registry.Typed(fileTool("file_info", "Describe a file",
		"One file, directory or link: kind, size, permissions, times, media type, absolute path and URI, and on request the SHA-256 or the number of lines. "+
			"Use it before reading a file of unknown size or type, and for the SHA-256 that guards a change against lost updates. "+
			"A link is described itself. For many files at once use list_directory or find_files.",
		0), operation(c.files.FileInfo)))
}

// addReads registers the tools that return the content of files.
func (c *Catalog) addReads(r *registrar) {
	r.tool(rendered(fileTool("read_file", "Read a file",
		"Content of one file or a part of it: text as text, images and recordings as such, anything else as base64 on request. "+
			"At most 128 KiB are returned unless max_bytes says otherwise (up to 10 MiB); of a longer file ask for a part: offset with limit counts lines, head and tail are its ends, byte_offset with byte_length counts bytes. "+
			"If there is more, the answer says which offset to continue with. "+
			"To find the right lines first use search_text; for several small files use read_files.",
		readOutput), operation(c.read), showFile))
	r.tool(rendered(fileTool("read_files", "Read several files",
		"Content of up to 50 files in one call, each as read_file would return it from its beginning; a file that cannot be read has an error and does not keep the others from being read. "+
			"At most 128 KiB are returned for all of them together unless max_bytes says otherwise (up to 10 MiB). "+
			"For a part of a file, or its bytes, use read_file.",
		readOutput), operation(c.readMany), showFiles))
}

// rootList is what list_roots returns.
type rootList struct {
	Roots    []files.Root `json:"roots" jsonschema:"description=The allowed directories in the order they were given. Relative paths begin at the first."`
	Writable bool         `json:"writable" jsonschema:"description=Whether files may be changed"`
	Note     string       `json:"note,omitempty" jsonschema:"description=What to do if nothing is allowed"`
}

func (c *Catalog) roots(ctx context.Context, _ *registry.Call, _ nothing) (rootList, error) {
	if c.files == nil {
		return rootList{
			Roots: []files.Root{},
			Note:  "No directory is allowed, so there are no tools for files. The operator can allow one: start the server with --root DIR.",
		}, nil
	}
	out, err := c.files.ListRoots(ctx, files.ListRootsIn{})
	return rootList{Roots: out.Roots, Writable: out.Writable}, failure(err)
}

// search is search_text. A client that does not hear of progress any more is no
// reason to stop: if it is gone, the context ends.
func (c *Catalog) search(ctx context.Context, call *registry.Call, in files.SearchTextIn) (files.SearchTextOut, error) {
	out, err := c.files.SearchText(ctx, in, func(done, total int, message string) {
		_ = call.Progress(ctx, float64(done), float64(total), message)
	})
	return out, failure(err)
}

// readQuery is a [files.ReadFileIn] as a model sees it. Its max_bytes has no
// default in the schema, because the default is not the same for all kinds of
// content: an image that is cut is of no use.
type readQuery struct {
	Path       string `json:"path" jsonschema:"description=File to read: absolute or relative to the first root or a file URI"`
	Encoding   string `json:"encoding,omitempty" jsonschema:"description=auto returns text as text and images and recordings as such; text replaces bytes that are no UTF-8; base64 returns the exact bytes,enum=auto|text|base64,default=auto"`
	Offset     int    `json:"offset,omitempty" jsonschema:"description=First line to return\\, counted from 1,minimum=1"`
	Limit      int    `json:"limit,omitempty" jsonschema:"description=How many lines to return,minimum=1"`
	Head       int    `json:"head,omitempty" jsonschema:"description=Return only this many lines from the beginning,minimum=1"`
	Tail       int    `json:"tail,omitempty" jsonschema:"description=Return only this many lines from the end,minimum=1"`
	ByteOffset int64  `json:"byte_offset,omitempty" jsonschema:"description=First byte to return counted from 0,minimum=0"`
	ByteLength int64  `json:"byte_length,omitempty" jsonschema:"description=How many bytes to return,minimum=1"`
	MaxBytes   int64  `json:"max_bytes,omitempty" jsonschema:"description=Most bytes to return; when left out 131072 of text and the whole of an image or a recording,minimum=1,maximum=10485760"`
}

func (c *Catalog) read(ctx context.Context, q readQuery) (files.ReadFileOut, error) {
	return c.files.ReadFile(ctx, files.ReadFileIn(q))
}

// readManyQuery is a [files.ReadFilesIn] as a model sees it.
type readManyQuery struct {
	Paths    []string `json:"paths" jsonschema:"description=Files to read: each absolute or relative to the first root or a file URI,minItems=1,maxItems=50"`
	MaxBytes int64    `json:"max_bytes,omitempty" jsonschema:"description=Most bytes to return for all files together,minimum=1,maximum=10485760,default=131072"`
}

func (c *Catalog) readMany(ctx context.Context, q readManyQuery) (files.ReadFilesOut, error) {
	return c.files.ReadFiles(ctx, files.ReadFilesIn(q))
}

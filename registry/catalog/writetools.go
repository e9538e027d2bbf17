package catalog

import (
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/registry"
)

// writeTool is what the tools that change files have in common. Destructive
// means that something may be lost; idempotent, that a second call with the same
// arguments changes nothing more.
func writeTool(name, title, description string, destructive, idempotent bool) registry.Tool {
	t := fileTool(name, title, description, pageOutput)
	t.Capabilities |= policy.WriteFS
	t.Annotations = &registry.ToolAnnotations{Destructive: hint(destructive), Idempotent: hint(idempotent)}
	return t
}

// addWrites registers the tools that change files.
func (c *Catalog) addWrites(r *registrar) {
	r.tool(registry.Typed(writeTool("write_file", "Write a file",
		"Write a whole file of up to 10 MiB in one step, as text or base64. By default it creates a file and refuses to replace one; mode overwrite replaces it, and expected_sha256 (from file_info) makes sure that nobody changed it meanwhile. "+
			"To change a part of a file use edit_file, which shows what it changes. The directory must exist: make_directory creates it.",
		true, true), operation(c.files.WriteFile)))
	r.tool(registry.Typed(writeTool("edit_file", "Edit a file",
		"Replace exact pieces of a text file, all or none of them, and return the change as a unified diff. Each old_text must occur exactly once unless replace_all is set, so copy it from read_file with enough around it, spaces and tabs included. "+
			"Set dry_run to true to see the diff first. For a new file or a whole new content use write_file.",
		true, false), operation(c.files.EditFile)))
	r.tool(registry.Typed(writeTool("make_directory", "Create a directory",
		"Create a directory together with what is missing above it. It is no error if it exists already. "+
			"Needed before write_file or move_file can put a file into a new directory.",
		false, true), operation(c.files.MakeDirectory)))
	r.tool(registry.Typed(writeTool("move_file", "Move or rename",
		"Move or rename a file, a directory or a link. Nothing is replaced unless overwrite is set, and then only a file. "+
			"Destination is the new path including the name, and its directory must exist (make_directory). Between allowed directories only files can be moved.",
		true, false), operation(c.files.MoveFile)))
	r.tool(registry.Typed(writeTool("delete_file", "Delete",
		"Delete a file, a link (not what it leads to) or an empty directory, for good: there is no way back. With recursive a directory goes with everything in it, up to 10000 entries. "+
			"Look with list_directory before that. An allowed directory itself is never deleted.",
		true, true), operation(c.files.DeleteFile)))
}

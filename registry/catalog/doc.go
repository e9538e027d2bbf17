// Package catalog is what cloudg offers by itself: facts about the machine it
// runs on, and files below the directories that the operator allows, as tools,
// resources and prompts of a [registry.Registry].
//
// The work is done in two packages below this one, which know nothing of MCP:
// catalog/host asks the system, catalog/files reads and writes. This package
// says about each of their operations what it is called, what a model must know
// to use it well, how sensitive its answer is and what it can do to the world,
// and gives the answer the form in which a model reads it best.
//
// # Categories
//
//   - host: host_status, list_processes, list_listeners, list_interfaces, and
//     the prompt diagnose_host.
//   - files: list_roots always; with a root also list_directory, find_files,
//     search_text, read_file, read_files, file_info, the resource template
//     file:///{+path}, and the prompts investigate_log and summarize_directory;
//     when writing is allowed also write_file, edit_file, make_directory,
//     move_file and delete_file.
//   - meta: server_info, and the resource cloudg://server, which says the same.
//
// What is not allowed is not registered, so that no list shows what no call can
// do.
//
// # Results
//
// Every tool has an output schema and returns structured content. Where JSON is
// the best text as well, the text is the same JSON. Listings, searches and
// contents of files have a plain text instead; it says no more than the
// structured content does. Images and recordings are blocks of their own kind,
// and their bytes are not repeated in the structured content.
//
// Every failure that the caller can do something about is a result with isError
// whose text says what to do next.
package catalog

// Package skills serves directories of Agent Skills: the extension
// io.modelcontextprotocol/skills (SEP-2640).
//
// A skill is a directory with a file SKILL.md, which begins with its name and
// description as YAML frontmatter. Its files are resources under skill://, its
// entry says what they are, with size and digest, and three methods list
// entries, get one, and list a directory. [Open] reads the skills, [Set.Register]
// puts their files into a registry, and [Set.Methods] are the methods.
//
// # What a skill is made of
//
// All regular files of its directory and of those in it, but for names that
// begin with a dot. A symbolic link or a special file is refused: it cannot be
// served as what it is. Below a directory that is not a skill itself, every
// directory with a SKILL.md is one, and the directories on the way become the
// beginning of its URI. A program can bring skills along as an embed.FS. A skill
// inside another one belongs to both: it has an entry of its own, and its files
// are files of the outer skill as well. If it is not a sound skill it is only
// that.
//
// # A skill is what it was
//
// Entries are made once, when the skills are opened, and never change: what a
// host or its user has approved is what it gets. Every read compares the file
// with its digest; one that was changed since gives an error that says so,
// instead of bytes that no entry describes. A new start serves the new state.
//
// # Who sees a skill
//
// A skill is visible to whoever may see the resource SKILL.md. To others its
// entry, its directories and the place it would have in a list do not exist.
package skills

package skills_test

import (
	"fmt"
	"io/fs"
	"testing/fstest"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/skills"
)

// A program serves the skills that it was built with.
func ExampleOpen() {
	// In a program this is an embed.FS.
	built := fstest.MapFS{
		"release-notes/SKILL.md": {Data: []byte("---\nname: release-notes\ndescription: Write the notes of a release.\n---\n\nBegin with what breaks.\n")},
	}
	set, err := skills.Open(&skills.Options{Systems: []fs.FS{built}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer set.Close()
	if err := set.Register(registry.New(nil)); err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range set.Methods() {
		if m.Name == "skills/list" {
			result, err := m.Append(nil, &skills.Query{Principal: policy.Local()})
			fmt.Println(string(result), err)
		}
	}
	// Output:
	// "skills":[{"uri":"skill://release-notes/SKILL.md","frontmatter":{"name":"release-notes","description":"Write the notes of a release."},"resources":[{"uri":"skill://release-notes/SKILL.md","digest":"sha256:825d3ac0b680889be1b644e44e84b739001e0c4dc9d2153c0102f31f96637c0a","size":96}]}] <nil>
}

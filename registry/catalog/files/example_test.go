package files_test

import (
	"context"
	"fmt"
	"os"

	"cloudg.dev/cloudg/registry/catalog/files"
)

func ExampleFiles_EditFile() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	f, err := files.Open(files.Options{Roots: []string{dir}, AllowWrite: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()

	ctx := context.Background()
	if _, err := f.WriteFile(ctx, files.WriteFileIn{Path: "greeting.txt", Content: "hello\nworld\n"}); err != nil {
		fmt.Println(err)
		return
	}
	edited, err := f.EditFile(ctx, files.EditFileIn{
		Path:  "greeting.txt",
		Edits: []files.Edit{{OldText: "world", NewText: "there"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(edited.Diff)

	_, err = f.ReadFile(ctx, files.ReadFileIn{Path: "/etc/passwd"})
	fmt.Println(err)
	// Output:
	// --- a/greeting.txt
	// +++ b/greeting.txt
	// @@ -1,2 +1,2 @@
	//  hello
	// -world
	// +there
	// outside the allowed roots: "/etc/passwd"; list_roots shows the directories that may be used
}

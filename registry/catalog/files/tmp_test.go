package files_test
import ("testing";"runtime";"time";"cloudg.dev/cloudg/registry/catalog/files")
func TestTmpBig(t *testing.T) {
	f := open(t, "/tmp/big")
	m := func(n string, fn func() error) { runtime.GC(); var a, b runtime.MemStats; runtime.ReadMemStats(&a); s := time.Now(); err := fn(); d := time.Since(s); runtime.ReadMemStats(&b); t.Log(n, d, (b.TotalAlloc-a.TotalAlloc)>>20, "MiB alloc", (b.HeapSys)>>20, "heapsys", err) }
	m("list", func() error { o, err := f.ListDirectory(t.Context(), files.ListDirectoryIn{Depth: 3}); t.Log(o.Total, o.Notes); return err })
	m("find", func() error { o, err := f.FindFiles(t.Context(), files.FindFilesIn{Pattern: "*99.txt"}); t.Log(o.Total); return err })
	m("largest", func() error { o, err := f.FindFiles(t.Context(), files.FindFilesIn{Sort: "size", Limit: 10}); t.Log(o.Total); return err })
	m("search", func() error { o, err := f.SearchText(t.Context(), files.SearchTextIn{Pattern: "x"}, nil); t.Log(o.FilesSearched); return err })
}

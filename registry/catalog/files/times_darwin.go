package files

import (
	"io/fs"
	"syscall"
	"time"
)

// times gives when a file was last accessed and when it or its metadata was last changed.
func times(info fs.FileInfo) (accessed, changed time.Time, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, time.Time{}, false
	}
	return time.Unix(st.Atimespec.Unix()), time.Unix(st.Ctimespec.Unix()), true
}

//go:build !nopdf && !windows

package pdf

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a file belongs to the user that we run as.
func ours(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

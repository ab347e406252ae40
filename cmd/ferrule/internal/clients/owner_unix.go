//go:build unix

package clients

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// names returns how many names a file has.
func names(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// chown gives f the owner of another file, which matters when root edits a
// user's file.
func chown(f *os.File, like fs.FileInfo) error {
	want, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok && st.Uid == want.Uid && st.Gid == want.Gid {
		return nil
	}
	if err := f.Chown(int(want.Uid), int(want.Gid)); err != nil {
		return fmt.Errorf("the file belongs to another user or group (%d:%d) and would change hands; put the entry in by hand", want.Uid, want.Gid)
	}
	return nil
}

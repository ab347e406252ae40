//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// claimStdout takes standard output for the protocol: it is moved to another
// descriptor, which no child inherits, and descriptor 1 becomes standard
// error. So a stray print, of ours or of a child, cannot corrupt the stream.
func claimStdout() (*os.File, error) {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	if err := dup2(2, 1); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "stdout"), nil
}

//go:build unix

package shell

import (
	"fmt"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// newTerminal returns the two ends of a pseudo terminal of 40 lines and 120 columns. Ours is ready for deadlines.
func newTerminal() (ours, theirs *os.File, err error) {
	master, theirs, err := pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("no terminal can be made: %v", err)
	}
	defer master.Close()
	// pty uses Fd, after which a file blocks and knows no deadlines.
	fd := -1
	if err = pty.Setsize(master, &pty.Winsize{Rows: 40, Cols: 120}); err == nil {
		fd, err = unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		if fd >= 0 {
			unix.Close(fd)
		}
		theirs.Close()
		return nil, nil, fmt.Errorf("no terminal can be made: %v", err)
	}
	return os.NewFile(uintptr(fd), "terminal"), theirs, nil
}

//go:build !portable

package roots

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

const (
	readFlags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY
	dirFlags  = readFlags | unix.O_DIRECTORY
)

// openDirect opens name, below dir or absolute if dir is nil, in one system call that refuses to meet a link. A link is
// errLink, a name that leaves dir is EXDEV, a kernel or a filter without openat2, and a
// name too long for one call, are errors.ErrUnsupported.
func openDirect(dir *os.File, name string, flags int) (*os.File, error) {
	how := &unix.OpenHow{
		Flags:   uint64(flags) | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	var fd int
	var err error
	open := func(at int) {
		// EAGAIN: something was renamed meanwhile and the kernel is not sure about "..".
		for range 10 {
			fd, err = unix.Openat2(at, name, how)
			if err != unix.EINTR && err != unix.EAGAIN {
				break
			}
		}
	}
	if dir == nil {
		open(unix.AT_FDCWD)
	} else {
		how.Resolve |= unix.RESOLVE_BENEATH
		conn, connErr := dir.SyscallConn()
		if connErr == nil {
			connErr = conn.Control(func(at uintptr) { open(int(at)) })
		}
		if connErr != nil {
			return nil, fs.ErrClosed // the only reason there is; the error itself is hidden in package poll
		}
	}
	switch err {
	case nil:
		return os.NewFile(uintptr(fd), name), nil
	case unix.ELOOP:
		return nil, errLink
	case unix.ENOSYS, unix.EPERM: // EPERM is what filters of containers answer
		return nil, errors.ErrUnsupported
	case unix.ENAMETOOLONG:
		if len(name) >= unix.PathMax {
			return nil, errors.ErrUnsupported // os.Root takes the path in pieces
		}
	}
	return nil, &fs.PathError{Op: "openat2", Path: name, Err: err}
}

// statDirect is Stat of a name to which no link may lead, with openDirect's errors. Nothing is opened in earnest.
func statDirect(dir *os.File, name string) (fs.FileInfo, error) { return stat(dir, name, unix.O_PATH) }

// lstatDirect does the same, but the name itself may be a link.
func lstatDirect(dir *os.File, name string) (fs.FileInfo, error) {
	return stat(dir, name, unix.O_PATH|unix.O_NOFOLLOW)
}

func stat(dir *os.File, name string, flags int) (fs.FileInfo, error) {
	f, err := openDirect(dir, name, flags)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Stat()
}

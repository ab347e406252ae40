//go:build linux && !portable

package search

import (
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// tree opens the files below a directory. It holds the directory open, so the search stays in the tree that was listed
// when directories above are moved or replaced by links. It may be used concurrently.
type tree struct {
	fd  int
	old atomic.Bool // the kernel has no openat2, or a sandbox forbids it
	at  *os.Root    // instead of openat2
}

func openTree(dir string) (*tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	for {
		fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		switch err {
		case nil:
			return &tree{fd: fd, at: root}, nil
		case unix.EINTR:
		default:
			root.Close()
			return nil, &os.PathError{Op: "open", Path: dir, Err: err}
		}
	}
}

func (t *tree) close() {
	unix.Close(t.fd)
	t.at.Close()
}

// handle is an open regular file.
type handle struct {
	fd       int
	size     int64
	modified time.Time
}

// open opens a regular file; it never waits for a pipe and follows no link. name is relative, with slashes.
func (t *tree) open(name string) (handle, error) {
	fd, err := t.openFD(name)
	if err != nil {
		return handle{}, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return handle{}, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		unix.Close(fd)
		return handle{}, errNotRegular
	}
	return handle{fd, st.Size, time.Unix(st.Mtim.Unix())}, nil
}

func (t *tree) openFD(name string) (int, error) {
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOFOLLOW | unix.O_NOCTTY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	for !t.old.Load() {
		fd, err := unix.Openat2(t.fd, name, &how)
		switch err {
		case unix.EINTR, unix.EAGAIN: // EAGAIN: something was renamed meanwhile
			continue
		case unix.ENOSYS, unix.EPERM:
			t.old.Store(true)
		default:
			return fd, err
		}
	}
	dir, base := filepath.Split(name)
	parent, err := t.at.Open(filepath.Clean("./" + dir))
	if err != nil {
		return -1, err
	}
	defer parent.Close()
	for {
		fd, err := unix.Openat(int(parent.Fd()), base, int(how.Flags), 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// read fills b from the file and returns io.EOF at its end.
func (h handle) read(b []byte) (int, error) {
	for {
		n, err := unix.Read(h.fd, b)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, err
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (h handle) close() { unix.Close(h.fd) }

//go:build linux && !portable

package walk

import (
	"bytes"
	"encoding/binary"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// openFlags keep an open from waiting for the other end of a pipe.
const openFlags = unix.O_NONBLOCK

// dir is an open directory. What lies in it is opened relative to it, so the walk stays in the tree that it began with
// when directories above are moved or replaced by links.
type dir struct{ fd int }

func openDir(path string) (dir, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return dir{}, &os.PathError{Op: "open", Path: path, Err: err}
		}
		return dir{fd}, nil
	}
}

// sub opens a directory in d. The error says ELOOP or ENOTDIR when it is none any more.
func (d dir) sub(name string) (dir, error) {
	fd, err := d.openAt(name, unix.O_DIRECTORY)
	return dir{fd}, err
}

func (d dir) openAt(name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|openFlags|flags, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

func (d dir) close() { unix.Close(d.fd) }

// entries lists the directory in no order.
func (d dir) entries() ([]entry, error) {
	var out []entry
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.Getdents(d.fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return out, err
		}
		// A record: inode, offset (8 bytes each), its own length (2), type (1), name, at least one NUL.
		for b := buf[:n]; len(b) > 19; {
			size := binary.NativeEndian.Uint16(b[16:])
			kind, name := b[18], b[19:size]
			b = b[size:]
			if i := bytes.IndexByte(name, 0); i >= 0 {
				name = name[:i]
			}
			if s := string(name); s != "." && s != ".." {
				out = append(out, entry{s, d.kind(s, kind)})
			}
		}
	}
}

// kind translates the type in a record. Some file systems leave it unknown.
func (d dir) kind(name string, t byte) kind {
	if t == unix.DT_UNKNOWN {
		var st unix.Stat_t
		if unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			return odd
		}
		t = byte(st.Mode & unix.S_IFMT >> 12) // the types in records are the mode's upper four bits
	}
	switch t {
	case unix.DT_REG:
		return regular
	case unix.DT_DIR:
		return directory
	case unix.DT_LNK:
		return link
	}
	return odd
}

// modified is a regular file's time; false when there is no such file any more.
func (d dir) modified(name string) (time.Time, bool) {
	var st unix.Stat_t
	if unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return time.Time{}, false
	}
	return time.Unix(st.Mtim.Unix()), true
}

// rules returns what maxRuleFile allows of a regular file in d, or nil.
func (d dir) rules(name string) []byte {
	fd, err := d.openAt(name, 0)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	return readSome(f)
}

//go:build !portable

// The tag portable builds the fallback of the other systems here, so that its tests can run on Linux, too.

package atomicfile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// kernel makes the calls. EINTR is not an answer.
type kernel struct{}

func (kernel) call(_ string, f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

// target is one name in an open, locked folder. Every step goes through the folder's descriptor.
type target struct {
	sys    system
	root   *os.Root
	dfd    int
	base   string
	made   []string
	unlock func()

	held *os.File // the version that was read
	hfd  int
	st   unix.Stat_t // of held
}

// target opens and locks the folder of rel. If the folder was removed while the lock was waited for, as happens when
// another call takes back folders it made, it is looked for anew.
func (w *Files) target(ctx context.Context, root *os.Root, rel string, parents bool) (*target, error) {
	if err := checkRel(rel); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		t := &target{sys: w.sys, root: root, base: filepath.Base(rel)}
		fd, made, err := openFolder(root, filepath.Dir(rel), parents)
		t.dfd, t.made = fd, made
		if err != nil {
			t.dropMade()
			return nil, err
		}
		gone, err := t.lock(ctx, &w.locks)
		if err == nil && (!gone || attempt == 3) {
			return t, nil
		}
		t.close()
		t.dropMade()
		if err != nil {
			return nil, err
		}
	}
}

func (t *target) lock(ctx context.Context, l *locks) (gone bool, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(t.dfd, &st); err != nil {
		return false, err
	}
	if t.unlock, err = l.lock(ctx, fmt.Sprint(st.Dev, ":", st.Ino)); err != nil {
		return false, err
	}
	if err := flock(ctx, t.dfd); err != nil {
		return false, err
	}
	err = unix.Fstat(t.dfd, &st)
	return st.Nlink == 0, err
}

// close gives the locks back: the flock ends with the folder's descriptor.
func (t *target) close() {
	if t.held != nil {
		t.held.Close()
	}
	unix.Close(t.dfd)
	if t.unlock != nil {
		t.unlock()
	}
}

func (t *target) dropMade() { RemoveDirs(t.root, t.made) }

const openDir = unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// openFolder walks from root to dir and follows no link: os.Root alone would follow one that stays inside, and lead a
// checked path to a protected place. Folders on the way need only be searchable. made lists new ones, also on error.
func openFolder(root *os.Root, dir string, parents bool) (fd int, made []string, err error) {
	top, err := root.Open(".")
	if err != nil {
		return -1, nil, bare(err)
	}
	defer top.Close()
	fd, err = openAt(int(top.Fd()), ".", openDir)
	if dir == "." || err != nil {
		return fd, nil, err
	}
	names := strings.Split(dir, string(filepath.Separator))
	for i, name := range names {
		next, err := openStep(fd, name, i == len(names)-1)
		if err == unix.ENOENT && parents {
			err = unix.Mkdirat(fd, name, 0o777) // less umask, by the kernel
			if err == nil {
				made = append(made, filepath.Join(names[:i+1]...))
			}
			if err == nil || err == unix.EEXIST {
				next, err = openStep(fd, name, i == len(names)-1)
			}
		}
		unix.Close(fd)
		if err != nil {
			return -1, made, err
		}
		fd = next
	}
	return fd, made, nil
}

// openStep opens one folder: only the last is read, to lock and to flush it, and it works without that, too.
func openStep(dfd int, name string, last bool) (int, error) {
	if last {
		fd, err := openAt(dfd, name, openDir)
		if err != unix.EACCES {
			return fd, err
		}
	}
	return openAt(dfd, name, openDir|unix.O_PATH)
}

func openAt(dfd int, name string, flags int) (fd int, err error) {
	for {
		fd, err = unix.Openat(dfd, name, flags, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// removeDir removes an empty folder, and nothing that is none.
func removeDir(root *os.Root, rel string) {
	fd, _, err := openFolder(root, filepath.Dir(rel), false)
	if err != nil {
		return
	}
	unix.Unlinkat(fd, filepath.Base(rel), unix.AT_REMOVEDIR) // best effort: a folder in use stays
	unix.Close(fd)
}

// Open opens a file for reading without following a link and without waiting for the other end of a FIFO.
func Open(root *os.Root, rel string) (*os.File, error) {
	if err := checkRel(rel); err != nil {
		return nil, err
	}
	dfd, _, err := openFolder(root, filepath.Dir(rel), false)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dfd)
	fd, err := openAt(dfd, filepath.Base(rel), openFile)
	if err != nil {
		return nil, special(err)
	}
	return os.NewFile(uintptr(fd), rel), nil
}

const openFile = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC

// special translates the answers to opening a link and a socket.
func special(err error) error {
	if err == unix.ELOOP || err == unix.ENXIO {
		return ErrSpecial
	}
	return err
}

// read returns the present version and keeps it open, or nil if there is none. A file with several names can be
// written through another folder, so it is locked itself.
func (t *target) read(ctx context.Context, max int64) (*Content, error) {
	err := t.sys.call("open", func() (err error) {
		t.hfd, err = unix.Openat(t.dfd, t.base, openFile, 0)
		return err
	})
	if err == unix.ENOENT {
		return nil, nil
	}
	if err != nil {
		return nil, special(err)
	}
	t.held = os.NewFile(uintptr(t.hfd), t.base)
	if err := t.fstat(t.hfd, &t.st); err != nil {
		return nil, err
	}
	if t.st.Mode&unix.S_IFMT == unix.S_IFREG && t.st.Nlink > 1 {
		if err := flock(ctx, t.hfd); err != nil {
			return nil, err
		}
	}
	data, stamp, err := Read(t.held, max)
	if err != nil {
		return nil, bare(err)
	}
	if err := t.fstat(t.hfd, &t.st); err != nil {
		return nil, err
	}
	return &Content{Data: data, Stamp: stamp}, nil
}

func (t *target) fstat(fd int, st *unix.Stat_t) error {
	return t.sys.call("fstat", func() error { return unix.Fstat(fd, st) })
}

// lstat looks at a name in the folder.
func (t *target) lstat(name string, st *unix.Stat_t) error {
	return t.sys.call("fstatat", func() error { return unix.Fstatat(t.dfd, name, st, unix.AT_SYMLINK_NOFOLLOW) })
}

func (t *target) rename(from, to string, flags uint) error {
	op := map[uint]string{0: "rename", unix.RENAME_NOREPLACE: "noreplace", unix.RENAME_EXCHANGE: "exchange"}[flags]
	return t.sys.call(op, func() error { return unix.Renameat2(t.dfd, from, t.dfd, to, flags) })
}

// unlink removes a name. It tries twice, since what is left would stay for ever.
func (t *target) unlink(name string) (err error) {
	for range 2 {
		err = t.sys.call("unlinkat", func() error { return unix.Unlinkat(t.dfd, name, 0) })
		if err == nil || err == unix.ENOENT {
			return nil
		}
	}
	return err
}

// first chooses the way to begin with.
func (t *target) first(j *job) (way, string) {
	if j.old != nil && t.st.Nlink > 1 {
		return inPlace, "hard link"
	}
	return unnamed, ""
}

// isHeld reports whether st is the version that was read: the same inode, which nobody wrote to meanwhile.
func (t *target) isHeld(st *unix.Stat_t, old *Content) (bool, error) {
	if st.Dev != t.st.Dev || st.Ino != t.st.Ino {
		return false, nil
	}
	var same bool
	err := t.sys.call("pread", func() (err error) { same, err = holds(t.held, old.Data); return err })
	return same, err
}

func sameFile(a, b *unix.Stat_t) bool { return a.Dev == b.Dev && a.Ino == b.Ino }

// overwrite writes in place.
func (t *target) overwrite(j *job, why string) (out Outcome, err error) {
	var fd int
	err = t.sys.call("open", func() (err error) {
		fd, err = unix.Openat(t.dfd, t.base, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		return err
	})
	if err == unix.ENOENT {
		return out, ErrStale
	}
	if err != nil {
		return out, special(err)
	}
	f := os.NewFile(uintptr(fd), t.base)
	defer f.Close()
	var st unix.Stat_t
	if err := t.fstat(fd, &st); err != nil {
		return out, err
	}
	if same, err := t.isHeld(&st, j.old); err != nil {
		return out, bare(err)
	} else if !same {
		return out, ErrStale
	}
	if err := j.begin("", why); err != nil {
		return out, err
	}
	defer func() { j.end(out, err) }()
	complete, err := rewrite(t.sys, f, j.old.Data, j.data, j.sync)
	err = bare(err)
	if complete {
		out = j.outcome(stampAfter(fd))
		out.InPlace = why
	}
	return out, err
}

// stampAfter is the stamp of a file just written. If the system does not tell it, it is empty, and the next look at
// the file finds a difference, which is harmless.
func stampAfter(fd int) Stamp {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return Stamp{}
	}
	return Stamp{Dev: st.Dev, Ino: st.Ino, Size: st.Size, MTime: st.Mtim.Nano(), CTime: st.Ctim.Nano()}
}

// reserve makes room for the first n bytes without changing the size. A file system that cannot is taken on trust.
func reserve(f *os.File, n int64) error {
	if n == 0 {
		return nil
	}
	err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, n)
	if err == unix.EOPNOTSUPP || err == unix.ENOSYS || err == unix.EINVAL {
		return nil
	}
	return err
}

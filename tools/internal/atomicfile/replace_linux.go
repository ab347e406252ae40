//go:build !portable

package atomicfile

import (
	"cmp"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// swap is one second file on its way to the name of the first.
type swap struct {
	*target
	j         *job
	fd        int
	f         *os.File
	tmp       string
	linked    bool        // tmp may exist
	spent     bool        // what tmp holds is known to be of no use
	own       unix.Stat_t // of the second file, complete
	ownerLost bool
}

// replace writes a second file and gives it the name.
func (t *target) replace(j *job, how way) (out Outcome, err error) {
	s := &swap{target: t, j: j, tmp: tempName()}
	if how == unnamed {
		if err := s.create(how); err != nil {
			return out, err
		}
		defer s.f.Close()
	}
	temp := s.tmp
	if how == unnamed && j.old == nil {
		temp = "" // it goes straight to its name
	}
	if err := j.begin(temp, ""); err != nil {
		return out, err
	}
	defer func() { j.end(out, err) }()
	if how == named {
		if err := s.create(how); err != nil {
			_ = t.unlink(s.tmp) // nobody else has this name, and the call may have done its work
			return out, err
		}
		defer s.f.Close()
	}
	if err = s.fill(); err == nil {
		err = s.publish(how)
	}
	return s.finish(err)
}

// create opens the second file. A new file gets its mode from the kernel, which knows the umask and the folder's
// default ACL; one that will replace another is private until it has the other's mode.
func (s *swap) create(how way) error {
	mode := uint32(0o600)
	if s.j.old == nil {
		mode = 0o666
	}
	op, name, flags := "tmpfile", ".", unix.O_TMPFILE
	if how == named {
		op, name, flags = "create", s.tmp, unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW
	}
	err := s.sys.call(op, func() (err error) {
		s.fd, err = unix.Openat(s.dfd, name, unix.O_RDWR|unix.O_CLOEXEC|flags, mode)
		return err
	})
	switch err {
	case nil:
		s.f = os.NewFile(uintptr(s.fd), s.tmp)
		s.linked = how == named
		return nil
	case unix.EACCES, unix.EPERM, unix.EROFS:
		return &fallback{to: inPlace, why: "folder not writable", err: err}
	case unix.EOPNOTSUPP, unix.EISDIR, unix.EINVAL, unix.ENOENT:
		if how == unnamed { // kernels and file systems without O_TMPFILE have several ways to say so
			return &fallback{to: named, err: err}
		}
	}
	return err
}

// fill writes content and attributes and flushes them.
func (s *swap) fill() error {
	for rest := s.j.data; len(rest) > 0; {
		err := s.sys.call("write", func() error {
			n, err := unix.Write(s.fd, rest)
			rest = rest[max(n, 0):]
			return err
		})
		if err != nil {
			return err
		}
	}
	if s.j.old != nil {
		if err := s.attributes(); err != nil {
			return err
		}
	}
	if err := s.flush(); err != nil {
		return err
	}
	return s.fstat(s.fd, &s.own)
}

// flush looks for errors that appear late. Without fsync, closing a second descriptor makes network file systems
// report what a close would.
func (s *swap) flush() error {
	if s.j.sync != SyncNone {
		return s.sys.call("fsync", func() error { return unix.Fsync(s.fd) })
	}
	return s.sys.call("close", func() error {
		fd, err := unix.FcntlInt(uintptr(s.fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	})
}

func (s *swap) publish(how way) error {
	if s.j.old == nil {
		return s.publishNew(how)
	}
	if how == unnamed {
		s.linked = true
		if err := s.link(s.tmp); err != nil {
			return err
		}
	}
	return s.exchange()
}

// link names the unnamed file. Without /proc, and on some file systems, it cannot be named.
func (s *swap) link(name string) error {
	err := s.sys.call("linkat", func() error {
		return unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(s.fd), s.dfd, name, unix.AT_SYMLINK_FOLLOW)
	})
	switch err {
	case unix.EACCES, unix.EPERM, unix.ENOENT, unix.EXDEV, unix.EOPNOTSUPP, unix.EINVAL, unix.EMLINK:
		return &fallback{to: named, err: err}
	}
	return err
}

// publishNew gives a new file its name unless somebody else took it meanwhile.
func (s *swap) publishNew(how way) error {
	var err error
	if how == unnamed {
		err = s.link(s.base)
	} else {
		err = s.rename(s.tmp, s.base, unix.RENAME_NOREPLACE)
		if lacks(err) {
			err = s.sys.call("linkat", func() error { return unix.Linkat(s.dfd, s.tmp, s.dfd, s.base, 0) })
			s.spent = err == nil
		}
		if err == unix.EPERM || err == unix.EOPNOTSUPP { // no hard links either: some microseconds stay unguarded
			var st unix.Stat_t
			if err = s.lstat(s.base, &st); err == unix.ENOENT {
				err = s.rename(s.tmp, s.base, 0)
			} else if err == nil {
				err = unix.EEXIST
			}
		}
	}
	if err == unix.EEXIST {
		return ErrStale
	}
	return err
}

// lacks reports whether err means that the file system does not know a kind of rename.
func lacks(err error) bool {
	return err == unix.EINVAL || err == unix.ENOSYS || err == unix.EOPNOTSUPP
}

// exchange swaps the second file and the first and looks at what came out. If it is not the version that was read,
// somebody saved in between: his version is put back, and what comes out then must be what was put in before, or he
// saved again, and so on. In the end the name holds either our version in place of the one that was read, or the
// newest foreign one. The loop is bounded in case somebody saves without a pause; then the name holds a version of
// his, and another one stays under the temporary name.
func (s *swap) exchange() error {
	put, want := s.own, s.own
	for round := range 100 {
		err := s.rename(s.tmp, s.base, unix.RENAME_EXCHANGE)
		if err != nil && round == 0 {
			return s.refused(err)
		}
		if err == unix.ENOENT { // the name was removed while we gave a version back
			return ErrStale
		}
		var out unix.Stat_t
		if err == nil {
			err = s.lstat(s.tmp, &out)
		}
		if err != nil {
			return err
		}
		if round == 0 {
			mine, err := s.isHeld(&out, s.j.old)
			if mine || err != nil {
				s.spent = mine
				return bare(err)
			}
		} else if sameVersion(&out, &want) {
			s.spent = true
			return ErrStale
		}
		put, want = out, put
	}
	return ErrStale
}

// refused decides what a failed first exchange means.
func (s *swap) refused(err error) error {
	switch {
	case err == unix.ENOENT:
		return ErrStale
	case lacks(err):
		return s.renameOver()
	case err == unix.EBUSY:
		return &fallback{to: inPlace, why: "mount point", err: err}
	case err == unix.EPERM || err == unix.EACCES:
		return &fallback{to: inPlace, why: "folder forbids replacing the file", err: err}
	}
	return err
}

// sameVersion leaves the change time out, which a rename touches on some file systems.
func sameVersion(a, b *unix.Stat_t) bool {
	return sameFile(a, b) && a.Size == b.Size && a.Mtim == b.Mtim
}

// renameOver is for file systems without exchange: a gap of some microseconds stays between look and rename.
func (s *swap) renameOver() error {
	var now unix.Stat_t
	if err := s.lstat(s.base, &now); err == unix.ENOENT {
		return ErrStale
	} else if err != nil {
		return err
	}
	if same, err := s.isHeld(&now, s.j.old); err != nil {
		return bare(err)
	} else if !same {
		return ErrStale
	}
	return s.rename(s.tmp, s.base, 0)
}

// finish removes the temporary name and says what has happened. After an error the folder is asked: a call may have
// done its work and reported an error all the same.
func (s *swap) finish(err error) (Outcome, error) {
	published := err == nil
	if err != nil {
		var now unix.Stat_t
		published = s.lstat(s.base, &now) == nil && s.own.Ino != 0 && sameFile(&now, &s.own)
	}
	left := ""
	if s.linked && !(s.disposable() && s.unlink(s.tmp) == nil) {
		left = s.tmp
	}
	if !published {
		return Outcome{Left: left}, err
	}
	out := s.j.outcome(stampAfter(s.fd))
	out.OwnerLost, out.Left = s.ownerLost, left
	if err == nil && s.j.sync == SyncFull {
		err = s.sys.call("fsync", func() error { return unix.Fsync(s.dfd) })
		if err == unix.EBADF { // a folder that we may not read cannot be flushed
			err = nil
		}
	}
	return out, err
}

// disposable reports whether tmp may be removed: it holds nothing, our own file, or the version that was read. A
// foreign version is kept; it is the only copy.
func (s *swap) disposable() bool {
	if s.spent {
		return true
	}
	var now, own unix.Stat_t
	switch s.lstat(s.tmp, &now) {
	case unix.ENOENT:
		return true
	case nil:
	default:
		return false
	}
	if unix.Fstat(s.fd, &own) == nil && sameFile(&now, &own) {
		return true
	}
	if s.j.old == nil {
		return false
	}
	held, herr := s.isHeld(&now, s.j.old)
	return held && herr == nil
}

// remove takes the file out of its name and looks at it before it is gone.
func (t *target) remove(j *job) (out Outcome, err error) {
	tmp := tempName()
	if err := j.begin(tmp, ""); err != nil {
		return out, err
	}
	defer func() { j.end(out, err) }()
	err = t.rename(t.base, tmp, unix.RENAME_NOREPLACE)
	if lacks(err) {
		err = t.rename(t.base, tmp, 0)
	}
	var now unix.Stat_t
	looked := t.lstat(tmp, &now)
	if looked == unix.ENOENT { // the rename has not happened, whatever it says
		if err == nil || err == unix.ENOENT {
			err = ErrStale
		}
		return out, err
	}
	mine, err := false, looked
	if err == nil {
		mine, err = t.isHeld(&now, j.old)
	}
	if mine {
		err = t.unlink(tmp)
	}
	if !mine || err != nil {
		out.Left = t.giveBack(tmp)
		return out, cmp.Or(bare(err), ErrStale)
	}
	out.Written = true
	if j.sync == SyncFull {
		err = t.sys.call("fsync", func() error { return unix.Fsync(t.dfd) })
	}
	return out, err
}

// giveBack puts a file that was taken out of its name back, unless a newer version has the name by now. It returns the
// name under which the file stays if neither is possible.
func (t *target) giveBack(tmp string) (left string) {
	err := t.rename(tmp, t.base, unix.RENAME_NOREPLACE)
	if lacks(err) {
		if err = t.sys.call("linkat", func() error { return unix.Linkat(t.dfd, tmp, t.dfd, t.base, 0) }); err == nil {
			err = unix.EEXIST // two names, of which one must go
		}
	}
	if err == unix.EEXIST {
		err = t.unlink(tmp)
	}
	if err != nil {
		return tmp
	}
	return ""
}

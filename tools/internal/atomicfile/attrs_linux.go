//go:build !portable

package atomicfile

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// attributes gives the second file what the first had: owner, then extended attributes (ACLs and capabilities are
// among them, and chown takes capabilities away), and the mode last, since both others touch it.
func (s *swap) attributes() error {
	mode := s.target.st.Mode & 0o7777
	if err := s.chown(); err != nil {
		return err
	}
	if s.ownerLost {
		mode &^= unix.S_ISUID | unix.S_ISGID // they would now act for somebody else
	}
	if err := s.xattrs(); err != nil {
		return err
	}
	return s.sys.call("fchmod", func() error { return unix.Fchmod(s.fd, mode) })
}

// chown keeps owner and group if they may be kept, and at least the group if only that may.
func (s *swap) chown() error {
	var have unix.Stat_t
	if err := s.fstat(s.fd, &have); err != nil {
		return err
	}
	uid, gid := s.target.st.Uid, s.target.st.Gid
	if have.Uid == uid && have.Gid == gid {
		return nil
	}
	chown := func(uid, gid int) error {
		return s.sys.call("fchown", func() error { return unix.Fchown(s.fd, uid, gid) })
	}
	err := chown(int(uid), int(gid))
	if err == unix.EPERM || err == unix.EINVAL { // EINVAL: an owner that our user namespace does not know
		s.ownerLost = true
		if err = chown(-1, int(gid)); err == unix.EPERM || err == unix.EINVAL {
			return nil
		}
	}
	return err
}

// xattrs copies what may be copied. Labels of security modules may be refused; they are set by policy anyway.
func (s *swap) xattrs() error {
	list, err := s.xattr(func(b []byte) (int, error) { return unix.Flistxattr(s.hfd, b) })
	if err != nil {
		return skippable(err)
	}
	for name := range bytes.SplitSeq(list, []byte{0}) {
		if len(name) == 0 {
			continue
		}
		attr := string(name)
		value, err := s.xattr(func(b []byte) (int, error) { return unix.Fgetxattr(s.hfd, attr, b) })
		if err == nil {
			err = s.sys.call("fsetxattr", func() error { return unix.Fsetxattr(s.fd, attr, value, 0) })
		}
		if err := skippable(err); err != nil {
			return err
		}
	}
	return nil
}

// xattr asks for the size, then for the value, and again if that grew meanwhile.
func (s *swap) xattr(ask func([]byte) (int, error)) (b []byte, err error) {
	err = s.sys.call("xattr", func() error {
		for range 8 {
			n, err := ask(nil)
			if n == 0 || err != nil {
				b = nil
				return err
			}
			b = make([]byte, n)
			n, err = ask(b)
			if err == unix.ERANGE {
				continue
			}
			b = b[:max(n, 0)]
			return err
		}
		return unix.ERANGE
	})
	return b, err
}

func skippable(err error) error {
	switch err {
	case unix.EPERM, unix.EACCES, unix.EOPNOTSUPP, unix.ENODATA, unix.ENOSYS:
		return nil
	}
	return err
}

//go:build !portable

package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// missing skips a test that cannot run here; a complete machine must not skip it.
func missing(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("FERRULE_CI") == "1" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// attributesOf tells all that must survive an edit.
func attributesOf(t *testing.T, f string) string {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Lstat(f, &st); err != nil {
		t.Fatal(err)
	}
	s := fmt.Sprintf("mode %o owner %d:%d links %d", st.Mode, st.Uid, st.Gid, st.Nlink)
	names := make([]byte, 4096)
	n, _ := unix.Llistxattr(f, names)
	for name := range bytes.SplitSeq(names[:n], []byte{0}) {
		value := make([]byte, 4096)
		if n, err := unix.Lgetxattr(f, string(name), value); err == nil {
			s += fmt.Sprintf(" %s=%x", name, value[:n])
		}
	}
	return s
}

// acl is what setfacl -m u:1234:rw makes of mode 0640: version 2, then tag, permissions and id of each entry.
const acl = "\x02\x00\x00\x00" + "\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x06\x00\xd2\x04\x00\x00" +
	"\x04\x00\x04\x00\xff\xff\xff\xff" + "\x10\x00\x06\x00\xff\xff\xff\xff" + "\x20\x00\x00\x00\xff\xff\xff\xff"

// capability is cap_net_bind_service=ep.
const capability = "\x01\x00\x00\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// TestAttributes: S046, for each way of writing.
func TestAttributes(t *testing.T) {
	t.Parallel()
	type set struct {
		name string
		root bool
		make func(f string) error
	}
	xattr := func(name, value string) func(string) error {
		return func(f string) error { return unix.Setxattr(f, name, []byte(value), 0) }
	}
	sets := []set{
		{"mode 0751", false, func(f string) error { return os.Chmod(f, 0o751) }},
		{"mode 0400", true, func(f string) error { return os.Chmod(f, 0o400) }},
		{"set-id bits", false, func(f string) error { return unix.Chmod(f, 0o6755) }},
		{"owner", true, func(f string) error { return os.Chown(f, 1234, 4321) }},
		{"owner and set-id bits", true, func(f string) error { return errors.Join(os.Chown(f, 1234, 4321), unix.Chmod(f, 0o6755)) }},
		{"user xattrs", false, func(f string) error {
			return errors.Join(xattr("user.one", "1")(f), xattr("user.empty", "")(f), xattr("user.long", strings.Repeat("x", 999))(f))
		}},
		{"ACL", false, func(f string) error { return errors.Join(os.Chmod(f, 0o640), xattr("system.posix_acl_access", acl)(f)) }},
		{"capability", true, xattr("security.capability", capability)},
		{"capability of another's file", true, func(f string) error {
			return errors.Join(os.Chown(f, 1234, 4321), xattr("security.capability", capability)(f))
		}},
	}
	for _, refuse := range []string{"", "tmpfile", "exchange"} {
		for _, s := range sets {
			t.Run(s.name+" without "+refuse, func(t *testing.T) {
				if s.root && os.Geteuid() != 0 {
					t.Skip("only root may set this")
				}
				dir := t.TempDir()
				f := dir + "/f"
				put(t, f, "old")
				if err := s.make(f); errors.Is(err, unix.EOPNOTSUPP) {
					missing(t, "the file system has no such attributes")
				} else if err != nil {
					t.Fatal(err)
				}
				want := attributesOf(t, f)
				w := &Files{sync: SyncNone, sys: lacking{refuse}}
				out, err := w.Update(t.Context(), openRoot(t, dir), "f", Options{}, to("new"))
				if err != nil || out.OwnerLost || out.InPlace != "" {
					t.Errorf("%+v %v", out, err)
				}
				same(t, "attributes", attributesOf(t, f), want)
				same(t, "content", get(t, f), "new")
			})
		}
	}
}

// lacking is a system without one kind of call.
type lacking struct{ op string }

func (l lacking) call(op string, f func() error) error {
	if op == l.op {
		return unix.EOPNOTSUPP
	}
	return kernel{}.call(op, f)
}

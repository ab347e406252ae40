//go:build !portable

package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Every right that has to do with changing what is in a folder. Rights that this list does not name, such as reading,
// are not limited.
const writing = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
	unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
	unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
	unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE

const (
	onFiles = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE

	// A device made in a folder of the policy would open the whole disk to root.
	never = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// devices are open for writing to every command. Those of terminals are folders.
var devices = []string{
	"/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/random", "/dev/urandom", "/dev/ptmx", "/dev/pts", "/dev/shm",
}

// landlockVersion asks the kernel; 0 means that it has none.
func landlockVersion() int {
	v, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// limitWriting lets this process, and all that come from it, write only below dirs and to the devices.
func limitWriting(dirs []string, version int) error {
	handled := uint64(writing)
	if version < landlockTruncate {
		handled &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled}
	// The size is that of the first field, all that the first version knows.
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Handled_access_fs), 0)
	if errno != 0 {
		return fmt.Errorf("the kernel takes no rules for Landlock: %v", errno)
	}
	defer unix.Close(int(set))
	for _, path := range slices.Concat(dirs, devices) {
		if err := open(int(set), path, handled&^never); err != nil {
			return fmt.Errorf("the kernel takes no rule of Landlock for %s: %v", path, err)
		}
	}
	if err := noNewPrivileges(); err != nil {
		return err
	}
	if errno := everyThread(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0); errno != 0 {
		return fmt.Errorf("the kernel does not switch Landlock on: %v", errno)
	}
	return nil
}

// open adds a rule. What is not there any more, or is reached through a link by now, gets none.
func open(set int, path string, rights uint64) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= onFiles
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func noNewPrivileges() error {
	if errno := everyThread(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1); errno != 0 {
		return fmt.Errorf("privileges cannot be given up: %v", errno)
	}
	return nil
}

// everyThread makes a system call that limits the thread it is made on. A thread that it leaves out could be taken over
// by a command, since the kernel lets processes in one sandbox trace each other. In a program with cgo it is made on
// this thread alone, which must be the one that starts commands; to be traced is then refused, except by root.
func everyThread(trap, a, b uintptr) syscall.Errno {
	_, _, errno := syscall.AllThreadsSyscall6(trap, a, b, 0, 0, 0, 0)
	if errno != syscall.ENOTSUP {
		return errno
	}
	if _, _, errno = syscall.RawSyscall6(trap, a, b, 0, 0, 0, 0); errno == 0 {
		unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	}
	return errno
}

// thisSystem asks what can be had here.
func thisSystem() system {
	s := system{landlock: landlockVersion(), seccomp: hasSeccomp()}
	_, s.bwrap = bwrapPath()
	return s
}

// Apply limits this process, and all that come from it, to the policy. With a nil error everything that [Policy.Check]
// promises for it holds. It is for a process that has nothing open and nothing running yet, on the locked thread that
// starts commands; it does not undo what it has done before an error.
//
// With [Bubblewrap] the process becomes bwrap, whose child runs this program anew, with the same name and with words
// that end in the same policy; descriptors that are not closed on execution stay open in it.
func (p Policy) Apply() (Layers, error) {
	s := thisSystem()
	if p.wrapped { // those inside cannot do it again, and need not
		s.bwrap = nil
	}
	l, err := p.check(s)
	if err != nil {
		return l, err
	}
	if l.Bubblewrap && !p.wrapped {
		return l, p.wrap()
	}
	if l.Landlock > 0 {
		if err := limitWriting(p.Write, l.Landlock); err != nil {
			return l, err
		}
	}
	if l.Seccomp {
		err = closeNetwork(l.Bubblewrap)
	}
	return l, err
}

//go:build !portable

package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The test binary is its own helper: with this name it limits itself to the policy of its words and then runs the
// command of the variable, a JSON list. With the other name it first takes Landlock away, as a kernel without it would.
const (
	confined = "sandbox-test-confined"
	without  = "sandbox-test-without-landlock"
	command  = "SANDBOX_TEST_COMMAND"
)

func TestMain(m *testing.M) {
	switch os.Args[0] {
	case confined:
		helper()
	case without:
		runtime.LockOSThread()
		hideLandlock()
		self, _ := os.Executable()
		fmt.Fprintln(os.Stderr, unix.Exec(self, append([]string{confined}, os.Args[1:]...), os.Environ()))
		os.Exit(120)
	}
	os.Exit(m.Run())
}

func helper() {
	runtime.LockOSThread()
	p, err := Parse(os.Args[1:])
	if err == nil {
		_, err = p.Apply()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(121)
	}
	var argv []string
	if err := json.Unmarshal([]byte(os.Getenv(command)), &argv); err != nil {
		panic(err)
	}
	if act := actions[argv[0]]; act != nil {
		if err := act(argv[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	path, err := exec.LookPath(argv[0])
	if err == nil {
		err = unix.Exec(path, argv, os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(122)
}

// actions are what no command does as plainly. Each must fail in the sandbox, or must not.
var actions = map[string]func(args []string) error{
	"ptrace": func(args []string) error {
		var pid int
		fmt.Sscan(args[0], &pid)
		return syscall.PtraceAttach(pid)
	},
	"memory": func(args []string) error {
		f, err := os.OpenFile("/proc/"+args[0]+"/mem", os.O_RDWR, 0)
		if err == nil {
			f.Close()
		}
		return err
	},
	"mount":    func(args []string) error { return unix.Mount("none", args[0], "tmpfs", 0, "") },
	"mknod":    func(args []string) error { return unix.Mknod(args[0], unix.S_IFBLK|0o600, int(unix.Mkdev(7, 250))) },
	"truncate": func(args []string) error { return unix.Truncate(args[0], 0) },
	"rename": func(args []string) error { // mv would copy if the kernel refused
		if err := os.WriteFile(args[0], nil, 0o600); err != nil {
			return err
		}
		if err := os.Rename(args[0], args[1]); err != nil {
			return err
		}
		return os.Link(args[1], args[0])
	},
	"socket": func(args []string) error {
		var family, kind int
		fmt.Sscan(args[0], &family)
		fmt.Sscan(args[1], &kind)
		_, err := unix.Socket(family, kind, 0)
		return err
	},
	"socketpair": func(args []string) error {
		var kind int
		fmt.Sscan(args[0], &kind)
		_, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
		return err
	},
	"syscall": func(args []string) error {
		var number uintptr
		var want int
		fmt.Sscan(args[0], &number)
		fmt.Sscan(args[1], &want)
		if _, _, errno := unix.Syscall6(number, 0, 0, 0, 0, 0, 0); errno != syscall.Errno(want) {
			return fmt.Errorf("%v, want %v", errno, syscall.Errno(want))
		}
		return nil
	},
	"threads": func(args []string) error { // every thread is limited, not only the one that will start commands
		result := make(chan error)
		go func() {
			runtime.LockOSThread() // another thread than the main one, which is locked
			result <- os.WriteFile(args[0], nil, 0o600)
		}()
		return <-result
	},
}

// hideLandlock makes the kernel say that it has none.
func hideLandlock() {
	err := install([]unix.SockFilter{
		load(atNumber),
		skip(unix.BPF_JEQ, unix.SYS_LANDLOCK_CREATE_RULESET, 0, 1), result(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)),
		result(unix.SECCOMP_RET_ALLOW),
	})
	if err != nil {
		panic(err)
	}
}

// oneThread reports a program with cgo, in which only the thread that starts commands is limited.
func oneThread() bool {
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_GET_NO_NEW_PRIVS, 0, 0)
	return errno == syscall.ENOTSUP
}

// need skips the test where a program is missing; in CI it fails.
func need(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			if os.Getenv("FERRULE_CI") == "1" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
}

// needLandlock skips the test on a kernel without Landlock.
func needLandlock(t testing.TB) {
	t.Helper()
	if landlockVersion() < landlockTruncate {
		t.Skip("this kernel has no Landlock of version 3")
	}
}

// nobody is an ordinary user, for tests that run as root.
const nobody = 65534

// A place is a folder with a workspace, a folder for temporary files and one outside of both.
type place struct {
	root, tmp, out string
	user           bool // commands run as an ordinary user although the test does not
}

func newPlace(t *testing.T, asUser bool) place {
	t.Helper()
	top, err := os.MkdirTemp("", "sandbox-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	if top, err = filepath.EvalSymlinks(top); err != nil {
		t.Fatal(err)
	}
	p := place{top + "/root", top + "/tmp", top + "/out", asUser}
	paths := []string{top, p.root, p.tmp, p.out, p.out + "/empty"}
	for _, dir := range paths {
		os.Mkdir(dir, 0o755)
	}
	if err := os.WriteFile(p.out+"/secret", []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range append(paths, p.out+"/secret") {
		mode := os.FileMode(0o755)
		if filepath.Base(path) == "secret" {
			mode = 0o644
		}
		if err := os.Chmod(path, mode); err != nil { // whatever the umask is
			t.Fatal(err)
		}
		if asUser {
			if err := os.Chown(path, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
	}
	return p
}

func (p place) policy(mode Mode) Policy {
	return Policy{Mode: mode, Write: []string{p.root, p.tmp}}
}

// run runs a command or an action in the place's root, limited to the policy.
func (p place) run(t *testing.T, policy Policy, argv ...string) (out string, err error) {
	t.Helper()
	return p.runAs(t, confined, policy, argv...)
}

func (p place) runAs(t *testing.T, name string, policy Policy, argv ...string) (out string, err error) {
	t.Helper()
	list, err := json.Marshal(argv)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "/proc/self/exe")
	c.Args = append([]string{name}, policy.Words()...)
	c.Dir = p.root
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.root, "TMPDIR=" + p.tmp, "O=" + p.out, "SELF=" + self, command + "=" + string(list)}
	if p.user {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	b, err := c.CombinedOutput()
	return string(b), err
}

// users calls f as the user of the test and, if that is root, as an ordinary one.
func users(t *testing.T, f func(t *testing.T, asUser bool)) {
	t.Run("same user", func(t *testing.T) { t.Parallel(); f(t, false) })
	if os.Geteuid() == 0 {
		t.Run("ordinary user", func(t *testing.T) { t.Parallel(); f(t, true) })
	}
}

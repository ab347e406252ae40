//go:build !portable

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Which commands can do what they want, by layer. The scripts stand in the workspace; $O is a folder outside.
var table = []struct {
	script                     string
	free, landlock, bubblewrap bool
}{
	{"echo x > f", true, true, true},         // S134
	{"echo x > $TMPDIR/f", true, true, true}, // S135
	{"mktemp", true, true, true},             // S135
	{"echo x > /dev/null && (echo x > /dev/stderr) 2>&1 | cat && cat < /dev/null > /dev/full", true, true, true}, // S136
	{"head -c1 /dev/urandom > f; echo > /dev/shm/sandbox-test-$$ && rm /dev/shm/sandbox-test-$$", true, true, true},
	{"cat $O/secret", true, true, true},                      // S137
	{"ls $O && test -r /etc/passwd", true, true, true},       // S137
	{"echo x > $O/new", true, false, false},                  // S138
	{"echo x >> $O/secret", true, false, false},              // S139
	{"truncate -s 0 $O/secret", true, false, false},          // S140
	{": > $O/secret", true, false, false},                    // S140
	{"rm -f $O/secret", true, false, false},                  // S141
	{"rmdir $O/empty", true, false, false},                   // S141
	{"echo x > f && mv f $O/f", true, false, false},          // S142
	{"mv $O/secret .", true, false, false},                   // S142
	{"mv -T $O/secret $O/other", true, false, false},         // S142
	{"ln $O/secret h && echo x >> h", true, false, false},    // S143
	{"ln -s $O/secret s && echo x >> s", true, false, false}, // S144
	{"ln -s $O d && echo x > d/new", true, false, false},     // S144
	{"mkdir $O/d", true, false, false},                       // S145
	{"ln -s x $O/l", true, false, false},
	{"mkfifo $O/p", true, false, false},
	{"mkdir -p a b && echo x > a/f && mv a/f b/f && mv b/f $TMPDIR/f && mv $TMPDIR/f f && mv a $TMPDIR/a", true, true, true}, // S148
	{"ln -s $O/secret s && rm s && ln f2 f3 2>/dev/null; touch f4 && ln f4 f5 && rm -r f4 f5", true, true, true},
	{"mkfifo p && (echo x > p &) && read x < p", true, true, true},
	{"echo hi > >(cat > f) && tee f2 < <(echo x) | cat", true, true, true},
	{"mkdir -p .git/hooks && echo x > .git/hooks/pre-commit", true, true, true},
	{"chmod 600 $O/secret && touch $O/secret", true, true, false},
}

// S134–S145, S148, S153: every row as root and as an ordinary user. In a sandbox one process runs all rows, each in a
// folder of its own, since what is outside must be as before in the end.
func TestCommands(t *testing.T) {
	t.Parallel()
	needLandlock(t)
	need(t, "bash", "mkfifo", "truncate")
	users(t, func(t *testing.T, asUser bool) {
		for _, row := range table {
			if p := newPlace(t, false); !asUser {
				if out, err := p.run(t, p.policy(Off), "bash", "-c", row.script); (err == nil) != row.free {
					t.Errorf("no sandbox: %q: %v\n%s", row.script, err, out)
				}
			}
		}
		for _, mode := range []Mode{Auto, Bubblewrap} {
			if _, err := bwrapPath(); mode == Bubblewrap && err != nil {
				continue // TestBubblewrap asks for the program
			}
			p := newPlace(t, asUser)
			argv := []string{"bash", "-c", `for script; do mkdir $((++i)); (cd $i; bash -c "$script") >$i/out 2>&1; echo $?; done`, "bash"}
			for _, row := range table {
				argv = append(argv, row.script)
			}
			out, err := p.run(t, p.policy(mode), argv...)
			codes := strings.Fields(out)
			if err != nil || len(codes) != len(table) {
				t.Fatalf("%s: %v\n%s", mode, err, out)
			}
			for i, row := range table {
				want := row.landlock
				if mode == Bubblewrap {
					want = row.bubblewrap
				}
				if said, _ := os.ReadFile(fmt.Sprintf("%s/%d/out", p.root, i+1)); (codes[i] == "0") != want {
					t.Errorf("%s: %q: exit code %s, want success %v\n%s", mode, row.script, codes[i], want, said)
				}
			}
			left, _ := filepath.Glob(p.out + "/*")
			if secret, err := os.ReadFile(p.out + "/secret"); string(secret) != "secret" || err != nil || len(left) != 2 {
				t.Errorf("%s: outside are %s, the secret is %q, %v", mode, left, secret, err)
			}
		}
	})
}

var refused = regexp.MustCompile("not permitted|denied|cross-device")

// S146, S147, and what a whole program can try.
func TestActions(t *testing.T) {
	t.Parallel()
	needLandlock(t)
	users(t, func(t *testing.T, asUser bool) {
		p := newPlace(t, asUser)
		server := exec.Command("sleep", "60")
		server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
		if asUser {
			server.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Process.Kill(); server.Wait() })
		pid := strconv.Itoa(server.Process.Pid)
		for _, row := range [][]string{
			{"memory", pid}, {"ptrace", pid}, {"mount", p.root}, {"threads", p.out + "/new"}, {"mknod", p.root + "/disk"},
			{"truncate", p.out + "/secret"}, {"rename", p.root + "/f", p.out + "/f"},
		} {
			if row[0] == "threads" && oneThread() {
				continue // only the thread that starts commands is limited
			}
			if out, err := p.run(t, p.policy(Auto), row...); err == nil || !refused.MatchString(out) {
				t.Errorf("%s: %v, want a refusal\n%s", row, err, out)
			}
		}
		if out, err := p.run(t, p.policy(Auto), "rename", p.root+"/a", p.tmp+"/a"); err != nil {
			t.Errorf("moving between two folders: %v\n%s", err, out) // S148
		}
		if out, err := p.run(t, p.policy(Off), "memory", pid); err != nil {
			t.Errorf("without the sandbox: %v\n%s", err, out)
		}
		if out, err := p.run(t, p.policy(Auto), "threads", p.root+"/new"); err != nil {
			t.Errorf("a thread in the workspace: %v\n%s", err, out)
		}
	})
}

// S150, S151: a kernel without Landlock. Auto goes on, and what asks for more does not start.
func TestKernelWithoutLandlock(t *testing.T) {
	t.Parallel()
	need(t, "bash")
	p := newPlace(t, false)
	for mode, want := range map[Mode]bool{Auto: true, Require: false} {
		out, err := p.runAs(t, without, p.policy(mode), "bash", "-c", "echo x > $O/new")
		if (err == nil) != want {
			t.Errorf("%s: %v\n%s", mode, err, out)
		}
		if !want && !strings.Contains(out, "has no Landlock") {
			t.Errorf("%s: says %q", mode, out)
		}
	}
}

// judge is what the kernel does with a filter.
func judge(filter []unix.SockFilter, data [16]uint32) uint32 {
	var a uint32
	for pc := 0; ; pc++ {
		switch f := filter[pc]; f.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = data[f.K/4]
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			a &= f.K
		case unix.BPF_RET | unix.BPF_K:
			return f.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K:
			yes := a == f.K
			if f.Code&unix.BPF_JGT != 0 {
				yes = a > f.K
			}
			if yes {
				pc += int(f.Jt)
			} else {
				pc += int(f.Jf)
			}
		default:
			panic(f)
		}
	}
}

// Every system call there can be has its answer, also those that this kernel does not have.
func TestFilter(t *testing.T) {
	t.Parallel()
	const refuse, none = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM), unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	call := func(arch, nr, a, b uint32) [16]uint32 { return [16]uint32{0: nr, 1: arch, 4: a, 6: b} }
	for _, own := range [][]uint32{nil, {unix.AF_INET, unix.AF_INET6}} {
		f := networkFilter(own)
		for nr := range uint32(2000) {
			want := uint32(unix.SECCOMP_RET_ALLOW)
			switch {
			case nr > lastCall:
				want = none
			case slices.Contains(channels, nr), nr == unix.SYS_SOCKET, nr == unix.SYS_SOCKETPAIR:
				want = refuse // of no family
			}
			if got := judge(f, call(nativeArch, nr, 0, 0)); got != want {
				t.Errorf("call %d: %#x, want %#x", nr, got, want)
			}
			for _, bad := range []uint32{nr | 0x40000000, nr | 0x80000000} {
				if got := judge(f, call(nativeArch, bad, unix.AF_UNIX, unix.SOCK_STREAM)); got != none {
					t.Errorf("call %#x: %#x", bad, got)
				}
			}
			if got := judge(f, call(unix.AUDIT_ARCH_I386, nr, 1, 1)); got != unix.SECCOMP_RET_KILL_PROCESS {
				t.Errorf("call %d of another processor: %#x", nr, got)
			}
		}
		for family := range uint32(100) {
			want := refuse
			if slices.Contains(own, family) {
				want = unix.SECCOMP_RET_ALLOW
			}
			if got := judge(f, call(nativeArch, unix.SYS_SOCKET, family, unix.SOCK_STREAM)); got != want {
				t.Errorf("socket of family %d: %#x, want %#x", family, got, want)
			}
			for _, flags := range []uint32{0, unix.SOCK_CLOEXEC, unix.SOCK_NONBLOCK} {
				for _, kind := range []uint32{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_SEQPACKET} {
					want := refuse
					if family == unix.AF_UNIX && kind != unix.SOCK_DGRAM {
						want = unix.SECCOMP_RET_ALLOW
					}
					if got := judge(f, call(nativeArch, unix.SYS_SOCKETPAIR, family, kind|flags)); got != want {
						t.Errorf("socketpair of family %d, type %#x: %#x, want %#x", family, kind|flags, got, want)
					}
				}
			}
		}
	}
}

func TestNoNetwork(t *testing.T) {
	t.Parallel()
	if !hasSeccomp() {
		t.Skip("this kernel has no seccomp")
	}
	num := func(n int) string { return strconv.Itoa(n) }
	users(t, func(t *testing.T, asUser bool) {
		p := newPlace(t, asUser)
		policy := p.policy(Auto)
		policy.Offline = true
		for _, family := range []int{unix.AF_INET, unix.AF_INET6, unix.AF_UNIX, unix.AF_NETLINK, unix.AF_PACKET, unix.AF_VSOCK, unix.AF_ALG, unix.AF_BLUETOOTH, 63} {
			if out, err := p.run(t, policy, "socket", num(family), num(unix.SOCK_STREAM)); err == nil || !strings.Contains(out, "not permitted") {
				t.Errorf("socket of family %d: %v\n%s", family, err, out)
			}
		}
		for kind, want := range map[int]bool{unix.SOCK_STREAM: true, unix.SOCK_SEQPACKET: true, unix.SOCK_DGRAM: false} {
			if out, err := p.run(t, policy, "socketpair", num(kind)); (err == nil) != want {
				t.Errorf("socketpair of type %d: %v\n%s", kind, err, out)
			}
		}
		for _, call := range channels {
			if out, err := p.run(t, policy, "syscall", num(int(call)), num(int(unix.EPERM))); err != nil {
				t.Errorf("system call %d: %s", call, out)
			}
		}
		for _, call := range []int{lastCall + 1, 999, 0x40000000 | unix.SYS_SOCKET} {
			if out, err := p.run(t, policy, "syscall", num(call), num(int(unix.ENOSYS))); err != nil {
				t.Errorf("system call %d: %s", call, out)
			}
		}
		if out, err := p.run(t, policy, "bash", "-c", "echo x | cat > f && (sleep 0 & wait) && cat f && test $(ls / | wc -l) -gt 1"); err != nil {
			t.Errorf("ordinary work: %v\n%s", err, out)
		}
		policy.Mode = Off
		if out, err := p.run(t, policy, "socket", num(unix.AF_INET), num(unix.SOCK_DGRAM)); err == nil {
			t.Errorf("without a sandbox for files: %s", out)
		}
	})
}

// Bubblewrap closes what Landlock does not know, and gives a network of its own.
func TestBubblewrap(t *testing.T) {
	t.Parallel()
	if _, err := bwrapPath(); err != nil {
		if os.Getenv("FERRULE_CI") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	users(t, func(t *testing.T, asUser bool) {
		p := newPlace(t, asUser)
		policy := p.policy(Bubblewrap)
		policy.Offline = true
		for _, row := range []struct {
			argv []string
			ok   bool
		}{
			{[]string{"bash", "-c", "echo x > f && ! chmod 600 $O/secret && ! touch $O/secret"}, true},
			{[]string{"socket", strconv.Itoa(unix.AF_INET), "1"}, true},
			{[]string{"socket", strconv.Itoa(unix.AF_UNIX), "1"}, false},
			{[]string{"socket", strconv.Itoa(unix.AF_PACKET), "3"}, false},
			{[]string{"bash", "-c", "test $(ls /sys/class/net 2>/dev/null; grep -c : /proc/self/net/dev) = 1"}, false},
			{[]string{"bash", "-c", "test $(grep -c : /proc/self/net/dev) = 1"}, true}, // the loopback interface
			{[]string{"bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9"}, false},
		} {
			if out, err := p.run(t, policy, row.argv...); (err == nil) != row.ok {
				t.Errorf("%q: %v\n%s", row.argv, err, out)
			}
		}
	})
}

// What was exchanged with a link since the policy was made gets no rule, and what is gone does no harm.
func TestExchanged(t *testing.T) {
	t.Parallel()
	needLandlock(t)
	need(t, "bash")
	p := newPlace(t, false)
	policy := p.policy(Require)
	policy.Write = append(policy.Write, filepath.Dir(p.root)+"/gone")
	os.RemoveAll(p.tmp)
	if err := os.Symlink(p.out, p.tmp); err != nil {
		t.Fatal(err)
	}
	if out, err := p.run(t, policy, "bash", "-c", "echo x > f && ! echo x > $O/new && ! echo x > $TMPDIR/new"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A sandbox in a sandbox only gets smaller.
func TestNested(t *testing.T) {
	t.Parallel()
	needLandlock(t)
	need(t, "bash")
	p := newPlace(t, false)
	wide := Policy{Mode: Require, Write: []string{p.root, p.tmp, p.out}}
	inner := p.policy(Require)
	argv := append([]string{"bash", "-c", `` +
		command + `='["bash", "-c", "echo x > f && ! echo x > $O/new"]' exec -a ` + confined + ` "$SELF" "$@"`, "bash"}, inner.Words()...)
	if out, err := p.run(t, wide, argv...); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

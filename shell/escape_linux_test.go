//go:build !portable

package shell

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Programs that come again when they end, in the shell's ways and in one that is faster than any look at the process
// table.
func TestTreeRespawn(t *testing.T) {
	need(t, "setsid", "perl")
	for name, command := range map[string]string{
		"supervisor": `(trap '' TERM; while :; do setsid sleep 5TAG & wait; done) & sleep 1TAG`,
		"relay": `cat >relay.sh <<'E'
trap '' TERM
setsid bash relay.sh TAG &
sleep .01
E
setsid bash relay.sh TAG & sleep 1TAG`,
		"hop":  `perl -e '$0 = "hop TAG"; $SIG{TERM} = "IGNORE"; while (1) { exit if fork; setpgrp }' & sleep 1TAG`,
		"many": `b() { [ $1 = 0 ] || { b $(($1-1)) & b $(($1-1)) & }; sleep 6TAG; }; b 4`,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, Config{pace: faster}, func(t *testing.T, s *Shell) {
				tag := tag()
				r := doWithin(t, s, strings.ReplaceAll(command, "TAG", tag), time.Second)
				if a := tagged(tag); len(a) > 0 || !r.TimedOut || r.Wall > time.Second+faster.grace+slack {
					t.Errorf("survivors %q; %+v", a, r)
				}
				t.Logf("%v after the limit", r.Wall-time.Second)
			})
		})
	}
}

// tagged lists everything with a tag in its arguments.
func tagged(tag string) (names []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range all {
		if b, _ := os.ReadFile(f); bytes.Contains(b, []byte(tag)) {
			names = append(names, string(b))
		}
	}
	return names
}

// A task that is stopped while it starts needs no grace: whoever was being born when the others were asked is asked, too.
func TestTreeNewborn(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{pace: pace{grace: 20 * time.Second}})
	for range 10 {
		start := time.Now()
		if _, ended, err := s.Stop(t.Context(), launch(t, s, "sleep 600").ID); err != nil || !ended {
			t.Error(ended, err)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("took %v", took)
		}
	}
}

// What a trap starts to clean up is not asked to end.
func TestTreeCleanUp(t *testing.T) {
	t.Parallel()
	s, root := newShell(t, Config{pace: pace{grace: 20 * time.Second}})
	info := launch(t, s, "trap 'bash -c \"sleep .15; touch cleaned\"; exit' TERM; touch ready; while :; do sleep .01; done")
	ready := func(name string) bool {
		_, err := os.Stat(filepath.Join(root, name))
		return err == nil
	}
	eventually(t, 10*time.Second, func() bool { return ready("ready") }, func() string { return "not ready" })
	if _, _, err := s.Stop(t.Context(), info.ID); err != nil || !ready("cleaned") {
		t.Error("it could not clean up", err)
	}
}

// With a control group nobody gets away from a tree whose helper was killed, whatever the environment and the session;
// and no group is left when its server has ended, also by a kill, once the next one starts.
func TestTreePen(t *testing.T) {
	t.Parallel()
	need(t, "setsid")
	parent := penParent()
	if parent == "" {
		t.Skip("no control groups can be made here")
	}
	s, root := newShell(t, Config{pace: faster})
	tag := tag()
	r := doWithin(t, s, fmt.Sprintf("env -i $(type -P setsid) -f $(type -P sleep) 1%[1]s; kill -KILL $PPID; sleep 2%[1]s", tag), 10*time.Second)
	none(t, tag)
	if r.Signal != "SIGKILL" || r.TimedOut {
		t.Errorf("%+v", r)
	}
	cmd, out := startServer(t, root, "start sleep 3"+tag)
	if line, err := out.ReadString('\n'); line != "started\n" {
		t.Fatal(line, err)
	}
	awaitFamily(t, tag, 1)
	groups := func() int {
		names, _ := filepath.Glob(filepath.Join(parent, fmt.Sprintf("%s%d-*", penPrefix, cmd.Process.Pid)))
		return len(names)
	}
	if groups() == 0 {
		t.Error("a task has no group")
	}
	cmd.Process.Kill()
	cmd.Wait()
	awaitFamily(t, tag, 0)
	eventually(t, 10*time.Second, func() bool { return penParent() == parent && groups() == 0 },
		func() string { return fmt.Sprintf("%d groups are left", groups()) })
}

func TestFindGroup(t *testing.T) {
	t.Parallel()
	const unified = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	for _, c := range []struct{ own, mounts, want string }{
		{"0::/user.slice/a.scope\n", unified, "/sys/fs/cgroup/user.slice/a.scope"},
		{"0::/\n", unified, "/sys/fs/cgroup"},
		{"4:memory:/x\n0::/\n", "30 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n40 23 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			"/sys/fs/cgroup/unified"},
		{"0::/box/in\n", "29 23 0:26 /box /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "/sys/fs/cgroup/in"},
		{"0::/elsewhere\n", "29 23 0:26 /box /sys/fs/cgroup rw - cgroup2 cgroup rw\n", ""},
		{"0::/../other\n", unified, ""},
		{"4:memory:/x\n", unified, ""},
		{"0::/\n", "", ""},
	} {
		if got := findGroup(c.own, c.mounts); got != c.want {
			t.Errorf("findGroup(%q, %q) = %q, want %q", c.own, c.mounts, got, c.want)
		}
	}
}

// What a kernel refuses is left out, and what is then not known is not made up.
func TestForkFallback(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		refused        string
		group, shared  bool
		tries          int
		wantErr, apart bool
	}{
		{"", true, true, 1, false, false},
		{"group", false, true, 2, false, false},
		{"group shared", false, false, 3, false, true},
		{"all", false, false, 3, true, true},
	} {
		w, tries := &warden{pen: 9}, 0
		attr := &syscall.ProcAttr{Sys: &syscall.SysProcAttr{UseCgroupFD: true, Cloneflags: unix.CLONE_FS}}
		pid, err := w.fork([]string{"sh"}, attr, func(_ string, _ []string, a *syscall.ProcAttr) (int, error) {
			tries++
			if c.refused == "all" || strings.Contains(c.refused, "group") && a.Sys.UseCgroupFD ||
				strings.Contains(c.refused, "shared") && a.Sys.Cloneflags != 0 {
				return 0, syscall.EPERM
			}
			return 7, nil
		})
		if (err != nil) != c.wantErr || (pid == 7) == c.wantErr || tries != c.tries || w.apart != c.apart ||
			attr.Sys.UseCgroupFD != c.group || (attr.Sys.Cloneflags != 0) != c.shared || (w.pen != 0) != c.group {
			t.Errorf("%q: %d %v, %d tries, pen %d, apart %v, %+v", c.refused, pid, err, tries, w.pen, w.apart, attr.Sys)
		}
	}
	if e := parseEnding([]string{"0", "0", "?"}); !e.lost {
		t.Errorf("%+v", e)
	}
}

// asNobody runs server with a job, as an ordinary user also if this is root, and returns what it prints. If we are root
// a copy of id that runs as root lies where it runs.
func asNobody(t *testing.T, job string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ferrule-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	id, err := exec.LookPath("id")
	if err != nil {
		t.Fatal(err)
	}
	for to, from := range map[string]string{"server": self, "id": id} { // where others can reach it
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, to), b, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(dir, "server"))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SECRET_OF_SERVER=1", "SHELL_TEST_SERVER=run " + job, "SHELL_TEST_ROOT=" + dir}
	cmd.Dir = dir
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Chmod(filepath.Join(dir, "id"), 0o755|os.ModeSetuid), os.Chown(dir, 65534, 65534),
			os.Chmod(dir, 0o755)); err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// S118: what the server does not hand on cannot be taken from it either.
func TestHideMemory(t *testing.T) {
	t.Parallel()
	out := asNobody(t, "id -u; cat /proc/PID/environ /proc/PID/mem; ls /proc/PID/fd; cd sub 2>/dev/null || mkdir sub; cd sub; pwd")
	if strings.Contains(out, "SECRET") || strings.Count(out, "Permission denied") < 3 || strings.HasPrefix(out, "0\n") ||
		!strings.HasSuffix(out, "/sub\n") {
		t.Errorf("%s", out)
	}
}

// S122: a program that runs as its owner does so although the working directory is shared.
func TestSetUID(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can make a program that runs as root")
	}
	out := asNobody(t, "./id -u")
	if out == "65534\n" && os.Getenv("FERRULE_CI") != "1" {
		t.Skip("the temporary folder does not let programs run as their owner")
	}
	if out != "0\n" {
		t.Errorf("%q", out)
	}
}

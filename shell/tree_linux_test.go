//go:build !portable

package shell

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The tree tests start eight children in all the ways that lose the usual hunters, by group, by session, by parent and
// by environment, and look for them by their arguments. S102–S106, H066, H070, H116, H120.

const children = 8

func family(tag string) string {
	return strings.ReplaceAll(`(sleep 1TAG &); setsid sleep 2TAG & nohup sleep 3TAG >/dev/null 2>&1 &
env -i $(type -P setsid) -f $(type -P sleep) 4TAG; setsid -f bash -c 'setsid -f sleep 5TAG'
(setsid bash -c 'sleep 6TAG & exec sleep 7TAG' &)
sleep 8TAG & wait`, "TAG", tag)
}

// tag makes sleeps of a length that nobody else uses.
func tag() string { return fmt.Sprintf("%06d.%s", os.Getpid(), digits()) }

func digits() string {
	return strings.Map(func(r rune) rune { return '0' + r%10 }, random(12))
}

// alive lists the children that are there.
func alive(tag string) (names []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range all {
		b, _ := os.ReadFile(f)
		if bytes.Contains(b, []byte(tag)) && bytes.HasPrefix(b[bytes.LastIndexByte(b[:max(0, bytes.IndexByte(b, 0))], '/')+1:], []byte("sleep")) {
			names = append(names, string(bytes.ReplaceAll(b, []byte{0}, []byte{' '})))
		}
	}
	return names
}

func awaitFamily(t *testing.T, tag string, n int) {
	t.Helper()
	eventually(t, 10*time.Second, func() bool { return len(alive(tag)) == n },
		func() string { return fmt.Sprintf("alive: %q, want %d", alive(tag), n) })
}

// none checks that the tree was gone when the call before returned.
func none(t *testing.T, tag string) {
	t.Helper()
	if a := alive(tag); len(a) > 0 {
		t.Errorf("survivors: %q", a)
	}
}

// startServer runs server and returns it with its output.
func startServer(t *testing.T, root, job string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "SHELL_TEST_SERVER="+job, "SHELL_TEST_ROOT="+root)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd, bufio.NewReader(out)
}

// each runs a test with control groups and without.
func each(t *testing.T, c Config, test func(*testing.T, *Shell)) {
	for name, noPen := range map[string]bool{"pen": false, "no pen": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !noPen && penParent() == "" {
				t.Skip("no control groups can be made here")
			}
			c := c
			c.noPen = noPen
			s, _ := newShell(t, c)
			test(t, s)
		})
	}
}

// slack is what the end of a tree may take beyond the grace: 300 ms where nothing else is going on, and as many more
// as a machine that runs other tests may need.
const slack = 3 * time.Second

func TestTreeTimeout(t *testing.T) {
	need(t, "setsid", "nohup")
	each(t, Config{pace: faster}, func(t *testing.T, s *Shell) {
		tag := tag()
		r := doWithin(t, s, family(tag), 2*time.Second)
		none(t, tag)
		if !r.TimedOut || r.Left != nil || r.Signal != "SIGTERM" || r.Wall > 2*time.Second+faster.grace+slack {
			t.Errorf("%+v", r)
		}
		t.Logf("%v after the limit", r.Wall-2*time.Second)
	})
}

// H066: children that loop, and their limit.
func TestTreeLoops(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{})
	tag := tag()
	r := doWithin(t, s, strings.ReplaceAll("for i in 1 2; do (trap '' TERM; while :; do sleep .1TAG; done) & done; sleep 9TAG",
		"TAG", strings.ReplaceAll(tag, ".", "")), time.Second)
	if !r.TimedOut || r.Wall < 3*time.Second {
		t.Errorf("%+v", r)
	}
	none(t, strings.ReplaceAll(tag, ".", ""))
}

func TestTreeStop(t *testing.T) {
	t.Parallel()
	need(t, "setsid", "nohup")
	s, _ := newShell(t, Config{})
	tag := tag()
	task := launch(t, s, family(tag))
	awaitFamily(t, tag, children)
	start := time.Now()
	info, ended, err := s.Stop(t.Context(), task.ID)
	took := time.Since(start)
	none(t, tag)
	if err != nil || !ended || info.State != Stopped || took > 5*time.Second {
		t.Errorf("%+v %v %v after %v", info, ended, err, took)
	}
	t.Logf("stopped after %v", took)
	if info, ended, err := s.Stop(t.Context(), task.ID); err != nil || ended || info.State != Stopped {
		t.Errorf("again: %+v %v %v", info, ended, err)
	}
}

// A tree that does not listen is given its grace, unless the caller cannot wait.
func TestTreeStopHard(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{pace: pace{grace: time.Hour}})
	task := launch(t, s, "trap '' TERM; echo ready; while :; do sleep .05; done")
	eventually(t, 10*time.Second, func() bool {
		out, err := s.Output(t.Context(), task.ID, 0)
		return err == nil && out.Output == "ready\n"
	}, func() string { return "not ready" })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if info, ended, err := s.Stop(ctx, task.ID); err != nil || !ended || info.State != Stopped || info.Signal != "SIGKILL" {
		t.Errorf("%+v %v %v", info, ended, err)
	}
}

// S104, H120: a cancelled call leaves nobody and is no result.
func TestTreeCancel(t *testing.T) {
	t.Parallel()
	need(t, "setsid", "nohup")
	s, _ := newShell(t, Config{})
	tag := tag()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, Command{Text: family(tag)})
		done <- err
	}()
	awaitFamily(t, tag, children)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	none(t, tag)
}

// S105, H116: the session's end takes tasks and calls with it, also those that do not listen.
func TestTreeClose(t *testing.T) {
	t.Parallel()
	need(t, "setsid", "nohup")
	s, _ := newShell(t, Config{})
	tag := tag()
	launch(t, s, family(tag))
	launch(t, s, "trap '' TERM; while :; do sleep 9"+tag+"; done")
	done := make(chan error, 1)
	go func() {
		_, err := s.Run(context.Background(), Command{Text: "sleep 10" + tag})
		done <- err
	}()
	awaitFamily(t, tag, children+2)
	start := time.Now()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	none(t, tag)
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("took %v", took)
	} else {
		t.Logf("took %v", took)
	}
	if err := <-done; err != errClosed {
		t.Errorf("the call returned %v", err)
	}
}

// S106: the server is killed and can do nothing.
func TestTreeServerKilled(t *testing.T) {
	t.Parallel()
	need(t, "setsid", "nohup")
	tag := tag()
	cmd, out := startServer(t, t.TempDir(), "start "+family(tag))
	if line, err := out.ReadString('\n'); line != "started\n" {
		t.Fatal(line, err)
	}
	awaitFamily(t, tag, children)
	cmd.Process.Kill()
	start := time.Now()
	awaitFamily(t, tag, 0)
	t.Logf("all gone after %v", time.Since(start))
}

// Nor does it help to stop the helper first.
func TestTreeServerKilledShepherdStopped(t *testing.T) {
	t.Parallel()
	need(t, "setsid", "nohup")
	tag, dir := tag(), t.TempDir()
	cmd, out := startServer(t, dir, "start until test -e "+dir+"/go; do sleep .01; done; kill -STOP $PPID; "+family(tag))
	if line, err := out.ReadString('\n'); line != "started\n" {
		t.Fatal(line, err)
	}
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	awaitFamily(t, tag, children)
	cmd.Process.Kill()
	awaitFamily(t, tag, 0)
}

// A command that kills or stops its helper does not escape.
func TestTreeShepherdKilled(t *testing.T) {
	t.Parallel()
	need(t, "setsid")
	for sig, want := range map[string]string{"KILL": "SIGKILL", "STOP": "SIGTERM"} {
		s, _ := newShell(t, Config{pace: faster})
		tag := tag()
		r := doWithin(t, s, fmt.Sprintf("(setsid sleep 1%[1]s &); env -i $(type -P sleep) 2%[1]s & kill -%[2]s $PPID; sleep 3%[1]s", tag, sig),
			time.Second)
		none(t, tag)
		if sig == "KILL" && (r.Signal != want || r.TimedOut || r.DirNote == "") || sig == "STOP" && !r.TimedOut {
			t.Errorf("%s: %+v", sig, r)
		}
		if r := do(t, s, "echo next"); r.Output != "next\n" {
			t.Errorf("%s: next: %+v", sig, r)
		}
	}
}

// spare sends a signal to the helper that stands ready.
func spare(t *testing.T, s *Shell, sig syscall.Signal) {
	t.Helper()
	eventually(t, 5*time.Second, func() bool {
		s.herd.mu.Lock()
		defer s.herd.mu.Unlock()
		return s.herd.spare != nil && s.herd.spare.cmd.Process.Signal(sig) == nil
	}, func() string { return "no helper stands ready" })
}

// A helper that dies while it waits is replaced, and the command runs once.
func TestSpareKilled(t *testing.T) {
	t.Parallel()
	s, root := newShell(t, Config{})
	do(t, s, "true")
	for range 10 {
		spare(t, s, syscall.SIGKILL)
		var again sync.WaitGroup
		again.Go(s.herd.prepare) // may be early or late
		if r := do(t, s, "echo x >>count; echo hi"); r.Output != "hi\n" {
			t.Errorf("%+v", r)
		}
		again.Wait()
	}
	if b, _ := os.ReadFile(filepath.Join(root, "count")); string(b) != strings.Repeat("x\n", 10) {
		t.Errorf("%q", b)
	}
}

// Commands get three descriptors and no more, whatever whoever started the server has left open, and of a long command's
// file nothing is seen.
func TestDescriptors(t *testing.T) {
	t.Parallel()
	fd, err := syscall.Dup(1) // without close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	s, _ := newShell(t, Config{})
	for _, padding := range []int{0, 2 * maxArg} {
		r := do(t, s, ": "+strings.Repeat("a", padding)+"\nls -m /proc/self/fd; tr '\\0' ' ' </proc/$PPID/environ")
		want := "0, 1, 2, 3\nGOMAXPROCS=2 " // 3 is the list itself
		if r.Output != want {
			t.Errorf("%q, want %q", r.Output, want)
		}
	}
}

// Nor does one that was stopped while it waits hold anybody up for ever.
func TestSpareStopped(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{})
	spare(t, s, syscall.SIGSTOP)
	start := time.Now()
	if err := s.Close(); err != nil || time.Since(start) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	if nightly {
		s, _ := newShell(t, Config{})
		spare(t, s, syscall.SIGSTOP)
		if r := do(t, s, "echo hi"); r.Output != "hi\n" {
			t.Errorf("%+v", r)
		}
	}
}

// kill 0 is for the command's own group, which the helper is no part of.
func TestOwnGroup(t *testing.T) {
	t.Parallel()
	s, root := newShell(t, Config{})
	place(t, root)
	if r := do(t, s, "cd a; kill 0; sleep 60"); r.Signal != "SIGTERM" || r.DirNote != "" || r.Dir != filepath.Join(root, "a") {
		t.Errorf("%+v", r)
	}
}

// What the shell wrote is there at once, although nobody has got round to reading it and the pipe is still open.
func TestDrain(t *testing.T) {
	t.Parallel()
	r, w, err := newPipe(false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	out := &transcript{max: 100}
	log := &logFile{max: 1 << 20}
	st := newStream(r, log, out, 0)
	if _, err := w.WriteString("written\nlast"); err != nil {
		t.Fatal(err)
	}
	st.drain()
	st.flush()
	if got, _ := out.take(); got != "written\nlast" || string(log.held) != got {
		t.Errorf("%q, log %q", got, log.held)
	}
}

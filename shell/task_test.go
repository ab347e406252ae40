package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTask(t *testing.T) {
	t.Parallel()
	s, root := newShell(t, Config{})
	info, err := s.Start(t.Context(), Command{Text: "echo out; echo err >&2; until [ -e go ]; do sleep .01; done; echo more; exit 3", Description: "says things"})
	if err != nil {
		t.Fatal(err)
	}
	if info.State != Running || len(info.ID) != 9 || info.ID[0] != 'b' || info.Description != "says things" ||
		filepath.Dir(info.StdoutFile) != s.cfg.LogDir || info.StdoutFile == info.StderrFile {
		t.Errorf("%+v", info)
	}
	var got string
	eventually(t, 10*time.Second, func() bool {
		out, err := s.Output(t.Context(), info.ID, 0)
		if err != nil || out.State != Running {
			t.Fatalf("%+v %v", out, err)
		}
		got += out.Output
		return strings.Contains(got, "out\n") && strings.Contains(got, "err\n")
	}, func() string { return got })
	if err := os.WriteFile(filepath.Join(root, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out := outcome(t, s, info.ID)
	if out.State != Failed || out.Code != 3 || out.Output != "more\n" || out.Wall <= 0 {
		t.Errorf("%+v", out)
	}
	for range 2 { // H082: it stays readable
		if out := outcome(t, s, info.ID); out.State != Failed || out.Output != "" {
			t.Errorf("%+v", out)
		}
	}
	for file, want := range map[string]string{info.StdoutFile: "out\nmore\n", info.StderrFile: "err\n"} {
		if b, err := os.ReadFile(file); string(b) != want {
			t.Errorf("%s: %q %v", file, b, err)
		}
	}
	if info, ended, err := s.Stop(t.Context(), info.ID); err != nil || ended || info.State != Failed {
		t.Errorf("stop after the end: %+v %v %v", info, ended, err)
	}
}

// H069, H082: no input, and output asked for after the end.
func TestTaskEnds(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{})
	for _, c := range []struct {
		command, out string
		code         int
		state        State
		signal       string
	}{
		{"cat", "", 0, Completed, ""},
		{"echo hi", "hi\n", 0, Completed, ""},
		{"printf 'no newline'; false", "no newline", 1, Failed, ""},
		{"kill -9 $$", "", 137, Failed, "SIGKILL"},
		{"(sleep .1; echo late) & echo early", "early\nlate\n", 0, Completed, ""},
	} {
		out := outcome(t, s, launch(t, s, c.command).ID)
		if out.Output != c.out || out.Code != c.code || out.State != c.state || out.Signal != c.signal {
			t.Errorf("%q: %+v", c.command, out)
		}
	}
	if all := s.Tasks(); len(all) != 5 || all[1].Command != "echo hi" {
		t.Errorf("%+v", all)
	}
}

func TestTaskTimeout(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{pace: faster})
	info, err := s.Start(t.Context(), Command{Text: "echo a; sleep 60", Timeout: 1500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if out := outcome(t, s, info.ID); out.State != TimedOut || out.Output != "a\n" || out.Signal != "SIGTERM" {
		t.Errorf("%+v", out)
	}
}

// A prompt is shown although its line has no end, and is not repeated.
func TestTaskPrompt(t *testing.T) {
	t.Parallel()
	s, root := newShell(t, Config{})
	info := launch(t, s, "printf 'name? '; until [ -e go ]; do sleep .01; done; echo bob")
	var got string
	eventually(t, 10*time.Second, func() bool {
		out, _ := s.Output(t.Context(), info.ID, 0)
		got += out.Output
		return got != ""
	}, func() string { return "no prompt" })
	if err := os.WriteFile(filepath.Join(root, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := outcome(t, s, info.ID); got != "name? " || out.Output != "bob\n" {
		t.Errorf("%q, then %q", got, out.Output)
	}
}

// The end of a task is told once, to whoever comes first.
func TestEnded(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{pace: faster})
	end := func(info TaskInfo) TaskInfo {
		over := make(chan struct{})
		if s.WhenOver(info.ID, func() { close(over) }) {
			<-over
		}
		return info
	}
	seen, a, b := end(launch(t, s, "true")), end(launch(t, s, "exit 3")), launch(t, s, "sleep 600")
	outcome(t, s, seen.ID)
	left := do(t, s, "sleep .2 & true")
	if left.Left != nil {
		end(*left.Left)
	}
	got := s.Ended()
	if len(got) != 2 || got[0].ID != a.ID || got[0].State != Failed || got[0].Code != 3 || got[1].ID != left.Left.ID {
		t.Errorf("%+v", got)
	}
	if _, _, err := s.Stop(t.Context(), b.ID); err != nil {
		t.Error(err)
	}
	if got := s.Ended(); len(got) != 0 {
		t.Errorf("told again: %+v", got)
	}
}

// H083: the answer to a lost id names what there is.
func TestTaskUnknown(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{pace: faster})
	var unknown *UnknownTaskError
	_, err := s.Output(t.Context(), "nope", 0)
	if !errors.As(err, &unknown) || len(unknown.Known) != 0 {
		t.Errorf("%v", err)
	}
	info := launch(t, s, "echo text so far; sleep 60")
	_, _, err = s.Stop(t.Context(), "nope")
	if !errors.As(err, &unknown) || len(unknown.Known) != 1 || !strings.Contains(err.Error(), info.ID+" (running: echo text so far; sleep 60)") {
		t.Errorf("%v", err)
	}
	other, _ := newShell(t, Config{})
	if _, err := other.Output(t.Context(), info.ID, 0); !errors.As(err, &unknown) {
		t.Errorf("another session knows the task: %v", err)
	}
}

func TestTaskWait(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{pace: faster})
	info := launch(t, s, "sleep 60")
	start := time.Now()
	if out, err := s.Output(t.Context(), info.ID, 50*time.Millisecond); err != nil || out.State != Running || time.Since(start) < 50*time.Millisecond {
		t.Errorf("%+v %v after %v", out, err, time.Since(start))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Output(ctx, info.ID, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestTaskLimit(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{pace: faster})
	var last TaskInfo
	for range maxTasks {
		last = launch(t, s, "sleep 60")
	}
	if _, err := s.Start(t.Context(), Command{Text: "true"}); err == nil || !strings.Contains(err.Error(), "32 tasks") ||
		!strings.Contains(err.Error(), last.ID) {
		t.Errorf("%v", err)
	}
	if r := do(t, s, "sleep 50 & echo hi"); r.Output != "hi\n" || r.Left == nil || r.Left.State != Stopped {
		t.Errorf("%+v", r)
	}
	if _, _, err := s.Stop(t.Context(), last.ID); err != nil {
		t.Fatal(err)
	}
	if out := outcome(t, s, launch(t, s, "echo room").ID); out.Output != "room\n" {
		t.Errorf("%+v", out)
	}
}

// H065, S107, S108: a call returns with its shell, and what it leaves becomes a task that can be read and stopped.
func TestLeft(t *testing.T) {
	t.Parallel()
	s, root := newShell(t, Config{pace: faster})
	r := do(t, s, "(until [ -e go ]; do sleep .01; done; echo late; touch alive) & echo started")
	if r.Output != "started\n" || r.Wall > 5*time.Second || r.Left == nil || r.Left.State != Running || len(r.Left.Left) == 0 ||
		r.Left.StdoutFile == "" {
		t.Fatalf("%+v", r)
	}
	if err := os.WriteFile(filepath.Join(root, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := outcome(t, s, r.Left.ID); out.Output != "late\n" || out.State != Completed {
		t.Errorf("%+v", out)
	}
	if _, err := os.Stat(filepath.Join(root, "alive")); err != nil {
		t.Errorf("the child was hindered: %v", err)
	}
	if b, err := os.ReadFile(r.Left.StdoutFile); string(b) != "started\nlate\n" {
		t.Errorf("log %q %v", b, err)
	}
	r = do(t, s, "sleep 60 & echo hi")
	if r.Output != "hi\n" || r.Left == nil {
		t.Fatalf("%+v", r)
	}
	if info, ended, err := s.Stop(t.Context(), r.Left.ID); err != nil || !ended || info.State != Stopped {
		t.Errorf("%+v %v %v", info, ended, err)
	}
	if r := do(t, s, "true | cat & wait; echo done"); r.Left != nil || r.Output != "done\n" {
		t.Errorf("nobody is left: %+v", r)
	}
}

// H081, S123: output without end. The files stop at their limit, the state says so, and what is shown is the end.
func TestTaskFlood(t *testing.T) {
	t.Parallel()
	need(t, "yes")
	s, _ := newShell(t, Config{pace: faster})
	info := launch(t, s, "yes | tee /dev/stderr")
	var out TaskOutput
	eventually(t, 60*time.Second, func() bool {
		var err error
		if out, err = s.Output(t.Context(), info.ID, 0); err != nil {
			t.Fatal(err)
		}
		for _, f := range []string{info.StdoutFile, info.StderrFile} {
			if fi, err := os.Stat(f); err != nil || fi.Size() > 16<<20 {
				t.Fatalf("%s: %v %v", f, fi, err)
			}
		}
		return out.Limited
	}, func() string { return "no limit is told" })
	if len(out.Output) > 48_100 || out.State != Running {
		t.Errorf("%d bytes, %s", len(out.Output), out.State)
	}
	if _, ended, err := s.Stop(t.Context(), info.ID); err != nil || !ended {
		t.Error(ended, err)
	}
}

// H081: the same for a minute: at most 32 MiB of logs, and what memory it takes.
func TestTaskFloodForAMinute(t *testing.T) {
	if os.Getenv("FERRULE_NIGHTLY") != "1" {
		t.Skip("takes a minute; set FERRULE_NIGHTLY=1")
	}
	s, _ := newShell(t, Config{pace: faster})
	info, err := s.Start(t.Context(), Command{Text: "yes", Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	var most int64
	for {
		out, err := s.Output(t.Context(), info.ID, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		var sum int64
		for _, f := range []string{info.StdoutFile, info.StderrFile} {
			if fi, err := os.Stat(f); err == nil {
				sum += fi.Size()
			}
		}
		if most = max(most, sum); len(out.Output) > 48_100 {
			t.Errorf("%d bytes in one answer", len(out.Output))
		}
		if out.State != Running {
			t.Logf("%s, logs of at most %d bytes, memory %d KiB", out.State, most, memory())
			break
		}
	}
	if most > 32<<20 {
		t.Errorf("logs of %d bytes", most)
	}
}

// memory is what this process has in memory, in KiB; 0 if the system does not tell.
func memory() (kib int) {
	b, _ := os.ReadFile("/proc/self/status")
	if _, rest, ok := strings.Cut(string(b), "VmRSS:"); ok {
		fmt.Sscan(rest, &kib)
	}
	return kib
}

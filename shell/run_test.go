package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// S111, S113, S116, S117, H068, H074–H076, H079, H080, H123, H124: codes, signals, input and output.
func TestRun(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{EnvPass: []string{"OK_TOKEN"}, Env: append(os.Environ(), "X_API_KEY=1", "OK_TOKEN=1")})
	for _, c := range []struct {
		command, out string // "…" in out stands for anything
		code         int
		signal       string
	}{
		{"echo hi", "hi\n", 0, ""},
		{"", "", 0, ""},
		{"exit 7", "", 7, ""},
		{"kill -TERM $$", "", 143, "SIGTERM"},
		{"kill -SEGV $$", "", 139, "SIGSEGV"},
		{"kill -s RTMIN+1 $$", "", 163, "signal 35"},
		{"nosuchcmd", "…nosuchcmd: command not found\n", 127, ""},
		{"/etc/passwd", "…Permission denied\n", 126, ""},
		{"echo hi; echo err >&2; exit 3", "hi\nerr\n", 3, ""}, // H079
		{"echo a >&2; echo b; echo c >&2", "a\nb\nc\n", 0, ""},
		{"cat", "", 0, ""}, // H068
		{"read x; echo got:$x", "got:\n", 0, ""},
		{"test -t 0 || test -t 1 || test -t 2; echo $?", "1\n", 0, ""},
		{"(: </dev/tty) 2>&1", "…/dev/tty…", 1, ""},
		{"printf 'ab \\xe2'; sleep .1; printf '\\x80\\x94 end'", "ab — end", 0, ""},             // H074
		{"for i in $(seq 100); do printf '\\r%3d%%' $i; done; echo", "100%\n", 0, ""},           // H075
		{"printf '\\033[31mred\\033[0m \\033[2K\\033[1Aok\\n'", "red ok\n", 0, ""},              // H076
		{"printf 'caf\\202\\n'", "caf\uFFFD\n", 0, ""},                                          // H124
		{"rm -f a b; touch a b; find . -name a -o -name b | sort; rm a b", "./a\n./b\n", 0, ""}, // H080
		{"mkdir d; cd d; echo x > NUL 2>nul; ls; cd ..; rm -r d", "NUL\nnul\n", 0, ""},          // H123
		{"env | grep -c -E '^(X_API_KEY|BASH_ENV)='; echo $OK_TOKEN", "0\n1\n", 0, ""},
		{`echo "$0 $#"`, "bash 0\n", 0, ""},
		{"#!/bin/bash\necho x", "x\n", 0, ""},
		{"cat <<E\nx\nE", "x\n", 0, ""},
		{"alias ll='echo no'; f() { echo f; }; V=1; f", "f\n", 0, ""},
		{`type f ll 2>/dev/null; echo "[$V]"`, "[]\n", 0, ""}, // only the directory persists
		{"echo " + strings.Repeat("a", 140_000) + " | wc -c", "140001\n", 0, ""},
		{"echo " + strings.Repeat("a", 2_000_000) + " | wc -c", "2000001\n", 0, ""},
		{": " + strings.Repeat("a", 120_000) + "\n" + `echo "$0 $#"; exit 4`, "bash 0\n", 4, ""},
		{": " + strings.Repeat("a", 120_000) + "\ncat <<E\nx\nE", "x\n", 0, ""},
		{strings.Repeat("a", maxArg) + " 2>/dev/null || echo edge", "edge\n", 0, ""},
	} {
		r := do(t, s, c.command)
		ok := r.Output == c.out
		if before, after, found := strings.Cut(c.out, "…"); found {
			ok = strings.HasPrefix(r.Output, before) && strings.Contains(r.Output, strings.TrimSuffix(after, "…"))
		}
		if !ok || r.Code != c.code || r.Signal != c.signal || r.TimedOut || r.Left != nil || r.LogFile != "" {
			r.Output = clip(r.Output, 200)
			t.Errorf("%.60q: %+v; want %q, %d %s", c.command, r, c.out, c.code, c.signal)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{})
	if _, err := s.Run(t.Context(), Command{Text: "echo \x00"}); err == nil || !strings.Contains(err.Error(), "NUL") {
		t.Errorf("NUL: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Run(ctx, Command{Text: "sleep 60"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

// What is given as input is read to its end, whether it is nothing, much, or more than anybody wants.
func TestStdin(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{})
	for _, c := range []struct{ command, stdin, out string }{
		{"cat", "a\nb", "a\nb"},
		{"cat; echo end", "", "end\n"},
		{"wc -c", strings.Repeat("x", 1<<20), "1048576\n"},
		{"head -c 3", strings.Repeat("x", 1<<20), "xxx"},
		{"read a; bash -c 'read b; echo $b'", "1\n2\n", "2\n"},
		{"echo ignored", strings.Repeat("x", 1<<20), "ignored\n"},
	} {
		r, err := s.Run(t.Context(), Command{Text: c.command, Stdin: c.stdin, HasStdin: true, Timeout: 20 * time.Second})
		if err != nil || r.Output != c.out {
			t.Errorf("%q: %+v %v", c.command, r, err)
		}
	}
}

// H077: the cap counts characters of cleaned text, and nothing else.
func TestOutputCap(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{})
	const limit = 48_000
	for _, c := range []struct {
		command string
		missing int64
	}{
		{fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", limit), 0},
		{fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", limit+1), 1},
		{fmt.Sprintf("printf 'é%%.0s' $(seq %d)", limit), 0},
		{fmt.Sprintf("printf 'é%%.0s' $(seq %d)", limit+1), 2},
		{fmt.Sprintf("printf '\\033[1mx\\033[0m%%.0s' $(seq %d)", limit), 0},
		{"for i in $(seq 20000); do printf '\\rstep %d' $i; done", 0},
	} {
		r := do(t, s, c.command)
		if r.MissingBytes != c.missing || (r.LogFile != "") != (c.missing > 0) || strings.Contains(r.Output, "left out") != (c.missing > 0) {
			t.Errorf("%.60q: %d missing, log %q, %d bytes", c.command, r.MissingBytes, r.LogFile, len(r.Output))
		}
	}
	logs := func() []string {
		names, _ := filepath.Glob(s.cfg.LogDir + "/*")
		return names
	}
	eventually(t, 5*time.Second, func() bool { return len(logs()) == 2 }, func() string { return fmt.Sprint(logs()) })
}

// S110: beginning, end, count and log are exact.
func TestHeadAndTail(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{})
	r := do(t, s, "seq 1 64000")
	head, rest, _ := strings.Cut(r.Output, "[... ")
	mark, tail, _ := strings.Cut(rest, "]\n")
	var first, last int
	lines := strings.Split(strings.TrimSpace(head), "\n")
	fmt.Sscan(lines[len(lines)-1], &last)
	fmt.Sscan(tail, &first)
	if !strings.HasPrefix(head, "1\n2\n") || !strings.HasSuffix(tail, "\n64000\n") || int64(first-last-1) != r.MissingLines ||
		!strings.HasPrefix(mark, fmt.Sprintf("%d lines (%d bytes)", r.MissingLines, r.MissingBytes)) || len(lines) != last {
		t.Errorf("%d lines to %d, %q, then from %d; told %d", len(lines), last, mark, first, r.MissingLines)
	}
	var all strings.Builder
	for i := range 64000 {
		fmt.Fprintln(&all, i+1)
	}
	if log, err := os.ReadFile(r.LogFile); err != nil || string(log) != all.String() || r.LogLimited {
		t.Errorf("log of %d bytes, want %d, %v", len(log), all.Len(), err)
	}
	if fi, err := os.Stat(r.LogFile); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", fi.Mode(), err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.cfg.LogDir); !os.IsNotExist(err) {
		t.Errorf("logs outlive the session: %v", err)
	}
}

// The file that has the rest may itself be too small, which is told.
func TestLogLimited(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{MaxLog: 1, MaxOutput: 1000}) // 64 KiB is the least
	r := do(t, s, "seq 1 64000")
	log, err := os.ReadFile(r.LogFile)
	if err != nil || !r.LogLimited || len(log) > 64<<10 || !strings.HasPrefix(string(log), "1\n2\n") ||
		!strings.HasSuffix(string(log), "\n64000\n") || !strings.Contains(string(log), " bytes left out ...]") {
		t.Errorf("%d bytes, limited %v, %v", len(log), r.LogLimited, err)
	}
}

// H078: very short commands lose nothing.
func TestShortCommands(t *testing.T) {
	t.Parallel()
	s, root := newShell(t, Config{})
	for i := range 50 {
		if r := do(t, s, "pwd"); r.Output != root+"\n" || r.Code != 0 {
			t.Fatalf("%d: %+v", i, r)
		}
		if r := do(t, s, "echo nope >&2; exit 1"); r.Output != "nope\n" || r.Code != 1 {
			t.Fatalf("%d: %+v", i, r)
		}
	}
}

// Calls side by side do not disturb each other.
func TestParallel(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{})
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			if r := do(t, s, fmt.Sprintf("echo %d; exit %d", i, i)); r.Output != fmt.Sprintf("%d\n", i) || r.Code != i {
				t.Errorf("%d: %+v", i, r)
			}
		})
	}
	wg.Wait()
}

// S115: what a command says when it is asked to end is part of its output.
func TestTimeoutOutput(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{})
	r := doWithin(t, s, "trap 'echo bye' TERM; printf partial; sleep 60", 1500*time.Millisecond)
	if !r.TimedOut || !strings.HasPrefix(r.Output, "partial") || !strings.Contains(r.Output, "bye\n") || r.Wall > 10*time.Second {
		t.Errorf("%+v", r)
	}
}

// H067: a child holds the pipe beyond the limit.
func TestTimeoutPipe(t *testing.T) {
	t.Parallel()
	need(t, "mkfifo")
	s, _ := newShell(t, Config{pace: faster})
	r := doWithin(t, s, "mkfifo p; (while :; do echo c; sleep .05; done) > p & cat p", time.Second)
	if !r.TimedOut || !strings.HasPrefix(r.Output, "c\nc\n") || r.Left != nil || r.Wall > 10*time.Second {
		t.Errorf("%+v", r)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	s, root := newShell(t, Config{pace: pace{progress: 20 * time.Millisecond}})
	seen := map[string]bool{}
	var last time.Duration
	r, err := s.Run(t.Context(), Command{
		Text: "echo one; until [ -e one ]; do sleep .01; done; printf 'two\\rthree'; until [ -e three ]; do sleep .01; done",
		Progress: func(elapsed time.Duration, line string) {
			if elapsed < last {
				t.Errorf("%v after %v", elapsed, last)
			}
			last = elapsed
			if line != "" && !seen[line] {
				seen[line] = true
				if err := os.WriteFile(filepath.Join(root, line), nil, 0o600); err != nil {
					t.Error(err)
				}
			}
		},
		Timeout: 20 * time.Second,
	})
	if err != nil || r.TimedOut || !seen["one"] || !seen["three"] || r.Output != "one\nthree" {
		t.Errorf("%+v %v, lines %v", r, err, seen)
	}
}

// S113, S114: programs that want a terminal or an answer come back. Not vi: when its input is at the end, vim waits for
// keys on standard error, and only the time limit ends it.
func TestInteractive(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{pace: faster, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}})
	commands := []string{
		"python3 -c 'input()'", "python3", "bash", "bash -i", "sh", "git -c core.editor=vi commit --allow-empty",
		"git clone https://127.0.0.1:1/x", "ssh -o BatchMode=no user@127.0.0.1 -p 1", "sudo -k true", "su nobody -c true",
		"passwd", "less /etc/passwd", "more /etc/passwd", "nano x", "top", "select x in a b; do break; done",
		"read -s -p 'password: ' x", "bc", "ftp", "telnet",
	}
	if os.Getenv("FERRULE_NIGHTLY") == "1" {
		commands = append(commands, "npm init", "node", "htop", "mysql", "psql", "gdb", "man ls")
	}
	for _, command := range commands {
		program := strings.Fields(command)[0]
		if _, err := exec.LookPath(program); err != nil && program != "select" && program != "read" {
			continue
		}
		r := doWithin(t, s, command, 15*time.Second)
		if r.TimedOut {
			t.Errorf("%q hangs: %q", command, clip(r.Output, 300))
		}
		if r.Wall > 2*time.Second { // npm takes that long to begin
			t.Logf("%q took %v", command, r.Wall)
		}
	}
}

// A folder or variable with any byte but NUL arrives as it was.
func TestOddBytes(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{Env: []string{"PATH=" + os.Getenv("PATH"), "ODD=a\nb\xff=\"\\"}})
	if r := do(t, s, `printf %s "$ODD" | od -An -tx1`); strings.TrimSpace(r.Output) != "61 0a 62 ff 3d 22 5c" {
		t.Errorf("%q", r.Output)
	}
}

package shell

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if job := os.Getenv("SHELL_TEST_SERVER"); job != "" {
		server(job)
	}
	goleak.VerifyTestMain(m)
}

// server is this test binary in the role of a program that uses the package, so that it can be killed, measured, or be
// another user. job is "start COMMAND", "flood COMMAND", or "run COMMAND" in which PID stands for this process.
func server(job string) {
	root := os.Getenv("SHELL_TEST_ROOT")
	s, err := New(Config{Roots: func() []string { return []string{root} }, LogDir: filepath.Join(root, ".logs"), Env: os.Environ(),
		noPen: os.Getenv("SHELL_TEST_NO_PEN") != ""})
	if err != nil {
		panic(err)
	}
	kind, command, _ := strings.Cut(job, " ")
	if kind == "start" {
		if _, err := s.Start(context.Background(), Command{Text: command}); err != nil {
			panic(err)
		}
		fmt.Println("started")
		select {}
	}
	if kind == "run" {
		if err := HideMemory(); err != nil {
			panic(err)
		}
		command = strings.ReplaceAll(command, "PID", strconv.Itoa(os.Getpid()))
	}
	r, err := s.Run(context.Background(), Command{Text: command})
	if err != nil {
		panic(err)
	}
	if kind == "run" {
		fmt.Print(r.Output)
		if err := s.Close(); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	status, _ := os.ReadFile("/proc/self/status")
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	peak, _, _ = strings.Cut(peak, "\n")
	fmt.Printf("%d %d %s\n", r.Code, r.MissingBytes, strings.TrimSuffix(strings.TrimSpace(peak), " kB"))
	if err := s.Close(); err != nil {
		panic(err)
	}
	os.Exit(0)
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

// newShell returns a Shell in a folder of its own. A Config without Roots gets that folder.
func newShell(t testing.TB, c Config) (s *Shell, root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if c.Roots == nil {
		c.Roots = func() []string { return []string{root} }
	}
	if c.Env == nil && c.Login == nil {
		c.Env = os.Environ() // a login shell for each test takes too long
	}
	if c.LogDir == "" {
		c.LogDir = filepath.Join(t.TempDir(), "state", "tasks")
	}
	s, err = New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, root
}

// do runs a command that must not be refused.
func do(t testing.TB, s *Shell, command string) *Result {
	t.Helper()
	return doWithin(t, s, command, 30*time.Second)
}

func doWithin(t testing.TB, s *Shell, command string, limit time.Duration) *Result {
	t.Helper()
	r, err := s.Run(t.Context(), Command{Text: command, Timeout: limit})
	if err != nil {
		t.Fatalf("%.100q: %v", command, err)
	}
	return r
}

// launch starts a background task.
func launch(t testing.TB, s *Shell, command string) TaskInfo {
	t.Helper()
	info, err := s.Start(t.Context(), Command{Text: command})
	if err != nil {
		t.Fatalf("%.100q: %v", command, err)
	}
	return info
}

// outcome waits for the end of a task.
func outcome(t testing.TB, s *Shell, id string) TaskOutput {
	t.Helper()
	out, err := s.Output(t.Context(), id, 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if out.State == Running {
		t.Fatalf("task still runs: %+v", out)
	}
	return out
}

// eventually looks again and again, where nothing tells of the event, until ok or the deadline.
func eventually(t testing.TB, limit time.Duration, ok func() bool, describe func() string) {
	t.Helper()
	for start := time.Now(); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > limit {
			t.Fatalf("after %v: %s", limit, describe())
		}
	}
}

// faster is a pace that makes tests short where the length of the grace does not matter.
var faster = pace{grace: 200 * time.Millisecond, hurry: 100 * time.Millisecond}

func TestMissingRoot(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{Roots: func() []string { return nil }}); err == nil {
		t.Error("a shell without a root was made")
	}
	s, root := newShell(t, Config{})
	if err := os.Remove(root); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), Command{Text: "true"}); err == nil || !strings.Contains(err.Error(), root) {
		t.Errorf("error %v, want one that names %s", err, root)
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{})
	do(t, s, "true")
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Run(t.Context(), Command{Text: "true"}); err != errClosed {
		t.Errorf("Run: %v", err)
	}
	if _, err := s.Start(t.Context(), Command{Text: "true"}); err != errClosed {
		t.Errorf("Start: %v", err)
	}
}

// S118: what is secret stays with the server.
func TestEnviron(t *testing.T) {
	t.Parallel()
	got := environ([]string{"HOME=/h", "X_API_KEY=1", "Y_TOKEN=1", "OK_TOKEN=1", "FERRULE_HOME=1", "BASH_ENV=x", "ENV=x",
		"BASH_FUNC_ls%%=() { x; }", "PROMPT_COMMAND=x", "SHELLOPTS=x", "BASHOPTS=x", "PS4=x", "OLDPWD=x", "PWD=x",
		"PAGER=less", "LD_PRELOAD=x"}, []string{"OK_TOKEN", "BASH_ENV"})
	want := append([]string{"HOME=/h", "OK_TOKEN=1", "LD_PRELOAD=x"}, fixed...)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	s, _ := newShell(t, Config{Env: []string{"PATH=" + os.Getenv("PATH"), "X_API_KEY=1", "Y_TOKEN=1", "FERRULE_X=1"}})
	if r := do(t, s, "env; tr '\\0' '\\n' </proc/self/environ 2>/dev/null; tr '\\0' '\\n' </proc/$PPID/environ 2>/dev/null"); strings.Contains(r.Output, "X_API_KEY") ||
		strings.Contains(r.Output, "Y_TOKEN") || strings.Contains(r.Output, "FERRULE_X") || !strings.Contains(r.Output, "FERRULE=1") {
		t.Errorf("%s", r.Output)
	}
}

//go:build !portable

package shell

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// needSandbox skips the test where the kernel has no Landlock.
func needSandbox(t testing.TB) {
	t.Helper()
	if line, err := (Sandbox{Mode: "require"}).Check(); err != nil {
		t.Skip(line)
	}
}

// boxed returns a Shell in a sandbox with a folder of its own as root. Nothing else is open, unlike in a server, since a
// test's folders lie below the one for temporary files.
func boxed(t testing.TB, mode string) (s *Shell, root, out string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, out = top+"/root", top+"/out"
	for _, dir := range []string{root, out} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s, _ = newShell(t, Config{Roots: func() []string { return []string{root} }, Sandbox: func() []string {
		return []string{"--sandbox=" + mode, "--", root}
	}})
	return s, root, out
}

// S138, S152: commands are held to the sandbox, its directory is still known, and a refusal is explained.
func TestSandbox(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	modes := []string{"auto", "require"}
	if _, err := (Sandbox{Mode: "bubblewrap"}).Check(); err == nil {
		modes = append(modes, "bubblewrap")
	}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s, root, out := boxed(t, mode)
			if r := do(t, s, "mkdir sub && cd sub && echo x > f"); r.Code != 0 || r.Dir != root+"/sub" || r.DirNote != "" {
				t.Errorf("%+v", r)
			}
			r := do(t, s, "echo x > "+out+"/new")
			note := s.Explain(r.Output, r.Dir)
			if r.Code == 0 || !strings.Contains(note, "only in "+root+"; "+out+"/new is outside") {
				t.Errorf("%+v\n%s", r, note)
			}
			if found, _ := filepath.Glob(out + "/*"); found != nil {
				t.Error(found)
			}
			r = do(t, s, "sleep 100 & setsid sleep 100 & echo started")
			if r.Left == nil {
				t.Fatalf("%+v", r)
			}
			info, _, err := s.Stop(t.Context(), r.Left.ID)
			if err != nil || info.State == Running {
				t.Errorf("%+v, %v", info, err)
			}
		})
	}
}

// A helper that stands ready is of no use once the limits are others.
func TestSandboxFollowsRoots(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	s, root, out := boxed(t, "require")
	limits := []string{"--sandbox=require", "--", root}
	s.Close()
	s, _ = newShell(t, Config{Roots: func() []string { return []string{root} }, Sandbox: func() []string { return limits }})
	command := "echo x > " + out + "/new"
	if r := do(t, s, command); r.Code == 0 {
		t.Errorf("%+v", r)
	}
	limits = []string{"--sandbox=require", "--", root, out}
	if r := do(t, s, command); r.Code != 0 {
		t.Errorf("%+v", r)
	}
}

// Words that nobody knows run nothing.
func TestSandboxFailsClosed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s, _ := newShell(t, Config{Roots: func() []string { return []string{root} }, Sandbox: func() []string { return []string{"--sandbox=on"} }})
	if r, err := s.Run(t.Context(), Command{Text: "echo x > f"}); err == nil || !strings.Contains(err.Error(), "sandbox") {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := os.Stat(root + "/f"); err == nil {
		t.Error("the command ran")
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	root, other, extra := t.TempDir(), t.TempDir(), t.TempDir()
	roots := []string{root}
	limits := Sandbox{Write: []string{extra}}.Limits(func() []string { return roots }, nil)
	first := limits()
	if fmt.Sprint(first) != fmt.Sprint(limits()) || len(first) < 3 || first[0] != "--sandbox=auto" {
		t.Errorf("%q", first)
	}
	roots = []string{root, other, "/proc"}
	if second := limits(); !strings.Contains(fmt.Sprint(second), "/proc") {
		t.Errorf("%q does not follow the roots", second)
	}
	if words := (Sandbox{Mode: "off"}).Limits(func() []string { return roots }, nil)(); words != nil {
		t.Errorf("off: %q", words)
	}
	if words := (Sandbox{Mode: "of"}).Limits(func() []string { return roots }, nil)(); words[0] != "--sandbox=require" {
		t.Errorf("a slip of the pen: %q", words)
	}
	if _, err := (Sandbox{Mode: "of"}).Check(); err == nil {
		t.Error("a slip of the pen is a mode")
	}
}

// BenchmarkSandbox compares `true` through a ready helper with and without a sandbox, and bash alone, in turns.
func BenchmarkSandbox(b *testing.B) {
	needSandbox(b)
	plain, _ := newShell(b, Config{})
	held, _, _ := boxed(b, "require")
	took := map[string][]time.Duration{}
	measure := func(name string, f func()) {
		for _, s := range []*Shell{plain, held} { // what gets ready meanwhile would count
			eventually(b, 5*time.Second, func() bool { return waits(s) }, func() string { return "no helper waits for an order" })
		}
		start := time.Now()
		f()
		took[name] = append(took[name], time.Since(start))
	}
	for b.Loop() {
		measure("bash", func() { exec.Command("/bin/bash", "--norc", "--noprofile", "-c", "true").Run() })
		measure("plain", func() { do(b, plain, "true") })
		measure("sandbox", func() { do(b, held, "true") })
	}
	for name, times := range took {
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds()), name+"-p50-µs")
	}
	// S152
	if ratio := float64(took["sandbox"][b.N/2]) / float64(took["bash"][b.N/2]); ratio > 4 && b.N >= 50 && !raceDetector {
		b.Errorf("%.1f times bash, at most 4 are wanted", ratio)
	}
}

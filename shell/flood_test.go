//go:build linux && !portable

package shell

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// nightly says that tests may take long.
var nightly = os.Getenv("FERRULE_NIGHTLY") == "1"

// S109: a flood leaves the server's memory alone. The peak is that of a process that does nothing else.
func TestFlood(t *testing.T) {
	t.Parallel()
	size := int64(64 << 20)
	switch {
	case nightly:
		size = 10 << 30
	case raceDetector:
		size = 16 << 20
	}
	for _, command := range []string{fmt.Sprintf("head -c %d /dev/zero", size), fmt.Sprintf("yes | head -c %d", size)} {
		start := time.Now()
		_, out := startServer(t, t.TempDir(), "flood "+command)
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var code, missing, peak int64
		if _, err := fmt.Sscan(line, &code, &missing, &peak); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %v, peak %d MiB", command, time.Since(start).Round(time.Millisecond), peak>>10)
		if code != 0 || missing < size-100_000 {
			t.Errorf("%s: code %d, %d bytes missing", command, code, missing)
		}
		if peak > 64<<10 && !raceDetector {
			t.Errorf("%s: peak of %d MiB", command, peak>>10)
		}
	}
}

// resources counts what a leak would show in.
func resources(s *Shell) (fds, threads, goroutines, files, kib int) {
	f, _ := os.ReadDir("/proc/self/fd")
	th, _ := os.ReadDir("/proc/self/task")
	logs, _ := filepath.Glob(s.cfg.LogDir + "/*")
	return len(f), len(th), runtime.NumGoroutine(), len(logs), memory()
}

// S119, S120: nothing stays of calls and of tasks. Not parallel, for it counts what the process has.
func TestNothingStays(t *testing.T) {
	n := 20
	if nightly {
		n = 1000
	}
	s, _ := newShell(t, Config{pace: faster})
	for _, c := range []struct {
		name string
		once func()
	}{
		{"call", func() { do(t, s, "cd /; echo hi") }},
		{"task", func() {
			if _, _, err := s.Stop(t.Context(), launch(t, s, "sleep 60").ID); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		for range 10 {
			c.once()
		}
		settled := func() bool { // the last helpers are on their way out, and the next one stands ready
			s.mu.Lock()
			left := len(s.live)
			s.mu.Unlock()
			return left == 0 && waits(s)
		}
		eventually(t, 10*time.Second, settled, func() string { return "trees are left, or no helper waits" })
		f0, t0, g0, _, m0 := resources(s)
		start := time.Now()
		for range n {
			c.once()
		}
		took := time.Since(start)
		same := func() bool {
			f, th, g, _, m := resources(s)
			return f <= f0+2 && th <= t0+8 && g <= g0+2 && (m <= m0+24<<10 || raceDetector)
		}
		show := func() string {
			f, th, g, l, m := resources(s)
			return fmt.Sprintf("%d × %s in %v: descriptors %d→%d, threads %d→%d, goroutines %d→%d, memory %d→%d KiB, logs %d", n, c.name,
				took.Round(time.Millisecond), f0, f, t0, th, g0, g, m0, m, l)
		}
		eventually(t, 10*time.Second, same, show)
		t.Log(show())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.cfg.LogDir); !os.IsNotExist(err) {
		t.Error("the logs are still there")
	}
}

// S121: the price of `true`, in turns with bash itself so that a busy machine hits both alike. A model needs far longer
// between two calls than the pause here, in which the next helper gets ready.
func TestLatency(t *testing.T) {
	if !nightly || raceDetector {
		t.Skip("compares times; set FERRULE_NIGHTLY=1, without -race")
	}
	s, root := newShell(t, Config{})
	const n = 300
	var ours, bash []time.Duration
	for range n {
		eventually(t, 5*time.Second, func() bool { return waits(s) }, func() string { return "no helper waits for an order" })
		start := time.Now()
		cmd := exec.Command("/bin/bash", "--norc", "--noprofile", "-c", "true")
		cmd.Dir = root
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		bash = append(bash, time.Since(start))
		start = time.Now()
		do(t, s, "true")
		ours = append(ours, time.Since(start))
	}
	slices.Sort(ours)
	slices.Sort(bash)
	ratio := float64(ours[n/2]) / float64(bash[n/2])
	t.Logf("bash -c: p50 %v, min %v; Run: p50 %v, min %v; ratio %.2f, of min %.2f", bash[n/2], bash[0], ours[n/2], ours[0],
		ratio, float64(ours[0])/float64(bash[0]))
	if ratio > 1.8 {
		t.Errorf("ratio %.2f, at most 1.8 is wanted", ratio)
	}
}

// waits reports that the next helper has got to where it waits.
func waits(s *Shell) bool {
	s.herd.mu.Lock()
	defer s.herd.mu.Unlock()
	if s.herd.spare == nil {
		return false
	}
	where, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", s.herd.spare.cmd.Process.Pid))
	return slices.ContainsFunc(where, func(name string) bool {
		b, _ := os.ReadFile(name)
		return strings.HasPrefix(string(b), "unix_stream")
	})
}

// BenchmarkRun has its rival in the same run: compare ratios.
func BenchmarkRun(b *testing.B) {
	b.Run("bash", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/bash", "--norc", "--noprofile", "-c", "true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, c := range map[string]Config{"shell": {}, "without control groups": {noPen: true}} {
		b.Run(name, func(b *testing.B) {
			s, _ := newShell(b, c)
			for b.Loop() {
				do(b, s, "true")
			}
		})
	}
}

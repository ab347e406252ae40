package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSearchMemory: two thousand hits with a thousand lines of context each do
// not fill the memory. H063
func TestSearchMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var b strings.Builder
	for i := 1; i <= 500_000; i++ {
		fmt.Fprintln(&b, i)
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		plant(t, filepath.Join(dir, name), b.String())
	}
	s := serve(t, dir, t.TempDir())
	for _, mode := range []args{{"-C": 1000}, {"-C": 1000, "offset": 100_000}, {"multiline": true, "-C": 1000}} {
		text := s.must(t, "Grep", args{"pattern": "500$", "output_mode": "content", "head_limit": 0}.with(mode))
		if !strings.Contains(text, " shown, there are more; go on with offset ") || len(text) > 48_000 {
			t.Errorf("%v: %d bytes, which end in %.200s", mode, len(text), text[max(0, len(text)-200):])
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	var peak int
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(line, &peak); err != nil || peak > 200<<10 {
		t.Errorf("the server has used up to %d KiB, want less than 200 MiB (%v)", peak, err)
	}
	s.close(t)
}

// TestSearchLeaks: searches leave no descriptor and no thread of work behind,
// also when they fail, are cut or are cancelled.
func TestSearchLeaks(t *testing.T) {
	t.Parallel()
	dir := sourceTree(t, 4)
	s := serve(t, dir, t.TempDir())
	open := func() int {
		names, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	round := func() {
		s.must(t, "Grep", args{"pattern": "x"})
		s.must(t, "Grep", args{"pattern": "x", "output_mode": "content", "head_limit": 1})
		s.must(t, "Grep", args{"pattern": "x", "path": "keep.log"})
		s.must(t, "Glob", args{"pattern": "**"})
		s.must(t, "Glob", args{"pattern": "src/a/*.go"})
		s.refuse(t, "does not exist", "Grep", args{"pattern": "x", "path": "absent"})
		s.refuse(t, "closed", "Grep", args{"pattern": "("})
		s.refuse(t, "is not a directory", "Glob", args{"pattern": "*", "path": "keep.log"})
		id, wait := s.Start("tools/call", map[string]any{"name": "Grep", "arguments": args{"pattern": "(a|b)*c(a|b){14}"}})
		if err := s.Notify("notifications/cancelled", map[string]any{"requestId": id}); err != nil {
			t.Fatal(err)
		}
		ended, stop := context.WithCancel(t.Context())
		stop()
		wait(ended)
	}
	round()
	s.must(t, "Glob", args{"pattern": "**"})
	before := open()
	for range 20 {
		round()
	}
	for end := time.Now().Add(10 * time.Second); open() > before; { // the last cancelled one may still be ending
		if time.Now().After(end) {
			t.Fatalf("%d descriptors are open after twenty rounds, %d were before", open(), before)
		}
		time.Sleep(time.Millisecond)
	}
	s.close(t)
}

// TestSearchUnreadable is what the scenario unreadable shows, for those who
// run the tests as root: the server runs as somebody else. H060
func TestSearchUnreadable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("the scenario unreadable shows it to an ordinary user")
	}
	const nobody = 65534
	top, err := os.MkdirTemp("", "ferrule-unreadable-") // not t.TempDir, which another user cannot enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	dir, home, bin := filepath.Join(top, "w"), filepath.Join(top, "home"), filepath.Join(top, "ferrule")
	if out, err := exec.Command("cp", binary(t), bin).CombinedOutput(); err != nil { // what this process wrote itself may still be busy
		t.Fatalf("%v: %s", err, out)
	}
	plant(t, filepath.Join(dir, "x"), "needle\n")
	plant(t, filepath.Join(dir, "y"), "needle\n")
	plant(t, filepath.Join(dir, "no", "z"), "needle\n")
	plant(t, filepath.Join(home, "empty"), "")
	for name, mode := range map[string]os.FileMode{top: 0o755, bin: 0o755, dir + "/x": 0o600, dir + "/no": 0o700} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(home, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-C", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	s := serveCommand(t, cmd, home)
	want := "y\n\n(1 file)\n(1 file could not be read: x)\n(1 folder could not be read: no)"
	if text := s.must(t, "Grep", args{"pattern": "needle"}); text != want {
		t.Errorf("Grep says %q, want %q", text, want)
	}
	s.refuse(t, "x cannot be opened: permission denied", "Grep", args{"pattern": "needle", "path": "x"})
	s.refuse(t, "no cannot be listed: permission denied", "Grep", args{"pattern": "needle", "path": "no"})
	s.close(t)
}

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

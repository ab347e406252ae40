package search

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFIFO: a pipe that was put in a file's place does not hold the search up, with openat2 and without.
func TestFIFO(t *testing.T) {
	t.Parallel()
	dir, names := makeTree(t, "a", "needle\n", "d/b", "needle\n")
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	names = append(names, "fifo")
	if f := grep(t, dir, names, "needle", Query{Mode: Count}); f.Text != "a:1\nd/b:1\n" || f.Opened != 2 || f.Unreadable.Count != 0 {
		t.Errorf("%+v", f)
	}
}

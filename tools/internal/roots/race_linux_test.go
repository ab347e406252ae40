package roots

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSwap exchanges a folder and a link to the outside as fast as it can while files are made, read and listed below
// it. As proof that the test can fail, files are also made by the path that was checked; those may escape.
func TestSwap(t *testing.T) {
	t.Parallel()
	want := int64(3_000)
	if os.Getenv("FERRULE_NIGHTLY") == "1" {
		want = 200_000
	}
	w := scratch(t)
	r, out := filepath.Join(w, "r"), filepath.Join(w, "out")
	put(t, "in", r, "sub/keep")
	put(t, "secret", out, "keep")
	put(t, "secret", out, "only")
	link(t, out, r, "evil")
	s := open(t, []string{r}, nil)
	var stop atomic.Bool
	var swaps atomic.Int64
	done := make(chan error, 1)
	go func() {
		var err error
		for !stop.Load() && err == nil {
			err = unix.Renameat2(unix.AT_FDCWD, r+"/sub", unix.AT_FDCWD, r+"/evil", unix.RENAME_EXCHANGE)
			swaps.Add(1)
		}
		done <- err
	}()
	start := time.Now()
	var made, read, listed, refused, escaped int
	few := func() bool { return min(made, read, listed, refused) < 10 && time.Since(start) < 5*time.Second }
	for (swaps.Load() < want || few()) && len(done) == 0 {
		made += create(t, s, false)
		if os.Remove(out+"/new") == nil {
			t.Error("made a file outside")
		}
		read += readKeep(t, s)
		listed += list(t, s)
		if _, err := s.Resolve("sub/only"); errors.Is(err, ErrOutside) {
			refused++
		}
		create(t, s, true)
		if os.Remove(out+"/new") == nil {
			escaped++
		}
		_ = s.first.held.root.Remove("sub/new")  // whichever of the two it is
		_ = s.first.held.root.Remove("evil/new") // at the moment
	}
	stop.Store(true)
	checkSwapper(t, <-done)
	t.Logf("%d swaps; %d made, %d read, %d listed, %d refused; by path %d escaped", swaps.Load(), made, read, listed,
		refused, escaped)
	if made == 0 || read == 0 || listed == 0 || refused == 0 {
		t.Error("something never happened, so this proves little")
	}
}

func checkSwapper(t *testing.T, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("FERRULE_CI") == "1":
		t.Fatal(err)
	default:
		t.Skip("this file system cannot exchange names:", err)
	}
}

func create(t *testing.T, s *Set, byPath bool) int {
	p, err := s.Resolve("sub/new")
	if err != nil {
		return 0
	}
	flags := os.O_CREATE | os.O_WRONLY
	var f *os.File
	if byPath {
		f, err = os.OpenFile(p.Path, flags, 0o644)
	} else {
		f, err = p.Root.OpenFile(p.Rel, flags, 0o644)
	}
	if err != nil {
		return 0
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	return 1
}

func readKeep(t *testing.T, s *Set) int {
	p, err := s.Resolve("sub/keep")
	if err != nil {
		return 0
	}
	f, err := p.Open()
	if err != nil {
		return 0
	}
	defer f.Close()
	if text, err := io.ReadAll(f); err != nil || string(text) != "in" {
		t.Errorf("read %q: %v", text, err)
	}
	return 1
}

func list(t *testing.T, s *Set) int {
	p, err := s.Resolve("sub")
	if err != nil {
		return 0
	}
	f, err := p.OpenDir()
	if err != nil {
		return 0
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	for _, name := range names {
		if name == "only" {
			t.Error("listed a folder outside")
		}
	}
	if err != nil {
		t.Error(err)
	}
	return 1
}

// TestSwapRoot does the same with the name of the root itself.
func TestSwapRoot(t *testing.T) {
	t.Parallel()
	want := int64(1_000)
	if os.Getenv("FERRULE_NIGHTLY") == "1" {
		want = 100_000
	}
	w := scratch(t)
	put(t, "in", w, "r/keep")
	put(t, "secret", w, "out/keep")
	link(t, w+"/out", w, "evil")
	s := open(t, []string{w + "/r"}, nil)
	var stop atomic.Bool
	var swaps atomic.Int64
	done := make(chan error, 1)
	go func() {
		var err error
		for !stop.Load() && err == nil {
			err = unix.Renameat2(unix.AT_FDCWD, w+"/r", unix.AT_FDCWD, w+"/evil", unix.RENAME_EXCHANGE)
			swaps.Add(1)
		}
		done <- err
	}()
	for swaps.Load() < want && len(done) == 0 {
		if text, _, err := read(s, "keep"); err != nil || text != "in" {
			t.Errorf("read %q: %v", text, err)
		}
	}
	stop.Store(true)
	checkSwapper(t, <-done)
}

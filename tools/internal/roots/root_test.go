package roots

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func rename(t *testing.T, from, to string) {
	t.Helper()
	err := os.Rename(from, to)
	if err != nil && runtime.GOOS == "windows" {
		t.Skip("a folder that is held cannot be renamed on Windows:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// note resolves f and checks what it reads and tells.
func note(t *testing.T, s *Set, name, text, word string) Place {
	t.Helper()
	got, p, err := read(s, name)
	if err != nil || got != text {
		t.Errorf("%s: read %q, want %q: %v", name, got, text, err)
	}
	if (p.Note == "") != (word == "") || !strings.Contains(p.Note, word) {
		t.Errorf("%s: note %q, want one with %q", name, p.Note, word)
	}
	return p
}

// TestRenamedRoot: the held folder is used until another one stands under its name; each change is told once.
func TestRenamedRoot(t *testing.T) {
	t.Parallel()
	w := scratch(t)
	r := filepath.Join(w, "r")
	put(t, "old", r, "f")
	s := open(t, []string{r}, nil)
	note(t, s, "f", "old", "")
	rename(t, r, r+"2")
	note(t, s, "f", "old", "no longer found")
	early := note(t, s, "f", "old", "")
	put(t, "new", r, "f")
	note(t, s, r+"/f", "new", "replaced")
	note(t, s, "f", "new", "")
	// Another goroutine may have seen the change at the same moment; it must neither open nor tell it again.
	if h, text := s.first.renew(early.held); h != s.first.held || text != "" {
		t.Errorf("renewed twice: %q", text)
	}
	f, err := early.Open()
	if err != nil {
		t.Fatal("a place in the folder before:", err)
	}
	f.Close()
	for i := range 2 * maxReplaced {
		rename(t, r, fmt.Sprint(r, "-", i))
		put(t, fmt.Sprint(i), r, "f")
		note(t, s, "f", fmt.Sprint(i), "replaced")
	}
	if n := len(s.first.replaced); n != maxReplaced {
		t.Errorf("%d replaced folders are held", n)
	}
	if err := os.RemoveAll(r); err != nil {
		t.Fatal(err)
	}
	if p, err := s.Resolve("f"); err != nil || p.Info != nil || p.Note == "" {
		t.Errorf("removed root: %+v, %v", p, err)
	}
}

// TestRootIsNotWidened: a link under a root's name, or under a folder above it, does not move the root.
func TestRootIsNotWidened(t *testing.T) {
	t.Parallel()
	for _, swapped := range []string{"up/r", "up"} {
		w := scratch(t)
		put(t, "mine", w, "up/r/f")
		put(t, "secret", w, "out/f")
		put(t, "secret", w, "out/r/f")
		s := open(t, []string{filepath.Join(w, "up/r")}, nil)
		rename(t, filepath.Join(w, swapped), filepath.Join(w, "away"))
		link(t, w+"/out", w, swapped)
		note(t, s, "f", "mine", "leads elsewhere")
		note(t, s, w+"/up/r/f", "mine", "")
		if err := os.Remove(filepath.Join(w, swapped)); err != nil {
			t.Fatal(err)
		}
		link(t, w+"/away", w, swapped) // a link to the folder itself is no change
		note(t, s, "f", "mine", "")
		if err := os.Remove(filepath.Join(w, swapped)); err != nil {
			t.Fatal(err)
		}
		put(t, "new", w, "up/r/f")
		note(t, s, "f", "new", "replaced")
	}
}

func TestAliasMoves(t *testing.T) {
	t.Parallel()
	w := scratch(t)
	put(t, "1", w, "one/f")
	put(t, "2", w, "two/f")
	link(t, "one", w, "now")
	s := open(t, []string{filepath.Join(w, "now")}, nil)
	note(t, s, "f", "1", "")
	if err := os.Remove(filepath.Join(w, "now")); err != nil {
		t.Fatal(err)
	}
	link(t, "two", w, "now")
	note(t, s, w+"/now/f", "1", "another folder")
	note(t, s, "f", "1", "")
}

// TestParallel is for the race detector: renewals, walks and Close at once.
func TestParallel(t *testing.T) {
	t.Parallel()
	w := scratch(t)
	r := filepath.Join(w, "r")
	put(t, "x", r, "d/f")
	s := open(t, []string{r}, []string{w})
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for _, name := range []string{"d/f", r + "/d/../d/f", w + "/r/d/f"} {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					read(s, name)
				}
			}
		})
	}
	for i := range 20 {
		if err := os.Rename(r, fmt.Sprint(r, i)); err != nil {
			break // not possible on Windows, where the rest of the test still runs
		}
		put(t, "x", r, "d/f")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	close(stop)
	wg.Wait()
}

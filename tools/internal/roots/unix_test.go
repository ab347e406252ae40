//go:build unix

package roots

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// soon fails the test if f hangs. On an idle machine everything here ends within a second; a busy one gets more.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal(what, "hangs")
	}
}

func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	r, err := os.MkdirTemp("", "r") // the address of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(r)
	if r, err = filepath.EvalSymlinks(r); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(r+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", r+"/sock")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	link(t, "fifo", r, "l")
	s := open(t, []string{r}, []string{"/dev"})
	for name, want := range map[string]string{
		"fifo": "FIFO", "l": "FIFO", "sock": "socket", "/dev/zero": "device", "/dev/null": "device", "fifo/x": "FIFO",
	} {
		soon(t, name, func() {
			_, p, err := read(s, name)
			if class(err) != want {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
			if p.Path == "" {
				return
			}
			if _, err := p.OpenDir(); class(err) != want {
				t.Errorf("%s as a folder: %v, want %s", name, err, want)
			}
			// The same for what has come since Resolve.
			p.Info = nil
			if _, err := p.Open(); class(err) != want {
				t.Errorf("%s unseen: %v, want %s", name, err, want)
			}
			if _, err := p.OpenDir(); class(err) != want {
				t.Errorf("%s unseen, as a folder: %v, want %s", name, err, want)
			}
		})
	}
	soon(t, "FIFO as root", func() {
		if _, err := Open([]string{r + "/fifo"}, nil); class(err) != "FIFO" {
			t.Error(err)
		}
	})
}

// TestKernelFiles: the files of /proc are called regular, have no size, and some have nothing to give.
func TestKernelFiles(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("there is no /proc:", err)
	}
	s := open(t, []string{"/proc"}, nil)
	if text, _, err := read(s, "self/status"); err != nil || len(text) == 0 {
		t.Errorf("read %d bytes: %v", len(text), err)
	}
	for name, want := range map[string]string{
		"self/root/etc/passwd": "outside", "self/cwd": "outside", "self/exe": "outside",
	} {
		if _, _, err := read(s, name); class(err) != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if waitEmpty >= time.Second {
		t.Error("reading may wait for", waitEmpty)
	}
	p := resolve(t, s, "kmsg")
	f, err := p.Open()
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		t.Skip("/proc/kmsg is for root:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	soon(t, "/proc/kmsg", func() {
		if _, err := io.Copy(io.Discard, f); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestPermission(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("nothing is forbidden to root")
	}
	r := scratch(t)
	put(t, "x", r, "d/f")
	put(t, "x", r, "g")
	if err := errors.Join(os.Chmod(r+"/d", 0), os.Chmod(r+"/g", 0)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(r+"/d", 0o755)
	s := open(t, []string{r}, nil)
	for _, name := range []string{"d/f", "g", "d/../d/f", "d/f/x"} {
		if _, _, err := read(s, name); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := resolve(t, s, "d").OpenDir(); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
}

// TestHardLink documents that a hard link to a file outside cannot be told apart.
// (S010)
func TestHardLink(t *testing.T) {
	t.Parallel()
	w := scratch(t)
	put(t, "out", w, "secret")
	mkdir(t, w, "r")
	if err := os.Link(w+"/secret", w+"/r/f"); err != nil {
		t.Skip("no hard links here:", err)
	}
	if text, _, err := read(open(t, []string{w + "/r"}, nil), "f"); text != "out" || err != nil {
		t.Error(text, err)
	}
}

// TestDeepAndLong: a path longer than the kernel takes at once still leads somewhere.
func TestDeepAndLong(t *testing.T) {
	t.Parallel()
	r := scratch(t)
	s := open(t, []string{r}, nil)
	c := string(bytes.Repeat([]byte("n"), 200))
	name := ""
	for range 25 {
		name = filepath.Join(name, c)
		if err := s.first.held.root.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p := resolve(t, s, name+"/f")
	if p.Info != nil || p.Rel != name+"/f" {
		t.Fatalf("%.80s", p.Rel)
	}
	if err := p.Root.WriteFile(p.Rel, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, _, err := read(s, r+"/"+name+"/../"+c+"/f"); text != "x" || err != nil {
		t.Errorf("read %q: %v", text, err)
	}
	f, err := resolve(t, s, name).OpenDir()
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

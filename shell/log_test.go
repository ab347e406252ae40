package shell

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A log is the stream as it is, or its beginning, a line that says what is missing, and its end.
func TestLogFile(t *testing.T) {
	t.Parallel()
	const limit = 256 << 10
	for _, total := range []int{0, 10, spillAt, spillAt + 1, limit - 1, limit, limit + 1, limit * 2, limit*7 + 123} {
		for _, chunk := range []int{77, 4096, 64 << 10, limit * 3} {
			d := &logDir{path: filepath.Join(t.TempDir(), "logs"), budget: logBudget}
			l := &logFile{dir: d, name: "x", max: limit}
			var all bytes.Buffer
			for i := 0; all.Len() < total; i++ {
				fmt.Fprintf(&all, "line %d\n", i)
			}
			data := all.Bytes()[:total]
			for rest := data; len(rest) > 0; {
				n := min(chunk, len(rest))
				l.write(rest[:n])
				rest = rest[n:]
			}
			path, err := l.keep()
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			checkLog(t, fmt.Sprintf("%d by %d", total, chunk), got, data, limit, l)
			l.close(true)
			if err := d.close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(d.path); !os.IsNotExist(err) {
				t.Errorf("the folder is still there: %v", err)
			}
		}
	}
}

func checkLog(t *testing.T, name string, got, data []byte, limit int, l *logFile) {
	t.Helper()
	if len(data) <= limit {
		if !bytes.Equal(got, data) || l.full() {
			t.Errorf("%s: %d bytes, want %d; full %v", name, len(got), len(data), l.full())
		}
		return
	}
	head, rest := got[:limit/4], got[limit/4:]
	gap, tail := string(rest[:gapWidth]), rest[gapWidth:]
	want := fmt.Sprintf("\n[... %d bytes left out ...]", len(data)-len(head)-len(tail))
	if !bytes.HasPrefix(data, head) || !bytes.HasSuffix(data, tail) || strings.TrimRight(gap, " \n") != want ||
		!strings.HasSuffix(gap, "\n") || len(got) > limit || len(tail) < limit*3/8-gapWidth || !l.full() {
		t.Errorf("%s: %d bytes, tail of %d, gap %q, want %q", name, len(got), len(tail), gap, want)
	}
}

// H084: nobody else can enter the folder, and it takes no file that is already there.
func TestLogDir(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	d := &logDir{path: dir, budget: logBudget}
	if err := d.close(); err != nil {
		t.Error(err)
	}
	d = &logDir{path: dir, budget: logBudget}
	f, err := d.create("x")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "x"): 0o600} {
		if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, fi.Mode(), err)
		}
	}
	if _, err := d.create("x"); err == nil {
		t.Error("a file was made twice")
	}
	if err := os.WriteFile(filepath.Join(dir, "foreign"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.close(); err == nil {
		t.Error("a folder with a foreign file was removed without a word")
	}
	if left, _ := filepath.Glob(dir + "/*"); len(left) != 1 {
		t.Errorf("left: %q", left)
	}
	open := t.TempDir()
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := (&logDir{path: open}).create("x"); err == nil {
		t.Error("a folder open to others was used")
	}
}

// The logs of what has ended make room for new ones.
func TestLogBudget(t *testing.T) {
	t.Parallel()
	d := &logDir{path: filepath.Join(t.TempDir(), "logs"), budget: 250}
	for i := range 5 {
		l := &logFile{dir: d, name: fmt.Sprint(i), max: 1000}
		l.write(make([]byte, 100))
		if _, err := l.keep(); err != nil {
			t.Fatal(err)
		}
		l.close(true)
		if i == 0 && l.path() == "" {
			t.Error("the only log is gone")
		}
	}
	left, _ := filepath.Glob(d.path + "/*")
	if len(left) != 2 || filepath.Base(left[0]) != "3" {
		t.Errorf("left: %q", left)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}

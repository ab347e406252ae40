package history

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"ferrule/tools/internal/atomicfile"
)

// TestMain lets the test binary play a server that is killed.
func TestMain(m *testing.M) {
	switch os.Getenv("HISTORY_CHILD") {
	case "write":
		writeForever()
	default:
		os.Exit(m.Run())
	}
}

func nightly() bool { return os.Getenv("FERRULE_NIGHTLY") == "1" }

// bench is a folder with a history and what changes files in it.
type bench struct {
	testing.TB
	dir, state string
	root       *os.Root
	files      *atomicfile.Files
	log        *Log
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{TB: t, dir: t.TempDir(), state: filepath.Join(t.TempDir(), "history"), files: atomicfile.NewFiles(atomicfile.SyncNone)}
	var err error
	if b.root, err = os.OpenRoot(b.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.root.Close() })
	b.log = b.open(0)
	return b
}

func (b *bench) open(limit int64) *Log {
	b.Helper()
	l, err := Open(b.state, limit)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	return l
}

func (b *bench) reopen(limit int64) {
	b.Helper()
	if err := b.log.Close(); err != nil {
		b.Fatal(err)
	}
	b.log = b.open(limit)
}

// write changes a file as a tool does.
func (b *bench) write(path, content, session string) Entry {
	b.Helper()
	e := Entry{Session: session, Tool: "Write", Path: path}
	o := atomicfile.Options{Parents: true}
	b.log.Record(&o, &e)
	_, err := b.files.Update(b.Context(), b.root, filepath.FromSlash(path), o,
		func(*atomicfile.Content) ([]byte, error) { return []byte(content), nil })
	if err != nil {
		b.Fatal(err)
	}
	return e
}

// foreign changes a file as another program does.
func (b *bench) foreign(path, content string) {
	b.Helper()
	name := filepath.Join(b.dir, path)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		b.Fatal(err)
	}
}

// take plans and applies.
func (b *bench) take(q Query) error {
	b.Helper()
	steps, err := b.log.Plan(q, func(p string) (*atomicfile.Sum, error) { return Sum(b.root, p) })
	if err != nil {
		return err
	}
	for _, s := range steps {
		e := Entry{Session: q.Session, Tool: "Undo"}
		if _, err := b.log.Apply(b.Context(), b.files, b.root, s, &e); err != nil {
			return err
		}
		if e.State != Done || e.ID == "" {
			b.Errorf("entry of the undo: %+v", e)
		}
	}
	return nil
}

// get returns the content, "-" if there is no file.
func (b *bench) get(path string) string {
	b.Helper()
	c, err := os.ReadFile(filepath.Join(b.dir, path))
	if errors.Is(err, fs.ErrNotExist) {
		return "-"
	}
	if err != nil {
		b.Fatal(err)
	}
	return string(c)
}

func (b *bench) names() (names []string) {
	b.Helper()
	err := fs.WalkDir(os.DirFS(b.dir), ".", func(p string, _ fs.DirEntry, err error) error {
		if p != "." {
			names = append(names, p)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return names
}

func (b *bench) entries(path, session string) []Entry {
	b.Helper()
	es, err := b.log.Entries(path, session)
	if err != nil {
		b.Fatal(err)
	}
	return es
}

func (b *bench) remove(path string) { os.Remove(filepath.Join(b.dir, path)) }

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

func sum(s string) *atomicfile.Sum { h := atomicfile.Sum(sha256.Sum256([]byte(s))); return &h }

func TestUndoWalksBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	undo := func(steps int) error { return b.take(Query{Path: "f", Steps: steps}) }
	redo := func(steps int) error { return b.take(Query{Path: "f", Steps: steps, Redo: true}) }
	for _, c := range []string{"1", "2", "3", "4", "5"} {
		b.write("f", c, "s")
	}
	for i, step := range []struct {
		f    func(int) error
		n    int
		want string
	}{
		{undo, 1, "4"}, {undo, 1, "3"}, {redo, 1, "4"}, {undo, 2, "2"}, {redo, 1, "4"}, {redo, 1, "5"},
		{undo, 1, "4"}, {undo, 1, "3"}, {redo, 2, "5"}, {undo, 4, "1"}, {undo, 1, "-"}, {redo, 1, "1"},
	} {
		if err := step.f(step.n); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		same(t, fmt.Sprintf("after step %d", i), b.get("f"), step.want)
	}
	b.write("f", "6", "s")
	if err := redo(1); !errors.Is(err, ErrNothing) {
		t.Error("redone over a new change:", err)
	}
	for _, want := range []string{"1", "-"} {
		if err := undo(1); err != nil {
			t.Fatal(err)
		}
		same(t, "at the end", b.get("f"), want)
	}
	if err := undo(1); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
	b.reopen(0) // the same from the file
	if err := redo(2); err != nil {
		t.Fatal(err)
	}
	same(t, "after opening again", b.get("f"), "6")
}

func TestUndoCreation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a/b/f", "x", "s")
	b.write("a/g", "y", "s")
	if err := b.take(Query{Path: "a/b/f", Steps: 1}); err != nil {
		t.Fatal(err)
	}
	same(t, "names", b.names(), "[a a/g]")
	if err := b.take(Query{Path: "a/b/f", Redo: true}); err != nil {
		t.Fatal(err)
	}
	same(t, "names", b.names(), "[a a/b a/b/f a/g]")
}

// TestUndoSession takes back over files, in the order of the changes.
func TestUndoSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("f", "1", "s")
	b.write("g", "1", "s")
	b.write("f", "2", "s")
	b.write("h", "1", "other")
	b.write("f", "3", "s")
	if err := b.take(Query{Session: "s", Steps: 3}); err != nil {
		t.Fatal(err)
	}
	same(t, "files", b.get("f")+b.get("g")+b.get("h"), "1-1")
	if err := b.take(Query{Session: "s", Steps: 2, Redo: true}); err != nil {
		t.Fatal(err)
	}
	same(t, "files", b.get("f")+b.get("g")+b.get("h"), "311")
	b.write("f", "4", "other")
	var r *Refused
	if err := b.take(Query{Session: "s", Steps: 2}); !errors.As(err, &r) || !strings.Contains(r.Why, "another session") {
		t.Errorf("%v", err)
	}
	same(t, "after a refusal", b.get("f")+b.get("g")+b.get("h"), "411")
	same(t, "entries", fmt.Sprint(len(b.entries("f", "")), len(b.entries("f", "other")), len(b.entries("", "s"))), "6 1 8")
}

// TestUndoRefuses what would destroy the work of others.
func TestUndoRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(b *bench)
		n    int
		why  string
		want string
	}{
		"changed":         {func(b *bench) { b.write("f", "1", ""); b.foreign("f", "x") }, 1, "changed by something else", "x"},
		"removed":         {func(b *bench) { b.write("f", "1", ""); b.remove("f") }, 1, "removed by something else", "-"},
		"gap":             {func(b *bench) { b.write("f", "1", ""); b.foreign("f", "x"); b.write("f", "2", "") }, 2, "fewer steps", "2"},
		"after the gap":   {func(b *bench) { b.write("f", "1", ""); b.foreign("f", "x"); b.write("f", "2", "") }, 1, "", "x"},
		"restored":        {func(b *bench) { b.write("f", "1", ""); b.foreign("f", "x"); b.foreign("f", "1") }, 1, "", "-"},
		"not a file":      {func(b *bench) { b.write("f", "1", ""); b.remove("f"); os.Mkdir(filepath.Join(b.dir, "f"), 0o755) }, 1, "cannot be compared", ""},
		"blob lost":       {func(b *bench) { b.foreign("f", "0"); b.write("f", "1", ""); os.Remove(b.log.blob(*sum("0"))) }, 1, "is not kept", "1"},
		"there and back":  {func(b *bench) { b.write("f", "1", ""); b.write("f", "2", ""); b.write("f", "1", "") }, 2, "", "1"},
		"undone creation": {func(b *bench) { b.write("f", "1", ""); b.take(Query{Path: "f"}); b.foreign("f", "x") }, 0, "nothing", "x"},
		"made anew": {func(b *bench) {
			b.write("f", "1", "")
			b.write("f", "2", "")
			b.take(Query{Path: "f", Steps: 2})
			b.foreign("f", "x")
		}, -1, "made anew by something else", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			c.do(b)
			err := b.take(Query{Path: "f", Steps: c.n, Redo: c.n < 0})
			switch {
			case c.why == "" && err != nil:
				t.Error(err)
			case c.why == "nothing":
				if !errors.Is(err, ErrNothing) {
					t.Error(err)
				}
			case c.why != "":
				var r *Refused
				if !errors.As(err, &r) || !strings.Contains(r.Why, c.why) || r.Path != "f" {
					t.Errorf("got %v, want %q", err, c.why)
				}
			}
			if c.want != "" {
				same(t, "content", b.get("f"), c.want)
			}
		})
	}
}

// TestUndoRace: the file changes between the plan and the act.
func TestUndoRace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("f", "1", "")
	b.write("f", "2", "")
	for _, n := range []int{1, 2} {
		steps, err := b.log.Plan(Query{Path: "f", Steps: n}, func(p string) (*atomicfile.Sum, error) { return Sum(b.root, p) })
		if err != nil {
			t.Fatal(err)
		}
		b.foreign("f", "x")
		if _, err := b.log.Apply(t.Context(), b.files, b.root, steps[0], &Entry{}); !errors.Is(err, atomicfile.ErrStale) {
			t.Error(err)
		}
		same(t, "content", b.get("f"), "x")
		b.foreign("f", "2")
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.foreign("f", strings.Repeat("x", MaxContent+1))
	e := b.write("f", "new", "")
	if !e.NotKept {
		t.Error("kept")
	}
	var r *Refused
	if err := b.take(Query{Path: "f"}); !errors.As(err, &r) || !strings.Contains(r.Why, "not kept") {
		t.Error(err)
	}
	if es := b.entries("f", ""); len(es) != 1 || !es[0].NotKept || es[0].State != Done {
		t.Errorf("%+v", es)
	}
}

// TestRecordFails: what cannot be recorded does not happen.
func TestRecordFails(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.foreign("f", "old")
	b.log.Close()
	e := Entry{Path: "f"}
	var o atomicfile.Options
	b.log.Record(&o, &e)
	out, err := b.files.Update(t.Context(), b.root, "f", o, func(*atomicfile.Content) ([]byte, error) { return []byte("new"), nil })
	if err == nil || out.Written {
		t.Errorf("%+v %v", out, err)
	}
	same(t, "content", b.get("f"), "old")
}

func TestPrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no modes")
	}
	b := newBench(t)
	b.foreign("f", "secret")
	b.write("f", "x", "")
	err := filepath.WalkDir(b.state, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err == nil && fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", p, fi.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestBlob(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.foreign("f", "old")
	b.write("f", "new", "")
	if c, err := b.log.Blob(*sum("old")); err != nil || string(c) != "old" {
		t.Errorf("%q %v", c, err)
	}
	if _, err := b.log.Blob(*sum("none")); !errors.Is(err, ErrNotKept) {
		t.Error(err)
	}
	os.WriteFile(b.log.blob(*sum("old")), []byte("damaged"), 0o600)
	if c, err := b.log.Blob(*sum("old")); !errors.Is(err, ErrNotKept) {
		t.Errorf("%q %v", c, err)
	}
}

// BenchmarkEdit is an edit of a file of 500 lines with everything that belongs to it, against reading and writing.
func BenchmarkEdit(b *testing.B) {
	for _, name := range []string{"os.ReadFile, os.WriteFile", "none", "file"} {
		b.Run(name, func(b *testing.B) {
			w := newBench(b)
			var sync atomicfile.Sync
			if sync.UnmarshalText([]byte(name)) == nil {
				w.files = atomicfile.NewFiles(sync)
			}
			var text strings.Builder
			for i := range 500 {
				fmt.Fprintf(&text, "func name%d(a, b int) int { return a + b*%d }\n", i, i*i)
			}
			w.foreign("f", text.String())
			for i := 0; b.Loop(); i++ {
				if strings.HasPrefix(name, "os.") {
					w.foreign("f", w.get("f")[:text.Len()-9]+fmt.Sprintf("%09d", i))
					continue
				}
				e := Entry{Path: "f", Tool: "Edit"}
				var o atomicfile.Options
				w.log.Record(&o, &e)
				_, err := w.files.Update(b.Context(), w.root, "f", o, func(old *atomicfile.Content) ([]byte, error) {
					return fmt.Appendf(bytes.Clone(old.Data[:len(old.Data)-9]), "%09d", i), nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen reads a log at its largest.
func BenchmarkOpen(b *testing.B) {
	w := newBench(b)
	for i := range maxEntries {
		e, err := w.log.Begin(Entry{Path: "some/folder/file.go", Session: "0123456789abcdef", Tool: "Edit", After: sum(fmt.Sprint(i)), Temp: temp}, nil)
		if err := errors.Join(err, w.log.End(e.ID, Done)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		w.reopen(0)
	}
}

// TestTwoProcesses: each sees the other's changes, and neither settles or cleans up under the other.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.foreign("f", "0")
	mine := b.log
	e, err := mine.Begin(Entry{Path: "f", Before: sum("0"), After: sum("1"), Temp: temp}, []byte("0"))
	if err != nil {
		t.Fatal(err)
	}
	b.foreign(temp, "1")
	old, err := mine.Begin(Entry{Path: "g", After: sum("1"), Time: time.Now().Add(-2 * maxAge)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := mine.End(old.ID, Done); err != nil {
		t.Fatal(err)
	}
	b.log = b.open(0)
	if torn, err := b.log.Settle(b.root); err != nil || len(torn) > 0 {
		t.Error(torn, err)
	}
	same(t, "names while in work", b.names(), []string{temp, "f"})
	same(t, "entries", len(b.entries("", "")), 2)
	if err := mine.End(e.ID, Done); err != nil {
		t.Fatal(err)
	}
	same(t, "state", b.entries("f", "")[0].State, Done)

	var wg sync.WaitGroup
	for i, l := range []*Log{mine, b.log} {
		for range 50 {
			wg.Go(func() {
				e, err := l.Begin(Entry{Path: "p", Session: fmt.Sprint(i), After: sum("x")}, nil)
				if err := errors.Join(err, l.End(e.ID, Done)); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	for _, l := range []*Log{mine, b.log} {
		es, err := l.Entries("p", "")
		same(t, "entries of both", fmt.Sprint(len(es), err), "100 <nil>")
	}
	mine.Close()
	b.reopen(0)
	same(t, "entries when alone", len(b.entries("", "")), 101)
}

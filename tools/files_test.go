package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ferrule/tools/internal/atomicfile"
	"ferrule/tools/internal/history"
)

type nobody struct{}

func (nobody) Ask(context.Context, Question) (Answer, error)    { return Answer{}, ErrNoUser }
func (nobody) CanAsk() bool                                     { return false }
func (nobody) Complete(context.Context, string) (string, error) { return "", ErrNoModel }
func (nobody) Progress(float64, string)                         {}

// open returns a session over a new directory, and its path without links.
func open(t *testing.T, cfg Config) (*Session, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cfg.Roots = append(cfg.Roots, dir)
	s, err := NewSession(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, dir
}

func call(t *testing.T, s *Session, tool *Tool, args map[string]any) Result {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return tool.Call(t.Context(), s, nobody{}, raw)
}

func must(t *testing.T, s *Session, tool *Tool, args map[string]any) string {
	t.Helper()
	r := call(t, s, tool, args)
	if r.Failed {
		t.Fatalf("%s %v: %s", tool.Name, args, r.Text)
	}
	return r.Text
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// A path that begins with ~/ is one in the home folder, for every tool.
func TestHomePath(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	s, _ := open(t, Config{ReadDirs: []string{home}})
	put(t, filepath.Join(home, "f"), "needle\n")
	for _, c := range []struct {
		tool *Tool
		args map[string]any
		want string
	}{
		{Read, map[string]any{"file_path": "~/f"}, "1\tneedle"},
		{Read, map[string]any{"file_path": "~//./f"}, "1\tneedle"},
		{Glob, map[string]any{"pattern": "~/*"}, "/f"},
		{Glob, map[string]any{"pattern": "*", "path": "~"}, "/f"},
		{Grep, map[string]any{"pattern": "needle", "path": "~/f"}, "/f"},
		{ListDir, map[string]any{"path": "~"}, "f"},
	} {
		if got := must(t, s, c.tool, c.args); !strings.Contains(got, c.want) {
			t.Errorf("%s %v: %q does not hold %q", c.tool.Name, c.args, got, c.want)
		}
	}
	r := call(t, s, Write, map[string]any{"file_path": "~/new", "content": "x"})
	if want := "~/new is in a directory that may only be read"; !r.Failed || !strings.HasPrefix(r.Text, want) {
		t.Errorf("Write below a home folder that may only be read: %q", r.Text)
	}
	// A home folder that is the workspace may be changed, and results name what is in it as it was given.
	s, err = NewSession(Config{Roots: []string{home}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, want := must(t, s, Write, map[string]any{"file_path": "~/sub/new", "content": "x"}), "created ~/sub/new, 1 line, 1 byte"; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	must(t, s, Edit, map[string]any{"file_path": "sub/new", "old_string": "x", "new_string": "y"})
}

// What a crash left open is settled when the next session starts, not when it
// first writes: the temporary file goes, and a root without history gets none.
func TestSettleAtStart(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	s, dir := open(t, Config{State: state})
	if _, err := os.Stat(filepath.Join(state, "history")); err == nil {
		t.Error("a session that changed nothing has made a history")
	}
	must(t, s, Write, map[string]any{"file_path": "f", "content": "old\n"})
	log, err := history.Open(s.historyDir(dir), 0)
	if err != nil {
		t.Fatal(err)
	}
	var o atomicfile.Options
	log.Record(&o, &history.Entry{Path: "f"})
	const temp = ".ferrule-0123456789abcdef.tmp"
	old := &atomicfile.Content{Data: []byte("old\n")}
	f, err := os.Open(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	if _, old.Stamp, err = atomicfile.Read(f, 100); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := o.Begin(atomicfile.Plan{Old: old, Data: []byte("new\n"), Temp: temp}); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, temp), "half of the ne")
	if err := log.Close(); err != nil { // without End: as if killed
		t.Fatal(err)
	}
	next, err := NewSession(Config{Roots: []string{dir}, State: state})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if _, err := os.Stat(filepath.Join(dir, temp)); err == nil {
		t.Error("the temporary file is there after the start")
	}
	if torn := next.Torn(); len(torn) > 0 {
		t.Errorf("torn: %v", torn)
	}
}

// A read that began before a change of ours and ended after it showed the
// version before; it must not make the change look like somebody else's.
func TestReadBesideWrite(t *testing.T) {
	t.Parallel()
	s := seen{files: map[string]record{}}
	one, two, three := stamp("1"), stamp("2"), stamp("3")
	s.shown("f", one, 1, span{1, 1}, s.writes("f"))
	began := s.writes("f")
	s.written("f", two, 1, false)
	s.shown("f", one, 1, span{1, 1}, began)
	if err := s.check("f", "f", two, true); err != nil {
		t.Errorf("after the late read: %v", err)
	}
	s.shown("f", two, 1, span{1, 1}, began)
	if err := s.check("f", "f", two, true); err != nil {
		t.Errorf("after a late read of the new version: %v", err)
	}
	s.shown("f", three, 1, span{1, 1}, s.writes("f"))
	if err := s.check("f", "f", three, true); err != nil {
		t.Errorf("after a read of what somebody else wrote: %v", err)
	}
	if err := s.check("f", "f", two, false); err == nil {
		t.Error("the version before is still taken for the one that was read")
	}
}

func stamp(content string) (st atomicfile.Stamp) {
	copy(st.Sum[:], content)
	return st
}

// Reads and writes of one file at once, all of one session, are never refused
// as stale: nobody else touches the file.
func TestParallelReadsAndWrites(t *testing.T) {
	t.Parallel()
	s, _ := open(t, Config{})
	must(t, s, Write, map[string]any{"file_path": "f", "content": "0\n"})
	ctx := t.Context()
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			for n := range 20 {
				args := fmt.Sprintf(`{"file_path": "f", "content": "%d %d\n"}`, i, n)
				tool := Write
				if i%2 == 0 {
					tool, args = Read, `{"file_path": "f"}`
				}
				if r := tool.Call(ctx, s, nobody{}, json.RawMessage(args)); r.Failed {
					t.Errorf("%s %s: %s", tool.Name, args, r.Text)
					return
				}
			}
		})
	}
	work.Wait()
}

// The lines that were shown are kept as runs that do not touch.
func TestMerge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		add   []span
		total int
		want  string
		whole bool
	}{
		{nil, 0, "[]", true},
		{nil, 3, "[]", false},
		{[]span{{1, 3}}, 3, "[{1 3}]", true},
		{[]span{{1, 1}, {3, 3}}, 3, "[{1 1} {3 3}]", false},
		{[]span{{3, 3}, {1, 1}, {2, 2}}, 3, "[{1 3}]", true},
		{[]span{{1, 5}, {2, 3}}, 5, "[{1 5}]", true},
		{[]span{{2, 3}, {1, 5}}, 6, "[{1 5}]", false},
		{[]span{{4, 3}}, 3, "[]", false},
	} {
		r := record{total: c.total}
		for _, x := range c.add {
			r.lines = merge(r.lines, x)
		}
		if got := fmt.Sprint(r.lines); got != c.want || r.whole() != c.whole {
			t.Errorf("%v of %d lines: %s, whole %v; want %s, %v", c.add, c.total, got, r.whole(), c.want, c.whole)
		}
	}
}

// A call whose client has gone away writes nothing.
func TestCancelledWrite(t *testing.T) {
	t.Parallel()
	s, dir := open(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := Write.Call(ctx, s, nobody{}, json.RawMessage(`{"file_path": "sub/f", "content": "x"}`))
	if names, err := os.ReadDir(dir); !r.Failed || err != nil || len(names) > 0 {
		t.Errorf("failed %v, there is %v", r.Failed, names)
	}
}

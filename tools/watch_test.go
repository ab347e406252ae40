package tools

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// makeFolders makes folders below a new one without links in its path.
func makeFolders(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if err := os.MkdirAll(filepath.Join(dir, n), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func callf(t *testing.T, s *Session, tool *Tool, args string, a ...any) Result {
	t.Helper()
	return tool.Call(t.Context(), s, nobody{}, json.RawMessage(fmt.Sprintf(args, a...)))
}

// After the client's folders have changed, relative paths start in the new
// ones, the old ones are closed to the tools, what was read stays read, and the
// shell moves.
func TestChangeRoots(t *testing.T) {
	dir := makeFolders(t, "a/sub", "b", "ro")
	for _, f := range []string{"a/f", "b/f", "ro/f"} {
		os.WriteFile(filepath.Join(dir, f), []byte(f+"\n"), 0o666)
	}
	s, err := NewSession(Config{Roots: []string{dir + "/a"}, ReadDirs: []string{dir + "/ro"}, State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if r := callf(t, s, Read, `{"file_path": "f"}`); r.Text != "1\ta/f\n" {
		t.Fatal(r.Text)
	}
	bash := callf(t, s, Bash, `{"command": "cd sub && pwd"}`)
	if err := s.ChangeRoots([]string{dir + "/b"}); err != nil {
		t.Fatal(err)
	}
	if r := callf(t, s, Read, `{"file_path": "f"}`); !strings.HasPrefix(r.Text, "1\tb/f") || !strings.Contains(r.Text, "(the project folders are others now: "+dir+"/b)") {
		t.Error(r.Text)
	}
	if r := callf(t, s, Read, `{"file_path": "%s/a/f"}`, dir); !r.Failed {
		t.Error(r.Text)
	}
	if r := callf(t, s, Read, `{"file_path": "%s/ro/f"}`, dir); r.Text != "1\tro/f\n" {
		t.Error(r.Text)
	}
	if !bash.Failed { // there is a bash here
		if r := callf(t, s, Bash, `{"command": "pwd"}`); !strings.HasPrefix(r.Text, dir+"/b\n") || !strings.Contains(r.Text, "is outside the project now") {
			t.Error(r.Text)
		}
	}
	if err := s.ChangeRoots([]string{dir + "/b", dir + "/a"}); err != nil {
		t.Fatal(err)
	}
	if r := callf(t, s, Edit, `{"file_path": "%s/a/f", "old_string": "a/f", "new_string": "x"}`, dir); r.Failed { // read before, under other roots
		t.Error(r.Text)
	}
	if err := s.ChangeRoots([]string{dir + "/missing"}); err == nil || s.Dirs()[0].Path != dir+"/b" {
		t.Errorf("%v %v", err, s.Dirs())
	}
	if err := s.ChangeRoots(nil); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []*Tool{Glob, Bash} {
		if r := callf(t, s, tool, `{"%s": "x"}`, map[*Tool]string{Glob: "pattern", Bash: "command"}[tool]); r.Text != errNoRoot.Error() {
			t.Error(tool.Name, r.Text)
		}
	}
}

// Roots may change while calls run: each call sees a file of one root or the
// other, whole, and nothing breaks.
func TestChangeRootsMeanwhile(t *testing.T) {
	dir := makeFolders(t, "a", "b")
	for _, d := range []string{"a", "b"} {
		os.WriteFile(filepath.Join(dir, d, "f"), []byte(d+"\n"), 0o666)
	}
	s, err := NewSession(Config{Roots: []string{dir + "/a"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				if r := callf(t, s, Read, `{"file_path": "f"}`); r.Failed || r.Text[:3] != "1\ta" && r.Text[:3] != "1\tb" {
					t.Error(r.Text)
				}
				if r := callf(t, s, Grep, `{"pattern": "[ab]"}`); r.Failed || !strings.HasSuffix(strings.SplitN(r.Text, "\n", 2)[0], "f") {
					t.Error(r.Text)
				}
			}
		})
	}
	for i := range 100 {
		if err := s.ChangeRoots([]string{filepath.Join(dir, []string{"b", "a"}[i%2])}); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
}

func TestFolders(t *testing.T) {
	dir := makeFolders(t, "root/src/app", "root/sub", "root/.git", "other", "out/secret")
	os.WriteFile(filepath.Join(dir, "root/skip"), nil, 0o666)
	links := os.Symlink("src", filepath.Join(dir, "root/slink")) == nil && os.Symlink(dir+"/out", filepath.Join(dir, "root/sout")) == nil
	s, err := NewSession(Config{Roots: []string{dir + "/root"}, ReadDirs: []string{dir + "/other"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	slash := filepath.ToSlash(dir)
	for _, test := range []struct {
		typed string
		want  []string
	}{
		{"", []string{"slink", "src", "sub"}},
		{"s", []string{"slink", "src", "sub"}},
		{"src", []string{"src"}},
		{"src/", []string{"src/app"}},
		{"slink/a", []string{"slink/app"}},
		{"sout/", nil}, // leads outside
		{".", []string{".git"}},
		{"../", nil},
		{"../o", nil},
		{slash + "/", []string{slash + "/other", slash + "/root"}}, // of the folder around, only what is served
		{slash + "/ro", []string{slash + "/root"}},
		{slash + "/root/su", []string{slash + "/root/sub"}},
		{"skip/", nil},
	} {
		if !links {
			test.want = slices.DeleteFunc(test.want, func(s string) bool { return strings.HasPrefix(s, "slink") })
		}
		got, total := s.Folders(test.typed, 100)
		if !slices.Equal(got, test.want) && len(got)+len(test.want) > 0 || total != len(got) {
			t.Errorf("%q: %q of %d; want %q", test.typed, got, total, test.want)
		}
	}
	if got, total := s.Folders("s", 1); len(got) != 1 || total < 2 {
		t.Errorf("%q of %d", got, total)
	}
}

func TestTail(t *testing.T) {
	for _, test := range []struct {
		text string
		n    int
		want string
	}{
		{"", 5, ""},
		{"abc\n", 10, "abc\n"},
		{"abcdef", 3, "def"},
		{"äöü€𝄞", 2, "€𝄞"},
		{strings.Repeat("𝄞", 100), 3, "𝄞𝄞𝄞"},
		{"\x1b[31mred\x1b[0m\n 1%\r 2%\n", 100, "red\n 2%\n"},
		{"\xffx", 5, "\uFFFDx"},
	} {
		name := filepath.Join(t.TempDir(), "log")
		os.WriteFile(name, []byte(test.text), 0o666)
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tail(f, test.n)
		f.Close()
		if got != test.want || err != nil || !utf8.ValidString(got) {
			t.Errorf("%q, %d: %q %v; want %q", test.text, test.n, got, err, test.want)
		}
	}
}

// The output of a background command can be looked at, in its own session
// only, and its end is told once.
func TestTaskLog(t *testing.T) {
	s, _ := open(t, Config{State: t.TempDir()})
	other, _ := open(t, Config{State: t.TempDir()})
	res := callf(t, s, Bash, `{"command": "echo out; echo err >&2; read x; echo $x", "run_in_background": true, "stdin": "in"}`)
	if res.Failed {
		t.Skip(res.Text)
	}
	id := res.Meta["task"].(map[string]any)["id"].(string)
	ended := make(chan struct{})
	if s.WhenTaskEnds(id, func() { close(ended) }) {
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Fatal("its end was not told")
		}
	}
	callf(t, s, TaskOutput, `{"task_id": "%s"}`, id)
	for stream, want := range map[string]string{"stdout": "out\nin\n", "stderr": "err\n"} {
		if text, ok := s.TaskLog(id, stream); text != want || !ok {
			t.Errorf("%s: %q %v", stream, text, ok)
		}
	}
	for _, no := range []func() (string, bool){
		func() (string, bool) { return s.TaskLog(id, "stdin") },
		func() (string, bool) { return s.TaskLog("b00000000", "stdout") },
		func() (string, bool) { return other.TaskLog(id, "stdout") },
	} {
		if text, ok := no(); ok || text != "" {
			t.Errorf("%q", text)
		}
	}
	if s.WhenTaskEnds(id, func() { t.Error("told of a task that has ended") }) || other.WhenTaskEnds(id, nil) {
		t.Error("waits for what does not run")
	}
}

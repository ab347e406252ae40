package project

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestParsePrompt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"plain", "Do it.\n", `plain "" "" "" Do it.`},
		{"full", "---\nname: other\ntitle: A title\ndescription: 'It''s: so'\nargument-hint: [file]\n---\n\nText {{x}} $1\n---\nmore\n",
			`other "A title" "It's: so" "[file]" Text {{x}} $1 / --- / more`},
		{"foreign", "---\nallowed-tools:\n  - Bash(git:*)\n  description: inner\nmodel: opus\n---\nText", `foreign "" "" "" Text`},
		{"crlf", "\ufeff---\r\ntitle: x\r\n---\r\nText\r\nmore\r\n", `crlf "x" "" "" Text / more`},
		{"empty-head", "---\n---\nText", `empty-head "" "" "" Text`},
		{"名前", "Text", `名前 "" "" "" Text`},
		{"quoted", "---\ntitle: \"x\"\ndescription: \"\n---\nText", `quoted "x" "\"" "" Text`},
		{"open", "---\ntitle: x\nText", "error: no closing line"},
		{"block", "---\ndescription: |\n  x\n---\nText", "error: must stand on its line"},
		{"nothing", "---\ntitle: x\n---\n \n", "error: it has no text"},
		{"no-text", "---\ntitle: x\n---", "error: it has no text"},
		{"a b", "Text", "error: is no name"},
		{"x", "---\nname: ../x\n---\nText", "error: is no name"},
		{"x", "---\ntitle: " + strings.Repeat("y", 2000) + "\n---\nText", "error: longer than"},
		{strings.Repeat("x", 65), "Text", "error: is no name"},
	} {
		f, err := parsePrompt(c.name, c.text)
		got := fmt.Sprintf("%s %q %q %q %s", f.Name, f.Title, f.Description, f.Hint, strings.ReplaceAll(f.Text, "\n", " / "))
		if err != nil {
			got = "error: " + err.Error()
		}
		if rest, bad := strings.CutPrefix(c.want, "error: "); got != c.want && !(bad && err != nil && strings.Contains(got, rest)) {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func FuzzParsePrompt(f *testing.F) {
	for _, s := range []string{"", "---", "---\n---", "---\ntitle: x\n---\nText", "---\r\nname:\r\n---\r\n", "Text", "---\nname: \"\n---\nx"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePrompt("stem", text)
		if err == nil && (p.Text == "" || strings.TrimSpace(p.Text) != p.Text || !isPromptName(p.Name) ||
			strings.Contains(p.Title+p.Description+p.Hint, "\n")) {
			t.Fatalf("%q: %+v", text, p)
		}
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestPromptDir(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	root := filepath.Join(top, "w")
	dir := filepath.Join(root, ".ferrule", "prompts")
	d := ProjectPrompts(root)
	if files, wrong, hash := d.Read(); files != nil || wrong != nil || hash != "" || d.Mark() != "" {
		t.Errorf("no folder: %v, %v, %q", files, wrong, hash)
	}
	write(t, filepath.Join(dir, "b.md"), "B")
	write(t, filepath.Join(dir, "a.md"), "---\ntitle: A\n---\nText")
	write(t, filepath.Join(dir, "c.md"), "---\nname: a\n---\nText")
	write(t, filepath.Join(dir, "README.txt"), "no")
	write(t, filepath.Join(dir, ".hidden.md"), "no")
	write(t, filepath.Join(dir, "sub", "d.md"), "no")
	write(t, filepath.Join(dir, "big.md"), strings.Repeat("x", promptLimit+1))
	write(t, filepath.Join(dir, "zero.md"), "a\x00b")
	write(t, filepath.Join(top, "secret.md"), "secret")
	if err := os.Symlink("../../../secret.md", filepath.Join(dir, "link.md")); err != nil {
		t.Skip(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.md"), 0o777); err != nil {
		t.Fatal(err)
	}
	files, wrong, hash := d.Read()
	var names []string
	for _, f := range files {
		names = append(names, f.Name+"="+f.Text)
		if f.User || !strings.HasPrefix(f.Path, filepath.ToSlash(dir)) {
			t.Errorf("%+v", f)
		}
	}
	if got := strings.Join(names, " "); got != "a=Text b=B" || len(hash) != 64 {
		t.Errorf("got %s, hash %q", got, hash)
	}
	all := strings.Join(wrong, "\n")
	for _, s := range []string{"c.md is not served: a.md has the name a", "big.md is not served: it is larger", "zero.md is not served: it is not a text",
		"link.md is not served: ", "folder.md is not served: it is not a regular file"} {
		if !strings.Contains(all, s) {
			t.Errorf("%q is missing in\n%s", s, all)
		}
	}
	if len(wrong) != 5 || strings.Contains(all, "secret.md is") {
		t.Errorf("got\n%s", all)
	}

	// The same content gives the same hash, whatever its time; other content does not.
	mark := d.Mark()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "b.md"), old, old); err != nil {
		t.Fatal(err)
	}
	if _, _, again := d.Read(); again != hash || d.Mark() == mark {
		t.Errorf("hash %s, before %s; mark %q", again, hash, d.Mark())
	}
	write(t, filepath.Join(dir, "b.md"), "C")
	if _, _, again := d.Read(); again == hash {
		t.Error("other content has the same hash")
	}

	// A user may put links into a folder of their own.
	home := filepath.Join(top, "home")
	write(t, filepath.Join(home, "prompts", "x.md"), "X")
	if err := os.Symlink("../../secret.md", filepath.Join(home, "prompts", "y.md")); err != nil {
		t.Fatal(err)
	}
	files, wrong, _ = UserPrompts(home).Read()
	if len(files) != 2 || len(wrong) != 0 || !files[0].User || files[1].Text != "secret" {
		t.Errorf("got %+v, %v", files, wrong)
	}
}

func TestTooManyPrompts(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for i := range promptCount + 5 {
		write(t, filepath.Join(root, ".ferrule", "prompts", fmt.Sprintf("%04d.md", i)), "x")
	}
	files, wrong, _ := ProjectPrompts(root).Read()
	if len(files) != promptCount || len(wrong) != 1 || !strings.Contains(wrong[0], "more than 200 files") {
		t.Errorf("%d files, %v", len(files), wrong)
	}
}

// A pipe among the prompts makes nobody wait.
func TestPromptPipe(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, ".ferrule", "prompts")
	write(t, filepath.Join(dir, "a.md"), "A")
	if err := mkfifo(filepath.Join(dir, "pipe.md")); err != nil {
		t.Skip(err)
	}
	files, wrong, _ := ProjectPrompts(root).Read()
	if len(files) != 1 || len(wrong) != 1 || ProjectPrompts(root).Mark() == "" {
		t.Errorf("%v, %v", files, wrong)
	}
}

// What a directory that is touched later has to say comes once.
func TestNested(t *testing.T) {
	t.Parallel()
	files := tree{"AGENTS.md": "root", "x/AGENTS.md": "x @more.md", "x/more.md": "more", "x/y/CLAUDE.md": "y"}
	known := map[string]bool{"/w/AGENTS.md": true}
	paths := func(dir string) string {
		src := Sources{Home: t.TempDir(), Roots: []string{"/w"}, Cwd: dir, Open: files.open(t)}
		var out []string
		for _, f := range src.Nested(func(p string) bool { return known[p] }) {
			known[f.Path] = true
			out = append(out, f.Path)
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct{ dir, want string }{
		{"/w", ""}, {"/w/x", "/w/x/AGENTS.md /w/x/more.md"}, {"/w/x", ""}, {"/w/x/y", "/w/x/y/CLAUDE.md"}, {"/elsewhere", ""},
	} {
		if got := paths(c.dir); got != c.want {
			t.Errorf("%s: got %q, want %q", c.dir, got, c.want)
		}
	}
}

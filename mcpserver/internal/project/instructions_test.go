package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree is a project in memory: paths and contents below /w. A path outside must
// never be asked for.
type tree map[string]string

func (tr tree) open(t *testing.T) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		path = filepath.ToSlash(path)
		if !strings.HasPrefix(path, "/w/") {
			t.Errorf("a path outside of the roots was opened: %s", path)
		}
		text, ok := tr[strings.TrimPrefix(path, "/w/")]
		switch {
		case !ok:
			return nil, fmt.Errorf("no such file: %w", fs.ErrNotExist)
		case text == "link":
			return nil, errors.New("it leads out of the project folders")
		}
		return []byte(text), nil
	}
}

func TestInstructions(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("0123456789abcde\n", 1<<10) // 16 KiB
	for _, c := range []struct {
		name    string
		files   tree
		cwd     string
		want    string // paths, in order
		leftOut string // a part of it, "" for nothing
	}{
		{"nothing", tree{}, "/w", "", ""},
		{"overlays, from the root down", tree{"AGENTS.md": "a", "CLAUDE.md": "b", "AGENTS.local.md": "c", "CLAUDE.local.md": "d",
			"x/CLAUDE.local.md": "g", "x/AGENTS.md": "e", "x/y/AGENTS.md": "f", "x/z/AGENTS.md": "no", "README.md": "no"},
			"/w/x/y", "AGENTS.md CLAUDE.md AGENTS.local.md CLAUDE.local.md x/AGENTS.md x/CLAUDE.local.md x/y/AGENTS.md", ""},
		{"not above the root, not beside it", tree{"AGENTS.md": "a"}, "/elsewhere", "", ""},
		{"equal content once, the nearest", tree{"AGENTS.md": "same", "x/AGENTS.md": "same\n", "CLAUDE.md": "same"}, "/w/x", "x/AGENTS.md", ""},
		{"equal in one directory", tree{"AGENTS.md": "same", "CLAUDE.md": "same"}, "/w", "AGENTS.md", ""},
		{"empty file", tree{"AGENTS.md": "\n \n"}, "/w", "", ""},
		{"import", tree{"AGENTS.md": "see @docs/style.md, and @./more.md.", "docs/style.md": "s", "more.md": "m"}, "/w",
			"AGENTS.md docs/style.md more.md", ""},
		{"import of an import, relative to it", tree{"AGENTS.md": "@d/a.md", "d/a.md": "@b.md\n@../c.md", "d/b.md": "b", "c.md": "c"}, "/w",
			"AGENTS.md d/a.md d/b.md c.md", ""},
		{"cycle", tree{"AGENTS.md": "a @b.md", "b.md": "b @AGENTS.md @b.md @c.md", "c.md": "c @b.md"}, "/w", "AGENTS.md b.md c.md", ""},
		{"one file for two names", tree{"CLAUDE.md": "@AGENTS.md", "AGENTS.md": "a"}, "/w", "AGENTS.md CLAUDE.md", ""},
		{"five deep", tree{"AGENTS.md": "0 @1", "1": "1 @2 @AGENTS.md", "2": "2 @3", "3": "3 @4", "4": "4 @5", "5": "5 @6.md", "6.md": "6"}, "/w",
			"AGENTS.md 1 2 3 4 5", "/w/6.md: imports are followed 5 deep"},
		{"import from outside", tree{"AGENTS.md": "@../secret.md @x/../../secret"}, "/w", "AGENTS.md", "/secret.md: an import must stay inside"},
		{"import by an absolute path or from home is text", tree{"AGENTS.md": "@/etc/passwd @~/x.md @//x @http://x/y"}, "/w", "AGENTS.md", ""},
		{"import that is not there is text", tree{"AGENTS.md": "@scope/pkg, ask @ann"}, "/w", "AGENTS.md", ""},
		{"import of a text that is not there", tree{"AGENTS.md": "see @docs/missing.md"}, "/w", "AGENTS.md", "/w/docs/missing.md: an import that is not there"},
		{"link that leads out", tree{"AGENTS.md": "link", "CLAUDE.md": "@x.md @dir", "x.md": "link", "dir": "link"}, "/w",
			"CLAUDE.md", "/w/x.md: it leads out of the project folders"},
		{"binary", tree{"AGENTS.md": "a\x00b"}, "/w", "", "/w/AGENTS.md: it is not a text"},
		{"budget: the nearest stay", tree{"AGENTS.md": "far " + big, "x/AGENTS.md": "mid " + big, "x/y/AGENTS.md": "near " + big[:100]}, "/w/x/y",
			"x/AGENTS.md x/y/AGENTS.md", "/w/AGENTS.md: 16.0 KiB, and the limit for all instructions is 32 KiB"},
		{"budget: a small one further away still fits", tree{"AGENTS.md": "small", "x/AGENTS.md": "1" + big, "x/y/AGENTS.md": "2" + big}, "/w/x/y",
			"AGENTS.md x/y/AGENTS.md", "/w/x/AGENTS.md"},
		{"budget: imports stand behind", tree{"AGENTS.md": "@a.md @b.md", "a.md": "1" + big, "b.md": "2" + big, "x/AGENTS.md": "near"}, "/w/x",
			"AGENTS.md a.md x/AGENTS.md", "/w/b.md"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files, leftOut := Sources{Roots: []string{"/w/x", "/w"}, Cwd: filepath.FromSlash(c.cwd), Open: c.files.open(t)}.Instructions()
			var got []string
			for _, f := range files {
				got = append(got, strings.TrimPrefix(f.Path, "/w/"))
				if f.Text != c.files[strings.TrimPrefix(f.Path, "/w/")] || f.User {
					t.Errorf("%s: %q, user %v", f.Path, f.Text, f.User)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if all := strings.Join(leftOut, "\n"); (all == "") != (c.leftOut == "") || !strings.Contains(all, c.leftOut) {
				t.Errorf("left out %q, want %q", leftOut, c.leftOut)
			}
		})
	}
}

func TestHugeInstructions(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{"lines": "line of a long file\n", "one line": "中", "invalid": "invalid \xff\n"} {
		files, leftOut := Sources{Roots: []string{"/w"}, Cwd: "/w",
			Open: tree{"AGENTS.md": strings.Repeat(line, 10<<20/len(line)), "CLAUDE.md": strings.Repeat("near ", 200)}.open(t)}.Instructions()
		if len(files) != 1 || len(leftOut) != 1 || len(files[0].Text) > instructionBudget || len(files[0].Text) < instructionBudget/2 ||
			!strings.Contains(files[0].Text, "KiB; read it for the rest.]") {
			t.Errorf("%s: %d files, left out %q", name, len(files), leftOut)
		}
	}
}

// A file of imports alone must not make a long search.
func TestManyImports(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "@%d\n", i)
	}
	opened := 0
	_, leftOut := Sources{Roots: []string{"/w"}, Cwd: "/w", Open: func(path string) ([]byte, error) {
		opened++
		if filepath.Base(path) == "AGENTS.md" || opened%3 == 0 {
			return []byte(b.String()), nil
		}
		return nil, fs.ErrNotExist
	}}.Instructions()
	if opened > 2*importLimit || len(leftOut) == 0 || len(leftOut) > importLimit {
		t.Errorf("%d files were opened, left out %d", opened, len(leftOut))
	}
}

func TestOwnInstructions(t *testing.T) {
	t.Parallel()
	home, elsewhere := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	own := func() ([]string, []string) {
		big := tree{"AGENTS.md": "project " + strings.Repeat("x", 20<<10)}
		files, leftOut := Sources{Home: home, Roots: []string{"/w"}, Cwd: "/w", Open: big.open(t)}.Instructions()
		var paths []string
		for _, f := range files {
			paths = append(paths, filepath.Base(f.Path)+fmt.Sprint(f.User))
		}
		return paths, leftOut
	}
	if got, _ := own(); !slices.Equal(got, []string{"AGENTS.mdfalse"}) {
		t.Errorf("got %s", got)
	}
	write(filepath.Join(elsewhere, "dot"), "mine @tips/a.md @../outside.md\n"+strings.Repeat("y", 20<<10))
	write(filepath.Join(home, "tips", "a.md"), "tips")
	write(filepath.Join(home, "..", "outside.md"), "no")
	if err := os.Symlink(filepath.Join(elsewhere, "dot"), filepath.Join(home, "AGENTS.md")); err != nil {
		t.Skip(err)
	}
	// The user's own file comes first, may be a link, and is not crowded out.
	got, leftOut := own()
	if !slices.Equal(got, []string{"AGENTS.mdtrue", "a.mdtrue"}) || len(leftOut) != 2 || !strings.Contains(leftOut[0], "outside.md") {
		t.Errorf("got %s, left out %s", got, leftOut)
	}
	if err := os.Remove(filepath.Join(home, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, "AGENTS.md"), 0o777); err != nil {
		t.Fatal(err)
	}
	if got, leftOut := own(); len(got) != 1 || len(leftOut) != 1 {
		t.Errorf("a directory: got %s, left out %s", got, leftOut)
	}
}

func TestImportsIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"@a", "a"},
		{"x @a.md y\n@b/c.md.", "a.md b/c.md"},
		{"(@a.md) \"@b.md\" '@c.md'; @d.md, @e.md!", "a.md b.md c.md d.md e.md"},
		{"mail a@b.c, \\@a.md x@y @", ""},
		{"@/abs @~home @\\x @@x @c:x", ""},
		{"`@a.md` @b.md", "b.md"},
		{"``@a.md ` @b.md`` @c.md", "c.md"},
		{"one ` tick @a.md", "a.md"},
		{"`` two @a.md ` and @b.md ` end", "a.md"},
		{"`code`@a.md", ""},
		{"@`a.md` @a`code` @`a`.md @b.md", "b.md"},
		{"`over\nlines @a.md` @b.md", "b.md"},
		{"`not over\n\nparagraphs @a.md` @b.md", "a.md b.md"},
		{"```\n@a.md\n```\n@b.md", "b.md"},
		{"```js\n@a.md\n``\n~~~\n@b.md\n````\n@c.md", "c.md"},
		{"~~~\n@a.md\n```\n@b.md\n~~~\n@c.md", "c.md"},
		{"```\n@a.md never closed", ""},
		{"text\n  ```\n@a.md\n  ```\n@b.md", "b.md"},
		{"``` not ` a fence\n@a.md", "a.md"},
		{"text\n\n    @a.md\n    @b.md\n\n@c.md", "c.md"},
		{"text\n\n\t@a.md\n@b.md", "b.md"},
		{"text\n    @a.md", "a.md"},
		{"- item\n  @a.md\r\n- @b.md\r\n", "a.md b.md"},
	} {
		if got := strings.Join(slices.Collect(importsIn(c.text)), " "); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
	for range importsIn("@a\n\n@b\n```\n@c") { // ends when it is left
		break
	}
}

func FuzzImportsIn(f *testing.F) {
	f.Add("```\n@a\n```\n`@b` @c\n\n    @d")
	f.Add("`` ` ``` @x ~~~\n~~~~\n@y")
	f.Fuzz(func(t *testing.T, s string) {
		for path := range importsIn(s) {
			if path == "" || !strings.Contains(s, "@"+path) || filepath.IsAbs(path) || strings.ContainsAny(path, " \n") {
				t.Errorf("%q: %q", s, path)
			}
		}
	})
}

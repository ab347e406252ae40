package walk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/text/unicode/norm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tool returns the path of a program that a test needs: from the variable, or from PATH.
func tool(t testing.TB, name, variable string) string {
	t.Helper()
	if p := os.Getenv(variable); variable != "" && p != "" {
		return p
	}
	p, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("FERRULE_CI") == "1" {
			t.Fatalf("%s is needed: %v", name, err)
		}
		t.Skipf("%s is not there: %v", name, err)
	}
	return p
}

// output is what a program prints in dir.
func output(t testing.TB, program, dir string, args ...string) string {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir = dir
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %v: %v", program, args, err)
	}
	return string(out)
}

// tree makes files below a new directory. A name that ends in a slash is a directory, a text that begins with -> a
// link.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, files)
	return root
}

func write(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if runtime.GOOS == "windows" && (strings.ContainsAny(name, `<>:"|?*\`) || strings.ContainsAny(name[len(name)-1:], " .")) {
			t.Skipf("Windows has no such names as %q", name)
		}
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(text, "->"); ok {
			err = os.Symlink(to, p)
		} else if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(p, 0o755)
		} else {
			err = os.WriteFile(p, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// names makes empty files of a list with blanks, or with | when a name holds one.
func names(list string) map[string]string {
	sep := " "
	if strings.Contains(list, "|") {
		sep = "|"
	}
	files := map[string]string{}
	for n := range strings.SplitSeq(list, sep) {
		files[n] = "x"
	}
	return files
}

// run lists without the settings of whoever runs the test.
func run(t testing.TB, o Options) *Listing {
	t.Helper()
	if o.Dir == "" {
		o.Dir = o.Top
	}
	if o.Home == "" {
		o.Home = filepath.Join(o.Top, ".no-home")
	}
	if o.ConfigHome == "" {
		o.ConfigHome = filepath.Join(o.Home, ".config")
	}
	l, err := List(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func paths(l *Listing) string {
	var out []string
	for _, f := range l.Files {
		out = append(out, f.Path)
	}
	return strings.Join(out, " ")
}

func glob(t testing.TB, pattern string) *Globs {
	t.Helper()
	g, err := ParseGlob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func filter(t testing.TB, list string) *Globs {
	t.Helper()
	g, err := ParseFilter(list)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestOrder(t *testing.T) {
	t.Parallel()
	root := tree(t, names("b a.b/x a/y a/b/z a/c a-b/q Z .hidden/h .h"))
	l := run(t, Options{Top: root})
	if got, want := paths(l), ".h Z b .hidden/h a/c a/y a/b/z a-b/q a.b/x"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if l.Entries != 14 || !l.Complete || l.Dropped {
		t.Errorf("%+v", l)
	}
}

// What the public reports of Glob's faults ask for.
func TestGlobReports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ id, files, pattern, want string }{
		{"H016", "20/35_도서관안내/a.md", "20/35*/**", "20/35_도서관안내/a.md"},
		{"H050", "subdir/x/a.md x.md", "subdir/**/*.md", "subdir/x/a.md"},
		{"H052", "app/[id]/p.tsx app/i/q", "app/[id]/*.tsx", "app/[id]/p.tsx"},
		{"H052", "app/[id]/p.tsx app/i/p.tsx", `app/\[id\]/*.tsx`, "app/[id]/p.tsx"},
		{"H053", "a.rs b.rs c.rs", "{a.rs,b.rs,c.rs}", "a.rs b.rs c.rs"},
		{"H053", "a.rs b.rs c.rs d.go", "{*.rs}", "a.rs b.rs c.rs"},
		{"H056", "app/(site)/page.tsx app/s/page.tsx", "app/(site)/page.tsx", "app/(site)/page.tsx"},
	} {
		root := tree(t, names(c.files))
		if got := paths(run(t, Options{Top: root, Globs: glob(t, c.pattern)})); got != c.want {
			t.Errorf("%s: %s: got %s, want %s", c.id, c.pattern, got, c.want)
		}
	}
}

// H054: the listing has no limit of its own, so that the caller can tell 100 files from 101.
func TestExactTotal(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("a%d.txt", i)] = ""
	}
	root := tree(t, files)
	o := Options{Top: root, Globs: glob(t, "*.txt")}
	if n := len(run(t, o).Files); n != 100 {
		t.Error(n)
	}
	write(t, root, names("b.txt"))
	if n := len(run(t, o).Files); n != 101 {
		t.Error(n)
	}
}

// H055: links are not followed, so a link to a parent is no loop and no file is found twice.
func TestLinks(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"loop/a/x": "", "loop/a/up": "->..", "file": "->loop/a/x", "lost": "->nowhere",
		"out": "->/", "rules/.gitignore": "->../list", "list": "kept\n", "rules/kept": ""})
	l := run(t, Options{Top: root})
	if got, want := paths(l), "list loop/a/x rules/kept"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if l.Links.Count != 5 || strings.Join(l.Links.Names, " ") != "file lost out loop/a/up rules/.gitignore" {
		t.Errorf("links: %v", l.Links)
	}
	for pattern, want := range map[string]int{"out/**": 1, "*/*/x": 4, "loop/*/*/x": 1, "./fil?": 1} {
		if l := run(t, Options{Top: root, Globs: glob(t, pattern)}); l.Links.Count != want {
			t.Errorf("%s: links %v, want %d", pattern, l.Links, want)
		}
	}
	for _, name := range []string{"file", "out"} {
		if _, err := List(t.Context(), Options{Top: root, Dir: filepath.Join(root, name)}); err == nil {
			t.Errorf("%s: a link is no directory", name)
		}
	}
}

func TestNotADirectory(t *testing.T) {
	t.Parallel()
	root := tree(t, names("f"))
	for name, want := range map[string]error{"absent": fs.ErrNotExist, "f": nil} {
		_, err := List(t.Context(), Options{Top: root, Dir: filepath.Join(root, name)})
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := List(t.Context(), Options{Top: root, Dir: root, Types: []string{"nosuch"}}); err == nil {
		t.Error("unknown type")
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	if os.Getuid() <= 0 {
		t.Skip("root, and Windows, read everything")
	}
	root := tree(t, names("a/x b/y"))
	if err := os.Chmod(filepath.Join(root, "a"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(root, "a"), 0o755) })
	l := run(t, Options{Top: root})
	if paths(l) != "b/y" || l.Unreadable.Count != 1 || !slices.Equal(l.Unreadable.Names, []string{"a"}) || !l.Complete {
		t.Errorf("%+v", l)
	}
	if _, err := List(t.Context(), Options{Top: root, Dir: filepath.Join(root, "a")}); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
}

func TestAllow(t *testing.T) {
	t.Parallel()
	root := tree(t, names("a secret d/secret d/b private/c"))
	l := run(t, Options{Top: root, Allow: func(p string, _ bool) bool {
		return !strings.HasSuffix(p, "secret") && p != filepath.Join(root, "private")
	}})
	if paths(l) != "a d/b" || l.Denied != 3 || l.Entries != 6 {
		t.Errorf("%s: %+v", paths(l), l)
	}
}

func TestTypes(t *testing.T) {
	t.Parallel()
	root := tree(t, names("a.go b.ts c.tsx Makefile x.zshrc .zshrc Dockerfile.dev m.min.js d.go/e"))
	for _, c := range []struct{ types, globs, want string }{
		{"go", "", "a.go"}, {"go ts", "", "a.go b.ts c.tsx"}, {"make", "", "Makefile"}, {"zsh", "", ".zshrc"},
		{"docker", "", "Dockerfile.dev"}, {"minified", "", "m.min.js"}, {"ts", "c*", "c.tsx"}, {"rust", "", ""},
	} {
		l := run(t, Options{Top: root, Types: strings.Fields(c.types), Globs: filter(t, c.globs)})
		if got := paths(l); got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.types, c.globs, got, c.want)
		}
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	root := tree(t, names("d/a"))
	l := run(t, Options{Top: root, Times: true})
	info, err := l.Stat(0)
	if err != nil || !info.ModTime().Equal(l.Files[0].Modified) || info.ModTime().IsZero() {
		t.Errorf("%v %v, want %v", err, info.ModTime(), l.Files[0].Modified)
	}
	if l = run(t, Options{Top: root}); !l.Files[0].Modified.IsZero() {
		t.Error("not asked for")
	}
}

func TestEndsEarly(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("d%d/e/f", i)] = ""
	}
	root := tree(t, files)
	ctx, cancel := context.WithCancel(t.Context())
	l, err := List(ctx, Options{Top: root, Dir: root, Home: root, Allow: func(p string, _ bool) bool {
		if strings.HasSuffix(p, "f") {
			cancel()
		}
		return true
	}})
	if err != nil || l.Complete || len(l.Files) == 0 || len(l.Files) > maxWorkers {
		t.Errorf("%v: %d files, complete %t", err, len(l.Files), l.Complete)
	}
}

func TestPrivate(t *testing.T) {
	t.Parallel()
	root := tree(t, names(".git/config .git/HEAD .hg/x .svn/x .jj/x d/.git d/e d/.hgignore .github/w"))
	for _, pattern := range []string{"**", ".git/**", "**/.git/*", ".git", "config"} {
		l := run(t, Options{Top: root, Globs: glob(t, pattern)})
		if got := paths(l); pattern == "**" && got != ".github/w d/.hgignore d/e" || pattern != "**" && got != "" {
			t.Errorf("%s: %s", pattern, got)
		}
	}
	if got := paths(run(t, Options{Top: root, Dir: filepath.Join(root, ".git")})); got != "HEAD config" {
		t.Errorf("named: %s", got)
	}
}

func TestPruning(t *testing.T) {
	t.Parallel()
	root := tree(t, names("a/b/x.go a/c/x.go z/x.go y.go"))
	if l := run(t, Options{Top: root, Globs: glob(t, "a/b/*.go")}); paths(l) != "a/b/x.go" || l.Entries != 6 {
		t.Errorf("%s, entries %d: only what lies on the way is read", paths(l), l.Entries)
	}
	if l := run(t, Options{Top: root, Globs: filter(t, "!a")}); paths(l) != "y.go z/x.go" || l.Entries != 4 {
		t.Errorf("%s, entries %d", paths(l), l.Entries)
	}
}

func TestComposedNames(t *testing.T) {
	t.Parallel()
	const apart, whole = "re\u0301sume\u0301", "r\u00e9sum\u00e9"
	root := tree(t, names(apart+"/"+apart+".md"))
	for _, p := range []string{whole + "/*.md", apart + "/" + whole + ".md", "r?sum?/*", "r[é]sum[!x]/**"} {
		if got := paths(run(t, Options{Top: root, Globs: glob(t, p)})); norm.NFC.String(got) != norm.NFC.String(apart+"/"+apart+".md") {
			t.Errorf("%s: %q", p, got)
		}
	}
}

func TestLongPaths(t *testing.T) {
	t.Parallel()
	root := tree(t, nil)
	// Made step by step: a whole path of this length cannot be given to the system.
	d, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Repeat("d", 200)
	for range 25 {
		if err := d.Mkdir(name, 0o755); err != nil {
			t.Skipf("no long paths here: %v", err)
		}
		sub, err := d.OpenRoot(name)
		d.Close()
		if err != nil {
			t.Fatal(err)
		}
		d = sub
	}
	d.Close()
	if l := run(t, Options{Top: root}); l.Unreadable.Count != 1 || !l.Complete {
		t.Errorf("%+v", l)
	}
}

func TestManyDirectories(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("%c/%c/%d", 'a'+i%7, 'a'+i%5, i)] = ""
	}
	root := tree(t, files)
	first := run(t, Options{Top: root})
	for range 5 {
		if next := run(t, Options{Top: root}); !slices.Equal(next.Files, first.Files) || len(next.Files) != 300 {
			t.Fatal("the same tree gives another listing")
		}
	}
}

func BenchmarkList(b *testing.B) {
	root := os.Getenv("WALK_BENCH")
	if root == "" {
		root = filepath.Join(os.Getenv("GOROOT"), "src")
	}
	for _, p := range []string{"**", "**/*.go", "cmd/**/*.go"} {
		b.Run(strings.ReplaceAll(p, "/", "|"), func(b *testing.B) {
			for b.Loop() {
				l, err := List(b.Context(), Options{Top: root, Dir: root, Globs: glob(b, p)})
				if err != nil {
					b.Skip(err)
				}
				b.ReportMetric(float64(len(l.Files)), "files")
			}
		})
	}
}

package roots

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// scratch is a temporary folder by its real path.
func scratch(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func put(t testing.TB, text string, name ...string) {
	t.Helper()
	path := filepath.Join(name...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t testing.TB, name ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(name...), 0o755); err != nil {
		t.Fatal(err)
	}
}

func link(t testing.TB, target string, name ...string) {
	t.Helper()
	path := filepath.Join(name...)
	if err := os.Symlink(filepath.FromSlash(target), path); err != nil {
		if runtime.GOOS == "windows" && errors.Is(err, syscall.Errno(1314)) {
			t.Skip("making links needs a privilege here")
		}
		t.Fatal(err)
	}
}

func open(t testing.TB, writable, readOnly []string) *Set {
	t.Helper()
	s, err := Open(writable, readOnly)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func resolve(t testing.TB, s *Set, name string) Place {
	t.Helper()
	p, err := s.Resolve(name)
	if err != nil {
		t.Fatalf("Resolve(%q): %v", name, err)
	}
	return p
}

// read resolves and reads whole.
func read(s *Set, name string) (string, Place, error) {
	p, err := s.Resolve(name)
	if err != nil {
		return "", p, err
	}
	f, err := p.Open()
	if err != nil {
		return "", p, err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	return string(text), p, err
}

// class names what an error is for a caller.
func class(err error) string {
	kind, isKind := errors.AsType[*KindError](err)
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, ErrOutside):
		return "outside"
	case isKind:
		return kind.Kind
	case errors.Is(err, fs.ErrNotExist):
		return "missing"
	case errors.Is(err, syscall.ELOOP):
		return "loop"
	}
	return "error"
}

// TestTable holds what os.Root would do, and where this package differs from it, with the toolchain in use.
// S040
func TestTable(t *testing.T) {
	t.Parallel()
	w := scratch(t)
	r := filepath.Join(w, "R")
	put(t, "in", r, "a/f")
	put(t, "in", r, "a/b/g")
	put(t, "out", w, "secret")
	put(t, "out", w, "R-evil/s")
	put(t, "out", w, "Rx/s")
	for name, target := range map[string]string{
		"rel": "a/f", "a/up": "../a/f", "abs": r + "/a/f", "absroot": r, "dir": "a/b", "absdir": r + "/a/b/",
		"leaves": "../R/a/f", "absleaves": r + "/../R/a/f", "relout": "../secret", "absout": w + "/secret",
		"dirout": w, "reldirout": "..", "new": "a/missing", "newout": w + "/missing", "newrelout": "../missing",
		"loop": "loop", "chain": "rel", "here": ".", "sibling": w + "/R-evil/s", "dots": "./a//./b/../f",
	} {
		link(t, target, r, name)
	}
	s := open(t, []string{r}, nil)
	for _, c := range []struct{ name, want string }{
		{"a/f", "ok"}, {"a/../a/f", "ok"}, {"a//f", "ok"}, {"./a/./f", "ok"}, {"a/b/../../a/f", "ok"},
		{r + "/a/f", "ok"}, {r + "//a/f", "ok"}, {w + "/./R/a/f", "ok"}, {r + "/a/../a/f", "ok"},
		{"rel", "ok"}, {"a/up", "ok"}, {"abs", "ok"}, {"absroot/a/f", "ok"}, {"dir/g", "ok"}, {"absdir/g", "ok"},
		{"dir/../f", "ok"}, {"absdir/../f", "ok"}, {"chain", "ok"}, {"here/here/a/f", "ok"}, {"dots", "ok"},
		{"missing/../a/f", "ok"}, {"missing/x/../../a/f", "ok"},

		{"..", "outside"}, {"../", "outside"}, {"a/b/../../..", "outside"}, {"../R/a/f", "outside"},
		{r + "/..", "outside"}, {r + "/../secret", "outside"}, {r + "/a/../../secret", "outside"},
		{r + "/../R/a/f", "outside"}, {w + "/x/../R/a/f", "outside"}, {"missing/../../secret", "outside"},
		{"leaves", "outside"}, {"absleaves", "outside"}, {"relout", "outside"}, {"absout", "outside"},
		{"dirout/secret", "outside"}, {"dirout/R/a/f", "outside"}, {"reldirout/secret", "outside"},
		{"newout", "outside"}, {"newrelout", "outside"}, {"dirout/new", "outside"}, {"sibling", "outside"},
		{w, "outside"}, {w + "/secret", "outside"}, {w + "/R-evil/s", "outside"}, {w + "/Rx/s", "outside"},
		{w + "/Rx", "outside"}, {"/", "outside"}, {"/etc/passwd", "outside"}, {"dir/../../../secret", "outside"},
		{"../R-evil/s", "outside"}, {"/dev/zero", "outside"},

		{"a", "directory"}, {".", "directory"}, {"a/", "directory"}, {"a/..", "directory"}, {"absroot", "directory"},
		{r, "directory"}, {r + "/", "directory"},
		{"a/f/", "file"}, {"a/f/.", "file"}, {"a/f/..", "file"}, {"a/f/x", "file"}, {"rel/x", "file"},
		{"a/x", "missing"}, {"x/y/z", "missing"}, {"new", "missing"}, {"a/x/", "missing"}, {"dir/x", "missing"},
		{"loop", "loop"}, {"loop/x", "loop"},
		{"", "error"}, {"a\x00b", "error"}, {strings.Repeat("x", 300), "error"},
		{strings.Repeat("x/", maxName), "error"},
	} {
		text, p, err := read(s, c.name)
		if got := class(err); got != c.want {
			t.Errorf("%.80q: %s, want %s: %v", c.name, got, c.want, err)
		}
		if err == nil && text != "in" {
			t.Errorf("%q: read %q", c.name, text)
		}
		if err == nil && p.Path != filepath.Join(r, "a", "f") && p.Path != filepath.Join(r, "a", "b", "g") {
			t.Errorf("%q: path %s", c.name, p.Path)
		}
	}
}

// TestOneSpelling: whatever way a file is named, there is one path for it.
func TestOneSpelling(t *testing.T) {
	t.Parallel()
	w := scratch(t)
	put(t, "x", w, "p/sub/f")
	link(t, "p", w, "given")
	link(t, "sub", w, "p/l")
	s := open(t, []string{filepath.Join(w, "given")}, nil)
	for _, name := range []string{
		"sub/f", "./sub/f", "sub/../sub/f", "l/f", "l/../l/f", w + "/p/sub/f", w + "/given/sub/f", w + "//given/./l/f",
	} {
		if p := resolve(t, s, name); p.Path != filepath.Join(w, "p/sub/f") || p.Rel != filepath.FromSlash("sub/f") ||
			p.Given != name || p.Info == nil || s.Display(p.Path) != "sub/f" {
			t.Errorf("%q: %+v", name, p)
		}
	}
	if s.First() != filepath.Join(w, "p") || s.Display(s.First()) != "." {
		t.Errorf("first root %s, shown %s", s.First(), s.Display(s.First()))
	}
}

func TestLinksAreTold(t *testing.T) {
	t.Parallel()
	r := scratch(t)
	put(t, "x", r, "a/f")
	link(t, "a", r, "d")
	link(t, r+"/d/f", r, "a/l")
	s := open(t, []string{r}, nil)
	want := []Link{
		{"d", "a"}, {"a/l", filepath.FromSlash(r + "/d/f")}, {"d", "a"},
	}
	if p := resolve(t, s, "d/l"); !slices.Equal(p.Links, want) {
		t.Errorf("links %v, want %v", p.Links, want)
	}
	if p := resolve(t, s, "a/f"); p.Links != nil {
		t.Errorf("links %v without a link", p.Links)
	}
	link(t, "d/new", r, "m")
	if p := resolve(t, s, "m/x/../y"); p.Info != nil || p.Path != filepath.Join(r, "a/new/y") || len(p.Links) != 2 {
		t.Errorf("a new file through links: %+v", p)
	}
}

func TestLinkCount(t *testing.T) {
	t.Parallel()
	r := scratch(t)
	put(t, "x", r, "l0")
	for i := range maxLinks + 1 {
		link(t, "l"+itoa(i), r, "l"+itoa(i+1))
	}
	s := open(t, []string{r}, nil)
	if p, err := s.Resolve("l" + itoa(maxLinks)); err != nil || len(p.Links) != maxLinks {
		t.Errorf("%d links: %v", maxLinks, err)
	}
	if _, err := s.Resolve("l" + itoa(maxLinks+1)); class(err) != "loop" {
		t.Errorf("%d links: %v", maxLinks+1, err)
	}
}

func itoa(i int) string { return string([]byte{byte('a' + i/26), byte('a' + i%26)}) }

func TestErrorTexts(t *testing.T) {
	t.Parallel()
	w := scratch(t)
	r := filepath.Join(w, "p")
	put(t, "x", r, "f")
	link(t, "/etc", r, "l")
	link(t, "../x", r, "a\u202eb")
	s := open(t, []string{r}, nil)
	up := filepath.ToSlash(filepath.Join(w, "x"))
	for name, want := range map[string]string{
		"l/passwd":   "l/passwd leads outside the workspace: l is a link to /etc",
		"a\u202eb":   `"a\u202eb" leads outside the workspace: "a\u202eb" is a link to ../x`,
		"../x":       "../x leads outside the workspace, to " + up,
		up:           up + " leads outside the workspace",
		"f/x":        "f/x cannot exist: f is a file, not a directory",
		".":          ". is a directory, not a file",
		"y":          "y does not exist",
		"a\x00b":     `"a\x00b" holds a NUL character, which no file name can have`,
		"\xff":       `"\xff" does not exist`,
		"~x":         "~x does not exist",
		"":           `the path is empty; "." stands for the workspace folder`,
		"$(touch M)": "$(touch M) does not exist",
	} {
		if runtime.GOOS == "windows" {
			t.Skip("the texts hold paths of Unix")
		}
		if _, _, err := read(s, name); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", name, err, want)
		}
	}
	err := explain("a/b", &fs.PathError{Op: "openat", Path: "b", Err: fs.ErrInvalid})
	if err.Error() != "a/b: invalid argument" {
		t.Error(err)
	}
	_, err = s.Resolve("l/passwd")
	if e, ok := errors.AsType[*OutsideError](err); !ok || e.Path != filepath.FromSlash("/etc/passwd") {
		t.Errorf("%#v", err)
	}
}

func TestSeveralRoots(t *testing.T) {
	t.Parallel()
	w := scratch(t)
	for _, f := range []string{"p/f", "p/in/f", "p/in/deep/f", "q/f", "docs/f"} {
		put(t, f, w, f)
	}
	link(t, w+"/q/f", w, "p/absq")
	link(t, "../q/f", w, "p/relq")
	link(t, "in", w, "p/l")
	link(t, "../f", w, "p/in/back")
	link(t, w+"/p/f", w, "docs/p")
	s := open(t, []string{w + "/p", w + "/q", w + "/p/in/deep"}, []string{w + "/p/in", w + "/docs", w + "/q"})
	want := []Dir{
		{w + "/p", false}, {w + "/q", false}, {w + "/p/in/deep", false}, {w + "/p/in", true}, {w + "/docs", true},
	}
	for i := range want {
		want[i].Path = filepath.FromSlash(want[i].Path)
	}
	if got := s.Dirs(); !slices.Equal(got, want) {
		t.Errorf("roots %v, want %v", got, want)
	}
	for _, c := range []struct {
		name, path, rel string
		readOnly        bool
	}{
		{"f", "p/f", "f", false}, {w + "/q/f", "q/f", "f", false}, {w + "/docs/f", "docs/f", "f", true},
		{"in/f", "p/in/f", "f", true}, {"in", "p/in", ".", true}, {"in/new", "p/in/new", "new", true},
		{"in/new/x", "p/in/new/x", "new/x", true}, {"l/f", "p/in/f", "f", true}, {"l/../f", "p/f", "f", false},
		{"in/deep/f", "p/in/deep/f", "f", false}, {"in/deep/../f", "p/in/f", "f", true},
		{"in/deep/../../f", "p/f", "f", false}, {"in/../in/deep/new", "p/in/deep/new", "new", false},
		{w + "/p/in/deep/..", "p/in", ".", true}, {w + "/p/in/../new", "p/new", "new", false},
		{"in/back", "p/f", "f", false}, {"absq", "q/f", "f", false}, {w + "/docs/p", "p/f", "f", false},
	} {
		p := resolve(t, s, c.name)
		if p.Path != filepath.Join(w, c.path) || p.Rel != filepath.FromSlash(c.rel) || p.ReadOnly != c.readOnly {
			t.Errorf("%q: path %s, below its root %s, read only %t", c.name, p.Path, p.Rel, p.ReadOnly)
		}
	}
	for _, name := range []string{"relq", "../q/f", w + "/p/../q/f", w + "/docs/../q/f", w} {
		if _, err := s.Resolve(name); !errors.Is(err, ErrOutside) {
			t.Errorf("%q: %v", name, err)
		}
	}
	inner := open(t, []string{w + "/p/in/deep", w + "/p/in"}, []string{w + "/p"}) // the other way round
	if p := resolve(t, inner, "../x"); p.Path != filepath.Join(w, "p/in/x") || p.ReadOnly || p.Rel != "x" {
		t.Errorf("from an inner root to the next: %+v", p)
	}
	if got, want := s.Display(filepath.Join(w, "q", "f")), filepath.ToSlash(w)+"/q/f"; got != want {
		t.Errorf("shown %s, want %s", got, want)
	}
}

func TestTopAsRoot(t *testing.T) {
	t.Parallel()
	w := scratch(t)
	put(t, "x", w, "f")
	top := filepath.VolumeName(w) + string(filepath.Separator)
	s := open(t, []string{top}, nil)
	for _, name := range []string{w + "/f", w + "/../" + filepath.Base(w) + "/f", filepath.Join(w, "f")[len(top):]} {
		if p := resolve(t, s, name); p.Path != filepath.Join(w, "f") || p.Info == nil {
			t.Errorf("%q: %+v", name, p)
		}
	}
	if p := resolve(t, s, "../.."); p.Path != top || s.Display(top) != "." {
		t.Errorf("%+v", p)
	}
}

func TestNoRoot(t *testing.T) {
	t.Parallel()
	s := open(t, nil, []string{t.TempDir()})
	if _, err := s.Resolve("x"); err != ErrNoRoot {
		t.Error(err)
	}
	if s.First() != "" || s.Display("/x/y") != "/x/y" {
		t.Error(s.First(), s.Display("/x/y"))
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	w := scratch(t)
	put(t, "x", w, "f")
	for name, want := range map[string]string{w + "/none": "missing", w + "/f": "file", "": "error", "a\x00": "error"} {
		s, err := Open([]string{w, name}, nil)
		if got := class(err); got != want || s != nil {
			t.Errorf("Open(%q): %s, want %s: %v", name, got, want, err)
		}
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	s, err := Open([]string{t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := resolve(t, s, "x")
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if _, err := s.Resolve("x"); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if _, err := p.Open(); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}

func TestHome(t *testing.T) {
	home := scratch(t)
	put(t, "x", home, "p/f")
	put(t, "tilde", home, "p/~")
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	s := open(t, []string{home + "/p"}, nil)
	for name, want := range map[string]string{
		"~/p/f": "ok", "~": "outside", "~/": "outside", "~/x": "outside", "./~": "ok", "~p/f": "missing",
	} {
		if _, _, err := read(s, name); class(err) != want {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
	if got := s.Display(resolve(t, s, "./~").Path); got != "./~" {
		t.Errorf("shown %s", got)
	}
	t.Setenv("HOME", "")
	t.Setenv("USERPROFILE", "")
	if _, err := open(t, []string{home}, nil).Resolve("~/x"); class(err) != "error" {
		t.Errorf("without a home: %v", err)
	}
}

func TestOpenDir(t *testing.T) {
	t.Parallel()
	r := scratch(t)
	put(t, "x", r, "d/f")
	link(t, "d", r, "l")
	s := open(t, []string{r}, nil)
	for _, name := range []string{"d", "l", "d/"} {
		f, err := resolve(t, s, name).OpenDir()
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if names, err := f.Readdirnames(-1); err != nil || !slices.Equal(names, []string{"f"}) {
			t.Errorf("%q: %v, %v", name, names, err)
		}
		f.Close()
	}
	for name, want := range map[string]string{"d/f": "file", "none": "missing"} {
		if _, err := resolve(t, s, name).OpenDir(); class(err) != want {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

// TestChangedAfterResolve: what is swapped in between Resolve and Open is an error or another file inside, never one
// outside.
func TestChangedAfterResolve(t *testing.T) {
	t.Parallel()
	w := scratch(t)
	put(t, "secret", w, "out/f")
	for _, c := range []struct {
		name   string
		swap   func(t *testing.T, r string)
		inside bool // the link stays inside, where the portable way notices it only at the end of the path
	}{
		{"folder, link to outside", func(t *testing.T, r string) { link(t, w+"/out", r, "d") }, false},
		{"folder, relative link to outside", func(t *testing.T, r string) { link(t, "../out", r, "d") }, false},
		{"folder, link inside", func(t *testing.T, r string) { link(t, "other", r, "d") }, true},
		{"file, link to outside", func(t *testing.T, r string) { mkdir(t, r, "d"); link(t, w+"/out/f", r, "d/f") }, false},
		{"file, link inside", func(t *testing.T, r string) { mkdir(t, r, "d"); link(t, "../other/f", r, "d/f") }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := filepath.Join(w, strings.ReplaceAll(c.name, " ", ""))
			put(t, "mine", r, "d/f")
			put(t, "other", r, "other/f")
			s := open(t, []string{r}, nil)
			file, dir := resolve(t, s, "d/f"), resolve(t, s, "d")
			if err := os.RemoveAll(filepath.Join(r, "d")); err != nil {
				t.Fatal(err)
			}
			c.swap(t, r)
			if f, err := file.Open(); err == nil {
				f.Close()
				if _, e := statDirect(nil, r); !c.inside || !errors.Is(e, errors.ErrUnsupported) {
					t.Error("opened the file")
				}
			}
			if fi, _ := os.Lstat(filepath.Join(r, "d")); fi.IsDir() {
				return
			}
			if f, err := dir.OpenDir(); err == nil {
				f.Close()
				t.Error("opened the folder")
			}
		})
	}
}

func TestQuoted(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a b/ü世": "a b/ü世", "": `""`, "a\nb": `"a\nb"`, "a\u200bb": `"a\u200bb"`, "a\u202fb": `"a\u202fb"`,
		"\xff": `"\xff"`, `a"b`: `a"b`, "\x1b[2J": `"\x1b[2J"`,
	} {
		if got := Quoted(name); got != want {
			t.Errorf("Quoted(%q) = %s, want %s", name, got, want)
		}
	}
}

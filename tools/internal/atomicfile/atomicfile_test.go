package atomicfile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary play other programs.
func TestMain(m *testing.M) {
	switch os.Getenv("ATOMICFILE_CHILD") {
	case "increment":
		incrementChild()
	case "umask":
		umaskChild()
	default:
		os.Exit(m.Run())
	}
}

func child(t testing.TB, role string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = append(os.Environ(), "ATOMICFILE_CHILD="+role)
	c.Stderr = os.Stderr
	return c
}

func nightly() bool { return os.Getenv("FERRULE_NIGHTLY") == "1" }

func openRoot(t testing.TB, dir string) *os.Root {
	t.Helper()
	r, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func put(t testing.TB, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// list returns all names below dir.
func list(t testing.TB, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, _ fs.DirEntry, err error) error {
		if p != "." {
			names = append(names, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

// to is a change that does not look at the old content.
func to(s string) func(*Content) ([]byte, error) {
	return func(*Content) ([]byte, error) { return []byte(s), nil }
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		old     string // "-": no file
		rel     string
		parents bool
		data    string
		want    Outcome
		wantErr error
		names   string
	}{
		{name: "replace", old: "old", rel: "f", data: "new", want: Outcome{Written: true}, names: "[f]"},
		{name: "replace by nothing", old: "old", rel: "f", data: "", want: Outcome{Written: true}, names: "[f]"},
		{name: "replace nothing", old: "", rel: "f", data: "new", want: Outcome{Written: true}, names: "[f]"},
		{name: "unchanged", old: "old", rel: "f", data: "old", names: "[f]"},
		{name: "create", old: "-", rel: "f", data: "new", want: Outcome{Written: true, Created: true}, names: "[f]"},
		{name: "create empty", old: "-", rel: "f", data: "", want: Outcome{Written: true, Created: true}, names: "[f]"},
		{name: "in a folder", old: "old", rel: "a/b/f", data: "new", want: Outcome{Written: true}, names: "[a a/b a/b/f]"},
		{name: "with parents", old: "-", rel: "a/b/f", parents: true, data: "new",
			want: Outcome{Written: true, Created: true, MadeDirs: []string{"a", "a/b"}}, names: "[a a/b a/b/f]"},
		{name: "no parents", old: "-", rel: "a/b/f", data: "new", wantErr: fs.ErrNotExist, names: "[]"},
		{name: "large", old: strings.Repeat("o", 300_000), rel: "f", data: strings.Repeat("n", 500_000),
			want: Outcome{Written: true}, names: "[f]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.old != "-" {
				put(t, filepath.Join(dir, c.rel), c.old)
			}
			var plans, ends int
			o := Options{Parents: c.parents,
				Begin: func(p Plan) error {
					plans++
					same(t, "planned sum", p.Sum, Sum(sha256.Sum256([]byte(c.data))))
					same(t, "old told", p.Old != nil, c.old != "-")
					same(t, "made told", p.MadeDirs, c.want.MadeDirs)
					if p.Temp != "" && !IsTemp(p.Temp) {
						t.Errorf("temporary name %q", p.Temp)
					}
					return nil
				},
				End: func(out Outcome, err error) {
					ends++
					same(t, "end", fmt.Sprint(out.Written, err), "true <nil>")
				}}
			out, err := NewFiles(SyncFull).Update(t.Context(), openRoot(t, dir), filepath.FromSlash(c.rel), o, to(c.data))
			if !errors.Is(err, c.wantErr) {
				t.Fatal(err)
			}
			if c.wantErr == nil {
				same(t, "content", get(t, filepath.Join(dir, c.rel)), c.data)
				fi, _ := os.Lstat(filepath.Join(dir, c.rel))
				stamp := StampOf(fi)
				stamp.Sum = sha256.Sum256([]byte(c.data))
				same(t, "stamp", out.Stamp, stamp)
			}
			out.Stamp = Stamp{}
			same(t, "outcome", fmt.Sprintf("%+v", out), fmt.Sprintf("%+v", c.want))
			same(t, "names", list(t, dir), c.names)
			if want := map[bool]int{true: 1}[c.want.Written]; plans != want || ends != want {
				t.Errorf("Begin called %d times, End %d, want %d", plans, ends, want)
			}
		})
	}
}

// TestNothingHappens lists what must leave no trace: no temporary file, no folder that was made for it.
func TestNothingHappens(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		rel  string
		ctx  context.Context
		o    Options
		f    func(*Content) ([]byte, error)
		want error
	}{
		"change refuses":        {rel: "f", f: func(*Content) ([]byte, error) { return nil, boom }, want: boom},
		"change refuses, new":   {rel: "a/b/n", f: func(*Content) ([]byte, error) { return nil, boom }, want: boom},
		"begin refuses":         {rel: "f", o: Options{Begin: func(Plan) error { return boom }}, want: boom},
		"begin refuses, new":    {rel: "a/b/n", o: Options{Begin: func(Plan) error { return boom }}, want: boom},
		"canceled":              {rel: "f", ctx: canceled, want: context.Canceled},
		"canceled, new":         {rel: "a/b/n", ctx: canceled, want: context.Canceled},
		"too large":             {rel: "f", o: Options{Max: 2}, want: ErrTooLarge{3, 2}},
		"folder":                {rel: "d", want: ErrSpecial},
		"file as a folder":      {rel: filepath.Join("f", "x"), want: syscall.ENOTDIR},
		"root":                  {rel: ".", want: fs.ErrInvalid},
		"empty":                 {rel: "", want: fs.ErrInvalid},
		"outside":               {rel: "../x", want: fs.ErrInvalid},
		"not clean":             {rel: "d/../f", want: fs.ErrInvalid},
		"absolute":              {rel: "/etc/passwd", want: fs.ErrInvalid},
		"NUL":                   {rel: "a\x00b", want: syscall.EINVAL},
		"link as the file":      {rel: "l", want: ErrSpecial},
		"dangling link":         {rel: "m", want: ErrSpecial},
		"link as a folder":      {rel: "e/x", want: syscall.ENOTDIR},
		"link below a new name": {rel: "e/new/x", want: syscall.ENOTDIR},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir+"/f", "old")
			os.Mkdir(dir+"/d", 0o755)
			for link, target := range map[string]string{"/l": "f", "/m": "none", "/e": "d"} {
				if err := os.Symlink(target, dir+link); err != nil {
					t.Skip("no symbolic links:", err)
				}
			}
			before := list(t, dir)
			if c.f == nil {
				c.f = to("new")
			}
			if c.ctx == nil {
				c.ctx = t.Context()
			}
			c.o.Parents = true
			c.o.End = func(Outcome, error) { t.Error("End without Begin") }
			out, err := NewFiles(SyncNone).Update(c.ctx, openRoot(t, dir), filepath.FromSlash(c.rel), c.o, c.f)
			if !errors.Is(err, c.want) {
				t.Errorf("got error %v, want %v", err, c.want)
			}
			same(t, "outcome", fmt.Sprintf("%+v", out), fmt.Sprintf("%+v", Outcome{}))
			same(t, "names", list(t, dir), before)
			same(t, "content", get(t, dir+"/f"), "old")
		})
	}
}

// TestStale changes a file between the read and the write; content alone decides. S054 to S057, S059, S062, H032, H034.
func TestStale(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(t *testing.T, f string, w *Files, root *os.Root)
		stale  bool
	}{
		{"nothing", func(*testing.T, string, *Files, *os.Root) {}, false},
		{"S056 touch", func(t *testing.T, f string, _ *Files, _ *os.Root) { setTimes(t, f, time.Unix(1, 0)) }, false},
		{"S057 same bytes written again", func(t *testing.T, f string, _ *Files, _ *os.Root) { put(t, f, "aaaa") }, false},
		{"other size", func(t *testing.T, f string, _ *Files, _ *os.Root) { put(t, f, "aaaaa") }, true},
		{"S054 same size, times put back", func(t *testing.T, f string, _ *Files, _ *os.Root) {
			fi, _ := os.Stat(f)
			put(t, f, "bbbb")
			setTimes(t, f, fi.ModTime())
		}, true},
		{"S055 cp -p and mv over it", func(t *testing.T, f string, _ *Files, _ *os.Root) {
			fi, _ := os.Stat(f)
			put(t, f+"2", "cccc")
			setTimes(t, f+"2", fi.ModTime())
			os.Rename(f+"2", f)
		}, true},
		{"S058 another session of ours", func(t *testing.T, _ string, _ *Files, root *os.Root) {
			if _, err := NewFiles(SyncNone).Update(t.Context(), root, "x", Options{}, to("dddd")); err != nil {
				t.Error(err)
			}
		}, true},
		{"S062 removed", func(_ *testing.T, f string, _ *Files, _ *os.Root) { os.Remove(f) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			root, w, f := openRoot(t, dir), NewFiles(SyncNone), dir+"/x"
			put(t, f, "aaaa")
			seen := readStamp(t, root, "x")
			c.change(t, f, w, root)
			stale := errors.New("stale")
			out, err := w.Update(t.Context(), root, "x", Options{}, func(old *Content) ([]byte, error) {
				if old == nil || !old.Stamp.Same(seen) {
					return nil, stale
				}
				return []byte("new"), nil
			})
			if errors.Is(err, stale) != c.stale || (err != nil) != c.stale {
				t.Fatal(err)
			}
			if c.stale {
				return
			}
			// S059: the stamp of our own write is that of a read.
			same(t, "stamp after the write", out.Stamp, readStamp(t, root, "x"))
		})
	}
}

func readStamp(t *testing.T, root *os.Root, rel string) Stamp {
	t.Helper()
	f, err := Open(root, rel)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, st, err := Read(f, MaxSize)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func setTimes(t *testing.T, f string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(f, at, at); err != nil {
		t.Fatal(err)
	}
}

// TestForeignSaveInBetween lets somebody save at the worst moment: after the file was read, before it is replaced.
func TestForeignSaveInBetween(t *testing.T) {
	t.Parallel()
	for name, save := range map[string]func(t *testing.T, f string){
		"in place":         func(t *testing.T, f string) { put(t, f, "his save") },
		"in place, hidden": func(t *testing.T, f string) { fi, _ := os.Stat(f); put(t, f, "his"); setTimes(t, f, fi.ModTime()) },
		"by rename":        func(t *testing.T, f string) { put(t, f+"~", "his save"); os.Rename(f+"~", f) },
		"removed":          func(t *testing.T, f string) { os.Remove(f) },
		"by a folder":      func(t *testing.T, f string) { os.Remove(f); os.Mkdir(f, 0o755) },
		"by a link":        func(t *testing.T, f string) { os.Remove(f); os.Symlink("/etc/passwd", f) },
		"a new file":       func(t *testing.T, f string) { put(t, f, "his save") },
	} {
		for _, action := range []string{"update", "remove"} {
			t.Run(name+", "+action, func(t *testing.T) {
				dir := t.TempDir()
				f := dir + "/f"
				if name != "a new file" {
					put(t, f, "old")
				} else if action == "remove" {
					t.Skip("there is nothing to remove")
				}
				var ended Outcome
				var want string
				o := Options{
					Begin: func(Plan) error { save(t, f); want = describe(f); return nil },
					End:   func(out Outcome, _ error) { ended = out },
				}
				var out Outcome
				var err error
				if action == "update" {
					out, err = NewFiles(SyncNone).Update(t.Context(), openRoot(t, dir), "f", o, to("ours"))
				} else {
					out, err = NewFiles(SyncNone).Remove(t.Context(), openRoot(t, dir), "f", o, nil, func(Content) error { return nil })
				}
				if !errors.Is(err, ErrStale) || out.Written || ended.Written {
					t.Errorf("got %+v, %v, want ErrStale", out, err)
				}
				same(t, "what he saved", describe(f), want)
				if n := list(t, dir); len(n) > 1 {
					t.Errorf("left behind: %v", n)
				}
			})
		}
	}
}

// describe tells what stands at a name.
func describe(f string) string {
	fi, err := os.Lstat(f)
	if err != nil {
		return "nothing"
	}
	b, _ := os.ReadFile(f)
	return fi.Mode().Type().String() + string(b)
}

func TestRemove(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, w := openRoot(t, dir), NewFiles(SyncFull)
	out, err := w.Update(t.Context(), root, filepath.FromSlash("a/b/c/f"), Options{Parents: true}, to("x"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir+"/a/other", "")
	refuse := errors.New("refused")
	_, err = w.Remove(t.Context(), root, filepath.FromSlash("a/b/c/f"), Options{}, out.MadeDirs, func(Content) error { return refuse })
	if !errors.Is(err, refuse) {
		t.Error(err)
	}
	same(t, "after a refusal", list(t, dir), "[a a/b a/b/c a/b/c/f a/other]")
	var seen string
	_, err = w.Remove(t.Context(), root, filepath.FromSlash("a/b/c/f"), Options{}, out.MadeDirs,
		func(c Content) error { seen = string(c.Data); return nil })
	if err != nil || seen != "x" {
		t.Error(seen, err)
	}
	same(t, "after the removal", list(t, dir), "[a a/other]")
	if _, err := w.Remove(t.Context(), root, "f", Options{}, nil, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error("removed what is not there:", err)
	}
	RemoveDirs(root, []string{"a/other", "..", "a"})
	same(t, "after RemoveDirs", list(t, dir), "[a a/other]")
}

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir+"/f", "content")
	f, err := os.Open(dir + "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 2 { // the offset plays no part
		b, st, err := Read(f, 7)
		if err != nil || string(b) != "content" || st.Sum != sha256.Sum256(b) || st.Size != 7 {
			t.Errorf("%q %+v %v", b, st, err)
		}
	}
	var large ErrTooLarge
	if _, _, err := Read(f, 6); !errors.As(err, &large) || large != (ErrTooLarge{7, 6}) {
		t.Error(err)
	}
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, _, err := Read(d, 6); !errors.Is(err, ErrSpecial) {
		t.Error(err)
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	big := bytes.Repeat([]byte("0123456789"), 20_000)
	for _, c := range []struct {
		file, want []byte
		same       bool
	}{
		{nil, nil, true}, {[]byte("a"), nil, false}, {nil, []byte("a"), false}, {[]byte("a"), []byte("a"), true},
		{[]byte("ab"), []byte("a"), false}, {[]byte("a"), []byte("ab"), false}, {[]byte("a"), []byte("b"), false},
		{big, big, true}, {big[1:], big[:len(big)-1], false}, {big, big[:64<<10], false}, {big[:64<<10], big, false},
		{big[:64<<10], big[:64<<10], true},
	} {
		if got, err := holds(bytes.NewReader(c.file), c.want); got != c.same || err != nil {
			t.Errorf("%d bytes against %d: %v %v", len(c.file), len(c.want), got, err)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	if n := tempName(); !IsTemp(n) {
		t.Errorf("%q is not recognised", n)
	}
	for _, n := range []string{"", "f", ".ferrule-.tmp", ".ferrule-0123456789abcdef", ".ferrule-0123456789abcdeg.tmp",
		".ferrule-0123456789abcdef00.tmp", ".ferrule-../../../../x.tmp"} {
		if IsTemp(n) {
			t.Errorf("%q is taken for a temporary name", n)
		}
	}
	var s Sync
	for _, text := range []string{"file", "none", "off", "full"} {
		if err := s.UnmarshalText([]byte(text)); err != nil {
			t.Error(err)
		}
	}
	if s != SyncFull || s.UnmarshalText([]byte("maybe")) == nil {
		t.Error("sync modes")
	}
	var sum Sum
	text, _ := Sum(sha256.Sum256(nil)).MarshalText()
	if err := sum.UnmarshalText(text); err != nil || sum.String() != string(text) || sum != sha256.Sum256(nil) {
		t.Error(sum, err)
	}
	if sum.UnmarshalText([]byte("00")) == nil || sum.UnmarshalText([]byte("x")) == nil {
		t.Error("short sum accepted")
	}
}

func BenchmarkUpdate64K(b *testing.B) {
	data := bytes.Repeat([]byte("abcdefg\n"), 8192)
	modes := []struct {
		name string
		sync Sync
	}{{"os.WriteFile", 0}, {"none", SyncNone}, {"file", SyncFile}, {"full", SyncFull}}
	for _, m := range modes {
		b.Run(m.name, func(b *testing.B) {
			dir := b.TempDir()
			root, w := openRoot(b, dir), NewFiles(m.sync)
			put(b, dir+"/x", string(data))
			for i := 0; b.Loop(); i++ {
				data := slices.Clone(data)
				data[i%len(data)]++
				var err error
				if m.name == "os.WriteFile" {
					err = os.WriteFile(dir+"/x", data, 0o644)
				} else {
					_, err = w.Update(b.Context(), root, "x", Options{}, func(*Content) ([]byte, error) { return data, nil })
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

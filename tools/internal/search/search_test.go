package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// makeTree makes files from pairs of name and text, and returns the folder and the names in path order.
func makeTree(t testing.TB, files ...string) (dir string, names []string) {
	t.Helper()
	dir = t.TempDir()
	for i := 0; i < len(files); i += 2 {
		write(t, dir, files[i], files[i+1])
		names = append(names, files[i])
	}
	slices.SortFunc(names, pathOrder)
	return dir, names
}

func grep(t testing.TB, dir string, names []string, pattern string, q Query) *Found {
	t.Helper()
	q.Pattern = mustCompile(t, pattern, PatternOptions{})
	return find(t, dir, names, q)
}

func find(t testing.TB, dir string, names []string, q Query) *Found {
	t.Helper()
	f, err := Files(t.Context(), dir, names, q)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// below names files as seen from above their directory.
func below(dir string) func(string) string { return func(name string) string { return dir + name } }

func TestModes(t *testing.T) {
	t.Parallel()
	dir, names := makeTree(t,
		"b.go", "package b\n\nfunc f() {\n\treturn g(x)\n}\n",
		"a.go", "return g(y)\r\nx\r\nreturn g(z)",
		"sub/c.go", "nothing\n",
		"sub/a/d.go", "return g(d)\n",
	)
	now := time.Now()
	for i, name := range []string{"a.go", "sub/a/d.go", "b.go"} { // b.go is the newest
		at := now.Add(time.Duration(i) * time.Minute)
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		q    Query
		want string
	}{
		{"files", Query{}, "b.go\nsub/a/d.go\na.go\n"},
		{"files, names", Query{Name: below("p/"), Limit: 2}, "p/b.go\np/sub/a/d.go\n"},
		{"count", Query{Mode: Count}, "a.go:2\nb.go:1\nsub/a/d.go:1\n"},
		{"content", Query{Mode: Content, Numbers: true}, "a.go:1:return g(y)\na.go:3:return g(z)\nb.go:4:\treturn g(x)\nsub/a/d.go:1:return g(d)\n"},
		{"no numbers", Query{Mode: Content, Limit: 1}, "a.go:return g(y)\n"},
		{"context", Query{Mode: Content, Numbers: true, Before: 1, After: 1},
			"a.go:1:return g(y)\na.go-2-x\na.go:3:return g(z)\n--\nb.go-3-func f() {\nb.go:4:\treturn g(x)\nb.go-5-}\n--\nsub/a/d.go:1:return g(d)\n"},
		{"files, only", Query{Only: true, Limit: 1}, "b.go\n"},
		{"count, only", Query{Mode: Count, Only: true}, "a.go:2\nb.go:1\nsub/a/d.go:1\n"},
		{"only", Query{Mode: Content, Numbers: true, Only: true, After: 3, Limit: 3}, "a.go:1:return g(\na.go:3:return g(\nb.go:4:return g(\n"},
	} {
		if f := grep(t, dir, names, `return g\(`, c.q); f.Text != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, f.Text, c.want)
		}
	}
	f := grep(t, dir, []string{"a.go"}, "return", Query{Mode: Content, Numbers: true, Single: true, Before: 1})
	if want := "1:return g(y)\n2-x\n3:return g(z)\n"; f.Text != want {
		t.Errorf("single file:\n%swant\n%s", f.Text, want)
	}
	f = grep(t, dir, names, "return", Query{Mode: Count})
	if f.Files != 3 || f.Lines != 4 || f.Total != 3 || f.Shown != 3 || f.Cut || !f.Complete || f.Searched != 4 || f.Opened != 4 {
		t.Errorf("count: %+v", f)
	}
	if f := grep(t, dir, names, "absent", Query{}); f.Text != "" || f.Total != 0 || f.Searched != 4 || f.Cut {
		t.Errorf("nothing: %+v", f)
	}
}

// TestContext checks groups of lines: where they touch, overlap, and at both ends of a file.
func TestContext(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := 1; i <= 20; i++ {
		fmt.Fprintf(&b, "l%d%s\n", i, map[bool]string{true: "x"}[i == 2 || i == 6 || i == 7 || i == 12 || i == 19])
	}
	dir, names := makeTree(t, "f", b.String())
	for _, c := range []struct {
		before, after int
		want          string
	}{
		{0, 0, "2 6 7 12 19"},
		{1, 1, "1 2 3 -- 5 6 7 8 -- 11 12 13 -- 18 19 20"},
		{2, 1, "1 2 3 4 5 6 7 8 -- 10 11 12 13 -- 17 18 19 20"},
		{0, 4, "2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 -- 19 20"},
		{100, 0, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19"},
		{0, 3, "2 3 4 5 6 7 8 9 10 -- 12 13 14 15 -- 19 20"},
	} {
		f := grep(t, dir, names, "x", Query{Mode: Content, Numbers: true, Single: true, Before: c.before, After: c.after})
		var got []string
		for line := range strings.Lines(f.Text) {
			n, _, _ := strings.Cut(strings.TrimSpace(line), "l")
			if n != "--" {
				matches := strings.HasSuffix(line, "x\n")
				if matches != strings.HasSuffix(n, ":") {
					t.Errorf("-B%d -A%d: mark of %q", c.before, c.after, line)
				}
				n = n[:len(n)-1]
			}
			got = append(got, n)
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("-B%d -A%d: %s, want %s", c.before, c.after, g, c.want)
		}
	}
}

// TestPages: pages put together are the whole answer, in every mode, and only the last one is not cut.
func TestPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	names := randomTree(t, dir, 2)
	for i := range 60 { // several chunks
		name := fmt.Sprintf("many/f%03d", i)
		write(t, dir, name, strings.Repeat("x err nil\n", i%3))
		names = append(names, name)
	}
	slices.SortFunc(names, pathOrder)
	for _, q := range []Query{
		{Mode: FilesWithMatches}, {Mode: Count}, {Mode: Content, Numbers: true}, {Mode: Content, Before: 2, After: 1, Numbers: true},
		{Mode: Content, Only: true, Numbers: true},
	} {
		q.MaxChars = 1 << 30
		whole := grep(t, dir, names, "err|nil", q)
		if whole.Cut || whole.Total != whole.Shown || whole.Shown == 0 {
			t.Fatalf("mode %d: the whole is cut: %d of %d", q.Mode, whole.Shown, whole.Total)
		}
		for _, step := range []struct{ limit, chars int }{{1, 1 << 30}, {17, 1 << 30}, {250, 1 << 30}, {0, 300}, {0, 5}, {10, 200}} {
			if (step.limit == 1 || step.chars == 5) && whole.Total > 120 {
				continue
			}
			var got strings.Builder
			q := q
			q.Limit, q.MaxChars = step.limit, step.chars
			for {
				f := grep(t, dir, names, "err|nil", q)
				got.WriteString(f.Text)
				if f.Shown > 1 && utf8.RuneCountInString(f.Text) > step.chars || step.limit > 0 && f.Shown > step.limit {
					t.Errorf("mode %d: %d entries, %d characters", q.Mode, f.Shown, len(f.Text))
				}
				q.Offset += f.Shown
				if f.Cut != (q.Offset < whole.Total) || f.Total >= 0 && f.Total != whole.Total || f.Shown == 0 {
					t.Fatalf("mode %d limit %d offset %d: %d shown, cut %v, total %d of %d", q.Mode, step.limit, q.Offset, f.Shown, f.Cut, f.Total, whole.Total)
				}
				if !f.Cut {
					break
				}
			}
			if got.String() != whole.Text {
				t.Errorf("mode %d, limit %d, %d characters: %s", q.Mode, step.limit, step.chars, difference(got.String(), whole.Text))
			}
		}
		q.Offset = whole.Total + 5
		if f := grep(t, dir, names, "err|nil", q); f.Shown != 0 || f.Total != whole.Total || f.Cut {
			t.Errorf("mode %d behind the end: %+v", q.Mode, f)
		}
		q.Offset, q.Limit = 0, whole.Total
		if f := grep(t, dir, names, "err|nil", q); f.Cut || f.Total != whole.Total {
			t.Errorf("mode %d, the limit is exact: cut %v", q.Mode, f.Cut)
		}
		q.Limit--
		if f := grep(t, dir, names, "err|nil", q); !f.Cut {
			t.Errorf("mode %d, one more than the limit: not cut", q.Mode)
		}
	}
}

// TestExactlyFull: entries that have just the characters allowed are no reason to lose what follows.
func TestExactlyFull(t *testing.T) {
	t.Parallel()
	var files []string
	for i := range 10 { // one chunk: nothing behind it tells that there is more
		files = append(files, fmt.Sprintf("f%03d", i), "x\n")
	}
	dir, names := makeTree(t, files...)
	for chars := 1; chars < 60; chars++ {
		f := grep(t, dir, names, "x", Query{Mode: Content, MaxChars: chars})
		if want := max(1, chars/len("f000:x\n")); f.Shown != want || !f.Cut {
			t.Errorf("%d characters: %d shown, want %d, cut %v", chars, f.Shown, want, f.Cut)
		}
	}
}

// TestDash is H059: a pattern that begins with a dash is nothing special.
func TestDash(t *testing.T) {
	t.Parallel()
	dir, names := makeTree(t, "f", "x --flag -77 a->b\n")
	for _, p := range []string{"-77", "--flag", "->"} {
		if f := grep(t, dir, names, p, Query{Mode: Content}); f.Shown != 1 {
			t.Errorf("%q: %+v", p, f)
		}
	}
}

// TestUnreadable is H060: a file that cannot be read is told, and the others are searched.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	dir, names := makeTree(t, "x", "needle\n", "y", "needle\n")
	if err := os.Chmod(filepath.Join(dir, "x"), 0); err != nil {
		t.Fatal(err)
	}
	f := grep(t, dir, names, "needle", Query{Name: below("p/")})
	if f.Text != "p/y\n" || f.Unreadable.Count != 1 || !slices.Equal(f.Unreadable.Names, []string{"p/x"}) {
		t.Errorf("%+v", f)
	}
}

// TestLongLine is H061: a window around the match is shown, with its column and the length of the line.
func TestLongLine(t *testing.T) {
	t.Parallel()
	dir, names := makeTree(t, "f", strings.Repeat("x", 4000)+"needle"+strings.Repeat("y", 4000)+"\nz\n",
		"g", "needle"+strings.Repeat("é", 600), "h", strings.Repeat("é", 600)+"needle", "i", strings.Repeat("e", 495)+"needle")
	f := grep(t, dir, names, "needle", Query{Mode: Content, Numbers: true, Limit: 1})
	text, note, ok := strings.Cut(strings.TrimSuffix(f.Text, "\n"), "… [")
	if !ok || note != "line of 8,006 characters, match at 4,001]" || !strings.Contains(text, "xneedley") || utf8.RuneCountInString(text) != len("f:1:")+1+maxShown {
		t.Errorf("%s", f.Text)
	}
	f = grep(t, dir, names, "needle", Query{Mode: Content, Numbers: true, Offset: 1})
	for _, want := range []string{
		"g:1:needle" + strings.Repeat("é", 494) + "… [line of 606 characters, match at 1]\n",
		"h:1:…" + strings.Repeat("é", 494) + "needle [line of 606 characters, match at 601]\n",
		"i:1:…" + strings.Repeat("e", 494) + "needle [line of 501 characters, match at 496]\n",
	} {
		if !strings.Contains(f.Text, want) {
			t.Errorf("%s lacks %s", f.Text, want)
		}
	}
	f = grep(t, dir, names, "z", Query{Mode: Content, Numbers: true, Before: 1})
	if !strings.HasPrefix(f.Text, "f-1-"+strings.Repeat("x", 500)+"… [line of 8,006 characters]\nf:2:z\n") {
		t.Errorf("context: %s", f.Text)
	}
	f = grep(t, dir, names, "[xyz]+", Query{Mode: Content, Only: true})
	if want := strings.Repeat("x", 500) + "… [match of 4,000 characters]\n"; !strings.HasPrefix(f.Text, "f:"+want) {
		t.Errorf("-o: %s", f.Text)
	}
}

// TestLimitInOneFile is H062: 200 hits in one file, in pages of 50.
func TestLimitInOneFile(t *testing.T) {
	t.Parallel()
	dir, names := makeTree(t, "f", strings.Repeat("TODO\n", 200))
	seen := map[string]bool{}
	for offset := 0; offset < 200; offset += 50 {
		f := grep(t, dir, names, "TODO", Query{Mode: Content, Numbers: true, Limit: 50, Offset: offset})
		if f.Shown != 50 || f.Cut != (offset < 150) {
			t.Errorf("offset %d: %d shown, cut %v", offset, f.Shown, f.Cut)
		}
		for line := range strings.Lines(f.Text) {
			if seen[line] {
				t.Errorf("%s twice", line)
			}
			seen[line] = true
		}
	}
	if len(seen) != 200 {
		t.Errorf("%d lines in all", len(seen))
	}
}

// TestMuchContext is H063: what is collected is bounded by what can be shown.
func TestMuchContext(t *testing.T) { // not parallel: it counts what is allocated
	var b strings.Builder
	for i := 1; i <= 500_000; i++ {
		fmt.Fprintln(&b, i)
	}
	dir, names := makeTree(t, "a", b.String(), "b", b.String(), "c", b.String(), "d", b.String())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f := grep(t, dir, names, "500$", Query{Mode: Content, Numbers: true, Before: 1000, After: 1000})
	runtime.ReadMemStats(&after)
	if !f.Cut || f.Shown < 1000 || len(f.Text) > DefaultChars || f.Total != -1 {
		t.Errorf("%d shown, %d characters, cut %v, total %d", f.Shown, len(f.Text), f.Cut, f.Total)
	}
	if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 100 {
		t.Errorf("%d MB allocated", n)
	}
}

// TestStopsEarly is H064: with a small limit the search ends when it has found enough.
func TestStopsEarly(t *testing.T) {
	t.Parallel()
	var files []string
	for i := range 200 {
		files = append(files, fmt.Sprintf("f%03d", i), strings.Repeat("needle\n", 1000))
	}
	dir, names := makeTree(t, files...)
	for _, mode := range []Mode{Content, Count} {
		f := grep(t, dir, names, "needle", Query{Mode: mode, Limit: 5})
		if f.Shown != 5 || !f.Cut || f.Total != -1 {
			t.Errorf("mode %d: %d shown, cut %v, total %d", mode, f.Shown, f.Cut, f.Total)
		}
	}
	f := grep(t, dir, names, "needle", Query{Mode: FilesWithMatches, Limit: 5})
	if f.Shown != 5 || !f.Cut || f.Total != 200 {
		t.Errorf("files: %d shown, cut %v, total %d", f.Shown, f.Cut, f.Total)
	}
}

// TestOnlyAcross: matches that cross lines are shown line by line.
func TestOnlyAcross(t *testing.T) {
	t.Parallel()
	dir, names := makeTree(t, "f", "1 foo\nbar foo\nbar\nx\nfoo\n")
	for _, c := range []struct {
		q    Query
		want string
	}{
		{Query{Mode: Content, Numbers: true, Only: true}, "f:1:foo\nf:2:bar\nf:2:foo\nf:3:bar\n"},
		{Query{Mode: Content, Numbers: true, After: 1}, "f:1:1 foo\nf:2:bar foo\nf:3:bar\nf-4-x\n"},
		{Query{Mode: Count}, "f:2\n"},
		{Query{}, "f\n"},
	} {
		if f := grep(t, dir, names, `foo\nbar`, c.q); f.Text != c.want {
			t.Errorf("%+v:\n%swant\n%s", c.q, f.Text, c.want)
		}
	}
	// An empty match is nothing to show.
	if f := grep(t, dir, names, `y*`, Query{Mode: Content, Only: true}); f.Text != "" || f.Files != 0 {
		t.Errorf("empty matches: %+v", f)
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	dir, names := makeTree(t, "a", "needle\n", "b", "needle\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f, err := Files(ctx, dir, names, Query{Pattern: mustCompile(t, "needle", PatternOptions{})})
	if err != nil || f.Complete || f.Searched != 0 || f.Total != -1 {
		t.Errorf("%+v %v", f, err)
	}

	// A pattern that costs more than there is time for, and a chunk behind that is done before: nothing found is lost.
	r := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 8<<20)
	for i := range text {
		text[i] = "abababababababababababababababababababababc"[r.IntN(43)]
	}
	files := []string{"a", "ac\n", "b", string(text)}
	for i := range chunkSize {
		files = append(files, fmt.Sprintf("c%02d", i), "ac\n")
	}
	dir, names = makeTree(t, files...)
	ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	p := mustCompile(t, `(a|b)*a(a|b){3000}c|^ac$`, PatternOptions{})
	f, err = Files(ctx, dir, names, Query{Pattern: p, Mode: Content})
	if err != nil || f.Complete || f.Total != -1 || !strings.HasPrefix(f.Text, "a:ac\n") {
		t.Errorf("%+v %v", f, err)
	}
	if runtime.GOMAXPROCS(0) > 1 && !strings.HasSuffix(f.Text, "c63:ac\n") {
		t.Errorf("the second chunk is lost: %+v", f)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("it took %v", d)
	}
}

func TestOddFiles(t *testing.T) {
	t.Parallel()
	dir, names := makeTree(t, "a", "needle\n", "d/x", "needle\n")
	names = append(names, "link", "gone", "d", "dirlink/x")
	if err := errors.Join(os.Symlink("a", filepath.Join(dir, "link")), os.Symlink("d", filepath.Join(dir, "dirlink"))); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	f := grep(t, dir, names, "needle", Query{})
	if !strings.Contains(f.Text, "a\n") || strings.Contains(f.Text, "link\n") || f.Searched != len(names) || !f.Complete {
		t.Errorf("%+v", f)
	}
	if _, err := Files(t.Context(), filepath.Join(dir, "none"), nil, Query{Pattern: mustCompile(t, "x", PatternOptions{})}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

// BenchmarkFiles searches the toolchain's sources, the answer limited as usual and not.
func BenchmarkFiles(b *testing.B) {
	dir := filepath.Join(goroot(b), "src")
	var names []string
	var size int64
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			rel, _ := filepath.Rel(dir, p)
			names = append(names, filepath.ToSlash(rel))
			if fi, err := d.Info(); err == nil {
				size += fi.Size()
			}
		}
		return err
	})
	if err != nil {
		b.Skip(err)
	}
	for _, c := range []struct {
		name, pattern string
		q             Query
	}{
		{"rare", "podSandboxChanged", Query{}},
		{"common files", "return", Query{Limit: 250}},
		{"common content", "return", Query{Mode: Content, Numbers: true, Limit: 250}},
		{"all content", "return", Query{Mode: Content, Numbers: true, MaxChars: 1 << 30}},
		{"class", `[A-Z]{3,}_[a-z]+`, Query{Mode: Count}},
		{"word", `\berr\b`, Query{Mode: Count}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				grep(b, dir, names, c.pattern, c.q)
			}
		})
	}
}

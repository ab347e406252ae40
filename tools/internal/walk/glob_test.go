package walk

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// matches runs a path through the globs as a walk would, from a directory that lies way below the root /top.
func matches(g *Globs, way, path string) bool {
	dir, base := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, base = path[:i], path[i+1:]
	}
	st := g.start("/top", filepath.Join("/top", way))
	for name := range strings.SplitSeq(dir, "/") {
		if name == "" {
			continue
		}
		var ok bool
		if st, ok = g.descend(st, name); !ok {
			return false
		}
	}
	return g.file(st, base)
}

func TestGlob(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, yes, no string }{
		{"*.go", "a.go|d/e/a.go|.go", "a.c|a.go/x"},
		{"a.go", "a.go|d/a.go", "xa.go"},
		{"./*.go", "a.go", "d/a.go"},
		{"././a/./*.go", "a/a.go", "d/a/a.go"},
		{"a//b", "a/b", "b"},
		{"**/*.go", "a.go|d/e/a.go", ""},
		{"d/**", "d/a|d/e/a", "d|x/d/a"},
		{"d/", "d/a|d/e/a", "d|x/d/a"},
		{"d/.", "d/a|d/e/a", "d"},
		{".", "a|d/a", ""},
		{"**", "a|d/e/.hidden", ""},
		{"**/**", "a|d/e/a", ""},
		{"**/", "a|d/e/a", ""},
		{"a/**/b", "a/b|a/x/y/b", "x/a/b|a/xb|a/b/c"},
		{"a/**/**/b", "a/b|a/x/y/b", "a/xb"},
		{"**/a/**/b/**/c", "a/b/c|x/a/y/b/z/c|a/a/b/b/c/c", "a/c/b|b/a/c"},
		{"a**b", "ab|axxb|d/axb", "a/b"},
		{"a**/b", "ax/b", "ax/y/b|b"},
		{"cmd/*/app/*.go", "cmd/x/app/m.go", "cmd/x/y/app/m.go|cmd/app/m.go"},
		{"**/{a,b}*.go", "q/beta.go|a.go", "c.go"},
		{"{*.rs}", "d/a.rs", "a.go"},
		{"{a,{b,c}}.x", "a.x|b.x|c.x|{a,{b,c}}.x", "d.x"},
		{"a{,b}.x", "a.x|ab.x", "b.x"},
		{"src/{,t/}*.go", "src/a.go|src/t/a.go", "src/x/a.go"},
		{"{.}", "", "a|d/a"},
		{"a/{.,b}", "a/b", "a/c|a"},
		{"src/{,a}", "src/a", "src/b|src"},
		{"{a,b/c}.x", "d/a.x|b/c.x|a.x", "d/b/c.x"},
		{"{x,**/y}/z", "x/z|a/y/z|y/z", "a/x/z"},
		{`\{a,b\}`, "{a,b}", "a|b"},
		{`{\{,\,}`, "{|,", "a"},
		{"{[,],a}", ",|a", "["},
		{"app/[id]/*.tsx", "app/[id]/p.tsx|app/i/p.tsx", "app/id/p.tsx|app/x/p.tsx"},
		{"app/(shop)/p", "app/(shop)/p", "app/shop/p"},
		{"app/[...slug]/p", "app/[...slug]/p", "app/x/p"},
		{"[[...slug]]/p", "[[...slug]]/p", ""},
		{"10/61*/**", "10/61_공인/a.md", "10/6/a"},
		{"?.txt", "é.txt|a.txt", "éé.txt|.txt"},
		{"*??b", "ééb|aéb", "éb"},
		{"*[!é]b", "aéxb", "éb"},
		{"[!a-c].txt", "d.txt|é.txt", "b.txt"},
		{"[^a-c].txt", "d.txt", "b.txt"},
		{"[é-ü].txt", "ö.txt", "z.txt"},
		{"[a-].x", "-.x|a.x", "b.x"},
		{`[\]\-a].x`, "].x|-.x|a.x", "b.x"},
		{`\[x\]`, "[x]", "x"},
		{`a\*b`, "a*b", "axb"},
		{"a b,c.*", "a b,c.d", "a|b"},
		{"!a", "!a", "b"},
		{"README", "README", "readme"},
		{"-rf", "-rf", "rf"},
	} {
		g, err := ParseGlob(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		for p := range strings.SplitSeq(c.yes, "|") {
			if p != "" && !matches(g, "", p) {
				t.Errorf("%s does not match %s", c.pattern, p)
			}
		}
		for p := range strings.SplitSeq(c.no, "|") {
			if p != "" && matches(g, "", p) {
				t.Errorf("%s matches %s", c.pattern, p)
			}
		}
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ list, way, yes, no string }{
		{"", "", "a|d/a", ""},
		{" , ", "", "a|d/a", ""},
		{"*.go", "", "d/a.go", "a.c"},
		{"d/*.go", "", "d/a.go", "x/d/a.go"},
		{"*.go,*.c", "", "a.go|d/a.c", "a.h"},
		{"*.go *.c", "", "a.go|d/a.c", "a.h"},
		{"*.{go,c} x", "", "a.go|d/a.c|x", "a.h"},
		{"*.{ts, tsx}", "", "a.ts|a.tsx", "a.js"},
		{"{*.ts, *.tsx}", "", "a.ts|a.tsx", "a.js"},
		{"a b.txt", "", "a b.txt|a|b.txt", "b"},
		{"a, b.txt", "", "a, b.txt|a|b.txt", "b"},
		{`a\ b.txt`, "", "a b.txt", "a|b.txt"},
		{"[a, b].c", "", "a.c|,.c| .c|b.c", "c.c"},
		{"!*.go", "", "a.c|d/a.c", "a.go|d/a.go"},
		{"!*.go !*.c", "", "a.h", "a.go|d/a.c"},
		{"*.go,!*_test.go", "", "a.go", "a_test.go|a.c"},
		{"!*_test.go *.go", "", "a.go", "a_test.go|a.c"},
		{"!vendor", "", "a|x/b", "vendor|vendor/a|x/vendor/a/b"},
		{"!vendor/", "", "a|x/vendor/a|vendor", "vendor/a|vendor/a/b"},
		{"!vendor/**", "", "a|x/vendor/a", "vendor/a|vendor/a/b"},
		{"!**/node_modules/**", "", "a", "node_modules/a|x/node_modules/a/b"},
		{"!a b", "", "b", "a b|a|c"},
		{"src/app/*.ts", "src/app", "a.ts|src/app/a.ts", "x/a.ts"},
		{"src/**/*.ts", "src/app", "a.ts|x/a.ts|src/a.ts", "a.js"},
		{"src/*.ts", "src/app", "src/a.ts", "a.ts"},
		{"app/*.ts", "src/app", "app/a.ts", "a.ts"},
		{"src", "src/app", "src", "a"},
		{"*/app/*.ts", "src/app", "x/app/a.ts", "a.ts"},
		{"!src/app/x/**", "src/app", "a", "x/a"},
		{"/top/src/**", "src/app", "a|x/a", ""},
		{"/top/*.ts", "", "a.ts", "x/a.ts"},
		{"/x/*.ts", "", "x/a.ts", "a.ts|y/x/a.ts"},
		{"!/x", "", "a|y/x", "x/a|x"},
	} {
		g, err := ParseFilter(c.list)
		if err != nil {
			t.Errorf("%s: %v", c.list, err)
			continue
		}
		for p := range strings.SplitSeq(c.yes, "|") {
			if p != "" && !matches(g, c.way, p) {
				t.Errorf("%q in %q does not let %s through", c.list, c.way, p)
			}
		}
		for p := range strings.SplitSeq(c.no, "|") {
			if p != "" && matches(g, c.way, p) {
				t.Errorf("%q in %q lets %s through", c.list, c.way, p)
			}
		}
	}
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, want string }{
		{"src/[ab", `pattern "src/[ab" is malformed at character 5: [ is not closed; write \[ for the character itself`},
		{"é[a/b]", `pattern "é[a/b]" is malformed at character 2: [ is not closed; write \[ for the character itself`},
		{"[]a]", `pattern "[]a]" is malformed at character 1: [] is an empty class; write \[ for the character itself`},
		{"a[z-b]", `pattern "a[z-b]" is malformed at character 2: the range z-b runs backwards`},
		{"*.{ts,tsx", `pattern "*.{ts,tsx" is malformed at character 3: { is not closed; write \{ for the character itself`},
		{"a}b", `pattern "a}b" is malformed at character 2: } without {; write \} for the character itself`},
		{`ab\`, `pattern "ab\\" is malformed at character 3: a lone \ at the end; write \\ for the character itself`},
		{"", `pattern "" is empty; write ** for all files`},
		{"//", `pattern "//" is empty; write ** for all files`},
		{"a*/../b", `pattern "a*/../b" has .. in it; give the directory to look in as path`},
		{strings.Repeat("{a,b}", 12), `pattern "` + strings.Repeat("{a,b}", 12) + `" stands for too many alternatives; write fewer braces`},
		{strings.Repeat("a", 9000), `pattern of 9000 bytes is too long; 8192 are allowed`},
	} {
		if _, err := ParseGlob(c.pattern); err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	for list, want := range map[string]string{
		"a [b": `"a [b" is malformed at character 3: `, "!": `"" is empty; `, "*.{js,ts": `"*.{js,ts" is malformed at character 3: `, "../x": `"../x" has .. in it; `,
	} {
		if _, err := ParseFilter(list); err == nil || !strings.HasPrefix(err.Error(), "glob "+want) {
			t.Errorf("%s: %v", list, err)
		}
	}
	// Each pattern is small; the list as one pattern, which it might be, is not.
	if g, err := ParseFilter(strings.Repeat("{a,b}", 5) + "," + strings.Repeat("{a,b}", 6)); err != nil || !matches(g, "", "ababa") {
		t.Errorf("two patterns: %v", err)
	}
}

func TestSplitPattern(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"*.go", "", "*.go"}, {"a/b/*.go", "", "a/b/*.go"}, {"./a/*.go", "", "./a/*.go"}, {"a~/b", "", "a~/b"},
		{"~x/a", "", "~x/a"}, {"..x/a", "", "..x/a"}, {"a/*/../b", "", "a/*/../b"}, {"", "", ""},
		{"/a/b/*.go", "/a/b", "./*.go"}, {"/a/b/**/*.go", "/a/b", "**/*.go"}, {"/a/b/c.go", "/a/b", "./c.go"},
		{"/*.go", "/", "./*.go"}, {"/a/x{b,c}/d", "/a", "x{b,c}/d"}, {"/a/[id]/d", "/a", "[id]/d"},
		{`/a/\[id\]/d`, "/a", `\[id\]/d`}, {"/a/b/", "/a/b", "./"},
		{"~/a/*.go", "~/a", "./*.go"}, {"~/*.go", "~", "./*.go"}, {"~", "~", "./"},
		{"../*.go", "..", "./*.go"}, {"../../a/**", "../../a", "./**"}, {"a/../b/*.go", "a/../b", "./*.go"},
		{"..", "..", "./"}, {"a/..", "a/..", "./"},
	} {
		if dir, rest := SplitPattern(c[0]); dir != c[1] || rest != c[2] {
			t.Errorf("%s: got %q, %q, want %q, %q", c[0], dir, rest, c[1], c[2])
		}
	}
}

func TestLiteral(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"app/(site)/page.tsx": "", "app/[id]/p": "", "x{": "", "plain": "", "to": "->plain", "dir": "->app"})
	for p, want := range map[string]bool{
		"app/(site)/page.tsx": true, "app/[id]/p": true, "./plain": true, "x{": true, "app/[id]": false, "plain": false,
		"./to": false, "dir/(site)/page.tsx": false, "./absent": false, "../" + filepath.Base(root) + "/plain": false, "": false,
		filepath.ToSlash(root) + "/plain": false, "plain/": true, "plain/x": false,
	} {
		if got := Literal(root, p); got != want {
			t.Errorf("%s: %t", p, got)
		}
	}
}

func TestTypeNames(t *testing.T) {
	t.Parallel()
	all := TypeNames()
	if len(all) < 100 || !slices.IsSorted(all) {
		t.Errorf("%d names", len(all))
	}
	for _, name := range all {
		globs, err := LookupType(name)
		if err != nil || len(globs) == 0 {
			t.Errorf("%s: %v", name, err)
		}
		for _, g := range globs {
			if !doublestar.ValidatePattern(g) || strings.Contains(g, "/") {
				t.Errorf("%s: %s", name, g)
			}
		}
	}
	for name, want := range map[string]string{
		"typscript": "did you mean typescript?", "Go": "did you mean go?", "*.mjs": "did you mean javascript or js?",
		"pyhton": "did you mean py or python?", "rustlang": "did you mean rust?", "zzzzzz": "use one of ada, ", "": "use one of ada, ",
	} {
		_, err := LookupType(name)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), "zsh") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Every name of ours that ripgrep has means at least what it means there.
func TestTypesAsRipgrep(t *testing.T) {
	t.Parallel()
	rg := tool(t, "rg", "RG")
	ours := map[string]string{"license": "shorter: the usual names only"}
	for line := range strings.Lines(output(t, rg, t.TempDir(), "--no-config", "--type-list")) {
		name, globs, _ := strings.Cut(strings.TrimSpace(line), ": ")
		mine, err := LookupType(name)
		if err != nil || ours[name] != "" {
			continue
		}
		for g := range strings.SplitSeq(globs, ", ") {
			if !slices.Contains(mine, g) {
				t.Errorf("%s lacks %s", name, g)
			}
		}
	}
}

// FuzzGlob demands that no pattern makes trouble, and that those that mean the same to doublestar match the same.
func FuzzGlob(f *testing.F) {
	for _, p := range []string{"a/**/b", "**/*.{go,c}", "[a-c]?/*", "{a,{b,c}}/x", `\*a`, "a**b", "[!é]/**", "{**/a,b}/c", "{a/b,c}"} {
		f.Add(p, "a/x/b")
		f.Add(p, "é/a.go")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if len(pattern) > 60 || len(path) > 60 || path != composed(path) || pattern != composed(pattern) {
			t.Skip()
		}
		g, err := ParseGlob(pattern)
		if _, err := ParseFilter(pattern); err == nil {
			SplitPattern(pattern)
		}
		for seg := range strings.SplitSeq(path, "/") {
			if seg == "" || seg == "." || seg == ".." {
				t.Skip()
			}
		}
		if err != nil {
			return
		}
		got := matches(g, "", path)
		if !utf8.ValidString(pattern+" "+path) || !sameDialect(pattern) || strings.ContainsAny(path, special+"{},") {
			return
		}
		p := pattern
		if !strings.Contains(p, "/") {
			p = "**/" + p
		}
		// Its braces lose matches behind a star ("*00*{,}" on "0100"), so each alternative is asked on its own.
		var want bool
		alts, err := expand(p)
		for _, a := range alts {
			one, bad := doublestar.Match(a, path)
			want, err = want || one, cmp.Or(err, bad)
		}
		// There a/** matches a, too, as a directory: only files are asked for here.
		if err == nil && got != want && !(want && strings.HasSuffix(p, "/**")) {
			t.Errorf("%q on %q: got %t, doublestar %t", pattern, path, got, want)
		}
	})
}

// sameDialect reports whether doublestar reads a pattern as we do. Here dots and slashes that lead nowhere do not count,
// three stars are one,
// and each alternative of braces has its own depth.
func sameDialect(p string) bool {
	for _, odd := range []string{"//", "./", "/.", "***"} {
		if strings.Contains(p, odd) {
			return false
		}
	}
	if strings.Contains(p, "{") && (strings.Contains(p, "/") || strings.Contains(p, "**")) {
		return false
	}
	return !strings.HasPrefix(p, "/") && !strings.HasSuffix(p, "/") && p != "."
}

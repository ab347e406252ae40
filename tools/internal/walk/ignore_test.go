package walk

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gitFiles is git's own view of an untracked tree.
func gitFiles(t testing.TB, git, dir string) string {
	t.Helper()
	out := gitRun(t, git, dir, "ls-files", "-co", "-z", "--exclude-standard")
	l := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	slices.Sort(l)
	return strings.Join(l, "|")
}

// gitRun runs git with the settings in dir's parent as the user's own.
func gitRun(t testing.TB, git, dir string, args ...string) string {
	t.Helper()
	c := exec.Command(git, args...)
	c.Dir = dir
	c.Env = []string{"GIT_CONFIG_NOSYSTEM=1", "HOME=" + homeOf(dir), "PATH=" + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot")}
	out, err := c.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

// repository makes an empty one, without the cost of running git, and a home beside it.
func repository(t testing.TB) string {
	t.Helper()
	return filepath.Join(tree(t, map[string]string{"home/": "", "repo/.git/HEAD": "ref: refs/heads/main\n",
		"repo/.git/objects/": "", "repo/.git/refs/": ""}), "repo")
}

func homeOf(repo string) string { return filepath.Join(filepath.Dir(repo), "home") }

func ourFiles(t testing.TB, dir string) string {
	t.Helper()
	var l []string
	for _, f := range run(t, Options{Top: dir, Home: homeOf(dir)}).Files {
		l = append(l, f.Path)
	}
	slices.Sort(l)
	return strings.Join(l, "|")
}

// Each case is the .gitignore at the top, the files to make, and further files by name and text.
var ruleCases = []struct {
	name, rules, files string
	more               map[string]string
}{
	{"negation", "*.log\n!keep.log\n", "a.log keep.log d/keep.log d/b.log", nil},
	{"negation in ignored dir", "build/\n!build/keep.txt\n", "build/keep.txt build/x src/build/keep.txt", nil},
	{"negation after dir/*", "build/*\n!build/keep.txt\n", "build/keep.txt build/x build/sub/y", nil},
	{"anchored", "/root.txt\n", "root.txt d/root.txt", nil},
	{"slash inside anchors", "a/b.txt\n", "a/b.txt x/a/b.txt", nil},
	{"directory only", "foo/\n", "foo/x d/foo d2/foo/y", nil},
	{"leading **", "**/tmp\n", "tmp/a d/tmp/a d/e/tmp tmpx", nil},
	{"trailing **", "abc/**\n", "abc/x abc/d/y d/abc/x", nil},
	{"inner **", "a/**/b\n", "a/b a/x/b a/x/y/b a/xb z/a/b", nil},
	{"glued **", "a**b\n", "ab axxb a/b aab", nil},
	{"glued ** and slash", "foo**/bar\n", "foo/bar foox/bar foo/x/bar fooa/y/bar foobar xfoo/bar", nil},
	{"glued ** in the middle", "x?o**/bar\n", "xoo/bar xoox/bar xoo/x/bar xoobar", nil},
	{"** and escaped slash", "a/**\\/b\n", "a/b a/x/b a/x/y/b", nil},
	{"trailing blank", "sp \nq\\ \n", "sp|sp |q |q", nil},
	{"trailing blanks", "sp  \nq\\  \nr\\\\ \n", "sp|sp  |q |q  |r\\|r\\ ", nil},
	{"trailing tab", "tab\t\n", "tab|tab\t", nil},
	{"escaped #", "\\#x\n#y\n", "#x #y", nil},
	{"escaped !", "\\!x\n", "!x x", nil},
	{"two bangs", "!!x\n!y\n", "!x x y", nil},
	{"escaped *", "a\\*b\n", "a*b axb", nil},
	{"escaped letter", "a\\b\n/\\c\n", "ab c d/c", nil},
	{"class", "[ab].txt\n[!c].md\n[^d].go\n", "a.txt c.txt c.md d.md d.go e.go", nil},
	{"class range", "f[0-9].o\nx[a-]y\nz[]]w\n", "f5.o fx.o x-y xay z]w", nil},
	{"class corners", "a[]-]\nb[!]]\nc[\\]]\nd[a-c-e]\ne[--0]\nf[z-a]\n", "a] a- ax b] bx c] c\\ da dc d- de dd e. e0 e- ez fz fa f-", nil},
	{"class with brackets", "a[[]\nb[[:]\nc[[x:]]\nd[[:x]\n", "a[ b[ b: c[] cx] c:] d[ d: dx", nil},
	{"POSIX class", "[[:digit:]]x\n[[:upper:]]y\n", "1x ax Ay ay", nil},
	{"more POSIX classes", "a[[:alpha:][:digit:]]\nb[![:space:]]\nc[[:nope:]]\nd[[:punct:]-z]\ne[[:nope:]x]\n", "ex ax a1 a_ b1 c: cn d- dz da d!", nil},
	{"unclosed class", "b[ad\nok\n", "b[ad bad ok", nil},
	{"unclosed corners", "a[\nb[]\nc[!\nd[a\\\ne[[:digit:]\n", "a[ b[] c[! d[a e1", nil},
	{"?", "?.c\na?b\n/?/x\nd/y?z\n", "d/y/z d/yaz x.c xx.c a/b axb c/x cc/x", nil},
	{"? and UTF-8", "?.u\n??.v\n", "é.u x.u é.v", nil},
	{"UTF-8", "é*\n/ü/\n", "éa e ü/x", nil},
	{"CRLF", "win\r\n*.tmp\r\n", "win a.tmp", nil},
	{"lone CR", "a\rb\nc\r\r\n", "a|b|c|c\r", nil},
	{"BOM", "\xef\xbb\xbfbomfile\n", "bomfile", nil},
	{"no newline at the end", "*.x", "a.x b", nil},
	{"nested file", "*.gen\n", "a.gen sub/a.gen sub/deep/b.gen sub/keep.gen", map[string]string{"sub/.gitignore": "!keep.gen\n"}},
	{"nested anchor", "", "sub/x sub/d/x x", map[string]string{"sub/.gitignore": "/x\n"}},
	{"nested path", "", "sub/a/b sub/c/a/b a/b", map[string]string{"sub/.gitignore": "a/b\n"}},
	{"*/name", "*/foo\n", "foo a/foo a/b/foo", nil},
	{"name/*/", "a/*/\n", "a/x a/b/x", nil},
	{"allow list", "*\n!*/\n!*.c\n", "a.c d/b.c d/x.h", nil},
	{"only a slash", "/\n", "a", nil},
	{"slashes", "//a\nb//\nc//d\n", "a b/x c/d", nil},
	{"only a bang", "!\n", "a !", nil},
	{"dot directory", ".cache\n", ".cache/x d/.cache", nil},
	{"dot and dots", "./a\nb/../c\n", "a c b/x", nil},
	{"case", "README\n", "readme README", nil},
	{"trailing backslash", "foo\\\n", `foo foo\`, nil},
	{"wild directory", "lib*/\n", "lib/x libs/x a/lib1/y libx", nil},
	{"two **", "**/a/**/c.txt\n", "a/c.txt x/a/y/c.txt x/a/c.txt c.txt", nil},
	{"*.*", "*.*\n!*.go\n", "a.go b.txt Makefile d/x.go", nil},
	{"leading blank", " lead\n", "lead| lead", nil},
	{"directory, then its file", "/vendor\n!/vendor/keep\n", "vendor/keep vendor/x", nil},
	{"several dots", "*.tar.gz\n*.mod.c\n", "a.tar.gz b.gz x.mod.c y.c", nil},
	{"last extension", "*.b\n", "a.b .b a.b.c b x.", nil},
	{"slash in class", "a[/]b\nc[!x]d\n/e[!x]f\n", "a/b a[/]b c/d cyd e/f eyf", nil},
	{"***", "***/x\n", "x a/x a/b/x", nil},
	{"*** inside", "a/***/x\nb/***\n", "a/x a/b/x b/c/d", nil},
	{"** alone", "**\n!*/\n!a\n", "a b/a b/c", nil},
	{"**/", "**/\n", "a b/c", nil},
	{"/**", "/**\n!/a\n", "a b/c", nil},
	{"stars", "*a*b*c*\n", "abc xaxbxcx acb aabbcc", nil},
	{"braces", "*.{a,b}\n", "x.a x.{a,b}", nil},
	{"order of kinds", "x.log\n!*.log\n*.log\n!x.log\n", "x.log y.log", nil},
	{"plain path over ext", "*.c\n!d/a.c\n", "a.c d/a.c d/b.c", nil},
	{"info/exclude", "!back\n", "out back d/out", map[string]string{".git/info/exclude": "out\nback\n"}},
	{"exclude below nested", "", "d/x e/x", map[string]string{".git/info/exclude": "x\n", "d/.gitignore": "!x\n"}},
	{"exclude is anchored at the top", "", "d/x x", map[string]string{".git/info/exclude": "/x\n"}},
	{"global", "!b\n", "a b c", map[string]string{"../home/.config/git/ignore": "a\nb\n", ".git/info/exclude": "!a\n"}},
	{"excludesFile", "", "a b", map[string]string{"../home/.gitconfig": "[core]\n\texcludesFile = ~/mine # here\n",
		"../home/mine": "a\n", "../home/.config/git/ignore": "b\n"}},
	{"excludesFile, the later file", "", "a b", map[string]string{"../home/.config/git/config": "[core]\nexcludesfile = ~/one\n",
		"../home/.gitconfig": "[CORE] EXCLUDESFILE = \"~/t\\\"wo\"\n", "../home/one": "a\n", "../home/t\"wo": "b\n"}},
	{"excludesFile of the repository", "", "a b", map[string]string{".git/config": "[core]\nexcludesFile = ~/one\n", "../home/one": "a\n",
		"../home/.gitconfig": "[core]\nexcludesFile = ~/two\n", "../home/two": "b\n"}},
	{"no excludesFile", "", "a b", map[string]string{"../home/.gitconfig": "[core]\nexcludesFile =\n", "../home/.config/git/ignore": "b\n"}},
	{"other sections", "", "a b", map[string]string{"../home/.gitconfig": "[core \"x\"]\nexcludesFile = ~/one\n[other]\nexcludesFile = ~/one\n",
		"../home/one": "a\n", "../home/.config/git/ignore": "b\n"}},
}

func TestRulesAsGit(t *testing.T) {
	t.Parallel()
	git := tool(t, "git", "GIT")
	for _, c := range ruleCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			repo := repository(t)
			write(t, repo, map[string]string{".gitignore": c.rules})
			write(t, repo, names(c.files))
			write(t, repo, c.more)
			if got, want := ourFiles(t, repo), gitFiles(t, git, repo); got != want {
				t.Errorf("rules %q\n git %s\nours %s", c.rules, want, got)
			}
		})
	}
}

// Random rules over one tree, against git.
func TestRandomRulesAsGit(t *testing.T) {
	t.Parallel()
	git := tool(t, "git", "GIT")
	repo := repository(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	if os.Getenv("FERRULE_NIGHTLY") == "1" {
		rnd = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	files := map[string]string{}
	for range 120 {
		parts := make([]string, 1+rnd.IntN(4))
		for i := range parts {
			parts[i] = pick(rnd, "a", "b", "ab", "ba", "a.b", "b.a", "aa", "[a]", "c-b", "A")
		}
		parts[len(parts)-1] += pick(rnd, "f", ".f", "f.b") // no directory has such a name
		files[strings.Join(parts, "/")] = ""
	}
	write(t, repo, files)
	rounds := 30
	if os.Getenv("FERRULE_NIGHTLY") == "1" {
		rounds = 2000
	}
	for i := range rounds {
		rules := map[string]string{".gitignore": randomRules(rnd), "a/.gitignore": randomRules(rnd), ".git/info/exclude": randomRules(rnd)}
		write(t, repo, rules)
		if got, want := ourFiles(t, repo), gitFiles(t, git, repo); got != want {
			t.Fatalf("round %d: rules %q\n git %s\nours %s", i, rules, want, got)
		}
	}
}

func pick(rnd *rand.Rand, from ...string) string { return from[rnd.IntN(len(from))] }

func randomRules(rnd *rand.Rand) string {
	var b strings.Builder
	for range rnd.IntN(5) {
		b.WriteString(pick(rnd, "", "", "!", "/", "!/", "**/"))
		for range 1 + rnd.IntN(4) {
			b.WriteString(pick(rnd, "a", "b", "f", ".", "*", "?", "**", "/", "[ab]", "[!a]", "[", "]", `\`, "-", "[a-c]", "a*", "*b",
				"/**/", "[[:upper:]]", "*.f", ".b"))
		}
		b.WriteString(pick(rnd, "\n", "\n", "/\n", "*\n", " \n"))
	}
	return b.String()
}

// naive matches a rule's pattern the plain way, by trying everything, with no compiling. steps bounds it.
func naive(p, s string, whole, first bool, steps *int) bool {
	if *steps--; *steps < 0 {
		return false
	}
	if p == "" {
		return s == ""
	}
	switch p[0] {
	case '*':
		rest := strings.TrimLeft(p, "*")
		if deep := len(p)-len(rest) > 1 && first && whole; deep && (rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`)) {
			if rest == "" || rest[0] == '/' && naive(rest[1:], s, whole, true, steps) {
				return true
			}
			for i := range len(s) + 1 {
				if naive(rest, s[i:], whole, false, steps) {
					return true
				}
			}
			return false
		}
		for i := 0; ; i++ {
			if naive(rest, s[i:], whole, false, steps) {
				return true
			}
			if i == len(s) || s[i] == '/' {
				return false
			}
		}
	case '?':
		return s != "" && s[0] != '/' && naive(p[1:], s[1:], whole, false, steps)
	case '[':
		in, n := naiveClass(p, s)
		return n > 0 && s != "" && s[0] != '/' && in && naive(p[n:], s[1:], whole, false, steps)
	case '\\':
		if p = p[1:]; p == "" {
			return false
		}
	}
	return s != "" && s[0] == p[0] && naive(p[1:], s[1:], whole, p[0] == '/', steps)
}

// naiveClass evaluates the class at the start of p for the first byte of s, and tells the class's length.
func naiveClass(p, s string) (bool, int) {
	var c byte
	if s != "" {
		c = s[0]
	}
	i, in, last := 1, false, -1
	negated := len(p) > 1 && (p[1] == '!' || p[1] == '^')
	if negated {
		i++
	}
	for start := i; i < len(p); i++ {
		switch {
		case p[i] == ']' && i > start:
			return in != negated, i + 1
		case p[i] == '-' && last >= 0 && i+1 < len(p) && p[i+1] != ']':
			if i++; p[i] == '\\' {
				i++
			}
			if i == len(p) {
				return false, 0
			}
			in = in || byte(last) <= c && c <= p[i]
			last = -1
			continue
		case strings.HasPrefix(p[i:], "[:") && strings.Contains(p[i+2:], "]"):
			end := i + 2 + strings.IndexByte(p[i+2:], ']')
			if p[end-1] != ':' || end == i+2 {
				break
			}
			spans, ok := posix[p[i+2:end-1]]
			if !ok {
				return false, 0
			}
			in = in || slices.ContainsFunc(spans, func(s span) bool { return s.lo <= rune(c) && rune(c) <= s.hi })
			i, last = end, -1
			continue
		case strings.HasPrefix(p[i:], "[:"):
			return false, 0
		case p[i] == '\\':
			if i++; i == len(p) {
				return false, 0
			}
		}
		in = in || c == p[i]
		last = int(p[i])
	}
	return false, 0
}

// FuzzIgnore compares the compiled rules with the naive matcher, rule by rule.
func FuzzIgnore(f *testing.F) {
	for _, c := range ruleCases {
		for file := range names(c.files) {
			f.Add(c.rules, file, false)
		}
	}
	f.Add("**/a/**/b/**/c\n", "x/a/y/b/c/c", true)
	f.Add("a*b*c\n/a[!-z]**/\\*", "aab/c", true)
	f.Fuzz(func(t *testing.T, text, path string, isDir bool) {
		path = strings.Trim(path, "/")
		if path == "" || strings.Contains(path, "//") || len(path) > 100 || len(text) > 200 {
			t.Skip()
		}
		dir, base := filepath.Split(path)
		dir = strings.TrimSuffix("/"+dir, "/")
		got := noRule
		if rs := parseRules([]byte(text)); rs != nil {
			got = rs.match(&target{dir: dir, name: base, isDir: isDir}, 1)
		}
		want := noRule
		for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
			line = strings.TrimSuffix(line, "\r")
			if strings.HasPrefix(line, "#") {
				continue
			}
			p, negated := strings.CutPrefix(trimBlanks(line), "!")
			p, dirOnly := strings.CutSuffix(p, "/")
			s, whole := base, strings.Contains(p, "/")
			if whole {
				p, s = strings.TrimPrefix(p, "/"), path
			}
			// What git compares as plain text first.
			plain := max(strings.IndexAny(p, special), 0)
			steps := 100_000
			hit := p != "" && strings.HasPrefix(s, p[:plain]) && naive(p[plain:], s[plain:], whole, true, &steps)
			switch {
			case steps < 0:
				t.Skip()
			case !hit || dirOnly && !isDir:
			case negated:
				want = takenBack
			default:
				want = leftOut
			}
		}
		if got != want {
			t.Errorf("rules %q, path %q (directory: %t): got %d, want %d", text, path, isDir, got, want)
		}
	})
}

// Hostile patterns cost no more than patient ones.
func TestHostileRules(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a/", 1000) + strings.Repeat("a", 200)
	for _, p := range []string{strings.Repeat("*a", 100) + "b", strings.Repeat("**/a/", 100) + "b", strings.Repeat("**/*a*/", 100) + "b"} {
		rs := parseRules([]byte(p + "\n"))
		if v := rs.match(&target{dir: "", name: long}, 1); v != noRule {
			t.Errorf("%.20s: %d", p, v)
		}
	}
}

func TestBigRuleFile(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("# filler\n", maxRuleFile/9-1) + "a\nb" + strings.Repeat("c", 20) + "\n"
	rs := parseRules([]byte(text + "d\n"))
	if rs == nil || len(rs.list) != 1 || rs.list[0].text != "a" {
		t.Errorf("%+v", rs)
	}
	if rs := parseRules([]byte(strings.Repeat("a", maxRule+1))); rs != nil {
		t.Error("a rule longer than any path")
	}
}

package search

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ripgrep returns the path of the oracle, version 15 or later: $RG, or rg in the path.
func ripgrep(t *testing.T) string {
	t.Helper()
	missing := t.Skip
	if os.Getenv("FERRULE_CI") == "1" {
		missing = t.Fatal
	}
	rg := os.Getenv("RG")
	if rg == "" {
		var err error
		if rg, err = exec.LookPath("rg"); err != nil {
			missing("ripgrep is not installed, and RG does not name it")
		}
	}
	out, err := exec.Command(rg, "--version").Output()
	var major int
	if _, e := fmt.Sscanf(string(out), "ripgrep %d.", &major); err != nil || e != nil || major < 15 {
		missing(fmt.Sprintf("%s is no ripgrep 15: %.20q", rg, out))
	}
	return rg
}

// runRG returns what ripgrep prints in dir; ok is false when it refuses the pattern.
func runRG(t *testing.T, rg, dir string, args ...string) (out string, ok bool) {
	t.Helper()
	cmd := exec.Command(rg, append([]string{"--no-config", "-j1", "--hidden", "--no-ignore", "--sort=path", "--color=never", "--no-heading"}, args...)...)
	cmd.Dir = dir
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if cmd.ProcessState.ExitCode() == 2 {
		return "", false
	}
	return stdout.String(), true
}

// TestDialectOracle holds the table of the dialect against ripgrep: it refuses what the table says, and matches the same
// lines otherwise.
func TestDialectOracle(t *testing.T) {
	t.Parallel()
	rg := ripgrep(t)
	var all []string
	for _, c := range dialect {
		all = append(all, strings.Split(c.yes+"|"+c.no, "|")...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	text := strings.Join(all, "\n") + "\n"
	dir := t.TempDir()
	write(t, dir, "f", text)
	for _, c := range dialect {
		out, ok := runRG(t, rg, dir, "-n", "-e", c.pattern, "f")
		if ok != (c.how != "error") {
			t.Errorf("%q: ripgrep accepts it: %v", c.pattern, ok)
		}
		if !ok || c.how == "differs" {
			continue
		}
		var got strings.Builder
		for _, n := range matching(t, mustCompile(t, c.pattern, PatternOptions{}), text) {
			fmt.Fprintf(&got, "%d:%s\n", n, all[n-1])
		}
		if got.String() != out {
			t.Errorf("%q: lines\n%swant\n%s", c.pattern, got.String(), out)
		}
	}
}

// TestErrorsOracle: what is refused here is refused by ripgrep, too.
func TestErrorsOracle(t *testing.T) {
	t.Parallel()
	rg := ripgrep(t)
	dir := t.TempDir()
	write(t, dir, "f", "x\n")
	for _, p := range []string{`foo(`, `*foo`, `a|*`, `a)`, `[a`, `[z-a]`, `[a-\d]`, `[\b]`, `a{2,1}`, `(?=a)`, `(a)\1`, `\0`, `\Qa\E`, `\Z`,
		`\é`, `a\`, `\p{Foo}`, `\xZZ`, `\b{foo}`, `(?q)`, `(?ii)`, `(?-)`, `(?P<a>x)(?P<a>y)`, `(?)`, `(?i`, `(?i)*`, `((a{1000}){1000}){1000}`} {
		if _, err := Compile(p, PatternOptions{}); err == nil {
			t.Errorf("%q compiles", p)
		}
		if _, ok := runRG(t, rg, dir, "-e", p, "f"); ok {
			t.Errorf("ripgrep accepts %q", p)
		}
	}
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	p := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

var treePatterns = []string{
	`func`, `func \(\w+ \*?\w+\) \w+\(`, `TODO|FIXME`, `^import`, `\berr\b`, `return .*nil`, `[A-Z]{3,}_[a-z]+`, `x`, `\d+\.\d+`, `^\s*$`,
	`foo|ba[rz]`, `(a|b)+c$`, `\p{Han}`, `if err != nil \{$`, `^\t+return$`, `é|ü`, `\B_\w`, `^$`, `a.b`, `[^a-z]q`, `\p{Greek}`,
	`0x[0-9A-F]{2}\b`, `[é-ü][a-z]`, `kelvin`, `(?i)sk`, `\x{1F600}|ß`, `\bé`, `\w+é\b`, `err.*\bnil\b`, `;$`, `[^;]$`, `a\s+b`, ``, `.`, `\W$`,
	`nil\b{end}`, `\<a`, `needle`, `x{2,}`, `[[:upper:]][[:lower:]]+`, `-o`, `^(.)(.*)$`,
}

// words makes lines that the patterns above match now and then.
var words = strings.Fields(`func import return err nil TODO FIXME foo bar baz é ü naïve été 中文 αβγ x xx a.b a b 3.14 0xFF 0xAB1 SNAKE_case
	_x q _ { } if != ; ! kelvin sKip Kelvin 😀 ß needle -o aab abc Abc`)

// randomTree makes files of random text in dir and returns their names in path order.
func randomTree(t testing.TB, dir string, seed uint64) (names []string) {
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range 40 {
		name := fmt.Sprintf("f%02d", i)
		switch i % 4 {
		case 2:
			name = "a/" + name
		case 3:
			name = "b/c/" + name
		}
		var b strings.Builder
		end := "\n"
		if i%7 == 0 {
			end = "\r\n"
		}
		for range r.IntN(60) {
			for k := range r.IntN(8) {
				if k > 0 {
					b.WriteString([]string{" ", "\t", "", ", "}[r.IntN(4)])
				}
				b.WriteString(words[r.IntN(len(words))])
			}
			if i%5 == 0 && r.IntN(10) == 0 {
				b.WriteString("\xff\xfea")
			}
			b.WriteString(end)
		}
		text := b.String()
		if i%3 == 0 {
			text = strings.TrimSuffix(text, end)
		}
		write(t, dir, name, text)
		names = append(names, name)
	}
	slices.SortFunc(names, pathOrder)
	return names
}

// pathOrder sorts the files of a directory before its subdirectories.
func pathOrder(a, b string) int {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	for i := range min(len(x), len(y)) {
		if lastX, lastY := i == len(x)-1, i == len(y)-1; lastX != lastY {
			if lastX {
				return -1
			}
			return 1
		}
		if c := strings.Compare(x[i], y[i]); c != 0 {
			return c
		}
	}
	return len(x) - len(y)
}

// sorted puts blocks of lines, which begin with a file's name, in order, so that it does not matter how files are ordered.
func sorted(text string) string {
	lines := strings.SplitAfter(text, "\n")
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(nameEnd.FindString(a), nameEnd.FindString(b)) })
	return strings.Join(lines, "")
}

var nameEnd = regexp.MustCompile(`^(?:[a-z]/)*f\d\d`)

// TestTreeOracle compares files, counts and lines on generated trees with ripgrep.
func TestTreeOracle(t *testing.T) {
	t.Parallel()
	rg := ripgrep(t)
	dir := t.TempDir()
	names := randomTree(t, dir, 1)
	for i, pattern := range treePatterns {
		for _, fold := range []bool{false, true} {
			if fold && i%3 > 0 {
				continue
			}
			common := []string{"--crlf", "-e", pattern, "."}
			if fold {
				common = append([]string{"-i"}, common...)
			}
			p := mustCompile(t, pattern, PatternOptions{IgnoreCase: fold})
			check := func(q Query, flags ...string) {
				t.Helper()
				q.Pattern, q.MaxChars, q.Numbers = p, 1<<30, true
				f := find(t, dir, names, q)
				out, ok := runRG(t, rg, dir, append(flags, common...)...)
				if !ok {
					t.Fatalf("ripgrep refuses %q", pattern)
				}
				want := strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(out, "\r", ""), "\n./", "\n"), "\xff\xfe", "\uFFFD\uFFFD")
				want = strings.TrimPrefix(want, "./")
				if got := strings.ReplaceAll(f.Text, "--\n", ""); sorted(got) != sorted(want) {
					t.Errorf("%q fold=%v %q:\n%s", pattern, fold, flags, difference(sorted(got), sorted(want)))
				}
			}
			check(Query{Mode: Content}, "-n")
			switch i % 4 {
			case 0:
				check(Query{Mode: FilesWithMatches}, "-l")
			case 1:
				check(Query{Mode: Count}, "-c")
			case 2:
				check(Query{Mode: Content, Before: 2, After: 1}, "-n", "-B2", "-A1", "--no-context-separator")
			}
		}
	}
}

// difference shows the first lines that differ.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "", ""
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d: got %q, want %q (%d and %d lines)", i+1, a, b, len(g), len(w))
		}
	}
	return "no difference"
}

// randomPattern makes a pattern of the dialect. (?-u:\W) is left out: ripgrep lets it match a part of a character.
func randomPattern(r *rand.Rand, depth int) string {
	atoms := []string{"a", "b", "x", "é", "ß", "中", " ", "_", "-", "1", "K", "s", ".", `\w`, `\W`, `\d`, `\s`, `\S`, `\b`, `\B`, `\<`, `\>`, "^", "$",
		"[a-c]", "[^b]", "[ax-]", `[\w--a]`, `[^\s_]`, "[[:alpha:]]", `\p{L}`, `\PL`, `(?-u:\w)`, `(?-u:\b)`, "ab", "xx", "(?i:k)", "(?i:S)"}
	var b strings.Builder
	for range 1 + r.IntN(4) {
		item := atoms[r.IntN(len(atoms))]
		if depth > 0 {
			switch r.IntN(6) {
			case 0:
				item = "(" + randomPattern(r, depth-1) + ")"
			case 1:
				item = "(?:" + randomPattern(r, depth-1) + "|" + randomPattern(r, depth-1) + ")"
			case 2:
				item = "(?i:" + randomPattern(r, depth-1) + ")"
			}
		}
		b.WriteString(item)
		if r.IntN(3) == 0 {
			b.WriteString([]string{"*", "+", "?", "{2}", "{1,3}", "{0,2}", "*?", "+?", "??", "{2,}?"}[r.IntN(10)])
		}
	}
	return b.String()
}

// TestRandomOracle compares lines and matched parts of random patterns with ripgrep, line by line and across lines.
func TestRandomOracle(t *testing.T) {
	t.Parallel()
	rg := ripgrep(t)
	rounds := 25
	if os.Getenv("FERRULE_NIGHTLY") == "1" {
		rounds = 2000
	}
	r := rand.New(rand.NewPCG(7, 8))
	var b strings.Builder
	for range 120 {
		for range r.IntN(12) {
			b.WriteString([]string{"a", "b", "c", "x", "é", "ß", "ẞ", "中", " ", "_", "-", "1", "K", "k", "\u212a", "s", "S", "ſ", "ab", "\t", "٣"}[r.IntN(21)])
		}
		b.WriteByte('\n')
	}
	dir := t.TempDir()
	write(t, dir, "f", b.String())
	for i := range rounds {
		p := randomPattern(r, 2)
		compiled, err := Compile(p, PatternOptions{Multiline: i%2 == 1})
		if err != nil {
			t.Errorf("%q: %v", p, err)
			continue
		}
		args := []string{"-n", "-e", p, "f"}
		if i%2 == 1 {
			args = append([]string{"-U", "--multiline-dotall"}, args...)
		}
		q := Query{Pattern: compiled, Mode: Content, Numbers: true, Single: true, MaxChars: 1 << 30}
		if q.Only = i%4 >= 2; q.Only {
			args = append([]string{"-o"}, args...)
		}
		want, ok := runRG(t, rg, dir, args...)
		if !ok {
			t.Errorf("ripgrep refuses %q", p)
			continue
		}
		got := find(t, dir, []string{"f"}, q).Text
		if q.Only { // ripgrep shows empty matches
			got, want = emptyEntry.ReplaceAllString(got, ""), emptyEntry.ReplaceAllString(want, "")
		}
		if got != want && p != laterMatch {
			t.Errorf("%q %q: %s", p, args, difference(got, want))
		}
	}
}

// laterMatch is a pattern for which ripgrep 15 shows another match than the leftmost; PCRE2 and regexp show what we do.
const laterMatch = `(?i:(?i:\p{L}{2})+){0,2}[ax-]`

var emptyEntry = regexp.MustCompile(`(?m)^\d+:\n`)

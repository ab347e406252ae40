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
	"unicode/utf8"
)

// goroot returns the place of the toolchain.
func goroot(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no toolchain here: ", err)
	}
	return strings.TrimSpace(string(out))
}

// sources returns Go files of the toolchain, up to so many bytes, as one text.
func sources(t testing.TB, size int) []byte {
	t.Helper()
	root := goroot(t)
	var b []byte
	for _, sub := range []string{"net/http", "go/types", "runtime", "crypto/tls", "cmd/compile/internal/ssa"} {
		files, _ := filepath.Glob(filepath.Join(root, "src", sub, "*.go"))
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if b = append(b, text...); len(b) >= size {
				return b[:bytes.LastIndexByte(b[:size], '\n')+1]
			}
		}
	}
	if len(b) == 0 {
		t.Skip("the toolchain has no sources here")
	}
	return b
}

// TestAgainstStdlib compares every line of real text with the standard library, with and without case. The classes that
// differ between the two are spelled out for it.
func TestAgainstStdlib(t *testing.T) {
	t.Parallel()
	text := sources(t, 80<<10)
	for _, pattern := range treePatterns {
		if strings.Contains(pattern, `\b`) || strings.Contains(pattern, `\<`) || strings.Contains(pattern, `\B`) {
			continue
		}
		for _, fold := range []bool{false, true} {
			p := mustCompile(t, pattern, PatternOptions{IgnoreCase: fold})
			var got []int
			newScanner(p, nil).lines(text, 0, func(start, _ int) bool { got = append(got, start); return true })
			std := strings.NewReplacer(`\w`, `[\pL\pM\p{Nd}\p{Nl}\p{Pc}]`, `\W`, `[^\pL\pM\p{Nd}\p{Nl}\p{Pc}]`, `\d`, `\p{Nd}`).Replace(pattern)
			if fold {
				std = "(?i)" + std
			}
			re := regexp.MustCompile(std)
			var want []int
			at := 0
			for line := range bytes.Lines(text) {
				if re.Match(bytes.TrimSuffix(line, []byte("\n"))) {
					want = append(want, at)
				}
				at += len(line)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q fold=%v: %d lines, want %d", pattern, fold, len(got), len(want))
			}
		}
	}
}

// TestBlowUp runs past the limits of the table, without what the line could be found by.
func TestBlowUp(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for range 1000 {
		for range 100 {
			b.WriteByte("ababababababababababababababababababababc"[r.IntN(41)])
		}
		b.WriteByte('\n')
	}
	for _, pattern := range []string{`(a|b)*a(a|b){19}c`, `a[ab]{22}a$`, `(a|b)*a(a|b){90}`} {
		p := mustCompile(t, pattern, PatternOptions{})
		p.needles, p.exact = nil, false
		s, got := newScanner(p, nil), 0
		s.lines(b.Bytes(), 0, func(int, int) bool { got++; return true })
		re, want := regexp.MustCompile(pattern), 0
		for line := range bytes.Lines(b.Bytes()) {
			if re.Match(bytes.TrimSuffix(line, []byte("\n"))) {
				want++
			}
		}
		if got != want {
			t.Errorf("%q: %d lines, want %d", pattern, got, want)
		}
		if s.dfa.resets <= 3 { // else the rest was simulated
			t.Errorf("%q: the limit was not reached", pattern)
		}
		if n := cap(s.dfa.table); n > 2*maxTable+fresh*s.dfa.stride {
			t.Errorf("%q: the table has %d entries", pattern, n)
		}
	}
}

// TestGivesUp: a search that costs much asks in good time whether to stop.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	p := mustCompile(t, `(a|b)*a(a|b){2000}d`, PatternOptions{})
	p.needles = nil
	text := make([]byte, 1<<20)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range text {
		text[i] = "ab"[r.IntN(2)]
	}
	asked := 0
	s := newScanner(p, func() bool { asked++; return asked > 3 })
	s.lines(text, 0, func(int, int) bool { t.Error("a match"); return true })
	if !s.stopped() || asked != 4 {
		t.Errorf("asked %d times, stopped %v", asked, s.stopped())
	}
}

// TestSpans compares leftmost spans with the standard library.
func TestSpans(t *testing.T) {
	t.Parallel()
	text := sources(t, 40<<10)
	for _, pattern := range []string{`func`, `f.*?\(`, `[a-z]+`, `(?s)func.*?\n}`, `(a|ab)(c|bcd)?`, `x*`, `^\t.*$`, `(|a)+b`, `(|a)*`, `(|e)*?t`, `(|r){2,}e`, `(a*)+`, `(a|b)*?c`, `\n\n`,
		`[^\n]*err[^\n]*\n`, `(?U)a.*e`, `a??b`, `(a{2,3}?)`, `\A.*`, `(foo|foobar|fo)`, `e?e`, `.{3,7}?;`, `(?:a|(?:b|))*c`} {
		p := mustCompile(t, pattern, PatternOptions{Multiline: true})
		p.across = true
		p.prog = compile(parsed(t, pattern), false, false)
		var got [][]int
		newScanner(p, nil).matchesIn(text, 0, func(start, end int) bool { got = append(got, []int{start, end}); return true })
		empty := func(m []int) bool { return m[0] == m[1] }
		got = slices.DeleteFunc(got, empty)
		want := slices.DeleteFunc(regexp.MustCompile(`(?ms)`+pattern).FindAllIndex(text, -1), empty)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || !slices.Equal(got[i], want[i]) {
				t.Errorf("%q: span %d of %d is %v, want %v of %d", pattern, i, len(got), got[min(i, len(got)):min(i+1, len(got))],
					want[min(i, len(want)):min(i+1, len(want))], len(want))
				break
			}
		}
	}
}

// parsed reads a pattern as Compile does with Multiline set.
func parsed(t testing.TB, pattern string) *node {
	n, err := (&parser{src: pattern, flags: flags{multi: true, dotNL: true}}).parse()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNeedle(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"a", "ab", "needle", "err != nil", "x_y", "éa"} {
		for _, fold := range []bool{false, true} {
			if fold && s[0] >= utf8.RuneSelf {
				continue // É is no ASCII case of é
			}
			nd := newNeedle(literal{s, fold})
			for pos := range 70 {
				h := bytes.Repeat([]byte("eN"), pos/2+1)[:pos]
				want := 0
				if fold {
					h = append(h, strings.ToUpper(s)+"xx"...)
					want = bytes.Index(bytes.ToLower(h), []byte(s))
				} else {
					h = append(h, s+"xx"...)
					want = bytes.Index(h, []byte(s))
				}
				if got := nd.index(h); got != want {
					t.Fatalf("%q fold=%v in %q: %d, want %d", s, fold, h, got, want)
				}
			}
			if got := nd.index([]byte("cdfg")); got != -1 {
				t.Errorf("%q: %d in a text without it", s, got)
			}
			if got := nd.index(nil); got != -1 {
				t.Errorf("%q: %d in nothing", s, got)
			}
		}
	}
}

// TestPrefilter: what is looked for first, and that it is never more than what must be there.
func TestPrefilter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, want string
		exact         bool
	}{
		{`needle`, "[{needle false}]", true},
		{`foo|bar`, "[{foo false} {bar false}]", true},
		{`fo[ox]`, "[{foo false} {fox false}]", true},
		{`a.*needle.*b`, "[{needle false}]", false},
		{`\bword\b`, "[{word false}]", false},
		{`(?i)cafe`, "[{cafe true}]", true},
		{`(?i)task_id`, "[{_id true}]", false},
		{`(ab)+`, "[{ab false}]", false},
		{`(ab){2}`, "[{abab false}]", true},
		{`(ab)*`, "[]", false},
		{`a?b?`, "[]", false},
		{`foo|x*`, "[]", false},
		{`[a-z]+`, "[]", false},
		{`^$`, "[]", false},
		{`(?i:a)Bc`, "[{Bc false}]", false},
		{`x(|y)z`, "[{xz false} {xyz false}]", true},
		{`(foo|bar)baz`, "[{foobaz false} {barbaz false}]", true},
		{`if err != nil \{$`, "[{if err != nil { false}]", false},
		{`中文`, "[{中文 false}]", true},
		{`[\x{FFFD}]`, "[]", false},
	} {
		n, err := (&parser{src: c.pattern, flags: flags{multi: true}}).parse()
		if err != nil {
			t.Fatal(err)
		}
		l := prefilter(n)
		if got := fmt.Sprint(l.group); got != c.want || l.exact != c.exact {
			t.Errorf("%q: %s exact=%v, want %s exact=%v", c.pattern, got, l.exact, c.want, c.exact)
		}
	}
}

// BenchmarkLines searches 10 MB of source text; regexp runs over the same lines.
func BenchmarkLines(b *testing.B) {
	text := sources(b, 10<<20)
	for _, pattern := range []string{`podSandboxChanged`, `return`, `if err != nil \{$`, `TODO|FIXME|XXX`, `(?i)unsafe`, `\berr\b`, `[A-Z]{3,}_[a-z]+`, `^\s*$`,
		`func \(\w+ \*?\w+\) \w+\(`, `\w+\[\d\]`, `\p{Greek}`, `(a|b)*a(a|b){14}c`} {
		p := mustCompile(b, pattern, PatternOptions{})
		b.Run("own/"+pattern, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				newScanner(p, nil).lines(text, 0, func(int, int) bool { return true })
			}
		})
		re := regexp.MustCompile(pattern)
		b.Run("regexp/"+pattern, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				for line := range bytes.Lines(text) {
					re.Match(line)
				}
			}
		})
	}
}

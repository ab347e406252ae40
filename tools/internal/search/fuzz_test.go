package search

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// agrees reports whether a pattern means the same to the standard library, on ASCII text.
func agrees(pattern string) bool {
	for _, s := range []string{"&&", "--", "~~", `\<`, `\>`, `\b{`, `\B{`, `\Q`, `\C`, `\p`, `\P`, "[[", "(?", "{,", "{ ", " }", " ,", ", ", "\r", "[:"} {
		if strings.Contains(pattern, s) {
			return false
		}
	}
	if k := strings.IndexByte(pattern, '['); k >= 0 && strings.ContainsAny(pattern[k+1:], "[&-~") && strings.Count(pattern, "[") > 1 {
		return false
	}
	return !strings.ContainsFunc(pattern, func(r rune) bool { return r >= utf8.RuneSelf })
}

// FuzzMatcher compares the first span and the matching lines with the standard library where both mean the same.
func FuzzMatcher(f *testing.F) {
	for _, p := range treePatterns {
		f.Add(p, "func foo(a, b int) error {\n\treturn nil // TODO\n}\nxx 3.14", false)
	}
	for _, p := range []string{`(|a)+b`, `(a*)*`, `(a|b)*a(a|b){3}c`, `a{0,3}?`, `^a|b$|\Ac`, `\bx\B`, `(a?){3}`, `[^\n]+\n`, `a||b`, `(?:)`} {
		f.Add(p, "aab\nabc b\n\ncx", true)
	}
	f.Fuzz(func(t *testing.T, pattern, text string, fold bool) {
		if len(pattern) > 60 || len(text) > 300 || !agrees(pattern) || strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf || r == '\r' }) {
			return
		}
		pre := "(?ms)"
		if fold {
			pre = "(?msi)"
		}
		re, err := regexp.Compile(pre + "(?:" + pattern + ")")
		if err != nil {
			return
		}
		p, err := Compile(pattern, PatternOptions{IgnoreCase: fold, Multiline: true})
		if err != nil {
			return
		}
		b := []byte(text)
		s := newScanner(p, nil)
		if p.across {
			want := re.FindIndex(b)
			start, end, ok := s.find(b, 0)
			if ok != (want != nil) || ok && (start != want[0] || end != want[1]) {
				t.Fatalf("%q on %q: %d %d %v, want %v", pattern, text, start, end, ok, want)
			}
			if len(p.needles) > 0 && ok && s.candidate(b, 0) < 0 {
				t.Fatalf("%q on %q: the prefilter misses the match", pattern, text)
			}
			return
		}
		var got []int
		s.lines(b, 0, func(start, end int) bool {
			got = append(got, start)
			line := b[start:end]
			from, to, ok := s.find(line, 0)
			if want := re.FindIndex(line); !ok || want == nil || from != want[0] || to != want[1] {
				t.Fatalf("%q on line %q: %d %d %v, want %v", pattern, line, from, to, ok, want)
			}
			return true
		})
		var want []int
		at := 0
		for line := range strings.Lines(text) {
			if re.MatchString(strings.TrimSuffix(line, "\n")) {
				want = append(want, at)
			}
			at += len(line)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q on %q: lines at %v, want %v", pattern, text, got, want)
		}
	})
}

// FuzzPattern: no pattern makes the reader or the matcher panic, the table and the simulation agree, and every text can be
// searched for by its escaped form.
func FuzzPattern(f *testing.F) {
	for _, c := range dialect {
		f.Add(c.pattern, strings.ReplaceAll(c.yes, "|", "\n"))
	}
	f.Add("(?-u)\\xff[^a]\\W.", "a\xffb\xc3")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 100 || len(text) > 300 {
			return
		}
		b := unixLines([]byte(text))
		p, err := Compile(pattern, PatternOptions{})
		if err == nil {
			agree(t, p, pattern, b)
		} else if err.Error() == "" {
			t.Fatalf("%q: an error without text", pattern)
		}
		line, _, _ := strings.Cut(text, "\n")
		if !utf8.ValidString(line) || strings.Contains(line, "\r") {
			return
		}
		q, err := Compile(regexp.QuoteMeta(line), PatternOptions{})
		if err != nil {
			t.Fatalf("%q escaped: %v", line, err)
		}
		if len(b) > 0 && len(matching(t, q, string(b))) == 0 {
			t.Fatalf("%q is not found in %q", line, b)
		}
	})
}

// agree compares the lines that are found with those that the simulation finds.
func agree(t *testing.T, p *Pattern, pattern string, b []byte) {
	s := newScanner(p, nil)
	if p.across {
		s.spans(b, 0, len(b), func(int, int) bool { return true })
		return
	}
	found := map[int]bool{}
	s.lines(b, 0, func(start, _ int) bool { found[start] = true; return true })
	for start := 0; start < len(b); {
		_, end := lineAround(b, start)
		if line := b[start:end]; found[start] != s.simulated(line) {
			t.Fatalf("%q on %q: found %v", pattern, line, found[start])
		}
		start = end + 1
	}
}

package search

import (
	"strings"
	"testing"
)

// matching returns the numbers of the lines of text that match.
func matching(t testing.TB, p *Pattern, text string) (lines []int) {
	t.Helper()
	b := []byte(text)
	s := newScanner(p, nil)
	add := func(start, end int) bool {
		for n := strings.Count(text[:start], "\n"); n <= strings.Count(text[:max(start, end-1)], "\n"); n++ {
			if len(lines) == 0 || lines[len(lines)-1] < n+1 {
				lines = append(lines, n+1)
			}
		}
		return true
	}
	if p.across {
		s.spans(b, 0, len(b), add)
	} else {
		s.lines(b, 0, add)
	}
	return lines
}

func mustCompile(t testing.TB, pattern string, o PatternOptions) *Pattern {
	t.Helper()
	p, err := Compile(pattern, o)
	if err != nil {
		t.Fatalf("%q: %v", pattern, err)
	}
	return p
}

// dialect lists what a pattern matches, and what not. How says where ripgrep does not do the same: "error" if it refuses
// the pattern, "differs" if it reads it otherwise.
var dialect = []struct {
	pattern string
	yes, no string // lines, parted by |
	how     string
}{
	// Braces that begin no repetition.
	{`interface{}`, "x interface{} y", "interface|{}", "error"},
	{`a{`, "a{", "a", "error"},
	{`a{1`, "a{1", "a|a1", "error"},
	{`a{1,`, "a{1,", "a", "error"},
	{`{`, "{|a{b", "}", "error"},
	{`{ x`, "{ x", "{x", "error"},
	{`a{,3}`, "a{,3}", "aaa", "error"},
	{`a{,}`, "a{,}", "aaa", "error"},
	{`{3}`, "{3}", "aaa|3", "error"},
	{`(a|{2})b`, "{2}b|ab", "ccb2", "error"},
	{`${var}`, "", "${var}|{var}", "error"},
	{`\$\{var}`, "${var}", "var", ""},
	{`a{b,c}`, "a{b,c}", "ab", "error"},
	{`func() {`, "func {", "func() x", "error"},
	{`^{`, "{x", "x{", "error"},
	{`x{2}{`, "xx{", "x{", "error"},
	{`a}`, "a}", "a", ""},
	{`a{2}`, "aa|baab", "a|aba", ""},
	{`a{ 2 , 3 }b`, "aab", "ab|a{ 2 , 3 }b", ""},
	{`^a{2,}$`, "aa|aaaa", "a|aab", ""},
	{`^a{2}{3}$`, "aaaaaa", "aaaaa|aaaaaaa", ""},
	{`^a**$`, "|a|aa", "b", ""},
	{`^a++$`, "a|aa", "b|", ""},
	{`^a{0}b$`, "b", "ab", ""},
	{`^(ab){2,3}?$`, "abab|ababab", "ab|abababab", ""},

	// Word edges.
	{`\<foo\>`, "foo|a foo.", "food|afoo", ""},
	{`\<foo`, "foo|food", "afoo", ""},
	{`foo\>`, "foo|afoo", "food", ""},
	{`\b{start}foo\b{end}`, "foo|(foo)", "food|afoo", ""},
	{`\b{start-half}foo`, "foo|food", "afoo", ""},
	{`foo\b{end-half}`, "foo|afoo", "food", ""},
	{`\bfoo\b`, "foo|a-foo-b", "food|äfoo|fooé", ""},
	{`\Bfoo`, "afoo|äfoo", "foo| foo", ""},
	{`(?-u:\b)foo`, "foo|äfoo", "afoo", ""},
	{`(?-u)\<foo\>`, "äfooé|foo", "afoo", ""},
	{`\b{2}x`, "x", "ax", ""},
	{`é\b`, "é|café.", "éa", ""},
	{`\b中\b`, "中|a 中 b", "中文", ""},

	// Classes.
	{`^[a-z&&[^b]]$`, "a|c", "b|A|&", ""},
	{`^[[a]b]$`, "a|b", "c|[|a]", ""},
	{`^[a-c--b]$`, "a|c", "b|-", ""},
	{`^[a-c~~b-d]$`, "a|d", "b|c|~", ""},
	{`^[\w--\d]$`, "a|é|_", "5|-", ""},
	{`^[\w&&[^\d_]--a]$`, "b|é", "a|5|_", ""},
	{`^[^\w\s]$`, "-|.", "a| ", ""},
	{`^[]a]$`, "]|a", "b", ""},
	{`^[^]a]$`, "b|[", "]|a", ""},
	{`^[-a]$`, "-|a", "b", ""},
	{`^[a-]$`, "-|a", "b", ""},
	{`^[a\-z]$`, "-|a|z", "b", ""},
	{`^[--/]$`, "-|/", ".|a", ""},
	{`^[[:alpha:]_]$`, "a|Z|_", "1|é", ""},
	{`^[[:^alpha:]]$`, "1|é", "a", ""},
	{`^[\[\]]$`, "[|]", "a", ""},
	{`^[a&b]$`, "a|&|b", "c", ""},
	{`^[.*+]$`, ".|*|+", "a", ""},
	{`^[\x41-\u0043]$`, "A|C", "D", ""},
	{`^[[[:digit:]]&&[^5-9]]$`, "4", "5|a", ""},
	{`^[^[^a]]$`, "a", "b", ""},
	{`^[🎉-🎋]$`, "🎉|🎊", "a|é", ""},

	// Unicode.
	{`^\w+$`, "été|ñandú_1|中文|ß", "a b|é-", ""},
	{`^(?-u)\w+$`, "abc_1", "été|中文", ""},
	{`^\d$`, "5|٣|५", "a|½", ""},
	{`^(?-u:\d)$`, "5", "٣|a", ""},
	{`^\s$`, " |\t|\u00a0|\u2003", "a|\u200b", ""},
	{`^\W$`, "-|…", "é|a", ""},
	{`^\S$`, "é|x", " |\u00a0", ""},
	{`^\D$`, "a|é", "5|٣", ""},
	{`^\p{Greek}+$`, "αβγ", "abc", ""},
	{`^\p{sc=Greek}\p{sc!=Greek}$`, "αa", "αβ", "differs"}, // ripgrep 15 takes != for =
	{`^\p{Script=Grek}$`, "α", "a", ""},
	{`^\pL\PL$`, "é5", "55|éé", ""},
	{`^\p{Uppercase_Letter}\p{ll}$`, "Éa", "aA|AA", ""},
	{`^\p{White_Space}\p{Alphabetic}$`, "\u00a0é", "aa", ""},
	{`^\p{is_han}$`, "中", "a", ""},
	{`^[\p{Lu}\d]$`, "É|5", "a", ""},
	{`^[^\P{Lu}]$`, "É", "a|5", ""},
	{`^.$`, "é|中|🎉", "ab|", ""},
	{`^\u0066\u{6f}\U0000006f\x{21}\x41$`, "foo!A", "foo", ""},
	{`^\t\x20$`, "\t ", " ", ""},

	// Flags.
	{`(?i)straße`, "STRAßE|Straße|STRAẞE", "STRASSE", ""},
	{`(?i)kelvin`, "KELVIN|\u212Aelvin", "elvin", ""},
	{`(?i)sS`, "ss|\u017Fs", "s", ""},
	{`(?i:a)b`, "Ab|ab", "AB", ""},
	{`a(?i)b|c`, "aB|C|ab", "AB", ""},
	{`(?i)[x-z]`, "Y|y", "w", ""},
	{`(?i)[^x]$`, "y", "x|X", ""},
	{`(?i)^[ab~~A]$`, "b|B", "a|A", ""},
	{`(?i)\p{Lu}`, "a|A", "1", ""},
	{`(?i)é`, "É|é", "e", ""},
	{`(?-u)(?i)é`, "é", "É", ""},
	{`(?i-u:k)x`, "Kx|kx", "\u212Ax", ""},
	{"(?x) a b # comment\n c", "abc", "a b c", "comment"},
	{`(?x)[ a b ]\ c`, "a c|b c", "  c", ""},
	{`(?x) a {2}`, "aa", "a", ""},
	{`(?U)^a+?$`, "aaa", "b", ""},
	{`(?R)a.`, "ab", "a", ""},
	{`(?m)^a$`, "a", "ab", ""},
	{`(?s)a.b`, "axb", "ab", ""},
	{`(?P<n>a)(?<m>b)(?:c)`, "abc", "ab", ""},
	{`()`, "|a", "", ""},
	{`a||b`, "|a|x", "", ""},
	{``, "|a", "", ""},
	{`a(|b)c`, "ac|abc", "abbc", ""},

	// Anchors.
	{`\Aab\z`, "ab", "xab|abx", ""},
	{`^a|b$`, "ax|xb", "xa|bx", ""},
	{`(^|x)a`, "a|xa", "ya", ""},
	{`^*a`, "a|ba", "b", ""},
	{`a$b`, "", "ab|a$b", ""},
	{`^$`, "", "a", ""},
	{`(?-m)^a$`, "a", "ab", ""},

	// Escapes.
	{`\.\*\+\?\(\)\[\]\{\}\^\$\\`, `.*+?()[]{}^$\`, "x", ""},
	{`\#\&\-\~\/\"\'\ \!\%\,\:\;\=\@\_` + "\\`", `#&-~/"' !%,:;=@_` + "`", "x", ""},
	{`-77`, "x -77", "77", ""},
	{`->`, "a->b", "ab", ""},
	{`a\.b`, "a.b", "axb", ""},

	// Repetition beyond what regexp allows.
	{`^x{1001}$`, strings.Repeat("x", 1001), strings.Repeat("x", 1000) + "|" + strings.Repeat("x", 1002), ""},
	{`^(ab?){1500}$`, strings.Repeat("aba", 750), strings.Repeat("ab", 1499), ""},
	{`(a|b)*a(a|b){14}c`, "aabababababababac", "babababababababc|c", ""},
}

func TestDialect(t *testing.T) {
	t.Parallel()
	for _, c := range dialect {
		p, err := Compile(c.pattern, PatternOptions{})
		if err != nil {
			t.Errorf("%q: %v", c.pattern, err)
			continue
		}
		for _, want := range []bool{true, false} {
			text := c.no
			if want {
				text = c.yes
			}
			if text == "" && (want || c.pattern != `^$`) {
				continue
			}
			for line := range strings.SplitSeq(text, "|") {
				if got := len(matching(t, p, line+"\n")) > 0; got != want {
					t.Errorf("%q on %q: match %v, want %v", c.pattern, line, got, want)
				}
			}
		}
	}
}

func TestPatternErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern string
		want    []string
	}{
		{`foo(`, []string{"`foo(`", "never closed", "at character 4", "use `foo\\(`"}},
		{`é(`, []string{"at character 2"}},
		{`*foo`, []string{"nothing for the * to repeat", "character 1", "`\\*foo`"}},
		{`a|*`, []string{"nothing for the * to repeat"}},
		{`(?i)*`, []string{"nothing for the * to repeat"}},
		{`(+)`, []string{"nothing for the + to repeat"}},
		{`?`, []string{"nothing for the ? to repeat"}},
		{`a)`, []string{"closes no group", "character 2", "`a\\)`"}},
		{`[a`, []string{"a class whose [ is never closed", "`\\[a`"}},
		{`[]`, []string{"never closed"}},
		{`[z-a]`, []string{"range z-a", "backwards"}},
		{`[a-\d]`, []string{`range a-\d`, `write \-`}},
		{`[\b]`, []string{`\b inside [ ]`}},
		{`a{2,1}`, []string{"{2,1}", "larger"}},
		{`a{99999999999999999999}`, []string{"repeats too often"}},
		{`(?=a)`, []string{"look-ahead", "does not have", "second search"}},
		{`(?!a)b`, []string{"negative look-ahead"}},
		{`x(?<=a)`, []string{"look-behind", "character 2"}},
		{`(?<!a)`, []string{"negative look-behind"}},
		{`(a)\1`, []string{`back-reference \1`, "spell the alternatives out"}},
		{`(?P=n)`, []string{"back-reference"}},
		{`(?>a)`, []string{"atomic group"}},
		{`(?#c)`, []string{"comment"}},
		{`\0`, []string{`\0`, `\x00`}},
		{`\Qa.b\E`, []string{`\Q`, "escape each special character"}},
		{`\Z`, []string{`\Z`, `\z`}},
		{`\h`, []string{`[ \t]`}},
		{`\é`, []string{`\é, which is no escape`}},
		{`a\`, []string{`\ at the end`}},
		{`\p{Foo}`, []string{`\p{Foo}`, "no property"}},
		{`\p{Lu`, []string{"never closed"}},
		{`\xZZ`, []string{`\xZZ`}},
		{`\x{110000}`, []string{"no Unicode character"}},
		{`\x{D800}`, []string{"no Unicode character"}},
		{`\u12`, []string{`\u12`}},
		{`\b{foo}`, []string{`\b{foo}`, "start-half"}},
		{`(?q)`, []string{`"q"`, "no flag"}},
		{`(?ii)`, []string{"twice"}},
		{`(?-)`, []string{"flags are missing"}},
		{`(?)`, []string{"flags are missing"}},
		{`(?i`, []string{"never closed"}},
		{`(?P<a>x)(?P<a>y)`, []string{"used twice"}},
		{`(?P<>x)`, []string{"empty"}},
		{`(?P<1>x)`, []string{"group name"}},
		{strings.Repeat("(", 300), []string{"more than 250 groups"}},
		{strings.Repeat("[", 300), []string{"more than 250 classes"}},
		{`((a{1000}){1000}){1000}`, []string{"too large", "lower the counts"}},
		{"a\xff", []string{"not valid UTF-8"}},
		{strings.Repeat("a", maxPattern+1), []string{"100,001 characters"}},
	} {
		_, err := Compile(c.pattern, PatternOptions{})
		if err == nil {
			t.Errorf("%.40q compiles", c.pattern)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%.40q: %q does not say %q", c.pattern, err, w)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: the error has several lines", c.pattern)
		}
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, note string }{
		{`foo`, ""},
		{`a{2}`, ""},
		{`[{]`, ""},
		{`\{`, ""},
		{`interface{}`, "read `{}` as literal text"},
		{`a{`, "read `{` as literal text"},
		{`map[string]x{ "a": 1, "b": 2 }`, "read `{` as literal text"},
		{`a\nb`, "matches may cross lines"},
		{"a\nb", "matches may cross lines"},
		{`a[\r\n]+b`, "matches may cross lines"},
		{`a[^\n]*b`, ""},
		{`a\x0Ab`, "matches may cross lines"},
		{`[\n ]`, ""},
	} {
		note := mustCompile(t, c.pattern, PatternOptions{}).Note()
		if !strings.HasPrefix(note, c.note) && !strings.Contains(note, c.note) || (note == "") != (c.note == "") {
			t.Errorf("%q: note %q, want %q", c.pattern, note, c.note)
		}
	}
}

func TestMultiline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern   string
		multiline bool
		text      string
		want      string
	}{
		{`a\nb`, false, "a\nb\nab\n", "1 2"},
		{`a.*\nb`, false, "ax\nb\nac\n\nb\n", "1 2"}, // . stays in its line
		{`a.*b`, true, "xa\n\nbx\nb\n", "1 2 3 4"},
		{`a.*?b`, true, "xa\n\nbx\nb\n", "1 2 3"},
		{`a.b`, true, "a\nb\n", "1 2"},
		{`a.b`, false, "a\nb\n", ""},
		{`^b$`, true, "a\nb\nc", "2"},
		{`\Ab`, true, "a\nb\n", ""},
		{`\Aa`, true, "a\na\n", "1"},
		{`c\z`, true, "c\nc", "2"},
		{`c$`, true, "c\nc", "1 2"},
		{`a$\nb`, true, "a\nb", "1 2"},
		{`\s+x`, true, "a\n\n x\n", "1 2 3"},
		{`foo`, true, "foo\nbar\nfoo", "1 3"},
		{`(?s-m)^a.*z$`, true, "a\nb\nz", "1 2 3"},
		{`[^x]+`, true, "a\nb\nx\n", "1 2 3"},
		{`\n`, true, "a\nb", "1"},
		{`\n\n`, true, "a\n\nb", "1 2"},
		{`\n$`, true, "a\n", "1"},
	} {
		p := mustCompile(t, c.pattern, PatternOptions{Multiline: c.multiline})
		var got []string
		for _, n := range matching(t, p, c.text) {
			got = append(got, thousands(n))
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%q multiline=%v on %q: lines %q, want %q", c.pattern, c.multiline, c.text, g, c.want)
		}
	}
}

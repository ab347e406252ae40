package search

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding/simplifiedchinese"
)

func encode16(s string, big bool) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		if big {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return string(b)
}

// TestEncodings holds H010: what is searched is what Read shows.
func TestEncodings(t *testing.T) {
	t.Parallel()
	chinese := strings.Repeat("这是一个测试文件，里面有很多汉字。\n我们希望能够找到它。\n", 5)
	gbk, err := simplifiedchinese.GBK.NewEncoder().String(chinese)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, text, pattern, want string }{
		{"UTF-16LE", "\xff\xfeh\x00e\x00l\x00l\x00o\x00\n\x00w\x00o\x00r\x00l\x00d\x00\n\x00", "world", "2:world\n"},
		{"UTF-16BE", "\xfe\xff" + encode16("hello\r\nworld\r\n", true), `^world$`, "2:world\n"},
		{"UTF-16LE without mark", encode16("hello, this is a text\nworld of words\n", false), `^world`, "2:world of words\n"},
		{"UTF-8 mark", "\xef\xbb\xbffoo\nfoo\n", `^foo`, "1:foo\n2:foo\n"},
		{"UTF-8 mark and CRLF", "\xef\xbb\xbfa\r\nfoo\r\n", `^foo$`, "2:foo\n"},
		{"GBK", gbk, "希望", "2:我们希望能够找到它。\n4:我们希望能够找到它。\n6:我们希望能够找到它。\n8:我们希望能够找到它。\n10:我们希望能够找到它。\n"},
		{"unknown", "caf\xe9\x81\x01 bar\nfoo \x80\x02\n", "foo", "2:foo \uFFFD\\x02\n"},
		{"unknown, .", "\x80\x81\n", ".", ""},
		{"stray byte", strings.Repeat("é", 30) + "\nfoo \xff bar\n", `foo .* bar|foo`, "2:foo \uFFFD bar\n"},
		{"ASCII bytes", "a\xffb\n", `(?-u)a\xffb`, "1:a\uFFFDb\n"},
		{"any byte", "a\xffb\n", `(?-u)^a.b$`, "1:a\uFFFDb\n"},
		{"escape", "foo \x1b[31mred\x07\x7f\u0085\ttab\n", "red", "1:foo \\x1b[31mred\\x07\\x7f\\x85\ttab\n"},
		{"lone CR", "a\rb\n", "b", "1:a\\x0db\n"},
		{"CRLF", "hit\r\nhit \r\nhit\nhits\n", "hit$", "1:hit\n3:hit\n"},
		{"CRLF, class", "a;\r\nb\r\n", "[^;]$", "2:b\n"},
		{"CRLF, blank", "a\r\nb \r\n", `\s$`, "2:b \n"},
		{"CRLF, any", "ab\r\nabc\r\n", `^.{2}$`, "1:ab\n"},
		{"CR wanted", "a\r\nb\nc\r\n", `\r$`, "1:a\n3:c\n"},
		{"CR wanted, end", "a\rb\r\nb\nb", `\r?b$`, "1:a\\x0db\n2:b\n3:b\n"},
		{"CRLF, break", "a\r\nb\r\n", `a\nb`, "1:a\n2:b\n"},
		{"CRLF, break named", "a\r\nb\r\nb\n", `a\r\nb$`, "1:a\n2:b\n"},
		{"no text", "", "", ""},
		{"empty lines", "\n\n", "^$", "1:\n2:\n"},
	} {
		dir, names := makeTree(t, "f", c.text)
		f := grep(t, dir, names, c.pattern, Query{Mode: Content, Numbers: true, Single: true})
		if f.Text != c.want || f.Binary != 0 {
			t.Errorf("%s: %q finds\n%swant\n%s", c.name, c.pattern, f.Text, c.want)
		}
	}
}

func TestBinary(t *testing.T) {
	t.Parallel()
	dir, names := makeTree(t,
		"early", "foo\x00bar\n",
		"late", "foo\n"+strings.Repeat("x\n", 40_000)+"y\x00\nfoo\n",
		"text", "foo\n")
	f := grep(t, dir, names, "foo", Query{Mode: Content, Numbers: true})
	if f.Text != "late:1:foo\ntext:1:foo\n" || f.Binary != 1 || f.Opened != 3 {
		t.Errorf("%+v", f)
	}
	f = grep(t, dir, []string{"early"}, "foo", Query{Mode: Content, Numbers: true, Single: true})
	if f.Text != "1:foo\\x00bar\n" || f.Binary != 1 {
		t.Errorf("named: %+v", f)
	}
	f = grep(t, dir, []string{"late"}, "foo", Query{Mode: Content, Numbers: true, Single: true})
	if f.Text != "1:foo\n40003:foo\n" {
		t.Errorf("named, a late NUL: %+v", f)
	}
}

// TestPieces searches files that are larger than all buffers and compares the answer with that of usual buffers. In
// UTF-16, U+0A0A and U+0A00 hold bytes that look like line breaks.
func TestPieces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(3, 4))
	var names []string
	for i := range 30 {
		var b strings.Builder
		for range 10 + r.IntN(120) {
			for range r.IntN(6) {
				b.WriteString(words[r.IntN(len(words))])
				b.WriteString([]string{" ", " ", "ਊ", "\u0a00", "਀x"}[r.IntN(5)])
			}
			b.WriteString([]string{"\n", "\r\n"}[i%2])
		}
		text := b.String()
		switch i % 6 {
		case 3:
			text = "\xff\xfe" + encode16(text, false)
		case 4:
			text = "\xfe\xff" + encode16(text, true)
		case 5:
			text = "\xef\xbb\xbf" + text
		}
		name := fmt.Sprintf("f%02d", i)
		write(t, dir, name, text)
		names = append(names, name)
	}
	for _, pattern := range []string{`err`, `nil.{0,40}foo|^x`, `^$`, `\bé`, `\n\n`, `foo \n`, `x[^y]{1,9}x`, `\r\n`, `(?s:nil.{0,20}err)`} {
		for _, multiline := range []bool{false, true} {
			p := mustCompile(t, pattern, PatternOptions{Multiline: multiline})
			for i, q := range []Query{{}, {Mode: Count}, {Mode: Content, Numbers: true}, {Mode: Content, Numbers: true, Before: 3, After: 2},
				{Mode: Content, Numbers: true, Only: true}, {Mode: Content, Numbers: true, Before: 1, Offset: 20, Limit: 30}} {
				q.Pattern, q.MaxChars = p, 1<<30
				want := find(t, dir, names, q)
				small := sizes{first: 64, piece: 256, longest: 1500, history: 512 + 64*i}
				got, err := files(t.Context(), dir, names, q, small)
				if err != nil {
					t.Fatal(err)
				}
				if got.Text != want.Text || got.Cut != want.Cut {
					t.Errorf("%q multiline=%v mode %d -B%d: %s", pattern, multiline, q.Mode, q.Before, difference(got.Text, want.Text))
				}
			}
		}
	}
}

// TestHistory: where text before a match is not kept, context is short, but never part of a line.
func TestHistory(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "line %d of the file%s\n", i+1, map[bool]string{true: " x"}[i%7 == 0])
	}
	lines := strings.Split(b.String(), "\n")
	dir, names := makeTree(t, "f", b.String())
	q := Query{Mode: Content, Numbers: true, Single: true, Before: 5, MaxChars: 1 << 30, Pattern: mustCompile(t, "x", PatternOptions{})}
	f, err := files(t.Context(), dir, names, q, sizes{first: 64, piece: 256, longest: 1000, history: 90})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(f.Text) {
		var number int
		var mark rune
		if _, err := fmt.Sscanf(line, "%d%c", &number, &mark); err != nil {
			continue // --
		}
		if n++; line != fmt.Sprintf("%d%c%s\n", number, mark, lines[number-1]) {
			t.Errorf("%q, want %q", line, lines[number-1])
		}
	}
	if n < 1000 || n > 1720 {
		t.Errorf("%d lines", n)
	}
}

// TestEndlessLine: a line longer than any buffer is searched in parts and reported once.
func TestEndlessLine(t *testing.T) {
	t.Parallel()
	dir, names := makeTree(t, "f", "a\n"+strings.Repeat("x needle é", 2000)+"\nneedle\nb\n")
	q := Query{Mode: Content, Numbers: true, Single: true, Before: 1, After: 1, Pattern: mustCompile(t, "needle", PatternOptions{})}
	f, err := files(t.Context(), dir, names, q, sizes{first: 64, piece: 256, longest: 1000, history: 300})
	if err != nil {
		t.Fatal(err)
	}
	var numbers []string
	for line := range strings.Lines(f.Text) {
		numbers = append(numbers, line[:2])
	}
	if got := strings.Join(numbers, " "); got != "1- 2: 3: 4-" {
		t.Errorf("%s\n%s", got, f.Text)
	}
}

// TestLargeFile holds S036 on a smaller scale: memory is bounded by the buffers, not by the file.
func TestLargeFile(t *testing.T) { // not parallel: it counts what is allocated
	size := 40 << 20
	if os.Getenv("FERRULE_NIGHTLY") == "1" {
		size = 1 << 30
	}
	for _, c := range []struct{ name, unit, pattern string }{
		{"lines", strings.Repeat("some text of no interest\n", 40000), "absent|needle$"},
		{"one line", strings.Repeat("some text of no interest ", 40000), "absent|needle$"},
		{"across lines", strings.Repeat("some text of no interest\n", 40000), `absent\n|needle$\n`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			h, err := os.Create(filepath.Join(dir, "f"))
			if err != nil {
				t.Fatal(err)
			}
			for n := 0; n < size && err == nil; n += len(c.unit) {
				_, err = h.WriteString(c.unit)
			}
			if _, e := h.WriteString("needle\n"); err != nil || e != nil || h.Close() != nil {
				t.Fatal(err, e)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f := grep(t, dir, []string{"f"}, c.pattern, Query{Mode: Content, Numbers: true})
			runtime.ReadMemStats(&after)
			if f.Shown != 1 || !strings.Contains(f.Text, "needle") {
				t.Errorf("%.200s", f.Text)
			}
			if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 200 {
				t.Errorf("%d MB allocated", n)
			}
		})
	}
}

func TestUnixLines(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a", "a\r\n", "\r\n\r\n", "a\r\r\nb\r", "\n\r\n\n", "x\r\ny\r\nz"} {
		if got, want := string(unixLines([]byte(s))), strings.ReplaceAll(s, "\r\n", "\n"); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

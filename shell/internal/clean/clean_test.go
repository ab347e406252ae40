package clean

import (
	"strings"
	"testing"
	"unicode/utf8"
)

var cleanCases = []struct{ name, in, want string }{
	{"plain", "a\tb\nc", "a\tb\nc"},
	{"H075 progress", "\r  1%\r 50%\r100%\n", "100%\n"},
	{"H076 colour and cursor", "\x1b[31mred\x1b[0m \x1b[2K\x1b[1Aok\n", "red ok\n"},
	{"S112 window title", "a\x1b]0;title\x07b", "ab"},
	{"S112 hyperlink", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"},
	{"S112 clipboard", "\x1b]52;c;" + strings.Repeat("QUJD", 5000) + "\x07x", "x"},
	{"device control", "\x1bPq#0;2;0\x1b\\x\x1b_app\x1b\\y\x1b^pm\x1b\\z\x1bXsos\x1b\\!", "xyz!"},
	{"short sequences", "\x1b(B\x1b[mx\x1b7y\x1b=z\x1bM", "xyz"},
	{"string without an end", "\x1b]0;hidden\nshown", "\nshown"},
	{"string aborted", "\x1b]0;a\x18b\x1b]0;c\x1b[1md", "bd"},
	{"sequence broken by a control", "\x1b[3\nx\x1b\ny", "\nx\ny"},
	{"sequence broken by a letter outside", "\x1b[3éx", "éx"},
	{"two escapes", "\x1b\x1b[31mx", "x"},
	{"unfinished sequence", "x\x1b[3", "x"},
	{"CRLF", "a\r\nb\r\n", "a\nb\n"},
	{"many CR", "a\r\r\r\nb", "a\nb"},
	{"CR at the end", "abc\r", "abc"},
	{"CR and colour", "old\r\x1b[Knew", "new"},
	{"CR and control", "old\r\x01", `\x01`},
	{"backspace", "ab\bc", "ac"},
	{"overstrike", "_\bN_\bA", "NA"},
	{"spinner", "|\b/\b-\b", ""},
	{"backspace over a character", "aé\bx", "ax"},
	{"backspace at the start", "\b\bx\n\bx", "x\nx"},
	{"backspace after CR", "ab\r\bx", "x"},
	{"controls", "a\x00\x07\x0b\x0c\x7fb", `a\x00\x07\x0b\x0c\x7fb`},
	{"C1", "a\u009b31mb\u0085", `a\u009b31mb\u0085`},
	{"H124 code page", "caf\x82\n", "caf\uFFFD\n"},
	{"invalid", "\xff\xfea\xe2\x80b\xf0\x9f", "\uFFFD\uFFFDa\uFFFD\uFFFDb\uFFFD\uFFFD"},
	{"surrogate, overlong", "\xed\xa0\x80\xc0\xaf", strings.Repeat("\uFFFD", 5)},
	{"the mark itself", "\uFFFD", "\uFFFD"},
	{"odd place for a line's limit", strings.Repeat("日", maxLine/3+1), strings.Repeat("日", maxLine/3+1)},
	{"wide", "日本\r本", "本"},
}

func TestClean(t *testing.T) {
	t.Parallel()
	for _, c := range cleanCases {
		if got := String(c.in); got != c.want {
			t.Errorf("%s: String(%.80q) = %.80q, want %.80q", c.name, c.in, got, c.want)
		}
		for _, n := range []int{1, maxLine, len(c.in)} {
			if got := piecewise(c.in, n, maxLine); got != c.want {
				t.Errorf("%s: in pieces of %d %.80q, want %.80q", c.name, n, got, c.want)
			}
		}
	}
}

// A line is held up to 64 kB; what is longer has been handed on and cannot be rewritten.
func TestCleanLongLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", maxLine)
	if got := String(long + "\rx\n"); got != long[:maxLine]+"x\n" {
		t.Errorf("%d bytes, end %q", len(got), got[len(got)-10:])
	}
	held := 0
	c := New(func([]byte) {})
	for range 100 {
		c.Write([]byte(strings.Repeat("x", 10_000) + "\x00"))
		held = max(held, len(c.line), cap(c.line))
	}
	if held > 2*maxLine {
		t.Errorf("%d bytes were held", held)
	}
	hidden := "\x1b]0;" + strings.Repeat("x", 2*maxSkip)
	if got := len(String(hidden)); got < maxSkip-10 {
		t.Errorf("an endless sequence hides all but %d bytes", got)
	}
}

// Flush shows a prompt; what comes later does not repeat it.
func TestCleanFlush(t *testing.T) {
	t.Parallel()
	var got string
	c := New(func(p []byte) { got += "[" + string(p) + "]" })
	c.Write([]byte("name? \xe2\x80"))
	c.Flush()
	c.Write([]byte("\x94bob\r"))
	c.Flush()
	c.Write([]byte("\n"))
	c.Close()
	if want := "[name? ][—bob][\n]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// piecewise is Clean in pieces of n bytes, with lines of at most limit.
func piecewise(s string, n, limit int) string {
	var b strings.Builder
	c := New(func(p []byte) {
		if !utf8.Valid(p) {
			b.WriteString("[torn]")
		}
		b.Write(p)
	})
	c.limit = limit
	for i := 0; i < len(s); i += n {
		c.Write([]byte(s[i:min(len(s), i+n)]))
	}
	c.Close()
	return b.String()
}

func FuzzClean(f *testing.F) {
	for i, c := range cleanCases {
		if len(c.in) < 1000 {
			f.Add(c.in, i, 8*i)
		}
	}
	f.Fuzz(func(t *testing.T, s string, n, limit int) {
		got := String(s)
		if again := String(got); again != got {
			t.Errorf("String(%q) = %q, and again %q", s, got, again)
		}
		if !utf8.ValidString(got) {
			t.Errorf("String(%q) = %q, no UTF-8", s, got)
		}
		if len(got) > 4*len(s) {
			t.Errorf("%d bytes became %d", len(s), len(got))
		}
		if strings.ContainsAny(got, "\r\b\x1b\x00\x7f") || strings.Count(got, "\n") != strings.Count(s, "\n") {
			t.Errorf("String(%q) = %q", s, got)
		}
		n, limit = n&31+1, limit&63+8
		if cut := piecewise(s, n, maxLine); cut != got {
			t.Errorf("String(%q) = %q, in pieces of %d %q", s, got, n, cut)
		}
		whole := piecewise(s, len(s)+1, limit)
		if cut := piecewise(s, n, limit); cut != whole {
			t.Errorf("%q with lines of %d: %q, in pieces of %d %q", s, limit, whole, n, cut)
		}
	})
}

func BenchmarkClean(b *testing.B) {
	for name, text := range map[string]string{
		"yes":      strings.Repeat("y\n", 32<<10),
		"log":      strings.Repeat("2026-11-30 12:00:00 INFO a line as programs print it, of usual length\n", 1000),
		"zeros":    strings.Repeat("\x00", 64<<10),
		"coloured": strings.Repeat("\x1b[32mok\x1b[0m  ferrule/shell  0.123s\n", 2000),
		"progress": strings.Repeat("\r 12% [=====>        ] 12/100", 2000),
		"chinese":  strings.Repeat("读取文件并检查内容是否正确\n", 2000),
	} {
		b.Run(name, func(b *testing.B) {
			p := []byte(text)
			c := New(func([]byte) {})
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				c.Write(p)
			}
		})
	}
}

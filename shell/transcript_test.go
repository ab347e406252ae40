package shell

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"ferrule/shell/internal/clean"
)

func TestTranscript(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in, want string
		lines, bytes   int64
	}{
		{"short", "a\nb", "a\nb", 0, 0},
		{"H077 exactly the cap", strings.Repeat("x", 20), strings.Repeat("x", 20), 0, 0},
		{"H077 one more", strings.Repeat("x", 21), "xxxxxxxxxx\n[... 1 bytes left out ...]\nxxxxxxxxxx", 0, 1},
		{"the cap in characters", strings.Repeat("é", 20), strings.Repeat("é", 20), 0, 0},
		{"cut at lines", "1111\n2222\n3333\n4444\n5555\n6666\n", "1111\n2222\n[... 2 lines (10 bytes) left out ...]\n5555\n6666\n", 2, 10},
		{"cut back to lines", "1111\n222\n33\n44444\n55555\n66666\n7777", "1111\n222\n[... 3 lines (15 bytes) left out ...]\n66666\n7777", 3, 15},
		{"one line", "aaaa\nbbbb\nccccccccccc\ndddd\neeee\n", "aaaa\nbbbb\n[... 1 line (12 bytes) left out ...]\ndddd\neeee\n", 1, 12},
		{"long lines are cut inside", "a\n" + strings.Repeat("é", 30) + "\nz", "a\néééééééé\n[... 28 bytes left out ...]\néééééééé\nz", 0, 28},
	} {
		for n := 1; n <= len(c.in); n += 3 {
			tr := &transcript{max: 20}
			for i := 0; i < len(c.in); i += n { // pieces are whole characters, as from a Cleaner
				tr.write(0, []byte(c.in[runeStart(c.in, i):runeStart(c.in, min(len(c.in), i+n))]))
			}
			got, lost := tr.take()
			if got != c.want || lost.Lines != c.lines || lost.Bytes != c.bytes {
				t.Errorf("%s, by %d: got %q %+v, want %q %d %d", c.name, n, got, lost, c.want, c.lines, c.bytes)
			}
			if again, lost := tr.take(); again != "" || lost.Bytes != 0 {
				t.Errorf("%s: taken twice: %q", c.name, again)
			}
		}
	}
}

func runeStart(s string, i int) int {
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// Two streams meet at the ends of lines only.
func TestTranscriptStreams(t *testing.T) {
	t.Parallel()
	tr := &transcript{max: 100}
	for i, p := range []string{"out\n", "err", "ou", "t", "err\n", "out\n"} {
		tr.write([]int{0, 1, 0, 0, 1, 0}[i], []byte(p))
	}
	if got, _ := tr.take(); got != "out\nerr\nout\nerr\nout\n" {
		t.Errorf("%q", got)
	}
	tr.write(0, []byte("first\n  second\n\n"))
	if got := tr.lastLine(); got != "second" {
		t.Errorf("last line %q", got)
	}
}

// What is kept and what is counted as missing together are what was written.
func FuzzTranscript(f *testing.F) {
	f.Add("one\ntwo\nthree\nfour\n", 6, 3)
	f.Add(strings.Repeat("日本\n", 20), 9, 5)
	f.Fuzz(func(t *testing.T, s string, limit, n int) {
		s = clean.String(s)
		limit, n = limit&255+2, n&31+1
		tr := &transcript{max: limit}
		for i := 0; i < len(s); i += n {
			tr.write(0, []byte(s[runeStart(s, i):runeStart(s, min(len(s), i+n))]))
		}
		got, lost := tr.take()
		if utf8.RuneCountInString(s) <= limit {
			if got != s || lost.Bytes != 0 {
				t.Errorf("%q of %d became %q", s, limit, got)
			}
			return
		}
		head, tail, ok := strings.Cut(got, fmt.Sprintf("%s\n", lost))
		if !ok {
			t.Fatalf("%q holds no %q", got, lost)
		}
		if !strings.HasPrefix(s, head) {
			head = strings.TrimSuffix(head, "\n") // put in before the mark
		}
		if !utf8.ValidString(got) || !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) ||
			utf8.RuneCountInString(head+tail) > limit+1 { // with the line feed before the mark
			t.Fatalf("%q of %d: %q and %q", s, limit, head, tail)
		}
		gap := int64(len(s) - len(head) - len(tail))
		if gap != lost.Bytes && gap != lost.Bytes-1 { // the line feed before the mark may be one of s
			t.Errorf("%q of %d: %d bytes are missing, told %+v", s, limit, gap, lost)
		}
	})
}

package page

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// checkWindows follows the offsets to the end: the slices join to the whole, no window is longer than allowed or leaves a
// fence open.
func checkWindows(t *testing.T, p *Page, limit int) {
	t.Helper()
	runes := []rune(p.Markdown)
	joined, offset := "", 0
	for {
		w := p.Window(offset, limit)
		end := w.Next
		if end == 0 {
			end = w.Total
		}
		if w.Offset != offset || w.Total != len(runes) || end < offset || w.Next > 0 && end == offset {
			t.Fatalf("window at %d: %d to %d of %d, the page has %d", offset, w.Offset, w.Next, w.Total, len(runes))
		}
		slice := string(runes[offset:end])
		joined += slice
		if !strings.Contains(w.Text, strings.TrimSuffix(slice, "\n")) {
			t.Fatalf("window at %d is not its slice:\n%q\n%q", offset, w.Text, slice)
		}
		if n := utf8.RuneCountInString(w.Text); n > limit {
			t.Fatalf("window at %d has %d characters", offset, n)
		}
		var open fence
		for line := range strings.Lines(w.Text) {
			if p.fences {
				open = open.after(line)
			}
		}
		if open.mark != "" {
			t.Fatalf("window at %d leaves %q open:\n%s", offset, open.mark, w.Text)
		}
		if w.Next == 0 {
			break
		}
		offset = w.Next
	}
	if joined != p.Markdown {
		t.Fatalf("windows join to %q, want %q", joined, p.Markdown)
	}
}

// TestWindows cuts a long page, with a code block that is longer than a window. DOC15, DOC16.
func TestWindows(t *testing.T) {
	t.Parallel()
	var sb strings.Builder
	sb.WriteString("<main>")
	for i := range 400 {
		sb.WriteString("<h2>Part</h2><p>Some words — über — 文字.</p><pre class=language-go>func f() {\n\n\treturn\n}</pre>")
		if i == 200 {
			sb.WriteString("<ul><li>long<pre class=language-console>" + strings.Repeat("a long listing\n\n", 4000) + "</pre></li></ul>")
			sb.WriteString("<pre>" + strings.Repeat("one long line ", 2000) + "</pre>")
		}
	}
	p := convert(t, sb.String(), "text/html")
	for _, limit := range []int{1000, 3000, 45_000} {
		checkWindows(t, p, limit)
	}
	w := p.Window(0, 3000)
	if w.Number != 1 || w.Count != (w.Total+2999)/3000 || !strings.HasSuffix(w.Text, "\n\n") {
		t.Errorf("%d of %d, ends with %q", w.Number, w.Count, w.Text[len(w.Text)-30:])
	}
	if len(w.Ahead) == 0 || w.Ahead[0].Offset < w.Next || w.Next+1000 < w.Ahead[0].Offset {
		t.Errorf("next %d, ahead %v", w.Next, w.Ahead[:min(2, len(w.Ahead))])
	}
	at := p.Start("none", 3000)
	for {
		w = p.Window(at, 3000)
		if strings.HasPrefix(w.Text, "  ```console\n  a long") {
			break
		}
		if at = w.Next; at == 0 {
			t.Fatal("no window opens the long block again")
		}
	}
	if !strings.HasSuffix(w.Text, "\n  ```") {
		t.Errorf("the long block is not closed: %q", w.Text[len(w.Text)-30:])
	}
	for _, past := range []int{w.Total, w.Total + 1, 1 << 40} {
		if w := p.Window(past, 3000); w.Text != "" || w.Next != 0 || w.Offset != past {
			t.Errorf("window past the end: %+v", w)
		}
	}
	if w := p.Window(-5, 3000); w.Offset != 0 || w.Text == "" {
		t.Errorf("window before the beginning: %+v", w)
	}
}

func TestWindowEndsBetweenBlocks(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("words ", 100)
	p := Text([]byte("# A\n\n"+words+"\n\n# B\n\n"+words+"\n\n"+words), "text/markdown")
	if w := p.Window(0, 1000); !strings.HasSuffix(w.Text, "words \n\n") || w.Ahead[0].Text != "B" || w.Next != w.Ahead[0].Offset {
		t.Errorf("a heading was parted from its text: %q", w.Text)
	}
	// Plain text has no fences: one that it seems to open adds no line.
	q := Text([]byte("```\n"+strings.Repeat("line\n", 1000)), "text/plain")
	if w := q.Window(0, 1000); w.Text != q.Markdown[:w.Next] {
		t.Errorf("%q", w.Text[len(w.Text)-20:])
	}
	checkWindows(t, q, 1000)
}

func TestFence(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]fence{
		"```go":           {"", "```", "go"},
		"  - 1. > ````":   {"  - 1. > ", "````", ""},
		"~~~ a":           {"", "~~~", " a"},
		"``` x `y`":       {},
		"12```":           {},
		"text ```":        {},
		"1234567890. ```": {},
		"\\```":           {},
		"``":              {},
	} {
		if got := (fence{}).after(line + "\n"); got != want {
			t.Errorf("%q opens %+v, want %+v", line, got, want)
		}
	}
	open := fence{"- ", "````", "go"}
	for line, closes := range map[string]bool{"  ````": true, "````` ": true, "```": false, "- ````": false, "````x": false, "~~~~": false} {
		if got := open.after(line); (got == fence{}) != closes {
			t.Errorf("%q closes: %v", line, !closes)
		}
	}
	if open.opening() != "  ````go\n" || open.closing() != "  ````" {
		t.Errorf("%q %q", open.opening(), open.closing())
	}
}

func FuzzWindows(f *testing.F) {
	f.Add("# A\n\n```go\nx\n```\n\n- b\n\n  ```\n  y\n  ```\n", uint16(0))
	f.Add("> 1. ~~~ x\n> z\n\n```\n", uint16(3))
	f.Fuzz(func(t *testing.T, md string, extra uint16) {
		if !utf8.ValidString(md) || longestRun(md, '`') > 20 || longestRun(md, '~') > 20 {
			return
		}
		p := Text([]byte(strings.Repeat(md, 1+int(extra%50))), "text/markdown")
		var open fence
		for line := range strings.Lines(p.Markdown) {
			open = open.after(line)
			if len(open.prefix)+len(open.mark)+len(open.info) > 200 || len(line) > 200 && strings.HasPrefix(line[markers(line):], "```") {
				return // foreign Markdown may have lines that cannot be cut
			}
		}
		if open.mark != "" {
			return // left open by the page itself
		}
		checkWindows(t, p, 1000)
	})
}

package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Window says which lines Number shows. Characters are Unicode code points.
type Window struct {
	Offset   int // first line, counted from 1; 0 is 1; -20 is the first of the last 20 lines
	Limit    int // most lines, 0: no limit
	MaxChars int // most characters of Page.Text, 0: no limit; the first line is shown in any case
	MaxLine  int // most characters of a line before it is cut, 0: no limit
}

// A Page is a part of a view as the model reads it.
type Page struct {
	Text        string // lines as "<number>\t<text>\n"
	First, Last int    // line numbers shown; Last is First-1 if there are none
	Total       int    // lines of the view
	LongLines   []int  // lines that were cut
	// NoFinalNewline reports that the last line of the view has no line break and that it is shown.
	NoFinalNewline bool
}

// Number returns the lines of view that w asks for, with their numbers. A line longer than w.MaxLine is cut, and a mark
// at its end gives its length. An offset behind the end gives an empty page. The view is searched for line breaks but
// neither copied nor split, so the cost is that of what is shown and of counting the lines.
func Number(view string, w Window) Page {
	p := Page{Total: Lines(view), First: max(1, w.Offset)}
	at := 0
	switch {
	case w.Offset < 0:
		p.First = max(1, p.Total+w.Offset+1)
		at = lastLines(view, p.Total-p.First+1)
	case p.First > p.Total:
		at = len(view)
	default:
		at = lineStart(view, p.First)
	}
	p.Last = p.First - 1
	room := min(len(view)-at, 1<<20)
	if w.MaxChars > 0 {
		room = min(room, w.MaxChars)
	}
	out := make([]byte, 0, room+room/4+64)
	chars := 0
	for at < len(view) && (w.Limit <= 0 || p.Last-p.First+1 < w.Limit) {
		line := view[at:]
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		start := len(out)
		var cut bool
		out, cut = appendLine(out, p.Last+1, line, w.MaxLine)
		if w.MaxChars > 0 {
			chars += utf8.RuneCount(out[start:])
			if chars > w.MaxChars && start > 0 {
				out = out[:start]
				break
			}
		}
		p.Last++
		if cut {
			p.LongLines = append(p.LongLines, p.Last)
		}
		at += len(line) + 1
		p.NoFinalNewline = at > len(view)
	}
	p.Text = sharedString(out)
	return p
}

// appendLine appends a numbered line to out and reports whether it was cut.
func appendLine(out []byte, number int, line string, most int) ([]byte, bool) {
	out = append(strconv.AppendInt(out, int64(number), 10), '\t')
	end := len(line)
	if most > 0 && len(line) > most {
		end = runeOffset(line, most)
	}
	out = append(out, line[:end]...)
	if end < len(line) {
		out = fmt.Appendf(out, "… [line cut here, it has %d characters]", most+utf8.RuneCountInString(line[end:]))
	}
	return append(out, '\n'), end < len(line)
}

// runeOffset returns the offset of the n-th character of s, counted from 0, or len(s) if it has no more than n.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// lineStart returns the offset at which line n of view begins, counted from 1. The view has that many lines.
func lineStart(view string, n int) int {
	at := 0
	for ; n > 1; n-- {
		at += strings.IndexByte(view[at:], '\n') + 1
	}
	return at
}

// lastLines returns the offset at which the last n lines of view begin.
func lastLines(view string, n int) int {
	if n <= 0 {
		return len(view)
	}
	at := len(strings.TrimSuffix(view, "\n"))
	for ; n > 0; n-- {
		at = strings.LastIndexByte(view[:at], '\n')
		if at < 0 {
			return 0
		}
	}
	return at + 1
}

// snippetLine is the length in characters at which Snippet cuts a line.
const snippetLine = 500

// Snippet returns the lines of view that spans name, numbered, with around lines before and after each, and "…" between
// groups that do not touch. After maxLines lines it stops and says what is not shown.
func Snippet(view string, spans []Span, around, maxLines int) string {
	total := Lines(view)
	var out []byte
	at, line, shown := 0, 1, 0 // at is the offset of line
	for i, s := range spans {
		from := max(1, s.Line-around, line)
		to := min(total, s.Line+s.Lines-1+around)
		if shown > 0 && from > line {
			out = append(out, "…\n"...)
		}
		at += lineStart(view[at:], from-line+1)
		for line = from; line <= to; line++ {
			if shown == maxLines {
				return string(more(out, line, s, len(spans)-i))
			}
			text, _, _ := strings.Cut(view[at:], "\n")
			out, _ = appendLine(out, line, text, snippetLine)
			at = min(len(view), at+len(text)+1)
			shown++
		}
	}
	return string(out)
}

// more says what Snippet leaves out: it stopped before line, in span s, the first of rest spans that are not finished.
func more(out []byte, line int, s Span, rest int) []byte {
	last := s.Line + s.Lines - 1
	switch {
	case rest == 1 && line > last:
		return append(out, "…\n"...)
	case line > s.Line:
		out = fmt.Appendf(out, "… to line %d", max(line, last))
		rest--
		if rest > 0 {
			out = fmt.Appendf(out, ", and %d more changed places", rest)
		}
		return append(out, '\n')
	}
	return fmt.Appendf(out, "… and %d more changed places\n", rest)
}

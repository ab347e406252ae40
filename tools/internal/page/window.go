package page

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A Window is a part of a page, small enough for one answer. Offset, Next and Total count characters (code points) of the
// whole Markdown.
type Window struct {
	Text   string
	Offset int
	Next   int       // where the next window begins; 0 at the end of the page
	Total  int       // length of the page
	Number int       // this is about the Number-th
	Count  int       // of about Count windows
	Ahead  []Heading // the headings from Next on; shared with the page
}

// Window returns the part that begins at offset and has at most limit characters, which must be 1,000 or more: the exact
// slice of the Markdown from Offset to Next, ended between two blocks. Where a code block does not fit, it is cut between
// two lines, and a closing fence is added to the text, and an opening one to the text of the next window. Past the end of
// the page the window is empty.
func (p *Page) Window(offset, limit int) Window {
	w := Window{Offset: max(offset, 0), Total: utf8.RuneCountInString(p.Markdown)}
	limit = max(limit, 1)
	left := max(w.Total-w.Offset, 0)
	w.Number = 1 + (w.Offset+limit-1)/limit
	w.Count = w.Number + max(0, (left-1)/limit)
	if left == 0 {
		return w
	}
	start := byteAt(p.Markdown, w.Offset)
	rest := p.Markdown[start:]
	var open fence
	if p.fences {
		pos := 0
		for line := range strings.Lines(p.Markdown) { // an offset within a line is not within its fence
			if pos >= start {
				break
			}
			open = open.after(line)
			pos += len(line)
		}
	}
	w.Text = open.opening()
	room := limit - utf8.RuneCountInString(w.Text)
	if left <= room {
		w.Text += rest
		return w
	}
	end, last := p.cut(rest, byteAt(rest, room), open)
	for size := room; last.mark != ""; { // make room for the closing fence
		over := utf8.RuneCountInString(rest[:end]+last.closing()) + 1 - room
		if over <= 0 || over >= size {
			break
		}
		size -= over
		end, last = p.cut(rest, byteAt(rest, size), open)
	}
	w.Text += rest[:end]
	if last.mark != "" {
		w.Text = strings.TrimSuffix(w.Text, "\n") + "\n" + last.closing()
	}
	w.Next = w.Offset + utf8.RuneCountInString(rest[:end])
	if i := slices.IndexFunc(p.Headings, func(h Heading) bool { return h.Offset >= w.Next }); i >= 0 {
		w.Ahead = p.Headings[i:]
	}
	return w
}

// byteAt returns the offset of the n-th character of s.
func byteAt(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// cut returns where in s[:limit] a window ends best, and the fence that is open there: after the last blank line that is
// not too near to the start, else after the last line. A heading goes with what follows it.
func (p *Page) cut(s string, limit int, open fence) (int, fence) {
	type place struct {
		at   int
		open fence
	}
	var gap, eol place
	pos, heading := 0, false
	for pos < limit {
		i := strings.IndexByte(s[pos:limit], '\n')
		if i < 0 {
			break
		}
		line := s[pos : pos+i+1]
		if p.fences {
			open = open.after(line)
		}
		pos += i + 1
		eol = place{pos, open}
		blank := strings.TrimSpace(line) == ""
		if blank && open.mark == "" && !heading {
			gap = place{pos, open}
		}
		if !blank {
			heading = strings.HasPrefix(line, "#")
		}
	}
	switch {
	case gap.at > limit/4:
		return gap.at, gap.open
	case eol.at > limit/4:
		return eol.at, eol.open
	}
	return midLine(s, eol.at, limit, open), open
}

// midLine returns where in s[:limit] to cut the line that begins at start, if it must be: after a word, and so that neither
// half of the line looks like a fence that the whole line is not.
func midLine(s string, start, limit int, open fence) int {
	if i := strings.LastIndexByte(s[:limit], ' '); i > limit*3/4 {
		limit = i + 1
	}
	for at := limit; at > max(start, limit-2*maxRun); at-- {
		line, _, _ := strings.Cut(s[at:], "\n")
		if utf8.RuneStart(s[at]) && open.after(s[start:at]) == open && open.after(line) == open {
			return at
		}
	}
	return limit
}

// A fence is an open code block.
type fence struct {
	prefix string // the marks of lists and quotes before it
	mark   string // its backticks or tildes; empty if none is open
	info   string
}

// after returns what is open after line, given what is open before it.
func (f fence) after(line string) fence {
	line = strings.TrimRight(line, "\r\n")
	if f.mark != "" {
		t := strings.TrimLeft(line, " >")
		rest := strings.TrimLeft(t, f.mark[:1])
		if len(t)-len(rest) >= len(f.mark) && strings.TrimSpace(rest) == "" {
			return fence{}
		}
		return f
	}
	t := line[markers(line):]
	if len(t) < 3 || t[0] != '`' && t[0] != '~' {
		return f
	}
	info := strings.TrimLeft(t, t[:1])
	n := len(t) - len(info)
	if n < 3 || t[0] == '`' && strings.Contains(info, "`") {
		return f
	}
	return fence{prefix: line[:len(line)-len(t)], mark: t[:n], info: info}
}

// markers returns the length of the marks of lists and quotes that line begins with.
func markers(line string) int {
	i := 0
	for i < len(line) {
		rest := line[i:]
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		switch {
		case rest[0] == ' ' || rest[0] == '>':
			i++
		case strings.HasPrefix(rest, "- "):
			i += 2
		case digits > 0 && digits < 10 && strings.HasPrefix(rest[digits:], ". "):
			i += digits + 2
		default:
			return i
		}
	}
	return i
}

// inside returns the prefix of lines within f: list marks are indentation there.
func (f fence) inside() string {
	return strings.Map(func(r rune) rune {
		if r == '>' {
			return r
		}
		return ' '
	}, f.prefix)
}

// opening returns the line that opens f again, or "" if none is open.
func (f fence) opening() string {
	if f.mark == "" {
		return ""
	}
	return f.inside() + f.mark + shorten(f.info, 100) + "\n"
}

func (f fence) closing() string { return f.inside() + f.mark }

// headings lists the headings of md.
func headings(md string) []Heading {
	var out []Heading
	var open fence
	at := 0
	for line := range strings.Lines(md) {
		open = open.after(line)
		text := strings.TrimLeft(line, "#")
		if n := len(line) - len(text); open.mark == "" && n > 0 && n <= 6 && strings.HasPrefix(text, " ") {
			out = append(out, Heading{Level: n, Text: strings.TrimSpace(text), Offset: at})
		}
		at += utf8.RuneCountInString(line)
	}
	return out
}

package page

import "strings"

// maxIndent is how deep lists and quotes nest before deeper ones are written without indentation. Each level repeats its
// indentation on every line, so depth must not multiply the length of a page.
const maxIndent = 16

// A writer puts blocks of Markdown one after the other, each line with the indentation and the marks of the lists and
// quotes that are open.
type writer struct {
	sb      strings.Builder
	open    []indent
	gap     int            // line feeds due before the next line
	left    int            // bytes that may still be written
	pending []string       // ids that the next line gets
	anchors map[string]int // id to the offset of its line
}

// maxAnchors bounds the ids that are remembered.
const maxAnchors = 10_000

// An indent is one open list item or quote.
type indent struct {
	first, rest string // what its first line begins with, and the others
	used        bool   // the first line is written
	loose       bool   // blank lines part its blocks
	quote       bool
}

func (w *writer) push(first, rest string) {
	if len(w.open) >= maxIndent {
		first, rest = "", ""
	}
	w.open = append(w.open, indent{first: first, rest: rest, quote: strings.HasPrefix(rest, ">")})
}

// pop closes the innermost indent and returns it.
func (w *writer) pop() indent {
	last := w.open[len(w.open)-1]
	w.open = w.open[:len(w.open)-1]
	return last
}

// inItem reports whether the next block follows another one in the same list item.
func (w *writer) inItem() bool {
	n := len(w.open)
	return n > 0 && w.open[n-1].used && !w.open[n-1].quote
}

// tighten makes the next line follow without a blank line.
func (w *writer) tighten() { w.gap = min(w.gap, 1) }

// block writes a block of one or more lines, whole or not at all. A blank line parts it from the next.
func (w *writer) block(s string) {
	prefix := 0
	for _, in := range w.open {
		prefix += len(in.rest)
	}
	w.left -= len(s) + (prefix+1)*(1+strings.Count(s, "\n"))
	if w.left < 0 {
		return
	}
	for line := range strings.SplitSeq(s, "\n") {
		w.line(line)
	}
	w.gap = 2
}

func (w *writer) line(s string) {
	if w.sb.Len() > 0 {
		w.sb.WriteByte('\n')
		if w.gap == 2 {
			w.blank()
		}
	}
	w.gap = 1
	for _, id := range w.pending {
		if _, known := w.anchors[id]; !known && len(w.anchors) < maxAnchors {
			w.anchors[id] = w.sb.Len()
		}
	}
	w.pending = w.pending[:0]
	for i := range w.open {
		in := &w.open[i]
		prefix := in.rest
		if !in.used {
			prefix, in.used = in.first, true
		}
		if s == "" && i == len(w.open)-1 {
			prefix = strings.TrimRight(prefix, " ")
		}
		w.sb.WriteString(prefix)
	}
	w.sb.WriteString(s)
}

// blank writes the blank line between two blocks, which stands in the indents that are used.
func (w *writer) blank() {
	prefix := ""
	for i := range w.open {
		if !w.open[i].used {
			break
		}
		prefix += w.open[i].rest
		if i == len(w.open)-1 || !w.open[i+1].used {
			w.open[i].loose = true
		}
	}
	w.sb.WriteString(strings.TrimRight(prefix, " "))
	w.sb.WriteByte('\n')
}

package notebook

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A layout is what stands between the parts of an object or a list: what is new
// is laid out as its neighbours are.
type layout struct {
	open  string // behind the opening bracket
	comma string // between two parts, the comma included
	colon string // between key and value, the colon included
	close string // before the closing bracket
}

// maxGap is the longest white space that is copied: more is no style.
const maxGap = 200

// gap is the bytes between two parts, or or if they are too many.
func (n *Notebook) gap(a, b int, or string) string {
	if b-a > maxGap {
		return or
	}
	return string(n.b[a:b])
}

// within is the layout of what stands inside a part with this layout where the
// file has no example: one step further in.
func (l layout) within(step string) layout {
	in := l
	if strings.Contains(l.open, "\n") {
		in.open, in.close = l.open+step, l.open
		in.comma = "," + in.open
		return in
	}
	in.open, in.close = "", ""
	in.comma = in.single()
	return in
}

// topLayout is the layout of the file's top object and one step of indentation.
func (n *Notebook) topLayout() (l layout, step string) {
	l = n.objectLayout(&n.top, layout{colon: ": ", comma: ", "})
	return l, l.open[strings.LastIndexByte(l.open, '\n')+1:]
}

// objectLayout is the layout of an object with members, else or.
func (n *Notebook) objectLayout(o *object, or layout) layout {
	if o == nil || len(o.members) == 0 {
		return or
	}
	m := o.members
	l := layout{
		open:  n.gap(o.a+1, m[0].name.a, or.open),
		colon: n.gap(m[0].name.b, m[0].value.a, or.colon),
		close: n.gap(m[len(m)-1].value.b, o.b-1, or.close),
	}
	if len(m) > 1 {
		l.comma = n.gap(m[0].value.b, m[1].name.a, or.comma)
	} else {
		l.comma = l.single()
	}
	return l
}

// single is the comma of an object or a list that has only one part.
func (l layout) single() string {
	if l.open == "" && strings.HasSuffix(l.colon, " ") {
		return ", "
	}
	return "," + l.open
}

// listLayout is the layout of the list of cells.
func (n *Notebook) listLayout() layout {
	top, step := n.topLayout()
	or := top.within(step)
	if len(n.cells) == 0 {
		return or
	}
	var parts []span
	for _, i := range []int{0, min(1, len(n.cells)-1), len(n.cells) - 1} {
		parts = append(parts, n.cells[i].span)
	}
	if len(n.cells) == 1 {
		parts = parts[:1]
	}
	return n.partsLayout(n.array, parts, or)
}

// partsLayout is the layout of a list with these parts: the first, the second
// and the last are enough.
func (n *Notebook) partsLayout(list span, parts []span, or layout) layout {
	l := layout{
		open:  n.gap(list.a+1, parts[0].a, or.open),
		colon: or.colon,
		close: n.gap(parts[len(parts)-1].b, list.b-1, or.close),
	}
	if len(parts) > 1 {
		l.comma = n.gap(parts[0].b, parts[1].a, or.comma)
	} else {
		l.comma = l.single()
	}
	return l
}

// cellLayout is the layout of a cell like near, which may be nil, in a list
// with this layout.
func (n *Notebook) cellLayout(near *object, list layout) layout {
	_, step := n.topLayout()
	return n.objectLayout(near, list.within(step))
}

// linesLayout is the layout of a list of lines: that of the source m if it is a
// list with lines, else one that fits into a cell with the layout cell.
func (n *Notebook) linesLayout(m *member, cell layout) layout {
	_, step := n.topLayout()
	or := cell.within(step)
	if m == nil || n.b[m.value.a] != '[' {
		return or
	}
	var parts []span
	s := &scanner{b: n.b, p: m.value.a}
	list, err := s.array(func() error {
		v, err := s.value()
		if parts = append(parts, v); len(parts) > 3 {
			parts = append(parts[:2], v)
		}
		return err
	})
	if err != nil || len(parts) == 0 {
		return or
	}
	return n.partsLayout(list, parts, or)
}

// source writes the source of cell c in the form of m, the one that it has.
func (n *Notebook) source(c *object, m *member, text string) string {
	if m != nil && n.b[m.value.a] == '"' {
		return n.quote(text)
	}
	return n.lines(text, n.linesLayout(m, n.cellLayout(c, n.listLayout())))
}

// lines writes text as a list of its lines.
func (n *Notebook) lines(text string, l layout) string {
	if text == "" {
		return "[]"
	}
	var b strings.Builder
	gap := "[" + l.open
	for line := range strings.Lines(text) {
		b.WriteString(gap + n.quote(line))
		gap = l.comma
	}
	b.WriteString(l.close + "]")
	return b.String()
}

// quote writes a JSON string as Jupyter does, which leaves <, > and & as they
// are, and other characters, too, unless the file escapes them.
func (n *Notebook) quote(s string) string {
	b := make([]byte, 0, len(s)+len(s)/8+2)
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r >= 0x20 && r < 0x7f:
			b = append(b, byte(r))
		case r < 0x20:
			if i := strings.IndexByte("\b\f\n\r\t", byte(r)); i >= 0 {
				b = append(b, '\\', "bfnrt"[i])
			} else {
				b = appendEscape(b, r)
			}
		case r >= 0x80 && n.escapes():
			if r >= 0x10000 {
				b = appendEscape(b, 0xd800+(r-0x10000)>>10)
				r = 0xdc00 + (r-0x10000)&0x3ff
			}
			b = appendEscape(b, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return string(append(b, '"'))
}

func appendEscape(b []byte, unit rune) []byte {
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[unit>>12&15], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
}

// escapesHigh reports whether a file is plain ASCII and writes other characters
// as \u escapes.
func escapesHigh(data []byte) bool {
	body := bytes.TrimPrefix(data, []byte(bom))
	for _, c := range body {
		if c >= 0x80 {
			return false
		}
	}
	for {
		i := bytes.IndexByte(body, '\\')
		if i < 0 || i+6 > len(body) {
			return false
		}
		if body[i+1] == 'u' {
			if v, err := strconv.ParseUint(string(body[i+2:i+6]), 16, 16); err == nil && v >= 0x80 {
				return true
			}
		}
		body = body[i+2:]
	}
}

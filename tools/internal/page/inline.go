package page

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A line collects inline text. Runs of white space count as one space.
type line struct {
	sb    strings.Builder
	space bool // is due before the next text
	some  bool // there is text since the last line break
}

func (l *line) text(s string) {
	for _, r := range s {
		switch {
		case r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\f':
			l.space = true
			continue
		case unseen(r):
			continue
		case r == '\u00A0':
			r = ' '
		}
		l.due()
		l.sb.WriteRune(r)
		l.some = true
	}
}

func (l *line) due() {
	if l.space && l.some {
		l.sb.WriteByte(' ')
	}
	l.space = false
}

// raw appends finished Markdown.
func (l *line) raw(s string) {
	if s == "" {
		return
	}
	l.due()
	l.sb.WriteString(s)
	l.some = true
}

// newline ends the line. Two in a row end the paragraph.
func (l *line) newline() {
	if l.some || l.sb.Len() > 0 && !strings.HasSuffix(l.sb.String(), "\n\n") {
		l.sb.WriteByte('\n')
	}
	l.space, l.some = false, false
}

// take returns what was collected, without space at the ends of lines, and empties l.
func (l *line) take() string {
	s := cropRuns(cropRuns(l.sb.String(), '`'), '~')
	*l = line{}
	if !strings.Contains(s, "\n") {
		return strings.Trim(s, " ")
	}
	var out []string
	for part := range strings.SplitSeq(s, "\n") {
		out = append(out, strings.Trim(part, " "))
	}
	return strings.Trim(strings.Join(out, "\n"), "\n")
}

// oneLine renders everything below n as a single line.
func (r *renderer) oneLine(n *html.Node) string {
	var l line
	r.children(&l, n)
	return collapse(l.take())
}

func (r *renderer) children(l *line, n *html.Node) {
	for c := range n.ChildNodes() {
		r.inline(l, c)
	}
}

func (r *renderer) inline(l *line, n *html.Node) {
	if n.Type == html.TextNode {
		l.text(n.Data)
		return
	}
	if n.Type != html.ElementNode && n.Type != html.DocumentNode || unshown[n.DataAtom] {
		return
	}
	r.note(n)
	switch n.DataAtom {
	case atom.Br:
		l.newline()
	case atom.Wbr:
	case atom.Input:
		if _, checked := lookup(n, "checked"); checked {
			l.raw("[x]")
		} else if isCheckbox(n) {
			l.raw("[ ]")
		}
		l.space = true
	case atom.Code, atom.Tt, atom.Kbd, atom.Samp:
		r.span(l, n)
	case atom.Em, atom.I, atom.Cite, atom.Dfn:
		r.emphasis(l, n, "*")
	case atom.Strong, atom.B:
		r.emphasis(l, n, "**")
	case atom.Del, atom.S, atom.Strike:
		r.emphasis(l, n, "~~")
	case atom.Sup:
		if t := collapse(rawText(n)); t != "" && len(t) <= 3 && strings.Trim(t, "0123456789") == "" && first(n, is(atom.A)) == nil {
			l.raw("^" + t)
			return
		}
		r.children(l, n)
	case atom.Q:
		l.raw("“")
		r.children(l, n)
		l.raw("”")
	case atom.A:
		r.link(l, n)
	case atom.Img:
		r.image(l, n)
	case atom.Math:
		r.math(l, n)
	default:
		if blockNames[n.DataAtom] { // inside of a heading, a cell or a term
			l.space = true
			defer func() { l.space = true }()
		}
		r.children(l, n)
	}
}

// span renders a code span. One that is nothing but a link stays a link.
func (r *renderer) span(l *line, n *html.Node) {
	raw := seen(rawText(n))
	text := collapse(raw)
	if text == "" {
		l.text(raw)
		return
	}
	for c := range n.Descendants() {
		if c.Type == html.ElementNode {
			r.note(c)
		}
	}
	l.space = l.space || startsWithSpace(n)
	md := codeSpan(text)
	if links := all(n, is(atom.A)); len(links) == 1 && plain(rawText(links[0])) == text {
		if address := r.address(attr(links[0], "href")); address != "" {
			md = "[" + md + "](" + address + ")"
		}
	}
	l.raw(md)
	l.space = l.space || strings.TrimRightFunc(raw, unicode.IsSpace) != raw
}

// emphasis puts mark around what n holds, if that has words of its own and no marks.
func (r *renderer) emphasis(l *line, n *html.Node, mark string) {
	var in line
	r.children(&in, n)
	before, after := in.sb.Len() > 0 && startsWithSpace(n), in.space
	s := in.take()
	if strings.ContainsAny(s, "*\n") || !strings.Contains(s, " ") && strings.ContainsAny(s, "`!") {
		mark = ""
	}
	l.space = l.space || before
	if s != "" {
		l.raw(mark + s + mark)
	}
	l.space = l.space || after
}

func (r *renderer) link(l *line, n *html.Node) {
	var in line
	r.children(&in, n)
	before, after := startsWithSpace(n), in.space
	text := collapse(in.take())
	l.space = l.space || before
	if text != "" {
		l.raw(r.linked(text, attr(n, "href")))
	}
	l.space = l.space || after
}

// linked returns the Markdown of a link with this text to href.
func (r *renderer) linked(text, href string) string {
	picture := strings.HasPrefix(text, "![") && strings.HasSuffix(text, ")")
	if strings.Contains(text, "](") && !picture {
		return text
	}
	address := r.address(href)
	if address == "" || text == address {
		return text
	}
	if picture { // the words of a picture are enough for a link
		alt, _, _ := strings.Cut(text[2:], "](")
		text = alt
	}
	return "[" + text + "](" + address + ")"
}

// image renders a picture that has words. One without is decoration.
func (r *renderer) image(l *line, n *html.Node) {
	alt := plain(attr(n, "alt"))
	if alt == "" {
		return
	}
	src := attr(n, "src")
	if src == "" || strings.HasPrefix(src, "data:") {
		src = attr(n, "data-src")
	}
	if a := r.address(src); a != "" {
		l.raw("![" + alt + "](" + a + ")")
		return
	}
	l.raw("![" + alt + "]")
}

// math renders a formula as the TeX that its annotation holds, else as its characters.
func (r *renderer) math(l *line, n *html.Node) {
	tex := first(n, func(c *html.Node) bool {
		return c.Data == "annotation" && strings.Contains(attr(c, "encoding"), "tex")
	})
	if tex == nil {
		l.text(rawText(n))
		return
	}
	l.raw("$" + plain(rawText(tex)) + "$")
}

// maxAddress is the length of an address that is still worth its room.
const maxAddress = 2000

// address returns href as an absolute address, or "" for a link within the page and one that is none.
func (r *renderer) address(href string) string {
	href = strings.TrimSpace(href)
	if href == "" || href[0] == '#' || len(href) > maxAddress || r.addresses < 0 {
		return ""
	}
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	if r.base != nil {
		u = r.base.ResolveReference(u)
	}
	switch u.Scheme {
	case "http", "https", "mailto", "ftp":
	default:
		return ""
	}
	s := u.String()
	r.addresses -= len(s)
	return escapeAddress(s)
}

// escapeAddress encodes what would end a link, a cell or a line, and what cannot be seen.
func escapeAddress(s string) string {
	odd := func(b byte) bool { return b <= ' ' || b >= 0x7F || strings.IndexByte("()<>|`\\", b) >= 0 }
	i := 0
	for i < len(s) && !odd(s[i]) {
		i++
	}
	if i == len(s) {
		return s
	}
	var sb strings.Builder
	sb.WriteString(s[:i])
	for ; i < len(s); i++ {
		if odd(s[i]) {
			fmt.Fprintf(&sb, "%%%02X", s[i])
		} else {
			sb.WriteByte(s[i])
		}
	}
	return sb.String()
}

// startsWithSpace reports whether the text below n begins with white space.
func startsWithSpace(n *html.Node) bool {
	for c := range n.Descendants() {
		if c.Type == html.TextNode && c.Data != "" {
			return strings.TrimLeftFunc(c.Data, unicode.IsSpace) != c.Data
		}
	}
	return false
}

// guard keeps a line of a paragraph from being read as a heading, item of a list, quote or fence, also after a long line
// was cut at the end of a window.
func guard(s string) string {
	rest := strings.TrimLeft(s, "#")
	switch {
	case s == "":
	case s[0] == '#' && len(s)-len(rest) <= 6 && (rest == "" || rest[0] == ' '),
		strings.HasPrefix(s, "- "), strings.HasPrefix(s, "+ "), strings.HasPrefix(s, "* "), s[0] == '>',
		strings.HasPrefix(s, "~~~"), strings.HasPrefix(s, "```") && (len(s) > maxRun || !strings.Contains(strings.TrimLeft(s, "`"), "`")):
		return `\` + s
	case s[0] >= '0' && s[0] <= '9':
		digits := strings.TrimLeft(s, "0123456789")
		n := len(s) - len(digits)
		if n < 10 && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") ")) {
			return s[:n] + `\` + digits
		}
	}
	return s
}

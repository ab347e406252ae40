package page

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A names is a set of elements.
type names map[atom.Atom]bool

func set(list ...atom.Atom) names {
	m := make(names, len(list))
	for _, a := range list {
		m[a] = true
	}
	return m
}

var (
	headingNames = set(atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6)
	preNames     = set(atom.Pre, atom.Listing, atom.Xmp)

	// unshown elements have no text of their own.
	unshown = set(atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Head, atom.Title, atom.Svg, atom.Iframe,
		atom.Object, atom.Embed, atom.Canvas, atom.Audio, atom.Video, atom.Map, atom.Select, atom.Textarea,
		atom.Datalist, atom.Link, atom.Meta, atom.Noembed, atom.Noframes)
)

func isH1(n *html.Node) bool      { return n.DataAtom == atom.H1 }
func isHeading(n *html.Node) bool { return headingNames[n.DataAtom] }
func isPre(n *html.Node) bool     { return preNames[n.DataAtom] }

func is(a atom.Atom) func(*html.Node) bool {
	return func(n *html.Node) bool { return n.DataAtom == a }
}

func attr(n *html.Node, key string) string {
	v, _ := lookup(n, key)
	return v
}

func lookup(n *html.Node, key string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val, true
		}
	}
	return "", false
}

// hasClass reports whether one of n's classes is in list.
func hasClass(n *html.Node, list map[string]bool) bool {
	for c := range strings.FieldsSeq(attr(n, "class")) {
		if list[c] {
			return true
		}
	}
	return false
}

// first returns the first element below n, in document order, that ok holds for, or nil.
func first(n *html.Node, ok func(*html.Node) bool) *html.Node {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && ok(d) {
			return d
		}
	}
	return nil
}

// all returns every element below n, in document order, that ok holds for.
func all(n *html.Node, ok func(*html.Node) bool) []*html.Node {
	var out []*html.Node
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && ok(d) {
			out = append(out, d)
		}
	}
	return out
}

// rawText joins all text below n, but that of scripts and styles.
func rawText(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	if c := n.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode {
		return c.Data
	}
	var sb strings.Builder
	var walk func(*html.Node)
	walk = func(x *html.Node) {
		for c := range x.ChildNodes() {
			switch {
			case c.Type == html.TextNode:
				sb.WriteString(c.Data)
			case c.DataAtom != atom.Script && c.DataAtom != atom.Style:
				walk(c)
			}
		}
	}
	walk(n)
	return sb.String()
}

// measure returns about how many characters the shown text below n has, white space collapsed.
func measure(n *html.Node) int {
	if n.Type == html.TextNode {
		return textLength(n.Data)
	}
	total := 0
	for c := range n.ChildNodes() {
		if !unshown[c.DataAtom] {
			total += measure(c)
		}
	}
	return total
}

// textLength returns the characters of s with each run of white space as one; white space alone is nothing.
func textLength(s string) int {
	n, gaps, inGap := 0, 0, false
	for _, r := range s {
		if r == ' ' || r <= '\r' && r >= '\t' || r > unicode.MaxLatin1 && unicode.IsSpace(r) {
			if !inGap {
				gaps++
			}
			inGap = true
			continue
		}
		inGap = false
		n++
	}
	if n == 0 {
		return 0
	}
	return n + gaps
}

func detach(n *html.Node) {
	if n.Parent != nil {
		n.Parent.RemoveChild(n)
	}
}

// collapse returns s on one line, each run of white space as one space.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// plain returns s on one line without what cannot be seen.
func plain(s string) string { return collapse(seen(s)) }

// seen returns s without the characters that show nothing.
func seen(s string) string {
	if strings.IndexFunc(s, unseen) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unseen(r) {
			return -1
		}
		return r
	}, s)
}

// unseen reports whether r shows nothing and can carry text past a human reader, or turn text around. Joiners stay: they
// belong to scripts and emoji.
func unseen(r rune) bool {
	switch {
	case r < ' ':
		return r != '\t' && r != '\n' && r != '\r' && r != '\f'
	case r < 0x7F:
		return false
	}
	return r < 0xA0 || r == 0xAD || r == 0x61C || r == 0x180E || r == 0x200B || r == 0x200E || r == 0x200F ||
		r >= 0x202A && r <= 0x202E || r >= 0x2060 && r <= 0x206F || r == 0xFEFF || r >= 0xFFF9 && r <= 0xFFFB ||
		r >= 0xE0000 && r <= 0xE0FFF
}

// shorten returns at most n characters of s.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

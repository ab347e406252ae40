package page

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A source is a parsed page. Its document may be changed; fresh parses the page again.
type source struct {
	text string
	doc  *html.Node
	base *url.URL // for links, with the page's base element applied
	size int      // elements of the document, about
	cut  bool     // the text is not the whole page
}

func newSource(text string, xml bool, base *url.URL) *source {
	s := &source{base: base}
	s.text, s.size, s.cut = bound(text, xml)
	s.doc = s.fresh()
	b := first(s.doc, func(n *html.Node) bool { return n.DataAtom == atom.Base && attr(n, "href") != "" })
	if b != nil && base != nil {
		if u, err := base.Parse(strings.TrimSpace(attr(b, "href"))); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
			s.base = u
		}
	}
	return s
}

// fresh parses the page. The parser refuses more than 512 open elements; such a page loses its deepest containers, but
// not what they hold.
func (s *source) fresh() *html.Node {
	text := s.text
	for _, depth := range []int{150, 50, 0} {
		if n, err := html.Parse(strings.NewReader(text)); err == nil {
			return n
		}
		text = flatten(s.text, depth)
	}
	n, err := html.Parse(strings.NewReader(text))
	if err != nil { // not reached: nothing nests at depth 0
		n = &html.Node{Type: html.DocumentNode}
		n.AppendChild(&html.Node{Type: html.TextNode, Data: text})
	}
	return n
}

// What a page may cost. A document needs up to 70 times the memory of its HTML, so 10 MiB of short paragraphs would take
// 0.7 GB; 300,000 elements take a third of that at most.
const (
	maxElements   = 300_000
	maxFormatting = 16  // open at a time
	maxPerTag     = 200 // attributes of one tag, else it gets none
	maxAttributes = 1_000_000
)

// formatting elements that are left open are opened again in every block that follows, by the rules of HTML: 300 times
// <b> and then short paragraphs make 300 elements of each paragraph. Links are not among them, since a new link closes
// the one before it.
var formatting = set(atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.S, atom.Small, atom.Strike,
	atom.Strong, atom.Tt, atom.U)

// void elements have no end tag.
var void = set(atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta,
	atom.Param, atom.Source, atom.Track, atom.Wbr)

// A limiter counts what parsing the tokens that it has seen will cost.
type limiter struct {
	elements   int         // of the document, those that are opened again included
	attributes int         // of the text
	paragraphs int         // start tags less end tags; a stray </p> makes an element as well
	open       []atom.Atom // formatting elements
	dropped    map[atom.Atom]int
}

// keep reports whether a tag can stay, and full whether it is one too many.
func (l *limiter) keep(kind html.TokenType, name atom.Atom, attributes int) (ok, full bool) {
	l.attributes += attributes
	switch {
	case kind == html.EndTagToken && formatting[name]:
		if l.dropped[name] > 0 {
			l.dropped[name]--
			return false, false
		}
		if i := slices.Index(l.open, name); i >= 0 {
			l.open = slices.Delete(l.open, i, i+1)
		}
	case kind == html.EndTagToken:
		l.elements += len(l.open)
		if name == atom.P {
			l.paragraphs--
		}
		if name == atom.Br || l.paragraphs < 0 {
			l.paragraphs = 0
			l.elements++
		}
	case formatting[name]:
		if len(l.open) >= maxFormatting {
			l.dropped[name]++
			return false, false
		}
		l.open = append(l.open, name)
		l.elements++
	default:
		l.elements += 1 + len(l.open)
		if name == atom.P {
			l.paragraphs++
		}
	}
	return true, l.elements > maxElements || l.attributes > maxAttributes
}

// bound returns text so that its document is not out of all proportion, how many elements that has, and whether its
// end had to be left out.
// In XML, the empty elements get end tags, without which an HTML parser takes <title/> for the beginning of a title that
// never ends.
func bound(text string, xml bool) (out string, elements int, cut bool) {
	z := html.NewTokenizer(strings.NewReader(text))
	l := limiter{dropped: map[atom.Atom]int{}}
	var sb strings.Builder
	done, pos := 0, 0 // text[:done] is in sb or left out
	replace := func(end int, s string) {
		sb.WriteString(text[done:pos])
		sb.WriteString(s)
		done = end
	}
	for {
		kind := z.Next()
		end := min(pos+len(z.Raw()), len(text))
		switch kind {
		case html.ErrorToken:
			if done == 0 {
				return text, l.elements, false
			}
			return sb.String() + text[done:], l.elements, false
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			tag, more := z.TagName()
			name, attributes := atom.Lookup(tag), 0
			for more && (end-pos > 1<<10 || len(text) > 1<<20) { // the attributes of less cannot take much
				_, _, more = z.TagAttr()
				attributes++
			}
			ok, full := l.keep(kind, name, attributes)
			switch {
			case full:
				return sb.String() + text[done:pos], l.elements, true
			case !ok:
				replace(end, "")
			case attributes > maxPerTag:
				replace(end, "<"+string(tag)+">")
			case xml && kind == html.SelfClosingTagToken && !void[name]:
				z.NextIsNotRawText()
				replace(end, text[pos:end]+"</"+string(tag)+">")
			}
		}
		pos = end
	}
}

// items are closed by the next of their kind, so that a page may have any number of them without nesting.
var items = set(atom.P, atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Td, atom.Th, atom.Option)

// raws hold text only, up to their end tag.
var raws = set(atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Plaintext, atom.Script, atom.Style,
	atom.Textarea, atom.Title, atom.Xmp)

// flatten returns text with no more than depth containers open at a time; the tags of deeper ones are left out. At depth
// 0 only elements are left that never nest.
func flatten(text string, depth int) string {
	z := html.NewTokenizer(strings.NewReader(text))
	var sb strings.Builder
	sb.Grow(len(text))
	var open []bool // whether the start tag was written
	written, pos := 0, 0
	for {
		kind := z.Next()
		end := min(pos+len(z.Raw()), len(text))
		raw := text[pos:end]
		pos = end
		switch kind {
		case html.ErrorToken:
			return sb.String()
		case html.StartTagToken, html.EndTagToken:
			tag, _ := z.TagName()
			name := atom.Lookup(tag)
			switch {
			case raws[name] || void[name]:
			case depth == 0:
				if name != atom.P && !headingNames[name] {
					continue
				}
			case items[name]:
			case kind == html.StartTagToken:
				ok := written < depth
				open = append(open, ok)
				if !ok {
					continue
				}
				written++
			case len(open) > 0:
				ok := open[len(open)-1]
				open = open[:len(open)-1]
				if !ok {
					continue
				}
				written--
			}
		}
		sb.WriteString(raw)
	}
}

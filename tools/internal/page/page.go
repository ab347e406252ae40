// Package page turns a web page into Markdown for a model: it decodes the bytes, chooses the part that is the content,
// renders it and cuts it into windows.
//
// Begin with Convert, which gives a Page; its Window is what one answer can hold, and a Framer puts the marks around it
// that tell a model which words are the web's. Text makes a Page of an answer that is no HTML, Markdown renders a page of
// a book as a whole.
//
// There are two ways through a page. Documentation is kept as it stands within its container, because no extractor of
// articles may touch it: on 24 pages of documentation, two well-known ones lost a quarter of the headings and nine of ten
// code blocks. An article is found by readability and pruned, because its page is mostly something else. Whichever is
// taken holds every code block that the page has outside of its navigation, else the next wider part is taken.
//
// Every page is hostile until shown otherwise: text that a reader would not see is left out, and time and memory are
// bounded by the length of the page (see bound). The package fetches nothing, runs no scripts and keeps no state.
package page

import (
	"context"
	"mime"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A Kind says which part of an answer was taken.
type Kind string

const (
	Documentation Kind = "documentation" // the container of the content
	Article       Kind = "article"       // the text that readability found
	Whole         Kind = "whole page"    // the body without navigation, header and footer
	Plain         Kind = "text"          // the answer was no HTML
)

// A Page is the text of one answer. It is not changed after it was made, and may be used concurrently.
type Page struct {
	Title    string // one line of at most 200 characters, as the page says it; may be empty
	Kind     Kind
	Charset  string // as the WHATWG names it, such as "utf-8"
	Markdown string
	Headings []Heading
	Notes    []string // what is to be known of the conversion, each one sentence of ours

	anchors map[string]int // byte offsets into Markdown of the ids of the page
	why     string         // the rule that chose the part
	fences  bool           // Markdown is Markdown, in which fences count
}

// A Heading is a heading of the Markdown outside of code.
type Heading struct {
	Level  int    // 1 to 6
	Text   string // Markdown of one line
	Offset int    // characters of the Markdown before it
}

// Convert turns the body of an HTML or XHTML answer into a page. ContentType is its header; base is the address it came
// from, or nil: then relative links become text. The only error is that of ctx.
func Convert(ctx context.Context, body []byte, contentType string, base *url.URL) (*Page, error) {
	text, charset := Decode(body, contentType)
	src := newSource(text, isXML(text, contentType), base)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &Page{Charset: charset, Title: title(src.doc), fences: true}
	if src.cut {
		p.Notes = append(p.Notes, "The page is very large; only its first part was read.")
	}
	clean(src.doc)
	part, err := p.choose(ctx, src)
	if err != nil {
		return nil, err
	}
	whole := true
	p.Markdown, p.anchors, whole = render(part, src.base, room(text))
	if !whole {
		p.Notes = append(p.Notes, "The page is far longer as Markdown than as HTML; its end was left out.")
	}
	if utf8.RuneCountInString(p.Markdown) < 200 && strings.Contains(text, "<script") {
		p.Notes = append(p.Notes, "The page has scripts and almost no text; a browser may show more.")
		p.why = "script"
		p.addScripted(src)
	}
	p.Headings = headings(p.Markdown)
	return p, nil
}

// choose returns the part of the page that is its content, and says in p what it is.
func (p *Page) choose(ctx context.Context, src *source) (*html.Node, error) {
	doc := goquery.NewDocumentFromNode(src.doc)
	s := survey(src.doc)
	if part, why := documentation(doc, s); why != "" {
		p.Kind, p.why = Documentation, why
		if part == nil {
			part = wholeBody(doc, s)
		}
		if s.h1 != nil && first(part, isH1) == nil {
			lead(part, s.h1)
		}
		return part, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	part := article(src)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if part != nil {
		n := measure(part)
		enough := n >= 300 || s.letters >= 1000 && n*20 >= s.letters // of a short page, all is little
		if enough && countCode(part) >= s.code {
			p.Kind, p.why = Article, "readability"
			return part, nil
		}
	}
	p.Kind, p.why = Whole, "body"
	return wholeBody(doc, s), nil
}

// room returns how many bytes of Markdown a page may make. Addresses that become absolute and indentation make some pages
// longer than they were; others are made to grow without end.
func room(text string) int { return min(4*len(text)+1<<20, 16<<20) }

// lead puts the heading of the page, which stands outside of the part, before the part.
func lead(part, h1 *html.Node) {
	for p := part; p != nil; p = p.Parent {
		if p == h1 { // markup that was left open puts pages into their headings
			return
		}
	}
	if n := measure(h1); n == 0 || n > 200 {
		return
	}
	detach(h1)
	part.InsertBefore(h1, part.FirstChild)
}

// Markdown renders the whole body of a page of a book, HTML or XHTML. Links within the book become text.
func Markdown(body []byte) (string, error) {
	text, _ := Decode(body, "application/xhtml+xml")
	src := newSource(text, isXML(text, ""), nil)
	clean(src.doc)
	md, _, _ := render(src.doc, nil, room(text))
	return md, nil
}

// Text makes a page of an answer that is no HTML: Markdown and text stay as they are, JSON is put into a fence.
func Text(body []byte, contentType string) *Page {
	text, charset := Decode(body, contentType)
	p := &Page{Kind: Plain, Charset: charset, Markdown: text}
	kind, _, _ := mime.ParseMediaType(contentType)
	switch {
	case kind == "application/json" || kind == "text/json" || strings.HasSuffix(kind, "+json"):
		p.fences = true
		mark := strings.Repeat("`", max(3, longestRun(text, '`')+1))
		p.Markdown = mark + "json\n" + strings.TrimRight(text, "\n") + "\n" + mark
	case kind == "text/markdown" || kind == "text/x-markdown":
		p.fences = true
		p.Headings = headings(text)
	}
	return p
}

// Start returns the offset at which the first window of a page begins that was asked for with a fragment: that of the
// element with this id, or 0 if there is none or the page fits into one window of limit characters.
func (p *Page) Start(fragment string, limit int) int {
	fragment, _, _ = strings.Cut(fragment, ":~:")
	at, ok := p.anchors[fragment]
	if !ok {
		at, ok = p.anchors["user-content-"+fragment] // code hosts prefix the ids of what they render
	}
	if !ok || fragment == "" || utf8.RuneCountInString(p.Markdown) <= limit {
		return 0
	}
	return utf8.RuneCountInString(p.Markdown[:at])
}

// title returns what the page calls itself.
func title(doc *html.Node) string {
	t := ""
	if m := first(doc, func(n *html.Node) bool { return attr(n, "property") == "og:title" && n.Data == "meta" }); m != nil {
		t = plain(attr(m, "content"))
	}
	if t == "" {
		if n := first(doc, func(n *html.Node) bool { return n.DataAtom == atom.Title && n.Namespace == "" }); n != nil {
			t = plain(rawText(n))
		}
	}
	return shorten(t, 200)
}

// isXML reports whether the empty tags of text are empty elements, which they are not in HTML.
func isXML(text, contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType)
	return strings.HasSuffix(kind, "xml") || strings.HasPrefix(strings.TrimSpace(text[:min(len(text), 100)]), "<?xml")
}

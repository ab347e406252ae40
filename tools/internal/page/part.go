package page

import (
	"slices"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// known maps the marks that generators of documentation and code hosts leave in their pages to selectors for the
// container of the content, the best first. A mark is ".class", "#id" or the beginning of the generator's name. The first
// mark that matches, and whose container holds enough, wins.
var known = []struct {
	mark  string
	parts []string
}{
	{".markdown-body", []string{"article.markdown-body", ".markdown-body"}},
	{".theme-doc-markdown", []string{".theme-doc-markdown"}},
	{".vp-doc", []string{".vp-doc"}},
	{"rustdoc", []string{"#main-content", "main"}},
	{"javadoc", []string{"main"}},
	{"Docutils", []string{"[role=main]", "div.body", "div.document"}},
	{".sphinxsidebar", []string{"[role=main]", "div.body"}},
	{".wy-nav-content", []string{"[role=main]", "div.body"}},
	{".md-content", []string{".md-content"}},
	{"#mw-content-text", []string{"#mw-content-text"}},
	{"#apicontent", []string{"#apicontent"}},
	{".UnitReadme", []string{".UnitDetails", ".go-Main-article"}},
	{".UnitDoc", []string{".UnitDetails", ".go-Main-article"}},
	{"Doxygen", []string{"div.contents"}},
	{"AsciiDoc", []string{"#header, #content"}},    // the title stands in the first
	{"Asciidoctor", []string{"#header, #content"}}, // as above
	{"DocBook", []string{".refentry", ".chapter", ".sect1", ".section", ".book"}},
	{"makeinfo", []string{"body"}},
	{"texi", []string{"body"}},
	{"#mdbook-help-container", []string{"main"}},
	{"#mdbook-content", []string{"main"}},
	{"#menu-bar", []string{"main"}},
	{".main-page-content", []string{".main-page-content"}},
	{"#question", []string{"#mainbar", "#question, #answers"}},
	{"#answers", []string{"#mainbar", "#question, #answers"}},
}

// generic containers are taken only when they hold most of the page and of its code.
var generic = []string{"main article", "main", "[role=main]", "article", "#main-content", "#main", "#content", ".content",
	"#bodyContent", ".post-content"}

// What stands around the content, and also within its container. It is not a selector for speed: one of twenty parts took
// a fifth of the time of a page.
var (
	aroundClasses = words("sphinxsidebar related navheader navfooter breadcrumbs theme-doc-toc-mobile " +
		"table-of-contents-mobile nav-wrapper pagination-nav mw-editsection mw-jump-link")
	aroundRoles = words("navigation search banner contentinfo")
)

func isAround(n *html.Node) bool {
	if n.DataAtom == atom.Nav {
		return true
	}
	for _, a := range n.Attr {
		if a.Key == "role" && aroundRoles[a.Val] || a.Key == "class" && hasClass(n, aroundClasses) {
			return true
		}
	}
	return false
}

// join returns one node that holds the outermost of nodes, without what stands around the content in them, or nil if they
// have less code than the page.
func join(nodes []*html.Node, s *census) *html.Node {
	nodes = outermost(nodes)
	code := 0
	for _, n := range nodes {
		code += countCode(n)
	}
	if code < s.code {
		return nil
	}
	root := nodes[0]
	if len(nodes) > 1 {
		root = &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
		for _, n := range nodes {
			detach(n)
			root.AppendChild(n)
		}
	}
	for _, n := range outskirts(root, nil) {
		detach(n)
	}
	return root
}

// outskirts returns the outermost of more and of what stands around the content below n. What has code stays, but for
// navigation.
func outskirts(n *html.Node, more []*html.Node) []*html.Node {
	more = append(more, all(n, isAround)...)
	return outermost(slices.DeleteFunc(more, func(n *html.Node) bool {
		return n.DataAtom != atom.Nav && countCode(n) > 0
	}))
}

// headers selects what stands above and below the content of a page without a container.
const headers = "body > header, body > footer, body > div > footer, body > div > header, body > aside"

// A census is what one walk over a cleaned page finds.
type census struct {
	marks   map[string]bool // ".class" and "#id" of all elements
	maker   string          // what the generator calls itself
	letters int             // of the text
	pres    int             // code blocks, and
	inPres  int             // their text
	spans   int             // of code
	terms   int             // of definition lists
	code    int             // code blocks with text outside of nav, footer and aside
	toc     int             // links to headings of the page
	h1      *html.Node
}

func survey(doc *html.Node) *census {
	s := &census{marks: make(map[string]bool)}
	ids := make(map[string]bool) // of headings
	var links []*html.Node
	var walk func(n *html.Node, aside bool)
	walk = func(n *html.Node, aside bool) {
		switch n.DataAtom {
		case atom.Meta:
			if strings.EqualFold(attr(n, "name"), "generator") {
				s.maker += " " + attr(n, "content")
			}
		case atom.Pre, atom.Listing, atom.Xmp:
			s.pres++
			s.inPres += measure(n)
			if !aside && isCode(n) {
				s.code++
			}
		case atom.Code:
			s.spans++
		case atom.Dt:
			s.terms++
		case atom.Nav, atom.Footer, atom.Aside:
			aside = true
		case atom.A:
			if h := attr(n, "href"); len(h) > 1 && h[0] == '#' {
				links = append(links, n)
			}
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			if s.h1 == nil && n.DataAtom == atom.H1 {
				s.h1 = n
			}
			headingIDs(n, ids)
		}
		for _, a := range n.Attr {
			switch a.Key {
			case "id":
				s.marks["#"+a.Val] = true
			case "class":
				for c := range strings.FieldsSeq(a.Val) {
					s.marks["."+c] = true
				}
			}
		}
		for c := range n.ChildNodes() {
			switch {
			case c.Type == html.TextNode:
				s.letters += textLength(c.Data)
			case c.DataAtom == atom.Head || !unshown[c.DataAtom]:
				walk(c, aside)
			case c.DataAtom == atom.Meta:
				walk(c, aside)
			}
		}
	}
	walk(doc, false)
	for _, a := range links {
		if ids[attr(a, "href")[1:]] && measure(a) > 1 {
			s.toc++
		}
	}
	return s
}

// headingIDs adds the ids under which a link finds heading h: its own, its container's, one inside of it or just before it.
func headingIDs(h *html.Node, ids map[string]bool) {
	near := []*html.Node{h, h.Parent, h.PrevSibling}
	if h.PrevSibling != nil && h.PrevSibling.Type == html.TextNode {
		near[2] = h.PrevSibling.PrevSibling
	}
	near = append(near, first(h, func(n *html.Node) bool { return attr(n, "id") != "" || attr(n, "name") != "" }))
	for _, n := range near {
		if n == nil || n.Type != html.ElementNode {
			continue
		}
		ids[attr(n, "id")] = true
		if n.DataAtom == atom.A {
			ids[attr(n, "name")] = true
		}
	}
	delete(ids, "")
}

// isCode reports whether a pre is a code block of its own: it has text that is more than line numbers.
func isCode(pre *html.Node) bool {
	return measure(pre) > 0 && !isGutter(pre)
}

// countCode counts the code blocks of a part.
func countCode(part *html.Node) int {
	n := 0
	for _, pre := range all(part, isPre) {
		if isCode(pre) {
			n++
		}
	}
	if isPre(part) && isCode(part) {
		n++
	}
	return n
}

// documentation returns the content of a page of documentation and the rule that chose it, or "" if it is none. The node
// is nil if the body is to be taken. On 181 pages of news, two are taken for documentation.
func documentation(doc *goquery.Document, s *census) (*html.Node, string) {
	for _, k := range known {
		if !s.has(k.mark) {
			continue
		}
		for _, sel := range k.parts {
			c := doc.Find(sel)
			if c.Length() == 0 {
				continue
			}
			if n := length(c.Nodes); n >= 200 || n*4 > s.letters {
				return join(c.Nodes, s), "mark " + k.mark
			}
		}
	}
	fullOfCode := s.pres >= 4 || s.pres >= 1 && s.inPres*8 >= s.letters || s.spans >= 12 || s.terms >= 10
	if !fullOfCode && s.toc < 8 {
		return nil, ""
	}
	for _, sel := range generic {
		c := doc.Find(sel)
		if c.Length() == 0 || c.Length() > 3 {
			continue
		}
		if length(c.Nodes)*10 >= s.letters*3 && c.Find("pre").Length()*10 >= s.pres*8 {
			return join(c.Nodes, s), "container " + sel
		}
	}
	return nil, "body"
}

func (s *census) has(mark string) bool {
	if mark[0] == '.' || mark[0] == '#' {
		return s.marks[mark]
	}
	return strings.Contains(s.maker, " "+mark)
}

func length(nodes []*html.Node) int {
	n := 0
	for _, x := range nodes {
		n += measure(x)
	}
	return n
}

// wholeBody returns the body without what stands around the content. Where that would be most of the text, the page uses
// its elements in a way of its own, and all of it stays.
func wholeBody(doc *goquery.Document, s *census) *html.Node {
	body := doc.Nodes[0]
	if b := first(body, is(atom.Body)); b != nil {
		body = b
	}
	outside := outskirts(body, doc.Find(headers).Nodes)
	if length(outside)*5 <= s.letters*4 {
		for _, x := range outside {
			detach(x)
		}
	}
	return body
}

// outermost returns those of nodes that are in no other of them.
func outermost(nodes []*html.Node) []*html.Node {
	in := make(map[*html.Node]bool, len(nodes))
	for _, n := range nodes {
		in[n] = true
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(n *html.Node) bool {
		p := n.Parent
		for p != nil && !in[p] {
			p = p.Parent
		}
		return p != nil
	})
}

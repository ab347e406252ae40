package page

import (
	"regexp"
	"strings"

	readability "codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Pages beyond these limits are not searched for an article. Readability reads the text of a node again for each node
// around it, about 10 ns a byte and level. The largest of 90 pages of news has 1,600 elements and 3 MB times levels.
const (
	maxArticle = 30_000     // elements
	maxNested  = 60_000_000 // bytes of text, each times the elements that it stands in
)

// nested returns the length of the text below n, each byte times its depth.
func nested(n *html.Node, depth int) int {
	total := 0
	for c := range n.ChildNodes() {
		if c.Type == html.TextNode {
			total += len(c.Data) * depth
		} else {
			total += nested(c, depth+1)
		}
	}
	return total
}

// article returns the text of a page of news or a blog, or nil: the part that readability finds, pruned. It needs a
// document of its own, since readability changes it; and nothing is removed by class name beforehand, which would lose
// whole pages.
func article(src *source) *html.Node {
	if src.size > maxArticle {
		return nil
	}
	doc := src.fresh()
	hide(doc)
	if nested(doc, 0) > maxNested {
		return nil
	}
	p := readability.NewParser()
	p.KeepClasses = true                 // they name the languages of code
	a, err := p.ParseAndMutate(doc, nil) // links are made absolute later
	if err != nil || a.Node == nil {
		return nil
	}
	clean(a.Node)
	prune(a.Node)
	trimEdges(a.Node)
	return a.Node
}

// A weight is what counts when a part of an article is judged.
type weight struct {
	letters, linked, links int
	code                   bool // has a code block or span
	table                  bool
}

func (w *weight) add(v weight) {
	w.letters += v.letters
	w.linked += v.linked
	w.links += v.links
	w.code = w.code || v.code
	w.table = w.table || v.table
}

var (
	// beside the text of an article stand
	besideText = set(atom.Figcaption, atom.Figure, atom.Aside, atom.Button, atom.Form, atom.Select, atom.Textarea)
	mayBeLinks = set(atom.Ul, atom.Ol, atom.Div, atom.Section, atom.Table, atom.Dl) // and if so, are navigation
	mayBeLink  = set(atom.P, atom.H2, atom.H3, atom.H4)
)

// prune removes what readability keeps although it is not the text: figures, forms, lists of links. Code and tables stay.
func prune(n *html.Node) weight {
	var w weight
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch c.Type {
		case html.TextNode:
			w.letters += textLength(c.Data)
		case html.ElementNode:
			v := prune(c)
			if toPrune(c, v) {
				n.RemoveChild(c)
			}
			v.code = v.code || isPre(c) || c.DataAtom == atom.Code
			v.table = v.table || c.DataAtom == atom.Table
			if c.DataAtom == atom.A && !strings.HasPrefix(attr(c, "href"), "#") {
				v.links++
				v.linked = v.letters
			}
			w.add(v)
		}
		c = next
	}
	return w
}

// toPrune judges n by what it holds.
func toPrune(n *html.Node, w weight) bool {
	if besideText[n.DataAtom] {
		return !w.code && !w.table
	}
	if w.letters == 0 || w.code || w.linked*10 <= w.letters*6 {
		return false
	}
	if mayBeLinks[n.DataAtom] && w.links > 1 {
		return true
	}
	return (mayBeLinks[n.DataAtom] || mayBeLink[n.DataAtom]) && w.linked*10 > w.letters*9 && w.letters < 200
}

// byline matches the lines that stand around an article and are no part of it.
var byline = regexp.MustCompile(`(?i)^(by |updated|published|posted|last modified|share|tags?:?|follow|subscribe|` +
	`sign up|read more|related|more (from|stories)|advertisement|photo|image|credit|copyright|©|comments?|source:|` +
	`print|email|whatsapp|facebook|twitter)`)

// trimEdges removes the short blocks that are no sentences before the first long block and after the last, and between
// them the lines that begin like a byline or a bar of buttons.
func trimEdges(root *html.Node) {
	blocks := leaves(root, nil)
	start, end := -1, -1
	for i, b := range blocks {
		if isLong(b) {
			if start < 0 {
				start = i
			}
			end = i
		}
	}
	if start < 0 {
		return
	}
	for i, b := range blocks {
		if i < start || i > end {
			detach(b)
			continue
		}
		if t := collapse(rawText(b)); len(t) < 240 && len([]rune(t)) < 60 && !isPre(b) && byline.MatchString(t) {
			detach(b)
		}
	}
}

// leafNames are the blocks that trimEdges judges as a whole.
var leafNames = set(atom.P, atom.Li, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Pre, atom.Table,
	atom.Blockquote, atom.Dt, atom.Dd)

// leaves appends these blocks, and the text that stands in none, to out, in document order.
func leaves(n *html.Node, out []*html.Node) []*html.Node {
	switch {
	case leafNames[n.DataAtom] && n.Type == html.ElementNode, n.Type == html.TextNode && strings.TrimSpace(n.Data) != "":
		return append(out, n)
	}
	for c := range n.ChildNodes() {
		out = leaves(c, out)
	}
	return out
}

func isLong(n *html.Node) bool {
	if isPre(n) || n.DataAtom == atom.Table || n.DataAtom == atom.Blockquote {
		return true
	}
	t := collapse(rawText(n))
	if len(t) < 15 {
		return false
	}
	runes := len([]rune(t))
	return runes > 80 || runes > 30 && strings.ContainsAny(t[len(t)-1:], ".!?") || strings.HasSuffix(t, "。")
}

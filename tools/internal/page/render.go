package page

import (
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// blockNames start a block of their own. Other elements are inline unless they hold a block.
var blockNames = set(atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption, atom.Center, atom.Dd,
	atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer,
	atom.Form, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Hr, atom.Html,
	atom.Legend, atom.Li, atom.Listing, atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.P, atom.Pre, atom.Section,
	atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr, atom.Ul, atom.Xmp)

// A renderer writes Markdown for a reader that searches it: no entities, nothing escaped inside of words, code byte for
// byte, links absolute. It walks the tree once and writes as it goes.
type renderer struct {
	writer
	base      *url.URL
	holds     map[*html.Node]bool // inline elements with a block inside
	addresses int                 // bytes of addresses that may still be written
	spanned   int                 // empty cells written
	card      string              // address of a link around blocks, until one of them carries it
}

// render returns the Markdown of what is below root and where its ids are, and whether all of it found room in about
// limit bytes.
func render(root *html.Node, base *url.URL, limit int) (md string, anchors map[string]int, whole bool) {
	r := &renderer{base: base, holds: make(map[*html.Node]bool), addresses: limit}
	r.left, r.anchors = limit, make(map[string]int)
	r.scan(root)
	r.blocks(root)
	return r.sb.String(), r.anchors, r.left >= 0
}

// scan fills r.holds and reports whether n is a block or holds one.
func (r *renderer) scan(n *html.Node) bool {
	has := false
	for c := range n.ChildNodes() {
		if r.scan(c) {
			has = true
		}
	}
	if blockNames[n.DataAtom] && n.Type == html.ElementNode {
		return true
	}
	if n.DataAtom == atom.Code && first(n, is(atom.Br)) != nil { // a code block without pre
		has = true
	}
	if has {
		r.holds[n] = true
	}
	return has
}

func (r *renderer) isBlock(n *html.Node) bool {
	return n.Type == html.ElementNode && (blockNames[n.DataAtom] || r.holds[n])
}

func (r *renderer) holdsBlock(n *html.Node) bool {
	for c := range n.ChildNodes() {
		if r.isBlock(c) {
			return true
		}
	}
	return false
}

// blocks renders the children of n; neighbouring inline nodes become one paragraph.
func (r *renderer) blocks(n *html.Node) {
	var run line
	for c := range n.ChildNodes() {
		if r.isBlock(c) {
			r.paragraph(&run)
			r.one(c)
			continue
		}
		r.inline(&run, c)
	}
	r.paragraph(&run)
}

// paragraph writes what l has collected, and empties it.
func (r *renderer) paragraph(l *line) {
	for s := range strings.SplitSeq(l.take(), "\n\n") {
		if s == "" {
			continue
		}
		if !strings.Contains(s, "\n") {
			r.block(r.carry("", guard(s)))
			continue
		}
		var out []string
		for part := range strings.SplitSeq(s, "\n") {
			out = append(out, guard(part))
		}
		r.block(strings.Join(out, "\n"))
	}
}

// carry returns mark and text, linked to the address of the card that they stand in if none of it was yet.
func (r *renderer) carry(mark, text string) string {
	if r.card != "" && !strings.Contains(text, "](") {
		text = "[" + text + "](" + r.card + ")"
		r.card = ""
	}
	return mark + text
}

// one renders a block element, or an inline element that holds blocks.
func (r *renderer) one(n *html.Node) {
	if unshown[n.DataAtom] {
		return
	}
	r.note(n)
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		if t := r.oneLine(n); t != "" {
			r.block(r.carry(strings.Repeat("#", int(n.Data[1]-'0'))+" ", t))
		}
	case atom.Pre, atom.Listing, atom.Xmp, atom.Code:
		r.code(preText(n), codeLang(n))
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		r.list(n)
	case atom.Dl:
		r.definitions(n)
	case atom.Blockquote:
		r.push("> ", "> ")
		r.blocks(n)
		r.pop()
	case atom.Table:
		r.table(n)
	case atom.Hr:
		r.block("---")
	case atom.Summary, atom.Legend, atom.Caption:
		if r.holdsBlock(n) { // rustdoc puts the heading of a section there
			r.blocks(n)
			return
		}
		r.bold(n)
	case atom.A: // around blocks: the first line that can carries the address
		outer := r.card
		r.card = r.address(attr(n, "href"))
		r.blocks(n)
		r.card = outer
	default:
		r.blocks(n)
	}
}

// note remembers the ids of n for the next line.
func (r *renderer) note(n *html.Node) {
	for _, a := range n.Attr {
		if a.Val != "" && (a.Key == "id" || a.Key == "name" && n.DataAtom == atom.A) && len(r.pending) < maxAnchors {
			r.pending = append(r.pending, a.Val)
		}
	}
}

// bold writes n as one bold line.
func (r *renderer) bold(n *html.Node) {
	if t := r.oneLine(n); t != "" {
		r.block("**" + strings.Trim(t, "*") + "**")
	}
}

// code writes a code block.
func (r *renderer) code(text, lang string) {
	text = strings.TrimRight(strings.Trim(text, "\n"), " \t\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	text = cropRuns(text, '`')
	mark := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	r.block(mark + lang + "\n" + text + "\n" + mark)
}

// list writes ul and ol. A blank line parts items only after an item that has one itself.
func (r *renderer) list(n *html.Node) {
	if r.inItem() {
		r.tighten()
	}
	number := 1
	if v, err := strconv.Atoi(attr(n, "start")); err == nil && v >= 0 {
		number = v
	}
	for c := range n.ChildNodes() {
		if c.Type != html.ElementNode || unshown[c.DataAtom] {
			continue
		}
		marker := "- "
		if n.DataAtom == atom.Ol {
			marker = strconv.Itoa(number) + ". "
		}
		pad := strings.Repeat(" ", len(marker))
		if c.DataAtom != atom.Li { // a list directly in a list belongs to the item before it
			marker = pad
		}
		r.push(marker, pad)
		if c.DataAtom == atom.Li {
			r.note(c)
			r.blocks(c)
		} else {
			r.tighten()
			r.one(c)
		}
		item := r.pop()
		if item.used && c.DataAtom == atom.Li {
			number++
		}
		if item.used && !item.loose {
			r.tighten()
		}
	}
	r.gap = 2
}

// definitions writes a dl as a list whose items begin with the term, so that it nests.
func (r *renderer) definitions(n *html.Node) {
	if r.inItem() {
		r.tighten()
	}
	open, described := false, false
	begin := func() {
		if !open {
			r.push("- ", "  ")
			open, described = true, false
		}
	}
	end := func() {
		if open {
			r.pop()
			r.gap = 2
		}
		open = false
	}
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		for c := range n.ChildNodes() {
			switch {
			case c.Type != html.ElementNode:
			case c.DataAtom == atom.Dt:
				if described {
					end()
				}
				begin()
				if r.inItem() {
					r.tighten()
				}
				r.note(c)
				r.term(c)
			case c.DataAtom == atom.Dd:
				begin()
				described = true
				r.note(c)
				r.blocks(c)
			case c.DataAtom == atom.Div: // groups dt and dd
				r.note(c)
				walk(c)
			case r.isBlock(c):
				begin()
				described = true
				r.one(c)
			}
		}
	}
	walk(n)
	end()
}

// term writes a dt. A signature, or a term with signs of Markdown in it, becomes code; any other is bold.
func (r *renderer) term(dt *html.Node) {
	if first(dt, func(n *html.Node) bool {
		return isPre(n) || isHeading(n) || n.DataAtom == atom.Ul || n.DataAtom == atom.Ol || n.DataAtom == atom.Table
	}) != nil {
		r.blocks(dt)
		return
	}
	text, t := plain(rawText(dt)), r.oneLine(dt)
	switch {
	case t == "":
	case text != "" && (strings.Contains(attr(dt, "class"), "sig") || strings.ContainsAny(text, "*_`")):
		r.block(codeSpan(text))
	case strings.Contains(t, "`") || strings.Contains(t, "]("):
		r.block(guard(t))
	default:
		r.block("**" + t + "**")
	}
}

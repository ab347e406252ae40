package page

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// permalinkClasses mark the links that stand beside a heading and lead to it.
var permalinkClasses = words("headerlink header-anchor hash-link anchor anchorjs-link heading-link anchor-link permalink")

// junkClasses mark what is for hands or ears: buttons to copy, links to skip, text for screen readers.
var junkClasses = words("sr-only visually-hidden screen-reader-text copybtn copy-button clipboard-copy " +
	"zeroclipboard-container skip-link test-arrow notable-traits-tooltiptext")

// tabClasses mark panels that a click shows.
var tabClasses = words("tab-pane tab-panel tabpanel tab-content tabs-content tabbed-content tabcontent tabs__item tabbed-block")

func words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// clean removes what is never content from the body of a document or from a part of one.
func clean(root *html.Node) {
	hide(root)
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil; {
			next := c.NextSibling
			switch {
			case c.Type == html.CommentNode:
				n.RemoveChild(c)
			case c.Type != html.ElementNode || c.DataAtom == atom.Head:
			case isJunk(c):
				n.RemoveChild(c)
			case isPermalink(c):
				passID(c)
				n.RemoveChild(c)
			default:
				walk(c)
			}
			c = next
		}
	}
	walk(root)
}

func isJunk(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Input:
		return !isCheckbox(n)
	case atom.Button: // a heading that opens its section is often nothing but a button
		return n.Parent == nil || !isHeading(n.Parent) && n.Parent.DataAtom != atom.Dt || measure(n.Parent) > measure(n)
	case atom.Dialog:
		return true
	case atom.Noscript, atom.Link, atom.Meta, atom.Title: // not rendered either way
		return false
	}
	return unshown[n.DataAtom] || len(n.Attr) > 0 && hasClass(n, junkClasses)
}

// isCheckbox reports whether n is the box of a task list.
func isCheckbox(n *html.Node) bool {
	if attr(n, "type") != "checkbox" || n.Parent == nil {
		return false
	}
	p := n.Parent
	if p.DataAtom == atom.P || p.DataAtom == atom.Label {
		p = p.Parent
	}
	return p != nil && p.DataAtom == atom.Li
}

// isPermalink reports whether n is the sign beside a heading that links to it. Some generators use the same classes for a
// link around the whole heading.
func isPermalink(n *html.Node) bool {
	if n.DataAtom != atom.A {
		return false
	}
	p := n.Parent
	inHeading := p != nil && (isHeading(p) || p.DataAtom == atom.Dt || p.DataAtom == atom.Summary)
	text := rawText(n)
	if hasClass(n, permalinkClasses) {
		return !inHeading || strings.Trim(seen(text), " \t\n\r¶#§🔗") == "" || measure(p) > measure(n)
	}
	if p != nil && p.DataAtom == atom.Span {
		p = p.Parent
		inHeading = p != nil && (isHeading(p) || p.DataAtom == atom.Dt)
	}
	return inHeading && strings.HasPrefix(attr(n, "href"), "#") && strings.Trim(seen(text), " \t\n\r¶#§🔗") == "" &&
		first(n, is(atom.Img)) == nil
}

// passID gives the id that a permalink leads to, or has, to the heading that it stands beside.
func passID(n *html.Node) {
	id := attr(n, "id")
	if id == "" {
		id = strings.TrimPrefix(attr(n, "href"), "#")
	}
	h := n.Parent
	for s := n.PrevSibling; s != nil && !isHeading(h); s = s.PrevSibling {
		if s.Type == html.ElementNode {
			h = s
		}
	}
	if id != "" && (isHeading(h) || h.DataAtom == atom.Dt) && attr(h, "id") == "" {
		h.Attr = append(h.Attr, html.Attribute{Key: "id", Val: id})
	}
}

// hide removes what the page's markup hides from a reader: that is where text for models is put that no human shall see.
// Kept are panels that a click shows, what only screen readers skip and yet has paragraphs, and what holds more than half
// of the page, which is hidden only until a script runs.
func hide(root *html.Node) {
	type candidate struct {
		node    *html.Node
		letters int
	}
	var found []candidate
	var walk func(*html.Node) (letters int, prose bool)
	walk = func(n *html.Node) (letters int, prose bool) {
		for c := range n.ChildNodes() {
			if c.Type == html.TextNode {
				letters += textLength(c.Data)
			}
			if c.Type != html.ElementNode || c.DataAtom == atom.Head {
				continue
			}
			l, p := walk(c)
			if why := hiddenBy(c); why == "style" || why == "aria" && !p {
				found = append(found, candidate{c, l})
			}
			if !unshown[c.DataAtom] {
				letters += l
			}
			prose = prose || p || c.DataAtom == atom.P || isPre(c) || isHeading(c)
		}
		return letters, prose
	}
	total, _ := walk(root)
	for _, c := range found {
		switch {
		case c.letters*2 > total: // readability shall not leave it out, either
			c.node.Attr = slices.DeleteFunc(c.node.Attr, func(a html.Attribute) bool {
				return a.Key == "style" || a.Key == "hidden" || a.Key == "aria-hidden"
			})
		case c.node.Parent != nil:
			keepMath(c.node)
			detach(c.node)
		}
	}
}

// keepMath moves formulas out of a node that is to be removed: MathML stands hidden beside a picture of it.
func keepMath(n *html.Node) {
	for _, m := range all(n, is(atom.Math)) {
		detach(m)
		n.Parent.InsertBefore(m, n)
	}
}

// hiddenBy returns "style" if n is not shown, "aria" if it is kept from screen readers, else "".
func hiddenBy(n *html.Node) string {
	why := ""
	for _, a := range n.Attr {
		switch {
		case a.Key == "hidden" && a.Val != "until-found", // which a search in the page finds
			a.Key == "style" && hides(a.Val):
			if !isPanel(n) {
				return "style"
			}
		case a.Key == "aria-hidden" && a.Val == "true":
			why = "aria"
		}
	}
	return why
}

// isPanel reports whether n is one of several panels of which one is shown.
func isPanel(n *html.Node) bool { return attr(n, "role") == "tabpanel" || hasClass(n, tabClasses) }

// hides reports whether a style makes an element invisible.
func hides(style string) bool {
	style = strings.ToLower(style)
	for {
		before, comment, ok := strings.Cut(style, "/*")
		if !ok {
			break
		}
		_, after, _ := strings.Cut(comment, "*/")
		style = before + after
	}
	for decl := range strings.SplitSeq(style, ";") {
		prop, value, ok := strings.Cut(decl, ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(strings.Replace(value, "!important", "", 1))
		switch prop = strings.TrimSpace(prop); prop {
		case "display":
			ok = value == "none"
		case "visibility":
			ok = value == "hidden" || value == "collapse"
		case "opacity", "font-size":
			v, _, numeric := number(value)
			ok = numeric && v < 0.01
		case "color":
			ok = value == "transparent"
		case "left", "top", "right", "bottom", "text-indent", "margin-left", "margin-top", "margin-right":
			ok = isFar(value)
		case "transform":
			_, by, _ := strings.Cut(value, "(")
			ok = strings.HasPrefix(value, "translate") && isFar(by) || strings.HasPrefix(value, "scale") && strings.HasPrefix(by, "0)")
		case "clip", "clip-path":
			ok = value == "rect(0,0,0,0)" || value == "rect(0 0 0 0)" || value == "rect(0, 0, 0, 0)" ||
				strings.HasPrefix(value, "inset(50%") || strings.HasPrefix(value, "inset(100%")
		default:
			ok = false
		}
		if ok {
			return true
		}
	}
	return false
}

// isFar reports whether a length leads out of the page to the left or the top: 1,000 px or more.
func isFar(length string) bool {
	v, unit, ok := number(length)
	switch {
	case strings.HasPrefix(unit, "em"), strings.HasPrefix(unit, "rem"):
		v *= 16
	case strings.HasPrefix(unit, "%"), strings.HasPrefix(unit, "vw"), strings.HasPrefix(unit, "vh"):
		v *= 10
	}
	return ok && v <= -1000
}

// number returns the number that s begins with, and what follows it.
func number(s string) (v float64, unit string, ok bool) {
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.' || end == 0 && s[end] == '-') {
		end++
	}
	v, err := strconv.ParseFloat(s[:end], 64)
	return v, s[end:], err == nil
}

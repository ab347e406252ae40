package page

import (
	"encoding/json"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// addScripted adds what the HTML of a page that is made by script tells of it: its description, its noscript and the text
// of the article that it gives to search engines.
func (p *Page) addScripted(src *source) {
	root := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
	paragraph := func(text string) {
		if plain(text) == "" {
			return
		}
		n := &html.Node{Type: html.ElementNode, Data: "p", DataAtom: atom.P}
		n.AppendChild(&html.Node{Type: html.TextNode, Data: text})
		root.AppendChild(n)
	}
	var body []string
	described := false
	for n := range src.fresh().Descendants() {
		switch n.DataAtom {
		case atom.Meta:
			if (attr(n, "property") == "og:description" || attr(n, "name") == "description") && !described {
				described = true
				paragraph(attr(n, "content"))
			}
		case atom.Noscript: // the parser keeps its inside as text
			text, _, _ := bound(rawText(n), false)
			inside := (&source{text: text}).fresh()
			clean(inside)
			if b := first(inside, is(atom.Body)); b != nil {
				detach(b)
				root.AppendChild(b)
			}
		case atom.Script:
			var v any
			if attr(n, "type") == "application/ld+json" && json.Unmarshal([]byte(rawText(n)), &v) == nil {
				body = append(body, articleBody(v, 0)...)
			}
		}
	}
	for _, b := range body {
		for line := range strings.Lines(b) {
			paragraph(line)
		}
	}
	md, _, _ := render(root, src.base, room(src.text))
	p.Markdown = strings.TrimSpace(p.Markdown + "\n\n" + md)
}

// articleBody finds the texts of articles in JSON-LD.
func articleBody(v any, depth int) []string {
	var out []string
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if depth < 10 {
				out = append(out, articleBody(x, depth+1)...)
			}
		}
	case map[string]any:
		if s, ok := v["articleBody"].(string); ok {
			return []string{s}
		}
		if g, ok := v["@graph"]; ok && depth < 10 {
			return articleBody(g, depth+1)
		}
	}
	return out
}

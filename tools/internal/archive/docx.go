package archive

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// readDocx writes a Word document as Markdown: headings, paragraphs, lists,
// tables, links. What was deleted with changes tracked is left out; so are
// footnotes, headers and the looks of letters.
func readDocx(b *budget, f File, w *writer, _ Options) error {
	p, err := openParts(b, f)
	if err != nil {
		return err
	}
	const body = "word/document.xml"
	d := &docx{w: w, links: p.links(body), heading: headings(p), numbered: numbering(p)}
	err = p.tokens(body, d.token)
	if err == nil && w.chars == 0 {
		w.add("(no text)\n")
	}
	if err == errFull {
		w.note("the rest of the document is left out")
	}
	if d.pictures > 0 {
		w.note("%s not shown; they are under word/media in the file", plural(d.pictures, "picture"))
	}
	return err
}

// docx is a document on its way to Markdown.
type docx struct {
	w        *writer
	links    map[string]string
	heading  map[string]int  // level by the id of a style
	numbered map[string]bool // by the id of a list and its level, "3/0"
	text     strings.Builder // of the paragraph
	level    int             // of a heading; 0: none
	list     string          // id of the list; "": none
	indent   int             // of the list
	link     string          // target of the link at work
	linkFrom int             // where its text begins
	skip     int             // depth inside of what is left out
	inText   bool
	inList   bool         // the piece before was of a list
	tables   []*docxTable // that are open, each in a cell of the one before
	pictures int
}

type docxTable struct {
	rows [][]string
	cell []string // paragraphs
}

func (d *docx) token(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		if d.skip > 0 || t.Name.Local == "Fallback" || t.Name.Local == "sectPr" {
			d.skip++
			return nil
		}
		d.start(t)
	case xml.EndElement:
		if d.skip > 0 {
			d.skip--
			return nil
		}
		return d.end(t.Name.Local)
	case xml.CharData:
		if d.inText && d.skip == 0 {
			d.text.Write(t)
		}
	}
	return nil
}

func (d *docx) start(e xml.StartElement) {
	switch e.Name.Local {
	case "p":
		d.text.Reset()
		d.level, d.list, d.indent = 0, "", 0
	case "pStyle":
		d.level = d.heading[attr(e, "val")]
	case "outlineLvl":
		if n, err := strconv.Atoi(attr(e, "val")); err == nil && n < 6 {
			d.level = n + 1
		}
	case "ilvl":
		d.indent, _ = strconv.Atoi(attr(e, "val"))
	case "numId":
		if d.list = attr(e, "val"); d.list == "0" {
			d.list = ""
		}
	case "t":
		d.inText = true
	case "tab":
		d.text.WriteByte('\t')
	case "br", "cr":
		d.text.WriteByte('\n')
	case "noBreakHyphen":
		d.text.WriteByte('-')
	case "blip":
		d.pictures++
	case "hyperlink":
		d.link, d.linkFrom = d.links[attr(e, "id")], d.text.Len()
	case "tbl":
		d.tables = append(d.tables, &docxTable{})
	case "tr":
		if t := d.table(); t != nil {
			t.rows = append(t.rows, nil)
		}
	case "tc":
		if t := d.table(); t != nil {
			t.cell = nil
		}
	}
}

// table is the innermost table that is open, or nil.
func (d *docx) table() *docxTable {
	if len(d.tables) == 0 {
		return nil
	}
	return d.tables[len(d.tables)-1]
}

func (d *docx) end(name string) error {
	switch name {
	case "t":
		d.inText = false
	case "hyperlink":
		if s := d.text.String(); d.link != "" && d.linkFrom < len(s) {
			d.text.Reset()
			fmt.Fprintf(&d.text, "%s[%s](%s)", s[:d.linkFrom], s[d.linkFrom:], d.link)
		}
		d.link = ""
	case "p":
		return d.paragraph()
	case "tc":
		if t := d.table(); t != nil && len(t.rows) > 0 {
			last := len(t.rows) - 1
			t.rows[last] = append(t.rows[last], strings.Join(t.cell, " "))
		}
	case "tbl":
		if t := d.table(); t != nil {
			d.tables, d.list = d.tables[:len(d.tables)-1], ""
			return d.put(t.markdown())
		}
	}
	return nil
}

func (d *docx) paragraph() error {
	s := strings.TrimSpace(d.text.String())
	d.text.Reset()
	switch {
	case s == "":
		return nil
	case d.level > 0 && d.table() == nil:
		s = strings.Repeat("#", d.level) + " " + strings.ReplaceAll(s, "\n", " ") + "\n\n"
	case d.list != "":
		mark := "- "
		if d.numbered[fmt.Sprintf("%s/%d", d.list, d.indent)] {
			mark = "1. "
		}
		s = strings.Repeat("   ", min(d.indent, 9)) + mark + strings.ReplaceAll(s, "\n", " ") + "\n"
	default:
		s += "\n\n"
	}
	return d.put(s)
}

// put writes a finished piece to the text or to the cell that it stands in.
func (d *docx) put(s string) error {
	if t := d.table(); t != nil {
		t.cell = append(t.cell, strings.Join(strings.Fields(s), " "))
		return nil
	}
	if d.inList && d.list == "" {
		s = "\n" + s
	}
	d.inList = d.list != ""
	return d.w.addCut(s)
}

func (t *docxTable) markdown() string {
	width := 0
	for _, r := range t.rows {
		width = max(width, len(r))
	}
	if width == 0 {
		return ""
	}
	var b strings.Builder
	for i, r := range t.rows {
		for len(r) < width {
			r = append(r, "")
		}
		for i := range r {
			r[i] = strings.ReplaceAll(r[i], "|", `\|`)
		}
		row(&b, r)
		if i == 0 {
			row(&b, strings.Split(strings.Repeat("---,", width-1)+"---", ","))
		}
	}
	return b.String() + "\n"
}

// headings reads which styles are headings. Their ids depend on the language
// of the program, their names and outline levels do not.
func headings(p parts) map[string]int {
	levels := make(map[string]int)
	var id string
	p.tokens("word/styles.xml", func(t xml.Token) error { // without it there are no headings
		e, ok := t.(xml.StartElement)
		if !ok {
			return nil
		}
		switch e.Name.Local {
		case "style":
			id = attr(e, "styleId")
		case "name":
			kind := strings.ToLower(attr(e, "val"))
			if kind == "title" {
				levels[id] = 1
			}
			if n, err := strconv.Atoi(strings.TrimPrefix(kind, "heading ")); err == nil && n >= 1 && n <= 9 {
				levels[id] = min(n, 6)
			}
		case "outlineLvl":
			if n, err := strconv.Atoi(attr(e, "val")); err == nil && n < 6 && id != "" {
				levels[id] = n + 1
			}
		}
		return nil
	})
	return levels
}

// numbering reads which levels of which lists are numbered.
func numbering(p parts) map[string]bool {
	abstract := make(map[string]bool) // by the id of an abstract list and level
	levels := make(map[string]int)    // of each abstract list
	numbered := make(map[string]bool)
	var id, num string
	var level int
	p.tokens("word/numbering.xml", func(t xml.Token) error { // without it all lists have dots
		e, ok := t.(xml.StartElement)
		if !ok {
			return nil
		}
		switch e.Name.Local {
		case "abstractNum":
			id = attr(e, "abstractNumId")
		case "lvl":
			level, _ = strconv.Atoi(attr(e, "ilvl"))
			levels[id] = max(levels[id], level)
		case "numFmt":
			abstract[fmt.Sprintf("%s/%d", id, level)] = attr(e, "val") != "bullet" && attr(e, "val") != "none"
		case "num":
			num = attr(e, "numId")
		case "abstractNumId":
			of := attr(e, "val")
			for l := range min(levels[of], 8) + 1 {
				numbered[fmt.Sprintf("%s/%d", num, l)] = abstract[fmt.Sprintf("%s/%d", of, l)]
			}
		}
		return nil
	})
	return numbered
}

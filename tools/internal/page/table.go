package page

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// table writes a table of data as a pipe table. What holds code, headings, longer lists or another table cannot be one
// line a row: its cells are written one after the other. A table that sets line numbers beside code is the code.
func (r *renderer) table(n *html.Node) {
	rows := tableRows(n)
	if pre := listing(n, rows); pre != nil {
		r.one(pre)
		return
	}
	if code, ok := numbered(rows); ok {
		r.code(code, codeLang(n))
		return
	}
	for c := range n.ChildNodes() {
		if c.DataAtom == atom.Caption {
			r.one(c)
		}
	}
	switch {
	case len(rows) == 0:
		for c := range n.ChildNodes() {
			if c.DataAtom != atom.Caption && r.isBlock(c) {
				r.one(c)
			}
		}
	case isGrid(rows):
		r.grid(rows)
	default:
		for _, row := range rows {
			for _, cell := range row {
				r.note(cell)
				if cell.DataAtom == atom.Th && !r.holdsBlock(cell) {
					r.bold(cell)
					continue
				}
				r.blocks(cell)
			}
		}
	}
}

// What cells may span: the columns of one, and all empty cells of a page that the cells of rows above leave.
const (
	maxSpan    = 16
	maxSpanned = 100_000
)

// grid writes rows as a pipe table. The cells that a cell spans are empty.
func (r *renderer) grid(rows [][]*html.Node) {
	width := 0
	lines := make([][]string, len(rows))
	var below []int // for each column, the rows that a cell above still spans
	for i, row := range rows {
		column := 0
		put := func(cell string, rowspan int) {
			lines[i] = append(lines[i], cell)
			if column == len(below) {
				below = append(below, 0)
			}
			below[column] = rowspan - 1
			column++
		}
		spanned := func() {
			for column < len(below) && below[column] > 0 && r.spanned < maxSpanned {
				r.spanned++
				put("", below[column])
			}
		}
		for _, cell := range row {
			spanned()
			r.note(cell)
			rowspan := span(cell, "rowspan", 1000)
			put(strings.ReplaceAll(r.oneLine(cell), "|", `\|`), rowspan)
			for range span(cell, "colspan", maxSpan) - 1 {
				put("", rowspan)
			}
		}
		spanned()
		width = max(width, len(lines[i]))
	}
	head := make([]string, width)
	if isHead(rows[0]) {
		copy(head, lines[0])
		lines = lines[1:]
	}
	var sb strings.Builder
	sb.WriteString("| " + strings.Join(head, " | ") + " |\n|" + strings.Repeat(" --- |", width))
	for _, cells := range lines {
		if strings.Join(cells, "") != "" {
			sb.WriteString("\n| " + strings.Join(cells, " | ") + " |")
		}
	}
	r.block(sb.String())
}

// tableRows returns the cells of the table's own rows, not those of tables inside of it.
func tableRows(n *html.Node) [][]*html.Node {
	var rows [][]*html.Node
	for c := range n.ChildNodes() {
		switch c.DataAtom {
		case atom.Thead, atom.Tbody, atom.Tfoot:
			rows = append(rows, tableRows(c)...)
		case atom.Tr:
			var row []*html.Node
			for d := range c.ChildNodes() {
				if d.DataAtom == atom.Td || d.DataAtom == atom.Th {
					row = append(row, d)
				}
			}
			if len(row) > 0 {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// isGrid reports whether rows can be lines. A table of one column is layout.
func isGrid(rows [][]*html.Node) bool {
	width := 0
	for _, row := range rows {
		width = max(width, len(row))
		if slices.ContainsFunc(row, isBig) {
			return false
		}
	}
	return width > 1
}

// isBig reports whether a cell is more than a line can hold.
func isBig(cell *html.Node) bool {
	items, paragraphs, length := 0, 0, 0
	for n := range cell.Descendants() {
		switch n.DataAtom {
		case atom.Pre, atom.Listing, atom.Xmp, atom.Table, atom.Dl, atom.H1, atom.H2, atom.H3, atom.H4:
			return true
		case atom.Li:
			items++
		case atom.P:
			paragraphs++
		case 0:
			if n.Type == html.TextNode {
				length += len(n.Data)
			}
		}
		if items > 3 || paragraphs > 4 || length > 4000 {
			return true
		}
	}
	return false
}

func isHead(row []*html.Node) bool {
	if p := row[0].Parent.Parent; p != nil && p.DataAtom == atom.Thead {
		return true
	}
	return !slices.ContainsFunc(row, func(c *html.Node) bool { return c.DataAtom != atom.Th })
}

// span returns how many columns or rows a cell stands for, at most limit.
func span(cell *html.Node, key string, limit int) int {
	v, err := strconv.Atoi(attr(cell, key))
	if err != nil || v < 1 {
		return 1
	}
	return min(v, limit)
}

// listing returns the pre of a table that only sets line numbers beside it, or nil.
func listing(table *html.Node, rows [][]*html.Node) *html.Node {
	if len(rows) != 1 || len(rows[0]) > 2 {
		return nil
	}
	pres := all(table, isPre)
	if len(pres) == 0 || len(pres) > 2 {
		return nil
	}
	code := pres[len(pres)-1]
	if len(pres) == 2 && !isGutter(pres[0]) || isGutter(code) {
		return nil
	}
	rest := strings.Replace(rawText(table), rawText(code), "", 1)
	if strings.Trim(rest, "0123456789 \t\r\n") != "" {
		return nil
	}
	return code
}

// numbered returns the code of a table whose rows are its lines: a number and code.
func numbered(rows [][]*html.Node) (string, bool) {
	var sb strings.Builder
	for _, row := range rows {
		if len(row) != 2 || !isNumbers(row[0]) || first(row[1], isPre) != nil {
			return "", false
		}
		sb.WriteString(strings.TrimRight(preText(row[1]), "\n") + "\n")
	}
	return sb.String(), len(rows) > 0
}

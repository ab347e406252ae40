package archive

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	sheetRows = 200 // shown of each sheet
	sheetCols = 30
)

// readXlsx writes the sheets of a workbook as tables with the letters of the
// columns and the numbers of the rows. Formulas are shown by their last value.
func readXlsx(b *budget, f File, w *writer, _ Options) error {
	p, err := openParts(b, f)
	if err != nil {
		return err
	}
	book, err := openWorkbook(p)
	if err != nil {
		return err
	}
	wanted := make(map[int]string)
	var sheets []*sheet
	for _, s := range book.sheets {
		err = book.readSheet(p, s, wanted)
		if sheets = append(sheets, s); err != nil {
			break
		}
	}
	if stopped := shared(p, wanted); err == nil {
		err = stopped
	}
	for i, s := range sheets {
		if w.addCut(s.markdown(wanted)) != nil {
			w.note("sheet %s is cut%s", quoted(s.name), after(len(book.sheets)-i-1))
			return errFull
		}
	}
	return err
}

func after(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %s after it left out", plural(n, "sheet"))
}

type workbook struct {
	sheets   []*sheet
	dates    map[int]bool // which styles of cells are dates
	from1904 bool
}

type sheet struct {
	name, part string
	hidden     bool
	rows       []sheetRow
	more       string // what is not shown
}

type sheetRow struct {
	number int
	cells  []sheetCell
}

type sheetCell struct {
	text   string
	shared int // 1 + the number of a shared string
}

func openWorkbook(p parts) (*workbook, error) {
	b := &workbook{dates: dateStyles(p)}
	links := p.links("xl/workbook.xml")
	err := p.tokens("xl/workbook.xml", func(t xml.Token) error {
		if e, ok := t.(xml.StartElement); ok {
			switch e.Name.Local {
			case "sheet":
				b.sheets = append(b.sheets, &sheet{name: attr(e, "name"), part: links[attr(e, "id")], hidden: strings.Contains(attr(e, "state"), "idden")})
			case "workbookPr":
				b.from1904 = attr(e, "date1904") == "1" || attr(e, "date1904") == "true"
			}
		}
		return nil
	})
	return b, err
}

// readSheet reads the first cells of a sheet and puts the numbers of the
// shared strings that they need into wanted.
func (b *workbook) readSheet(p parts, s *sheet, wanted map[int]string) error {
	var (
		c       xml.StartElement // the cell at work
		value   strings.Builder
		inValue bool
		row     *sheetRow
		col     int
		rows    int
		wide    bool
	)
	err := p.tokens(s.part, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "row":
				n, err := strconv.Atoi(attr(t, "r"))
				if rows, col, row = rows+1, 0, nil; err != nil {
					n = rows
				}
				if rows <= sheetRows {
					s.rows = append(s.rows, sheetRow{number: n})
					row = &s.rows[len(s.rows)-1]
				}
			case "c":
				c, col = t, column(attr(t, "r"), col)
				value.Reset()
			case "v", "t":
				inValue = true
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "v", "t":
				inValue = false
			case "c":
				wide = wide || col >= sheetCols && value.Len() > 0
				if row != nil && col < sheetCols && value.Len() > 0 {
					for len(row.cells) <= col {
						row.cells = append(row.cells, sheetCell{})
					}
					row.cells[col] = b.cell(c, value.String(), wanted)
				}
				col++
			}
		case xml.CharData:
			if inValue {
				value.Write(t)
			}
		}
		return nil
	})
	var more []string
	if rows > sheetRows {
		more = append(more, fmt.Sprintf("%s in all, %d shown", plural(rows, "row"), sheetRows))
	}
	if wide {
		more = append(more, fmt.Sprintf("columns beyond %s not shown", letters(sheetCols-1)))
	}
	s.more = strings.Join(more, "; ")
	return err
}

// cell makes the text of a cell from its value.
func (b *workbook) cell(c xml.StartElement, value string, wanted map[int]string) sheetCell {
	switch attr(c, "t") {
	case "s":
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < 0 {
			return sheetCell{text: value}
		}
		wanted[n] = ""
		return sheetCell{shared: n + 1}
	case "b":
		return sheetCell{text: strings.NewReplacer("0", "FALSE", "1", "TRUE").Replace(value)}
	case "", "n":
		style, _ := strconv.Atoi(attr(c, "s"))
		if x, err := strconv.ParseFloat(value, 64); err == nil && b.dates[style] && x >= 0 && x < 2_958_466 {
			return sheetCell{text: b.date(x)}
		}
	}
	return sheetCell{text: value}
}

// date writes a number of days as a date. Excel takes 1900 for a leap year.
func (b *workbook) date(days float64) string {
	origin := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case b.from1904:
		origin = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case days < 60:
		origin = origin.AddDate(0, 0, 1)
	}
	whole, part := math.Modf(days)
	t := origin.AddDate(0, 0, int(whole)).Add(time.Duration(math.Round(part*86400)) * time.Second)
	switch {
	case days < 1:
		return t.Format(time.TimeOnly)
	case part == 0:
		return t.Format(time.DateOnly)
	}
	return t.Format(time.DateTime)
}

// dateStyles reads which styles of cells show a number as a date.
func dateStyles(p parts) map[int]bool {
	dates := make(map[int]bool)
	custom := make(map[string]bool)
	inCells, n := false, 0
	p.tokens("xl/styles.xml", func(t xml.Token) error { // without it there are no dates
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "numFmt":
				custom[attr(t, "numFmtId")] = isDate(attr(t, "formatCode"))
			case "cellXfs":
				inCells = true
			case "xf":
				if !inCells {
					break
				}
				id, _ := strconv.Atoi(attr(t, "numFmtId"))
				dates[n] = id >= 14 && id <= 22 || id >= 27 && id <= 36 || id >= 45 && id <= 47 || id >= 50 && id <= 58 || custom[attr(t, "numFmtId")]
				n++
			}
		case xml.EndElement:
			if t.Name.Local == "cellXfs" {
				inCells = false
			}
		}
		return nil
	})
	return dates
}

// isDate reports whether a format code is of a date or time: it has letters of
// one outside of quotes and brackets.
func isDate(code string) bool {
	var quote, bracket bool
	for i, r := range code {
		switch {
		case r == '"':
			quote = !quote
		case quote:
		case r == '[':
			bracket = true
		case r == ']':
			bracket = false
		case bracket, i > 0 && code[i-1] == '\\':
		case strings.ContainsRune("ymdhsYMDHS", r):
			return true
		}
	}
	return false
}

// shared reads the shared strings that are wanted.
func shared(p parts, wanted map[int]string) error {
	if len(wanted) == 0 {
		return nil
	}
	var text strings.Builder
	inText, phonetic, n := false, false, 0
	return p.tokens("xl/sharedStrings.xml", func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "si":
				text.Reset()
			case "t":
				inText = !phonetic
			case "rPh":
				phonetic = true
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "si":
				if _, ok := wanted[n]; ok {
					wanted[n] = text.String()
				}
				n++
			case "t":
				inText = false
			case "rPh":
				phonetic = false
			}
		case xml.CharData:
			if inText {
				text.Write(t)
			}
		}
		return nil
	})
}

// column returns the number of the column of a cell such as "AB12", counted
// from 0, or next if the cell does not say.
func column(ref string, next int) int {
	n := 0
	for _, c := range []byte(ref) {
		if c < 'A' || c > 'Z' || n > 1<<20 {
			break
		}
		n = 26*n + int(c-'A') + 1
	}
	if n == 0 {
		return next
	}
	return n - 1
}

// letters is the name of a column.
func letters(col int) (s string) {
	for ; col >= 0; col = col/26 - 1 {
		s = string(rune('A'+col%26)) + s
	}
	return s
}

func (s *sheet) markdown(shared map[int]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", quoted(s.name))
	if s.hidden {
		b.WriteString("(hidden)\n\n")
	}
	width := 0
	for _, r := range s.rows {
		width = max(width, len(r.cells))
	}
	if width == 0 {
		return b.String() + "(no cells)\n\n"
	}
	head, line := []string{" "}, []string{"---"}
	for c := range width {
		head, line = append(head, letters(c)), append(line, "---")
	}
	row(&b, head)
	row(&b, line)
	for _, r := range s.rows {
		if len(r.cells) == 0 {
			continue
		}
		cells := []string{strconv.Itoa(r.number)}
		for _, c := range r.cells {
			if c.shared > 0 {
				c.text = shared[c.shared-1]
			}
			cells = append(cells, cell(c.text))
		}
		for len(cells) <= width {
			cells = append(cells, "")
		}
		row(&b, cells)
	}
	if s.more != "" {
		fmt.Fprintf(&b, "(%s)\n", s.more)
	}
	return b.String() + "\n"
}

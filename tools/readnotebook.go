package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ferrule/tools/internal/archive"
	"ferrule/tools/internal/atomicfile"
	"ferrule/tools/internal/notebook"
	"ferrule/tools/internal/page"
	"ferrule/tools/internal/picture"
	"ferrule/tools/internal/text"
)

// Characters of outputs on a page of several cells.
const (
	maxOutput   = 10_000 // of one output
	leastOutput = 600    // what each output is sure to get before the page ends
	pictureRoom = 150    // the line that stands for a picture
	aroundCells = 400    // the lines around the cells
)

// mayBeNotebook reports whether a file that begins with head is worth a look at
// all of it.
func mayBeNotebook(head []byte, ext string) bool {
	start := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	return bytes.HasPrefix(start, []byte("{")) &&
		(strings.EqualFold(ext, ".ipynb") || bytes.Contains(start, []byte(`"cell_type"`)) || bytes.Contains(start, []byte(`"nbformat"`)))
}

// noNotebook says that a notebook is not changed as text, nil if data is none.
func noNotebook(data []byte, name, ext string) error {
	if !mayBeNotebook(data[:min(len(data), archive.HeadSize)], ext) {
		return nil
	}
	n, err := notebook.Parse(data)
	if err != nil {
		return nil
	}
	if err := n.Editable(); err != nil {
		return fmt.Errorf("%s %s", name, strings.ReplaceAll(err.Error(), "FILE", name))
	}
	return fmt.Errorf("%s is a notebook; change its cells with NotebookEdit, or all of it with Write", name)
}

// staysNotebook returns an error if a notebook is to be written over with what
// is none.
func staysNotebook(old, content []byte, name, ext string) error {
	if noNotebook(old, name, ext) == nil {
		return nil
	}
	if _, err := notebook.Parse(content); err != nil {
		return fmt.Errorf("%s is a notebook, and the new content %w; nothing was written: mend it, or change cells with NotebookEdit", name, err)
	}
	return nil
}

// readNotebook shows the cells of a notebook, or reports that the file is none:
// then it is text, whatever its name.
func (r *request) readNotebook(ctx context.Context, d docFile) (res Result, is bool, err error) {
	if !mayBeNotebook(d.head, d.ext) {
		return Result{}, false, nil
	}
	writes := r.seen.writes(d.Path)
	data, stamp, err := atomicfile.Read(d.File, maxFile)
	if err != nil {
		return Result{}, true, readError(err, d.name)
	}
	n, err := notebook.Parse(data)
	if err != nil {
		return Result{}, false, nil
	}
	if d.in.Pages != "" {
		return Result{}, true, fmt.Errorf("%s is a notebook; use offset and limit for a part of its cells, pages is for PDFs only", d.name)
	}
	v := notebookView{request: r, n: n, room: max(r.room(d.in.FilePath)-aroundCells, 500)}
	first, last := v.choose(d.in)
	if err := v.write(ctx); err != nil {
		return Result{}, true, err
	}
	r.seen.shown(d.Path, stamp, n.Len(), span{first, last}, writes)
	notes := v.notes(first, last)
	if s := misnamed(d.ext, "a notebook"); s != "" {
		notes = append(notes, s)
	}
	if s := r.followed(d.Place); s != "" {
		notes = append(notes, s)
	}
	about := strings.ReplaceAll(v.about(), "FILE", quoteShell(d.Path))
	res = Result{Text: withNotes(about+"\n"+v.b.String(), notes), Images: v.images}
	res.Meta = readMeta(text.Page{First: first, Last: last, Total: n.Len()})
	return res, true, nil
}

// A notebookView is a page of cells in the making.
type notebookView struct {
	*request
	n      *notebook.Notebook
	room   int // characters
	cells  []cellView
	b      strings.Builder
	images []Image
}

// A cellView is a cell on a page.
type cellView struct {
	notebook.Cell
	number int    // from 1
	head   string // the line that begins it
	pieces []piece
}

const cellEnd = "</cell>\n"

// A piece is an output or an attachment.
type piece struct {
	head, tail string
	text       string
	picture    *notebook.Media
}

// choose takes the cells that the page shows: the sources of all of them fit,
// and something of their outputs. It returns their numbers.
func (v *notebookView) choose(in readInput) (first, last int) {
	first = 1
	if in.Offset != nil {
		if first = *in.Offset; first < 0 {
			first = max(v.n.Len()+first+1, 1)
		}
	}
	end := v.n.Len()
	if in.Limit > 0 && in.Limit < end-first+1 {
		end = first + in.Limit - 1
	}
	left := v.room
	for last = first - 1; last < end; last++ {
		c := v.cell(last)
		left -= c.size()
		for _, p := range c.pieces {
			left -= min(utf8.RuneCountInString(p.text), leastOutput) + p.frame()
		}
		if left < 0 && len(v.cells) > 0 {
			break
		}
		v.cells = append(v.cells, c)
	}
	return first, last
}

// cell reads the cell with index i.
func (v *notebookView) cell(i int) cellView {
	c := cellView{Cell: v.n.Cell(i), number: i + 1}
	c.head = fmt.Sprintf("<cell id=%s type=%s", strconv.Quote(c.ID), strconv.Quote(c.Type))
	if _, err := strconv.Atoi(c.Count); err == nil {
		c.head += fmt.Sprintf(" n=%q", c.Count)
	}
	c.head += ">\n"
	c.Source = strings.ToValidUTF8(c.Source, "\uFFFD")
	if c.Source != "" {
		c.Source += "\n" // always, so that a newline at its end shows as an empty line
	}
	for _, m := range c.Attachments {
		p := piece{head: fmt.Sprintf("(attachment %s: %s, %s", printable(m.Name), m.MIME, size(int64(m.Size))), tail: ")\n"}
		if m.IsPicture() && strings.Contains(c.Source, "attachment:"+m.Name) {
			p.picture = &m
		}
		c.pieces = append(c.pieces, p)
	}
	for _, o := range c.Outputs {
		c.pieces = append(c.pieces, outputPieces(o)...)
	}
	c.Outputs, c.Attachments = nil, nil // their bytes are in the pieces
	return c
}

// frame is how many characters a piece takes beside its text.
func (p piece) frame() int {
	n := utf8.RuneCountInString(p.head) + len(p.tail)
	if p.picture != nil {
		n += pictureRoom
	}
	return n
}

// size is how many characters a cell takes without its pieces.
func (c *cellView) size() int {
	return utf8.RuneCountInString(c.head) + utf8.RuneCountInString(c.Source) + len(cellEnd)
}

// fit makes a cell fit into room that it has for itself: its source is cut last.
func (c *cellView) fit(room int) {
	c.Source = shorten(c.Source, room-len(c.head)-len(cellEnd)-100, "use Bash for all of it")
	room -= c.size()
	for k, p := range c.pieces {
		if room -= p.frame() + min(utf8.RuneCountInString(p.text), 100); room < 100 && k+1 < len(c.pieces) {
			left := fmt.Sprintf("(%s left out for want of room; use Bash for them)\n", count(len(c.pieces)-k, "more output"))
			c.pieces = append(c.pieces[:k:k], piece{head: left})
			return
		}
	}
}

func outputPieces(o notebook.Output) (pieces []piece) {
	p := piece{head: "<output>\n", tail: "</output>\n", text: strings.ToValidUTF8(o.Text, "\uFFFD"), picture: o.Picture}
	if o.Kind == "stderr" || o.Kind == "error" {
		p.head = "<output type=\"" + o.Kind + "\">\n"
	}
	if o.HTML {
		if plain, err := page.Markdown([]byte(p.text)); err == nil {
			p.text = plain
		}
	}
	if p.text != "" && !strings.HasSuffix(p.text, "\n") {
		p.text += "\n"
	}
	if p.text != "" || p.picture != nil {
		pieces = append(pieces, p)
	}
	for _, m := range o.Other {
		if p.text == "" || m.IsPicture() || m.MIME == "image/svg+xml" { // else another form of what is shown
			pieces = append(pieces, piece{head: fmt.Sprintf("(output not shown: %s, %s)\n", printable(m.MIME), size(int64(m.Size)))})
		}
	}
	return pieces
}

// write writes the chosen cells. Where room is short the largest outputs are cut
// first, and only a cell that does not fit alone loses a part of its source.
func (v *notebookView) write(ctx context.Context) error {
	left := v.room
	if len(v.cells) == 1 {
		v.cells[0].fit(left)
	}
	var sizes []int
	for _, c := range v.cells {
		left -= c.size()
		for _, p := range c.pieces {
			left -= p.frame()
			sizes = append(sizes, utf8.RuneCountInString(p.text))
		}
	}
	limit := fair(sizes, left)
	if len(v.cells) > 1 {
		limit = min(limit, maxOutput)
	}
	for _, c := range v.cells {
		v.b.WriteString(c.head + c.Source)
		for _, p := range c.pieces {
			if err := v.piece(ctx, p, c.number, limit); err != nil {
				return err
			}
		}
		v.b.WriteString(cellEnd)
	}
	return nil
}

// piece writes an output or an attachment with at most so many characters of
// text.
func (v *notebookView) piece(ctx context.Context, p piece, number, limit int) error {
	if p.picture == nil {
		way := fmt.Sprintf("offset %d with limit 1 shows the cell alone", number)
		if len(v.cells) == 1 {
			way = "use Bash for all of it"
		}
		v.b.WriteString(p.head + shorten(p.text, limit, way) + p.tail)
		return nil
	}
	line := fmt.Sprintf("%s, %s, not shown: a page shows %d pictures; offset %d shows it", p.picture.MIME, size(int64(p.picture.Size)), maxImages, number)
	if len(v.images) < maxImages {
		img, about, err := v.imageBlock(ctx, p.picture.Data)
		var unfit *picture.Error
		switch {
		case errors.As(err, &unfit):
			line = p.picture.MIME + " that cannot be shown: it " + unfit.Error()
		case err != nil:
			return err
		case img == nil:
			line = about
		default:
			v.images = append(v.images, *img)
			line = fmt.Sprintf("picture %d: %s", len(v.images), about)
		}
	}
	if p.picture.Name != "" {
		v.b.WriteString(p.head + "; " + line + p.tail)
	} else {
		v.b.WriteString(p.head + "(" + line + ")\n" + p.tail)
	}
	return nil
}

// about says what kind of notebook it is.
func (v *notebookView) about() string {
	version := fmt.Sprintf("%d.%d", v.n.Major, v.n.Minor)
	if v.n.Major < 4 {
		version = strconv.Itoa(v.n.Major)
	}
	s := "notebook, format " + version
	if l := v.n.Language(); l != "" {
		s += ", " + printable(l)
	}
	s += ", " + count(v.n.Len(), "cell")
	if v.n.Major < 4 {
		s += "; read-only: NotebookEdit needs format 4, which Bash makes of it: jupyter nbconvert --to notebook --inplace FILE"
	}
	return s
}

// notes say what is not on the page.
func (v *notebookView) notes(first, last int) (notes []string) {
	total := v.n.Len()
	switch {
	case total == 0:
		notes = append(notes, "(the notebook has no cells)")
	case last < first:
		notes = append(notes, fmt.Sprintf("(nothing at offset %d: the notebook has %s)", first, count(total, "cell")))
	case first > 1 || last < total:
		s := fmt.Sprintf("(cells %d to %d of %d", first, last, total)
		if last < total {
			s += fmt.Sprintf("; go on with offset %d", last+1)
		}
		notes = append(notes, s+")")
	}
	if v.n.HasIDs() && slices.ContainsFunc(v.cells, func(c cellView) bool { return c.ID == "cell-"+strconv.Itoa(c.number-1) }) {
		notes = append(notes, "(cells without an id of their own are named by their position)")
	}
	return notes
}

// fair is the most that each of several texts may have so that they fit into
// room: short ones leave their rest to long ones.
func fair(sizes []int, room int) int {
	slices.Sort(sizes)
	for i, s := range sizes {
		share := max(room, 0) / (len(sizes) - i)
		if s > share {
			return share
		}
		room -= s
	}
	return max(room, maxOutput)
}

// shorten leaves n characters of a text that ends with a newline: its beginning
// and its end, with a line between that says how much is missing and the way to
// it.
func shorten(s string, n int, way string) string {
	total := utf8.RuneCountInString(s)
	if total <= n {
		return s
	}
	keep := max(n-len(way)-50, 0) // room for the line
	head := s[:runes(s, keep/2)]
	if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
		head = head[:i]
	}
	tail := s[runes(s, total-keep/2):]
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/2 {
		tail = tail[i+1:]
	}
	if head != "" {
		head += "\n"
	}
	left := total - utf8.RuneCountInString(head) - utf8.RuneCountInString(tail)
	return fmt.Sprintf("%s(%s left out; %s)\n%s", head, count(left, "character"), way, tail)
}

// runes is the length in bytes of the first n characters of s.
func runes(s string, n int) int {
	for i := range s {
		if n--; n < 0 {
			return i
		}
	}
	return len(s)
}

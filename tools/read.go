package tools

import (
	"context"
	"errors"
	"fmt"
	"os"

	"ferrule/tools/internal/archive"
	"ferrule/tools/internal/atomicfile"
	"ferrule/tools/internal/roots"
	"ferrule/tools/internal/text"
)

type readInput struct {
	FilePath string `json:"file_path"`
	Offset   *int   `json:"offset,omitempty"`
	Limit    int    `json:"limit,omitempty" schema:"min=1"`
	Pages    string `json:"pages,omitempty"`
}

// Read shows the lines of a text file, numbered, and what can be shown of
// other files.
var Read = define(spec{
	name: "Read", title: "Read a file", toolset: "files", large: true,
	hints: Hints{ReadOnly: true, Idempotent: true},
}, read)

// maxLine is how much of a line is shown, in characters.
const maxLine = 2000

func read(ctx context.Context, r *request, in readInput) (Result, error) {
	room := r.room(in.FilePath)
	w := text.Window{Offset: 1, Limit: in.Limit, MaxChars: room, MaxLine: min(maxLine, room)}
	if in.Offset != nil {
		if w.Offset = *in.Offset; w.Offset == 0 {
			return Result{}, errors.New("offset must be 1 or more, or negative to count from the end, not 0")
		}
	}
	p, err := r.fileToRead(ctx, in.FilePath)
	if err != nil {
		return Result{}, err
	}
	writes := r.seen.writes(p.Path)
	h, err := p.Open()
	if err != nil {
		return Result{}, openError(err, printable(p.Given))
	}
	defer h.Close()
	d, err := openDoc(p, h, in)
	if err != nil {
		return Result{}, err
	}
	if res, is, err := r.document(ctx, d); is {
		return res, err
	}
	if in.Pages != "" {
		return Result{}, fmt.Errorf("%s is text; use offset and limit for a part of it, pages is for PDFs only", d.name)
	}
	f, stamp, err := load(d)
	if err != nil {
		return Result{}, err
	}
	page := text.Number(f.View(), w)
	r.seen.shown(p.Path, stamp, page.Total, span{page.First, page.Last}, writes)
	notes := pageNotes(page, p, w.MaxLine)
	notes = append(notes, fileNotes(f, page)...)
	if n := misnamed(d.ext, "text"); n != "" && page.Total > 0 {
		notes = append(notes, n)
	}
	if n := r.followed(p); n != "" {
		notes = append(notes, n)
	}
	out := page.Text
	if len(notes) > 0 {
		out = withNotes(out, notes)
	}
	return Result{Text: out, Meta: readMeta(page)}, nil
}

// load reads a file of text.
func load(d docFile) (*text.File, atomicfile.Stamp, error) {
	data, stamp, err := atomicfile.Read(d.File, maxFile)
	if err != nil {
		return nil, stamp, readError(err, d.name)
	}
	f := text.Decode(data, "")
	if f.Binary() {
		return nil, stamp, fmt.Errorf("%s is not text: binary content of %s%s", d.name, size(int64(len(data))), archive.Beginning(data))
	}
	return f, stamp, nil
}

func openError(err error, name string) error {
	var kind *roots.KindError
	if errors.As(err, &kind) {
		return err
	}
	return fmt.Errorf("%s cannot be opened: %s", name, reason(err))
}

func readError(err error, name string) error {
	var large atomicfile.ErrTooLarge
	if errors.As(err, &large) {
		return fmt.Errorf("%s has %s, more than the %s that are read whole; search it with Grep, or print a part with Bash (sed -n 1,200p)",
			name, size(large.Size), size(maxFile))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%s has nothing to read now", name)
	}
	return fmt.Errorf("%s cannot be read: %s", name, reason(err))
}

// pageNotes say what of the file is not on the page and how to get it. Lines
// were cut at so many characters.
func pageNotes(p text.Page, place roots.Place, cut int) (notes []string) {
	switch {
	case p.Total == 0:
		return []string{"(the file is empty)"}
	case p.Last < p.First:
		return []string{fmt.Sprintf("(nothing at offset %d: the file has %s)", p.First, count(p.Total, "line"))}
	case p.First > 1 || p.Last < p.Total:
		n := fmt.Sprintf("(lines %d to %d of %d", p.First, p.Last, p.Total)
		if p.Last < p.Total {
			n += fmt.Sprintf("; go on with offset %d", p.Last+1)
		}
		notes = append(notes, n+")")
	}
	if len(p.LongLines) > 0 {
		line := p.LongLines[0]
		notes = append(notes, fmt.Sprintf("(%s cut at %s characters; for a part of one use Bash, such as: sed -n %dp %s | cut -c %d-%d)",
			count(len(p.LongLines), "line"), thousands(cut), line, quoteShell(place.Path), cut+1, 2*cut))
	}
	return notes
}

// fileNotes tell what the numbered lines do not show of the file.
func fileNotes(f *text.File, p text.Page) (notes []string) {
	enc := f.Encoding()
	switch enc {
	case "":
		notes = append(notes, "(not valid UTF-8 and in no encoding that is sure: bytes that are not ASCII are shown as \uFFFD; Edit keeps them)")
	case "UTF-8":
	default:
		notes = append(notes, "(not valid UTF-8: decoded from "+enc+")")
	}
	if stray, line := f.Stray(); stray > 0 && enc != "" {
		notes = append(notes, fmt.Sprintf("(%s not %s, shown as \uFFFD, the first in line %d; leave them out of old_string, Edit keeps them)",
			areBytes(stray), enc, line))
	}
	switch lf, crlf := f.Endings(); {
	case crlf > 0 && lf > 0:
		notes = append(notes, fmt.Sprintf("(line endings are mixed: %d CRLF, %d LF)", crlf, lf))
	case crlf > 0:
		notes = append(notes, "(line endings are CRLF)")
	}
	if p.NoFinalNewline && p.Last == p.Total && p.Total > 0 {
		notes = append(notes, "(no newline at the end of the file)")
	}
	return notes
}

func areBytes(n int) string {
	if n == 1 {
		return "1 byte is"
	}
	return thousands(n) + " bytes are"
}

func readMeta(p text.Page) map[string]any {
	if p.First <= 1 && p.Last >= p.Total {
		return nil
	}
	m := map[string]any{"shown": max(0, p.Last-p.First+1), "total": p.Total}
	if p.Last < p.Total {
		m["next"] = p.Last + 1
	}
	return map[string]any{"truncated": m}
}

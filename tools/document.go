package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ferrule/tools/internal/archive"
	"ferrule/tools/internal/atomicfile"
	"ferrule/tools/internal/page"
	"ferrule/tools/internal/pdf"
	"ferrule/tools/internal/picture"
	"ferrule/tools/internal/roots"
)

// Documents reads what is no text: PDFs and pictures. Both may need much
// memory, so the sessions of a process share one and take turns. It may be
// used concurrently, and costs nothing before the first document.
type Documents struct {
	pdfs     *pdf.Reader
	pictures *picture.Decoder
	own      bool // of one session, which closes it
}

// NewDocuments returns what [Config.Documents] wants. Below the folder state,
// if it is not "", the PDF engine keeps its compiled code. The caller must call
// Close, after the sessions.
func NewDocuments(state string) *Documents {
	if state != "" {
		state = filepath.Join(state, "cache", "pdfium")
	}
	return &Documents{pdfs: pdf.New(pdf.Options{CacheDir: state}), pictures: picture.NewDecoder()}
}

// Prepare starts the PDF engine, which compiles it the first time: seconds that
// the first PDF need not take then.
func (d *Documents) Prepare(ctx context.Context) error { return d.pdfs.Prepare(ctx) }

// Close stops what was started and waits for it.
func (d *Documents) Close() { d.pdfs.Close() }

// A docFile is an open file that Read was asked for.
type docFile struct {
	roots.Place
	*os.File
	head []byte // its beginning
	name string // how to call it
	ext  string // of the name, such as ".pdf"
	in   readInput
}

// openDoc looks at the beginning of a file.
func openDoc(p roots.Place, f *os.File, in readInput) (docFile, error) {
	d := docFile{Place: p, File: f, name: printable(p.Given), ext: strings.ToLower(filepath.Ext(p.Path)), in: in}
	if p.Info.Size() == 0 { // also files of the kernel, where reading has effects
		return d, nil
	}
	d.head = make([]byte, archive.HeadSize)
	n, err := f.ReadAt(d.head, 0)
	d.head = d.head[:n]
	if err != nil && !errors.Is(err, io.EOF) {
		return d, readError(err, d.name)
	}
	return d, nil
}

// document shows a file that is no text, or reports that this one is text. What
// it is its content says; its name only where a text could begin in the same
// way.
func (r *request) document(ctx context.Context, d docFile) (res Result, is bool, err error) {
	if res, is, err := r.readNotebook(ctx, d); is {
		return res, true, err
	}
	k := archive.Kind{}
	switch format := d.format(); {
	case format != "":
		res, err = r.readPicture(ctx, d)
	case pdf.Is(d.head, d.ext == ".pdf"):
		res, err = r.readPDF(ctx, d)
	default:
		if k = archive.Detect(d.archive(), d.head, d.Path); k.Name == "" {
			return Result{}, false, nil
		}
		res, err = r.readArchive(ctx, d, k)
	}
	if err != nil {
		return Result{}, true, err
	}
	if d.in.Offset != nil || d.in.Limit != 0 {
		res.Text += "\n(offset and limit count lines of text and were left aside)"
	}
	if n := r.followed(d.Place); n != "" {
		res.Text += "\n" + n
	}
	return res, true, nil
}

// format is the format of a picture, "" for other files.
func (d docFile) format() picture.Format {
	f := picture.FormatOf(d.head)
	if f == picture.GIF && d.ext != ".gif" && isPlain(d.head) {
		return "" // its signature is six letters, which a text can begin with
	}
	return f
}

// isPlain reports whether a file that begins with head can be text.
func isPlain(head []byte) bool {
	return !slices.ContainsFunc(head, func(c byte) bool { return c < '\t' })
}

func (d docFile) archive() archive.File {
	f := archive.File{ReaderAt: d.File, Size: d.Info.Size()}
	if string(d.head[:min(len(d.head), 6)]) == "SQLite" {
		wal, err := d.Root.Lstat(d.Rel + "-wal")
		f.WAL = err == nil && wal.Size() > 0
	}
	return f
}

// whole reads the file if it is not larger than limit, which what names.
func (r *request) whole(d docFile, what string, limit int64) (data []byte, err error) {
	writes := r.seen.writes(d.Path)
	data, stamp, err := atomicfile.Read(d.File, limit)
	var large atomicfile.ErrTooLarge
	if errors.As(err, &large) {
		return nil, fmt.Errorf("%s is %s of %s, more than the %s that are read; split or shrink it with Bash first", d.name, what, size(large.Size), size(limit))
	}
	if err != nil {
		return nil, readError(err, d.name)
	}
	r.seen.shown(d.Path, stamp, 0, span{1, 0}, writes)
	return data, nil
}

func (r *request) readPicture(ctx context.Context, d docFile) (Result, error) {
	if d.in.Pages != "" {
		return Result{}, fmt.Errorf("%s is a picture; pages is for PDFs only", d.name)
	}
	data, err := r.whole(d, "a picture", picture.MaxFile)
	if err != nil {
		return Result{}, err
	}
	img, line, err := r.imageBlock(ctx, data)
	if err != nil {
		return Result{}, pictureError(err, d)
	}
	res := Result{Text: line}
	if img != nil {
		res.Images = []Image{*img}
	}
	if n := misnamed(d.ext, string(d.format())); n != "" {
		res.Text += "\n" + n
	}
	return res, nil
}

// pageHeads is the room for the lines between the pages of a PDF, in
// characters.
const pageHeads = 20 * 60

func (r *request) readPDF(ctx context.Context, d docFile) (Result, error) {
	data, err := r.whole(d, "a PDF", pdf.MaxFile)
	if err != nil {
		return Result{}, err
	}
	room := r.room(d.in.FilePath)
	room = max(room-pageHeads, room/2)
	q := pdf.Request{Pages: d.in.Pages, MaxChars: room, MaxImages: maxImages, Say: func(what string) { r.host.Progress(0, what) }}
	if r.cfg.NoImages {
		q.MaxImages = 0
	}
	doc, err := r.cfg.Documents.pdfs.Read(ctx, data, q)
	var wrong *pdf.RangeError
	switch {
	case ctx.Err() != nil, errors.As(err, &wrong):
		return Result{}, err
	case err != nil:
		return Result{}, fmt.Errorf("%s %w", d.name, err)
	}
	text, jpegs := doc.Show(room)
	notes := doc.Notes(q)
	if n := misnamed(d.ext, "PDF"); n != "" {
		notes = append(notes, n)
	}
	res := Result{Text: withNotes(text, notes)}
	for _, j := range jpegs {
		res.Images = append(res.Images, Image{MIME: "image/jpeg", Data: j})
	}
	if n := len(doc.Pages); n > 0 && n < doc.Total {
		res.Meta = map[string]any{"truncated": map[string]any{"shown": n, "total": doc.Total}}
	}
	return res, nil
}

// readArchive shows what is in a file of other files or data.
func (r *request) readArchive(ctx context.Context, d docFile, k archive.Kind) (Result, error) {
	about := fmt.Sprintf("%s, %s", k.Name, size(d.Info.Size()))
	way := k.Command(d.Path, quoteShell(d.Path))
	if !k.Readable() {
		text := fmt.Sprintf("%s is not text: %s, which Read does not show", d.name, about)
		if way != "" {
			text += "; use Bash, such as: " + way
		}
		return Result{}, errors.New(text + archive.Beginning(d.head))
	}
	if d.in.Pages != "" {
		return Result{}, fmt.Errorf("%s is %s; pages is for PDFs only", d.name, k.Name)
	}
	c, err := archive.Read(ctx, d.archive(), k, archive.Options{MaxChars: r.room(d.in.FilePath) - len(about), HTML: page.Markdown})
	if err != nil {
		if ctx.Err() != nil {
			return Result{}, err
		}
		return Result{}, fmt.Errorf("%s, by its first bytes %s, %w%s", d.name, about, err, archive.Beginning(d.head))
	}
	var notes []string
	for _, n := range c.Notes {
		notes = append(notes, "("+strings.ReplaceAll(n, "FILE", quoteShell(d.Path))+")")
	}
	if way != "" {
		notes = append(notes, "(for more use Bash, such as: "+way+")")
	}
	if n := misnamed(d.ext, k.Name); n != "" {
		notes = append(notes, n)
	}
	return Result{Text: withNotes(about+"\n"+strings.TrimRight(c.Text, "\n"), notes)}, nil
}

// misnamed says that an extension stands for another format than what the
// content is; "" if it does not.
func misnamed(ext, what string) string {
	belongs := map[string]string{
		".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".gif": "GIF", ".webp": "WebP", ".bmp": "BMP", ".tif": "TIFF", ".tiff": "TIFF",
		".heic": "HEIC", ".avif": "AVIF", ".pdf": "PDF", ".svg": "text", ".txt": "text", ".md": "text", ".json": "text",
		".ipynb": "a notebook", ".zip": "a zip archive", ".tar": "a tar archive", ".tgz": "a tar.gz archive",
	}[ext]
	if belongs == "" || belongs == what {
		return ""
	}
	return fmt.Sprintf("(the name ends in %s, but the content is %s)", ext, what)
}

// noDocument says why what is no text cannot be changed as text, nil if it is
// text.
func noDocument(data []byte, name string) error {
	what := string(picture.FormatOf(data))
	if pdf.Is(data, strings.HasSuffix(strings.ToLower(strings.Trim(name, `"`)), ".pdf")) {
		what = "PDF"
	}
	if what == "" || what == string(picture.GIF) && isPlain(data) {
		return nil
	}
	return fmt.Errorf("%s is a %s, which is not changed as text; use a program for it with Bash", name, what)
}

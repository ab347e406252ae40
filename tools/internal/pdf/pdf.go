// Package pdf reads the text and pictures of PDF pages.
//
// Begin with [Reader.Read]. The engine is PDFium, compiled to WebAssembly: it
// runs wherever Go runs, and a hostile file meets a sandbox that has neither
// files nor network. It starts with the first document, serves one document at
// a time, and stops when it has had nothing to do for a while. Where it is
// left out (build tag nopdf) or does not start, the pdftotext and pdftoppm of
// the machine take its place.
//
// The text is PDFium's own, with its word breaks and its reading order.
// Rebuilding the layout from the boxes of the glyphs was worse: 0.846 of the
// words right against 0.957, held against pdftotext.
package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"
	"unicode/utf8"
)

// Limits of a document and of what is made of it.
const (
	MaxFile = 100 << 20 // bytes of a document

	fewLetters = 50   // a page with fewer is shown as a picture, too
	longSide   = 1568 // pixels of a page's picture
	maxDPI     = 200
)

// Errors that a user can do something about. Their texts are predicates for
// the file's name.
var (
	ErrPassword = errors.New("is encrypted and needs a password")
	ErrDamaged  = errors.New("is a damaged PDF")
	ErrNoEngine = errors.New("is a PDF, and there is nothing here to read it with: install pdftotext and pdftoppm (package poppler-utils)")
)

// Options say how a [Reader] works. The zero value is fit for use.
type Options struct {
	CacheDir string        // for compiled code, made when needed; "" keeps it in memory
	Idle     time.Duration // without work for so long, the engine stops; 0 means a minute
	PageTime time.Duration // limit for one page; 0 means 10 s

	wazero string // version that compiled code belongs to; "" means what this program was built with
}

// A Reader reads documents, one at a time. It may be used concurrently.
type Reader struct {
	o     Options
	start func(ctx context.Context, o Options, say func(string)) (engine, error)
	base  context.Context // ends when the reader is closed
	end   context.CancelFunc
	jobs  sync.WaitGroup
	slot  chan struct{} // held by whoever uses engine

	engine engine // nil: not started

	mu     sync.Mutex // guards the fields below
	closed bool
	timer  *time.Timer
}

// An engine opens documents.
type engine interface {
	open(ctx context.Context, data []byte) (document, error)
	close()
}

// A document is open. When the context of a call ends, so does the call, and
// the document cannot be used any more except to close it.
type document interface {
	pages() int
	text(ctx context.Context, page int) (string, error)
	picture(ctx context.Context, page int) (picture, error)
	close()
}

// New returns a reader, whose engine is not started. The caller must call
// Close.
func New(o Options) *Reader {
	if o.Idle == 0 {
		o.Idle = time.Minute
	}
	if o.PageTime == 0 {
		o.PageTime = 10 * time.Second
	}
	base, end := context.WithCancel(context.Background())
	return &Reader{o: o, start: startEngine, base: base, end: end, slot: make(chan struct{}, 1)}
}

// Close ends what is being read, stops the engine and waits for both. Later
// reads fail.
func (r *Reader) Close() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.closed = true
	r.mu.Unlock()
	r.end()
	r.jobs.Wait()
	r.slot <- struct{}{} // for good
	if r.timer != nil {
		r.timer.Stop()
	}
	r.stop()
}

// stop ends the engine. The slot is held.
func (r *Reader) stop() {
	if r.engine != nil {
		r.engine.close()
		r.engine = nil
	}
}

// rest lets the engine stop after a while. The slot is held.
func (r *Reader) rest() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.engine == nil {
		return
	}
	if r.timer == nil {
		r.timer = time.AfterFunc(r.o.Idle, r.stopIfIdle)
	} else {
		r.timer.Reset(r.o.Idle)
	}
}

func (r *Reader) stopIfIdle() {
	select {
	case r.slot <- struct{}{}:
		r.stop()
		<-r.slot
	default: // at work again: that sets the timer anew
	}
}

// A Request says what of a document is wanted.
type Request struct {
	Pages     string       // as [ParsePages] reads it
	MaxChars  int          // no further page is read when the texts have so many; 0: no limit
	MaxImages int          // no more pictures than this
	Say       func(string) // is told what takes long; may be nil
}

// A Document is what was read.
type Document struct {
	Total   int // pages that it has
	Pages   []Page
	Left    []int // pages that were asked for and not read, since MaxChars was reached
	Unshown []int // pages without a picture, since MaxImages was reached
	Stuck   int   // a page that took longer than its limit, which ended the reading; 0: none
}

// A Page is one page of a document.
type Page struct {
	Number int
	Text   string // "" if only a picture was asked for
	Blank  bool   // nothing is on it
	JPEG   []byte // its picture, if it has little text or a picture was asked for
	Width  int    // of the picture, in pixels
	Height int
}

// Is reports whether a file that begins with head is a PDF. The signature may
// stand behind other bytes, but then only the name can tell a PDF from a text
// about PDFs: named says that the name ends in .pdf. 1,024 bytes are enough.
func Is(head []byte, named bool) bool {
	if named {
		return bytes.Contains(head[:min(len(head), 1024)], []byte("%PDF-"))
	}
	return signature.Match(head)
}

var signature = regexp.MustCompile(`^\x{FEFF}?[\x00\t\n\f\r ]*%PDF-[12]\.\d[ \t]*[\r\n]`)

// Read reads pages of a document. Besides the errors of this package and a
// [*RangeError] it returns the error of ctx if that ends; a document that had
// begun is then given up.
func (r *Reader) Read(ctx context.Context, data []byte, q Request) (Document, error) {
	var doc Document
	ended, err := r.run(ctx, func(ctx context.Context) (err error) {
		doc, err = r.read(ctx, data, q)
		return err
	})
	if !ended {
		return Document{}, err
	}
	return doc, err
}

// Prepare starts the engine, so that its compiled code lies ready.
func (r *Reader) Prepare(ctx context.Context) error {
	_, err := r.run(ctx, func(context.Context) error { return r.wake(func(string) {}) })
	return err
}

// run runs f when its turn comes and says whether f has ended: when ctx ends,
// it does not wait for f.
func (r *Reader) run(ctx context.Context, f func(context.Context) error) (ended bool, err error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return false, errors.New("cannot be read: the server is ending")
	}
	r.jobs.Add(1)
	r.mu.Unlock()
	select {
	case r.slot <- struct{}{}:
	case <-ctx.Done():
		r.jobs.Done()
		return false, ctx.Err()
	}
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	unhook := context.AfterFunc(r.base, cancel)
	defer unhook()
	go func() { // starting the engine cannot be stopped
		defer r.jobs.Done()
		defer func() { <-r.slot }()
		defer r.rest()
		done <- f(ctx)
	}()
	select {
	case err := <-done:
		return true, err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// wake starts the engine if it does not run. The slot is held.
func (r *Reader) wake(say func(string)) (err error) {
	if r.engine == nil {
		r.engine, err = r.start(r.base, r.o, say)
	}
	return err
}

// read reads pages. The slot is held.
func (r *Reader) read(ctx context.Context, data []byte, q Request) (doc Document, err error) {
	if q.Say == nil {
		q.Say = func(string) {}
	}
	if err := r.wake(q.Say); err != nil {
		return doc, err
	}
	var d document
	err = r.within(ctx, func(ctx context.Context) error {
		d, err = r.engine.open(ctx, data)
		return err
	})
	if errors.Is(err, errStuck) {
		return doc, fmt.Errorf("cannot be read: opening it took longer than %v", r.o.PageTime)
	}
	if err != nil {
		return doc, err
	}
	defer d.close()
	if doc.Total = d.pages(); doc.Total <= 0 {
		return doc, fmt.Errorf("%w: it has no pages", ErrDamaged)
	}
	pages, pictures, err := ParsePages(q.Pages, doc.Total)
	if err != nil {
		return doc, err
	}
	err = r.readPages(ctx, d, &doc, pages, pictures, q)
	if errors.Is(err, errStuck) {
		if len(doc.Pages) == 0 {
			return doc, fmt.Errorf("cannot be read: page %d took longer than %v; name other pages", doc.Stuck, r.o.PageTime)
		}
		err = nil
	}
	return doc, err
}

func (r *Reader) readPages(ctx context.Context, d document, doc *Document, pages []int, pictures bool, q Request) error {
	chars, shown := 0, 0
	for i, n := range pages {
		if q.MaxChars > 0 && chars >= q.MaxChars {
			doc.Left = pages[i:]
			return nil
		}
		q.Say(fmt.Sprintf("reading page %d of %d", n, doc.Total))
		p := Page{Number: n}
		err := r.within(ctx, func(ctx context.Context) error {
			if !pictures {
				text, err := d.text(ctx, n)
				if p.Text = clean(text); err != nil || letters(p.Text) >= fewLetters {
					return err
				}
			}
			if shown >= q.MaxImages {
				doc.Unshown = append(doc.Unshown, n)
				return nil
			}
			pic, err := d.picture(ctx, n)
			if err != nil {
				return err
			}
			if p.Blank = pic.blank; !p.Blank {
				p.JPEG, p.Width, p.Height = pic.jpeg, pic.width, pic.height
				shown++
			}
			return nil
		})
		if errors.Is(err, errStuck) {
			doc.Stuck = n
		}
		if err != nil {
			return err
		}
		if chars += utf8.RuneCountInString(p.Text); chars > q.MaxChars && q.MaxChars > 0 && len(doc.Pages) > 0 {
			doc.Left = pages[i:]
			return nil
		}
		doc.Pages = append(doc.Pages, p)
	}
	return nil
}

// errStuck is what within returns at the limit of a page.
var errStuck = errors.New("took too long")

// within runs f with the time of a page.
func (r *Reader) within(ctx context.Context, f func(context.Context) error) error {
	page, cancel := context.WithTimeout(ctx, r.o.PageTime)
	defer cancel()
	err := f(page)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case page.Err() != nil:
		return errStuck
	}
	return err
}

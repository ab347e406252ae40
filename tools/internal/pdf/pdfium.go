//go:build !nopdf

package pdf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"io"
	"runtime/debug"
	"sync"

	"github.com/klippa-app/go-pdfium"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// maxMemory is what the sandbox may take, in pages of 64 KiB: 1 GiB.
const maxMemory = 1 << 14

// sandbox is PDFium in WebAssembly. One instance lives for one document.
type sandbox struct {
	pool  pdfium.Pool
	cache wazero.CompilationCache
}

// startEngine starts PDFium, or what the machine has if it does not start. A
// later call tries again.
func startEngine(ctx context.Context, o Options, say func(string)) (engine, error) {
	cache := openCache(o.CacheDir, cmp.Or(o.wazero, wazeroVersion()))
	if cache.empty() {
		say("preparing the PDF reader")
	}
	s, err := startSandbox(ctx, cache.handle)
	if err != nil && cache.handle != nil { // what is on disk is of no use
		cache.discard()
		s, err = startSandbox(ctx, nil)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return findPoppler()
	}
	cache.tidy()
	return s, nil
}

func startSandbox(ctx context.Context, cache wazero.CompilationCache) (*sandbox, error) {
	// PDFium unwinds with exceptions, which a configuration of one's own must
	// ask for. Closing on the end of the context makes pages 4 times slower, 7
	// ms each; a page that cannot be stopped would be worse.
	rc := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithCloseOnContextDone(true).
		WithMemoryLimitPages(maxMemory)
	if cache != nil {
		rc = rc.WithCompilationCache(cache)
	}
	pool, err := webassembly.Init(webassembly.Config{
		Context: ctx, MaxIdle: 1, MaxTotal: 1, RuntimeConfig: rc,
		FSConfig: wazero.NewFSConfig(), // the default hands over the whole disk
		Stdout:   io.Discard,           // the default is the stream of the protocol
		Stderr:   io.Discard,
	})
	if err != nil {
		return nil, err
	}
	return &sandbox{pool, cache}, nil
}

func (s *sandbox) close() {
	s.pool.Close()
	if s.cache != nil {
		s.cache.Close(context.Background())
	}
	debug.FreeOSMemory() // the code alone takes 21 MB
}

func (s *sandbox) open(ctx context.Context, data []byte) (document, error) {
	inst, err := s.pool.GetInstanceWithContext(ctx)
	if err != nil {
		return nil, err
	}
	d := &pdfiumDocument{inst: inst}
	err = d.do(ctx, func() error {
		res, err := inst.OpenDocument(&requests.OpenDocument{File: &data})
		if err != nil {
			return err
		}
		d.ref = res.Document
		n, err := inst.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: d.ref})
		if err == nil {
			d.n = n.PageCount
		}
		return err
	})
	switch {
	case err == nil:
		return d, nil
	case errors.Is(err, pdfiumerrors.ErrPassword):
		err = ErrPassword
	case errors.Is(err, pdfiumerrors.ErrSecurity):
		err = fmt.Errorf("%w: its encryption is of an unknown kind", ErrDamaged)
	case ctx.Err() == nil:
		err = ErrDamaged
	}
	d.close()
	return nil, err
}

// A pdfiumDocument is a document open in an instance of its own.
type pdfiumDocument struct {
	inst   pdfium.Pdfium
	ref    references.FPDF_DOCUMENT
	n      int
	killed bool // the instance is gone and must not be touched
}

func (d *pdfiumDocument) pages() int { return d.n }

func (d *pdfiumDocument) close() {
	if !d.killed {
		d.inst.Close()
	}
}

// do calls into the sandbox and kills the instance when ctx ends, the only way
// to stop a call.
func (d *pdfiumDocument) do(ctx context.Context, f func() error) (err error) {
	if err := ctx.Err(); err != nil || d.killed {
		return errors.Join(err, ctx.Err())
	}
	var killed sync.WaitGroup
	killed.Add(1)
	unhook := context.AfterFunc(ctx, func() {
		defer killed.Done()
		d.inst.Kill()
	})
	defer func() {
		if !unhook() {
			killed.Wait()
			d.killed = true
		}
		if p := recover(); p != nil {
			err = fmt.Errorf("%w (%v)", ErrDamaged, p)
		}
		if d.killed {
			err = ctx.Err()
		}
	}()
	return f()
}

func (d *pdfiumDocument) page(n int) requests.Page {
	return requests.Page{ByIndex: &requests.PageByIndex{Document: d.ref, Index: n - 1}}
}

func (d *pdfiumDocument) text(ctx context.Context, n int) (text string, err error) {
	err = d.do(ctx, func() error {
		page, err := d.inst.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: d.page(n)})
		if err != nil {
			return err
		}
		defer d.inst.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: page.TextPage})
		chars, err := d.inst.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: page.TextPage})
		if err != nil || chars.Count <= 0 {
			return err
		}
		res, err := d.inst.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: page.TextPage, Count: chars.Count})
		if err == nil {
			text = res.Text
		}
		return err
	})
	return text, d.pageError(err, n)
}

func (d *pdfiumDocument) picture(ctx context.Context, n int) (p picture, err error) {
	var m *image.RGBA
	err = d.do(ctx, func() error {
		size, err := d.inst.GetPageSize(&requests.GetPageSize{Page: d.page(n)})
		if err != nil {
			return err
		}
		if !(size.Width > 0 && size.Height > 0) {
			return errors.New("no size")
		}
		w, h := pixels(size.Width, size.Height)
		r, err := d.inst.RenderPageInPixels(&requests.RenderPageInPixels{Page: d.page(n), Width: w, Height: h, RenderFlags: withAnnotations})
		if err != nil {
			return err
		}
		defer r.Cleanup()
		m = image.NewRGBA(r.Result.RenderedImage.Bounds())
		draw.Draw(m, m.Rect, r.Result.RenderedImage, image.Point{}, draw.Src) // a copy: its pixels live in the sandbox
		return nil
	})
	if err != nil {
		return p, d.pageError(err, n)
	}
	return pictureOf(m)
}

const withAnnotations = 1 // FPDF_ANNOT: what forms are filled in with, too

// pageError words what PDFium says of one page.
func (d *pdfiumDocument) pageError(err error, n int) error {
	if err == nil || d.killed {
		return err
	}
	return fmt.Errorf("%w: page %d cannot be read", ErrDamaged, n)
}

// Package picture makes a stored picture fit for a model: checked before
// anything is decoded, upright, scaled down, and encoded as PNG or JPEG.
//
// Begin with [Decoder.Show]. What a file is, its content says ([FormatOf]); its
// name counts for nothing here. Only the first frame or page of a file is
// shown. Colour profiles are not applied, and HEIC and AVIF are known by name
// only.
package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"runtime/debug"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"
)

// Limits of what is read. A PNG of 109 kB can ask for 0.9 GB of memory.
const (
	MaxFile    = 64 << 20   // bytes of a file
	maxPixels  = 50_000_000 // width × height
	maxSide    = 30_000     // pixels
	maxDecoded = 256 << 20  // bytes of the decoded picture
)

// Limits of what is shown: hosts scale down what is larger, and some refuse it.
const (
	shownSide   = 1568    // pixels
	shownPixels = 1.15e6  // width × height
	shownBytes  = 3750000 // of the encoded picture
	pngBytes    = 1 << 20 // a PNG without transparency that is larger becomes a JPEG
	jpegQuality = 85
)

// A Picture is what is shown of a file, and what must be said of it.
type Picture struct {
	Data          []byte // the encoded picture, perhaps the file itself
	MIME          string
	Format        Format
	Width, Height int // of the file, upright
	ShownWidth    int // of Data
	ShownHeight   int
	Turned        bool // by the orientation that the file states
	Frames        int  // frames or pages of the file, of which Data shows the first
	OnWhite       bool // transparency was lost to keep it small
}

// Scale is what a coordinate in the shown picture has to be multiplied by for
// the same place in the file's.
func (p Picture) Scale() float64 { return float64(p.Width) / float64(p.ShownWidth) }

// An Error says why a file cannot be shown. Its text is a predicate for the
// file's name: "is a damaged PNG".
type Error struct {
	Format Format
	reason string
}

func (e *Error) Error() string { return e.reason }

// A Decoder decodes one picture at a time, since each may need much memory. It
// may be used concurrently.
type Decoder struct{ slot chan struct{} }

// NewDecoder returns a decoder that is free.
func NewDecoder() *Decoder { return &Decoder{make(chan struct{}, 1)} }

// Show makes a picture of a file's content, which it keeps unchanged. Besides
// an [*Error] it returns the error of ctx, if that ends while it waits for its
// turn or decodes.
func (d *Decoder) Show(ctx context.Context, data []byte) (Picture, error) {
	p, err := head(data)
	if err != nil {
		return Picture{}, err
	}
	select {
	case d.slot <- struct{}{}:
	case <-ctx.Done():
		return Picture{}, ctx.Err()
	}
	defer func() { <-d.slot }()
	if p.decoded > 32<<20 {
		// The next picture may come before the collector has run, and the two
		// together be twice the limit.
		defer debug.FreeOSMemory()
	}
	src, err := decode(ctx, data, p)
	if err != nil {
		return Picture{}, err
	}
	p.ShownWidth, p.ShownHeight = fit(p.Width, p.Height)
	if p.ShownWidth == p.Width && p.asIs && !p.Turned && p.Frames == 1 && len(data) <= shownBytes {
		p.Data, p.MIME = data, p.Format.mime()
		return p.Picture, nil
	}
	w, h := p.ShownWidth, p.ShownHeight
	if p.turn >= 5 {
		w, h = h, w
	}
	small := shrink(src, p.stored, image.Pt(w, h))
	src = nil
	return encode(p.Picture, upright(small, p.turn))
}

// A header is what is known of a file before it is decoded.
type header struct {
	Picture
	stored  image.Point // size before it is turned
	turn    int         // EXIF orientation, 1 to 8
	decoded int         // bytes that decoding takes, about
	asIs    bool        // hosts take files of this kind
}

// head reads the header of a file and holds it against the limits.
func head(data []byte) (header, error) {
	f := FormatOf(data)
	fail := func(format string, args ...any) (header, error) {
		return header{}, &Error{f, fmt.Sprintf(format, args...)}
	}
	switch {
	case f == "":
		return fail("is not a picture of a known type")
	case f == HEIC, f == AVIF:
		return fail("is %s %s picture, which cannot be shown", f.article(), f)
	case len(data) > MaxFile:
		return fail("is %s %s of more than %d MiB, which is too large to show", f.article(), f, MaxFile>>20)
	case f == WebP && webpFrames(data) > 0:
		return fail("is an animated WebP of %d frames, which cannot be shown", webpFrames(data))
	}
	cfg, err := decodeConfig(data)
	if err != nil {
		return fail("%s", damage(f, err))
	}
	p := header{
		Picture: Picture{Format: f, Width: cfg.Width, Height: cfg.Height, Frames: frames(f, data)},
		stored:  image.Pt(cfg.Width, cfg.Height),
		turn:    orientation(f, data),
	}
	perPixel, direct := pixelBytes(f, cfg.ColorModel, data)
	p.asIs = direct && (f == PNG || f == JPEG || f == GIF || f == WebP)
	switch {
	case cfg.Width <= 0 || cfg.Height <= 0:
		return fail("is %s %s without any pixels", f.article(), f)
	case cfg.Width > maxSide || cfg.Height > maxSide || cfg.Width > maxPixels/cfg.Height:
		return fail("is %s %s of %d×%d, which is too large to show: at most %d million pixels and %d a side",
			f.article(), f, cfg.Width, cfg.Height, maxPixels/1_000_000, maxSide)
	}
	p.decoded = int(float64(cfg.Width*cfg.Height) * perPixel)
	if p.decoded > maxDecoded {
		return fail("is %s %s of %d×%d that takes %d MiB of memory to decode, more than the %d that are spent",
			f.article(), f, cfg.Width, cfg.Height, p.decoded>>20, maxDecoded>>20)
	}
	if p.turn > 1 {
		p.Turned = true
	}
	if p.turn >= 5 {
		p.Width, p.Height = p.Height, p.Width
	}
	return p, nil
}

// decodeConfig is image.DecodeConfig without the panics that damaged files
// have caused in decoders.
func decodeConfig(data []byte) (c image.Config, err error) {
	defer recovered(&err)
	c, _, err = image.DecodeConfig(bytes.NewReader(data))
	return c, err
}

func decode(ctx context.Context, data []byte, p header) (m image.Image, err error) {
	m, err = func() (m image.Image, err error) {
		defer recovered(&err)
		m, _, err = image.Decode(&reader{ctx, bytes.NewReader(data)})
		return m, err
	}()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil && p.Format == GIF && cutOff(data):
		err = io.ErrUnexpectedEOF
	case err == nil && p.Format != GIF && m.Bounds().Size() != p.stored:
		err = errors.New("the size is not that of the header")
	}
	if err != nil {
		return nil, &Error{p.Format, damage(p.Format, err)}
	}
	return m, nil
}

func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the decoder gave up: %v", p)
	}
}

// damage words what a decoder says.
func damage(f Format, err error) string {
	var unknown png.UnsupportedError
	var notJPEG jpeg.UnsupportedError
	said := err.Error()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Sprintf("is a damaged %s: it is cut off", f)
	case errors.As(err, &unknown), errors.As(err, &notJPEG), bytes.Contains([]byte(said), []byte("unsupported")):
		return fmt.Sprintf("is %s %s of a kind that cannot be decoded (%s)", f.article(), f, said)
	}
	return fmt.Sprintf("is a damaged %s (%s)", f, said)
}

// A reader ends when its context does, and so do the decoders that read it.
type reader struct {
	ctx context.Context
	*bytes.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p[:min(len(p), 1<<20)])
}

// fit scales a size down to what is shown, never up.
func fit(w, h int) (int, int) {
	k := min(1, shownSide/float64(max(w, h)), math.Sqrt(shownPixels/(float64(w)*float64(h))))
	if k == 1 {
		return w, h
	}
	return max(1, int(float64(w)*k)), max(1, int(float64(h)*k))
}

// encode writes a scaled picture.
func encode(p Picture, m *image.RGBA) (Picture, error) {
	p.ShownWidth, p.ShownHeight = m.Rect.Dx(), m.Rect.Dy()
	clear := !m.Opaque()
	if clear || p.Format != JPEG {
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			return p, err
		}
		if b.Len() <= pngBytes || clear && b.Len() <= shownBytes {
			p.Data, p.MIME = b.Bytes(), PNG.mime()
			return p, nil
		}
	}
	if clear {
		onWhite(m)
		p.OnWhite = true
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: jpegQuality}); err != nil {
		return p, err
	}
	if b.Len() > shownBytes {
		return p, &Error{p.Format, fmt.Sprintf("is %s %s that is too large to show even when scaled down", p.Format.article(), p.Format)}
	}
	p.Data, p.MIME = b.Bytes(), JPEG.mime()
	return p, nil
}

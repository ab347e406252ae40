package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// poppler are the programs of the machine that stand in for PDFium. Each call
// is a process of its own that gets the document on its standard input.
type poppler struct{}

// findPoppler looks for the programs.
func findPoppler() (engine, error) {
	for _, name := range []string{"pdfinfo", "pdftotext", "pdftoppm"} {
		if _, err := exec.LookPath(name); err != nil {
			return nil, ErrNoEngine
		}
	}
	return poppler{}, nil
}

func (poppler) close() {}

func (poppler) open(ctx context.Context, data []byte) (document, error) {
	d := popplerDocument{data: data}
	out, err := d.run(ctx, "pdfinfo", "-")
	if err != nil {
		return nil, err
	}
	if m := pageCount.FindSubmatch(out); m != nil {
		d.n, _ = strconv.Atoi(string(m[1]))
	}
	return d, nil
}

var (
	pageCount = regexp.MustCompile(`(?m)^Pages:\s+(\d+)`)
	pageSize  = regexp.MustCompile(`(?m)^Page\s+\d+ size:\s+([\d.]+) x ([\d.]+) pts`)
)

type popplerDocument struct {
	data []byte
	n    int
}

func (d popplerDocument) pages() int { return d.n }
func (popplerDocument) close()       {}

func (d popplerDocument) text(ctx context.Context, n int) (string, error) {
	page := strconv.Itoa(n)
	out, err := d.run(ctx, "pdftotext", "-f", page, "-l", page, "-enc", "UTF-8", "-", "-")
	return strings.ToValidUTF8(string(out), "\ufffd"), err
}

func (d popplerDocument) picture(ctx context.Context, n int) (p picture, err error) {
	page := strconv.Itoa(n)
	out, err := d.run(ctx, "pdfinfo", "-f", page, "-l", page, "-")
	if err != nil {
		return p, err
	}
	m := pageSize.FindSubmatch(out)
	if m == nil {
		return p, fmt.Errorf("%w: page %d has no size", ErrDamaged, n)
	}
	width, _ := strconv.ParseFloat(string(m[1]), 64)
	height, _ := strconv.ParseFloat(string(m[2]), 64)
	if width <= 0 || height <= 0 {
		return p, fmt.Errorf("%w: page %d has no size", ErrDamaged, n)
	}
	w, h := pixels(width, height)
	out, err = d.run(ctx, "pdftoppm", "-f", page, "-l", page, "-jpeg", "-scale-to", strconv.Itoa(max(w, h)), "-")
	if err != nil {
		return p, err
	}
	shown, err := jpeg.Decode(bytes.NewReader(out))
	if err != nil {
		return p, fmt.Errorf("%w: page %d cannot be shown", ErrDamaged, n)
	}
	rgba := image.NewRGBA(image.Rectangle{Max: shown.Bounds().Size()})
	draw.Draw(rgba, rgba.Rect, shown, shown.Bounds().Min, draw.Src)
	return pictureOf(rgba)
}

// maxOutput is what a program may write, in bytes; it is ended when it writes
// more.
const maxOutput = 16 << 20

// run runs a program with the document on its standard input.
func (d popplerDocument) run(ctx context.Context, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = bytes.NewReader(d.data)
	cmd.WaitDelay = time.Second
	out := capped{cancel: cancel}
	said := capped{cancel: func() {}}
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return out.kept.Bytes(), nil
	case out.full:
		return nil, fmt.Errorf("%w: a page of it is absurdly large", ErrDamaged)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case bytes.Contains(said.kept.Bytes(), []byte("assword")):
		return nil, ErrPassword
	}
	return nil, ErrDamaged
}

// capped keeps the first maxOutput bytes.
type capped struct {
	kept   bytes.Buffer
	cancel func()
	full   bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := maxOutput - c.kept.Len()
	if len(p) > room {
		c.full = true
		c.cancel()
	}
	c.kept.Write(p[:min(len(p), room)])
	return len(p), nil
}

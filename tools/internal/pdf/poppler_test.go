package pdf

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The programs of the machine give the same as PDFium.
func TestPoppler(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pdftotext", "pdftoppm", "pdfinfo"} {
		if _, err := exec.LookPath(name); err != nil {
			missing(t, name)
		}
	}
	r := New(Options{})
	defer r.Close()
	r.start = func(context.Context, Options, func(string)) (engine, error) { return findPoppler() }
	doc, err := r.Read(t.Context(), build("first page", "blank:", "box:0 0 20000 10000"), Request{MaxImages: 8})
	if err != nil || doc.Total != 3 || doc.Pages[0].Text != "first page" || !doc.Pages[1].Blank {
		t.Fatalf("%+v, %v", doc, err)
	}
	if p := doc.Pages[2]; p.Width != 1568 || p.Height != 784 || p.JPEG == nil {
		t.Errorf("%d×%d", p.Width, p.Height)
	}
	good := build(strings.Repeat("x", 400), "second", "third")
	for name, test := range map[string]struct {
		data []byte
		want error
	}{
		"text only":  {[]byte("%PDF-1.4 nope\n"), ErrDamaged},
		"a password": {file(t, "locked.pdf"), ErrPassword},
		"good":       {good, nil},
	} {
		if _, err := r.Read(t.Context(), test.data, Request{}); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	if _, err := r.Read(ctx, good, Request{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// Without them the error says what to install.
func TestNoPoppler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := findPoppler(); !errors.Is(err, ErrNoEngine) {
		t.Error(err)
	}
}

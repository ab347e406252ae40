package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/jpeg"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func read(t *testing.T, data []byte, pages string) (Document, error) {
	t.Helper()
	return reader.Read(t.Context(), data, Request{Pages: pages, MaxImages: 8})
}

func file(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// DOC23: the columns of a paper come one after the other.
func TestColumns(t *testing.T) {
	doc, err := read(t, file(t, "columns.pdf"), "1")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(strings.ReplaceAll(doc.Pages[0].Text, "-\n", ""), "\n", " ")
	left, right := "Landlock can close nothing inside of a folder that is open", "what a token may see and do is fixed"
	if !strings.Contains(text, left) || strings.Index(text, left) > strings.LastIndex(text, right) {
		t.Errorf("the sentences are not whole:\n%s", text)
	}
}

// DOC24, DOC28: a page with little text is shown as a picture, of bounded size
// however large the page says it is; a blank one is not.
func TestPictures(t *testing.T) {
	doc, err := read(t, build("box:0 0 20000 20000", "blank:", strings.Repeat("many words ", 9), "box:0 0 72 144"), "")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][2]int{{1568, 1568}, {0, 0}, {0, 0}, {200, 400}} {
		p := doc.Pages[i]
		if p.Width != want[0] || p.Height != want[1] || (p.JPEG != nil) != (want[0] > 0) || p.Blank != (i == 1) {
			t.Errorf("page %d: %d×%d, %d bytes, blank %v; want %v", i+1, p.Width, p.Height, len(p.JPEG), p.Blank, want)
		}
		if p.JPEG != nil {
			if m, err := jpeg.DecodeConfig(bytes.NewReader(p.JPEG)); err != nil || m.Width != p.Width {
				t.Errorf("page %d: %v %v", i+1, m, err)
			}
		}
	}
	if doc, err = read(t, file(t, "scan.pdf"), ""); err != nil || len(doc.Pages) != 1 || doc.Pages[0].JPEG == nil {
		t.Errorf("a scan: %+v, %v", doc, err)
	}
	if doc, err = read(t, file(t, "pages.pdf"), "image:2"); err != nil || doc.Pages[0].JPEG == nil || doc.Pages[0].Text != "" {
		t.Errorf("a picture that was asked for: %v", err)
	}
	if doc, err = reader.Read(t.Context(), build("a", "b", "c"), Request{MaxImages: 2}); err != nil || fmt.Sprint(doc.Unshown) != "[3]" {
		t.Errorf("pictures above the limit: %v, %v", doc.Unshown, err)
	}
}

// DOC25, DOC26, H048: what cannot be read.
func TestErrors(t *testing.T) {
	good := build(strings.Repeat("x", 400), "second", "third")
	nothing := assemble([]string{"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 0/Kids[]>>"})
	for _, test := range []struct {
		name string
		data []byte
		want error
	}{
		{"text only", []byte("%PDF-1.4 nope\n"), ErrDamaged},
		{"the first half", good[:len(good)/2], ErrDamaged},
		{"no pages", nothing, ErrDamaged},
		{"a password", file(t, "locked.pdf"), ErrPassword},
		{"behind 500 bytes", append(make([]byte, 500), good...), nil},
	} {
		if doc, err := read(t, test.data, ""); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, %d pages; want %v", test.name, err, len(doc.Pages), test.want)
		}
	}
}

func TestIs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		head  string
		named bool
		want  bool
	}{
		{"%PDF-1.4\n%\xe2\xe3", false, true},
		{"\xef\xbb\xbf%PDF-2.0\r\n", false, true},
		{"\n\n%PDF-1.7 \n", false, true},
		{"%PDF-1.4 nope\n", false, false},
		{"%PDF-1.4 nope\n", true, true},
		{"junk %PDF-1.4\n", true, true},
		{"# %PDF-1.4\n", false, false},
		{strings.Repeat(" ", 1030) + "%PDF-1.4\n", true, false},
	} {
		if got := Is([]byte(test.head), test.named); got != test.want {
			t.Errorf("%q named %v: %v", test.head, test.named, got)
		}
	}
}

// The text ends between two pages; the first is always there.
func TestMaxChars(t *testing.T) {
	data := build("aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc")
	for limit, want := range map[int]string{5: "[2 3]", 10: "[2 3]", 25: "[3]", 30: "[]", 0: "[]"} {
		doc, err := reader.Read(t.Context(), data, Request{MaxChars: limit})
		if err != nil || fmt.Sprint(doc.Left) != want || len(doc.Pages)+len(doc.Left) != 3 {
			t.Errorf("%d: left %v of %d, want %s, %v", limit, doc.Left, len(doc.Pages), want, err)
		}
	}
}

// DOC29: two at once both have an answer, and one that was given up does not
// hold the next.
func TestTogether(t *testing.T) {
	data := build("one", "two")
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if _, err := read(t, data, ""); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reader.Read(ctx, data, Request{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	begin := time.Now()
	if _, err := read(t, data, ""); err != nil || time.Since(begin) > 20*time.Second {
		t.Error(err, time.Since(begin))
	}
}

// fake is an engine without WebAssembly, for what is about time.
type fake struct {
	starts, closes atomic.Int32
	page           func(ctx context.Context, n int) (string, error)
}

func (f *fake) open(context.Context, []byte) (document, error)  { return f, nil }
func (f *fake) pages() int                                      { return 3 }
func (f *fake) text(ctx context.Context, n int) (string, error) { return f.page(ctx, n) }
func (f *fake) picture(context.Context, int) (picture, error)   { return picture{blank: true}, nil }
func (f *fake) close()                                          {}

type fakeEngine struct{ *fake }

func (f fakeEngine) close() { f.closes.Add(1) }

func fakeReader(f *fake) *Reader {
	r := New(Options{})
	r.start = func(context.Context, Options, func(string)) (engine, error) {
		f.starts.Add(1)
		return fakeEngine{f}, nil
	}
	return r
}

// The engine starts with the first document and stops after a minute without.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{page: func(context.Context, int) (string, error) { return "text", nil }}
		r := fakeReader(f)
		if f.starts.Load() != 0 {
			t.Error("started without a document")
		}
		for range 2 {
			if _, err := r.Read(t.Context(), nil, Request{}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Second)
		}
		synctest.Wait()
		if f.starts.Load() != 1 || f.closes.Load() != 0 {
			t.Errorf("after 50 s: %d starts, %d stops", f.starts.Load(), f.closes.Load())
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if f.closes.Load() != 1 {
			t.Errorf("after 61 s: %d stops", f.closes.Load())
		}
		if _, err := r.Read(t.Context(), nil, Request{}); err != nil || f.starts.Load() != 2 {
			t.Errorf("%v, %d starts", err, f.starts.Load())
		}
		r.Close()
		r.Close()
		if f.closes.Load() != 2 {
			t.Errorf("after Close: %d stops", f.closes.Load())
		}
		if _, err := r.Read(t.Context(), nil, Request{}); err == nil {
			t.Error("read after Close")
		}
	})
}

// A page has ten seconds; those before it are shown. Who waits for a turn can
// be called off, and so can who reads.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{page: func(ctx context.Context, n int) (string, error) {
			if n == 2 {
				<-ctx.Done()
				return "", ctx.Err()
			}
			return "text", nil
		}}
		r := fakeReader(f)
		begin := time.Now()
		doc, err := r.Read(t.Context(), nil, Request{})
		if err != nil || doc.Stuck != 2 || len(doc.Pages) != 1 || time.Since(begin) != 10*time.Second {
			t.Errorf("%+v, %v after %v", doc, err, time.Since(begin))
		}
		if _, err = r.Read(t.Context(), nil, Request{Pages: "2"}); err == nil || !strings.Contains(err.Error(), "page 2 took longer than 10s") {
			t.Error(err)
		}
		first, cancel := context.WithCancel(t.Context())
		go r.Read(first, nil, Request{})
		synctest.Wait()
		second, cancelSecond := context.WithTimeout(t.Context(), time.Second)
		defer cancelSecond()
		if _, err := r.Read(second, nil, Request{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error("in the queue:", err)
		}
		cancel()
		if _, err := r.Read(t.Context(), nil, Request{Pages: "1"}); err != nil {
			t.Error("after one was called off:", err)
		}
		go r.Read(t.Context(), nil, Request{})
		synctest.Wait()
		r.Close()
	})
}

// An engine that did not start is tried again.
func TestStartAgain(t *testing.T) {
	f := &fake{page: func(context.Context, int) (string, error) { return "text", nil }}
	r := fakeReader(f)
	defer r.Close()
	good := r.start
	r.start = func(context.Context, Options, func(string)) (engine, error) { return nil, ErrNoEngine }
	if _, err := r.Read(t.Context(), nil, Request{}); !errors.Is(err, ErrNoEngine) {
		t.Error(err)
	}
	r.start = good
	if err := r.Prepare(t.Context()); err != nil || f.starts.Load() != 1 {
		t.Error(err)
	}
	if _, err := r.Read(t.Context(), nil, Request{}); err != nil {
		t.Error(err)
	}
}

func BenchmarkFirstPage(b *testing.B) {
	data, err := os.ReadFile(os.Getenv("FERRULE_PDFS") + "/r-refman.pdf")
	if err != nil {
		b.Skip("FERRULE_PDFS names no folder with r-refman.pdf")
	}
	b.Run("warm", func(b *testing.B) {
		for b.Loop() {
			if _, err := reader.Read(b.Context(), data, Request{Pages: "1", MaxImages: 1}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("start", func(b *testing.B) {
		for b.Loop() {
			r := New(options())
			if _, err := r.Read(b.Context(), data, Request{Pages: "1", MaxImages: 1}); err != nil {
				b.Fatal(err)
			}
			r.Close()
		}
	})
}

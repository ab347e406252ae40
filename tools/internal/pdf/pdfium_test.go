//go:build !nopdf

package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A call into the sandbox ends with its context, whatever the page does.
func TestKill(t *testing.T) {
	o := options()
	o.PageTime = time.Nanosecond
	r := New(o)
	defer r.Close()
	if _, err := r.Read(t.Context(), build("x"), Request{}); err == nil || !strings.Contains(err.Error(), "took longer than 1ns") {
		t.Error(err)
	}
	r.o.PageTime = 20 * time.Second
	// A page of nested forms takes exponential time to draw: 2 to the 40th
	// squares.
	slow := fractal(40)
	ctx, cancel := context.WithCancel(t.Context())
	say := func(what string) {
		if strings.HasPrefix(what, "reading") {
			time.AfterFunc(50*time.Millisecond, cancel)
		}
	}
	begin := time.Now()
	if _, err := r.Read(ctx, slow, Request{Pages: "image:1", MaxImages: 1, Say: say}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if doc, err := r.Read(t.Context(), build("x"), Request{MaxImages: 1}); err != nil || doc.Pages[0].JPEG == nil {
		t.Error("after a page that was killed:", err)
	}
	if d := time.Since(begin); d > 20*time.Second {
		t.Error("it took", d)
	}
	r.o.PageTime = 2 * time.Second
	doc, err := r.Read(t.Context(), slow, Request{Pages: "image:1-2", MaxImages: 2})
	if err == nil || !strings.Contains(err.Error(), "page 1 took longer") || doc.Stuck != 1 {
		t.Error(doc, err)
	}
}

// fractal is a page that draws a form twice, which draws a form twice, …
func fractal(depth int) []byte {
	objs := []string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 2/Kids[3 0 R 3 0 R]>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]/Resources<</XObject<</X 5 0 R>>>>/Contents 4 0 R>>",
		"<</Length 5>>stream\n/X Do\nendstream",
	}
	for i := range depth {
		content, next := "/X Do /X Do", fmt.Sprintf("/Resources<</XObject<</X %d 0 R>>>>", 6+i)
		if i == depth-1 {
			content, next = "0 0 9 9 re f", ""
		}
		objs = append(objs, fmt.Sprintf("<</Type/XObject/Subtype/Form/BBox[0 0 100 100]%s/Length %d>>stream\n%s\nendstream", next, len(content), content))
	}
	return assemble(objs)
}

// The sandbox has no files: what a page refers to outside stays outside. It
// writes nothing to the streams of the process.
func TestSilent(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = w
	_, err = read(t, build("x"), "")
	os.Stdout = stdout
	w.Close()
	said, _ := io.ReadAll(r)
	if err != nil || len(said) > 0 {
		t.Errorf("%v, on standard output %q", err, said)
	}
}

// A folder for compiled code that cannot be used is done without.
func TestCacheFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("folders have no modes")
	}
	dir := t.TempDir()
	open := dir + "/open"
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777), os.WriteFile(dir+"/file", nil, 0o600), os.Symlink(dir, dir+"/link")); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", open, dir + "/file", dir + "/file/below", dir + "/link"} {
		if c := openCache(bad, "dev"); c.handle != nil || !c.empty() {
			t.Errorf("%s is used", bad)
		}
	}
	if c := openCache(dir+"/new", ""); c.handle != nil {
		t.Error("used for an unknown version")
	}
	c := openCache(dir+"/new", "dev")
	if c.handle == nil || !c.empty() {
		t.Fatal("a good folder is not used")
	}
	c.handle.Close(t.Context())
	if err := errors.Join(os.Mkdir(dir+"/new/wazero-1.0-a-b", 0o700), os.WriteFile(dir+"/new/"+c.name+"/x", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if c.empty() {
		t.Error("a folder with code counts as empty")
	}
	c.tidy()
	entries, _ := os.ReadDir(dir + "/new")
	if len(entries) != 1 || entries[0].Name() != c.name {
		t.Errorf("left: %v", entries)
	}
}

// DOC22: the text of each page.
func TestText(t *testing.T) {
	doc, err := read(t, build("first page", "second page", "cjk:表示と中文", "fourth page"), "2-3")
	if err != nil || doc.Total != 4 || len(doc.Pages) != 2 {
		t.Fatalf("%+v, %v", doc, err)
	}
	for i, want := range []string{"second page", "表示と中文"} {
		if p := doc.Pages[i]; p.Number != i+2 || p.Text != want {
			t.Errorf("got page %d %q, want %q", p.Number, p.Text, want)
		}
	}
}

package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// With pictures switched off a result has the line that says what the picture
// is, and no block; a damaged one is an error as ever.
func TestNoImages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"a.png": b.Bytes(), "cut.png": b.Bytes()[:40]} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	docs := NewDocuments("")
	defer docs.Close()
	for _, off := range []bool{false, true} {
		s, err := NewSession(Config{Roots: []string{dir}, Documents: docs, NoImages: off})
		if err != nil {
			t.Fatal(err)
		}
		read := func(name string) Result {
			args, _ := json.Marshal(map[string]string{"file_path": name})
			return Read.Call(t.Context(), s, nil, args)
		}
		res := read("a.png")
		want := fmt.Sprintf("PNG, 40×30, %d bytes", b.Len())
		if off {
			want += "; not shown, since pictures are switched off"
		}
		if res.Failed || res.Text != want || (len(res.Images) == 0) != off {
			t.Errorf("%s, %d pictures; want %s", res.Text, len(res.Images), want)
		}
		if res := read("cut.png"); !res.Failed || res.Images != nil || !strings.Contains(res.Text, "damaged PNG") {
			t.Errorf("%+v", res)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

package tools

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// notebookSession serves notebooks of one folder with a small cap.
func notebookSession(t *testing.T, cfg Config, files map[string]any) *Session {
	t.Helper()
	dir := t.TempDir()
	for name, cells := range files {
		data, err := json.Marshal(map[string]any{"cells": cells, "metadata": map[string]any{}, "nbformat": 4, "nbformat_minor": 5})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cfg.Roots = []string{dir}
	s, err := NewSession(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func codeCell(i int, source string, outputs ...any) map[string]any {
	return map[string]any{"cell_type": "code", "execution_count": i, "id": fmt.Sprintf("c%d", i), "metadata": map[string]any{}, "source": source, "outputs": outputs}
}

func stream(text string) any {
	return map[string]any{"output_type": "stream", "name": "stdout", "text": text}
}

// Whatever a notebook holds, a page of it stays within the cap, pages lead
// through all cells, and sources are whole unless a cell does not fit alone.
func TestNotebookPages(t *testing.T) {
	t.Parallel()
	var many, outputs []any
	for i := range 60 {
		cell := codeCell(i, strings.Repeat(fmt.Sprintf("source %d é\n", i), 1+i%7*10), stream(strings.Repeat("é", i*i*3)))
		many = append(many, cell)
		result := map[string]any{"output_type": "execute_result", "execution_count": 1, "metadata": map[string]any{}, "data": map[string]any{"text/plain": fmt.Sprint("result ", i)}}
		for range 10 {
			outputs = append(outputs, result)
		}
	}
	lone := []any{codeCell(0, "first"), codeCell(1, strings.Repeat("long source\n", 5000), stream("x")), codeCell(2, "outputs", outputs...), codeCell(3, strings.Repeat("y", 9000))}
	const limit = 8000
	s := notebookSession(t, Config{MaxResultChars: limit}, map[string]any{"many.ipynb": many, "lone.ipynb": lone})
	for name, cells := range map[string]int{"many.ipynb": len(many), "lone.ipynb": len(lone)} {
		pages := 0
		for offset := 1; offset <= cells; pages++ {
			args, _ := json.Marshal(map[string]any{"file_path": name, "offset": offset})
			res := Read.Call(t.Context(), s, nil, args)
			if n := utf8.RuneCountInString(res.Text); res.Failed || n > limit {
				t.Fatalf("%s from %d: %d characters: %.300s", name, offset, n, res.Text)
			}
			next := cells + 1
			if at, ok := res.Meta["truncated"].(map[string]any); ok && at["next"] != nil {
				next = at["next"].(int)
			}
			if next <= offset {
				t.Fatalf("%s: the page at %d goes on at %d", name, offset, next)
			}
			for i := offset; i < next && name == "many.ipynb"; i++ {
				want := fmt.Sprintf("<cell id=\"c%d\" type=\"code\" n=\"%d\">\n%s", i-1, i-1, many[i-1].(map[string]any)["source"])
				if !strings.Contains(res.Text, want) {
					t.Errorf("%s: cell %d is not whole on the page from %d", name, i, offset)
				}
			}
			offset = next
		}
		if pages < 3 {
			t.Errorf("%s: %d pages", name, pages)
		}
	}
	args, _ := json.Marshal(map[string]any{"file_path": "lone.ipynb", "offset": 3, "limit": 1})
	if res := Read.Call(t.Context(), s, nil, args); !strings.Contains(res.Text, "more outputs left out for want of room; use Bash for them)") {
		t.Errorf("%.300s … %s", res.Text, res.Text[max(0, len(res.Text)-300):])
	}
	args, _ = json.Marshal(map[string]any{"file_path": "lone.ipynb", "offset": 2, "limit": 1})
	if res := Read.Call(t.Context(), s, nil, args); !strings.Contains(res.Text, "characters left out; use Bash for all of it)\nlong source") {
		t.Errorf("%.300s", res.Text)
	}
}

// A page shows eight pictures and says of the others where they are; a damaged
// one is told, and with pictures switched off there are lines only.
func TestNotebookPictures(t *testing.T) {
	t.Parallel()
	png, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAACgAAAAeCAIAAADRv8uKAAAARklEQVR4AezVsQkAIBAEQZHvv+W3Bw/2kp1cDjf52RPY/9c3mI04jDE1xtQYU2NqqSc5bYnajx3GmBpjaoypMbXULwAA///wbAU8t9qaiAAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}
	picture := func(b []byte) any {
		return map[string]any{"output_type": "display_data", "metadata": map[string]any{}, "data": map[string]any{"image/png": base64.StdEncoding.EncodeToString(b)}}
	}
	var cells []any
	for i := range 10 {
		cells = append(cells, codeCell(i, "plot()", picture(png)))
	}
	cells[3] = codeCell(3, "cut", picture(png[:60]))
	files := map[string]any{"n.ipynb": cells}
	args := json.RawMessage(`{"file_path": "n.ipynb"}`)
	res := Read.Call(t.Context(), notebookSession(t, Config{}, files), nil, args)
	for _, want := range []string{
		"(picture 8: PNG, 40×30, 127 bytes)",
		"(image/png that cannot be shown: it is a damaged PNG",
		"(image/png, 127 bytes, not shown: a page shows 8 pictures; offset 10 shows it)",
	} {
		if !strings.Contains(res.Text, want) {
			t.Errorf("no %q in\n%s", want, res.Text)
		}
	}
	if len(res.Images) != maxImages {
		t.Errorf("%d pictures", len(res.Images))
	}
	res = Read.Call(t.Context(), notebookSession(t, Config{NoImages: true}, files), nil, args)
	if res.Images != nil || strings.Count(res.Text, "(PNG, 40×30, 127 bytes; not shown, since pictures are switched off)") != 9 {
		t.Errorf("%d pictures, %s", len(res.Images), res.Text)
	}
}

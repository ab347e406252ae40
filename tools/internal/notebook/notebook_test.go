package notebook

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// styles is what several writers make of notebooks.
var styles = map[string]string{
	"jupyter 4.5": `{
 "cells": [
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "a-1",
   "metadata": {"i": 12345678901234567890123, "f": 1.10, "e": 1E+05},
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "x <b>\n"
     ]
    }
   ],
   "source": [
    "a = 1\n",
    "print('é')"
   ]
  },
  {
   "cell_type": "markdown",
   "id": "b-2",
   "metadata": {},
   "source": "# T"
  },
  {
   "cell_type": "raw",
   "id": "c-3",
   "metadata": {},
   "source": []
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
`,
	"outputs last": `{"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [{"cell_type": "code", "metadata": {}, "source": "x", "outputs": [], "execution_count": 2}]}`,
	"compact":      `{"nbformat":4,"nbformat_minor":4,"metadata":{},"cells":[{"cell_type":"code","metadata":{},"source":["x"],"outputs":[],"execution_count":2},{"cell_type":"raw","metadata":{},"source":["a\n","b"]}]}`,
	"tabs":         "{\n\t\"nbformat\": 4,\n\t\"nbformat_minor\": 4,\n\t\"metadata\": {\"a\": 1, \"a\": 2},\n\t\"cells\": [\n\t\t{\n\t\t\t\"source\": \"x\",\n\t\t\t\"cell_type\": \"code\",\n\t\t\t\"outputs\": [],\n\t\t\t\"metadata\": {},\n\t\t\t\"execution_count\": 1\n\t\t},\n\t\t{\n\t\t\t\"source\": [\"y\"],\n\t\t\t\"cell_type\": \"markdown\",\n\t\t\t\"metadata\": {}\n\t\t}\n\t]\n}",
	"CRLF":         "{\r\n  \"cells\" : [\r\n    {\r\n      \"cell_type\" : \"raw\",\r\n      \"metadata\" : {},\r\n      \"source\" : [\r\n        \"\\u00e4\\n\",\r\n        \"b\"\r\n      ]\r\n    }\r\n  ],\r\n  \"metadata\" : {},\r\n  \"nbformat\" : 4,\r\n  \"nbformat_minor\" : 3\r\n}\r\n",
	"one line":     `{"cells": [{"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": ["a\n", "b"]}, {"cell_type": "markdown", "metadata": {}, "source": ["c"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 2}`,
	"BOM":          bom + "{\n  \"cells\": [\n    {\n      \"cell_type\": \"markdown\",\n      \"metadata\": {},\n      \"source\": [\n        \"t\"\n      ]\n    }\n  ],\n  \"metadata\": {},\n  \"nbformat\": 4,\n  \"nbformat_minor\": 0\n}\n",
	"no cells":     "{\n  \"nbformat_minor\": 0,\n  \"cells\": [],\n  \"nbformat\": 4,\n  \"metadata\": {}\n}",
}

func parse(t testing.TB, data string) *Notebook {
	t.Helper()
	n, err := Parse([]byte(data))
	if err != nil {
		t.Fatalf("%v in\n%.2000s", err, data)
	}
	return n
}

// data is the content that a change gives.
func data(t testing.TB) func(Change, error) string {
	return func(ch Change, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return string(ch.Data)
	}
}

// schemas are the official ones, by minor version of format 4.
func schemas(t *testing.T) []*jsonschema.Schema {
	t.Helper()
	var all []*jsonschema.Schema
	for minor := range 6 {
		s, err := jsonschema.NewCompiler().Compile(fmt.Sprintf("testdata/schemas/nbformat.v4.%d.schema.json", minor))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// checkSchema returns why a notebook is not valid; newer ones than we know of
// follow the last version but for their number.
func checkSchema(t testing.TB, all []*jsonschema.Schema, data string) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.TrimPrefix(data, bom)))
	if err != nil {
		return err
	}
	n := parse(t, data)
	if err := all[min(n.Minor, len(all)-1)].Validate(v); err != nil {
		return err
	}
	for id, count := range n.known {
		if count > 1 {
			return fmt.Errorf("%d cells have the id %s", count, id)
		}
	}
	return nil
}

// texts are sources that are hard to write or to split.
var texts = []string{"", "x", "a\n", "\n\n", "new \"α\" \\ 😀\n\tline < & >\x00\x1f\x7f\u2028\r\nend", "no newline\nat the end"}

// edit makes every change of every cell and checks what a change must not do.
func edit(t *testing.T, all []*jsonschema.Schema, name, s string, texts []string) {
	t.Helper()
	n := parse(t, s)
	valid := checkSchema(t, all, s) == nil
	check := func(what string, after string, head, tail int) {
		t.Helper()
		switch {
		case !strings.HasPrefix(after, s[:head]) || !strings.HasSuffix(after, s[tail:]) || len(after) < head+len(s)-tail:
			t.Errorf("%s, %s: bytes outside of the cell changed:\n%.3000s", name, what, after)
		case valid:
			if err := checkSchema(t, all, after); err != nil {
				t.Errorf("%s, %s: no longer valid: %v\n%.3000s", name, what, err, after)
			}
		case !json.Valid([]byte(strings.TrimPrefix(after, bom))):
			t.Errorf("%s, %s: no JSON", name, what)
		}
	}
	for i := range n.Len() {
		c := n.cells[i]
		if got := data(t)(n.Replace(i, n.Cell(i).Source, "")); got != s && c.find("source") != nil {
			t.Errorf("%s, cell %d: the same source changes bytes", name, i)
		}
		for _, kind := range []string{"", "code", "markdown", "raw"} {
			for _, text := range texts {
				ch, err := n.Replace(i, text, kind)
				if err != nil {
					if kind != "code" || c.find("attachments") == nil {
						t.Errorf("%s, cell %d: %v", name, i, err)
					}
					continue
				}
				check(fmt.Sprintf("cell %d to %q %q", i, kind, text), string(ch.Data), c.a, c.b)
				if got := parse(t, string(ch.Data)).Cell(i); got.Source != text || kind != "" && got.Type != kind {
					t.Errorf("%s, cell %d: %q %q, want %q %q", name, i, got.Type, got.Source, kind, text)
				}
			}
		}
		from, to := n.array.a, n.array.b
		if n.Len() > 1 {
			from, to = n.cells[max(i-1, 0)].b, c.b
			if i == 0 {
				from, to = c.a, n.cells[1].a
			}
		}
		check(fmt.Sprintf("cell %d deleted", i), data(t)(n.Delete(i)), from, to)
	}
	for i := range n.Len() + 1 {
		for k, kind := range []string{"code", "markdown", "raw"} {
			text := texts[(i+k)%len(texts)]
			ch, err := n.Insert(i, kind, text)
			after := data(t)(ch, err)
			at := n.array.a
			if i > 0 {
				at = n.cells[i-1].b
			}
			check(fmt.Sprintf("%s inserted at %d", kind, i), after, at, max(at, n.array.b-1))
			m := parse(t, after)
			if got := m.Cell(i); got.Source != text || got.Type != kind || got.ID != ch.ID {
				t.Errorf("%s: inserted %+v, want %s %q", name, got, kind, text)
			}
			if back := data(t)(m.Delete(i)); back != s {
				t.Errorf("%s: inserting and deleting cell %d gives\n%.2000s", name, i, back)
			}
		}
	}
}

func TestStyles(t *testing.T) {
	t.Parallel()
	all := schemas(t)
	for name, s := range styles {
		if err := checkSchema(t, all, s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		edit(t, all, name, s, texts)
	}
}

// TestReal edits every cell of notebooks that people and programs have made.
// testdata/more.txt lists larger ones, which are tested when the folder
// FERRULE_NOTEBOOKS has them.
func TestReal(t *testing.T) {
	t.Parallel()
	all := schemas(t)
	files, err := filepath.Glob("testdata/real/*.ipynb")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	files = append(files, larger(t)...)
	cells, minors := 0, make(map[int]int)
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := parse(t, string(b))
		for i := range n.Len() {
			n.Cell(i)
		}
		if n.Editable() != nil {
			continue
		}
		cells += n.Len()
		minors[n.Minor]++
		edit(t, all, file, string(b), texts[4:5])
	}
	for _, minor := range []int{0, 1, 2, 4, 5} { // 4.3 is rare; TestStyles has one
		if minors[minor] == 0 {
			t.Errorf("no notebook of format 4.%d", minor)
		}
	}
	t.Logf("%d cells of %d files, by minor version %v", cells, len(files), minors)
}

// larger is the notebooks of testdata/more.txt that are there.
func larger(t *testing.T) (files []string) {
	t.Helper()
	dir := os.Getenv("FERRULE_NOTEBOOKS")
	if dir == "" {
		return nil
	}
	list, err := os.ReadFile("testdata/more.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		sum, url, _ := strings.Cut(strings.TrimSpace(line), " ")
		if sum == "#" {
			continue
		}
		file := filepath.Join(dir, path.Base(url))
		b, err := os.ReadFile(file)
		switch {
		case err != nil:
			t.Logf("%s is not there: %s", file, url)
		case fmt.Sprintf("%x", sha256.Sum256(b)) != sum:
			t.Errorf("%s is not the file of %s", file, url)
		default:
			files = append(files, file)
		}
	}
	return files
}

// What is written where: the list of lines, the string, the escapes, new cells.
func TestWritten(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ style, change, want string }{
		{"jupyter 4.5", "a-1", "   \"execution_count\": null,\n   \"id\": \"a-1\",\n   \"metadata\": {\"i\": 12345678901234567890123, \"f\": 1.10, \"e\": 1E+05},\n   \"outputs\": [],\n   \"source\": [\n    \"é\\n\",\n    \"<\"\n   ]\n  }"},
		{"jupyter 4.5", "b-2", `   "source": "é\n<"` + "\n"},
		{"jupyter 4.5", "c-3", "   \"source\": [\n    \"é\\n\",\n    \"<\"\n   ]\n  }\n ],"},
		{"jupyter 4.5", "+", "[\n  {\n   \"cell_type\": \"raw\",\n   \"id\": \"ID\",\n   \"metadata\": {},\n   \"source\": [\n    \"é\\n\",\n    \"<\"\n   ]\n  },\n  {"},
		{"tabs", "cell-1", "\"source\": [\"é\\n\", \"<\"],"},
		{"compact", "cell-1", `"source":["é\n","<"]}`},
		{"compact", "+", `"cells":[{"cell_type":"raw","metadata":{},"source":["é\n","<"]},{`},
		{"one line", "+", `"cells": [{"cell_type": "raw", "metadata": {}, "source": ["é\n", "<"]}, {`},
		{"CRLF", "cell-0", "\"source\" : [\r\n        \"\\u00e9\\n\",\r\n        \"<\"\r\n      ]\r\n"},
		{"CRLF", "+", "[\r\n    {\r\n      \"cell_type\" : \"raw\",\r\n      \"metadata\" : {},\r\n      \"source\" : [\r\n        \"\\u00e9\\n\",\r\n        \"<\"\r\n      ]\r\n    },\r\n    {"},
		{"no cells", "+", "\"cells\": [\n    {\n      \"cell_type\": \"raw\",\n      \"metadata\": {},\n      \"source\": [\n        \"é\\n\",\n        \"<\"\n      ]\n    }\n  ],\n"},
	} {
		n := parse(t, styles[test.style])
		var ch Change
		var err error
		if test.change == "+" {
			ch, err = n.Insert(0, "raw", "é\n<")
		} else {
			i, e := n.Find(test.change)
			if e != nil {
				t.Fatal(e)
			}
			ch, err = n.Replace(i, "é\n<", "")
		}
		got := strings.ReplaceAll(data(t)(ch, err), `"id": "`+ch.ID+`"`, `"id": "ID"`)
		if want := strings.ReplaceAll(test.want, `"id": "a-1"`, `"id": "ID"`); !strings.Contains(got, want) {
			t.Errorf("%s, %s: got\n%s\nwant in it\n%s", test.style, test.change, got, want)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	n := parse(t, styles["jupyter 4.5"])
	for id, want := range map[string]int{"b-2": 1, "cell-2": 2} {
		if i, err := n.Find(id); i != want || err != nil {
			t.Error(id, i, err)
		}
	}
	for _, id := range []string{"cell-3", "1", "", "cell--1", "cell-01", "cell-+1"} {
		if _, err := n.Find(id); err == nil || !strings.Contains(err.Error(), "there are a-1, b-2, c-3") {
			t.Errorf("%q: %v", id, err)
		}
	}
	// H089: an id that two cells have.
	n = parse(t, strings.Replace(styles["jupyter 4.5"], "b-2", "a-1", 1))
	if _, err := n.Find("a-1"); err == nil || !strings.Contains(err.Error(), "cell-0, cell-1 have it") {
		t.Error(err)
	}
	if got := []string{n.ID(0), n.ID(1), n.ID(2)}; !slices.Equal(got, []string{"cell-0", "cell-1", "c-3"}) {
		t.Error(got)
	}
	// An id that looks like a position comes first.
	n = parse(t, strings.Replace(styles["jupyter 4.5"], "b-2", "cell-0", 1))
	if i, err := n.Find("cell-0"); i != 1 || err != nil {
		t.Error(i, err)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		`{"cells": []}`:                  "is not a notebook: it has no nbformat",
		`{"nbformat": "4", "cells": []}`: "is not a notebook: it has no nbformat",
		`[]`:                             "is not a notebook: its JSON is no object",
		`{"nbformat": 4}`:                "is not a notebook: it has no list of cells",
		`{"nbformat": 4, "cells": [1]}`:  "is not a notebook: it has no list of cells",
		"{\n\"nbformat\": 4,\n}":         "is not valid JSON in line 3: invalid character '}' looking for beginning of object key string",
		"":                               "is not valid JSON in line 1: unexpected end of JSON input",
	} {
		if _, err := Parse([]byte(s)); err == nil || err.Error() != want {
			t.Errorf("%s: %v; want %s", s, err, want)
		}
	}
	for s, want := range map[string]string{
		`{"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": "x"}]}]}`: "format 3, which is read-only here",
		`{"nbformat": 5, "cells": [{"cell_type": "code", "source": "x"}]}`:                  "format 5, which is not known here",
		`{"nbformat": 4, "cells": [{"source": "x"}]}`:                                       "cell-0 has no cell_type",
		`{"nbformat": 4, "cells": [{"cell_type": "raw", "attachments": {}}]}`:               "a code cell cannot have",
	} {
		if _, err := parse(t, s).Replace(0, "y", "code"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", s, err, want)
		}
	}
}

// A newer minor version than we know of follows the rules of 4.5.
func TestNewerMinor(t *testing.T) {
	t.Parallel()
	s := strings.Replace(styles["jupyter 4.5"], `"nbformat_minor": 5`, `"new": {"x": 1}, "nbformat_minor": 9`, 1)
	got := data(t)(parse(t, s).Insert(3, "code", "x"))
	if !strings.Contains(got, `"new": {"x": 1}, "nbformat_minor": 9`) || parse(t, got).ids[3] == "" {
		t.Error(got)
	}
}

func FuzzSplice(f *testing.F) {
	for _, s := range styles {
		f.Add([]byte(s), "x\ny")
	}
	f.Fuzz(func(t *testing.T, b []byte, source string) {
		n, err := Parse(b)
		if err != nil || n.Editable() != nil {
			return
		}
		source = strings.ToValidUTF8(source, "?")
		check := func(what string, i int, ch Change) {
			m, err := Parse(ch.Data)
			if err != nil {
				t.Fatalf("%s of cell %d: %v\n%s", what, i, err, ch.Data)
			}
			if got := m.Cell(i).Source; got != source {
				t.Fatalf("%s of cell %d: source %q, want %q\n%s", what, i, got, source, ch.Data)
			}
		}
		for i := range n.Len() {
			for _, kind := range []string{"", "code", "markdown"} {
				if ch, err := n.Replace(i, source, kind); err == nil {
					check("replace", i, ch)
				}
			}
			ch, err := n.Delete(i)
			if m, parseErr := Parse(ch.Data); err != nil || parseErr != nil || m.Len() != n.Len()-1 {
				t.Fatalf("delete of cell %d: %v %v\n%s", i, err, parseErr, ch.Data)
			}
		}
		for _, i := range []int{0, n.Len()} {
			ch, err := n.Insert(i, "code", source)
			if err != nil {
				t.Fatal(err)
			}
			check("insert", i, ch)
		}
	})
}

// FuzzScan: the scanner ends, without a panic, on bytes that json.Valid has not
// seen, and reading any notebook ends.
func FuzzScan(f *testing.F) {
	for _, s := range styles {
		f.Add([]byte(s))
		f.Add([]byte(s[:len(s)/2]))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &scanner{b: b}
		s.object()
		s.p = 0
		s.array(func() error { _, err := s.value(); return err })
		if n, err := Parse(b); err == nil {
			for i := range n.Len() {
				n.Cell(i)
			}
		}
	})
}

// big is a notebook of that many bytes, as they are: outputs are most of it.
func big(size int) []byte {
	var b bytes.Buffer
	b.WriteString("{\n \"cells\": [\n")
	png := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAAACgAAAAeCAIAAADRv8uKAAAARklEQVR4AezVsQk\\n", 1000)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 3,\n   \"id\": \"c%d\",\n   \"metadata\": {},\n   \"outputs\": [\n    {\n     \"data\": {\n      \"image/png\": \"%s\"\n     },\n     \"metadata\": {},\n     \"output_type\": \"display_data\"\n    },\n    {\n     \"name\": \"stdout\",\n     \"output_type\": \"stream\",\n     \"text\": [\n%s      \"end\"\n     ]\n    }\n   ],\n   \"source\": [\n    \"import x\\n\",\n    \"x.plot()\"\n   ]\n  }",
			i, png, strings.Repeat("      \"some \\\"line\\\" of text that a program has written\\n\",\n", 500))
	}
	b.WriteString("\n ],\n \"metadata\": {},\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n")
	return b.Bytes()
}

// The rival decodes and encodes, which keeps fewer bytes as they are.
func BenchmarkEdit(b *testing.B) {
	file := big(8 << 20)
	b.Run("splice", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		b.ReportAllocs()
		for b.Loop() {
			n, err := Parse(file)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := n.Replace(n.Len()/2, "y = 1\nprint(y)", ""); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode and encode", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		b.ReportAllocs()
		for b.Loop() {
			var v map[string]any
			if err := json.Unmarshal(file, &v); err != nil {
				b.Fatal(err)
			}
			if _, err := json.MarshalIndent(v, "", " "); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// An edit takes little more memory than the new content.
func TestMemory(t *testing.T) {
	file := big(4 << 20)
	res := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n, err := Parse(file)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := n.Replace(0, "y", ""); err != nil {
				b.Fatal(err)
			}
		}
	})
	if got := res.AllocedBytesPerOp(); got > 2*int64(len(file)) {
		t.Errorf("an edit allocates %d bytes for a file of %d", got, len(file))
	}
}

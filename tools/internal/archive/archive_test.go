package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// zipOf makes a zip of pairs of name and content.
func zipOf(t testing.TB, pairs ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		w, err := z.Create(pairs[i])
		if err == nil {
			_, err = io.WriteString(w, pairs[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarOf(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		io.CopyN(w, zeros{}, h.Size)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func gzipOf(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// open looks at content and reads it.
func open(t testing.TB, data []byte, o Options) (Kind, Content, error) {
	t.Helper()
	f := File{ReaderAt: bytes.NewReader(data), Size: int64(len(data))}
	k := Detect(f, data[:min(len(data), HeadSize)], "file")
	if !k.Readable() {
		return k, Content{}, errors.New("not readable")
	}
	c, err := Read(t.Context(), f, k, o)
	return k, c, err
}

func check(t *testing.T, data []byte, o Options, kind, text string, notes ...string) {
	t.Helper()
	k, c, err := open(t, data, o)
	if err != nil || k.Name != kind || c.Text != text || !slices.Equal(c.Notes, notes) {
		t.Errorf("got %s, %v\n%s\n%q\nwant %s\n%s\n%q", k.Name, err, c.Text, c.Notes, kind, text, notes)
	}
}

func TestZip(t *testing.T) {
	t.Parallel()
	check(t, zipOf(t, "dir/", "", "dir/a.txt", strings.Repeat("a", 1000), "odd\nname", "x"), Options{},
		"a zip archive", `2 files, 1,001 bytes unpacked, 21 packed

          size  ratio  name
             0      -  dir/
         1,000     1%  dir/a.txt
             1   700%  "odd\nname"
`)
	check(t, zipOf(t), Options{}, "a zip archive", "0 files, 0 bytes unpacked, 0 packed\n\n          size  ratio  name\n")
	var many []string
	for i := range 1003 {
		many = append(many, fmt.Sprint(i), "")
	}
	if _, c, err := open(t, zipOf(t, many...), Options{}); err != nil || strings.Count(c.Text, "\n") != 1003 || c.Notes[0] != "3 more are not listed" {
		t.Errorf("%d lines, %q, %v", strings.Count(c.Text, "\n"), c.Notes, err)
	}
	if _, c, err := open(t, zipOf(t, many...), Options{MaxChars: 200}); err != nil || len(c.Text) > 200 || c.Notes[0] != "998 more are not listed" {
		t.Errorf("%d characters, %q, %v", len(c.Text), c.Notes, err)
	}
	cut := zipOf(t, "a", "text")
	if _, _, err := open(t, cut[:len(cut)-10], Options{}); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
}

func TestTar(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	data := tarOf(t, tar.Header{Name: "d/", Typeflag: tar.TypeDir, ModTime: at}, tar.Header{Name: "d/a", Size: 5000, ModTime: at},
		tar.Header{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "d/a", ModTime: at})
	want := `          size  modified          name
             0  2024-05-06 07:08  d/
         5,000  2024-05-06 07:08  d/a
             0  2024-05-06 07:08  link -> d/a
`
	check(t, data, Options{}, "a tar archive", want, "3 entries, 5,000 bytes unpacked")
	check(t, gzipOf(data), Options{}, "a tar.gz archive", want, "3 entries, 5,000 bytes unpacked")
	if k, _, _ := open(t, gzipOf([]byte("text")), Options{}); k.Name != "a gzip file" || k.Way == "" {
		t.Error(k.Name)
	}
	_, c, err := open(t, data[:700], Options{})
	if err != nil || !slices.Equal(c.Notes, []string{"the list is not complete: 1 entry read", "the archive is damaged behind the last of these"}) {
		t.Errorf("cut off: %q, %v", c.Notes, err)
	}
}

// A tar.gz that unpacks to gigabytes is listed as far as 256 MB.
func TestTarBomb(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it unpacks 256 MB")
	}
	var head bytes.Buffer
	w := tar.NewWriter(&head)
	w.WriteHeader(&tar.Header{Name: "a", Mode: 0o644, Size: 1 << 40})
	data := append(gzipOf(head.Bytes()), bytes.Repeat(gzipOf(make([]byte, 8<<20)), 40)...)
	begin := time.Now()
	_, c, err := open(t, data, Options{})
	if err != nil || len(c.Notes) < 2 || !strings.HasPrefix(c.Notes[0], "the list is not complete: ") || !strings.HasSuffix(c.Notes[1], "this is not all of it") || time.Since(begin) > 10*time.Second {
		t.Errorf("%q, %v after %v", c.Notes, err, time.Since(begin))
	}
}

func database(t *testing.T, statements ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	db.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	data := database(t, `CREATE TABLE "odd ""name" (id INTEGER PRIMARY KEY, text TEXT, data BLOB, x REAL)`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 1234) INSERT INTO "odd ""name" SELECT i, 'a|b'||char(10)||i, zeroblob(i), NULL FROM n`,
		`CREATE TABLE empty (a)`, `CREATE INDEX by_text ON "odd ""name" (text)`, `CREATE VIEW v AS SELECT 1`, `PRAGMA journal_mode = WAL`)
	check(t, data, Options{}, "an SQLite database", `CREATE TABLE "odd ""name" (id INTEGER PRIMARY KEY, text TEXT, data BLOB, x REAL);
CREATE TABLE empty (a);
CREATE INDEX by_text ON "odd ""name" (text);
CREATE VIEW v AS SELECT 1;

odd "name
| id | text | data | x |
| --- | --- | --- | --- |
| 1 | a\|b⏎1 | <1 bytes> | NULL |
| 2 | a\|b⏎2 | <2 bytes> | NULL |
| 3 | a\|b⏎3 | <3 bytes> | NULL |
| 4 | a\|b⏎4 | <4 bytes> | NULL |
| 5 | a\|b⏎5 | <5 bytes> | NULL |

empty
| a |
| --- |

rows: odd "name 1,234, empty 0
`)
	check(t, database(t, "PRAGMA user_version = 1"), Options{}, "an SQLite database", "(no tables)\n")
	if _, _, err := open(t, append([]byte("SQLite format 3\x00"), make([]byte, 3000)...), Options{}); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	f := File{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), WAL: true}
	c, err := Read(t.Context(), f, Detect(f, data[:HeadSize], ""), Options{})
	if err != nil || len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "newest changes are not shown") {
		t.Errorf("%q, %v", c.Notes, err)
	}
}

// A database cannot keep us: columns that are computed are not, and a value
// that is huge is not loaded.
func TestSQLiteHostile(t *testing.T) {
	t.Parallel()
	data := database(t, `CREATE TABLE big (x)`, `INSERT INTO big VALUES (zeroblob(10600000))`,
		`CREATE TABLE gen (x, y AS (x || ' computed'))`, `INSERT INTO gen (x) VALUES (1)`)
	begin := time.Now()
	_, c, err := open(t, data, Options{})
	if err != nil || time.Since(begin) > 10*time.Second || !strings.Contains(c.Text, "\ngen\n| x |\n| --- |\n| 1 |\n") || !strings.Contains(c.Text, "\nbig\n| x |\n| --- |\n") {
		t.Errorf("%v after %v: %s %q", err, time.Since(begin), c.Text, c.Notes)
	}
}

const docBody = `<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="w" xmlns:r="r" xmlns:mc="m" xmlns:a="a"><w:body>
<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr><w:r><w:t>The head</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">Plain </w:t></w:r><w:hyperlink r:id="rId7"><w:r><w:t>a link</w:t></w:r></w:hyperlink><w:r><w:t xml:space="preserve"> &amp; more</w:t></w:r><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="3"/></w:numPr></w:pPr><w:r><w:t>dot</w:t></w:r></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="3"/></w:numPr></w:pPr><w:r><w:t>number</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b|c</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p><w:p><w:r><w:t>2</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
<mc:AlternateContent><mc:Choice><w:p><w:r><w:t>box</w:t><w:drawing><a:blip/></w:drawing></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>
</w:body></w:document>`

func docxOf(t testing.TB, body string) []byte {
	return zipOf(t, "word/document.xml", body,
		"word/styles.xml", `<w:styles xmlns:w="w"><w:style w:styleId="berschrift1"><w:name w:val="heading 2"/></w:style></w:styles>`,
		"word/numbering.xml", `<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum><w:num w:numId="3"><w:abstractNumId w:val="0"/></w:num></w:numbering>`,
		"word/_rels/document.xml.rels", `<Relationships><Relationship Id="rId7" Target="https://example.com/" TargetMode="External"/></Relationships>`)
}

func TestDocx(t *testing.T) {
	t.Parallel()
	check(t, docxOf(t, docBody), Options{}, "a Word document (docx)", `## The head

Plain [a link](https://example.com/) & more

- dot
   1. number

| a | b\|c |
| --- | --- |
| 1 2 |  |

box

`, "1 picture not shown; they are under word/media in the file")
	if _, c, err := open(t, docxOf(t, docBody), Options{MaxChars: 30}); err != nil || len(c.Text) > 30 || c.Notes[0] != "the rest of the document is left out" {
		t.Errorf("%q %q %v", c.Text, c.Notes, err)
	}
	if _, _, err := open(t, zipOf(t, "word/document.xml", "<a><b>"), Options{}); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	laughs := `<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><w:document><w:p><w:t>&b;</w:t></w:p></w:document>`
	if _, c, err := open(t, zipOf(t, "word/document.xml", laughs), Options{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v: entities of its own are used: %s", err, c.Text)
	}
}

func TestXlsx(t *testing.T) {
	t.Parallel()
	var rows strings.Builder
	for i := range 250 {
		fmt.Fprintf(&rows, `<row r="%d"><c r="AE%d"><v>1</v></c></row>`, i+1, i+1)
	}
	data := zipOf(t, "xl/workbook.xml", `<workbook><sheets><sheet name="First" r:id="rId1"/><sheet name="Hidden" state="hidden" r:id="rId2"/><sheet name="Large" r:id="rId3"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Target="/xl/worksheets/sheet2.xml"/><Relationship Id="rId3" Target="worksheets/sheet3.xml"/></Relationships>`,
		"xl/sharedStrings.xml", `<sst><si><t>never</t></si><si><r><t>rich </t></r><r><t>text</t></r><rPh><t>ruby</t></rPh></si></sst>`,
		"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[Red]yyyy&quot;x&quot;"/><numFmt numFmtId="165" formatCode="[Red]0.0&quot; days&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>`,
		"xl/worksheets/sheet1.xml", `<worksheet><sheetData><row r="2"><c r="A2" t="s"><v>1</v></c><c r="C2"><f>1+1</f><v>2</v></c><c t="b"><v>1</v></c></row>
<row r="3"><c r="A3" s="1"><v>45000</v></c><c r="B3" s="2"><v>45000.5</v></c><c r="C3" s="3"><v>5</v></c><c r="D3" t="inlineStr"><is><t>in line</t></is></c><c r="E3" t="e"><v>#REF!</v></c></row></sheetData></worksheet>`,
		"xl/worksheets/sheet2.xml", `<worksheet><sheetData/></worksheet>`,
		"xl/worksheets/sheet3.xml", `<worksheet><sheetData>`+rows.String()+`</sheetData></worksheet>`)
	check(t, data, Options{}, "an Excel workbook (xlsx)", `## First

|   | A | B | C | D | E |
| --- | --- | --- | --- | --- | --- |
| 2 | rich text |  | 2 | TRUE |  |
| 3 | 2023-03-15 | 2023-03-15 12:00:00 | 5 | in line | #REF! |

## Hidden

(hidden)

(no cells)

## Large

(no cells)

`)
	for ref, want := range map[string]int{"A1": 0, "Z9": 25, "AA1": 26, "AE250": 30, "XFD1": 16383, "": 7, "12": 7} {
		if got := column(ref, 7); got != want || ref != "" && ref != "12" && letters(got) != strings.TrimRight(ref, "0123456789") {
			t.Errorf("%s: %d %s", ref, got, letters(got))
		}
	}
	b := workbook{}
	for days, want := range map[float64]string{0.5: "12:00:00", 1: "1900-01-01", 59: "1900-02-28", 61: "1900-03-01", 45000.25: "2023-03-15 06:00:00"} {
		if got := b.date(days); got != want {
			t.Errorf("%v: %s, want %s", days, got, want)
		}
	}
}

func TestXlsxLarge(t *testing.T) {
	t.Parallel()
	var rows strings.Builder
	for i := range 250 {
		fmt.Fprintf(&rows, `<row><c><v>%d</v></c><c r="AE%d"><v>1</v></c></row>`, i+1, i+1)
	}
	_, c, err := open(t, zipOf(t, "xl/workbook.xml", `<workbook><sheets><sheet name="L" id="1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<R><Relationship Id="1" Target="s.xml"/></R>`, "xl/s.xml", `<w>`+rows.String()+`</w>`), Options{})
	if err != nil || !strings.Contains(c.Text, "| 200 | 200 |\n(250 rows in all, 200 shown; columns beyond AD not shown)") {
		t.Errorf("%v %s", err, c.Text)
	}
}

func TestEpub(t *testing.T) {
	t.Parallel()
	data := zipOf(t, "mimetype", "application/epub+zip",
		"META-INF/container.xml", `<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`,
		"OEBPS/book.opf", `<package><manifest><item id="b" href="two%20.xhtml"/><item id="a" href="one.xhtml"/><item id="x" href="missing.xhtml"/></manifest><spine><itemref idref="a"/><itemref idref="x"/><itemref idref="b"/></spine></package>`,
		"OEBPS/one.xhtml", "<p>one", "OEBPS/two .xhtml", "<p>two")
	html := func(b []byte) (string, error) { return "text of " + string(b) + "\n", nil }
	check(t, data, Options{HTML: html}, "an e-book (epub)", "text of <p>one\n\ntext of <p>two\n\n", "OEBPS/missing.xhtml cannot be read")
	_, c, err := open(t, data, Options{HTML: html, MaxChars: 20})
	if err != nil || len(c.Text) > 20 || !strings.Contains(strings.Join(c.Notes, "\n"), "1 page of 3 are left out or cut, from OEBPS/two .xhtml on") {
		t.Errorf("%q %q %v", c.Text, c.Notes, err)
	}
}

// What a zip unpacks to is limited, and so is the time.
func TestBomb(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it unpacks 100 MB")
	}
	var deflated, b bytes.Buffer
	d, _ := flate.NewWriter(&deflated, flate.BestSpeed)
	io.WriteString(d, "<w:document><w:p><w:t>")
	d.Flush()
	start := deflated.Len()
	d.Write(bytes.Repeat([]byte("a"), 1<<20))
	d.Flush() // the next megabyte is compressed to the same bytes
	chunk := bytes.Clone(deflated.Bytes()[start:])
	deflated.Write(bytes.Repeat(chunk, 119))
	z := zip.NewWriter(&b)
	w, err := z.CreateRaw(&zip.FileHeader{Name: "word/document.xml", Method: zip.Deflate, CompressedSize64: uint64(deflated.Len()), UncompressedSize64: 120 << 20})
	if err != nil {
		t.Fatal(err)
	}
	w.Write(deflated.Bytes())
	z.Close()
	begin := time.Now()
	_, c, err := open(t, b.Bytes(), Options{})
	if d := time.Since(begin); d > 10*time.Second || err == nil && len(c.Text) > 48_000 {
		t.Errorf("%v after %v", err, d)
	}
}

// What is not read has its name and a way by the shell.
func TestDetect(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ head, name, want string }{
		{"\x7fELF\x02\x01\x01\x00", "a", "an ELF program or library"},
		{"PAR1\x15\x04\x15", "a", "a Parquet file"},
		{"PAR1 is how such files begin\n", "a.txt", ""},
		{"MZ is a text\n", "a.txt", ""},
		{"MZ\x90\x00\x03", "a", "a Windows program or library"},
		{"BZh91AY&SY", "a.bz2", "a bzip2 file"},
		{"7z\xbc\xaf\x27\x1c\x00\x04", "a", "a 7-Zip archive"},
		{"Rar!\x1a\x07\x01\x00", "a", "a RAR archive"},
		{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "a.doc", "an old Microsoft Office file (doc, xls, ppt or msg)"},
		{"\x00\x00\x00\x18ftypisom", "a", "an MP4 or QuickTime file"},
		{"package main\n", "a.go", ""}, {"", "a", ""}, {"\x00\x01\x02", "a", ""},
		{string(zipOf(t, "ppt/presentation.xml", "")), "a", "a PowerPoint presentation (pptx)"},
		{string(zipOf(t, "mimetype", "application/vnd.oasis.opendocument.text")), "a", "an OpenDocument text"},
	} {
		f := File{ReaderAt: strings.NewReader(test.head), Size: int64(len(test.head))}
		if k := Detect(f, []byte(test.head), test.name); k.Name != test.want || k.Readable() {
			t.Errorf("%q: %q, want %q", test.head[:min(len(test.head), 20)], k.Name, test.want)
		}
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ way, path, word, want string }{
		{"cat FILE", "/a b", "'/a b'", "cat '/a b'"},
		{`duckdb -c "from 'FILE'"`, "/a", "/a", `duckdb -c "from '/a'"`},
		{`duckdb -c "from 'FILE'"`, "/a'$(x)", `'/a'\''$(x)'`, `duckdb -c "from 'FILE'"`},
		{"", "/a", "/a", ""},
	} {
		if got := (Kind{Way: test.way}).Command(test.path, test.word); got != test.want {
			t.Errorf("%s with %s: %s", test.way, test.path, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(docxOf(f, docBody))
	f.Add(zipOf(f, "a", "b"))
	f.Add(tarOf(f, tar.Header{Name: "a", Size: 5}))
	f.Add(gzipOf(tarOf(f, tar.Header{Name: "a", Size: 5})))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := File{ReaderAt: bytes.NewReader(data), Size: int64(len(data))}
		k := Detect(file, data[:min(len(data), HeadSize)], "x")
		if !k.Readable() {
			return
		}
		c, err := Read(t.Context(), file, k, Options{MaxChars: 500, HTML: func(b []byte) (string, error) { return string(b), nil }})
		if err == nil && len([]rune(c.Text)) > 500 {
			t.Errorf("%d characters", len([]rune(c.Text)))
		}
	})
}

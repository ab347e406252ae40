package archive

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// A Kind is a format that is no text. The zero value is none.
type Kind struct {
	Name string // as users know it, with its article: "a zip archive"
	Way  string // a command of the shell that shows or converts it, with FILE for the file; "" if none
	read func(*budget, File, *writer, Options) error
}

// Readable reports whether [Read] can show the content.
func (k Kind) Readable() bool { return k.read != nil }

// Command is the way by the shell for a file: its path, and that as a word of
// the shell.
func (k Kind) Command(path, word string) string {
	if path != word && strings.Contains(k.Way, "'FILE'") {
		return k.Way // it stands in quotes there, which the path would break
	}
	return strings.ReplaceAll(k.Way, "FILE", word)
}

// Beginning shows the first bytes of a file that cannot be shown otherwise, on
// a line of their own; "" if there are none.
func Beginning(head []byte) string {
	if len(head) == 0 {
		return ""
	}
	return fmt.Sprintf("\nit begins with: % x", head[:min(len(head), 64)])
}

// HeadSize is how many bytes of a file Detect wants to see.
const HeadSize = 1024

// Detect says what a file is by its content: head is its beginning. The name
// only helps where signatures are weak.
func Detect(f File, head []byte, name string) Kind {
	ext := strings.ToLower(filepath.Ext(name))
	switch {
	case has(head, "PK\x03\x04"), has(head, "PK\x05\x06"):
		return zipKind(f)
	case has(head, "SQLite format 3\x00"):
		return Kind{"an SQLite database", "sqlite3 FILE .schema", readSQLite}
	case isTar(head):
		return Kind{"a tar archive", "tar -xf FILE -C DIR", readTar}
	case has(head, "\x1f\x8b"):
		if inner := gunzipped(f); isTar(inner) {
			return Kind{"a tar.gz archive", "tar -xzf FILE -C DIR", readTarGz}
		}
		return Kind{"a gzip file", "zcat FILE | head -c 2000", nil}
	}
	for _, s := range signatures {
		if !bytes.HasPrefix(head[min(len(head), s.at):], []byte(s.magic)) {
			continue
		}
		if s.ascii && isText(head) && !slices.Contains(strings.Fields(s.ext), ext) {
			continue // a text that begins with these letters
		}
		return Kind{s.name, s.way, nil}
	}
	return Kind{}
}

func has(head []byte, magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }

// isText reports whether nothing in head keeps it from being text.
func isText(head []byte) bool {
	return !slices.ContainsFunc(head, func(c byte) bool { return c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b })
}

// isTar looks for the mark of POSIX and GNU archives and checks the sum.
func isTar(head []byte) bool {
	if len(head) < 512 || string(head[257:262]) != "ustar" {
		return false
	}
	var sum, stated int64
	for i, c := range head[:512] {
		if i >= 148 && i < 156 {
			c = ' '
		}
		sum += int64(c)
	}
	for _, c := range bytes.Trim(head[148:156], " \x00") {
		stated = stated<<3 | int64(c-'0')
	}
	return sum == stated
}

// gunzipped returns the first 512 bytes of what a gzip file holds.
func gunzipped(f File) []byte {
	z, err := gzip.NewReader(io.NewSectionReader(f, 0, min(f.Size, 1<<20)))
	if err != nil {
		return nil
	}
	b := make([]byte, 512)
	n, _ := io.ReadFull(z, b)
	return b[:n]
}

const office = "soffice --headless --convert-to pdf --outdir /tmp FILE"

// zipKind looks into a zip: many formats are one.
func zipKind(f File) Kind {
	plain := Kind{"a zip archive", "unzip FILE -d DIR", readZip}
	z, err := openZip(nil, f)
	if err != nil {
		return plain
	}
	for _, e := range z.File[:min(len(z.File), maxRows)] {
		switch e.Name {
		case "word/document.xml":
			return Kind{"a Word document (docx)", "unzip -p FILE word/document.xml", readDocx}
		case "xl/workbook.xml":
			return Kind{"an Excel workbook (xlsx)", "unzip -l FILE", readXlsx}
		case "xl/workbook.bin":
			return Kind{"a binary Excel workbook (xlsb)", office, nil}
		case "ppt/presentation.xml":
			return Kind{"a PowerPoint presentation (pptx)", office, nil}
		case "AndroidManifest.xml":
			return Kind{"an Android package (apk)", "unzip FILE -d DIR", readZip}
		case "mimetype":
			if k := declared(e); k.Name != "" {
				return k
			}
		}
	}
	return plain
}

// declared reads the type that epub and OpenDocument files state.
func declared(e *zip.File) Kind {
	r, err := e.Open()
	if err != nil {
		return Kind{}
	}
	defer r.Close()
	b, _ := io.ReadAll(io.LimitReader(r, 100))
	switch mime := strings.TrimSpace(string(b)); {
	case mime == "application/epub+zip":
		return Kind{"an e-book (epub)", "unzip FILE -d DIR", readEpub}
	case strings.HasPrefix(mime, "application/vnd.oasis.opendocument."):
		what, _, _ := strings.Cut(strings.TrimPrefix(mime, "application/vnd.oasis.opendocument."), "-template")
		return Kind{"an OpenDocument " + what, office, nil}
	}
	return Kind{}
}

// signatures are formats that are recognised and not read. Those whose mark is
// letters only are believed for a text if its name agrees.
var signatures = []struct {
	at        int
	magic     string
	name, way string
	ascii     bool
	ext       string
}{
	{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Microsoft Office file (doc, xls, ppt or msg)", office, false, ""},
	{0, "PAR1", "a Parquet file", `duckdb -c "select * from 'FILE' limit 20"`, true, ".parquet"},
	{0, "7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "7z l FILE", false, ""},
	{0, "Rar!\x1a\x07", "a RAR archive", "unrar l FILE", false, ""},
	{0, "\xfd7zXZ\x00", "an xz file", "xzcat FILE | head -c 2000", false, ""},
	{0, "BZh", "a bzip2 file", "bzcat FILE | head -c 2000", true, ".bz2 .tbz .tbz2"},
	{0, "\x28\xb5\x2f\xfd", "a Zstandard file", "zstdcat FILE | head -c 2000", false, ""},
	{0, "\x04\x22\x4d\x18", "an LZ4 file", "lz4cat FILE | head -c 2000", false, ""},
	{0, "!<arch>\n", "an ar archive", "ar t FILE", true, ".a .deb .lib"},
	{0, "\x7fELF", "an ELF program or library", "readelf -hd FILE", false, ""},
	{0, "MZ", "a Windows program or library", "objdump -x FILE | head -50", true, ".exe .dll .sys"},
	{0, "\xfe\xed\xfa\xce", "a Mach-O program", "otool -hL FILE", false, ""},
	{0, "\xfe\xed\xfa\xcf", "a Mach-O program", "otool -hL FILE", false, ""},
	{0, "\xcf\xfa\xed\xfe", "a Mach-O program", "otool -hL FILE", false, ""},
	{0, "\xca\xfe\xba\xbe", "a Java class or a universal Mach-O program", "javap -c -p FILE", false, ""},
	{0, "\x00asm", "a WebAssembly module", "wasm-objdump -h FILE", false, ""},
	{0, "dex\n", "a Dalvik program", "dexdump -f FILE", false, ""},
	{0, "BC\xc0\xde", "LLVM bitcode", "llvm-dis -o - FILE | head -50", false, ""},
	{0, "ID3", "an MP3 file", "ffprobe -hide_banner FILE", true, ".mp3"},
	{0, "OggS", "an Ogg file", "ffprobe -hide_banner FILE", true, ".ogg .oga .ogv .opus"},
	{0, "fLaC", "a FLAC file", "ffprobe -hide_banner FILE", true, ".flac"},
	{8, "WAVE", "a WAV file", "ffprobe -hide_banner FILE", true, ".wav"},
	{8, "AVI ", "an AVI file", "ffprobe -hide_banner FILE", true, ".avi"},
	{4, "ftyp", "an MP4 or QuickTime file", "ffprobe -hide_banner FILE", true, ".mp4 .mov .m4a .m4v .3gp"},
	{0, "\x1aE\xdf\xa3", "a Matroska or WebM file", "ffprobe -hide_banner FILE", false, ""},
	{0, "8BPS", "a Photoshop file", "magick FILE[0] /tmp/picture.png", true, ".psd"},
	{0, "\x00\x00\x01\x00", "an icon file", "magick FILE /tmp/picture.png", false, ""},
	{0, "\x00\x00\x00\x0cJXL ", "a JPEG XL picture", "djxl FILE /tmp/picture.png", false, ""},
	{0, "\xff\x0a", "a JPEG XL picture", "djxl FILE /tmp/picture.png", false, ""},
	{0, "\x00\x00\x00\x0cjP  ", "a JPEG 2000 picture", "magick FILE /tmp/picture.png", false, ""},
	{0, "wOFF", "a web font", "", true, ".woff"},
	{0, "wOF2", "a web font", "", true, ".woff2"},
	{0, "\x00\x01\x00\x00\x00", "a TrueType font", "fc-scan FILE", false, ""},
	{0, "OTTO", "an OpenType font", "fc-scan FILE", true, ".otf"},
	{0, "PACK", "a git pack", "git verify-pack -v FILE", true, ".pack"},
	{0, "\x89HDF\r\n\x1a\n", "an HDF5 file", "h5dump -H FILE", false, ""},
	{0, "\x93NUMPY", "a NumPy array", `python3 -c "import numpy; print(numpy.load('FILE'))"`, false, ""},
	{0, "ARROW1", "an Arrow file", "", true, ".arrow .feather"},
}

// Package text turns the bytes of a file into what a model reads, and exact edits of that text back into bytes.
//
// Begin with Decode. The File that it returns has a view: the text decoded, without byte-order mark, with every CRLF
// shown as LF. Number and Snippet show parts of a view with line numbers. Apply replaces text that was found in the view,
// Rewrite replaces all of it; both return the new bytes of the file.
//
// The promise of Apply is that bytes outside a match never change, whatever they are: mixed line endings, a byte-order
// mark, stray bytes that are no text, a missing final newline. Therefore nothing is ever decoded and encoded again as a
// whole. A cursor walks the view and the bytes in step, character by character, until it reaches a match; the bytes
// before it are copied as they are, and only the new text is encoded. In the ordinary file, valid UTF-8 without CRLF,
// view and bytes are the same memory and there is nothing to walk.
//
// Encodings are told from the content (see detect), and only where that is sure: a wrong guess shows wrong characters and
// writes wrong bytes, while a file of unknown encoding can still be edited where it is ASCII.
//
// The package knows nothing of paths, files on disk or tools, and it keeps no state.
package text

import (
	"bytes"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// A File is the decoded content of one file. It is never changed and may be used concurrently.
type File struct {
	raw    []byte
	bom    int // length of the byte-order mark that raw begins with
	codec  *codec
	view   string
	lf     int // line breaks that are LF alone
	crlf   int
	stray  int // places shown as U+FFFD because their bytes are not text
	binary bool
}

// Decode finds out how data is encoded and decodes it. It never fails: bytes that are not text in the encoding found, or
// in any known one, are shown as U+FFFD.
//
// Declared is the charset that the project's settings name for the file, or "". It is believed only if all of data
// decodes strictly, and never against a byte-order mark or valid UTF-8.
//
// The File keeps data, and its view may share memory with it: data must not be changed afterwards.
func Decode(data []byte, declared string) *File {
	found := detect(data, declared)
	if found.binary {
		return &File{raw: data, codec: unknown, binary: true}
	}
	f := &File{raw: data, bom: found.bom, codec: found.codec}
	if found.text == "" {
		return f.with(data)
	}
	f.read(found.text)
	return f
}

// read fills in what follows from the decoded text.
func (f *File) read(all string) {
	f.view = fold(all)
	f.crlf = len(all) - len(f.view)
	f.lf = strings.Count(f.view, "\n") - f.crlf
}

// with returns the file that data makes in f's encoding. Data begins with the same byte-order mark.
func (f *File) with(data []byte) *File {
	g := &File{raw: data, bom: f.bom, codec: f.codec}
	var all string
	all, g.stray = g.codec.decode(data[g.bom:])
	g.read(all)
	return g
}

// exact returns the text with its line breaks as they are in the file.
func (f *File) exact() string {
	if f.crlf == 0 {
		return f.view
	}
	all, _ := f.codec.decode(f.raw[f.bom:])
	return all
}

// plain reports whether the view is the bytes after the byte-order mark.
func (f *File) plain() bool { return f.codec == utf8Codec && f.crlf == 0 && f.stray == 0 }

// View returns the text: decoded, without byte-order mark, CRLF as LF. A CR that stands alone is a character of its line.
// The view of a binary file is empty.
func (f *File) View() string { return f.view }

// Encoding returns the name of the encoding: "UTF-8", "UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE", "GB18030", "Big5",
// "Shift_JIS", "EUC-KR", "EUC-JP", "ISO-8859-1", "windows-1252", "windows-1251", "KOI8-R", another single-byte one if it
// was declared, or "" if it is not known.
func (f *File) Encoding() string { return f.codec.name }

// BOM reports whether the file begins with a byte-order mark.
func (f *File) BOM() bool { return f.bom > 0 }

// Endings returns the number of line breaks that are LF alone and of those that are CRLF.
func (f *File) Endings() (lf, crlf int) { return f.lf, f.crlf }

// Binary reports whether the content is not text: it holds NUL bytes and is neither UTF-16 nor UTF-32.
func (f *File) Binary() bool { return f.binary }

// Stray returns how many places of the view stand for bytes that are not text, and the line of the first one. If there
// are none, both are 0.
func (f *File) Stray() (count, line int) {
	if f.stray == 0 {
		return 0, 0
	}
	b := f.bom
	for b < len(f.raw) && !f.codec.strayAt(f.raw[b:]) {
		b += f.codec.width(f.raw[b:])
	}
	return f.stray, 1 + f.codec.countBreaks(f.raw[f.bom:b])
}

// Lines returns the number of lines of a view. A final newline ends the last line and begins no other.
func Lines(view string) int {
	n := strings.Count(view, "\n")
	if view != "" && view[len(view)-1] != '\n' {
		n++
	}
	return n
}

// fold returns s with every CRLF as LF.
func fold(s string) string {
	if strings.IndexByte(s, '\r') < 0 || !strings.Contains(s, "\r\n") {
		return s
	}
	out := make([]byte, 0, len(s))
	for {
		i := strings.Index(s, "\r\n")
		if i < 0 {
			return sharedString(append(out, s...))
		}
		out = append(out, s[:i]...)
		s = s[i+1:]
	}
}

// sharedString returns b as a string without a copy, which for the large files this package must serve is most of the
// cost. B must not be changed afterwards.
func sharedString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// repair returns b as valid UTF-8, each byte that belongs to no character replaced by U+FFFD, and how many were.
func repair(b []byte) (string, int) {
	if utf8.Valid(b) {
		return sharedString(b), 0
	}
	bad := 0
	out := make([]byte, 0, len(b)+len(b)/8)
	for start, i := 0, 0; ; {
		if i == len(b) {
			return sharedString(append(out, b[start:]...)), bad
		}
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			out = append(append(out, b[start:i]...), "\uFFFD"...)
			bad++
			start = i + 1
		}
		i += n
	}
}

// IsBinary reports whether a file that begins with head is binary. Head may end anywhere, also inside a character; 64 kB
// are enough. It costs a search for a NUL byte.
func IsBinary(head []byte) bool {
	return bytes.IndexByte(head, 0) >= 0 && wide(head, false) == nil
}

package pdf

import (
	"bytes"
	"image"
	"image/jpeg"
	"slices"
	"strings"
	"unicode"
)

// clean makes text of what an engine gives: lines that end in LF, without
// control characters, blanks at line ends and empty lines at the end. PDFium
// marks a hyphen at the end of a line, where a word goes on, with U+FFFE or
// U+0002.
func clean(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\ufffe", "-\n", "\x02", "-\n", "\f", "").Replace(s)
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\uffff' || r == '\ufeff' {
			return -1
		}
		return r
	}, s)
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.TrimRight(line, " \t\n\u00a0"))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// letters counts the letters of a text.
func letters(s string) (n int) {
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// A picture is a page as an image.
type picture struct {
	jpeg          []byte
	width, height int
	blank         bool // nothing is on it
}

// pictureOf encodes a page. The ground is white already.
func pictureOf(m *image.RGBA) (picture, error) {
	p := picture{width: m.Rect.Dx(), height: m.Rect.Dy(), blank: white(m)}
	if p.blank {
		return p, nil
	}
	var b bytes.Buffer
	err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 85})
	p.jpeg = b.Bytes()
	return p, err
}

func white(m *image.RGBA) bool {
	return !slices.ContainsFunc(m.Pix, func(v uint8) bool { return v != 255 })
}

// pixels returns the size in pixels of the picture of a page of w×h points. A
// small page is not blown up beyond maxDPI.
func pixels(w, h float64) (int, int) {
	k := min(longSide/max(w, h), maxDPI/72.0)
	return max(1, int(w*k)), max(1, int(h*k))
}

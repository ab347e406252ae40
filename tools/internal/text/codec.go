package text

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// A codec is one encoding. UTF-8, UTF-16 and UTF-32 are done here, since they must pass over stray bytes without losing
// step; the others have a table and are used only for content that decodes strictly.
//
// All a codec must know to keep view and bytes in step is the width of the character at hand: in strict content one
// character of the view stands for one character of the bytes.
type codec struct {
	name  string
	unit  int  // bytes of a line feed: 1, 2 or 4
	wide  bool // UTF-16 or UTF-32
	big   bool // their byte order
	width func(b []byte) int
	table encoding.Encoding
}

var (
	utf8Codec = &codec{name: "UTF-8", unit: 1, width: utf8Width}
	unknown   = &codec{name: "", unit: 1, width: utf8Width}
	utf16LE   = &codec{name: "UTF-16LE", unit: 2, wide: true, width: utf16LEWidth}
	utf16BE   = &codec{name: "UTF-16BE", unit: 2, wide: true, big: true, width: utf16BEWidth}
	utf32LE   = &codec{name: "UTF-32LE", unit: 4, wide: true, width: utf32Width}
	utf32BE   = &codec{name: "UTF-32BE", unit: 4, wide: true, big: true, width: utf32Width}
	gb18030   = &codec{name: "GB18030", unit: 1, width: gbWidth, table: simplifiedchinese.GB18030}
	big5      = &codec{name: "Big5", unit: 1, width: pairWidth, table: traditionalchinese.Big5}
	shiftJIS  = &codec{name: "Shift_JIS", unit: 1, width: sjisWidth, table: japanese.ShiftJIS}
	eucJP     = &codec{name: "EUC-JP", unit: 1, width: eucJPWidth, table: japanese.EUCJP}
	eucKR     = &codec{name: "EUC-KR", unit: 1, width: pairWidth, table: korean.EUCKR}
	latin1    = single("ISO-8859-1", charmap.ISO8859_1)
	cp1252    = single("windows-1252", charmap.Windows1252)
	cp1251    = single("windows-1251", charmap.Windows1251)
	koi8r     = single("KOI8-R", charmap.KOI8R)
)

func single(name string, table encoding.Encoding) *codec {
	return &codec{name: name, unit: 1, width: func([]byte) int { return 1 }, table: table}
}

func utf8Width(b []byte) int {
	if b[0] < utf8.RuneSelf {
		return 1
	}
	_, n := utf8.DecodeRune(b)
	return n
}

func utf16LEWidth(b []byte) int {
	if len(b) >= 4 && b[1]&0xFC == 0xD8 && b[3]&0xFC == 0xDC {
		return 4
	}
	return min(2, len(b))
}

func utf16BEWidth(b []byte) int {
	if len(b) >= 4 && b[0]&0xFC == 0xD8 && b[2]&0xFC == 0xDC {
		return 4
	}
	return min(2, len(b))
}

func utf32Width(b []byte) int { return min(4, len(b)) }

func pairWidth(b []byte) int {
	if b[0] <= 0x80 || b[0] == 0xFF {
		return 1
	}
	return min(2, len(b))
}

func gbWidth(b []byte) int {
	if len(b) >= 4 && b[0] > 0x80 && b[1] >= '0' && b[1] <= '9' {
		return 4
	}
	return pairWidth(b)
}

func sjisWidth(b []byte) int {
	if b[0] <= 0x80 || b[0] >= 0xA0 && b[0] < 0xE0 || b[0] > 0xFC {
		return 1
	}
	return min(2, len(b))
}

func eucJPWidth(b []byte) int {
	switch {
	case b[0] == 0x8F:
		return min(3, len(b))
	case b[0] == 0x8E || b[0] >= 0xA1 && b[0] != 0xFF:
		return min(2, len(b))
	}
	return 1
}

// decode returns the text of body with line breaks as they are, and how many stray places it holds.
func (c *codec) decode(body []byte) (string, int) {
	switch {
	case c.table != nil:
		out, err := c.table.NewDecoder().Bytes(body)
		if err != nil { // no decoder of ours returns an error; if one did, nothing of the body could be trusted
			return repair(body)
		}
		return sharedString(out), 0
	case !c.wide:
		return repair(body)
	}
	out, bad := make([]byte, 0, len(body)/c.unit+len(body)/8), 0
	for len(body) > 0 {
		n := c.width(body)
		r := c.rune(body[:n])
		if r < 0 {
			bad++
			r = utf8.RuneError
		}
		out = utf8.AppendRune(out, r)
		body = body[n:]
	}
	return sharedString(out), bad
}

// rune returns the character that b, which has its width, stands for in UTF-16 or UTF-32, or -1 if that is none.
func (c *codec) rune(b []byte) rune {
	if len(b) < c.unit {
		return -1
	}
	u := c.first(b)
	if c.unit == 2 && len(b) == 4 {
		return rune(u-0xD800)<<10 + rune(c.first(b[2:])-0xDC00) + 0x10000
	}
	if u > utf8.MaxRune || !utf8.ValidRune(rune(u)) {
		return -1
	}
	return rune(u)
}

// first returns the first unit of b.
func (c *codec) first(b []byte) uint32 {
	switch {
	case c.unit == 1:
		return uint32(b[0])
	case c.unit == 2 && c.big:
		return uint32(b[0])<<8 | uint32(b[1])
	case c.unit == 2:
		return uint32(b[1])<<8 | uint32(b[0])
	case c.big:
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// strayAt reports whether b begins with bytes that are not text and are shown as U+FFFD.
func (c *codec) strayAt(b []byte) bool {
	switch {
	case c.table != nil:
		return false
	case !c.wide:
		r, n := utf8.DecodeRune(b)
		return r == utf8.RuneError && n == 1
	}
	return c.rune(b[:c.width(b)]) < 0
}

// strict returns the text of body if every byte of it belongs to a character of c, and whether encoding the text gives
// the same bytes again.
func (c *codec) strict(body []byte) (text string, ok, exact bool) {
	s, bad := c.decode(body)
	if bad > 0 {
		return "", false, false
	}
	if c.table == nil {
		return s, true, true
	}
	runes := 0
	for _, r := range s {
		if r == utf8.RuneError || r >= 0x80 && r < 0xA0 {
			return "", false, false
		}
		runes++
	}
	for rest := body; len(rest) > 0; rest = rest[c.width(rest):] {
		runes--
	}
	if runes != 0 { // Big5 has four codes that stand for two characters each
		return "", false, false
	}
	back, err := c.table.NewEncoder().Bytes([]byte(s))
	return s, true, err == nil && bytes.Equal(back, body)
}

// A missing is a character that an encoding does not have.
type missing struct {
	char  rune
	line  int // of the text that was to be encoded
	codec string
}

// in says which text the character stands in. Line is the number of lines of that text before the encoded part.
func (m *missing) in(what string, line int) error {
	if m.codec == "" {
		return fmt.Errorf("the encoding of the file is not known, so only ASCII text can be written, and line %d of %s has %s", line+m.line, what, describe(m.char))
	}
	return fmt.Errorf("%s in line %d of %s cannot be written in %s, the encoding of the file; use other characters or convert the file first", describe(m.char), line+m.line, what, m.codec)
}

// describe names a character by code point and, if it can be seen, by itself.
func describe(r rune) string { return fmt.Sprintf("%#U", r) }

// encode returns the bytes of s, as a string, or the first character that c does not have.
func (c *codec) encode(s string) (string, *missing) {
	switch {
	case c == utf8Codec || isASCII(s) && c.unit == 1:
		return s, nil
	case c == unknown:
		i := strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
		return "", c.missing(s, i)
	case c.wide:
		return c.encodeWide(s), nil
	}
	out, err := c.table.NewEncoder().String(s)
	if err == nil {
		if back, _ := c.table.NewDecoder().String(out); back == s {
			return out, nil
		}
	}
	for i, r := range s {
		one := string(r)
		b, err := c.table.NewEncoder().String(one)
		if err != nil {
			return "", c.missing(s, i)
		}
		if back, _ := c.table.NewDecoder().String(b); back != one {
			return "", c.missing(s, i)
		}
	}
	return out, nil
}

func (c *codec) missing(s string, i int) *missing {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return &missing{char: r, line: 1 + strings.Count(s[:i], "\n"), codec: c.name}
}

func (c *codec) encodeWide(s string) string {
	var order binary.AppendByteOrder = binary.LittleEndian
	if c.big {
		order = binary.BigEndian
	}
	out := make([]byte, 0, len(s)*c.unit)
	for _, r := range s {
		switch {
		case c.unit == 4:
			out = order.AppendUint32(out, uint32(r))
		case r >= 0x10000:
			out = order.AppendUint16(out, uint16(0xD800+(r-0x10000)>>10))
			out = order.AppendUint16(out, uint16(0xDC00+(r-0x10000)&0x3FF))
		default:
			out = order.AppendUint16(out, uint16(r))
		}
	}
	return sharedString(out)
}

// nextBreak returns the offset of the first line feed in raw[from:], or len(raw). From is the start of a character. No
// second byte of any double-byte encoding here is a line feed.
func (c *codec) nextBreak(raw []byte, from int) int {
	if c.unit == 1 {
		if i := bytes.IndexByte(raw[from:], '\n'); i >= 0 {
			return from + i
		}
		return len(raw)
	}
	for ; from+c.unit <= len(raw); from += c.unit {
		if c.isUnit(raw[from:], '\n') {
			return from
		}
	}
	return len(raw)
}

// lastBreak returns the offset of the last line feed in raw[low:to], or -1.
func (c *codec) lastBreak(raw []byte, low, to int) int {
	if c.unit == 1 {
		if i := bytes.LastIndexByte(raw[low:to], '\n'); i >= 0 {
			return low + i
		}
		return -1
	}
	for at := to - c.unit; at >= low; at -= c.unit {
		if c.isUnit(raw[at:], '\n') {
			return at
		}
	}
	return -1
}

// countBreaks returns the number of line feeds in b.
func (c *codec) countBreaks(b []byte) int {
	if c.unit == 1 {
		return bytes.Count(b, []byte("\n"))
	}
	n := 0
	for ; len(b) >= c.unit; b = b[c.unit:] {
		if c.isUnit(b, '\n') {
			n++
		}
	}
	return n
}

// crBefore reports whether the line feed at raw[at:] is the end of a CRLF that begins at low or later.
func (c *codec) crBefore(raw []byte, low, at int) bool {
	return at-c.unit >= low && c.isUnit(raw[at-c.unit:], '\r')
}

// isUnit reports whether b begins with the ASCII character x.
func (c *codec) isUnit(b []byte, x byte) bool {
	return c.first(b) == uint32(x)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

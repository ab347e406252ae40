package text

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// A finding is what detect makes of a file.
type finding struct {
	codec  *codec
	bom    int
	binary bool
	text   string // already decoded, or ""
}

// detect tells the encoding of data. The first rule that applies decides:
//
//  1. A byte-order mark.
//  2. Valid UTF-8 without NUL. Text in another encoding that is valid UTF-8 by chance does not occur in practice, and
//     nearly every file ends here after one scan.
//  3. The declared encoding, if all of the content decodes strictly.
//  4. UTF-16 without mark: NULs in the bytes of one parity only.
//  5. Any NUL that is left: binary.
//  6. UTF-8 with stray bytes: at least 20 characters for each bad byte.
//  7. A sure guess (see guess and western).
//  8. Unknown.
func detect(data []byte, declared string) finding {
	hasNUL := bytes.IndexByte(data, 0) >= 0
	if body, ok := bytes.CutPrefix(data, []byte("\xEF\xBB\xBF")); ok {
		return finding{codec: utf8Codec, bom: len(data) - len(body), binary: hasNUL}
	}
	if w := marked(data); w != nil {
		return finding{codec: w, bom: w.unit}
	}
	if !hasNUL && utf8.Valid(data) {
		return finding{codec: utf8Codec}
	}
	for _, c := range named(declared, data) {
		if hasNUL && !c.wide {
			continue
		}
		if text, ok, _ := c.strict(data); ok {
			return finding{codec: c, text: text}
		}
	}
	if hasNUL {
		if w := wide(data, true); w != nil {
			return finding{codec: w}
		}
		return finding{codec: unknown, binary: true}
	}
	if mostlyUTF8(data) {
		return finding{codec: utf8Codec}
	}
	lines := sample(data)
	if bytes.ContainsFunc(lines, notInText) {
		return finding{codec: unknown}
	}
	for _, c := range []*codec{guess(lines), western(lines)} {
		if c == nil {
			continue
		}
		if text, ok, exact := c.strict(data); ok && exact {
			return finding{codec: c, text: text}
		}
	}
	return finding{codec: unknown}
}

// marked returns the UTF-16 or UTF-32 encoding whose byte-order mark data begins with, or nil. Other content can begin
// with the same bytes, so what follows must look like text.
func marked(data []byte) *codec {
	if len(data) < 2 || data[0] != 0xFF && data[0] != 0xFE && data[0] != 0 {
		return nil
	}
	for _, m := range []struct {
		codec *codec
		mark  string
	}{ // the mark of UTF-32LE begins with that of UTF-16LE
		{utf32LE, "\xFF\xFE\x00\x00"}, {utf32BE, "\x00\x00\xFE\xFF"}, {utf16LE, "\xFF\xFE"}, {utf16BE, "\xFE\xFF"},
	} {
		body, ok := bytes.CutPrefix(data, []byte(m.mark))
		if ok && m.codec.plausible(body) {
			return m.codec
		}
	}
	return nil
}

// plausible reports whether body can be text in the UTF-16 or UTF-32 encoding c: no NUL character, in UTF-32 no stray
// unit, in UTF-16 few.
func (c *codec) plausible(body []byte) bool {
	units, bad := 0, 0
	for ; len(body) > 0; units++ {
		n := c.width(body)
		switch r := c.rune(body[:n]); {
		case r == 0:
			return false
		case r < 0:
			bad++
		}
		body = body[n:]
	}
	return bad == 0 || c.unit == 2 && bad <= 2+units/20
}

// wide returns the encoding of data if it is UTF-16 or UTF-32 with a byte-order mark or UTF-16 without one, else nil. If
// data is not whole, it may end inside a character.
func wide(data []byte, whole bool) *codec {
	if !whole {
		data = data[:len(data)&^3]
	}
	if w := marked(data); w != nil {
		return w
	}
	if len(data) < 8 || len(data)%2 != 0 {
		return nil
	}
	var nul [2]int
	for i, b := range data {
		if b == 0 {
			nul[i&1]++
		}
	}
	half := len(data) / 2
	switch {
	case nul[1]*10 >= half*4 && nul[0]*100 < half && utf16LE.isProse(data):
		return utf16LE
	case nul[0]*10 >= half*4 && nul[1]*100 < half && utf16BE.isProse(data):
		return utf16BE
	}
	return nil
}

// isProse reports whether data holds whole characters only, none of them a control character that text does not have. A
// table of small numbers has the NUL pattern of UTF-16 as well.
func (c *codec) isProse(data []byte) bool {
	for len(data) > 0 {
		n := c.width(data)
		r := c.rune(data[:n])
		last := n == len(data)
		if r < 0 && !(last && n == 2) || notInText(r) || r >= 0x80 && r < 0xA0 {
			return false
		}
		data = data[n:]
	}
	return true
}

// notInText reports whether r is a control character that text files do not hold.
func notInText(r rune) bool {
	return r >= 0 && r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", r) || r == 0x7F
}

// mostlyUTF8 tells UTF-8 with a few stray bytes from text in another encoding.
func mostlyUTF8(data []byte) bool {
	good, bad := 0, 0
	for i := 0; i < len(data); {
		if data[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			bad++
		} else {
			good++
		}
		i += n
	}
	return good >= 20*bad
}

// sampleSize bounds what the guess looks at.
const sampleSize = 64 << 10

// sample returns the lines of data that hold bytes above ASCII, up to sampleSize.
func sample(data []byte) []byte {
	var out []byte
	for line := range bytes.Lines(data) {
		if !hasHigh(line) {
			continue
		}
		if room := sampleSize - len(out); len(line) > room {
			// Cut where no double-byte character can be torn. If there is no such place the guess fails, which is safe.
			if i := bytes.LastIndexAny(line[:room], " \n<>\"'(),;"); i > 0 {
				out = append(out, line[:i]...)
			} else if len(out) == 0 {
				out = line[:room]
			}
			return out
		}
		out = append(out, line...)
	}
	return out
}

func hasHigh(b []byte) bool {
	for _, x := range b {
		if x >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// named returns the codecs that a declared charset may mean for data, best first. Names are compared without case, hyphens,
// underscores and blanks.
func named(declared string, data []byte) []*codec {
	if declared == "" {
		return nil
	}
	name := strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(declared))
	switch strings.TrimSuffix(name, "bom") {
	case "utf16le":
		return []*codec{utf16LE}
	case "utf16be":
		return []*codec{utf16BE}
	case "utf16", "ucs2":
		if w := wide(data, true); w != nil {
			return []*codec{w}
		}
		return []*codec{utf16LE, utf16BE}
	case "utf32le":
		return []*codec{utf32LE}
	case "utf32be":
		return []*codec{utf32BE}
	case "gb18030", "gbk", "gb2312", "cp936", "windows936", "ms936", "euccn":
		return []*codec{gb18030}
	case "big5", "big5hkscs", "cp950", "windows950", "ms950":
		return []*codec{big5}
	case "shiftjis", "sjis", "cp932", "windows31j", "windows932", "ms932", "mskanji":
		return []*codec{shiftJIS}
	case "eucjp", "ujis":
		return []*codec{eucJP}
	case "euckr", "cp949", "windows949", "ms949", "uhc", "ksc5601":
		return []*codec{eucKR}
	case "latin1", "iso88591", "l1":
		return []*codec{latin1, cp1252}
	}
	name = strings.NewReplacer("cp125", "windows125", "latin2", "iso88592", "latin9", "iso885915", "cp", "ibmcodepage").Replace(name)
	for _, e := range charmap.All {
		m, ok := e.(*charmap.Charmap)
		if !ok || m.String() == "IBM Code Page 037" || m.String() == "IBM Code Page 1047" || m.String() == "IBM Code Page 1140" {
			continue // the last three are not supersets of ASCII
		}
		if strings.NewReplacer("-", "", " ", "").Replace(strings.ToLower(m.String())) == name {
			return []*codec{single(strings.ReplaceAll(strings.ReplaceAll(m.String(), "Windows ", "windows-"), "ISO ", "ISO-"), m)}
		}
	}
	return nil
}

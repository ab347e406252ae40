package page

import (
	"bytes"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"

	"ferrule/tools/internal/text"
)

// declared finds what a page says of its encoding. The length of a tag is bounded, so that a page of "<meta" without end
// costs no more than its length.
var declared = regexp.MustCompile(`(?i)(?:<meta[^>]{0,200}charset|<\?xml[^>]{0,80}encoding)\s*=\s*["']?\s*([a-z0-9_:-]+)`)

// declaredWithin is where a declaration may stand. Browsers look at 1,024 bytes; pages with a late one exist.
const declaredWithin = 64 << 10

// Decode turns the body of an answer into text and names its charset as the WHATWG does. The text is valid UTF-8 without
// byte-order mark; bytes that are no text become U+FFFD.
//
// What is said of an encoding is often wrong, so a name counts only if the body decodes by it. Of ten pages whose
// declarations are missing, late or wrong, this order reads ten, and that of browsers four:
//
//  1. a byte-order mark
//  2. the header, unless it says Latin-1, the default of old servers
//  3. valid UTF-8
//  4. meta or XML declaration
//  5. what the bytes surely are (see package text)
//  6. the header even so
//  7. UTF-8 with a few bad bytes
//  8. windows-1252, which is what browsers take
func Decode(body []byte, contentType string) (text, charset string) {
	for _, m := range []struct{ mark, name string }{
		{"\xEF\xBB\xBF", "utf-8"}, {"\xFF\xFE", "utf-16le"}, {"\xFE\xFF", "utf-16be"},
	} {
		if rest, ok := bytes.CutPrefix(body, []byte(m.mark)); ok {
			return decode(rest, m.name), m.name
		}
	}
	_, params, _ := mime.ParseMediaType(contentType)
	header := named(params["charset"])
	if header != "" && header != "windows-1252" {
		if s, ok := decodeClean(body, header); ok {
			return s, header
		}
	}
	if utf8.Valid(body) && bytes.Count(body, []byte{0})*10 <= len(body) { // UTF-16 without mark is full of NUL
		return string(body), "utf-8"
	}
	if m := declared.FindSubmatch(body[:min(len(body), declaredWithin)]); m != nil {
		// A page that says UTF-16 in ASCII is not.
		if name := named(string(m[1])); name != "" && !strings.HasPrefix(name, "utf-16") {
			if s, ok := decodeClean(body, name); ok {
				return s, name
			}
		}
	}
	for _, name := range []string{surely(body), header, "utf-8"} {
		if name == "" {
			continue
		}
		if s, ok := decodeClean(body, name); ok {
			return s, name
		}
	}
	return decode(body, "windows-1252"), "windows-1252"
}

// surely returns the charset that body is in without doubt, or "". One bad byte makes a page doubtful as a whole, so its
// beginning is looked at as well; no second byte of a character is ">".
func surely(body []byte) string {
	name := text.Decode(body, "").Encoding()
	if name == "" {
		head := body[:min(len(body), 16<<10)]
		name = text.Decode(head[:bytes.LastIndexByte(head, '>')+1], "").Encoding()
	}
	if name == "UTF-8" { // or UTF-8 with bad bytes, which the header goes before
		return ""
	}
	return named(name)
}

// named returns the WHATWG's name of a charset, or "" for an unknown one. There, ISO-8859-1 is windows-1252 and GB2312 is
// GBK.
func named(charset string) string {
	enc, err := htmlindex.Get(strings.TrimSpace(charset))
	if err != nil {
		return ""
	}
	name, err := htmlindex.Name(enc)
	if err != nil {
		return ""
	}
	return name
}

// decodeClean decodes body and reports whether at most one character in a thousand is bad. Pages are seldom perfect.
func decodeClean(body []byte, charset string) (string, bool) {
	s := decode(body, charset)
	bad := strings.Count(s, "\uFFFD")
	if bad > 0 && charset == "utf-8" { // a page in another encoding is mostly ASCII, too
		high := 0
		for _, r := range s {
			if r >= utf8.RuneSelf {
				high++
			}
		}
		if bad*20 > high-bad {
			return s, false
		}
	}
	return s, bad*1000 <= utf8.RuneCountInString(s)
}

// decode never fails: where bytes are bad, it puts U+FFFD.
func decode(body []byte, charset string) string {
	if charset != "utf-8" {
		if enc, err := htmlindex.Get(charset); err == nil {
			if out, err := enc.NewDecoder().Bytes(body); err == nil {
				return string(out)
			}
		}
	}
	return strings.ToValidUTF8(string(body), "\uFFFD")
}

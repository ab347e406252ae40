package text

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// model is UTF-8 text as characters, each with its bytes: the plain way to do what Apply does with offsets.
type model struct{ chars, raw []string }

func modelOf(data []byte) model {
	var m model
	for i := 0; i < len(data); {
		_, n := utf8.DecodeRune(data[i:])
		raw := string(data[i : i+n])
		char := strings.ToValidUTF8(raw, "\uFFFD")
		if i+1 < len(data) && data[i] == '\r' && data[i+1] == '\n' {
			raw, char, n = "\r\n", "\n", 2
		}
		m.chars, m.raw = append(m.chars, char), append(m.raw, raw)
		i += n
	}
	return m
}

// replace returns the bytes with the only occurrence of old, or each with all, replaced, and whether that could be done.
func (m model) replace(old, fresh string, all bool) (string, bool) {
	n := utf8.RuneCountInString(old)
	var at []int
	overlap := false
	for i := 0; i+n <= len(m.chars); i++ {
		if strings.Join(m.chars[i:i+n], "") != old {
			continue
		}
		if k := len(at); k > 0 && i < at[k-1]+n {
			overlap = true
			continue
		}
		at = append(at, i)
	}
	if len(at) == 0 || !all && (len(at) > 1 || overlap) {
		return "", false
	}
	var out strings.Builder
	i := 0
	for _, a := range at {
		out.WriteString(strings.Join(m.raw[i:a], ""))
		out.WriteString(m.fresh(a, a+n, fresh))
		i = a + n
	}
	out.WriteString(strings.Join(m.raw[i:], ""))
	return out.String(), true
}

// fresh returns the new text for the characters from:to with its line breaks.
func (m model) fresh(from, to int, text string) string {
	var kinds []string
	look := func(i int) {
		if i >= 0 && i < len(m.chars) && m.chars[i] == "\n" {
			kinds = append(kinds, m.raw[i])
		}
	}
	for i := from; i < to; i++ {
		look(i)
	}
	for i := to; i < len(m.chars) && len(kinds) == 0; i++ {
		look(i)
	}
	for i := from - 1; i >= 0 && len(kinds) == 0; i-- {
		look(i)
	}
	if len(kinds) == 0 {
		kinds = []string{"\n"}
	}
	var out strings.Builder
	for i, l := range strings.Split(text, "\n") {
		if i > 0 {
			out.WriteString(kinds[min(i, len(kinds))-1])
		}
		out.WriteString(l)
	}
	return out.String()
}

func FuzzEdit(f *testing.F) {
	f.Add([]byte("one\r\ntwo\nthree\r\n"), "one\ntwo", "1\n2\n3", false)
	f.Add([]byte("aaaa\n"), "aa", "b", true)
	f.Add([]byte("a\r\r\nb\xff\xfe\r\nb"), "\n", "\n\n", true)
	f.Add([]byte("\xef\xbb\xbfa\u00e9\xe2\x82\xac\n"), "a", "", false)
	f.Add([]byte("\r\n\r"), "\r", "", false)
	f.Fuzz(func(t *testing.T, data []byte, old, fresh string, all bool) {
		file := Decode(data, "")
		got, err := file.Apply([]Edit{{old, fresh, all}})
		if file.codec != utf8Codec || strings.ContainsAny(old+fresh, "\r\uFFFD") || old == "" || old == fresh || !utf8.ValidString(old) || !utf8.ValidString(fresh) {
			return // only that nothing panics
		}
		want, ok := modelOf(data[file.bom:]).replace(old, fresh, all)
		if ok != (err == nil) {
			t.Fatalf("%q: replacing %q by %q: error %v, model %v", data, old, fresh, err, ok)
		}
		if !ok {
			return
		}
		if want = string(data[:file.bom]) + want; string(got.Data) != want {
			t.Errorf("%q: replacing %q by %q: got %q, want %q", data, old, fresh, got.Data, want)
		}
		if view := file.with(got.Data).View(); got.View != view {
			t.Errorf("%q: view %q, want %q", data, got.View, view)
		}
		for _, s := range got.Spans {
			if s.Line < 1 || s.Lines < 1 || s.Line+s.Lines-1 > max(1, Lines(got.View)) {
				t.Errorf("%q: span %v of %d lines", data, s, Lines(got.View))
			}
		}
		Snippet(got.View, got.Spans, 3, 10)
	})
}

// mixed returns text with CRLF at the line breaks that crlf has a bit for.
func mixed(text string, crlf uint64) string {
	var out strings.Builder
	n := 0
	for l := range strings.Lines(text) {
		body, ended := strings.CutSuffix(l, "\n")
		out.WriteString(body)
		if ended && crlf>>(n%64)&1 == 1 {
			out.WriteString("\r")
		}
		if ended {
			out.WriteString("\n")
		}
		n++
	}
	return out.String()
}

// Text that is replaced by something else and back leaves the bytes as they were, in every encoding and with every
// mixture of line endings.
func FuzzRoundTrip(f *testing.F) {
	f.Add("abc\ndef\nghi", uint16(1), uint16(5), uint64(2), true)
	f.Add("读取配置文件\n設定\n\nx", uint16(2), uint16(3), uint64(5), false)
	f.Add("größe\n\n\nа\n🙂", uint16(0), uint16(20), uint64(7), true)
	f.Fuzz(func(t *testing.T, text string, from, size uint16, crlf uint64, mark bool) {
		if !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\r\uFFFD\uFEFF@") || text == "" {
			return
		}
		runes := []rune(text)
		a := int(from) % len(runes)
		old := string(runes[a:min(len(runes), a+1+int(size)%20)])
		once := strings.Count(text, old) == 1 && !strings.Contains(text[strings.Index(text, old)+1:], old)
		other := "@" + strings.Repeat("\n", strings.Count(old, "\n")) + "@"
		for _, c := range allCodecs {
			s, lost := c.encode(mixed(text, crlf))
			if lost != nil {
				continue
			}
			file := &File{codec: c}
			if m, _ := c.encode("\uFEFF"); mark && (c.wide || c == utf8Codec) {
				s, file.bom = m+s, len(m)
			}
			file = file.with([]byte(s))
			if file.View() != text {
				t.Fatalf("%s: view of %x is %q, want %q", c.name, file.raw, file.View(), text)
			}
			if !once {
				continue
			}
			there, err := file.Apply([]Edit{{Old: old, New: other}})
			if err != nil {
				t.Fatalf("%s: %q in %q: %v", c.name, old, text, err)
			}
			back, err := file.with(there.Data).Apply([]Edit{{Old: other, New: old}})
			if err != nil {
				t.Fatalf("%s: %q in %q: %v", c.name, other, there.View, err)
			}
			if !bytes.Equal(back.Data, file.raw) {
				t.Errorf("%s: %q by %q and back: %x became %x", c.name, old, other, file.raw, back.Data)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, c := range texts {
		s, _ := c.codec.encode(c.text)
		f.Add([]byte(s), "")
	}
	f.Add([]byte("\xff\xfea\x00"), "utf-16")
	f.Add([]byte{0xfb, 0xfc, 0x87, 0x90}, "sjis")
	f.Fuzz(func(t *testing.T, data []byte, declared string) {
		keep := bytes.Clone(data)
		file := Decode(data, declared)
		if !utf8.ValidString(file.View()) {
			t.Errorf("%x: view is not UTF-8: %q", data, file.View())
		}
		if n, line := file.Stray(); n > 0 && (line < 1 || line > Lines(file.View())) {
			t.Errorf("%x: stray byte in line %d", data, line)
		}
		if file.Binary() {
			return
		}
		// The cursor must come to the end of both at the same time.
		c := cursor{f: file, text: file.View(), fold: true, b: file.bom}
		if end := c.to(len(file.View())); end != len(data) {
			t.Errorf("%s: %x: cursor ends at %d", file.Encoding(), data, end)
		}
		exact := file.exact()
		c = cursor{f: file, text: exact, b: file.bom}
		if end := c.to(len(exact)); end != len(data) {
			t.Errorf("%s: %x: cursor ends at %d in the exact text", file.Encoding(), data, end)
		}
		if file.Encoding() != "" && file.stray == 0 && declared == "" && strings.Contains(exact, "\r") && !strings.HasPrefix(exact, "\uFEFF") {
			if again, err := file.Rewrite(exact); err != nil || !bytes.Equal(again, data) {
				t.Errorf("%s: %x rewritten with its own text: %x, %v", file.Encoding(), data, again, err)
			}
		}
		if !bytes.Equal(keep, data) {
			t.Errorf("data was changed")
		}
	})
}

func FuzzNumber(f *testing.F) {
	f.Add("a\nb\n\nc", 2, 1, 10, 3)
	f.Add("日本\r\n", -1, 0, 0, 1)
	f.Fuzz(func(t *testing.T, view string, offset, limit, maxChars, maxLine int) {
		view = strings.ToValidUTF8(view, "?")
		p := Number(view, Window{offset, limit, maxChars, maxLine})
		lines := strings.SplitAfter(view, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		first := max(1, offset)
		if offset < 0 {
			first = max(1, len(lines)+offset+1)
		}
		var want strings.Builder
		last, chars := first-1, 0
		for i := first; i <= len(lines) && (limit <= 0 || i-first < limit); i++ {
			l := []rune(strings.TrimSuffix(lines[i-1], "\n"))
			text := string(l)
			if maxLine > 0 && len(l) > maxLine {
				text = fmt.Sprintf("%s… [line cut here, it has %d characters]", string(l[:maxLine]), len(l))
			}
			text = fmt.Sprintf("%d\t%s\n", i, text)
			chars += utf8.RuneCountInString(text)
			if maxChars > 0 && chars > maxChars && i > first {
				break
			}
			want.WriteString(text)
			last = i
		}
		if p.Text != want.String() || p.First != first || p.Last != last || p.Total != len(lines) {
			t.Errorf("%q %d %d %d %d: got %+v, want %q %d-%d of %d", view, offset, limit, maxChars, maxLine, p, want.String(), first, last, len(lines))
		}
	})
}

func FuzzExplain(f *testing.F) {
	f.Add("\tif x:\n\t\ty\n", "    if x:\n")
	f.Add("it’s\ncafe\u0301  \n", "it's\ncafé")
	f.Add("a\n", "1\ta\n2\tb")
	f.Add("x", "\n\n")
	f.Fuzz(func(t *testing.T, view, old string) {
		file := Decode([]byte(view), "")
		if _, err := file.Apply([]Edit{{Old: old, New: "new"}}); err != nil && !utf8.ValidString(err.Error()) {
			t.Errorf("%q in %q: %q", old, view, err)
		}
	})
}

package text

import (
	"strings"
	"testing"
	"time"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	code := "func alpha() {\n\tbeta()\n\tgamma()\n\tomega(1)\n}\n"
	for _, c := range []struct {
		name, file string
		edit       Edit
		want       []string
	}{
		{"H013", "it’s\n", Edit{Old: "it's", New: "print('x')"}, []string{"line 1 has U+2019 '’' after \"it\" where old_string has U+0027", "\n1\tit’s"}},
		{"H014", "var MAX\u00a0WAIT = 9; // （９秒）\n", Edit{Old: "var MAX WAIT = 9;", New: "x"}, []string{"line 1 has U+00A0 after \"var MAX\" where old_string has 1 blank"}},
		{"H020", "func a() {\n\tif p {\n\t\tq()\n\t}\n\n\treturn x\n}\n", Edit{Old: "        }\n\n        return x", New: "y"}, []string{"line 4 is indented with 1 tab, old_string with 8 blanks, and 1 more line differs", "\n4\t\t}\n5\t\n6\t\treturn x"}},
		{"H024 nothing", "alpha\n   beta\n", Edit{Old: "nope", New: "x"}, []string{"nothing in the file is similar to it; the file has 2 lines"}},
		{"H024 near", "alpha\n   beta\n", Edit{Old: "beta2", New: "x"}, []string{"the nearest place is line 2", "\n2\t   beta"}},
		{"H029", "\tif x:\n\t\ty\n", Edit{Old: "    if x:", New: "    if z:"}, []string{"line 1 is indented with 1 tab, old_string with 4 blanks", "\n1\t\tif x:"}},
		{"numbers", "package p\n\n" + code, Edit{Old: "3\tfunc alpha() {\n4\t\tbeta()\n", New: "x"}, []string{"leave out 3<TAB>", "it matches at line 3"}},
		{"numbers and more", code, Edit{Old: "3\tfunc alhpa() {\n4\t\tbeta()\n", New: "x"}, []string{"leave out 3<TAB>"}},
		{"blank ends", "foo \nbar\n", Edit{Old: "foo\nbar", New: "x"}, []string{"line 1 ends in 1 blank, old_string in nothing"}},
		{"no blank ends", "foo\nbar\n", Edit{Old: "foo\t \nbar", New: "x"}, []string{`line 1 ends in nothing, old_string in "\t "`}},
		{"blank within a line", "foobar1\n", Edit{Old: "foobar ", New: "x"}, []string{"the nearest place is line 1"}},
		{"no final newline", "foo\nbar", Edit{Old: "bar\n", New: "x"}, []string{"the last line of the file, 2, has no line break"}},
		{"empty line", "foo\nbar\n", Edit{Old: "foo\n\n", New: "x"}, []string{"without the line breaks at its end it matches at line 1"}},
		{"inner blanks", "a  =  1\n", Edit{Old: "a = 1", New: "x"}, []string{`line 1 has 1 blank after "a " where old_string has U+003D`}},
		{"nfd", "cafe\u0301 = 1\n", Edit{Old: "café = 1", New: "x"}, []string{"line 1 has U+0065 'e' after \"caf\" where old_string has U+00E9"}},
		{"full width", "x（1）\n", Edit{Old: "x(1)", New: "x"}, []string{"U+FF08", "U+0028"}},
		{"zero width", "ab\u200bcd\n", Edit{Old: "abcd", New: "x"}, []string{"U+200B", "U+0063"}},
		{"cyrillic twin", "cоde = 1\n", Edit{Old: "code = 1", New: "x"}, []string{"U+043E", "U+006F"}},
		{"ellipsis and indentation", "  a…b\n", Edit{Old: "\ta...b", New: "x"}, []string{"line 1 is indented with 2 blanks, old_string with 1 tab"}},
		{"escaped newline", "a\nb\n", Edit{Old: `a\nb`, New: "x"}, []string{`it spells \n where the file has the character itself, at line 1`}},
		{"escaped quote", "x := \"q\"\n", Edit{Old: `x := \"q\"`, New: "x"}, []string{`it spells \" where`}},
		{"escaped code point", "s = 'é'\n", Edit{Old: `s = '\u00e9'`, New: "x"}, []string{`it spells \u00e9 where`}},
		{"html", "if a < b {\n", Edit{Old: "if a &lt; b {", New: "x"}, []string{"it spells &lt; where"}},
		{"escaped in the file", "s = \"a\\nb\"\n", Edit{Old: "a\nb", New: "x"}, []string{"the file spells as escapes", "at line 1"}},
		{"case", "Hello World\n", Edit{Old: "hello World", New: "x"}, []string{"differs in upper and lower case, line 1 has U+0048 'H' at its beginning"}},
		{"first lines", code, Edit{Old: "func alpha() {\n\tbeta()\n\tdelta()\n}", New: "x"}, []string{"lines 1-2 match, then line 3 is\n3\t\tgamma()\nwhere old_string has\n\t\tdelta()"}},
		{"last lines", code, Edit{Old: "func delta(x int) {\n\tbeta()\n\tgamma()\n\tomega(1)\n}", New: "x"}, []string{"lines 2-5 match, but line 1 is\n1\tfunc alpha() {"}},
		{"end of file", code, Edit{Old: "\tomega(1)\n}\nmore()\n", New: "x"}, []string{"lines 4-5 match, then the file has no line after"}},
		{"made before", "alpha = compute(2)\n", Edit{Old: "alpha = compute(1)", New: "alpha = compute(2)"}, []string{"the nearest place is line 1", "new_string is already there, at line 1"}},
		{"part of a long line", "x = compute(alpha, beta, gamma) + something else that is long\n", Edit{Old: "compute(alpha, beta, gama)", New: "x"}, []string{"the nearest place is line 1"}},
		{"crlf spelled", "one\ntwo\n", Edit{Old: "one\r\ntwo", New: "x"}, []string{"spells line breaks as CR LF"}},
		{"crlf spelled in new", "one\r\ntwo\r\n", Edit{Old: "one\ntwo", New: "1\r\n2"}, []string{"new_string spells a CR"}},
		{"blanks only", "a\n", Edit{Old: "  ", New: "x"}, []string{"nothing in the file is similar"}},
	} {
		_, err := Decode([]byte(c.file), "").Apply([]Edit{c.edit})
		if err == nil {
			t.Errorf("%s: edit was made", c.name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: got %s\nwant %s", c.name, err, w)
			}
		}
	}
}

// However large the file, an explanation ends soon and stays short.
func TestExplainEnds(t *testing.T) {
	for name, view := range map[string]string{
		"lines":       strings.Repeat("}\n", 3<<20),
		"one line":    strings.Repeat("ab cd\t", 1<<20),
		"empty lines": strings.Repeat("\n", 5<<20),
		"not ASCII":   strings.Repeat("“é” …\n", 1<<19),
	} {
		f := Decode([]byte(view), "")
		start := time.Now()
		_, err := f.Apply([]Edit{{Old: "}\n}\n\t\t“never there”\n}\n}", New: "x"}})
		took := time.Since(start)
		if err == nil || len(err.Error()) > 8000 || took > 10*time.Second {
			t.Errorf("%s: took %v, %.80v", name, took, err)
		}
		t.Logf("%s: %v", name, took)
	}
}

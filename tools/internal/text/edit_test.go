package text

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestApply(t *testing.T) {
	t.Parallel()
	long := make([]string, 1100)
	for i := range long {
		long[i] = fmt.Sprintf("line %d %s\n", i, strings.Repeat("x", 130))
	}
	file := strings.Join(long, "")
	grown := "line 5 " + strings.Repeat("y", 900)
	e40, e60 := strings.Repeat("é", 40), strings.Repeat("é", 60)
	for _, c := range []struct {
		name, file string
		edits      []Edit
		want       string
		count      int
		spans      []Span
	}{
		{"H001", "one\r\ntwo\r\nthree\r\n", []Edit{{Old: "one\ntwo", New: "1\n2"}}, "1\r\n2\r\nthree\r\n", 1, []Span{{1, 2}}},
		{"H002", "a\r\nb\r\n", []Edit{{Old: "a", New: "a\nnew1\nnew2"}}, "a\r\nnew1\r\nnew2\r\nb\r\n", 1, []Span{{1, 3}}},
		{"H004", "{\n \"a\":1,\n \"b\":2\n}", []Edit{{Old: "\"a\":1", New: "\"a\":2"}}, "{\n \"a\":2,\n \"b\":2\n}", 1, []Span{{2, 1}}},
		{"H005", "a\nlast\n", []Edit{{Old: "last", New: "end"}}, "a\nend\n", 1, []Span{{2, 1}}},
		{"H006", "l1\r\nl2\r\nl3\r\n", []Edit{{Old: "l2", New: "X"}}, "l1\r\nX\r\nl3\r\n", 1, []Span{{2, 1}}},
		{"H007", "caf\xe9\nkeep\nx=1\n", []Edit{{Old: "x=1", New: "x=2"}}, "caf\xe9\nkeep\nx=2\n", 1, []Span{{3, 1}}},
		{"H008", "\xef\xbb\xbfhello\nworld\n", []Edit{{Old: "hello", New: "bye"}}, "\xef\xbb\xbfbye\nworld\n", 1, []Span{{1, 1}}},
		{"H009", "\xc4\xe3\xba\xc3\nA=1\n", []Edit{{Old: "A=1", New: "A=2"}}, "\xc4\xe3\xba\xc3\nA=2\n", 1, []Span{{2, 1}}},
		{"H010", "\xff\xfeh\x00i\x00\n\x00w\x00o\x00\n\x00", []Edit{{Old: "wo", New: "W"}}, "\xff\xfeh\x00i\x00\n\x00W\x00\n\x00", 1, []Span{{2, 1}}},
		{"H017", "price: TOKEN;\n", []Edit{{Old: "TOKEN", New: "$& $$ $1 $`"}}, "price: $& $$ $1 $`;\n", 1, []Span{{1, 1}}},
		{"H021", "aaaa\n", []Edit{{Old: "aa", New: "b", All: true}}, "bb\n", 2, []Span{{1, 1}}},
		{"H022", "a TODO b\nc TODO\nd\n", []Edit{{Old: " TODO", All: true}}, "a b\nc\nd\n", 2, []Span{{1, 1}, {2, 1}}},
		{"H023", file, []Edit{{Old: "line 5 ", New: grown}}, strings.Replace(file, "line 5 ", grown, 1), 1, []Span{{6, 1}}},
		{"H026", "a\nb\nc\n", []Edit{{Old: "c", New: "C"}, {Old: "a", New: "A"}}, "A\nb\nC\n", 2, []Span{{1, 1}, {3, 1}}},
		{"H027", "n++ // count tiles twice\n", []Edit{{Old: "// count tiles", New: "// sum tiles"}}, "n++ // sum tiles twice\n", 1, []Span{{1, 1}}},
		{"H028 empty file", "", []Edit{{New: "Q\n"}}, "Q\n", 1, []Span{{1, 1}}},
		{"H028 only a mark", "\xef\xbb\xbf", []Edit{{New: "é\n"}}, "\xef\xbb\xbfé\n", 1, []Span{{1, 1}}},
		{"H030", "a  \nb\t\n", []Edit{{Old: "a  \nb\t", New: "A"}}, "A\n", 1, []Span{{1, 1}}},
		{"mixed endings keep their lines", "a\r\nb\nc\r\nd\n", []Edit{{Old: "b\nc\nd", New: "B\nC\nD\nE"}}, "a\r\nB\nC\r\nD\r\nE\n", 1, []Span{{2, 4}}},
		{"ending of the line before", "a\r\nb", []Edit{{Old: "b", New: "b\nc"}}, "a\r\nb\r\nc", 1, []Span{{2, 2}}},
		{"ending of the line itself", "a\r\nb\nc\r\n", []Edit{{Old: "b", New: "b\nB"}}, "a\r\nb\nB\nc\r\n", 1, []Span{{2, 2}}},
		{"no ending at all", "a", []Edit{{Old: "a", New: "a\nb"}}, "a\nb", 1, []Span{{1, 2}}},
		{"match at a crlf", "a\r\nb\r\n", []Edit{{Old: "\nb", New: "\nX\nb"}}, "a\r\nX\r\nb\r\n", 1, []Span{{1, 3}}},
		{"lone cr before crlf", "a\r\r\nb\r\n", []Edit{{Old: "\nb", New: "\nB"}}, "a\r\r\nB\r\n", 1, []Span{{1, 2}}},
		{"spelled cr", "a\r\nb\nc\r\n", []Edit{{Old: "a\r\nb\n", New: "a\nb\r\n"}}, "a\nb\r\nc\r\n", 1, []Span{{1, 2}}},
		{"spelled lone cr", "a\rb\r\n", []Edit{{Old: "a\rb", New: "c"}}, "c\r\n", 1, []Span{{1, 1}}},
		{"all, each with its ending", "a\r\na\na\r\n", []Edit{{Old: "a", New: "x\ny", All: true}}, "x\r\ny\r\nx\ny\nx\r\ny\r\n", 3, []Span{{1, 2}, {3, 2}, {5, 2}}},
		{"utf-16 endings", "\xfe\xff\x00a\x00\r\x00\n\x00b", []Edit{{Old: "b", New: "c\nd"}}, "\xfe\xff\x00a\x00\r\x00\n\x00c\x00\r\x00\n\x00d", 1, []Span{{2, 2}}},
		{"remove lines", "a\nb\nc\n", []Edit{{Old: "b\n"}}, "a\nc\n", 1, []Span{{2, 1}}},
		{"remove the last line", "a\nb\n", []Edit{{Old: "b\n"}}, "a\n", 1, []Span{{1, 1}}},
		{"remove everything", "a\n", []Edit{{Old: "a\n"}}, "", 1, []Span{{1, 1}}},
		{"later edits move places", "a\nb\nc\n", []Edit{{Old: "c", New: "C"}, {Old: "a\n", New: "1\n2\n3\n"}, {Old: "2\n", New: ""}}, "1\n3\nb\nC\n", 3, []Span{{1, 2}, {4, 1}}},
		{"edit of an edit", "a\n", []Edit{{Old: "a", New: "bcd"}, {Old: "c", New: "x\ny"}}, "bx\nyd\n", 2, []Span{{1, 2}}},
		{"edit over the end of an edit", "a\nz\n", []Edit{{Old: "a", New: "b\ncd"}, {Old: "d\nz", New: "1\n2"}}, "b\nc1\n2\n", 2, []Span{{1, 3}}},
		{"edit over the beginning of an edit", "a\nz\n", []Edit{{Old: "z", New: "b\ncd"}, {Old: "a\nb", New: "1\n2\n3"}}, "1\n2\n3\ncd\n", 2, []Span{{1, 4}}},
		{"edit that removes the end of an edit", "a\nz\n1\n2\n3\n", []Edit{{Old: "a", New: "b\n\n\n\nd"}, {Old: "\n\n\n\nd\nz", New: ""}}, "b\n1\n2\n3\n", 2, []Span{{1, 1}}},
		{"break at the very beginning", "\nb", []Edit{{Old: "\nb", New: "\n\nb"}}, "\n\nb", 1, []Span{{1, 3}}},
		{"stray bytes stay", e40 + "\xffa\xfe\r\n", []Edit{{Old: "a", New: "b\nü"}}, e40 + "\xffb\r\nü\xfe\r\n", 1, []Span{{1, 2}}},
		{"removal joins bytes to a character", e60 + "\xe2A\x82\xac\n", []Edit{{Old: "A", New: ""}, {Old: "€", New: "x"}}, e60 + "x\n", 2, []Span{{1, 1}}},
		{"real replacement character", "a\uFFFDb\n", []Edit{{Old: "\uFFFDb", New: "c"}}, "ac\n", 1, []Span{{1, 1}}},
		{"real one beside stray bytes", e40 + "\xff\na\uFFFDb\n", []Edit{{Old: "a\uFFFDb", New: "\uFFFDc"}}, e40 + "\xff\n\uFFFDc\n", 1, []Span{{2, 1}}},
		{"gbk", "// \xb6\xc1\xc8\xa1\xc5\xe4\xd6\xc3\xce\xc4\xbc\xfe\r\nx\r\n", []Edit{{Old: "配置", New: "数据\n"}}, "// \xb6\xc1\xc8\xa1\xca\xfd\xbe\xdd\r\n\xce\xc4\xbc\xfe\r\nx\r\n", 1, []Span{{1, 1}}},
		{"DOC50", "x \x95\x5c y \xff\xff\npath = C:\\tmp\n", []Edit{{Old: "C:\\tmp", New: "D:\\tmp"}}, "x \x95\x5c y \xff\xff\npath = D:\\tmp\n", 1, []Span{{2, 1}}},
	} {
		f := Decode([]byte(c.file), "")
		got, err := f.Apply(c.edits)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if string(got.Data) != c.want || got.Count != c.count || !reflect.DeepEqual(got.Spans, c.spans) {
			t.Errorf("%s: got %.200q %d %v, want %.200q %d %v", c.name, got.Data, got.Count, got.Spans, c.want, c.count, c.spans)
		}
		if string(f.raw) != c.file {
			t.Errorf("%s: the old bytes were changed", c.name)
		}
		if view := f.with(got.Data).View(); got.View != view {
			t.Errorf("%s: view is %.200q, want %.200q", c.name, got.View, view)
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	sjis := "\x90\xb3\x8f\xed\x8fI\x97\xb9\n"
	strays := strings.Repeat("é", 40) + "\xffa\n"
	for _, c := range []struct {
		name, file string
		edits      []Edit
		want       string // what the error says
	}{
		{"equal", "a\n", []Edit{{Old: "a", New: "a"}}, "old_string and new_string are the same"},
		{"none", "a\n", nil, "no edits"},
		{"binary", "a\x00b", []Edit{{Old: "a", New: "b"}}, "binary"},
		{"H025", "one\ntwo\n", []Edit{{Old: "one", New: "1"}, {Old: "zzz", New: "9"}}, `edit 2 of 2 ("zzz") cannot be made, so none was: old_string was not found`},
		{"changed before", "one\ntwo\n", []Edit{{Old: "one", New: "1"}, {Old: "one\ntwo", New: "9"}}, "an edit before it has changed the text"},
		{"H028", "x\n", []Edit{{New: "Q"}}, "old_string is empty, which is only for a new or an empty file"},
		{"twice", "a\nb\na\n", []Edit{{Old: "a", New: "c"}}, "old_string has 2 matches, at lines 1 and 3; add lines"},
		{"twice in a line", "a b a\n", []Edit{{Old: "a", New: "c"}}, "2 matches, all in line 1"},
		{"three", "1\n2\n3\nx\nx\n6\n7\n8\nx\n", []Edit{{Old: "x\n", New: "c"}}, "3 matches, at lines 4, 5 and 9"},
		{"eleven lines", strings.Repeat("a\n", 11), []Edit{{Old: "a", New: "c"}}, "11 matches, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more"},
		{"very many", strings.Repeat("a ", 11000), []Edit{{Old: "a", New: "c"}}, "at least 10000 matches, all in line 1"},
		{"overlap", "aaa\n", []Edit{{Old: "aa", New: "c"}}, "matches that overlap, at line 1"},
		{"DOC49", sjis, []Edit{{Old: "正常", New: "正常\n🙂"}}, "U+1F642 '🙂' in line 2 of new_string cannot be written in Shift_JIS"},
		{"latin-1 keeps to its set", "caf\xe9\n", []Edit{{Old: "caf", New: "€"}}, "U+20AC '€' in line 1 of new_string cannot be written in ISO-8859-1"},
		{"DOC50", "x \x95\x5c y \xff\xff\n", []Edit{{Old: "\\ y", New: "/ y"}}, "matches in line 1 right behind a byte that is not ASCII"},
		{"unknown, not ASCII", "\xc4\xe3\xff\n A\n", []Edit{{Old: "A", New: "é"}}, "only ASCII text can be written, and line 1 of new_string has U+00E9"},
		{"unknown, old not ASCII", "\xc4\xe3\xff\n A\n", []Edit{{Old: "é", New: "A"}}, "only ASCII text can be changed"},
		{"unknown, replacement", "\xc4\xe3\xff\n A\n", []Edit{{Old: "\uFFFD\n", New: "A"}}, "are not text; leave them out of old_string"},
		{"stray in old", strays, []Edit{{Old: "\uFFFDa", New: "b"}}, "are not text; leave them out of old_string"},
		{"stray in new", strays, []Edit{{Old: "a", New: "\uFFFD"}}, "are not text; leave them out"},
		{"not UTF-8", "a\n", []Edit{{Old: "a", New: "\xff"}}, "new_string is not valid UTF-8"},
	} {
		_, err := Decode([]byte(c.file), "").Apply(c.edits)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, content, want, fails string }{
		{"lf", "a\nb\n", "x\ny", "x\ny", ""},
		{"crlf", "a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n", ""},
		{"majority", "a\r\nb\nc\r\n", "x\n", "x\r\n", ""},
		{"tie", "a\r\nb\n", "x\n", "x\n", ""},
		{"spelled", "a\r\nb\r\n", "x\ny\r\n", "x\ny\r\n", ""},
		{"bom", "\xef\xbb\xbfa\n", "x\n", "\xef\xbb\xbfx\n", ""},
		{"bom given as well", "\xef\xbb\xbfa\n", "\uFEFFx\n", "\xef\xbb\xbfx\n", ""},
		{"utf-16", "\xfe\xff\x00a\x00\r\x00\n", "é\n", "\xfe\xff\x00\xe9\x00\r\x00\n", ""},
		{"H012", "", "l’été\n", "l\xe2\x80\x99\xc3\xa9t\xc3\xa9\n", ""},
		{"H018", "", "print('a\\nb')\n", "print('a\\nb')\n", ""},
		{"H019", "", "\\title{X}\n", "\\title{X}\n", ""},
		{"latin-1", "caf\xe9\n", "thé\n", "th\xe9\n", ""},
		{"latin-1 lacks it", "caf\xe9\n", "a\nthé €\n", "", "U+20AC '€' in line 2 of content cannot be written in ISO-8859-1"},
		{"unknown", "\xc4\xe3\xff\n", "plain\n", "plain\n", ""},
		{"unknown lacks it", "\xc4\xe3\xff\n", "é\n", "", "the encoding of the file is not known"},
		{"stray", strings.Repeat("é", 40) + "\xff\n", "a\uFFFD\n", "", "would be lost"},
		{"binary", "a\x00", "x", "", "binary"},
		{"to nothing", "\xef\xbb\xbfa\n", "", "\xef\xbb\xbf", ""},
	} {
		got, err := Decode([]byte(c.file), "").Rewrite(c.content)
		switch {
		case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.fails)
		case c.fails == "" && (err != nil || string(got) != c.want):
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

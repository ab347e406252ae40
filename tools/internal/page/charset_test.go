package page

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
)

// TestDecode reads pages whose declarations are missing, late or wrong. DOC12, DOC13, DOC14.
func TestDecode(t *testing.T) {
	t.Parallel()
	const (
		zh = "<html><head>%</head><body><p>二叉查找树的平均查找时间为对数级别。二叉查找树的平均查找时间为对数级别。</p></body></html>"
		tw = "<html><head>%</head><p>雜湊表使用雜湊函數。雜湊表使用雜湊函數。雜湊表使用雜湊函數。</p>"
		ja = "<html><head>%</head><p>設定ファイルを読み込む。設定ファイルを読み込む。</p>"
		ru = "<html><head>%</head><p>Ошибка при чтении файла настроек, попробуйте ещё раз.</p>"
		fr = "<html><head>%</head><p>Les élèves étaient déjà prêts, mais la leçon a été annulée.</p>"
	)
	for _, c := range []struct {
		name, page, head, in, contentType string
		charset                           string
	}{
		{"meta only", zh, "<meta charset=gbk>", "gbk", "text/html", "gbk"},
		{"meta of an older name", zh, "<meta charset=gb2312>", "gbk", "text/html", "gbk"},
		{"http-equiv", ja, `<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">`, "shift_jis", "text/html", "shift_jis"},
		{"big5", tw, "<meta charset=big5>", "big5", "text/html", "big5"},
		{"header", zh, "", "gbk", "text/html; charset=GBK", "gbk"},
		{"meta after 1,024 bytes", zh, strings.Repeat(" ", 3000) + "<meta charset=gb18030>", "gb18030", "text/html", "gb18030"},
		{"meta is wrong", zh, "<meta charset=gbk>", "utf-8", "text/html", "utf-8"},
		{"header is wrong", zh, "", "utf-8", "text/html; charset=gbk", "utf-8"},
		{"header is the default of a server", zh, "<meta charset=gbk>", "gbk", "text/html; charset=ISO-8859-1", "gbk"},
		{"header is the default, the page UTF-8", fr, "", "utf-8", "text/html; charset=iso-8859-1", "utf-8"},
		{"nothing is said, Chinese", zh, "", "gbk", "text/html", "gb18030"},
		{"nothing is said, Russian", ru, "", "windows-1251", "", "windows-1251"},
		{"nothing is said, French", fr, "", "windows-1252", "text/html", "windows-1252"},
		{"header tells the truth", ru, "", "koi8-r", "text/html; charset=koi8-r", "koi8-r"},
		{"unknown name", fr, "<meta charset=none>", "utf-8", "text/html; charset=x-none", "utf-8"},
		{"UTF-16 without mark", fr, "", "utf-16le", "text/html", "utf-16le"},
		{"UTF-16 by header", fr, "", "utf-16be", "text/html; charset=utf-16be", "utf-16be"},
		{"XML", ru, `<?xml version="1.0" encoding="windows-1251"?>`, "windows-1251", "text/xml", "windows-1251"},
	} {
		enc, err := htmlindex.Get(c.in)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Replace(c.page, "%", c.head, 1)
		body, err := enc.NewEncoder().String(want)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got, charset := Decode([]byte(body), c.contentType); got != want || charset != c.charset {
			t.Errorf("%s: read as %s, want %s: %.200q", c.name, charset, c.charset, got)
		}
	}
	for _, c := range []struct{ body, contentType, want, charset string }{
		{"\xEF\xBB\xBFé", "text/html; charset=gbk", "é", "utf-8"},
		{"\xFF\xFEh\x00i\x00", "text/html", "hi", "utf-16le"},
		{"\xFE\xFF\x00h\x00i", "", "hi", "utf-16be"},
		{strings.Repeat("été ", 400) + "\xFF", "", strings.Repeat("été ", 400) + "\uFFFD", "utf-8"},
		{"", "", "", "utf-8"},
		{"\x80 5", "", "€ 5", "windows-1252"},
	} {
		if got, charset := Decode([]byte(c.body), c.contentType); got != c.want || charset != c.charset {
			t.Errorf("%q: %q as %s, want %q as %s", c.body, got, charset, c.want, c.charset)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("<meta charset=gbk>\xb6\xfe"), "text/html; charset=big5")
	f.Add([]byte("\xFE\xFF\x00"), "")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		if s, charset := Decode(body, contentType); !utf8.ValidString(s) || named(charset) != charset {
			t.Errorf("%q as %q", s, charset)
		}
	})
}

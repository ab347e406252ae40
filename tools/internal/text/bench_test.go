package text

import (
	"fmt"
	"strings"
	"testing"
)

func source(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "\tresult%d, err := compute(alpha, beta, %d) // a comment on it\n", i, i*i)
	}
	return b.String()
}

func BenchmarkDecode(b *testing.B) {
	lf := source(20000)
	for name, data := range map[string][]byte{
		"ASCII":  []byte(lf),
		"CRLF":   []byte(strings.ReplaceAll(lf, "\n", "\r\n")),
		"Han":    []byte(strings.ReplaceAll(lf, "comment", "读取配置文件")),
		"GBK":    encoded(b, gb18030, strings.ReplaceAll(lf, "comment", "读取配置文件")),
		"UTF-16": encoded(b, utf16LE, "\uFEFF"+lf),
		"stray":  []byte(strings.ReplaceAll(lf, "comment", "读取配置文件读取配置文件读取配置文件读取配置\xff")),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				Decode(data, "")
			}
		})
	}
}

// The whole of an edit of a 20,000-line file: decode, one replacement in the last lines, the snippet.
func BenchmarkApply(b *testing.B) {
	lf := source(20000)
	for name, data := range map[string][]byte{
		"LF":   []byte(lf),
		"CRLF": []byte(strings.ReplaceAll(lf, "\n", "\r\n")),
		"GBK":  encoded(b, gb18030, strings.ReplaceAll(lf, "comment", "读取配置文件")),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				a, err := Decode(data, "").Apply([]Edit{{Old: "result19990, err := compute(", New: "x, err := f(\n"}})
				if err != nil {
					b.Fatal(err)
				}
				Snippet(a.View, a.Spans, 3, 60)
			}
		})
		b.Run(name+"/all", func(b *testing.B) {
			for b.Loop() {
				if _, err := Decode(data, "").Apply([]Edit{{Old: "beta", New: "gamma", All: true}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNumber(b *testing.B) {
	view := source(2000)
	for b.Loop() {
		Number(view, Window{MaxChars: 1 << 20, MaxLine: 2000})
	}
}

func BenchmarkNumberTail(b *testing.B) {
	view := source(400000)
	for b.Loop() {
		Number(view, Window{Offset: -20, MaxLine: 2000})
	}
}

func BenchmarkExplain(b *testing.B) {
	file := Decode([]byte(source(15000)), "") // 1 MB
	for name, old := range map[string]string{
		"near":   "\tresult7000, err := compute(alpha, beta, 1) // a comment on this",
		"lines":  "\tresult7000, err := compute(x)\n\tnone\n\tresult7002, err = compute(alpha)\n",
		"none":   "qwrtzp jklhgf vbnmyx",
		"indent": "    result14990, err := compute(",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := file.Apply([]Edit{{Old: old, New: "x"}}); err == nil {
					b.Fatal("found")
				}
			}
		})
	}
}

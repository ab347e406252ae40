package text

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	var seq strings.Builder
	for i := range 20010 {
		fmt.Fprintln(&seq, i+1)
	}
	five := "l1\nl2\nl3\nl4\nl5\n"
	for _, c := range []struct {
		name, view string
		window     Window
		want       Page
	}{
		{"all", "a\nb\n", Window{}, Page{Text: "1\ta\n2\tb\n", First: 1, Last: 2, Total: 2}},
		{"no final newline", "a\nb", Window{}, Page{Text: "1\ta\n2\tb\n", First: 1, Last: 2, Total: 2, NoFinalNewline: true}},
		{"no final newline, not shown", "a\nb", Window{Limit: 1}, Page{Text: "1\ta\n", First: 1, Last: 1, Total: 2}},
		{"empty", "", Window{}, Page{First: 1}},
		{"empty, negative", "", Window{Offset: -3}, Page{First: 1}},
		{"one newline", "\n", Window{}, Page{Text: "1\t\n", First: 1, Last: 1, Total: 1}},
		{"blanks stay, H030", "a  \nb\t\n", Window{}, Page{Text: "1\ta  \n2\tb\t\n", First: 1, Last: 2, Total: 2}},
		{"H029", "\tif x:\n\t\ty\n", Window{}, Page{Text: "1\t\tif x:\n2\t\t\ty\n", First: 1, Last: 2, Total: 2}},
		{"lone cr", "a\rb\n", Window{}, Page{Text: "1\ta\rb\n", First: 1, Last: 1, Total: 1}},
		{"offset and limit", five, Window{Offset: 2, Limit: 2}, Page{Text: "2\tl2\n3\tl3\n", First: 2, Last: 3, Total: 5}},
		{"H043", five, Window{Offset: -3}, Page{Text: "3\tl3\n4\tl4\n5\tl5\n", First: 3, Last: 5, Total: 5}},
		{"negative with limit", five, Window{Offset: -3, Limit: 1}, Page{Text: "3\tl3\n", First: 3, Last: 3, Total: 5}},
		{"negative, no final newline", "l1\nl2", Window{Offset: -1}, Page{Text: "2\tl2\n", First: 2, Last: 2, Total: 2, NoFinalNewline: true}},
		{"more than there are", "l1\nl2\n", Window{Offset: -30}, Page{Text: "1\tl1\n2\tl2\n", First: 1, Last: 2, Total: 2}},
		{"H044", five, Window{Offset: 50}, Page{First: 50, Last: 49, Total: 5}},
		{"characters, not bytes", "日本\n日本\n日本\n", Window{MaxChars: 10}, Page{Text: "1\t日本\n2\t日本\n", First: 1, Last: 2, Total: 3}},
		{"first line in any case", "abcdef\ng\n", Window{MaxChars: 3}, Page{Text: "1\tabcdef\n", First: 1, Last: 1, Total: 2}},
		{"long line", "é" + strings.Repeat("x", 10) + "\nshort\n", Window{MaxLine: 5}, Page{Text: "1\téxxxx… [line cut here, it has 11 characters]\n2\tshort\n", First: 1, Last: 2, Total: 2, LongLines: []int{1}}},
		{"just not long", "ééééé\n", Window{MaxLine: 5}, Page{Text: "1\tééééé\n", First: 1, Last: 1, Total: 1}},
	} {
		if got := Number(c.view, c.window); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
	p := Number(seq.String(), Window{MaxChars: 48000, MaxLine: 2000}) // H040
	if p.Total != 20010 || len(p.Text) > 48000 || len(p.Text) < 47980 || !strings.HasSuffix(p.Text, fmt.Sprintf("\n%d\t%d\n", p.Last, p.Last)) {
		t.Errorf("H040: %d lines, %d characters, last %d", p.Total, len(p.Text), p.Last)
	}
	next := Number(seq.String(), Window{Offset: p.Last + 1, Limit: 1})
	if want := fmt.Sprintf("%d\t%d\n", p.Last+1, p.Last+1); next.Text != want {
		t.Errorf("H040: next page begins %q, want %q", next.Text, want)
	}
	p = Number(strings.Repeat("x", 600000)+"\n", Window{MaxChars: 48000, MaxLine: 2000}) // H041
	if len(p.Text) > 2100 || !strings.Contains(p.Text, "600000 characters") || len(p.LongLines) != 1 {
		t.Errorf("H041: %q", p.Text)
	}
	p = Number(strings.Repeat(strings.Repeat("abcdefgh ", 6)+"\n", 5545), Window{MaxChars: 48000, MaxLine: 2000}) // H045
	if p.Last >= 5545 || p.Last < 700 || p.Total != 5545 {
		t.Errorf("H045: shown to %d of %d", p.Last, p.Total)
	}
}

func TestSnippet(t *testing.T) {
	t.Parallel()
	lines := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintf(&b, "%d\tl%d\n", i, i)
		}
		return b.String()
	}
	var view strings.Builder
	for i := range 100 {
		fmt.Fprintf(&view, "l%d\n", i+1)
	}
	for _, c := range []struct {
		name        string
		spans       []Span
		around, max int
		want        string
	}{
		{"middle", []Span{{50, 1}}, 3, 60, lines(47, 53)},
		{"first", []Span{{1, 2}}, 3, 60, lines(1, 5)},
		{"last", []Span{{100, 1}}, 3, 60, lines(97, 100)},
		{"apart", []Span{{10, 1}, {20, 1}}, 1, 60, lines(9, 11) + "…\n" + lines(19, 21)},
		{"touching", []Span{{10, 1}, {13, 1}}, 1, 60, lines(9, 14)},
		{"overlapping", []Span{{10, 1}, {11, 1}}, 3, 60, lines(7, 14)},
		{"capped inside", []Span{{10, 50}}, 3, 20, lines(7, 26) + "… to line 59\n"},
		{"capped between", []Span{{10, 1}, {20, 1}, {30, 1}}, 1, 3, lines(9, 11) + "…\n… and 2 more changed places\n"},
		{"capped behind", []Span{{10, 1}}, 3, 5, lines(7, 11) + "…\n"},
		{"none", nil, 3, 60, ""},
		{"out of range", []Span{{500, 2}}, 3, 60, ""},
	} {
		if got := Snippet(view.String(), c.spans, c.around, c.max); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
	if got := Snippet("", []Span{{1, 1}}, 3, 60); got != "" {
		t.Errorf("empty view: %q", got)
	}
}

package pdf

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// DOC27: choices of pages.
func TestParsePages(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"": "[1 2 3 4 5 6 7 8 9 10]", "3": "[3]", "2-4": "[2 3 4]", "28-": "[28 29 30]", "1,3,5-6": "[1 3 5 6]",
		"5-":      "[5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24]",
		"1,9-":    "[1 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27]",
		" 7 - 8 ": "[7 8]", "4,4,3-5": "[4 3 5]", "image:3-4": "[3 4] pictures", "image: 2": "[2] pictures",
	} {
		got, pictures, err := ParsePages(spec, 30)
		text := fmt.Sprint(got)
		if pictures {
			text += " pictures"
		}
		if err != nil || text != want {
			t.Errorf("%q: %s, %v; want %s", spec, text, err, want)
		}
	}
	for spec, want := range map[string]string{
		"0":          `pages "0": pages are counted from 1, and there are 30`,
		"9-2":        `pages "9-2": 2 comes before 9`,
		"99":         `pages "99": the document has 30 pages`,
		"99-":        `pages "99-": the document has 30 pages`,
		"1-21":       `pages "1-21": at most 20 pages at a time`,
		"1-15,20-28": `pages "1-15,20-28": at most 20 pages at a time`,
		"x":          `pages "x": "x" is no page; write for instance 3, 1-5, 10- or 2,4-6`,
		"-3":         `pages "-3": "-3" is no page; write for instance 3, 1-5, 10- or 2,4-6`,
		"1-2-3":      `pages "1-2-3": "1-2-3" is no page; write for instance 3, 1-5, 10- or 2,4-6`,
		"1,,2":       `pages "1,,2": "" is no page; write for instance 3, 1-5, 10- or 2,4-6`,
		"image:":     `pages "image:": "" is no page; write for instance 3, 1-5, 10- or 2,4-6`,
	} {
		got, _, err := ParsePages(spec, 30)
		var wrong *RangeError
		if err == nil || err.Error() != want || !errors.As(err, &wrong) {
			t.Errorf("%q: %v, %v; want %s", spec, got, err, want)
		}
	}
}

func FuzzParsePages(f *testing.F) {
	for _, s := range []string{"", "3", "1-5", "10-", "1,3,5-7", "image:3-4", "9999999999999999999", "9223372036854775807-", "-1--5", "1-9223372036854775807"} {
		f.Add(s, 30)
	}
	f.Fuzz(func(t *testing.T, spec string, total int) {
		total = 1 + total&0xffff
		pages, _, err := ParsePages(spec, total)
		if err != nil {
			return
		}
		if len(pages) == 0 || len(pages) > 20 || slices.Min(pages) < 1 || slices.Max(pages) > total {
			t.Errorf("%q of %d: %v", spec, total, pages)
		}
		slices.Sort(pages)
		if len(slices.Compact(pages)) != len(pages) {
			t.Errorf("%q: a page twice", spec)
		}
	})
}

func TestRanges(t *testing.T) {
	t.Parallel()
	for want, pages := range map[string][]int{"": nil, "3": {3}, "1-3,7,9-10": {1, 2, 3, 7, 9, 10}, "4,3": {4, 3}} {
		if got := Ranges(pages); got != want {
			t.Errorf("%v: %s, want %s", pages, got, want)
		}
	}
}

// What is not shown is told, with the way to have it.
func TestShow(t *testing.T) {
	t.Parallel()
	d := Document{Total: 30, Pages: []Page{{Number: 1, Text: "some text"}, {Number: 2, JPEG: []byte{1}, Width: 3, Height: 4},
		{Number: 3, Blank: true}, {Number: 4, Text: "x", JPEG: []byte{2}, Width: 5, Height: 6}, {Number: 5}}}
	text, jpegs := d.Show(4)
	if want := `--- page 1 of 30 ---
some
(the rest of this page is left out)
--- page 2 of 30 ---
(no text here: see picture 1, 3×4)
--- page 3 of 30 ---
(nothing is on this page)
--- page 4 of 30 ---
x
(little text: see also picture 2, 5×6)
--- page 5 of 30 ---
(no text)`; text != want || len(jpegs) != 2 {
		t.Errorf("%d pictures and\n%s\nwant\n%s", len(jpegs), text, want)
	}
	for want, doc := range map[string]Document{
		`[(pages 1-5 of 30; go on with pages "6-")]`:                                                      d,
		`[(no room for the text of pages 6-7; go on with pages "6-7")]`:                                   {Total: 30, Pages: d.Pages, Left: []int{6, 7}},
		`[(page 6 took too long and was given up; name others with pages)]`:                               {Total: 30, Pages: d.Pages, Stuck: 6},
		`[(no more than 2 pictures at a time: pages 3-5 are not shown; for those use pages "image:3-4")]`: {Total: 5, Pages: d.Pages, Unshown: []int{3, 4, 5}},
		`[]`: {Total: 5, Pages: d.Pages},
	} {
		if got := fmt.Sprint(doc.Notes(Request{MaxImages: 2})); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := fmt.Sprint(d.Notes(Request{Pages: "1-5"})); got != "[]" {
		t.Error(got)
	}
}

package pdf

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Show writes the pages as a result shows them, each under a line with its
// number. Pictures stand beside the text, in the order of the pages; the text
// names them by their number. No page's text has more than room characters.
func (d Document) Show(room int) (text string, jpegs [][]byte) {
	var b strings.Builder
	for _, p := range d.Pages {
		fmt.Fprintf(&b, "--- page %d of %d ---\n", p.Number, d.Total)
		text, cut := cutText(p.Text, room)
		if b.WriteString(text); text != "" {
			b.WriteByte('\n')
		}
		if cut {
			b.WriteString("(the rest of this page is left out)\n")
		}
		switch {
		case p.JPEG != nil:
			jpegs = append(jpegs, p.JPEG)
			why := "little text: see also"
			if p.Text == "" {
				why = "no text here: see"
			}
			fmt.Fprintf(&b, "(%s picture %d, %d×%d)\n", why, len(jpegs), p.Width, p.Height)
		case p.Blank:
			b.WriteString("(nothing is on this page)\n")
		case text == "":
			b.WriteString("(no text)\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n"), jpegs
}

// Notes say which pages there are beyond those shown and how to have them, for
// a request; each stands in parentheses.
func (d Document) Notes(q Request) (notes []string) {
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf("("+format+")", args...)) }
	var shown []int
	for _, p := range d.Pages {
		shown = append(shown, p.Number)
	}
	all := strings.TrimSpace(q.Pages) == "" || strings.HasSuffix(strings.TrimSpace(q.Pages), "-")
	switch last := slices.Max(append(shown, 0)); {
	case len(d.Left) > 0:
		note("no room for the text of pages %s; go on with pages %[1]q", Ranges(d.Left))
	case d.Stuck > 0:
		note("page %d took too long and was given up; name others with pages", d.Stuck)
	case all && last < d.Total:
		note("pages %s of %d; go on with pages \"%d-\"", Ranges(shown), d.Total, last+1)
	}
	switch n := len(d.Unshown); {
	case n == 0:
	case q.MaxImages == 0:
		note("pages %s are not shown as pictures, since those are switched off", Ranges(d.Unshown))
	default:
		note("no more than %d pictures at a time: pages %s are not shown; for those use pages \"image:%s\"",
			q.MaxImages, Ranges(d.Unshown), Ranges(d.Unshown[:min(n, q.MaxImages)]))
	}
	return notes
}

// Ranges writes numbers of pages as ParsePages reads them, such as 1-3,7.
func Ranges(pages []int) string {
	var parts []string
	for i := 0; i < len(pages); {
		j := i
		for j+1 < len(pages) && pages[j+1] == pages[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, fmt.Sprint(pages[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", pages[i], pages[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// cutText cuts a text to so many characters and reports whether it did.
func cutText(s string, n int) (string, bool) {
	if utf8.RuneCountInString(s) <= n {
		return s, false
	}
	for i := range s {
		if n--; n < 0 {
			return s[:i], true
		}
	}
	return s, false
}

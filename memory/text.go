package memory

import (
	"slices"
	"strings"
	"unicode"

	"ferrule/memory/internal/terms"
)

// Excerpt cuts a text to n characters around the part that holds most of the
// query.
func Excerpt(content, query string, n int) string {
	rs := []rune(content)
	if len(rs) <= n {
		return content
	}
	want := terms.Query(query)
	best, at := -1, 0
	for i := 0; i < len(rs); i += max(1, n/4) {
		part := terms.Set(string(rs[i:min(len(rs), i+n)]))
		got := 0
		for _, t := range want {
			if part[t] {
				got++
			}
		}
		if got > best {
			best, at = got, i
		}
	}
	end := min(len(rs), at+n)
	at = max(0, end-n)
	out := strings.TrimSpace(string(rs[at:end]))
	if at > 0 {
		out = "…" + out
	}
	if end < len(rs) {
		out += "…"
	}
	return out
}

// oneLine folds white space and leaves control characters out, for texts that
// must stay within their line.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
	return strings.Join(slices.Collect(strings.FieldsSeq(s)), " ")
}

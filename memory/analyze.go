package memory

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// analyzerVersion stands in the file; with another number the index is made
// again from the rows.
const analyzerVersion = 1

// maxTerm is the length in bytes at which terms end. Longer words, which are
// hashes and the like, are cut in text and query alike.
const maxTerm = 64

// tokens turns stored text into index terms, in order. The index must not
// analyse them again: its tokenizer 'ascii' leaves them alone, where unicode61
// would fold once more, and the counts that a search looks up would miss words
// with accents.
func tokens(s string) []string { return analyze(s, false) }

// queryTerms turns a query into distinct index terms. Stop words, and the pairs
// of Chinese that hold a character of grammar, are left out unless nothing else
// is there.
func queryTerms(s string) []string {
	var all, keep []string
	seen := make(map[string]bool)
	for _, t := range analyze(s, true) {
		if seen[t] {
			continue
		}
		seen[t] = true
		all = append(all, t)
		if !stopTerms[t] && !strings.ContainsAny(t, functionChars) {
			keep = append(keep, t)
		}
	}
	if len(keep) == 0 {
		return all
	}
	return keep
}

// analyze folds compatibility forms and cuts the text into runs of scripts
// written without spaces and into words; everything else separates.
func analyze(s string, query bool) []string {
	rs := []rune(norm.NFKC.String(s))
	out := make([]string, 0, len(rs)/3+1)
	for i := 0; i < len(rs); {
		switch {
		case unspaced(rs[i]):
			j := i + 1
			for j < len(rs) && unspaced(rs[j]) {
				j++
			}
			out = appendRun(out, rs[i:j], query)
			i = j
		case wordRune(rs[i]):
			i, out = appendCompound(out, rs, i)
		default:
			i++
		}
	}
	return slices.DeleteFunc(out, func(t string) bool { return t == "" }) // of an accent alone
}

// appendRun cuts a run into overlapping pairs. Stored text also gets the last
// character alone, so that every character of the run begins a term: a query of
// one character is then a search for a prefix.
func appendRun(out []string, run []rune, query bool) []string {
	for k := range len(run) - 1 {
		out = append(out, string(run[k:k+2]))
	}
	if len(run) == 1 || !query {
		out = append(out, string(run[len(run)-1]))
	}
	return out
}

// appendCompound takes the words from rs[i] on that are tied by '_' or '-' at
// once: each word, its parts, and all of them joined, so that retry_budget,
// retry-budget, retryBudget and retrybudget find one another.
func appendCompound(out []string, rs []rune, i int) (int, []string) {
	var joined []rune
	words := 0
	for {
		j := i
		for j < len(rs) && wordRune(rs[j]) && !unspaced(rs[j]) {
			j++
		}
		out = appendWord(out, rs[i:j])
		joined = append(joined, rs[i:j]...)
		words++
		i = j
		if i+1 >= len(rs) || rs[i] != '_' && rs[i] != '-' || !wordRune(rs[i+1]) || unspaced(rs[i+1]) {
			break
		}
		i++
	}
	if words > 1 {
		out = append(out, term(joined))
	}
	return i, out
}

// appendWord adds a word and, where capitals or digits part it, its parts.
func appendWord(out []string, w []rune) []string {
	out = append(out, term(w))
	start := 0
	for i := 1; i < len(w); i++ {
		if boundary(w, i) {
			out = append(out, term(w[start:i]))
			start = i
		}
	}
	if start > 0 {
		out = append(out, term(w[start:]))
	}
	return out
}

func boundary(w []rune, i int) bool {
	a, b := w[i-1], w[i]
	return unicode.IsLower(a) && unicode.IsUpper(b) || unicode.IsDigit(a) != unicode.IsDigit(b) ||
		i+1 < len(w) && unicode.IsUpper(a) && unicode.IsUpper(b) && unicode.IsLower(w[i+1])
}

// term folds, stems and cuts one word.
func term(word []rune) string {
	w := stem(fold(string(word)))
	if len(w) <= maxTerm {
		return w
	}
	n := maxTerm
	for !utf8.RuneStart(w[n]) {
		n--
	}
	return w[:n]
}

// fold lowers a word and takes the accents off Latin, Greek and Cyrillic
// letters.
func fold(w string) string {
	w = strings.ToLower(w)
	if strings.IndexFunc(w, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return w
	}
	bare := strings.Map(func(r rune) rune {
		if r >= 0x300 && r <= 0x36f {
			return -1
		}
		return r
	}, norm.NFD.String(w))
	return norm.NFC.String(bare)
}

func wordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

// unspaced reports scripts written without spaces between words.
func unspaced(r rune) bool {
	return r >= 0x0e00 && (r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// loneChar reports whether a term is one character of such a script.
func loneChar(t string) bool {
	r, n := utf8.DecodeRuneInString(t)
	return n == len(t) && unspaced(r)
}

// termSet is the set of index terms of a text.
func termSet(s string) map[string]bool {
	set := make(map[string]bool)
	for _, t := range tokens(s) {
		set[t] = true
	}
	return set
}

// shared counts the terms that stand in both sets.
func shared(a, b map[string]bool) (n int) {
	for t := range a {
		if b[t] {
			n++
		}
	}
	return n
}

// dateWords spells a day in the ways in which people ask for it.
func dateWords(t time.Time) string {
	t = t.Local()
	return fmt.Sprintf("%s %d月%d日", t.Format("2006 01 2 January Monday"), t.Month(), t.Day())
}

// functionChars are characters of Chinese questions and grammar. A pair that
// holds one says little of what is asked for. Leaving them out finds .009 more
// in five results, and lets one recall gate serve English and Chinese.
const functionChars = "什么哪谁怎吗呢吧的了是"

// stopTerms are English words that carry no topic, stemmed.
var stopTerms = func() map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(`a about above after again against all also am an and any are as at be because
		been before being below between both but by can could did do does doing don down during each few for from
		further had has have having he her here hers herself him himself his how i if in into is it its itself just
		me more most my myself no nor not now of off on once only or other our ours ourselves out over own s same
		she should so some such t than that the their theirs them themselves then there these they this those
		through to too under until up us very was we were what when where which while who whom why will with would
		you your yours yourself`) {
		m[stem(w)] = true
	}
	return m
}()

// Excerpt cuts a text to n characters around the part that holds most of the
// query.
func Excerpt(content, query string, n int) string {
	rs := []rune(content)
	if len(rs) <= n {
		return content
	}
	want := queryTerms(query)
	best, at := -1, 0
	for i := 0; i < len(rs); i += max(1, n/4) {
		part := termSet(string(rs[i:min(len(rs), i+n)]))
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

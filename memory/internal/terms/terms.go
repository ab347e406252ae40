// Package terms turns text into the terms that are indexed and searched for, in
// the same way for both: English is stemmed, names are parted, and scripts
// written without spaces are cut into pairs of characters.
//
// Begin with [Index] and [Query]. The package knows no index; Version changes
// whenever a text may get other terms than before.
package terms

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Version is the number of the rules below. An index made by others must be made
// again.
const Version = 1

// maxBytes is the length in bytes at which terms end. Longer words, which are
// hashes and the like, are cut in text and query alike.
const maxBytes = 64

// Index turns stored text into index terms, in order. The index must not
// analyse them again: its tokenizer 'ascii' leaves them alone, where unicode61
// would fold once more, and the counts that a search looks up would miss words
// with accents.
func Index(s string) []string { return analyze(s, false) }

// Query turns a query into distinct index terms. Stop words, and the pairs
// of Chinese that hold a character of grammar, are left out unless nothing else
// is there.
func Query(s string) []string {
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
	return out
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
		out = appendTerm(out, joined)
	}
	return i, out
}

// appendWord adds a word and, where capitals or digits part it, its parts.
func appendWord(out []string, w []rune) []string {
	out = appendTerm(out, w)
	start := 0
	for i := 1; i < len(w); i++ {
		if boundary(w, i) {
			out = appendTerm(out, w[start:i])
			start = i
		}
	}
	if start > 0 {
		out = appendTerm(out, w[start:])
	}
	return out
}

func boundary(w []rune, i int) bool {
	a, b := w[i-1], w[i]
	return unicode.IsLower(a) && unicode.IsUpper(b) || unicode.IsDigit(a) != unicode.IsDigit(b) ||
		i+1 < len(w) && unicode.IsUpper(a) && unicode.IsUpper(b) && unicode.IsLower(w[i+1])
}

// appendTerm folds, stems and cuts one word. Of marks alone nothing is left.
func appendTerm(out []string, word []rune) []string {
	w := stem(fold(string(word)))
	if len(w) > maxBytes {
		n := maxBytes
		for !utf8.RuneStart(w[n]) {
			n--
		}
		w = w[:n]
	}
	if w == "" {
		return out
	}
	return append(out, w)
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

// Lone reports whether a term is one character of such a script.
func Lone(t string) bool {
	r, n := utf8.DecodeRuneInString(t)
	return n == len(t) && unspaced(r)
}

// Set is the set of index terms of a text.
func Set(s string) map[string]bool {
	set := make(map[string]bool)
	for _, t := range Index(s) {
		set[t] = true
	}
	return set
}

// Shared counts the terms that stand in both sets.
func Shared(a, b map[string]bool) (n int) {
	for t := range a {
		if b[t] {
			n++
		}
	}
	return n
}

// Day spells a day in the ways in which people ask for it.
func Day(t time.Time) string {
	t = t.Local()
	return fmt.Sprintf("%s %d月%d日", t.Format("2006 01 2 January Monday"), t.Month(), t.Day())
}

// functionChars are characters of Chinese questions and grammar. A pair that
// holds one says little of what is asked for. Leaving them out finds .009 more
// in five results, and lets one recall gate serve English and Chinese.
const functionChars = "什么哪谁怎吗呢吧的了是"

// Stop reports an English word in lower case that carries no topic.
func Stop(word string) bool { return stopTerms[stem(word)] }

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

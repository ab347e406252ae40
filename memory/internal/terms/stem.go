package terms

import "strings"

// stem is Porter's algorithm of 1980 for English words in lower case; anything
// else comes back unchanged.
func stem(w string) string {
	if len(w) < 3 || len(w) > 40 {
		return w
	}
	for i := 0; i < len(w); i++ {
		if w[i] < 'a' || w[i] > 'z' {
			return w
		}
	}
	p := porter{[]byte(w)}
	p.plurals()
	p.pastAndGerund()
	if p.ends("y") && p.hasVowel(len(p.b)-1) {
		p.b[len(p.b)-1] = 'i'
	}
	p.replaceFirst(step2)
	p.replaceFirst(step3)
	p.removeLong()
	p.tidy()
	return string(p.b)
}

type porter struct{ b []byte }

func (p *porter) ends(s string) bool { return strings.HasSuffix(string(p.b), s) }

func (p *porter) consonant(i int) bool {
	switch p.b[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !p.consonant(i-1)
	}
	return true
}

// measure counts the sequences of vowels and consonants in the first n bytes.
func (p *porter) measure(n int) int {
	m, i := 0, 0
	for i < n && p.consonant(i) {
		i++
	}
	for i < n {
		for i < n && !p.consonant(i) {
			i++
		}
		if i >= n {
			break
		}
		m++
		for i < n && p.consonant(i) {
			i++
		}
	}
	return m
}

func (p *porter) hasVowel(n int) bool {
	for i := range n {
		if !p.consonant(i) {
			return true
		}
	}
	return false
}

func (p *porter) double() bool {
	n := len(p.b)
	return n > 1 && p.b[n-1] == p.b[n-2] && p.consonant(n-1)
}

// cvc reports a short syllable at the end of the first n bytes, the last letter
// not being w, x or y.
func (p *porter) cvc(n int) bool {
	return n > 2 && p.consonant(n-1) && !p.consonant(n-2) && p.consonant(n-3) &&
		p.b[n-1] != 'w' && p.b[n-1] != 'x' && p.b[n-1] != 'y'
}

func (p *porter) cut(n int, with string) { p.b = append(p.b[:len(p.b)-n], with...) }

func (p *porter) plurals() {
	switch {
	case p.ends("sses"), p.ends("ies"):
		p.cut(2, "")
	case p.ends("ss"):
	case p.ends("s"):
		p.cut(1, "")
	}
}

func (p *porter) pastAndGerund() {
	n := len(p.b)
	switch {
	case p.ends("eed"):
		if p.measure(n-3) > 0 {
			p.cut(1, "")
		}
		return
	case p.ends("ed") && p.hasVowel(n-2):
		p.cut(2, "")
	case p.ends("ing") && p.hasVowel(n-3):
		p.cut(3, "")
	default:
		return
	}
	last := byte(0)
	if len(p.b) > 0 {
		last = p.b[len(p.b)-1]
	}
	switch {
	case p.ends("at"), p.ends("bl"), p.ends("iz"):
		p.cut(0, "e")
	case p.double() && last != 'l' && last != 's' && last != 'z':
		p.cut(1, "")
	case p.measure(len(p.b)) == 1 && p.cvc(len(p.b)):
		p.cut(0, "e")
	}
}

// step2 and step3 are pairs of a suffix and what stands in its place.
var step2 = []string{"ational", "ate", "tional", "tion", "enci", "ence", "anci", "ance", "izer", "ize", "bli", "ble",
	"alli", "al", "entli", "ent", "eli", "e", "ousli", "ous", "ization", "ize", "ation", "ate", "ator", "ate",
	"alism", "al", "iveness", "ive", "fulness", "ful", "ousness", "ous", "aliti", "al", "iviti", "ive",
	"biliti", "ble", "logi", "log"}

var step3 = []string{"icate", "ic", "ative", "", "alize", "al", "iciti", "ic", "ical", "ic", "ful", "", "ness", ""}

// replaceFirst applies the first suffix that fits, if what stays in front of it
// has a measure above zero.
func (p *porter) replaceFirst(pairs []string) {
	for i := 0; i < len(pairs); i += 2 {
		if p.ends(pairs[i]) {
			if p.measure(len(p.b)-len(pairs[i])) > 0 {
				p.cut(len(pairs[i]), pairs[i+1])
			}
			return
		}
	}
}

var step4 = strings.Fields(`al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize`)

func (p *porter) removeLong() {
	for _, s := range step4 {
		if !p.ends(s) {
			continue
		}
		n := len(p.b) - len(s)
		if s == "ion" && (n == 0 || p.b[n-1] != 's' && p.b[n-1] != 't') {
			return
		}
		if p.measure(n) > 1 {
			p.cut(len(s), "")
		}
		return
	}
}

func (p *porter) tidy() {
	if n := len(p.b); p.ends("e") {
		if m := p.measure(n - 1); m > 1 || m == 1 && !p.cvc(n-1) {
			p.cut(1, "")
		}
	}
	if n := len(p.b); p.ends("ll") && p.measure(n-1) > 1 {
		p.cut(1, "")
	}
}

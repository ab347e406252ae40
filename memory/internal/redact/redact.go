// Package redact cuts secrets out of texts that are kept or sent: passwords,
// keys, tokens, codes, and the numbers of people and their cards.
//
// Begin with [Redact]. rules.go has the shapes, strength.go what tells a secret
// from a name, a placeholder or a length in the same place. It knows shapes, not
// meanings: some secrets look like ordinary words and stay.
package redact

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ferrule/memory/internal/terms"
)

// minLeft is the number of distinct terms that must be left of a text from
// which secrets were cut for it to be stored at all.
const minLeft = 6

// Marks returns what stands in a text in the places of secrets.
func Marks(text string) []string { return redacted().FindAllString(text, -1) }

var redacted = lazy(`\[redacted:[a-z -]+\]`)

// Redact cuts secrets out of a text: [redacted:kind] stands in their place. It
// returns the text, the kinds that were found, and, if the text must not be
// kept at all, a reason that does not repeat it.
func Redact(text string) (clean string, kinds []string, refuse string) {
	spans := secrets(text)
	if len(spans) == 0 {
		return text, nil, ""
	}
	var b, left strings.Builder
	at := 0
	for _, sp := range spans {
		if !slices.Contains(kinds, sp.kind) {
			kinds = append(kinds, sp.kind)
		}
		b.WriteString(text[at:sp.from])
		left.WriteString(text[at:sp.from] + " ")
		fmt.Fprintf(&b, "[redacted:%s]", sp.kind)
		at = sp.to
	}
	b.WriteString(text[at:])
	left.WriteString(text[at:])
	switch {
	case slices.Contains(kinds, privateKey):
		refuse = "it holds a private key"
	case len(terms.Query(redacted().ReplaceAllString(left.String(), " "))) < minLeft:
		refuse = "it is little more than a secret (" + strings.Join(kinds, ", ") + ")"
	}
	return b.String(), kinds, refuse
}

// A span is a secret in a text.
type span struct {
	from, to int
	kind     string
}

// A rule finds one kind of secret: the last group of the expression that
// matched is the secret, if ok agrees.
type rule struct {
	kind string
	keys []string // one of them, in lower case, must occur; it makes the filter some sixty times faster
	re   func() *regexp.Regexp
	ok   func(finding) bool // nil: always
}

// A finding is what a rule has found.
type finding struct {
	value         string
	before, after string // the text around it
	first         string // the first group of the expression, if it has several
}

// digitRun is the key of rules about numbers: a run of digits, spaces and
// dashes with at least eight digits.
const digitRun = "\x00digits"

// secrets returns the secrets of a text, in order and without overlaps.
func secrets(text string) []span {
	low := strings.ToLower(text)
	number := longNumber(text)
	all := vendorTokens(text)
	for i := range rules {
		r := &rules[i]
		if !slices.ContainsFunc(r.keys, func(k string) bool { return k == digitRun && number || strings.Contains(low, k) }) {
			continue
		}
		for _, m := range r.re().FindAllStringSubmatchIndex(text, -1) {
			if sp, ok := r.secret(text, m); ok {
				all = append(all, sp)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	out := all[:0]
	for _, sp := range all {
		if n := len(out); n > 0 && sp.from < out[n-1].to {
			out[n-1].to = max(out[n-1].to, sp.to)
			continue
		}
		out = append(out, sp)
	}
	return out
}

// secret looks at one match.
func (r *rule) secret(text string, m []int) (span, bool) {
	g := len(m) - 2
	for g > 0 && m[g] < 0 {
		g -= 2
	}
	if g == 0 {
		return span{}, false
	}
	from, to := m[g], m[g+1]
	to -= len(text[from:to]) - len(trimEnd(text[from:to]))
	f := finding{value: text[from:to], before: text[:from], after: text[to:]}
	if g > 2 && m[2] >= 0 {
		f.first = text[m[2]:m[3]]
	}
	if f.value == "" || redacted().MatchString(f.value) || r.ok != nil && !r.ok(f) {
		return span{}, false
	}
	return span{from, to, r.kind}, true
}

// trimEnd takes off what ends a sentence or a bracket around the value.
func trimEnd(v string) string {
	for v != "" {
		switch c := v[len(v)-1]; {
		case strings.IndexByte(`.,:;?\*`, c) >= 0, c == ')' && !strings.Contains(v, "("),
			c == ']' && !strings.Contains(v, "["), c == '}' && !strings.Contains(v, "{"), c == '>' && !strings.Contains(v, "<"):
			v = v[:len(v)-1]
		default:
			return v
		}
	}
	return v
}

// longNumber reports whether eight digits stand together, as in telephone,
// card and identity numbers.
func longNumber(s string) bool {
	run := 0
	for i := range len(s) {
		switch c := s[i]; {
		case isDigit(c):
			if run++; run >= 8 {
				return true
			}
		case strings.IndexByte("- ().", c) < 0:
			run = 0
		}
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

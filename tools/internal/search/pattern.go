package search

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// PatternOptions are what a pattern does not say itself.
type PatternOptions struct {
	IgnoreCase bool
	Multiline  bool // matches may cross lines, and . matches a line break
}

// Pattern is a compiled regular expression. It may be used concurrently.
type Pattern struct {
	prog    *program
	across  bool // matches may cross lines; else each line is a text of its own
	crlf    bool // the pattern speaks of "\r": it sees the one before "\n"
	needles []needle
	exact   bool // a needle is a match
	note    string
}

// maxPattern is the length of a pattern in bytes.
const maxPattern = 100_000

// Note says how the pattern was read when that is not obvious, in one line without parentheses; else it is "".
func (p *Pattern) Note() string { return p.note }

// CrossesLines reports whether a match may reach beyond a line, so that matches are counted instead of lines.
func (p *Pattern) CrossesLines() bool { return p.across }

// Compile reads a pattern in ripgrep's dialect. Errors are for the model.
func Compile(pattern string, o PatternOptions) (*Pattern, error) {
	switch {
	case len(pattern) > maxPattern:
		return nil, fmt.Errorf("the pattern has %s characters; the limit is %s", thousands(len(pattern)), thousands(maxPattern))
	case !utf8.ValidString(pattern):
		return nil, errors.New("the pattern is not valid UTF-8")
	}
	ps := &parser{src: pattern, flags: flags{fold: o.IgnoreCase, multi: true, dotNL: o.Multiline}}
	n, err := ps.parse()
	if err != nil {
		return nil, explain(pattern, err)
	}
	p := &Pattern{crlf: ps.carriage}
	p.across = o.Multiline || ps.lineFeed
	if p.across {
		p.across = crosses(n)
	}
	if !p.across {
		n.each(func(n *node) { n.set = n.set.minus(newline) })
	}
	if n.size(maxProgram) <= maxProgram {
		p.prog = compile(n, !p.across, p.crlf)
	}
	if p.prog == nil {
		return nil, errors.New(oneLine(fmt.Sprintf("the pattern %s is too large when its repetitions are written out; lower the counts in { }", shown(pattern))))
	}
	found := prefilter(n)
	p.exact = found.exact && !p.across
	for _, l := range found.group {
		p.needles = append(p.needles, newNeedle(l))
	}
	var notes []string
	if ps.brace != "" {
		notes = append(notes, fmt.Sprintf("read `%s` as literal text, since no repetition can stand there", ps.brace))
	}
	if ps.lineFeed && !o.Multiline {
		notes = append(notes, "the pattern names a line break, so matches may cross lines as with multiline, but . stays within a line")
	}
	p.note = oneLine(strings.Join(notes, "; "))
	return p, nil
}

// crosses reports whether matches of n can reach beyond a line, or n asks for the ends of the whole text.
func crosses(n *node) bool {
	yes := false
	n.each(func(n *node) {
		yes = yes || n.op == opSet && n.set.has('\n') || n.op == opAssert && n.look <= endText
	})
	return yes
}

// explain turns a mistake in the pattern into a sentence for the model.
func explain(pattern string, err error) error {
	var e *syntaxError
	if !errors.As(err, &e) {
		return err
	}
	hint := e.hint
	if hint == "" {
		hint = "to find the text itself use " + shown(regexp.QuoteMeta(pattern))
	}
	return errors.New(oneLine(fmt.Sprintf("the pattern %s has %s, at character %d; %s",
		shown(pattern), e.what, utf8.RuneCountInString(pattern[:e.pos])+1, hint)))
}

// oneLine writes control characters by escapes, which mean the same in a pattern.
func oneLine(s string) string {
	return string(appendPlain(nil, []byte(strings.ReplaceAll(s, "\n", `\n`))))
}

// shown quotes a pattern for an error.
func shown(pattern string) string {
	if utf8.RuneCountInString(pattern) > 300 {
		pattern = string([]rune(pattern)[:300]) + "…"
	}
	return "`" + pattern + "`"
}

// thousands writes n with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

package search

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// escaped is what a backslash and its followers mean: a condition, a class or a character.
type escaped struct {
	assert bool
	look   look
	class  runes
	char   rune
}

// escape reads an escape; the backslash stands here.
func (p *parser) escape(inClass bool) (escaped, error) {
	start := p.pos
	p.pos++
	if !p.more() {
		return escaped{}, p.fail(start, `write \\ for a backslash`, `a \ at the end with nothing to escape`)
	}
	r, n := p.rune()
	p.pos += n
	switch r {
	case 'w', 'W', 'd', 'D', 's', 'S':
		return escaped{class: perl(byte(r), !p.ascii)}, nil
	case 'p', 'P':
		return p.propertyEscape(start, r == 'P')
	case 'x', 'u', 'U':
		return p.hex(start, map[rune]int{'x': 2, 'u': 4, 'U': 8}[r])
	case 'a', 'f', 't', 'n', 'r', 'v':
		return escaped{char: rune("\a\f\t\n\r\v"[strings.IndexRune("aftnrv", r)])}, nil
	}
	if l, ok := p.assertion(r); ok {
		if inClass {
			return escaped{}, p.fail(start, "", `\%c inside [ ], where only characters can stand`, r)
		}
		if r == 'b' && p.at("{") {
			return p.namedEdge(l)
		}
		return escaped{assert: true, look: l}, nil
	}
	if r < utf8.RuneSelf && !isLetter(byte(r)) && (r < '0' || r > '9') {
		return escaped{char: r}, nil
	}
	if r >= '0' && r <= '9' {
		if r == '0' {
			return escaped{}, p.fail(start, `write \x00 for a zero byte`, `\0, which is no escape here`)
		}
		return escaped{}, p.fail(start, noBack, `a back-reference \%c, which this dialect does not have`, r)
	}
	return escaped{}, p.fail(start, foreignEscapes[r], `\%c, which is no escape here`, r)
}

func (p *parser) assertion(r rune) (look, bool) {
	var l look
	switch r {
	case 'A':
		return beginText, true
	case 'z':
		return endText, true
	case 'b':
		l = wordEdge
	case 'B':
		l = noWordEdge
	case '<':
		l = wordStart
	case '>':
		l = wordEnd
	default:
		return 0, false
	}
	if p.ascii {
		l |= asciiLook
	}
	return l, true
}

// namedEdge reads the {start} of \b{start}. Braces that hold no name are left alone: a repetition, or literal.
func (p *parser) namedEdge(l look) (escaped, error) {
	end := strings.IndexByte(p.src[p.pos:], '}')
	if end < 0 {
		return escaped{assert: true, look: l}, nil
	}
	name := strings.TrimSpace(p.src[p.pos+1 : p.pos+end])
	kinds := map[string]look{"start": wordStart, "end": wordEnd, "start-half": wordStartHalf, "end-half": wordEndHalf}
	k, ok := kinds[name]
	switch {
	case ok:
		p.pos += end + 1
		return escaped{assert: true, look: k | l&asciiLook}, nil
	case name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") == "":
		return escaped{}, p.fail(p.pos, `use \b{start}, \b{end}, \b{start-half} or \b{end-half}`, `\b{%s}, which is no word edge`, name)
	}
	return escaped{assert: true, look: l}, nil
}

// hex reads the digits behind \x, \u or \U: exactly digits of them, or any number in braces.
func (p *parser) hex(start, digits int) (escaped, error) {
	var text string
	if p.at("{") {
		end := strings.IndexByte(p.src[p.pos:], '}')
		if end < 0 {
			return escaped{}, p.fail(start, "", "a character code whose { is never closed")
		}
		text = strings.TrimSpace(p.src[p.pos+1 : p.pos+end])
		p.pos += end + 1
		digits = 0
	} else {
		text = p.src[p.pos:min(len(p.src), p.pos+digits)]
		p.pos += len(text)
	}
	v, err := strconv.ParseUint(text, 16, 32)
	if err != nil || digits > 0 && len(text) < digits || strings.ContainsAny(text, "+_") {
		return escaped{}, p.fail(start, "", `%s, which is no hexadecimal character code`, p.src[start:p.pos])
	}
	if p.ascii && digits == 2 && v >= 0x80 {
		return escaped{char: badByte + rune(v)}, nil
	}
	if v > 0x10ffff || v >= 0xd800 && v < 0xe000 {
		return escaped{}, p.fail(start, "", `%s, which is no Unicode character`, p.src[start:p.pos])
	}
	return escaped{char: rune(v)}, nil
}

func (p *parser) propertyEscape(start int, negate bool) (escaped, error) {
	var name string
	if p.take("{") {
		end := strings.IndexByte(p.src[p.pos:], '}')
		if end < 0 {
			return escaped{}, p.fail(start, "", "a property whose { is never closed")
		}
		name = p.src[p.pos : p.pos+end]
		p.pos += end + 1
	} else if p.more() {
		_, n := p.rune()
		name = p.src[p.pos : p.pos+n]
		p.pos += n
	}
	rs, ok := property(name)
	if !ok {
		return escaped{}, p.fail(start, `use a category such as \p{Lu}, a script such as \p{Greek}, or a range such as [\x{1F300}-\x{1FAFF}]`,
			"%s, which is no property known here", p.src[start:p.pos])
	}
	rs = p.cased(rs)
	if negate {
		rs = negated(rs, !p.ascii)
	}
	return escaped{class: rs}, nil
}

// foreignEscapes are escapes of other dialects, and what says the same here.
var foreignEscapes = map[rune]string{
	'Z': `use $ for the end of a line, \z for the end of the text`,
	'e': `use \x1b for the escape character`,
	'h': `use [ \t] for blanks`,
	'H': `use [^ \t]`,
	'R': `use \r?\n for a line break`,
	'N': `use . for all but a line break`,
	'X': `use . for a character`,
	'G': `leave it out`,
	'K': `use -o to show only the matched part`,
	'Q': `escape each special character with a backslash instead of \Q…\E`,
	'E': `escape each special character with a backslash instead of \Q…\E`,
	'k': noBack,
	'g': noBack,
	'c': `write the control character by its code, such as \x03`,
}

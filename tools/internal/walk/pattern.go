package walk

import (
	"strings"
	"unicode/utf8"
)

// Two dialects share one matcher: ignore rules as git reads them, which work on bytes and on whole paths, and globs,
// which work on characters and one path segment at a time. Each dialect compiles to tokens.
//
// The matcher needs no stack. It remembers the last star and the last "**" it passed, and on a mismatch lets the star
// take one character more or, when the star stands before a slash, the "**" one directory more. Earlier stars need not
// be tried again: a later star of the same segment can take whatever an earlier one could have taken, and where a
// segment ends is fixed by the slashes of the path.

type op uint8

const (
	opChar  op = iota // the character r
	opAny             // one character
	opClass           // one character of a class
	opStar            // any characters of one segment
	opDeep            // any characters, slashes too
	opDirs            // nothing, or any characters up to a slash and the slash
)

type token struct {
	op    op
	r     rune
	class *class
}

// class is a bracket expression. It never takes a slash.
type class struct {
	negated bool
	spans   []span
}

type span struct{ lo, hi rune }

func (c *class) add(lo, hi rune) { c.spans = append(c.spans, span{lo, hi}) }

func (c *class) has(r rune) bool {
	for _, s := range c.spans {
		if s.lo <= r && r <= s.hi {
			return !c.negated
		}
	}
	return c.negated
}

func (t *token) takes(r rune) bool {
	switch t.op {
	case opChar:
		return t.r == r
	case opAny:
		return r != '/'
	case opClass:
		return r != '/' && t.class.has(r)
	}
	return false
}

// charAt decodes the character at s[i]; in a byte dialect every byte is one.
func charAt(s string, i int, wide bool) (rune, int) {
	if c := s[i]; !wide || c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(s[i:])
}

// match reports whether the tokens take all of s. wide says that ? and classes take characters, not bytes.
func match(toks []token, s string, wide bool) bool {
	ti, si := 0, 0
	star, starAt := -1, 0
	deep, deepAt := -1, 0
	for ti < len(toks) || si < len(s) {
		if ti < len(toks) {
			t := &toks[ti]
			switch t.op {
			case opStar:
				star, starAt = ti, si
				ti++
				continue
			case opDeep, opDirs:
				deep, deepAt, star = ti, si, -1
				ti++
				continue
			}
			if si < len(s) {
				if r, w := charAt(s, si, wide); t.takes(r) {
					if r == '/' {
						star = -1
					}
					ti++
					si += w
					continue
				}
			}
		}
		switch {
		case star >= 0 && starAt < len(s) && s[starAt] != '/':
			_, w := charAt(s, starAt, wide)
			starAt += w
			ti, si = star+1, starAt
			continue
		case deep < 0 || deepAt == len(s):
			return false
		case toks[deep].op == opDeep:
			deepAt++
		default:
			i := strings.IndexByte(s[deepAt:], '/')
			if i < 0 {
				return false
			}
			deepAt += i + 1
		}
		star = -1
		ti, si = deep+1, deepAt
	}
	return true
}

// compileRule compiles a pattern as git's matcher reads it. whole says that the pattern is matched against a path, not
// a base name. The second result is false for a pattern that can never match: an unclosed class, an unknown POSIX
// class, a backslash at the end.
func compileRule(p string, whole bool) ([]token, bool) {
	// git compares the text before the first special character on its own and hands its matcher the rest, so a "**"
	// that comes first counts as one at the start of a segment: foo**/bar takes foo/x/bar.
	first := strings.IndexAny(p, special)
	var toks []token
	for i := 0; i < len(p); {
		switch p[i] {
		case '*':
			j := i
			for j < len(p) && p[j] == '*' {
				j++
			}
			edge := whole && j-i > 1 && (i == first || p[i-1] == '/')
			switch {
			case edge && j == len(p), edge && strings.HasPrefix(p[j:], `\/`):
				toks = append(toks, token{op: opDeep})
			case edge && p[j] == '/':
				toks = append(toks, token{op: opDirs})
				j++
			default:
				toks = append(toks, token{op: opStar})
			}
			i = j
		case '?':
			toks = append(toks, token{op: opAny})
			i++
		case '[':
			c, next := ruleClass(p, i+1)
			if c == nil {
				return nil, false
			}
			toks = append(toks, token{op: opClass, class: c})
			i = next
		case '\\':
			if i++; i == len(p) {
				return nil, false
			}
			fallthrough
		default:
			toks = append(toks, token{r: rune(p[i])})
			i++
		}
	}
	return toks, true
}

// special are the characters that make a pattern more than a name.
const special = `*?[\`

// ruleClass reads the bracket expression whose content starts at p[i], and returns the index behind it; nil when it
// is malformed.
func ruleClass(p string, i int) (*class, int) {
	c := &class{}
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		c.negated = true
		i++
	}
	prev := rune(-1) // what a following - starts a range from
	for first := true; i < len(p); first = false {
		b := p[i]
		switch {
		case b == ']' && !first:
			return c, i + 1
		case b == '-' && prev >= 0 && i+1 < len(p) && p[i+1] != ']':
			if i++; p[i] == '\\' {
				i++
			}
			if i == len(p) {
				return nil, 0
			}
			c.add(prev, rune(p[i]))
			prev = -1
			i++
			continue
		case b == '[' && i+1 < len(p) && p[i+1] == ':':
			n := strings.IndexByte(p[i+2:], ']')
			if n < 0 {
				return nil, 0
			}
			if name, ok := strings.CutSuffix(p[i+2:i+2+n], ":"); ok {
				spans := posix[name]
				if spans == nil {
					return nil, 0
				}
				c.spans = append(c.spans, spans...)
				prev = -1
				i += n + 3
				continue
			}
		case b == '\\':
			if i++; i == len(p) {
				return nil, 0
			}
			b = p[i]
		}
		prev = rune(b)
		c.add(prev, prev)
		i++
	}
	return nil, 0
}

// posix are the named classes, in ASCII as git has them.
var posix = map[string][]span{
	"alpha":  {{'A', 'Z'}, {'a', 'z'}},
	"digit":  {{'0', '9'}},
	"alnum":  {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}},
	"upper":  {{'A', 'Z'}},
	"lower":  {{'a', 'z'}},
	"space":  {{'\t', '\r'}, {' ', ' '}},
	"blank":  {{'\t', '\t'}, {' ', ' '}},
	"xdigit": {{'0', '9'}, {'A', 'F'}, {'a', 'f'}},
	"punct":  {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}},
	"cntrl":  {{0, 31}, {127, 127}},
	"graph":  {{'!', '~'}},
	"print":  {{' ', '~'}},
}

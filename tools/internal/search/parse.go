package search

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The dialect is that of ripgrep (Rust's regex syntax), read by a parser of its own: regexp/syntax takes several of its
// constructs for something else (`\<`, class operations, Unicode \w), and errors here speak of the pattern as given.
// It is kinder than the original in two places: a brace that begins no repetition is literal, and a line break in the
// pattern turns multiline matching on.

const (
	maxNesting = 250
	maxRepeat  = 1 << 20 // the size of the program is limited apart from this
)

// flags are the inline options (?imsUuxR).
type flags struct {
	fold, multi, dotNL, swap, ascii, blanks, crlf bool
}

type parser struct {
	src   string
	pos   int // in bytes
	depth int
	names map[string]bool
	flags
	brace    string // the first literal brace with what stands behind it
	lineFeed bool   // the pattern names "\n" itself
	carriage bool   // … or "\r"
}

// syntaxError says what is wrong at which byte of the pattern.
type syntaxError struct {
	pos  int
	what string
	hint string // what to do instead; empty: offer the escaped pattern
}

func (e *syntaxError) Error() string { return e.what }

func (p *parser) fail(pos int, hint, format string, args ...any) error {
	return &syntaxError{pos, fmt.Sprintf(format, args...), hint}
}

func (p *parser) more() bool           { return p.pos < len(p.src) }
func (p *parser) at(s string) bool     { return strings.HasPrefix(p.src[p.pos:], s) }
func (p *parser) rune() (rune, int)    { return utf8.DecodeRuneInString(p.src[p.pos:]) }
func (p *parser) literal(r rune) *node { return &node{op: opSet, set: p.cased(runes{r, r})} }

// take consumes s if it stands here.
func (p *parser) take(s string) bool {
	if p.at(s) {
		p.pos += len(s)
		return true
	}
	return false
}

// skip passes blanks and comments in (?x) mode.
func (p *parser) skip() {
	for p.blanks && p.more() {
		r, n := p.rune()
		switch {
		case unicode.IsSpace(r):
			p.pos += n
		case r == '#':
			k := strings.IndexByte(p.src[p.pos:], '\n')
			if k < 0 {
				p.pos = len(p.src)
				return
			}
			p.pos += k + 1
		default:
			return
		}
	}
}

// cased applies (?i).
func (p *parser) cased(rs runes) runes {
	if p.fold {
		return rs.fold(!p.ascii)
	}
	return rs
}

// parse reads the whole pattern.
func (p *parser) parse() (*node, error) {
	n, err := p.alternation()
	if err != nil {
		return nil, err
	}
	if p.more() {
		return nil, p.fail(p.pos, "", "a ) that closes no group")
	}
	return n, nil
}

func (p *parser) alternation() (*node, error) {
	var subs []*node
	for {
		n, err := p.sequence()
		if err != nil {
			return nil, err
		}
		subs = append(subs, n)
		if !p.take("|") {
			break
		}
	}
	if len(subs) == 1 {
		return subs[0], nil
	}
	return &node{op: opAlt, subs: subs}, nil
}

func (p *parser) sequence() (*node, error) {
	var items []*node
	free := true // nothing here that a repetition could repeat
	for p.skip(); p.more() && !p.at("|") && !p.at(")"); p.skip() {
		start, c := p.pos, p.src[p.pos]
		if strings.IndexByte("?*+{", c) >= 0 {
			lo, hi, ok, err := p.repetition()
			if err != nil {
				return nil, err
			}
			switch {
			case ok && free && c != '{':
				return nil, p.fail(start, "", "nothing for the %c to repeat", c)
			case !ok || free:
				p.pos = start
				items = append(items, p.literalBrace())
				free = false
			default:
				last := &items[len(items)-1]
				*last = &node{op: opRepeat, subs: []*node{*last}, min: lo, max: hi, lazy: p.take("?") != p.swap}
			}
			continue
		}
		n, err := p.atom()
		if err != nil {
			return nil, err
		}
		if free = n == nil; !free {
			items = append(items, n)
		}
	}
	switch len(items) {
	case 0:
		return &node{op: opEmpty}, nil
	case 1:
		return items[0], nil
	}
	return &node{op: opCat, subs: items}, nil
}

// repetition reads ? * + or {n,m}. ok is false, and nothing consumed, for a brace that is none.
func (p *parser) repetition() (lo, hi int, ok bool, err error) {
	switch p.src[p.pos] {
	case '?':
		lo, hi = 0, 1
	case '*':
		lo, hi = 0, -1
	case '+':
		lo, hi = 1, -1
	default:
		return p.counted()
	}
	p.pos++
	return lo, hi, true, nil
}

func (p *parser) counted() (lo, hi int, ok bool, err error) {
	end := strings.IndexByte(p.src[p.pos:], '}')
	if end < 0 {
		return 0, 0, false, nil
	}
	inside := p.src[p.pos+1 : p.pos+end]
	first, second, ranged := strings.Cut(inside, ",")
	lo, ok = count(first)
	if !ok {
		return 0, 0, false, nil
	}
	hi = lo
	if ranged {
		hi = -1
		if strings.TrimSpace(second) != "" {
			if hi, ok = count(second); !ok {
				return 0, 0, false, nil
			}
		}
	}
	if hi >= 0 && hi < lo {
		return 0, 0, false, p.fail(p.pos, "", "{%s}, which counts from the larger number to the smaller", inside)
	}
	if max(lo, hi) > maxRepeat {
		return 0, 0, false, p.fail(p.pos, "write a smaller number", "{%s}, which repeats too often", inside)
	}
	p.pos += end + 1
	return lo, hi, true, nil
}

func count(s string) (int, bool) {
	s = strings.TrimSpace(s)
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		n = maxRepeat + 1
	}
	return n, true
}

// literalBrace takes the { here as a character.
func (p *parser) literalBrace() *node {
	if p.brace == "" {
		rest := p.src[p.pos:]
		if k := strings.IndexByte(rest, '}'); k >= 0 && k <= 12 {
			p.brace = rest[:k+1]
		} else {
			p.brace = "{"
		}
	}
	p.pos++
	return p.literal('{')
}

// atom reads one item that may be repeated; nil for a flag directive such as (?i).
func (p *parser) atom() (*node, error) {
	start := p.pos
	r, n := p.rune()
	switch r {
	case '(':
		return p.group()
	case '[':
		rs, err := p.class()
		if err != nil {
			return nil, err
		}
		p.noteBreaks(rs)
		return &node{op: opSet, set: rs}, nil
	case '.':
		p.pos++
		return &node{op: opSet, set: p.dot()}, nil
	case '^':
		p.pos++
		return &node{op: opAssert, look: pick(p.multi, beginLine, beginText)}, nil
	case '$':
		p.pos++
		return &node{op: opAssert, look: pick(p.multi, endLine, endText)}, nil
	case '\\':
		e, err := p.escape(false)
		switch {
		case err != nil:
			return nil, err
		case e.assert:
			return &node{op: opAssert, look: e.look}, nil
		case e.class != nil:
			return &node{op: opSet, set: e.class}, nil
		}
		p.noteBreaks(runes{e.char, e.char})
		return p.literal(e.char), nil
	}
	p.pos = start + n
	p.noteBreaks(runes{r, r})
	return p.literal(r), nil
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// noteBreaks remembers that the pattern names a line break: a character, or a class of nothing else.
func (p *parser) noteBreaks(rs runes) {
	if len(rs.minus(runes{'\n', '\n', '\r', '\r'})) == 0 {
		p.lineFeed = p.lineFeed || rs.has('\n')
		p.carriage = p.carriage || rs.has('\r')
	}
}

func (p *parser) dot() runes {
	rs := pick(p.ascii, anySymbol, anyRune)
	switch {
	case p.dotNL:
		return rs
	case p.crlf:
		return rs.minus(runes{'\n', '\n', '\r', '\r'})
	}
	return rs.minus(newline)
}

func (p *parser) group() (*node, error) {
	open := p.pos
	if p.depth++; p.depth > maxNesting {
		return nil, p.fail(open, "write it flatter", "more than %d groups inside one another", maxNesting)
	}
	defer func() { p.depth-- }()
	p.pos++
	saved := p.flags
	if p.at("?") {
		directive, err := p.groupHead(open)
		if err != nil || directive {
			return nil, err
		}
	}
	n, err := p.alternation()
	if err != nil {
		return nil, err
	}
	if !p.take(")") {
		return nil, p.fail(open, "", "a group whose ( is never closed")
	}
	p.flags = saved
	if n.op == opCat || n.op == opEmpty { // a repetition or the text behind takes the group as one item
		return &node{op: opCat, subs: []*node{n}}, nil
	}
	return n, nil
}

// groupHead reads what follows "(" when it is "?": a name, flags, or flags that hold for the rest of the group.
func (p *parser) groupHead(open int) (directive bool, err error) {
	for _, u := range unsupportedGroups {
		if p.at(u.head) {
			return false, p.fail(open, u.hint, "%s, which this dialect does not have", u.name)
		}
	}
	for _, head := range []string{"?P<", "?<"} {
		if p.take(head) {
			return false, p.groupName()
		}
	}
	p.pos++
	f, on, seen := p.flags, true, ""
	for p.more() {
		c := p.src[p.pos]
		p.pos++
		switch c {
		case ':', ')':
			if strings.HasSuffix(seen, "-") || c == ')' && seen == "" {
				return false, p.fail(p.pos-1, "", "flags are missing in the group that begins with (?")
			}
			p.flags = f
			return c == ')', nil
		case '-':
			on = false
		case 'i':
			f.fold = on
		case 'm':
			f.multi = on
		case 's':
			f.dotNL = on
		case 'U':
			f.swap = on
		case 'u':
			f.ascii = !on
		case 'x':
			f.blanks = on
		case 'R':
			f.crlf = on
		default:
			r, _ := utf8.DecodeRuneInString(p.src[p.pos-1:])
			return false, p.fail(p.pos-1, "", "%q, which is no flag (flags are i, m, s, x, u, U, R)", string(r))
		}
		if strings.IndexByte(seen, c) >= 0 {
			return false, p.fail(p.pos-1, "", "%q twice among the flags of a group", string(c))
		}
		seen += string(c)
	}
	return false, p.fail(open, "", "a group whose ( is never closed")
}

func (p *parser) groupName() error {
	start := p.pos
	k := strings.IndexByte(p.src[start:], '>')
	if k < 0 {
		return p.fail(start, "", "a group name without its >")
	}
	name := p.src[start : start+k]
	for i, r := range name {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r) && !strings.ContainsRune(".[]", r)) {
			return p.fail(start+i, "", "%q in a group name", string(r))
		}
	}
	if name == "" || p.names[name] {
		return p.fail(start, "", "a group name that is %s", pick(name == "", "empty", "used twice"))
	}
	if p.names == nil {
		p.names = map[string]bool{}
	}
	p.names[name] = true
	p.pos += k + 1
	return nil
}

const (
	noLook = "search for the text with its surroundings and judge the lines shown, or narrow by a second search"
	noBack = "spell the alternatives out, or search for the text around them and judge the lines shown"
)

// unsupportedGroups are constructs of other dialects that models write.
var unsupportedGroups = []struct{ head, name, hint string }{
	{"?=", "a look-ahead (?=…)", noLook},
	{"?!", "a negative look-ahead (?!…)", noLook},
	{"?<=", "a look-behind (?<=…)", noLook},
	{"?<!", "a negative look-behind (?<!…)", noLook},
	{"?P=", "a back-reference (?P=…)", noBack},
	{"?>", "an atomic group (?>…)", "use (?:…), which finds the same lines without blowing up"},
	{"?#", "a comment (?#…)", "leave it out"},
	{"?|", "a branch reset (?|…)", "use (?:…)"},
	{"?(", "a condition (?(…)…)", "spell the alternatives out with |"},
	{"?&", "a recursion (?&…)", "search for one level"},
	{"?P>", "a recursion (?P>…)", "search for one level"},
}

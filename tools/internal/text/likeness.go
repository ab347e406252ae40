package text

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Text that differs from the file in a way that can be named, such as indentation or case, is found by taking that
// difference out of both: a form is written line by line, and the form of old_string is searched in the form of the view.
// The place found is only ever told, never edited.

// A form is text with some differences taken out. Line breaks stay, so lines of the form are lines of the text.
type form struct {
	out   []byte
	src   []int // for each byte of out its offset in the line, if traced
	trace bool
}

func (m *form) put(b byte, at int) {
	m.out = append(m.out, b)
	if m.trace {
		m.src = append(m.src, at)
	}
}

// putAll puts the bytes of s, which all stand for the offset at; step 1 counts on from it.
func (m *form) putAll(s string, at, step int) {
	m.out = append(m.out, s...)
	for i := 0; m.trace && i < len(s); i++ {
		m.src = append(m.src, at+i*step)
	}
}

// withoutEnds leaves out blanks at the end of the line.
func withoutEnds(m *form, line string) { m.putAll(strings.TrimRight(line, " \t\r"), 0, 1) }

// withoutBlanks leaves out indentation and blanks at the end, and makes other runs of blanks one blank.
func withoutBlanks(m *form, line string) {
	pending := false
	start := len(m.out)
	for i := range len(line) {
		if b := line[i]; b == ' ' || b == '\t' || b == '\r' {
			pending = len(m.out) > start
			continue
		}
		if pending {
			m.put(' ', i-1)
			pending = false
		}
		m.put(line[i], i)
	}
}

// withoutLooks is withoutBlanks that also gives characters which look alike the same form.
func withoutLooks(m *form, line string) {
	if isASCII(line) {
		withoutBlanks(m, line)
		return
	}
	plain := form{trace: true}
	var it norm.Iter
	it.InitString(norm.NFC, line)
	for !it.Done() {
		at := it.Pos()
		for _, r := range string(it.Next()) {
			plain.putAll(lookOf(r), at, 0)
		}
	}
	flat := form{trace: m.trace}
	withoutBlanks(&flat, string(plain.out))
	m.out = append(m.out, flat.out...)
	for _, i := range flat.src {
		m.src = append(m.src, plain.src[i])
	}
}

// withoutCase makes letters lower case.
func withoutCase(m *form, line string) {
	for i, r := range line {
		switch {
		case r >= 'A' && r <= 'Z':
			m.put(byte(r)|0x20, i)
		case r < utf8.RuneSelf:
			m.put(byte(r), i)
		default:
			m.putAll(string(unicode.ToLower(r)), i, 0)
		}
	}
}

// lookOf returns the ordinary characters that r looks like, nothing if it cannot be seen, or r itself.
func lookOf(r rune) string {
	switch {
	case r < utf8.RuneSelf:
	case strings.ContainsRune("‘’‚‛′ʼ´＇", r):
		return "'"
	case strings.ContainsRune("“”„‟″«»", r):
		return `"`
	case r >= 0x2010 && r <= 0x2015 || r == 0x2212 || r == 0xFE58 || r == 0xFE63:
		return "-"
	case r == 0x2026:
		return "..."
	case unicode.Is(unicode.Zs, r):
		return " "
	case r >= 0x200B && r <= 0x200F || r == 0x2060 || r == 0xFEFF || r == 0xAD:
		return ""
	case r >= 0xFF01 && r <= 0xFF5E:
		return string(r - 0xFF01 + '!')
	case r >= 0x370:
		if i := strings.IndexRune(twins, r); i >= 0 {
			return twinsASCII[utf8.RuneCountInString(twins[:i]):][:1]
		}
	}
	return string(r)
}

// Letters of Cyrillic and Greek that cannot be told from Latin ones.
const (
	twins      = "аеорсухіјѕАВЕКМНОРСТХІЈЅοΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
	twinsASCII = "aeopcyxijsABEKMHOPCTXIJSoABEZHIKMNOPTYX"
)

// A hit is a place of the view where old_string would match but for the differences of a form.
type hit struct {
	line         int      // first line of the view, counted from 1
	theirs, ours []string // for each line what the view has and what old_string has
}

// longestAlike is the length in bytes of the longest line in which a form is looked for: the clock is looked at between
// lines.
const longestAlike = 1 << 20

// alike searches for old in view in the form that write gives to lines. It gives up at the time until.
func alike(view, old string, write func(*form, string), until time.Time) (hit, bool) {
	var want form
	lines := strings.Split(old, "\n")
	for i, l := range lines {
		if i > 0 {
			want.out = append(want.out, '\n')
		}
		write(&want, l)
	}
	if strings.TrimSpace(string(want.out)) == "" {
		return hit{}, false
	}
	all := form{out: make([]byte, 0, len(view)+1)}
	n := 0
	for l := range strings.Lines(view) {
		if len(l) <= longestAlike {
			write(&all, strings.TrimSuffix(l, "\n"))
		}
		all.out = append(all.out, '\n')
		if n++; n&255 == 0 && time.Now().After(until) {
			return hit{}, false
		}
	}
	in, needle := sharedString(all.out), sharedString(want.out)
	for at, tries := 0, 0; tries < 1000; tries++ {
		i := strings.Index(in[at:], needle)
		if i < 0 || tries&15 == 15 && time.Now().After(until) {
			return hit{}, false
		}
		at += i
		if h, ok := fit(view, in, at, at+len(needle), lines, write); ok {
			return h, true
		}
		at++
	}
	return hit{}, false
}

// fit maps in[from:to] of the form back to lines of view. It fails where old has blanks at its very beginning or end that
// the form lost and the place is not at the beginning or end of a line.
func fit(view, in string, from, to int, lines []string, write func(*form, string)) (hit, bool) {
	bol := strings.LastIndexByte(in[:from], '\n') + 1
	eol := to + strings.IndexByte(in[to:], '\n')
	last := len(lines) - 1
	indented := strings.TrimLeft(lines[0], " \t") != lines[0]
	trailing := strings.TrimRight(lines[last], " \t") != lines[last]
	if from > bol && indented || to < eol && trailing {
		return hit{}, false
	}
	h := hit{line: 1 + strings.Count(in[:from], "\n"), ours: lines}
	at := lineStart(view, h.line)
	for i := range lines {
		text, _, _ := strings.Cut(view[at:], "\n")
		at = min(len(view), at+len(text)+1)
		part := form{trace: true}
		write(&part, text)
		part.src = append(part.src, len(text))
		start, end := 0, len(text)
		if i == 0 && !indented { // old_string may begin behind the indentation, which is no difference
			start = part.src[from-bol]
		}
		switch {
		case i == last && to < eol:
			end = part.src[to-max(bol, strings.LastIndexByte(in[:to], '\n')+1)]
		case i == last && to == eol && !trailing && len(part.out) > 0:
			end = max(start, len(strings.TrimRight(text, " \t\r")))
		}
		h.theirs = append(h.theirs, text[min(start, end):end])
	}
	return h, true
}

// nearestLine returns the line of the view at which text most like old begins, or 0 if nothing is like it. Lines are
// compared by the three-byte sequences that they share with the longest lines of old, which are the most telling ones.
func (p *puzzle) nearestLine() int {
	type anchor struct {
		index int
		text  string
	}
	var anchors []anchor
	for i, l := range p.lines {
		if t := strings.TrimSpace(l); len(t) >= 4 && letters(t) >= 3 {
			anchors = append(anchors, anchor{i, t})
		}
	}
	slices.SortStableFunc(anchors, func(a, b anchor) int { return cmp.Compare(len(b.text), len(a.text)) })
	best, line := 0.6, 0
	for _, a := range anchors[:min(3, len(anchors))] {
		if score, at := p.mostLike(a.text); score > best {
			best, line = score, max(1, at-a.index)
		}
	}
	return line
}

// mostLike returns the line of the view that shares most of the three-byte sequences of want, and which part of them, from
// 0 to 1. Of equals the shortest is taken, then the first. Lines much longer than want would share them by chance and are
// left out.
func (p *puzzle) mostLike(want string) (score float64, line int) {
	const sequences = 1 << 15
	hash := func(a, b, c byte) uint32 {
		return (uint32(a|0x20)*31*31 + uint32(b|0x20)*31 + uint32(c|0x20)) % sequences
	}
	wanted := make([]int32, sequences) // 0: not wanted, -1: wanted, else the line that the sequence was last seen in
	total := 0
	for i := 0; i+2 < len(want); i++ {
		if h := hash(want[i], want[i+1], want[i+2]); wanted[h] == 0 {
			wanted[h] = -1
			total++
		}
	}
	most, length, n := 0, 0, int32(0)
	longest := max(400, 8*len(want))
	for l := range strings.Lines(p.view) {
		if n++; n&255 == 0 && time.Now().After(p.until) {
			break
		}
		l = strings.TrimSpace(l)
		if len(l) > longest || len(l) < len(want)/3 {
			continue
		}
		seen := 0
		for i := 0; i+2 < len(l); i++ {
			if h := hash(l[i], l[i+1], l[i+2]); wanted[h] != 0 && wanted[h] != n {
				wanted[h] = n
				seen++
			}
		}
		if seen > most || seen == most && seen > 0 && len(l) < length {
			most, length, line = seen, len(l), int(n)
		}
	}
	return float64(most) / float64(max(1, total)), line
}

package text

import (
	"errors"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// When old_string is not found, the causes below are tried in order, and the first that explains it is told, with the
// line and the text that the file has. Each may look at maxExplained bytes of the view for explainTime.
const (
	maxExplained = 4 << 20
	explainTime  = 20 * time.Millisecond
	shownLines   = 8
)

// A puzzle is an old_string that the view does not hold.
type puzzle struct {
	view  string // as much of it as may be looked at
	old   string
	lines []string // of old
	fresh string   // new_string
	until time.Time
}

// explain returns the error for an old_string that was not found.
func (f *File) explain(e Edit, asIs bool) error {
	p := &puzzle{view: f.view, old: e.Old, fresh: e.New}
	whole := len(p.view) <= maxExplained
	if !whole {
		p.view = strings.ToValidUTF8(p.view[:maxExplained], "")
	}
	if asIs {
		if why := p.carriageReturn(f.crlf > 0); why != "" {
			return notFound(why)
		}
	}
	p.old = fold(p.old)
	p.lines = strings.Split(p.old, "\n")
	for _, cause := range []func() string{
		p.lineNumbers, p.blankEnds, p.emptyLines, p.indentation, p.looks, p.escapes, p.letterCase, p.part, p.nearest,
	} {
		p.until = time.Now().Add(explainTime)
		if why := cause(); why != "" {
			return notFound(why)
		}
	}
	where := "the file"
	if !whole {
		where = "the first 4 MiB of the file"
	}
	return notFound(fmt.Sprintf("nothing in %s is similar to it; the file has %s%s", where, count(Lines(f.view), "line"), p.alreadyThere()))
}

func notFound(why string) error { return errors.New("old_string was not found: " + why) }

// several returns the error for an old_string that was found more than once.
func several(text, old string) error {
	const mostCounted, mostNamed = 10000, 10
	var lines []string
	n, line, named, more := 0, 1, 0, false
	for at := 0; n < mostCounted; n++ {
		i := strings.Index(text[at:], old)
		if i < 0 {
			break
		}
		line += strings.Count(text[at:at+i], "\n")
		if line != named && len(lines) < mostNamed {
			lines, named = append(lines, strconv.Itoa(line)), line
		}
		more = line != named
		line += strings.Count(old, "\n")
		at += i + len(old)
	}
	last := len(lines) - 1
	where := "all in line " + lines[0]
	switch {
	case n == 1:
		return fmt.Errorf("old_string has matches that overlap, at line %s; add text around the one that is meant to old_string", lines[0])
	case more:
		where = "at lines " + strings.Join(lines, ", ") + " and more"
	case last > 0:
		where = "at lines " + strings.Join(lines[:last], ", ") + " and " + lines[last]
	}
	total := strconv.Itoa(n)
	if n == mostCounted {
		total = "at least " + total
	}
	return fmt.Errorf("old_string has %s matches, %s; add lines around the one that is meant to old_string, or use replace_all to change all", total, where)
}

// carriageReturn explains old_string and new_string that spell CR, which are taken as they stand.
func (p *puzzle) carriageReturn(crlf bool) string {
	at := strings.Index(p.view, fold(p.old))
	if at < 0 {
		return ""
	}
	switch line := p.line(at); {
	case p.old != fold(p.old):
		return fmt.Sprintf("it spells line breaks as CR LF, but those at line %d are not all of that kind; write line breaks as plain \\n, the file keeps its own", line)
	case crlf:
		return fmt.Sprintf("new_string spells a CR, so old_string is taken as it stands, but the file has CR LF at line %d; write line breaks as plain \\n in both, the file keeps its own", line)
	}
	return ""
}

var numbered = regexp.MustCompile(`(?m)^ *(\d+)(\t|→)`)

// lineNumbers explains numbers of Read's output in front of every line.
func (p *puzzle) lineNumbers() string {
	first := ""
	for i, l := range p.lines {
		m := numbered.FindStringSubmatchIndex(l)
		if m == nil && (i == 0 || i < len(p.lines)-1 || l != "") {
			return ""
		}
		if first == "" {
			first = l[m[2]:m[3]]
		}
	}
	bare := numbered.ReplaceAllString(p.old, "")
	at := strings.Index(p.view, bare)
	if at < 0 && len(p.lines) < 2 {
		return ""
	}
	why := fmt.Sprintf("it holds line numbers, which Read shows but the file does not have; leave out %s<TAB> and the like", first)
	if at >= 0 {
		why += fmt.Sprintf(", without them it matches at line %d", p.line(at))
	}
	return why
}

// blankEnds explains blanks at line ends.
func (p *puzzle) blankEnds() string { return p.differing(withoutEnds) }

// emptyLines explains line breaks before or behind text that is there.
func (p *puzzle) emptyLines() string {
	core := strings.Trim(p.old, "\n")
	at := strings.Index(p.view, core)
	if core == "" || core == p.old || at < 0 {
		return ""
	}
	where := "beginning"
	if strings.HasSuffix(p.old, "\n") {
		where = "end"
		if p.old[0] == '\n' {
			where = "beginning and end"
		}
	}
	if at+len(core) == len(p.view) && where == "end" {
		return fmt.Sprintf("the last line of the file, %d, has no line break at its end; leave it out of old_string", Lines(p.view))
	}
	return fmt.Sprintf("without the line breaks at its %s it matches at line %d; the file has%s", where, p.line(at), p.show(p.line(at)-1, len(p.lines)+2))
}

// indentation explains tabs against blanks and other white space.
func (p *puzzle) indentation() string { return p.differing(withoutBlanks) }

// looks explains characters that look alike.
func (p *puzzle) looks() string { return p.differing(withoutLooks) }

// letterCase explains upper and lower case.
func (p *puzzle) letterCase() string {
	why := p.differing(withoutCase)
	if why != "" {
		why = "it differs in upper and lower case, " + why
	}
	return why
}

// differing explains what a form takes out, if old_string is there without it.
func (p *puzzle) differing(write func(*form, string)) string {
	h, ok := alike(p.view, p.old, write, p.until)
	if !ok {
		return ""
	}
	first, n := -1, 0
	for i := range h.ours {
		if h.ours[i] != h.theirs[i] {
			n++
			if first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		return ""
	}
	why := fmt.Sprintf("line %d %s", h.line+first, difference(h.theirs[first], h.ours[first]))
	if n == 2 {
		why += ", and 1 more line differs"
	} else if n > 2 {
		why += fmt.Sprintf(", and %d more lines differ", n-1)
	}
	from := h.line
	if first >= shownLines {
		from += first
	}
	return why + "; the file has" + p.show(from, len(h.ours))
}

// difference says what the line theirs of the file has that ours of old_string has not.
func difference(theirs, ours string) string {
	const blank = " \t\r"
	indent, ourIndent := theirs[:len(theirs)-len(strings.TrimLeft(theirs, blank))], ours[:len(ours)-len(strings.TrimLeft(ours, blank))]
	core, ourCore := strings.Trim(theirs, blank), strings.Trim(ours, blank)
	switch {
	case indent != ourIndent && core != "" && ourCore != "":
		return fmt.Sprintf("is indented with %s, old_string with %s", blanks(indent), blanks(ourIndent))
	case core == ourCore:
		return fmt.Sprintf("ends in %s, old_string in %s", blanks(tail(theirs)), blanks(tail(ours)))
	}
	n := 0
	for n < len(theirs) && n < len(ours) && theirs[n] == ours[n] {
		n++
	}
	for n > 0 && (n < len(theirs) && !utf8.RuneStart(theirs[n]) || n < len(ours) && !utf8.RuneStart(ours[n])) {
		n--
	}
	return fmt.Sprintf("has %s %s where old_string has %s", starting(theirs[n:]), behind(theirs[:n]), starting(ours[n:]))
}

func tail(s string) string { return s[len(strings.TrimRight(s, " \t\r")):] }

// starting names the run of blanks, or the character, that s begins with.
func starting(s string) string {
	if s == "" {
		return "nothing"
	}
	if run := s[:len(s)-len(strings.TrimLeft(s, " \t\r"))]; run != "" {
		return blanks(run)
	}
	r, _ := utf8.DecodeRuneInString(s)
	return describe(r)
}

// behind shows the end of s, so that a place in a line can be found.
func behind(s string) string {
	if s == "" {
		return "at its beginning"
	}
	r := []rune(s)
	return "after " + strconv.Quote(string(r[max(0, len(r)-12):]))
}

// blanks names a run of blanks.
func blanks(s string) string {
	switch {
	case s == "":
		return "nothing"
	case strings.Trim(s, " ") == "":
		return count(len(s), "blank")
	case strings.Trim(s, "\t") == "":
		return count(len(s), "tab")
	}
	return strconv.Quote(s)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// escapes explains characters that are written as escapes on one side only.
func (p *puzzle) escapes() string {
	if plain, name := unescape(p.old); plain != p.old {
		if at := strings.Index(p.view, plain); at >= 0 {
			return fmt.Sprintf("it spells %s where the file has the character itself, at line %d; the file has%s", name, p.line(at), p.show(p.line(at), 1+strings.Count(plain, "\n")))
		}
	}
	for _, r := range []*strings.Replacer{
		strings.NewReplacer(`"`, `\"`), strings.NewReplacer("\n", `\n`, "\t", `\t`), strings.NewReplacer(`\`, `\\`),
		strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`),
		strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;"), strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", `"`, "&quot;", "'", "&#39;"),
	} {
		spelled := r.Replace(p.old)
		if at := strings.Index(p.view, spelled); spelled != p.old && at >= 0 {
			return fmt.Sprintf("the file spells as escapes, such as \\n, \\\" or &lt;, what old_string has as plain characters, at line %d; the file has%s", p.line(at), p.show(p.line(at), 1+strings.Count(spelled, "\n")))
		}
	}
	return ""
}

var escape = regexp.MustCompile("\\\\(?:u[0-9a-fA-F]{4}|[nrt\"'\\\\/`])|&(?:[a-zA-Z]+|#[0-9]+|#x[0-9a-fA-F]+);")

// unescape replaces the escapes of strings and of HTML in s, and returns the first that it replaced.
func unescape(s string) (plain, name string) {
	plain = escape.ReplaceAllStringFunc(s, func(x string) string {
		y := x
		switch {
		case x[0] == '&':
			y = html.UnescapeString(x)
		case x[1] == 'u':
			n, _ := strconv.ParseUint(x[2:], 16, 32)
			y = string(rune(n))
		default:
			y = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t").Replace(x)
			if y == x {
				y = x[1:]
			}
		}
		if y != x && name == "" {
			name = x
		}
		return y
	})
	return plain, name
}

// part explains an old_string of which only the first or the last lines match.
func (p *puzzle) part() string {
	if len(p.lines) < 2 {
		return ""
	}
	lead, at := p.leading()
	trail, end := p.trailing()
	switch {
	case lead >= trail && weighty(p.lines[:lead]):
		return p.partial(at, lead, lead, "then", "after")
	case weighty(p.lines[len(p.lines)-trail:]):
		return p.partial(end-trail+1, trail, len(p.lines)-trail-1, "but", "before")
	}
	return ""
}

// partial says that n lines of the view from line on match, and how the one that stands next to them differs from
// old_string's line of index i.
func (p *puzzle) partial(line, n, i int, word, side string) string {
	matched, next := fmt.Sprintf("line %d matches", line), line+n
	if n > 1 {
		matched = fmt.Sprintf("lines %d-%d match", line, line+n-1)
	}
	if side == "before" {
		next = line - 1
	}
	if next < 1 || next > Lines(p.view) {
		return fmt.Sprintf("%s, %s the file has no line %s; old_string has there\n\t%s%s", matched, word, side, clip(p.lines[i]), p.alreadyThere())
	}
	return fmt.Sprintf("%s, %s line %d is%s\nwhere old_string has\n\t%s%s", matched, word, next, p.show(next, 1), clip(p.lines[i]), p.alreadyThere())
}

// leading returns how many lines of old at most match at one place from its first line on, and the line of that place.
func (p *puzzle) leading() (best, line int) {
	first, place := p.lines[0]+"\n", -1
	for at, tries := 0, 0; ; tries++ {
		i := strings.Index(p.view[at:], first)
		if i < 0 || tries&255 == 255 && time.Now().After(p.until) {
			break
		}
		at += i
		n, rest := 1, p.view[at+len(first):]
		for n < len(p.lines) {
			next, ok := strings.CutPrefix(rest, p.lines[n]+"\n")
			if !ok {
				break
			}
			rest = next
			n++
		}
		if n > best {
			best, place = n, at
		}
		at += len(first)
	}
	if place < 0 {
		return 0, 0
	}
	return min(best, len(p.lines)-1), p.line(place)
}

// trailing returns how many lines of old at most match at one place up to its last line, and the line of its end.
func (p *puzzle) trailing() (best, line int) {
	last, place := "\n"+p.lines[len(p.lines)-1], -1
	for at, tries := 0, 0; ; tries++ {
		i := strings.Index(p.view[at:], last)
		if i < 0 || tries&255 == 255 && time.Now().After(p.until) {
			break
		}
		at += i
		n, rest := 1, p.view[:at]
		for n < len(p.lines) {
			next, ok := strings.CutSuffix(rest, "\n"+p.lines[len(p.lines)-1-n])
			if !ok {
				break
			}
			rest = next
			n++
		}
		if n > best {
			best, place = n, at+1
		}
		at++
	}
	if place < 0 {
		return 0, 0
	}
	return min(best, len(p.lines)-1), p.line(place)
}

// weighty reports whether lines hold enough letters and digits to be no coincidence.
func weighty(lines []string) bool {
	n := 0
	for _, l := range lines {
		n += letters(l)
	}
	return n >= 6
}

func letters(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// nearest explains nothing, but shows the lines that are most like old_string.
func (p *puzzle) nearest() string {
	line := p.nearestLine()
	if line == 0 {
		return ""
	}
	return fmt.Sprintf("the nearest place is line %d; the file has%s%s", line, p.show(line, min(shownLines, len(p.lines))), p.alreadyThere())
}

// alreadyThere tells when new_string is in the file, as after an edit that was made before.
func (p *puzzle) alreadyThere() string {
	at := strings.Index(p.view, p.fresh)
	if at < 0 || letters(p.fresh) < 8 {
		return ""
	}
	return fmt.Sprintf("\nnew_string is already there, at line %d", p.line(at))
}

// line returns the line of the view that offset at stands in.
func (p *puzzle) line(at int) int { return 1 + strings.Count(p.view[:at], "\n") }

// show returns n lines of the view from line on, at most shownLines, as Read shows them.
func (p *puzzle) show(line, n int) string {
	page := Number(p.view, Window{Offset: max(1, line), Limit: min(n, shownLines), MaxLine: snippetLine})
	return "\n" + strings.TrimSuffix(page.Text, "\n")
}

// clip shortens a line for display.
func clip(s string) string {
	if end := runeOffset(s, snippetLine); end < len(s) {
		return s[:end] + "…"
	}
	return s
}

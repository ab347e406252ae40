package text

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An Edit replaces Old, which must occur exactly once, by New. With All it replaces every occurrence, from left to right
// and without overlaps.
//
// Line breaks in both are LF, as in the view, and those of New become what is usual at the place (see breaker). If Old or
// New spells a CR, both are taken as they stand.
type Edit struct {
	Old, New string
	All      bool
}

// A Span is a changed place in the new view: Lines lines, at least one, from Line on, counted from 1. Where only lines
// were removed it is the line that follows, or the last one.
type Span struct{ Line, Lines int }

// Applied is the result of edits.
type Applied struct {
	Data  []byte // the new bytes of the file
	Count int    // replacements made
	Spans []Span // in order; places that share a line are one
	View  string // the new view; it may share memory with Data, which must not be changed
}

// Apply makes the edits in order, each on the result of the one before, all or none. Its error is one sentence for the
// model, sometimes followed by lines of the file, and names the edit by number if there are several. It never names the
// file.
func (f *File) Apply(edits []Edit) (*Applied, error) {
	if f.binary {
		return nil, errors.New("the file is binary, so its text cannot be edited")
	}
	if len(edits) == 0 {
		return nil, errors.New("there are no edits to make")
	}
	cur, count, places := f, 0, []place(nil)
	for i, e := range edits {
		next, made, err := cur.replace(e)
		if err != nil && i > 0 && e.Old != "" && strings.Contains(f.view, e.Old) && !strings.Contains(cur.view, e.Old) {
			err = errors.New("an edit before it has changed the text that old_string should match; write old_string as the text is after that edit")
		}
		if err != nil && len(edits) > 1 {
			err = fmt.Errorf("edit %d of %d (%s) cannot be made, so none was: %v", i+1, len(edits), opening(e.Old), err)
		}
		if err != nil {
			return nil, err
		}
		move(places, made)
		shift := 0
		for _, s := range made {
			places = append(places, place{s.from + shift, s.from + shift + s.size})
			shift += s.size - (s.to - s.from)
		}
		cur, count = next, count+len(made)
	}
	return &Applied{Data: cur.raw, Count: count, Spans: cur.spans(places), View: cur.view}, nil
}

// opening names an edit by the first characters of its old_string.
func opening(old string) string {
	if end := runeOffset(old, 40); end < len(old) {
		return strconv.Quote(old[:end]) + "…"
	}
	return strconv.Quote(old)
}

// A splice says that bytes from:to became size new bytes.
type splice struct{ from, to, size int }

// A place is a range of changed bytes.
type place struct{ from, to int }

// move corrects places for splices, which are in order and were made after them. An end of a place within a splice moves
// to its beginning: the new bytes are a place of their own.
func move(places []place, splices []splice) {
	shifts := make([]int, len(splices)+1)
	for i, s := range splices {
		shifts[i+1] = shifts[i] + s.size - (s.to - s.from)
	}
	moved := func(at int) int {
		k, _ := slices.BinarySearchFunc(splices, at, func(s splice, at int) int { return cmp.Compare(s.to, at+1) })
		if k < len(splices) {
			at = min(at, splices[k].from)
		}
		return at + shifts[k]
	}
	for i, p := range places {
		places[i] = place{moved(p.from), moved(p.to)}
	}
}

// spans returns the lines that places of f's bytes stand in.
func (f *File) spans(places []place) []Span {
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var spans []Span
	total := max(1, f.lf+f.crlf)
	if f.view != "" && f.view[len(f.view)-1] != '\n' {
		total = f.lf + f.crlf + 1
	}
	at, line := f.bom, 1
	for _, p := range places {
		line += f.codec.countBreaks(f.raw[at:max(at, p.from)])
		at = max(at, p.from)
		last := line + f.codec.countBreaks(f.raw[at:max(at, p.to)])
		if p.to > at && f.codec.lastBreak(f.raw, at, p.to) == p.to-f.codec.unit {
			last--
		}
		s := Span{min(line, total), min(last, total) - min(line, total) + 1}
		if n := len(spans); n > 0 && s.Line < spans[n-1].Line+spans[n-1].Lines {
			spans[n-1].Lines = max(spans[n-1].Lines, s.Line+s.Lines-spans[n-1].Line)
			continue
		}
		spans = append(spans, s)
	}
	return spans
}

// replace makes one edit.
func (f *File) replace(e Edit) (*File, []splice, error) {
	if err := f.check(e); err != nil {
		return nil, nil, err
	}
	asIs := strings.ContainsRune(e.Old, '\r') || strings.ContainsRune(e.New, '\r')
	if e.Old == "" {
		part, lost := f.codec.encode(e.New)
		if lost != nil {
			return nil, nil, lost.in("new_string", 0)
		}
		data := append(f.raw[:f.bom:f.bom], part...)
		return f.with(data), []splice{{f.bom, f.bom, len(part)}}, nil
	}
	text := f.view
	if asIs {
		text = f.exact()
	}
	found, err := f.find(text, e, asIs)
	if err != nil {
		return nil, nil, err
	}
	made, err := f.locate(text, found, e, asIs)
	if err != nil {
		return nil, nil, err
	}
	parts, err := f.codec.parts(e.New, asIs)
	if err != nil {
		return nil, nil, err
	}
	return f.with(f.write(made, parts, strings.Contains(e.Old, "\n"))), made, nil
}

// check refuses edits that cannot be meant.
func (f *File) check(e Edit) error {
	switch {
	case e.Old == e.New:
		return errors.New("old_string and new_string are the same, so there is nothing to change")
	case !utf8.ValidString(e.Old):
		return errors.New("old_string is not valid UTF-8")
	case !utf8.ValidString(e.New):
		return errors.New("new_string is not valid UTF-8")
	case e.Old == "" && f.view != "":
		return errors.New("old_string is empty, which is only for a new or an empty file; copy the text to replace into old_string")
	case f.stray > 0 && strings.ContainsRune(e.New, utf8.RuneError) && !strings.ContainsRune(e.Old, utf8.RuneError):
		return errStray
	case f.codec != unknown || isASCII(e.Old):
		return nil
	case strings.ContainsRune(e.Old, utf8.RuneError):
		return errStray
	}
	return fmt.Errorf("the encoding of the file is not known, so only ASCII text can be changed; leave out of old_string what is not ASCII, such as %s", describe(firstHigh(e.Old)))
}

var errStray = errors.New("the bytes that are shown as \uFFFD are not text; leave them out of old_string and new_string, they stay as they are")

func firstHigh(s string) rune {
	i := strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
	r, _ := utf8.DecodeRuneInString(s[i:])
	return r
}

// find returns where e.Old begins in text: once, or as often as All finds it.
func (f *File) find(text string, e Edit, asIs bool) ([]int, error) {
	first := strings.Index(text, e.Old)
	if first < 0 {
		return nil, f.explain(e, asIs)
	}
	if !e.All {
		// Occurrences that overlap are two places, too: it cannot be known which one is meant.
		if strings.Contains(text[first+1:], e.Old) {
			return nil, several(text, e.Old)
		}
		return []int{first}, nil
	}
	found := []int{first}
	for at := first + len(e.Old); ; {
		i := strings.Index(text[at:], e.Old)
		if i < 0 {
			return found, nil
		}
		found = append(found, at+i)
		at += i + len(e.Old)
	}
}

// A cursor walks text, which is the view of f or its exact text, and the bytes of f in step.
type cursor struct {
	f    *File
	text string
	fold bool // text shows CRLF as LF
	t, b int  // offset in text, and the same place in f.raw
}

// to moves the cursor to offset t of the text, which is not before it, and returns the offset in the bytes.
func (c *cursor) to(t int) int {
	codec, raw := c.f.codec, c.f.raw
	if c.f.plain() {
		c.t, c.b = t, c.f.bom+t
		return c.b
	}
	jump := codec == utf8Codec && c.f.stray == 0 // only line breaks differ in width
	for c.t < t {
		if jump {
			n := strings.IndexByte(c.text[c.t:t], '\n')
			if n < 0 || !c.fold {
				n = t - c.t
			}
			c.t += n
			c.b += n
			if c.t == t {
				break
			}
		}
		x := c.text[c.t]
		if c.fold && x == '\n' && codec.isUnit(raw[c.b:], '\r') {
			c.b += codec.unit
		}
		c.b += codec.width(raw[c.b:])
		if x < utf8.RuneSelf {
			c.t++
			continue
		}
		_, n := utf8.DecodeRuneInString(c.text[c.t:])
		c.t += n
	}
	return c.b
}

// locate returns the bytes of each match as splices without size, and refuses matches that are not surely text.
func (f *File) locate(text string, found []int, e Edit, asIs bool) ([]splice, error) {
	cur := cursor{f: f, text: text, fold: !asIs, b: f.bom}
	made := make([]splice, len(found))
	doubtful := f.stray > 0 && strings.ContainsRune(e.Old, utf8.RuneError)
	for i, at := range found {
		from := cur.to(at)
		if f.codec == unknown && from > 0 && f.raw[from-1] >= utf8.RuneSelf {
			return nil, fmt.Errorf("old_string matches in line %d right behind a byte that is not ASCII, so it may begin inside a character, and the encoding of the file is not known; begin old_string further left or right of it", 1+f.codec.countBreaks(f.raw[:from]))
		}
		if doubtful {
			for b, t := from, at; t < at+len(e.Old); b = cur.to(t) {
				if f.codec.strayAt(f.raw[b:]) {
					return nil, errStray
				}
				_, n := utf8.DecodeRuneInString(text[t:])
				t += n
			}
		}
		made[i] = splice{from: from, to: cur.to(at + len(e.Old))}
	}
	return made, nil
}

// parts encodes text line by line; the line breaks between the parts are left to write. As it is, text is one part.
func (c *codec) parts(text string, asIs bool) ([]string, error) {
	lines := []string{text}
	if !asIs {
		lines = strings.Split(text, "\n")
	}
	for i, l := range lines {
		part, lost := c.encode(l)
		if lost != nil {
			return nil, lost.in("new_string", i)
		}
		lines[i] = part
	}
	return lines, nil
}

// write returns the bytes of f with parts in the place of each splice, and sets the sizes of the splices. Held says that
// the matches hold line breaks.
func (f *File) write(made []splice, parts []string, held bool) []byte {
	lf, _ := f.codec.encode("\n")
	crlf, _ := f.codec.encode("\r\n")
	size := (len(parts) - 1) * len(crlf)
	for _, p := range parts {
		size += len(p)
	}
	room := len(f.raw)
	for _, s := range made {
		room += size - (s.to - s.from)
	}
	out := make([]byte, 0, room)
	at := 0
	ends := breaker{f: f, next: -1}
	for i, s := range made {
		out = append(out, f.raw[at:s.from]...)
		start := len(out)
		var kinds []bool
		if len(parts) > 1 {
			kinds = ends.kinds(s, held)
		}
		for k, p := range parts {
			if k > 0 && kinds[min(k, len(kinds))-1] {
				out = append(out, crlf...)
			} else if k > 0 {
				out = append(out, lf...)
			}
			out = append(out, p...)
		}
		made[i].size = len(out) - start
		at = s.to
	}
	return append(out, f.raw[at:]...)
}

// A breaker tells the line breaks that new text gets: its i-th break is of the kind of the i-th one in the match, further
// ones of the kind of the last. If the match holds none, they are of the kind of the break that ends its line, else of
// the one before it, else of the file's majority, which then has none: LF.
type breaker struct {
	f    *File
	next int // offset of a line feed that was found behind an earlier match, or -1
}

// kinds returns for each break, at least one, whether it is CRLF.
func (r *breaker) kinds(s splice, held bool) []bool {
	codec, raw, low := r.f.codec, r.f.raw, r.f.bom
	if held {
		var kinds []bool
		for at := s.from; ; at += codec.unit {
			at = codec.nextBreak(raw[:s.to], at)
			if at == s.to {
				return kinds
			}
			kinds = append(kinds, codec.crBefore(raw, s.from, at))
		}
	}
	if r.next < s.to {
		r.next = codec.nextBreak(raw, s.to)
	}
	if r.next < len(raw) {
		return []bool{codec.crBefore(raw, low, r.next)}
	}
	if at := codec.lastBreak(raw, low, s.from); at >= 0 {
		return []bool{codec.crBefore(raw, low, at)}
	}
	return []bool{false}
}

// Rewrite returns the bytes of content in f's encoding, with its byte-order mark if it has one. Line breaks become those
// of the majority in f, LF in a tie, unless content spells a CR, which means that it is to be taken as it stands. The
// error, for a character that the encoding does not have, is one sentence for the model.
func (f *File) Rewrite(content string) ([]byte, error) {
	switch {
	case f.binary:
		return nil, errors.New("the file is binary, so it cannot be overwritten with text")
	case !utf8.ValidString(content):
		return nil, errors.New("content is not valid UTF-8")
	case f.stray > 0 && strings.ContainsRune(content, utf8.RuneError):
		return nil, errors.New("content has \uFFFD, which stands for bytes of the file that are not text and would be lost; edit the file instead, which keeps them")
	}
	if f.bom > 0 {
		content = strings.TrimPrefix(content, "\uFEFF")
	}
	if f.crlf > f.lf && !strings.ContainsRune(content, '\r') {
		content = strings.ReplaceAll(content, "\n", "\r\n")
	}
	part, lost := f.codec.encode(content)
	if lost != nil {
		return nil, lost.in("content", 0)
	}
	return append(f.raw[:f.bom:f.bom], part...), nil
}

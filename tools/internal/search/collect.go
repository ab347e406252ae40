package search

import (
	"bytes"
	"strconv"
	"time"
	"unicode/utf8"
)

// hit is what one file has for the answer.
type hit struct {
	file     int     // index of its name
	count    int     // matching lines; matches, where they may cross lines
	entries  int     // entries it has in its order, as far as it was searched
	more     bool    // it was not searched to its end
	shown    []entry // from entry limits.skip on, as far as they were kept
	chars    int     // length of shown
	modified time.Time
}

// entry is one line of a content answer.
type entry struct {
	text  string
	group bool // no line is missing before it: it does not follow the entry before
	chars int
}

// limits say how much of a file is wanted.
type limits struct {
	skip  int  // entries not wanted at the beginning
	chars int  // keep entries until they have more characters than this; 0: count only
	stop  int  // search until there are so many entries
	full  bool // stop as soon as chars are kept
}

// collector makes the entries of one file out of its matches.
type collector struct {
	q       *Query
	scan    *scanner
	name    string // what stands in front of each line
	lim     limits
	hit     hit
	p       piece
	at      int // a line start in p, whose number is number
	number  int
	printed int  // place behind the last line that became an entry; may lie before p
	last    int  // that line's number; 0: none yet
	after   int  // context lines still due behind it
	skip    bool // the rest of the line at the beginning of the piece is done with
	done    bool
}

// collect searches a source to its end, or as far as the limits ask.
func (c *collector) collect(s *source) error {
	var err error
	c.number = 1
	c.p, err = s.first()
	for err == nil {
		keep := len(c.p.text)
		if c.scan.p.across {
			keep = c.across()
		} else {
			c.lines()
		}
		if c.done || c.scan.stopped() || c.p.last {
			return nil
		}
		c.afterLines(keep)
		c.move(keep)
		var next piece
		next, err = s.after(c.p, keep, c.q.Mode == Content && c.q.Before > 0)
		c.at = next.from
		c.printed -= next.drop
		c.p = next
	}
	return err
}

// move sets the counted place to a later line start.
func (c *collector) move(to int) {
	c.number += bytes.Count(c.p.text[c.at:to], []byte{'\n'})
	c.at = to
}

func (c *collector) lines() {
	from := c.p.from
	if !c.p.mid {
		c.skip = false
	} else if c.skip { // the line has matched in the piece before
		_, end := lineAround(c.p.text, from)
		from = min(end+1, len(c.p.text))
		c.printed = from
		c.skip = end == len(c.p.text)
	}
	c.scan.lines(c.p.text, from, func(start, end int) bool {
		c.skip = c.p.spill && end == len(c.p.text)
		c.hit.count++
		if c.q.Mode == Content && c.q.Only {
			c.move(start)
			c.only(start, end)
		} else {
			c.line(start, end, -1, -1)
		}
		return !c.done
	})
	if !c.done && c.p.last {
		c.afterLines(len(c.p.text))
	}
}

// across handles matches that may cross lines: each line that one touches becomes an entry, once. It returns the place
// from which on the next piece is to be searched.
func (c *collector) across() int {
	keep, last := c.p.to, -1
	c.scan.spans(c.p.text, c.p.from, c.p.to, func(start, end int) bool {
		keep = max(keep, end)
		if start < end || start != last { // nothing right behind a match is the end of that match
			c.hit.count++
		}
		last = end
		switch {
		case c.q.Mode != Content:
			c.done = c.q.Mode == FilesWithMatches
		case c.q.Only:
			c.move(bytes.LastIndexByte(c.p.text[:start], '\n') + 1)
			c.onlySpan(start, end)
		default:
			c.span(start, end)
		}
		return !c.done
	})
	if keep > c.p.to { // a match reaches beyond the window: go on at a line start
		if k := bytes.IndexByte(c.p.text[keep-1:], '\n'); k >= 0 {
			keep += k
		} else {
			keep = len(c.p.text)
		}
	}
	if !c.done && c.p.last {
		c.afterLines(len(c.p.text))
	}
	return keep
}

// span makes entries of the lines that a match touches.
func (c *collector) span(start, end int) {
	stop := max(start, end-1) // a final "\n" belongs to the line that it ends
	from := bytes.LastIndexByte(c.p.text[:start], '\n') + 1
	for first := true; from <= stop && from < len(c.p.text) && !c.done; first = false {
		to := len(c.p.text)
		if k := bytes.IndexByte(c.p.text[from:], '\n'); k >= 0 {
			to = from + k
		}
		if c.last == 0 || from >= c.printed { // else the match before has printed it
			if first {
				c.line(from, to, start-from, min(end, to)-from)
			} else {
				c.line(from, to, 0, min(end, to)-from)
			}
		}
		from = to + 1
	}
}

// line handles a matching line with its context. The match lies at the given place in it; -1: it is looked for when the
// line turns out to be long.
func (c *collector) line(start, end, matchStart, matchEnd int) {
	switch c.q.Mode {
	case FilesWithMatches:
		c.done = true
		return
	case Count:
		return
	}
	c.afterLines(start)
	c.move(start)
	begin, number := start, c.number
	floor := max(0, c.printed)
	if c.last == 0 {
		floor = 0
	}
	for range c.q.Before {
		if begin <= floor {
			break
		}
		begin = bytes.LastIndexByte(c.p.text[:begin-1], '\n') + 1
		number--
	}
	group := c.last == 0 || begin != c.printed
	for begin < start && !c.done {
		stop := begin + bytes.IndexByte(c.p.text[begin:], '\n')
		c.entry(number, '-', c.p.text[begin:stop], -1, -1, group)
		begin, group = stop+1, false
		number++
	}
	if c.done {
		return
	}
	text := c.p.text[start:end]
	if matchStart < 0 && len(text) > maxShown && c.wanted() {
		matchStart, matchEnd, _ = c.scan.find(text, 0)
	}
	c.entry(number, ':', text, matchStart, matchEnd, group)
	c.printed, c.last, c.after = min(end+1, len(c.p.text)), number, c.q.After
}

// afterLines makes entries of the context lines that are due, up to a line start.
func (c *collector) afterLines(to int) {
	for c.after > 0 && c.printed < to && !c.done {
		from, end := c.printed, len(c.p.text)
		if k := bytes.IndexByte(c.p.text[from:], '\n'); k >= 0 {
			end = from + k
		}
		c.after--
		c.last++
		c.printed = min(end+1, len(c.p.text))
		c.entry(c.last, '-', c.p.text[from:end], -1, -1, false)
	}
}

// only makes an entry of each match in a line. Empty matches show nothing.
func (c *collector) only(start, end int) {
	line := c.p.text[start:end]
	c.scan.matchesIn(line, 0, func(a, b int) bool {
		if a < b {
			c.onlyPart(c.number, line[a:b])
		}
		return !c.done
	})
}

// onlySpan makes an entry of each line of a match.
func (c *collector) onlySpan(start, end int) {
	number := c.number
	for part := range bytes.Lines(c.p.text[start:end]) {
		if c.done {
			return
		}
		c.onlyPart(number, bytes.TrimSuffix(part, []byte("\n")))
		number++
	}
}

func (c *collector) onlyPart(number int, part []byte) {
	c.put(true, func(dst []byte) []byte {
		return appendLine(c.prefix(dst, number, ':'), part, -1, -1, "match")
	})
}

func (c *collector) entry(number int, mark byte, text []byte, start, end int, group bool) {
	c.put(group, func(dst []byte) []byte {
		return appendLine(c.prefix(dst, number, mark), text, start, end, "line")
	})
}

// prefix writes what stands in front of a line: src/a.go:12:
func (c *collector) prefix(dst []byte, number int, mark byte) []byte {
	if !c.q.Single {
		dst = append(append(dst, c.name...), mark)
	}
	if c.q.Numbers {
		dst = append(strconv.AppendInt(dst, int64(number), 10), mark)
	}
	return dst
}

// wanted reports whether the next entry will be kept.
func (c *collector) wanted() bool {
	return c.lim.chars > 0 && c.hit.entries >= c.lim.skip && !c.filled()
}

// filled reports whether what is kept has more characters than asked for. Two entries are kept in any case: one is
// always shown, the other tells that there are more.
func (c *collector) filled() bool { return c.hit.chars > c.lim.chars && len(c.hit.shown) > 1 }

// put counts an entry, keeps it if it is wanted, and ends the search of the file when there are enough.
func (c *collector) put(group bool, write func(dst []byte) []byte) {
	if c.wanted() {
		t := string(write(nil))
		n := utf8.RuneCountInString(t) + 1
		c.hit.shown = append(c.hit.shown, entry{t, group, n})
		c.hit.chars += n
	}
	c.hit.entries++
	if c.lim.full && c.filled() || c.hit.entries >= c.lim.stop {
		c.done, c.hit.more = true, true
	}
}

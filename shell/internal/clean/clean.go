// Package clean turns what a program wrote for a terminal into plain text. Begin with [New]; [String] does it at once.
//
// It knows no screen: a cursor that moves up or to a column moves nothing, its sequences only vanish.
package clean

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxLine bounds what a Cleaner holds. A longer line is handed on in pieces; a carriage return then rewrites the last
// piece only.
const maxLine = 64 << 10

// maxSkip bounds one escape sequence. OSC 52 carries a whole clipboard; what is longer than this is no sequence but text
// that happens to begin like one, and is shown.
const maxSkip = 1 << 20

// A Cleaner turns what a program wrote for a terminal into plain text, as a stream and in constant memory:
//
//   - escape sequences (CSI, OSC, DCS and the short ones) vanish;
//   - of a line rewritten with carriage returns the last state stays, and a backspace takes back one character;
//   - other control characters except tab and line feed become visible, as \x07 or \u009b;
//   - what is no UTF-8 becomes U+FFFD, once it is certain that no further byte completes it.
//
// The text is the same however the input is cut into writes, it is valid UTF-8, at most four times as long as the
// input, and cleaning it again changes nothing. No line feed is ever added or removed.
//
// A Cleaner is not safe for concurrent use.
type Cleaner struct {
	emit    func([]byte)
	limit   int    // bytes of one line
	line    []byte // the unfinished line, cleaned, as it stands now
	fresh   bool   // a carriage return came: the next character begins the line anew
	state   escapeState
	skipped int    // bytes of the escape sequence so far
	part    []byte // the beginning of a character, at most three bytes
}

type escapeState uint8

const (
	ground      escapeState = iota
	afterEscape             // ESC
	inCSI                   // ESC [ …
	inShort                 // ESC and an intermediate byte, as in ESC ( B
	inString                // ESC ] … and its kind, up to BEL or ESC \
	inStringEnd             // ESC inside of a string
)

const escape = 0x1b

// New returns a Cleaner that hands cleaned text to emit, which must not keep the slice.
func New(emit func([]byte)) *Cleaner {
	return &Cleaner{emit: emit, limit: maxLine}
}

// String returns s as a Cleaner would pass it on.
func String(s string) string {
	var b strings.Builder
	c := New(func(p []byte) { b.Write(p) })
	c.Write([]byte(s))
	c.Close()
	return b.String()
}

// Write takes the next piece of output. It never fails.
func (c *Cleaner) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		switch {
		case c.state != ground:
			p = c.skip(p)
		case len(c.part) > 0:
			p = c.complete(p)
		default:
			p = c.text(p)
		}
	}
	return n, nil
}

// Flush hands on the unfinished line as it stands. What comes later continues it, except that a carriage return or
// backspace no longer reaches it.
func (c *Cleaner) Flush() {
	if len(c.line) > 0 {
		c.emit(c.line)
		c.line = c.line[:0]
	}
}

// Line returns the unfinished line as it stands now. It is valid until the next call.
func (c *Cleaner) Line() []byte { return c.line }

// Close hands on all that is left; a character that was never completed is shown as U+FFFD.
func (c *Cleaner) Close() error {
	for range c.part {
		c.put([]byte(string(utf8.RuneError)))
	}
	c.part = c.part[:0]
	c.Flush()
	return nil
}

// text consumes plain text, or the one thing in front that is not plain, and returns the rest.
func (c *Cleaner) text(p []byte) []byte {
	if n := plain(p); n > 0 {
		c.put(p[:n])
		return p[n:]
	}
	switch b := p[0]; {
	case b == '\r':
		c.fresh = true
	case b == '\b':
		c.back()
	case b == escape:
		c.state, c.skipped = afterEscape, 0
	case b < utf8.RuneSelf:
		return p[c.controls(p):]
	case !utf8.FullRune(p):
		c.part = append(c.part[:0], p...)
		return nil
	default:
		return p[c.odd(p):]
	}
	return p[1:]
}

// controls shows the control characters at the beginning of p and returns their number. It writes to the line itself,
// since binary output is mostly this.
func (c *Cleaner) controls(p []byte) int {
	const hex = "0123456789abcdef"
	if c.fresh {
		c.fresh = false
		c.line = c.line[:0]
	}
	for i, b := range p {
		if !hidden[b] || b == '\r' || b == '\b' || b == escape {
			return i
		}
		if len(c.line) > c.limit-4 {
			c.Flush()
		}
		c.line = append(c.line, '\\', 'x', hex[b>>4], hex[b&15])
	}
	return len(p)
}

// hidden marks the control characters of ASCII except tab and line feed.
var hidden = func() (t [256]bool) {
	for b := range ' ' {
		t[b] = b != '\t' && b != '\n'
	}
	t[0x7f] = true
	return t
}()

// odd shows the character at the beginning of p, which is no plain text, and returns its length.
func (c *Cleaner) odd(p []byte) int {
	r, n := utf8.DecodeRune(p)
	if r == utf8.RuneError && n == 1 {
		c.put([]byte(string(r)))
	} else {
		c.put(fmt.Appendf(nil, `\u%04x`, r)) // C1 controls: some terminals obey them
	}
	return n
}

// complete goes on with a character whose beginning came in an earlier write.
func (c *Cleaner) complete(p []byte) []byte {
	had := len(c.part)
	whole := append(c.part, p[:min(len(p), utf8.UTFMax-had)]...)
	if !utf8.FullRune(whole) {
		c.part = whole
		return nil
	}
	n := plain(whole)
	if n == 0 {
		n = c.odd(whole)
	} else {
		_, n = utf8.DecodeRune(whole)
		c.put(whole[:n])
	}
	if n < had { // the beginning was no beginning; its next byte may be one
		c.part = append(c.part[:0], whole[n:had]...)
		return p
	}
	c.part = c.part[:0]
	return p[n-had:]
}

// plain returns the length of the longest prefix of p that is shown as it is, line feeds included.
func plain(p []byte) int {
	i := 0
	for i < len(p) {
		b := p[i]
		if b < utf8.RuneSelf {
			if hidden[b] {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(p[i:])
		if r < 0xa0 || r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return i
}

// put adds plain text to the line and hands on what is finished.
func (c *Cleaner) put(p []byte) {
	if c.fresh {
		c.fresh = false
		if p[0] != '\n' {
			c.line = c.line[:0]
		}
	}
	if end := bytes.LastIndexByte(p, '\n') + 1; end > 0 {
		c.Flush()
		c.emit(p[:end])
		p = p[end:]
	}
	for len(p) > 0 {
		k := min(c.limit-len(c.line), len(p))
		for k < len(p) && k > 0 && !utf8.RuneStart(p[k]) {
			k--
		}
		if k == 0 {
			c.Flush()
			continue
		}
		c.line = append(c.line, p[:k]...)
		p = p[k:]
	}
}

func (c *Cleaner) back() {
	if !c.fresh {
		_, n := utf8.DecodeLastRune(c.line)
		c.line = c.line[:len(c.line)-n]
	}
}

// skip consumes bytes of an escape sequence. A byte that cannot belong to the sequence ends it and is left to be read
// as text; so does a line feed, so that a sequence without an end hides no more than the rest of its line.
func (c *Cleaner) skip(p []byte) []byte {
	for i, b := range p {
		if c.skipped++; c.skipped > maxSkip {
			c.state = ground
		}
		keep := false
		switch c.state {
		case afterEscape:
			keep = c.begin(b)
		case inCSI:
			keep = b < ' ' || b > '~'
			if keep || b >= '@' {
				c.state = ground
			}
		case inShort:
			keep = b < ' ' || b > '~'
			if keep || b >= '0' {
				c.state = ground
			}
		case inString:
			keep = c.inside(b)
		case inStringEnd:
			c.state = ground
			if b != '\\' {
				c.state = afterEscape
				keep = true
			}
		}
		switch {
		case keep:
			return p[i:]
		case c.state == ground:
			return p[i+1:]
		}
	}
	return nil
}

// begin looks at the byte after ESC and says whether it is no part of a sequence.
func (c *Cleaner) begin(b byte) (keep bool) {
	switch {
	case b == '[':
		c.state = inCSI
	case b == ']', b == 'P', b == 'X', b == '^', b == '_':
		c.state = inString
	case b >= ' ' && b < '0':
		c.state = inShort
	case b == escape: // the second one counts
	case b < ' ', b > '~':
		c.state = ground
		return true
	default:
		c.state = ground
	}
	return false
}

// inside looks at a byte of a control string and says whether it ends the string without belonging to it.
func (c *Cleaner) inside(b byte) (keep bool) {
	switch b {
	case 0x07, 0x18, 0x1a: // BEL ends it, CAN and SUB abort it
		c.state = ground
	case escape:
		c.state = inStringEnd
	case '\n':
		c.state = ground
		return true
	}
	return false
}

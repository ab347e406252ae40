package search

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"ferrule/tools/internal/text"
)

var (
	errNotRegular = errors.New("not a regular file")
	errBinary     = errors.New("binary")
)

const binaryHead = 64 << 10 // a NUL in here makes a file binary

// sizes of buffers in bytes.
type sizes struct {
	first   int // what a worker begins with
	piece   int // what is read at once; most files are smaller
	longest int // a line, or a window for matches across lines
	history int // text kept for context lines before a match
}

var usual = sizes{first: 256 << 10, piece: 4 << 20, longest: 32 << 20, history: 1 << 20}

// source gives the view of one file as Read shows it — decoded, without byte-order mark, "\r\n" as "\n" — in pieces of
// bounded size that end at line ends. Small files, nearly all, are one piece and are not copied.
//
// UTF-8 is used as it is, stray bytes and all. The encoding is looked for only where there is a byte-order mark, a NUL
// or text that is not UTF-8, and if it is not sure the bytes are used as they are.
type source struct {
	buf   *buffers
	h     handle
	named bool // the user named the file: binary content is searched, too
	crlf  bool // leave "\r\n" as it is
	whole bool // matches may cross lines: make pieces as large as allowed

	raw      []byte // in buf.raw: what was read and not yet given out
	end      bool   // raw holds the file's last byte
	started  bool
	encoding string // "": as it is, unless a piece is not UTF-8
	width    int    // bytes of a code unit
	binary   bool   // the head holds a NUL
	big      bool   // holds buf.big
}

// buffers are one worker's; big is shared by all workers of a search, since only one of them may hold more than a piece.
type buffers struct {
	sizes
	raw  []byte
	view []byte
	big  chan struct{}
}

// piece is a part of the view.
type piece struct {
	text  []byte
	from  int  // text[:from] was given out before; it is there for context
	to    int  // matches that begin behind this are for the next piece
	drop  int  // how much of the last piece's beginning this one does not hold
	last  bool // the file ends here
	mid   bool // the piece begins within a line longer than any piece
	spill bool // the piece ends within such a line
}

func (b *buffers) open(h handle, q *Query) *source {
	if b.raw == nil {
		b.raw = make([]byte, 0, b.first)
	}
	return &source{buf: b, h: h, named: q.Single, crlf: q.Pattern.crlf, whole: q.Pattern.across, raw: b.raw[:0], width: 1}
}

// close gives back what a large file needed. The handle stays open.
func (s *source) close() {
	if s.big {
		s.buf.raw, s.buf.view, s.big = nil, nil, false
		<-s.buf.big
	}
}

// first returns the first piece. The error is errBinary for content that is not searched.
func (s *source) first() (piece, error) {
	t, spill, err := s.read()
	if err != nil {
		return piece{}, err
	}
	if s.end {
		return piece{text: t, to: len(t), last: true}, nil
	}
	s.buf.view = append(s.buf.view[:0], t...)
	return s.fill(piece{spill: spill})
}

// after returns the piece that follows p, if p is not the last. What lies before keep is done with; up to a megabyte of
// it stays for context, if context is set.
func (s *source) after(p piece, keep int, context bool) (piece, error) {
	next := piece{mid: p.spill && keep == len(p.text)}
	next.drop = keep
	if context {
		next.drop = max(0, keep-s.buf.history)
		if next.drop > 0 {
			next.drop += bytes.IndexByte(p.text[next.drop:keep], '\n') + 1
		}
	}
	next.from = keep - next.drop
	s.buf.view = append(s.buf.view[:0], p.text[next.drop:]...)
	if !s.whole {
		t, spill, err := s.read()
		if err != nil {
			return piece{}, err
		}
		s.buf.view = append(s.buf.view, t...)
		next.spill = spill
	}
	return s.fill(next)
}

// fill makes the window as large as allowed where matches may cross lines, and finishes p. A match in the last quarter
// of a window is left to the next one, which shows more of what follows it.
func (s *source) fill(p piece) (piece, error) {
	for s.whole && !s.end && len(s.buf.view) < s.buf.longest {
		s.lock()
		t, _, err := s.read()
		if err != nil {
			return piece{}, err
		}
		s.buf.view = append(s.buf.view, t...)
	}
	p.text = s.buf.view
	p.to = len(p.text)
	p.last = s.end && len(s.raw) == 0
	if s.whole && !p.last {
		p.to = max(p.from, len(p.text)-s.buf.longest/4)
		p.to += bytes.IndexByte(p.text[p.to:], '\n') + 1
	}
	return p, nil
}

// lock waits until no other worker works at a large file.
func (s *source) lock() {
	if !s.big {
		s.buf.big <- struct{}{}
		s.big = true
	}
}

// read returns the next part of the view, whole lines unless spill is set. It is valid until the next call.
func (s *source) read() (view []byte, spill bool, err error) {
	if err := s.refill(); err != nil {
		return nil, false, err
	}
	if !s.started {
		s.started = true
		if err := s.begin(); err != nil {
			return nil, false, err
		}
	}
	cut := len(s.raw)
	for !s.end {
		if cut = s.lineEnd(); cut > 0 {
			break
		}
		if cap(s.raw) >= s.buf.longest {
			cut, spill = s.wholeSymbols(), true
			break
		}
		s.lock()
		s.grow(min(s.buf.longest, 2*cap(s.raw)))
		if err := s.more(); err != nil {
			return nil, false, err
		}
		cut = len(s.raw)
	}
	part := s.raw[:cut]
	s.raw = s.raw[cut:]
	return s.decode(part), spill, nil
}

// refill moves what is left to the front of the buffer and reads on.
func (s *source) refill() error {
	if s.end {
		return nil
	}
	s.raw = append(s.buf.raw[:0], s.raw...)
	if want := min(s.h.size+1, int64(s.buf.piece)); int64(cap(s.raw)) < want || s.started && cap(s.raw) < s.buf.piece {
		s.grow(s.buf.piece)
	}
	return s.more()
}

func (s *source) grow(size int) {
	if size > cap(s.raw) {
		s.raw = append(make([]byte, 0, size), s.raw...)
		s.buf.raw = s.raw[:0]
	}
}

// more reads until the buffer is full or the file ends.
func (s *source) more() error {
	for len(s.raw) < cap(s.raw) {
		n, err := s.h.read(s.raw[len(s.raw):cap(s.raw)])
		s.raw = s.raw[:len(s.raw)+n]
		if err == io.EOF {
			s.end = true
			return nil
		}
		if err != nil {
			return err
		}
		if n > 0 && int64(len(s.raw)) == s.h.size && !s.started {
			s.end = true // a regular file that is as long as it said it was
			return nil
		}
		if len(s.raw) == cap(s.raw) && cap(s.raw) < s.buf.piece {
			s.grow(s.buf.piece) // the file is larger than it said
		}
	}
	return nil
}

// lineEnd returns the place behind the last line break in raw, 0 if there is none.
func (s *source) lineEnd() int {
	b := s.raw
	for {
		k := bytes.LastIndexByte(b, '\n')
		if k < 0 {
			return 0
		}
		if at := k - k%s.width; s.isBreak(s.raw[at:min(len(s.raw), at+s.width)]) {
			return at + s.width
		}
		b = b[:k]
	}
}

// isBreak reports whether a code unit is "\n", in either order of its bytes.
func (s *source) isBreak(unit []byte) bool {
	sum := 0
	for _, b := range unit {
		sum += int(b)
	}
	low := len(unit) - 1
	if strings.HasSuffix(s.encoding, "LE") || s.width == 1 {
		low = 0
	}
	return len(unit) == s.width && sum == '\n' && unit[low] == '\n'
}

// wholeSymbols returns the length of raw without a symbol that is cut at its end.
func (s *source) wholeSymbols() int {
	n := len(s.raw) - len(s.raw)%max(4, s.width)
	for k := n; s.width == 1 && k > n-utf8.UTFMax; k-- {
		if utf8.RuneStart(s.raw[k-1]) {
			if !utf8.FullRune(s.raw[k-1 : n]) {
				return k - 1
			}
			break
		}
	}
	return n
}

// byteOrderMarks by encoding. Each piece of such a file is decoded with the mark in front.
var byteOrderMarks = map[string]string{
	"UTF-8": "\xef\xbb\xbf", "UTF-16LE": "\xff\xfe", "UTF-16BE": "\xfe\xff", "UTF-32LE": "\xff\xfe\x00\x00", "UTF-32BE": "\x00\x00\xfe\xff",
}

// decode turns raw bytes into the view; it may change them.
func (s *source) decode(raw []byte) []byte {
	if s.width > 1 {
		return s.convert(append([]byte(byteOrderMarks[s.encoding]), raw...))
	}
	if !s.named {
		if k := bytes.IndexByte(raw, 0); k >= 0 { // a late NUL: the text ends here
			raw, s.raw, s.end = raw[:k], nil, true
		}
	}
	if !s.binary && (s.encoding != "" || !utf8.Valid(raw)) {
		if v := s.convert(raw); v != nil {
			return v
		}
	}
	if !s.crlf {
		raw = unixLines(raw)
	}
	return raw
}

// begin looks at the head of the file: byte-order mark, UTF-16 and UTF-32, binary content.
func (s *source) begin() error {
	if t, ok := bytes.CutPrefix(s.raw, []byte(byteOrderMarks["UTF-8"])); ok {
		s.raw = t
	}
	head := s.raw[:min(len(s.raw), binaryHead)]
	mark := bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))
	nul := bytes.IndexByte(head, 0) >= 0
	if !mark && !nul {
		return nil
	}
	switch name := text.Decode(bytes.Clone(head), "").Encoding(); name {
	case "UTF-16LE", "UTF-16BE":
		s.encoding, s.width = name, 2
	case "UTF-32LE", "UTF-32BE":
		s.encoding, s.width = name, 4
	default:
		s.binary = nul
		if nul && !s.named {
			return errBinary
		}
		return nil
	}
	s.raw = bytes.TrimPrefix(s.raw, []byte(byteOrderMarks[s.encoding]))
	return nil
}

// convert decodes raw from the file's encoding, which it finds out if need be; nil if there is none that is sure.
func (s *source) convert(raw []byte) []byte {
	f := text.Decode(bytes.Clone(raw), s.encoding)
	switch f.Encoding() {
	case "", "UTF-8":
		return nil
	}
	if s.encoding == "" {
		s.encoding = f.Encoding()
	}
	return []byte(f.View())
}

// unixLines turns "\r\n" into "\n", in place.
func unixLines(b []byte) []byte {
	k := bytes.Index(b, []byte("\r\n"))
	if k < 0 {
		return b
	}
	out, rest := b[:k], b[k+1:]
	for {
		k := bytes.Index(rest, []byte("\r\n"))
		if k < 0 {
			return append(out, rest...)
		}
		out = append(out, rest[:k]...)
		rest = rest[k+1:]
	}
}

package shell

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// A transcript keeps the beginning and the end of a cleaned text of any length: at most max characters, half of them
// from each end. A text of exactly max characters is kept whole.
//
// The end is a slice that may grow to twice its share before its front is dropped, so that a byte is moved once on
// average. A transcript is safe for concurrent use.
type transcript struct {
	max int

	mu        sync.Mutex // guards what follows
	head      []byte
	headChars int
	tail      []byte
	tailChars int
	lost      missing // between head and tail
	torn      bool    // the first line of tail has lost its beginning
	from      int     // stream of the last piece
	last      byte    // of everything written
}

// missing counts text that was left out.
type missing struct {
	Lines int64 // line feeds in it
	Bytes int64
}

func (m *missing) add(p []byte) {
	m.Lines += int64(bytes.Count(p, []byte{'\n'}))
	m.Bytes += int64(len(p))
}

// write appends a piece of the given stream. Where the stream changes in the middle of a line, a line feed keeps the
// two apart.
func (t *transcript) write(stream int, p []byte) {
	if len(p) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if stream != t.from && t.last != 0 && t.last != '\n' {
		t.add([]byte{'\n'})
	}
	t.from, t.last = stream, p[len(p)-1]
	t.add(p)
}

func (t *transcript) add(p []byte) {
	if room := t.max/2 - t.headChars; room > 0 {
		n, chars := prefix(p, room)
		t.head = append(t.head, p[:n]...)
		t.headChars += chars
		p = p[n:]
	}
	t.tail = append(t.tail, p...)
	t.tailChars += utf8.RuneCount(p)
	if share := t.max - t.max/2; t.tailChars > 2*share {
		t.trim(share)
	}
}

// trim drops the front of the tail so that chars characters stay.
func (t *transcript) trim(chars int) {
	if t.tailChars <= chars {
		return
	}
	n := len(t.tail)
	for range chars {
		if n--; t.tail[n] >= utf8.RuneSelf {
			_, k := utf8.DecodeLastRune(t.tail[:n+1])
			n -= k - 1
		}
	}
	t.lost.add(t.tail[:n])
	t.torn = t.tail[n-1] != '\n'
	t.tail = append(t.tail[:0], t.tail[n:]...)
	t.tailChars = chars
}

// prefix returns the length of the first n characters of p, or of all if there are fewer, and how many they are.
func prefix(p []byte, n int) (size, chars int) {
	for size < len(p) && chars < n {
		if p[size] < utf8.RuneSelf {
			size++
		} else {
			_, k := utf8.DecodeRune(p[size:])
			size += k
		}
		chars++
	}
	return size, chars
}

// take returns what was written since the last take and what of it is missing, and begins anew. The cut lies at the
// ends of lines unless that would cost more than half of a part, and never inside of a character.
func (t *transcript) take() (string, missing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trim(t.max - t.headChars)
	head, tail, lost := t.head, t.tail, t.lost
	defer func() {
		t.head, t.tail, t.headChars, t.tailChars = nil, nil, 0, 0
		t.lost, t.torn, t.last = missing{}, false, 0
	}()
	if lost.Bytes == 0 {
		return string(head) + string(tail), lost
	}
	if i := bytes.LastIndexByte(head, '\n') + 1; i >= len(head)/2 {
		lost.add(head[i:])
		head = head[:i]
	}
	if i := bytes.IndexByte(tail, '\n') + 1; t.torn && i > 0 && i <= len(tail)/2 {
		lost.add(tail[:i])
		tail = tail[i:]
	}
	var b strings.Builder
	b.Write(head)
	if len(head) > 0 && head[len(head)-1] != '\n' {
		b.WriteByte('\n')
	}
	b.WriteString(lost.String() + "\n")
	b.Write(tail)
	return b.String(), lost
}

func (m missing) String() string {
	switch m.Lines {
	case 0:
		return fmt.Sprintf("[... %d bytes left out ...]", m.Bytes)
	case 1:
		return fmt.Sprintf("[... 1 line (%d bytes) left out ...]", m.Bytes)
	}
	return fmt.Sprintf("[... %d lines (%d bytes) left out ...]", m.Lines, m.Bytes)
}

// lastLine returns the last line that is not blank, at most 200 bytes of it.
func (t *transcript) lastLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.tail
	if len(bytes.TrimSpace(p)) == 0 {
		p = t.head
	}
	p = bytes.TrimSpace(p)
	return clip(string(bytes.TrimSpace(p[bytes.LastIndexByte(p, '\n')+1:])), 200)
}

// clip returns s, or its first n bytes or a little less with a mark behind.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

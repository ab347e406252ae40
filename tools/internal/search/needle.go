package search

import "bytes"

// needle finds one literal.
type needle struct {
	text []byte // in lower case when fold
	fold bool
	rare int // offset of the rarest byte, where the search without case looks
}

func newNeedle(l literal) needle {
	n := needle{text: []byte(l.text), fold: l.fold}
	if !l.fold {
		return n
	}
	n.text = bytes.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r | 0x20
		}
		return r
	}, n.text)
	for i := range n.text {
		if n.cost(i) < n.cost(n.rare) {
			n.rare = i
		}
	}
	return n
}

// cost is the rate of the i-th byte in both cases.
func (n needle) cost(i int) int {
	b := n.text[i]
	c := int(frequency[b])
	if isLetter(b) {
		c += int(frequency[b^0x20])
	}
	return c
}

// index returns the first place of the needle in h, or -1.
func (n needle) index(h []byte) int {
	if !n.fold {
		return bytes.Index(h, n.text)
	}
	lower := n.text[n.rare]
	upper := lower
	if isLetter(lower) {
		upper ^= 0x20
	}
	// The next places of both cases; a place that the other case has not reached yet stays known.
	nextLower, nextUpper := -1, -1
	for pos := n.rare; ; pos++ {
		nextLower = nextByte(h, lower, nextLower, pos)
		if upper == lower {
			nextUpper = nextLower
		} else {
			nextUpper = nextByte(h, upper, nextUpper, pos)
		}
		pos = min(nextLower, nextUpper)
		start := pos - n.rare
		if start+len(n.text) > len(h) {
			return -1
		}
		if n.at(h[start:]) {
			return start
		}
	}
}

// nextByte returns the first place of c at or behind pos, len(h) if there is none. known is the answer to an earlier
// question, or -1.
func nextByte(h []byte, c byte, known, pos int) int {
	if known >= pos {
		return known
	}
	if pos >= len(h) {
		return len(h)
	}
	if k := bytes.IndexByte(h[pos:], c); k >= 0 {
		return pos + k
	}
	return len(h)
}

func (n needle) at(h []byte) bool {
	for i, c := range n.text {
		if b := h[i]; b != c && !(isLetter(c) && b|0x20 == c) {
			return false
		}
	}
	return true
}

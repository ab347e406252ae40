package search

import (
	"slices"
	"unicode/utf8"
	"unsafe"
)

// A program is a non-deterministic automaton over classes of symbols. The alphabet joins all symbols that no set of the
// pattern tells apart: a pattern has a few dozen classes, whatever Unicode holds, so that sets are small bit masks and
// the automaton of states (dfa.go) small tables. A class such as \w is one instruction here, where an automaton over
// bytes needs hundreds.

type instOp uint8

const (
	takeSet   instOp = iota // consumes one symbol of set, then a
	split                   // a, or else b
	assert                  // a, where look holds
	matchHere               // the end
	failHere                // nothing
)

type inst struct {
	op   instOp
	look look
	set  int32
	a, b int32
}

const maxProgram = 10 << 20 / int(unsafe.Sizeof(inst{})) // instructions: 10 MiB

type program struct {
	insts []inst
	start int32
	alpha *alphabet
	masks []mask // by inst.set
	needs flag   // the context that conditions look at
}

// mask is a set of symbol classes.
type mask []uint64

func (m mask) has(c uint16) bool { return m[c>>6]&(1<<(c&63)) != 0 }
func (m mask) add(c uint16)      { m[c>>6] |= 1 << (c & 63) }

// flag describes one symbol, or the place behind it.
type flag uint8

const (
	isBreak     flag = 1 << iota // a line break; as context: the start of a line, so of the text, too
	isWord                       // a word symbol by Unicode
	isASCIIWord                  // a word symbol by ASCII
	isEdge                       // no symbol but the end of the text; as context: its start
)

// alphabet maps symbols to classes. The class behind the last is the end of the text.
type alphabet struct {
	size   int         // number of classes, without the end
	bytes  [256]uint16 // class of an ASCII byte; wide for others
	bounds []rune      // class ids[i] holds for bounds[i] up to bounds[i+1]
	ids    []uint16
	pages  []int32 // by symbol>>7: the interval, if it covers the page whole, else -1-(the first one)
	flags  []flag  // by class, the end included
}

const wide = 0xffff

// class returns the class and the length of the first symbol of b, which is not empty.
func (a *alphabet) class(b []byte) (uint16, int) {
	if c := a.bytes[b[0]]; c != wide {
		return c, 1
	}
	r, n := symbol(b)
	return a.of(r), n
}

func (a *alphabet) of(r rune) uint16 {
	if r < utf8.RuneSelf {
		return a.bytes[r]
	}
	k := a.pages[r>>7]
	if k >= 0 {
		return a.ids[k]
	}
	lo, hi := int(-1-k), len(a.bounds)
	if int(r>>7)+1 < len(a.pages) {
		if next := a.pages[r>>7+1]; next >= 0 {
			hi = int(next) + 1
		} else {
			hi = int(-next)
		}
	}
	for lo+1 < hi {
		if m := (lo + hi) / 2; a.bounds[m] <= r {
			lo = m
		} else {
			hi = m
		}
	}
	return a.ids[lo]
}

func (a *alphabet) end() uint16 { return uint16(a.size) }

// newAlphabet finds the coarsest classes that keep the sets apart, and the masks of the sets.
func newAlphabet(sets []runes, needs flag) (*alphabet, []mask) {
	marks := map[flag]runes{isBreak: newline}
	if needs&isWord != 0 {
		marks[isWord] = wordRunes()
	}
	if needs&isASCIIWord != 0 {
		marks[isASCIIWord] = asciiWord
	}
	all := slices.Clone(sets)
	for _, rs := range marks {
		all = append(all, rs)
	}
	a := &alphabet{bounds: []rune{0}}
	for _, rs := range all {
		for i := 0; i+1 < len(rs); i += 2 {
			a.bounds = append(a.bounds, rs[i], rs[i+1]+1)
		}
	}
	slices.Sort(a.bounds)
	a.bounds = slices.Compact(a.bounds)
	a.refine(all)
	masks := make([]mask, len(sets))
	for i, rs := range sets {
		masks[i] = make(mask, a.size/64+1)
		for k := range a.covered(rs) {
			masks[i].add(a.ids[k])
		}
	}
	a.flags = make([]flag, a.size+1)
	a.flags[a.size] = isEdge
	for f, rs := range marks {
		for k := range a.covered(rs) {
			a.flags[a.ids[k]] |= f
		}
	}
	a.index()
	return a, masks
}

// covered yields the intervals that rs consists of.
func (a *alphabet) covered(rs runes) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i+1 < len(rs); i += 2 {
			k, _ := slices.BinarySearch(a.bounds, rs[i])
			for ; k < len(a.bounds) && a.bounds[k] <= rs[i+1]; k++ {
				if !yield(k) {
					return
				}
			}
		}
	}
}

// refine splits the one class of all intervals by each set, and numbers what is left.
func (a *alphabet) refine(sets []runes) {
	ids := make([]int, len(a.bounds))
	next := 1
	for _, rs := range sets {
		inside := map[int]int{}
		for k := range a.covered(rs) {
			id, ok := inside[ids[k]]
			if !ok {
				id, next = next, next+1
				inside[ids[k]] = id
			}
			ids[k] = id
		}
	}
	number := map[int]uint16{}
	a.ids = make([]uint16, len(ids))
	for k, id := range ids {
		n, ok := number[id]
		if !ok {
			n = uint16(len(number))
			number[id] = n
		}
		a.ids[k] = n
	}
	a.size = len(number)
}

// index fills the tables for bytes and pages.
func (a *alphabet) index() {
	a.pages = make([]int32, maxSymbol>>7+1)
	k := 0
	for page := range a.pages {
		first, last := rune(page)<<7, rune(page)<<7|0x7f
		for k+1 < len(a.bounds) && a.bounds[k+1] <= first {
			k++
		}
		if k+1 >= len(a.bounds) || a.bounds[k+1] > last {
			a.pages[page] = int32(k)
		} else {
			a.pages[page] = int32(-1 - k)
		}
	}
	k = 0
	for b := range a.bytes {
		if b >= utf8.RuneSelf {
			a.bytes[b] = wide
			continue
		}
		for k+1 < len(a.bounds) && a.bounds[k+1] <= rune(b) {
			k++
		}
		a.bytes[b] = a.ids[k]
	}
}

// maxClasses bounds the alphabet: with the end, a class number fits 16 bits and is never wide.
const maxClasses = wide - 1

// compiler turns nodes into a program, from the end to the start.
type compiler struct {
	insts []inst
	sets  []runes
	index map[string]int32
	lines bool // line by line: a text is a line
	crlf  bool // "\r" is visible to the pattern, so $ stands before "\r\n" as well
	needs flag
}

// compile returns nil when the program would be too large.
func compile(n *node, lines, crlf bool) *program {
	c := &compiler{index: map[string]int32{}, lines: lines, crlf: crlf}
	end := c.add(inst{op: matchHere})
	start := c.node(n, end)
	// An instruction that nothing leads back to: a state that holds only the start has no match under way.
	start = c.add(inst{op: split, a: start, b: start})
	if len(c.insts) > maxProgram || len(c.sets) > maxClasses/2 {
		return nil
	}
	alpha, masks := newAlphabet(c.sets, c.needs)
	return &program{insts: c.insts, start: start, alpha: alpha, masks: masks, needs: c.needs}
}

func (c *compiler) add(i inst) int32 {
	c.insts = append(c.insts, i)
	return int32(len(c.insts) - 1)
}

// either adds a split that prefers first, unless lazy.
func (c *compiler) either(first, second int32, lazy bool) int32 {
	if lazy {
		first, second = second, first
	}
	return c.add(inst{op: split, a: first, b: second})
}

// node compiles n in front of next and returns where it begins.
func (c *compiler) node(n *node, next int32) int32 {
	if len(c.insts) > maxProgram {
		return next
	}
	switch n.op {
	case opEmpty:
		return next
	case opSet:
		return c.set(n.set, next)
	case opCat:
		for _, s := range slices.Backward(n.subs) {
			next = c.node(s, next)
		}
		return next
	case opAlt:
		at := c.node(n.subs[len(n.subs)-1], next)
		for _, s := range slices.Backward(n.subs[:len(n.subs)-1]) {
			at = c.either(c.node(s, next), at, false)
		}
		return at
	case opRepeat:
		return c.repeat(n, next)
	}
	return c.assert(n.look, next)
}

func (c *compiler) set(rs runes, next int32) int32 {
	if len(rs) == 0 {
		return c.add(inst{op: failHere})
	}
	key := string(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(rs))), len(rs)*int(unsafe.Sizeof(rs[0]))))
	k, ok := c.index[key]
	if !ok {
		k = int32(len(c.sets))
		c.sets = append(c.sets, rs)
		c.index[key] = k
	}
	return c.add(inst{op: takeSet, set: k, a: next})
}

func (c *compiler) repeat(n *node, next int32) int32 {
	sub, least := n.subs[0], n.min
	switch {
	case n.max < 0:
		loop := c.either(0, next, n.lazy)
		body := c.node(sub, loop)
		if n.lazy {
			c.insts[loop].b = body
		} else {
			c.insts[loop].a = body
		}
		next = loop
		if least > 0 { // the loop holds the last round that must be
			next, least = body, least-1
		} else if sub.optional() { // (x+)?: an empty round must not outrank leaving
			next = c.either(body, c.insts[loop].leave(n.lazy), n.lazy)
		}
	default:
		after := next
		for range n.max - n.min {
			next = c.either(c.node(sub, next), after, n.lazy)
		}
	}
	for range least {
		next = c.node(sub, next)
	}
	return next
}

// leave is the way out of a loop.
func (i inst) leave(lazy bool) int32 {
	if lazy {
		return i.a
	}
	return i.b
}

func (c *compiler) assert(l look, next int32) int32 {
	if c.lines {
		switch l {
		case beginText:
			l = beginLine
		case endText:
			l = endLine
		}
	}
	switch {
	case l.word() && l&asciiLook != 0:
		c.needs |= isASCIIWord
	case l.word():
		c.needs |= isWord
	case l == beginLine:
		c.needs |= isBreak
	case l == beginText:
		c.needs |= isEdge
	}
	at := c.add(inst{op: assert, look: l, a: next})
	if l == endLine && c.crlf {
		at = c.either(at, c.set(runes{'\r', '\r'}, at), false)
	}
	return at
}

// holds reports whether l is true between a place with the context before and a symbol with the flags after.
func (l look) holds(before, after flag) bool {
	word := isWord
	if l&asciiLook != 0 {
		word = isASCIIWord
	}
	was, is := before&word != 0, after&word != 0
	switch l &^ asciiLook {
	case beginText:
		return before&isEdge != 0
	case endText:
		return after&isEdge != 0
	case beginLine:
		return before&isBreak != 0
	case endLine:
		return after&(isEdge|isBreak) != 0
	case wordEdge:
		return was != is
	case noWordEdge:
		return was == is
	case wordStart:
		return !was && is
	case wordEnd:
		return was && !is
	case wordStartHalf:
		return !was
	case wordEndHalf:
		return !is
	}
	return false
}

// context returns the flags of the place at pos in b.
func (p *program) context(b []byte, pos int) flag {
	if pos == 0 {
		return (isEdge | isBreak) & p.needs
	}
	if b[pos-1] < utf8.RuneSelf {
		return p.alpha.flags[p.alpha.bytes[b[pos-1]]] & p.needs
	}
	return p.alpha.flags[p.alpha.of(lastSymbol(b[:pos]))] & p.needs
}

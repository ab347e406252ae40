package search

// op is the kind of a syntax node.
type op uint8

const (
	opEmpty  op = iota
	opSet       // one symbol of set; an empty set matches nothing
	opCat       // subs, one after the other
	opAlt       // one of subs, the first preferred
	opRepeat    // subs[0], min to max times
	opAssert    // look, no width
)

// node is a parsed pattern. Groups leave no trace in it: nothing here needs captures.
type node struct {
	op       op
	set      runes
	subs     []*node
	min, max int // max < 0: no upper limit
	lazy     bool
	look     look
}

// look is a condition on a place between two symbols.
type look uint8

const (
	beginText look = iota
	endText
	beginLine
	endLine
	wordEdge
	noWordEdge
	wordStart
	wordEnd
	wordStartHalf        // no word symbol before
	wordEndHalf          // no word symbol after
	asciiLook     = 0x10 // added to one of the word conditions: only ASCII counts as word
)

func (l look) word() bool { return l&^asciiLook >= wordEdge }

// optional reports whether n can match the empty text.
func (n *node) optional() bool {
	switch n.op {
	case opSet:
		return false
	case opCat:
		for _, s := range n.subs {
			if !s.optional() {
				return false
			}
		}
	case opAlt:
		for _, s := range n.subs {
			if s.optional() {
				return true
			}
		}
		return false
	case opRepeat:
		return n.min == 0 || n.subs[0].optional()
	}
	return true
}

// size is how many instructions n compiles to at most; it does not exceed limit by more than a little.
func (n *node) size(limit int) int {
	switch n.op {
	case opCat, opAlt:
		sum := len(n.subs)
		for _, s := range n.subs {
			if sum += s.size(limit); sum > limit {
				break
			}
		}
		return sum
	case opRepeat:
		times := max(n.min, n.max) + 1
		one := n.subs[0].size(limit) + 1
		if one > limit/times {
			return limit + 1
		}
		return one * times
	}
	return 1
}

// each calls f on n and all nodes below it.
func (n *node) each(f func(*node)) {
	f(n)
	for _, s := range n.subs {
		s.each(f)
	}
}

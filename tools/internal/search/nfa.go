package search

// nfa runs a program thread by thread, all threads in step: exact, with bounded work per byte, and slow. It finds where
// a match lies; whether there is one is the business of the dfa, which hands over what it cannot do.
//
// Threads are kept in order of preference. When one reaches the end, those behind it are dropped, so what is left at the
// end is the match that a backtracking engine would find: the leftmost, and of those the preferred one.
type nfa struct {
	p     *program
	seen  []uint32 // by instruction: the round it was reached in
	round uint32
	stack []int32
	now   []thread
	next  []thread
	work  *budget
}

type thread struct {
	pc    int32
	start int // where its match begins
}

// budget counts steps and asks from time to time whether to go on.
type budget struct {
	left int
	ask  func() bool // true: stop; nil: never
	out  bool        // stopped: the answer is worth nothing
}

const workBetweenAsks = 1 << 18

func (b *budget) spend(n int) {
	if b.left -= n; b.left < 0 {
		b.left = workBetweenAsks
		b.out = b.out || b.ask != nil && b.ask()
	}
}

func newNFA(p *program, work *budget) *nfa {
	return &nfa{p: p, seen: make([]uint32, len(p.insts)), work: work}
}

// begin starts a round: nothing seen.
func (n *nfa) begin() {
	if n.round++; n.round == 0 {
		clear(n.seen)
		n.round = 1
	}
}

// closure follows splits and the conditions that hold from pc, in order of preference, calls take for each instruction
// that consumes, and reports whether the end is reached. It stops at the end unless all is set. What was reached earlier
// in this round is passed over.
func (n *nfa) closure(pc int32, before, after flag, all bool, take func(pc int32)) (ends bool) {
	st := append(n.stack[:0], pc)
	for len(st) > 0 {
		pc := st[len(st)-1]
		st = st[:len(st)-1]
		if n.seen[pc] == n.round {
			continue
		}
		n.seen[pc] = n.round
		switch in := &n.p.insts[pc]; in.op {
		case takeSet:
			take(pc)
		case split:
			st = append(st, in.b, in.a)
		case assert:
			if in.look.holds(before, after) {
				st = append(st, in.a)
			}
		case matchHere:
			ends = true
			if !all {
				n.stack = st
				return true
			}
		}
	}
	n.stack = st
	return ends
}

// find returns the leftmost match in b that begins at pos or behind. With first set it returns as soon as it is sure that
// there is a match, and the bounds are worth nothing.
func (n *nfa) find(b []byte, pos int, first bool) (start, end int, ok bool) {
	p := n.p
	n.now = n.now[:0]
	before := p.context(b, pos)
	for {
		class, size := p.alpha.end(), 0
		if pos < len(b) {
			class, size = p.alpha.class(b[pos:])
		}
		after := p.alpha.flags[class]
		if !ok {
			n.now = append(n.now, thread{p.start, pos})
		}
		n.begin()
		n.next = n.next[:0]
		for _, t := range n.now {
			if n.closure(t.pc, before, after, false, func(pc int32) {
				if in := &p.insts[pc]; p.masks[in.set].has(class) {
					n.next = append(n.next, thread{in.a, t.start})
				}
			}) {
				start, end, ok = t.start, pos, true
				break
			}
		}
		n.work.spend(len(n.now) + 1)
		if ok && (first || len(n.next) == 0) || pos >= len(b) || n.work.out {
			return start, end, ok && !n.work.out
		}
		n.now, n.next = n.next, n.now
		before = after & p.needs
		pos += size
	}
}

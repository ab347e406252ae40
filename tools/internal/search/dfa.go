package search

import (
	"encoding/binary"
	"slices"
)

// dfa answers one question at some hundred megabytes a second: where does the first match end? It is the automaton of
// sets of instructions, built while it runs, one for each worker.
//
// A state is the set of places that threads stand at before the next symbol, and what conditions have to know of the
// symbol before. The set always holds the start, since a match may begin anywhere. A transition is found in a table by
// state and symbol class; the end of the text is a class, too. That a match has ended is seen one symbol later, when the
// conditions behind it can be decided.
//
// The table is dropped when it gets large. Patterns such as (a|b)*a(a|b){14}c have 2^15 states, and building a state
// costs more than a step of simulation: when the table had to be dropped too often for the amount of text, it is kept as
// it is, and text that leaves it goes to the nfa (2.3 s → 0.12 s per MB).
type dfa struct {
	p      *program
	sim    *nfa
	stride int
	table  []uint32 // by state number + class: the next state's number, or one of the three below
	states []dfaState
	ids    map[string]uint32
	held   int // instructions in all states
	resets int
	text   int // bytes looked at
	next   []int32
	key    []byte
}

type dfaState struct {
	at     []int32
	before flag
}

// What stands in the table for no state. State numbers are multiples of stride, which is at least 3.
const (
	unbuilt = iota
	matched
	leftTable
)

const (
	maxStates = 4096
	maxTable  = 1 << 20 // entries: 4 MiB
	maxHeld   = 1 << 20
	fresh     = 16 // states 1 to 16 hold only the start, one for each context
)

func newDFA(p *program, sim *nfa) *dfa {
	d := &dfa{p: p, sim: sim, stride: max(3, p.alpha.size+1)}
	d.reset()
	return d
}

func (d *dfa) reset() {
	d.table = append(d.table[:0], make([]uint32, (fresh+1)*d.stride)...)
	d.states = append(d.states[:0], make([]dfaState, fresh+1)...)
	d.ids = map[string]uint32{}
	d.held = 0
	start := []int32{d.p.start}
	for i := range fresh {
		d.states[i+1] = dfaState{start, flag(i)}
	}
}

func (d *dfa) begin(before flag) uint32 { return uint32((int(before) + 1) * d.stride) }

// state returns the number of a state. at is sorted.
func (d *dfa) state(at []int32, before flag) uint32 {
	if len(at) == 1 && at[0] == d.p.start {
		return d.begin(before)
	}
	d.key = append(d.key[:0], byte(before))
	for _, x := range at {
		d.key = binary.LittleEndian.AppendUint32(d.key, uint32(x))
	}
	if id, ok := d.ids[string(d.key)]; ok {
		return id
	}
	id := uint32(len(d.states) * d.stride)
	d.states = append(d.states, dfaState{slices.Clone(at), before})
	d.table = append(d.table, make([]uint32, d.stride)...)
	d.ids[string(d.key)] = id
	d.held += len(at)
	return id
}

// step computes a missing transition. It may drop the table: s is of no use after it.
func (d *dfa) step(s uint32, class uint16) uint32 {
	st := d.states[int(s)/d.stride]
	if len(d.states) > maxStates || len(d.table) > maxTable || d.held > maxHeld {
		if d.resets > 3+d.text>>18 {
			return leftTable
		}
		d.reset()
		d.resets++
		s = d.state(st.at, st.before)
	}
	n, after := d.sim, d.p.alpha.flags[class]
	next := d.next[:0]
	ends := false
	n.begin()
	for _, pc := range st.at {
		ends = n.closure(pc, st.before, after, true, func(pc int32) {
			if in := &d.p.insts[pc]; d.p.masks[in.set].has(class) {
				next = append(next, in.a)
			}
		}) || ends
	}
	n.work.spend(len(st.at) + len(next) + d.stride)
	d.next = next
	r := uint32(matched)
	if !ends {
		next = append(next, d.p.start)
		slices.Sort(next)
		next = slices.Compact(next)
		r = d.state(next, after&d.p.needs)
		d.next = next
	}
	d.table[int(s)+int(class)] = r
	return r
}

// scan runs from pos to the first place where a match is known to end. found is false if there is none in b. left means
// that the table could not tell, from the place end on. No match begins before the place from.
func (d *dfa) scan(b []byte, pos int) (from, end int, found, left bool) {
	a, table, first, lastFresh := d.p.alpha, d.table, pos, uint32((fresh+1)*d.stride)
	s := d.begin(d.p.context(b, pos))
	from = pos
	i := pos
	for i < len(b) {
		c, size := a.bytes[b[i]], 1
		if c == wide {
			c, size = a.class(b[i:])
		}
		if s < lastFresh {
			from = i
		}
		t := table[int(s)+int(c)]
		if t <= leftTable {
			if t == unbuilt {
				t = d.step(s, c)
				table = d.table
			}
			if t <= leftTable {
				d.text += i - first
				return from, i, t == matched, t == leftTable
			}
		}
		s = t
		i += size
	}
	d.text += i - first
	if s < lastFresh {
		from = i
	}
	found, left = d.atEnd(s)
	return from, i, found, left
}

// atEnd tells whether a match ends at the end of the text, in state s.
func (d *dfa) atEnd(s uint32) (found, left bool) {
	t := d.table[int(s)+d.p.alpha.size]
	if t == unbuilt {
		t = d.step(s, d.p.alpha.end())
	}
	return t == matched, t == leftTable
}

// line finds the next line at or behind pos, a line's start, that holds a match. A pattern that is matched line by line
// has no "\n" in its sets, so the line break leads back to a state that holds only the start.
func (d *dfa) line(b []byte, pos int) (place int, found, left bool) {
	a, table, first := d.p.alpha, d.table, pos
	s := d.begin((isEdge | isBreak) & d.p.needs)
	i := pos
	for i < len(b) {
		c, size := a.bytes[b[i]], 1
		if c == wide {
			c, size = a.class(b[i:])
		}
		t := table[int(s)+int(c)]
		if t <= leftTable {
			if t == unbuilt {
				t = d.step(s, c)
				table = d.table
			}
			if t <= leftTable {
				d.text += i - first
				return i, t == matched, t == leftTable
			}
		}
		s = t
		i += size
	}
	d.text += i - first
	if len(b) == pos || b[len(b)-1] == '\n' {
		return i, false, false
	}
	found, left = d.atEnd(s)
	return i, found, left
}

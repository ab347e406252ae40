package search

import "bytes"

// scanner looks for a pattern in memory; one for each worker.
type scanner struct {
	p    *Pattern
	dfa  *dfa
	nfa  *nfa
	work *budget
	next []int // by needle: its next known place; -1 if not looked for yet
}

// newScanner makes a scanner that asks stop from time to time whether to give up; then what it reports is cut short.
func newScanner(p *Pattern, stop func() bool) *scanner {
	s := &scanner{p: p, work: &budget{left: workBetweenAsks, ask: stop}, next: make([]int, len(p.needles))}
	s.nfa = newNFA(p.prog, s.work)
	s.dfa = newDFA(p.prog, s.nfa)
	return s
}

// stopped reports whether the scanner gave up.
func (s *scanner) stopped() bool { return s.work.out }

// candidate returns the next place at or behind pos where a needle stands, or -1.
func (s *scanner) candidate(b []byte, pos int) int {
	best := -1
	for i, nd := range s.p.needles {
		if s.next[i] < pos {
			s.next[i] = len(b)
			if k := nd.index(b[pos:]); k >= 0 {
				s.next[i] = pos + k
			}
		}
		if s.next[i] < len(b) && (best < 0 || s.next[i] < best) {
			best = s.next[i]
		}
	}
	return best
}

func (s *scanner) forget() {
	for i := range s.next {
		s.next[i] = -1
	}
}

// lineAround returns the bounds of the line that holds the place i, without its "\n".
func lineAround(b []byte, i int) (start, end int) {
	start, end = bytes.LastIndexByte(b[:i], '\n')+1, len(b)
	if k := bytes.IndexByte(b[i:], '\n'); k >= 0 {
		end = i + k
	}
	return start, end
}

// lines calls f with the bounds of each matching line from pos on, a line's start, until f returns false. It is for
// patterns that do not cross lines.
func (s *scanner) lines(b []byte, pos int, f func(start, end int) bool) {
	s.forget()
	for pos < len(b) && !s.stopped() {
		place, found, left := 0, true, false
		if len(s.p.needles) > 0 {
			if place = s.candidate(b, pos); place < 0 {
				return
			}
		} else {
			place, found, left = s.dfa.line(b, pos)
		}
		if !found && !left {
			return
		}
		start, end := lineAround(b, place)
		switch {
		case left:
			found = s.simulated(b[start:end])
		case len(s.p.needles) > 0 && !s.p.exact:
			found = s.matches(b[start:end])
		}
		if found && !s.stopped() && !f(start, end) {
			return
		}
		pos = end + 1
	}
}

// matches reports whether a text, such as a line, holds a match.
func (s *scanner) matches(text []byte) bool {
	_, _, found, left := s.dfa.scan(text, 0)
	return found || left && s.simulated(text)
}

func (s *scanner) simulated(text []byte) bool {
	_, _, ok := s.nfa.find(text, 0, true)
	return ok
}

// find returns the first match in b that begins at pos or behind it.
func (s *scanner) find(b []byte, pos int) (start, end int, ok bool) {
	from, _, found, left := s.dfa.scan(b, pos)
	if !found && !left {
		return 0, 0, false
	}
	return s.nfa.find(b, from, false)
}

// matchesIn calls f with the bounds of each match from pos on, until f returns false. Matches do not overlap. Where a
// match is empty the next one begins a symbol later.
func (s *scanner) matchesIn(b []byte, pos int, f func(start, end int) bool) {
	for pos <= len(b) && !s.stopped() {
		start, end, ok := s.find(b, pos)
		if !ok || !f(start, end) {
			return
		}
		if pos = end; start == end {
			if pos == len(b) {
				return
			}
			_, n := symbol(b[pos:])
			pos += n
		}
	}
}

// spans calls f with each match that begins at from or behind it and before to, until f returns false. It is for
// patterns that cross lines. A match without text behind the last line break is none: there is no line.
func (s *scanner) spans(b []byte, from, to int, f func(start, end int) bool) {
	s.forget()
	if len(s.p.needles) > 0 && s.candidate(b, from) < 0 {
		return
	}
	s.matchesIn(b, from, func(start, end int) bool {
		if start >= to || start == len(b) && (start == 0 || b[start-1] == '\n') {
			return false
		}
		return f(start, end)
	})
}

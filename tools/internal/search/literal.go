package search

import (
	"slices"
	"unicode/utf8"
)

// literal is a text that matches must contain; fold compares ASCII letters without case.
type literal struct {
	text string
	fold bool
}

// literals is a group of which every match contains at least one member. exact means that the members are all that the
// pattern can match, so that finding one is a match.
type literals struct {
	group []literal
	exact bool
}

const (
	maxLiterals = 16
	goodLiteral = 250 // score below which looking for the group does not pay
)

// prefilter chooses what to look for in front of the automaton: the best required group; empty if none pays. Several
// needles are looked for one after the other, so few are wanted.
func prefilter(n *node) literals {
	g := required(n)
	if g == nil || g.score() < goodLiteral || len(g.group) > 8 {
		return literals{}
	}
	return *g
}

// score estimates how selective a group is: long and rare beats short and common, and the weakest member counts.
func (g *literals) score() int {
	if g == nil || len(g.group) == 0 {
		return -1
	}
	weakest := 1 << 30
	for _, l := range g.group {
		rarest := 1 << 30
		for i := range len(l.text) {
			rarest = min(rarest, int(frequency[l.text[i]]))
		}
		weakest = min(weakest, min(len(l.text), 8)*100+300-rarest/60)
	}
	return weakest - 40*(len(g.group)-1)
}

// required finds the best group of n, nil if there is none.
func required(n *node) *literals {
	if all, ok := enumerate(n); ok {
		return group(all)
	}
	switch n.op {
	case opRepeat:
		if n.min > 0 {
			return inexact(required(n.subs[0]))
		}
	case opCat:
		return requiredOfRun(n.subs)
	case opAlt:
		g := &literals{}
		for _, s := range n.subs {
			x := required(s)
			if x == nil || len(g.group)+len(x.group) > maxLiterals {
				return nil
			}
			g.group = append(g.group, x.group...)
		}
		return g
	}
	return nil
}

func inexact(g *literals) *literals {
	if g == nil {
		return nil
	}
	return &literals{group: g.group}
}

// requiredOfRun looks at each longest run of neighbours that can be enumerated together: runs of one text, which are
// long, and runs of few.
func requiredOfRun(subs []*node) *literals {
	best := bestRun(subs, maxLiterals, true)
	if one := bestRun(subs, 1, false); one.score() > best.score() {
		best = one
	}
	return best
}

// bestRun takes runs of at most so many texts. Items that cannot be enumerated are looked into only if deep is set.
func bestRun(subs []*node, most int, deep bool) *literals {
	var best *literals
	consider := func(g *literals) {
		if g.score() > best.score() {
			best = inexact(g)
		}
	}
	for i := 0; i < len(subs); {
		run := []literal{{}}
		j := i
		for ; j < len(subs); j++ {
			all, ok := enumerate(subs[j])
			if ok {
				all, ok = product(run, all)
			}
			if !ok || len(all) > most {
				break
			}
			run = all
		}
		if j == i {
			if deep {
				consider(required(subs[i]))
			}
			j++
		} else {
			consider(group(run))
		}
		i = j
	}
	return best
}

// group makes a group of texts, nil if one of them is empty.
func group(all []literal) *literals {
	if slices.ContainsFunc(all, func(l literal) bool { return l.text == "" }) {
		return nil
	}
	return &literals{group: all, exact: true}
}

// enumerate lists all that n can match when that is little. Conditions have no list: they are not exact.
func enumerate(n *node) ([]literal, bool) {
	switch n.op {
	case opEmpty:
		return []literal{{}}, true
	case opSet:
		return enumerateSet(n.set)
	case opAlt:
		var out []literal
		for _, s := range n.subs {
			all, ok := enumerate(s)
			if !ok || len(out)+len(all) > maxLiterals {
				return nil, false
			}
			out = append(out, all...)
		}
		return out, true
	case opCat:
		out := []literal{{}}
		for _, s := range n.subs {
			all, ok := enumerate(s)
			if ok {
				out, ok = product(out, all)
			}
			if !ok {
				return nil, false
			}
		}
		return out, true
	case opRepeat:
		if n.min != n.max || n.min > 64 {
			return nil, false
		}
		out := []literal{{}}
		all, ok := enumerate(n.subs[0])
		for range n.min {
			if ok {
				out, ok = product(out, all)
			}
		}
		return out, ok
	}
	return nil, false
}

// enumerateSet lists a set of up to four runes; a letter in both cases, and no third such as U+212A for k, is one
// literal without case.
func enumerateSet(rs runes) ([]literal, bool) {
	if len(rs) == 4 && rs[0] == rs[1] && rs[2] == rs[3] && rs[2] < utf8.RuneSelf && isLetter(byte(rs[0])) && rs[2] == rs[0]|0x20 && rs[0] != rs[2] {
		return []literal{{string(rs[2]), true}}, true
	}
	var out []literal
	for i := 0; i+1 < len(rs); i += 2 {
		for r := rs[i]; r <= rs[i+1]; r++ {
			if len(out) >= 4 || r == utf8.RuneError || !utf8.ValidRune(r) {
				return nil, false
			}
			out = append(out, literal{text: string(r)})
		}
	}
	return out, len(out) > 0
}

// product joins each of a with each of b. Texts with and without case join only if one of them has no letters.
func product(a, b []literal) ([]literal, bool) {
	if len(a)*len(b) > maxLiterals {
		return nil, false
	}
	var out []literal
	for _, x := range a {
		for _, y := range b {
			if x.fold && hasLetter(y.text) && !y.fold || y.fold && hasLetter(x.text) && !x.fold {
				return nil, false
			}
			if len(x.text)+len(y.text) > 1000 {
				return nil, false
			}
			out = append(out, literal{x.text + y.text, x.fold || y.fold})
		}
	}
	return out, true
}

func hasLetter(s string) bool {
	for i := range len(s) {
		if isLetter(s[i]) {
			return true
		}
	}
	return false
}

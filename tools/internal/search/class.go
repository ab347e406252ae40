package search

import "strings"

// class reads a bracketed class with its nested classes and its operations && -- ~~, which are of one rank and go from
// left to right; the [ stands here. The result has cases and negation applied.
func (p *parser) class() (runes, error) {
	open := p.pos
	if p.depth++; p.depth > maxNesting {
		return nil, p.fail(open, "write it flatter", "more than %d classes inside one another", maxNesting)
	}
	defer func() { p.depth-- }()
	p.pos++
	p.skip()
	negate := p.take("^")
	var s classSum
	p.skip()
	for p.at("-") {
		s.add(runes{'-', '-'})
		p.pos++
		p.skip()
	}
	if len(s.part) == 0 && p.at("]") {
		s.add(runes{']', ']'})
		p.pos++
	}
	for p.skip(); p.more(); p.skip() {
		switch {
		case p.take("]"):
			rs := p.cased(s.close(p))
			if negate {
				rs = negated(rs, !p.ascii)
			}
			return rs, nil
		case p.at("["):
			rs, err := p.inner()
			if err != nil {
				return nil, err
			}
			s.add(rs)
		case p.take("&&"):
			s.begin(p, '&')
		case p.take("--"):
			s.begin(p, '-')
		case p.take("~~"):
			s.begin(p, '~')
		default:
			rs, err := p.classItem(negate)
			if err != nil {
				return nil, err
			}
			s.add(rs)
		}
	}
	return nil, p.fail(open, "", "a class whose [ is never closed")
}

// classSum collects a class: what the operations so far made, the pending operation, and the operand being read.
type classSum struct {
	left runes
	op   byte // 0: none yet
	part runes
}

func (s *classSum) add(rs runes) { s.part = append(s.part, rs...) }

func (s *classSum) close(p *parser) runes {
	right := normal(s.part)
	if s.op == 0 {
		return right
	}
	left := p.cased(s.left)
	right = p.cased(right)
	switch s.op {
	case '&':
		return left.and(right)
	case '-':
		return left.minus(right)
	}
	return left.minus(right).union(right.minus(left))
}

func (s *classSum) begin(p *parser, op byte) {
	*s = classSum{left: s.close(p), op: op}
}

// inner reads [:alpha:] or a nested class.
func (p *parser) inner() (runes, error) {
	if p.at("[:") {
		rest := p.src[p.pos+2:]
		if k := strings.Index(rest, ":]"); k >= 0 {
			name, negate := strings.CutPrefix(rest[:k], "^")
			if rs, ok := posixClasses[name]; ok {
				p.pos += 2 + k + 2
				if negate {
					rs = negated(rs, !p.ascii)
				}
				return rs, nil
			}
		}
	}
	return p.class()
}

// classItem reads a character, a range or an escape class.
func (p *parser) classItem(negate bool) (runes, error) {
	start := p.pos
	lo, rs, err := p.classChar()
	if err != nil {
		return nil, err
	}
	p.skip()
	ranged := p.at("-") && !p.at("--")
	if ranged {
		save := p.pos
		p.pos++
		p.skip()
		if p.at("]") || !p.more() {
			p.pos, ranged = save, false
		}
	}
	if !ranged {
		if rs == nil {
			p.carriage = p.carriage || lo == '\r' && !negate
			rs = runes{lo, lo}
		}
		return rs, nil
	}
	hi, rs2, err := p.classChar()
	switch {
	case err != nil:
		return nil, err
	case rs != nil || rs2 != nil:
		return nil, p.fail(start, `write \- for a hyphen`, "the range %s, whose ends must be characters", p.src[start:p.pos])
	case hi < lo:
		return nil, p.fail(start, "", "the range %s, which runs backwards", p.src[start:p.pos])
	}
	return runes{lo, hi}, nil
}

func (p *parser) classChar() (rune, runes, error) {
	r, n := p.rune()
	if r != '\\' {
		p.pos += n
		return r, nil, nil
	}
	e, err := p.escape(true)
	return e.char, e.class, err
}

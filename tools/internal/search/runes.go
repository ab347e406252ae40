package search

import (
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// runes is a set of symbols as sorted, disjoint, inclusive ranges: lo, hi, lo, hi, …
//
// A symbol is a rune, or a byte that is no UTF-8: byte b is the symbol badByte+b. Unicode classes never hold bad bytes;
// classes under (?-u) do.
type runes []rune

const (
	badByte   = unicode.MaxRune + 1
	maxSymbol = badByte + 0xff
)

var (
	anyRune   = runes{0, unicode.MaxRune}
	anySymbol = runes{0, maxSymbol}
	asciiWord = runes{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}
	newline   = runes{'\n', '\n'}
)

// normal sorts ranges and joins those that touch.
func normal(rs runes) runes {
	pairs := make([][2]rune, 0, len(rs)/2)
	for i := 0; i+1 < len(rs); i += 2 {
		pairs = append(pairs, [2]rune{rs[i], rs[i+1]})
	}
	slices.SortFunc(pairs, func(a, b [2]rune) int { return int(a[0] - b[0]) })
	var out runes
	for _, p := range pairs {
		if n := len(out); n > 0 && p[0] <= out[n-1]+1 {
			out[n-1] = max(out[n-1], p[1])
			continue
		}
		out = append(out, p[0], p[1])
	}
	return out
}

func (rs runes) has(r rune) bool {
	i, found := slices.BinarySearch(rs, r)
	return found || i%2 == 1
}

func (rs runes) union(o runes) runes { return normal(slices.Concat(rs, o)) }

// not returns the symbols of all that are not in rs.
func (rs runes) not(all runes) runes {
	var out runes
	lo := all[0]
	for i := 0; i+1 < len(rs); i += 2 {
		if rs[i] > lo {
			out = append(out, lo, rs[i]-1)
		}
		lo = rs[i+1] + 1
	}
	if lo <= all[1] {
		out = append(out, lo, all[1])
	}
	return out
}

func (rs runes) and(o runes) runes {
	var out runes
	for i, j := 0, 0; i < len(rs) && j < len(o); {
		if lo, hi := max(rs[i], o[j]), min(rs[i+1], o[j+1]); lo <= hi {
			out = append(out, lo, hi)
		}
		if rs[i+1] < o[j+1] {
			i += 2
		} else {
			j += 2
		}
	}
	return out
}

func (rs runes) minus(o runes) runes {
	if len(o) == 0 {
		return rs
	}
	return rs.and(o.not(anySymbol))
}

func tableRunes(tables ...*unicode.RangeTable) runes {
	var rs runes
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			rs = append(rs, lo, hi)
			return
		}
		for r := lo; r <= hi; r += stride {
			rs = append(rs, r, r)
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return normal(rs)
}

// foldable lists all runes that have another case. Every one of them stands in unicode.CaseRanges, or another case of it
// does (ß).
var foldable = sync.OnceValue(func() []rune {
	var out []rune
	for _, c := range unicode.CaseRanges {
		for r := rune(c.Lo); r <= rune(c.Hi); r++ {
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				out = append(out, r, f)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
})

// fold adds the other cases of each member.
func (rs runes) fold(unicodeCase bool) runes {
	more := slices.Clone(rs)
	if !unicodeCase {
		for i := 0; i+1 < len(rs); i += 2 {
			for r := max(rs[i], 'A'); r <= min(rs[i+1], 'z'); r++ {
				if isLetter(byte(r)) {
					more = append(more, r^0x20, r^0x20)
				}
			}
		}
		return normal(more)
	}
	all := foldable()
	for i := 0; i+1 < len(rs); i += 2 {
		k, _ := slices.BinarySearch(all, rs[i])
		for ; k < len(all) && all[k] <= rs[i+1]; k++ {
			for f := unicode.SimpleFold(all[k]); f != all[k]; f = unicode.SimpleFold(f) {
				more = append(more, f, f)
			}
		}
	}
	return normal(more)
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// symbol decodes the first symbol of b, which is not empty.
func symbol(b []byte) (rune, int) {
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 {
		return badByte + rune(b[0]), 1
	}
	return r, n
}

// lastSymbol decodes the last symbol of b, which is not empty.
func lastSymbol(b []byte) rune {
	r, n := utf8.DecodeLastRune(b)
	if r == utf8.RuneError && n == 1 {
		return badByte + rune(b[len(b)-1])
	}
	return r
}

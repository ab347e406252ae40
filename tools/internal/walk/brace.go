package walk

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

var errTooMany = errors.New("stands for too many alternatives; write fewer braces")

// check reports what is wrong with a pattern and where, counted in characters from 1.
func check(p string) error {
	wrong := func(i int, what string) error {
		return fmt.Errorf("%q is malformed at character %d: %s", p, utf8.RuneCountInString(p[:i])+1, what)
	}
	switch {
	case strings.Trim(p, "/") == "":
		return fmt.Errorf("%q is empty; write ** for all files", p)
	case len(p) > maxPattern:
		return fmt.Errorf("of %d bytes is too long; %d are allowed", len(p), maxPattern)
	}
	var braces []int
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			if i++; i == len(p) {
				return wrong(i-1, `a lone \ at the end; write \\ for the character itself`)
			}
		case '[':
			_, n, err := globClass(p[i+1:])
			if err != nil {
				return wrong(i, err.Error())
			}
			i += n
		case '{':
			braces = append(braces, i)
		case '}':
			if len(braces) == 0 {
				return wrong(i, `} without {; write \} for the character itself`)
			}
			braces = braces[:len(braces)-1]
		}
	}
	if len(braces) > 0 {
		return wrong(braces[len(braces)-1], `{ is not closed; write \{ for the character itself`)
	}
	for seg := range strings.SplitSeq(p, "/") {
		if seg == ".." {
			return fmt.Errorf("%q has .. in it; give the directory to look in as path", p)
		}
	}
	return nil
}

// globClass reads a bracket expression from behind its [, and says how many bytes it takes with its ].
func globClass(p string) (*class, int, error) {
	c := &class{}
	i := 0
	char := func() (rune, bool) {
		if i < len(p) && p[i] == '\\' {
			i++
		}
		if i == len(p) || p[i] == '/' {
			return 0, false
		}
		r, w := utf8.DecodeRuneInString(p[i:])
		i += w
		return r, true
	}
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		c.negated = true
		i++
	}
	if i < len(p) && p[i] == ']' {
		return nil, 0, errors.New(`[] is an empty class; write \[ for the character itself`)
	}
	for i < len(p) && p[i] != ']' {
		lo, ok := char()
		if !ok {
			break
		}
		hi := lo
		if i+1 < len(p) && p[i] == '-' && p[i+1] != ']' {
			i++
			if hi, ok = char(); !ok {
				break
			}
		}
		if lo > hi {
			return nil, 0, fmt.Errorf("the range %s runs backwards", strings.Trim(strconv.Quote(string(lo)+"-"+string(hi)), `"`))
		}
		c.add(lo, hi)
	}
	if i == len(p) || p[i] != ']' {
		return nil, 0, errors.New(`[ is not closed; write \[ for the character itself`)
	}
	return c, i + 1, nil
}

// skip returns the index behind the character, escape or class at p[i].
func skip(p string, i int) int {
	switch p[i] {
	case '\\':
		return min(i+2, len(p))
	case '[':
		if _, n, err := globClass(p[i+1:]); err == nil {
			return i + 1 + n
		}
	}
	return i + 1
}

// expand returns the alternatives of a checked pattern, and the pattern itself when it has braces: a name that holds
// some is found by spelling it.
func expand(p string) ([]string, error) {
	left := maxAlternatives
	out, err := expandBraces(p, &left)
	if err == nil && (len(out) > 1 || out[0] != p) {
		out = append(out, p)
	}
	return out, err
}

// expandBraces makes at most *left strings in all.
func expandBraces(p string, left *int) ([]string, error) {
	at := 0
	for at < len(p) && p[at] != '{' {
		at = skip(p, at)
	}
	if at == len(p) {
		*left--
		if *left < 0 {
			return nil, errTooMany
		}
		return []string{p}, nil
	}
	members, end := group(p, at)
	tails, err := expandBraces(p[end:], left)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, m := range members {
		mids, err := expandBraces(m, left)
		if err != nil {
			return nil, err
		}
		if len(out)+len(mids)*len(tails) > maxAlternatives {
			return nil, errTooMany
		}
		for _, mid := range mids {
			for _, tail := range tails {
				out = append(out, p[:at]+mid+tail)
			}
		}
	}
	return out, nil
}

// group returns the members of the brace group that opens at p[at], and the index behind it.
func group(p string, at int) (members []string, end int) {
	depth, from := 0, at+1
	for i := at; i < len(p); {
		switch p[i] {
		case '{':
			depth++
		case ',':
			if depth == 1 {
				members = append(members, p[from:i])
				from = i + 1
			}
		case '}':
			if depth--; depth == 0 {
				return append(members, p[from:i]), i + 1
			}
		}
		i = skip(p, i)
	}
	return append(members, p[from:]), len(p)
}

// splitList cuts a list at commas and blanks that no brace, bracket or backslash holds.
func splitList(list string) []string {
	var out []string
	from, i := 0, 0
	cut := func(to int) {
		if to > from {
			out = append(out, list[from:to])
		}
	}
	for i < len(list) {
		switch c := list[i]; c {
		case '{':
			if _, end := group(list, i); end < len(list) || strings.HasSuffix(list, "}") {
				i = end
				continue
			}
		case ',', ' ', '\t', '\n', '\r':
			cut(i)
			from = i + 1
		}
		i = skip(list, i)
	}
	cut(len(list))
	return out
}

// squeeze drops blanks around the commas within braces: *.{ts, tsx} means *.{ts,tsx}.
func squeeze(p string) string {
	if !strings.Contains(p, "{") {
		return p
	}
	fields := strings.FieldsFunc(p, func(r rune) bool { return r == ' ' || r == '\t' })
	out := fields[0]
	for _, f := range fields[1:] {
		if strings.ContainsRune("{,", rune(out[len(out)-1])) || strings.ContainsRune(",}", rune(f[0])) {
			out += f
		} else {
			out += " " + f
		}
	}
	return out
}

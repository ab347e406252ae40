package notebook

import "strings"

// clean makes text that was written for a terminal readable: escape codes go
// away, and of a line that was written over and over, as progress bars do, only
// what stood there at last is left.
func clean(s string) string {
	if strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	s = strings.ReplaceAll(dropEscapes(s), "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(s))
	for line := range strings.Lines(s) {
		text, nl := strings.CutSuffix(line, "\n")
		if strings.IndexFunc(text, isControl) < 0 {
			b.WriteString(line)
			continue
		}
		b.WriteString(overwritten(text))
		if nl {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func isControl(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }

// overwritten is what a line shows in the end: a carriage return goes back to
// its beginning, a backspace one character.
func overwritten(s string) string {
	var line []rune
	at := 0
	for _, r := range s {
		switch {
		case r == '\r':
			at = 0
		case r == '\b':
			at = max(0, at-1)
		case isControl(r):
		case at < len(line):
			line[at] = r
			at++
		default:
			line = append(line, r)
			at++
		}
	}
	return strings.TrimRight(string(line), " ")
}

// dropEscapes removes the escape codes of terminals: CSI with its parameters,
// OSC and its like up to their end, others with the one byte that follows.
func dropEscapes(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "\x1b")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		s = rest[escapeLen(rest):]
	}
}

// escapeLen is the length of the escape code that s begins with, without the
// escape character.
func escapeLen(s string) int {
	if s == "" {
		return 0
	}
	switch s[0] {
	case '[':
		for i := 1; i < len(s); i++ {
			switch c := s[i]; {
			case c >= 0x40 && c < 0x7f:
				return i + 1
			case c < 0x20 || c >= 0x7f: // the code is broken off
				return i
			}
		}
		return len(s)
	case ']', 'P', '_', '^', 'X':
		end := strings.IndexAny(s, "\a\x1b\n")
		switch {
		case end < 0:
			return len(s)
		case s[end] == '\a':
			return end + 1
		case s[end] == '\n':
			return end
		}
		return min(end+2, len(s))
	case '(', ')', '#', '%':
		if len(s) > 1 && s[1] < 0x80 && s[1] != '\n' {
			return 2
		}
		return 1
	}
	if s[0] < 0x80 && s[0] >= 0x20 {
		return 1
	}
	return 0
}

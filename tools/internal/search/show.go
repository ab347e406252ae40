package search

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"
)

const maxShown = 500 // characters of a line

// appendLine writes a line for the model: control characters but tab as \x1b, bytes that are no text as U+FFFD, and of a
// long line only a window around the match at line[start:end], with its ends marked and the length of the line behind
// it. A line without match has start -1. what names the thing that was cut.
func appendLine(dst, line []byte, start, end int, what string) []byte {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) <= maxShown {
		return appendPlain(dst, line)
	}
	total := utf8.RuneCount(line)
	if total <= maxShown {
		return appendPlain(dst, line)
	}
	column, width := 0, 0
	if start >= 0 {
		start, end = min(start, len(line)), min(end, len(line))
		column = utf8.RuneCount(line[:start])
		width = utf8.RuneCount(line[start:end])
	}
	left := min(column-max(0, (maxShown-width)/2), total-maxShown)
	left = max(left, 0)
	from := skipRunes(line, left)
	to := from + skipRunes(line[from:], maxShown)
	if left > 0 {
		dst = append(dst, "…"...)
	}
	dst = appendPlain(dst, line[from:to])
	if to < len(line) {
		dst = append(dst, "…"...)
	}
	dst = fmt.Appendf(dst, " [%s of %s characters", what, thousands(total))
	if start >= 0 {
		dst = fmt.Appendf(dst, ", match at %s", thousands(column+1))
	}
	return append(dst, ']')
}

// skipRunes returns the place in b behind n symbols.
func skipRunes(b []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(b); n-- {
		_, size := symbol(b[at:])
		at += size
	}
	return at
}

func appendPlain(dst, b []byte) []byte {
	for len(b) > 0 {
		c := b[0]
		if c >= ' ' && c < 0x7f || c == '\t' {
			dst = append(dst, c)
			b = b[1:]
			continue
		}
		r, size := utf8.DecodeRune(b)
		if unicode.IsControl(r) {
			dst = fmt.Appendf(dst, `\x%02x`, r)
		} else {
			dst = utf8.AppendRune(dst, r)
		}
		b = b[size:]
	}
	return dst
}

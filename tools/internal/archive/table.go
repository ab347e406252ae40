package archive

import "strings"

// row writes a row of a Markdown table.
func row(b *strings.Builder, cells []string) {
	b.WriteByte('|')
	for _, c := range cells {
		b.WriteString(" " + c + " |")
	}
	b.WriteByte('\n')
}

// cell is a value as it can stand in a Markdown table: on one line, without a
// bar of its own, and short.
func cell(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	n := 0
	for i := range s {
		if n++; n > sampleChars {
			s = s[:i] + "…"
			break
		}
	}
	return strings.NewReplacer("|", `\|`, "\r\n", "⏎", "\n", "⏎", "\r", "⏎", "\x00", "␀").Replace(strings.TrimSpace(s))
}

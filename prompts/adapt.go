package prompts

import (
	"context"
	"io/fs"
	"slices"
	"strings"
)

// Adapt fits a Markdown text of ours to the tools that are offered, so that no
// text speaks of a tool that is not there. A line that ends in the comment
//
//	<!-- needs Read Edit -->
//
// is dropped unless all tools named are offered. Other comments, each within one
// line, are for people and are taken out; so are the empty lines that are too
// many afterwards.
func Adapt(text string, tools []string) string { return fit(parse(text), tools) }

// fromFile returns the text of an embedded file, fitted to the tools offered.
func fromFile(files fs.FS, path string) Text {
	b, err := fs.ReadFile(files, path)
	if err != nil {
		panic(err)
	}
	lines := parse(string(b))
	return func(_ context.Context, in Input) (string, error) { return fit(lines, in.Tools), nil }
}

// A line of a text, without its comments, and the tools that it needs.
type line struct {
	text  string
	needs []string
}

func parse(text string) []line {
	var lines []line
	for raw := range strings.Lines(text) {
		raw = strings.TrimRight(raw, "\r\n")
		l := line{text: raw}
		for {
			before, rest, open := strings.Cut(l.text, "<!--")
			comment, after, closed := strings.Cut(rest, "-->")
			if !open || !closed {
				break
			}
			l.text = strings.TrimRight(before, " \t") + after
			if fields := strings.Fields(comment); len(fields) > 0 && fields[0] == "needs" {
				l.needs = append(l.needs, fields[1:]...)
			}
		}
		if l.text != "" || raw == "" { // a line that was a comment alone is gone
			lines = append(lines, l)
		}
	}
	return lines
}

func fit(lines []line, tools []string) string {
	var b strings.Builder
	n := 0
	for _, l := range lines {
		n += len(l.text) + 1
	}
	b.Grow(n)
	empty := true // at the beginning, or after an empty line
	for _, l := range lines {
		missing := func(tool string) bool { return !slices.Contains(tools, tool) }
		if slices.ContainsFunc(l.needs, missing) || l.text == "" && empty {
			continue
		}
		empty = l.text == ""
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String())
}

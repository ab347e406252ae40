package prompts

import (
	"context"
	"embed"
	"regexp"
	"slices"
	"strings"
)

//go:embed sections/*.md
var sections embed.FS

// NewCode returns a root scope with the stock prompt of the profile code: who the
// model is, how it works, the environment, and the request's own text. Each
// section can be hidden or replaced by one of the same name in a scope over it:
// identity, code, file-reference, environment, additional-instructions. The
// variables cwd and model are there for sections of others.
func NewCode() *Scope {
	sc := NewRoot()
	for _, s := range []Section{
		{Name: "identity", Order: HarnessIdentity, Text: fromFile("identity.md"), From: "sections/identity.md"},
		{Name: "code", Order: codeRules, Text: fromFile("code.md"), From: "sections/code.md"},
		{Name: "file-reference", Order: fileReference, Text: fromFile("file-reference.md"), From: "sections/file-reference.md"},
		{Name: "environment", Order: environment, Text: environmentText, From: "facts", Literal: true},
		{Name: "additional-instructions", Order: additionalInstructions, Text: customText, From: "the request", Literal: true},
	} {
		stock(sc.Section(s))
	}
	stock(sc.Variable("cwd", func(_ context.Context, in Input) (string, bool, error) {
		return oneLine(in.Cwd), in.Cwd != "", nil
	}))
	stock(sc.Variable("model", func(_ context.Context, in Input) (string, bool, error) {
		return oneLine(in.Model), in.Model != "", nil
	}))
	return sc
}

// stock registers what is ours for good; an error is a mistake in this file.
func stock(_ func(), err error) {
	if err != nil {
		panic(err)
	}
}

// fromFile returns the text of an embedded file, fitted to the tools offered.
func fromFile(name string) Text {
	b, err := sections.ReadFile("sections/" + name)
	if err != nil {
		panic(err)
	}
	lines := parse(string(b))
	return func(_ context.Context, in Input) (string, error) { return fit(lines, in.Tools), nil }
}

// Adapt fits a Markdown text of ours to the tools that are offered, so that no
// text speaks of a tool that is not there. A line that ends in the comment
//
//	<!-- needs Read Edit -->
//
// is dropped unless all tools named are offered. Other comments, each within one
// line, are for people and are taken out; so are the empty lines that are too
// many afterwards.
func Adapt(text string, tools []string) string { return fit(parse(text), tools) }

// A line of a text, without its comments, and the tools that it needs.
type line struct {
	text  string
	needs []string
}

var comment = regexp.MustCompile(`[ \t]*<!--\s*(needs\s)?([^>]*?)\s*-->`)

func parse(text string) []line {
	var lines []line
	for raw := range strings.Lines(text) {
		raw = strings.TrimRight(raw, "\r\n")
		l := line{text: comment.ReplaceAllString(raw, "")}
		for _, m := range comment.FindAllStringSubmatch(raw, -1) {
			if m[1] != "" {
				l.needs = append(l.needs, strings.Fields(m[2])...)
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

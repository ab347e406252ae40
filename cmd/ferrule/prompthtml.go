package main

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"os"
	"strings"

	"ferrule/prompts"
)

//go:embed prompt.html
var pageText string

// The page of --html holds everything that it shows: it loads nothing and runs
// nothing.
var page = template.Must(template.New("prompt").Parse(pageText))

// A pagePart is a part with its colour.
type pagePart struct {
	shownPart
	Class  string
	Origin string
}

// writePage writes a prompt as a page with coloured blocks.
func writePage(out io.Writer, file, name string, p *prompts.Prompt) error {
	s := shownOf(name, p)
	data := struct {
		Profile, Title string
		Parts, Omitted []pagePart
		Tools          []shownTool
		Sums           []shownTool
	}{Profile: name, Title: "The prompt " + name, Tools: s.Tools}
	for i, x := range p.Parts() {
		class := x.Kind
		if x.Block > 0 {
			class = fmt.Sprintf("block%d", x.Block)
		}
		data.Parts = append(data.Parts, pagePart{s.Parts[i], class, x.Origin()})
	}
	for i, x := range p.Omitted {
		data.Omitted = append(data.Omitted, pagePart{s.Omitted[i], "", x.Origin()})
	}
	sum := func(name, text string) {
		x := prompts.Part{Text: text}
		data.Sums = append(data.Sums, shownTool{name, x.Characters(), x.Tokens()})
	}
	sum("system prompt", p.System())
	sum("contexts", p.Snapshot())
	var before, tools strings.Builder
	for _, x := range p.Attachments {
		before.WriteString(x.Text)
	}
	for _, t := range p.Tools {
		tools.WriteString(t.Name + t.Description + string(t.Input))
	}
	sum("before the first words", before.String())
	sum("tools", tools.String())
	var b strings.Builder
	if err := page.Execute(&b, data); err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "wrote %s\n", file)
	return err
}

package prompts

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// Explain describes p for people: one line for each part with its block, kind,
// order, size, name and contributor; then what is left out and why, and the sums.
func (p *Prompt) Explain() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "BLOCK\tKIND\tORDER\tCHARACTERS\t~TOKENS\tNAME\tFROM")
	for _, x := range p.Parts() {
		block := "-"
		if x.Block > 0 {
			block = fmt.Sprint(x.Block)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\t%s\n", block, x.Kind, x.Order, x.Characters(), x.Tokens(), x.Name, x.Origin())
	}
	w.Flush()
	if len(p.Omitted) > 0 {
		b.WriteString("\nRegistered, and not in the prompt:\n")
		for _, x := range p.Omitted {
			fmt.Fprintf(w, "  %s\t%d\t%s\t%s\t%s\n", x.Kind, x.Order, x.Name, x.Origin(), x.Omitted)
		}
		w.Flush()
	}
	fmt.Fprintf(&b, "\nSystem prompt: %s in %d blocks", size(p.System()), len(p.Blocks()))
	var after []string
	for _, s := range p.Sections {
		if s.Cache {
			after = append(after, fmt.Sprint(s.Block))
		}
	}
	if after != nil {
		fmt.Fprintf(&b, "; cache breakpoints after block %s", strings.Join(after, " and "))
	}
	fmt.Fprintf(&b, ".\nContexts, as one message: %s. Before the first words: %s. ", size(p.Snapshot()), size(join(p.Attachments)))
	var tools strings.Builder
	for _, t := range p.Tools {
		tools.WriteString(t.Name + t.Description + string(t.Input))
	}
	fmt.Fprintf(&b, "Tools: %d, %s.\n", len(p.Tools), size(tools.String()))
	return b.String()
}

func size(text string) string {
	return fmt.Sprintf("%d characters (~%d tokens)", utf8.RuneCountInString(text), tokens(text))
}

// Origin says for people where a part comes from, what it hides, and which
// variables are in it.
func (p Part) Origin() string {
	s := p.From
	if p.Scope != "" {
		s = strings.TrimSpace(s + " (" + p.Scope + ")")
	}
	if p.Hides != "" {
		s += ", hides the one of " + p.Hides
	}
	if len(p.Uses) > 0 {
		s += ", with " + strings.Join(slices.Sorted(slices.Values(p.Uses)), ", ")
	}
	if p.Complete {
		s += ", complete"
	}
	return s
}

// Characters is the length of the part's text in characters.
func (p Part) Characters() int { return utf8.RuneCountInString(p.Text) }

// Tokens estimates how many tokens the part's text takes. No tokenizer is at
// hand; DeepSeek gives 0.3 for an English and 0.6 for a Chinese character.
func (p Part) Tokens() int { return tokens(p.Text) }

func tokens(text string) int {
	ascii, other := 0, 0
	for _, r := range text {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			other++
		}
	}
	return (ascii*3 + other*6 + 9) / 10
}

package prompts

import (
	"fmt"
	"strings"
	"testing"
)

// The stock prompt for coding with given facts, from the scope to all its texts.
func BenchmarkCode(b *testing.B) {
	sc, f := must(New(Code)), withTools(facts(), allTools...)
	for b.Loop() {
		a, err := sc.Assemble(b.Context(), Input{Facts: f})
		if err != nil {
			b.Fatal(err)
		}
		p, err := a.Render()
		if err != nil || len(p.Blocks()) != 3 || len(p.Attachments) != 2 {
			b.Fatal(err)
		}
	}
}

// Thirty sections of 400 bytes, five contexts, one layer over them.
func BenchmarkMechanism(b *testing.B) {
	g := NewRoot()
	text := strings.Repeat("A sentence about what holds. ", 14)
	for i := range 30 {
		section(g, fmt.Sprint("section", i), i*10, text)
	}
	for i := range 5 {
		must(g.Context(Context{Name: fmt.Sprint("context", i), Order: i, Text: Static(text)}))
	}
	sub := g.New("sub")
	section(sub, "section7", 70, "mine")
	for b.Loop() {
		if must(rendered(sub)).System() == "" {
			b.Fatal("empty")
		}
	}
}

// The scope of a stock prompt, which is made for each prompt that is asked for.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		must(New(Code))
	}
}

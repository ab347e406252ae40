package prompts

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// explained is a prompt of which every kind of line can be seen.
func explained(t *testing.T) *Prompt {
	t.Helper()
	g := must(New(Code))
	g.Tools(func(context.Context, Input) (Toolset, error) {
		return Toolset{Schemas: []Schema{{Name: "Read", Description: "Shows a file.", Input: []byte(`{"type":"object"}`)}}}, nil
	})
	must(g.Variable("nothing", value("", true, nil)))
	sub := g.New("session")
	must(sub.Section(Section{Name: "identity", Order: HarnessIdentity, Text: Static("You are {{model}} on {{provider}}, {{model}}."), From: "--identity"}))
	must(sub.Section(Section{Name: "hidden", Order: toolNotes, Text: Static("x"), From: "a plugin"}))
	must(sub.Section(Section{Name: "hollow", Order: toolNotes, Text: Static("{{nothing}}"), From: "a plugin"}))
	must(sub.Section(Section{Name: "file-reference", Order: fileReference, Text: Static(""), From: "--no-reference"}))
	must(sub.Context(Context{Name: "plan", Order: PlanState, Text: Static("Plan mode is on."), From: "the loop"}))
	must(sub.Context(Context{Name: "tasks", Order: Tasks, Text: Static(""), From: "the loop"}))
	sub.Waterfall(func(ctx context.Context, a *Assembly, next Next) (*Assembly, error) {
		a.Sections = slices.DeleteFunc(a.Sections, func(p Part) bool { return p.Name == "hidden" })
		return next(ctx, a)
	})
	a := must(sub.Assemble(t.Context(), Input{Facts: facts(), Provider: "deepseek"}))
	return must(a.Render())
}

func TestExplain(t *testing.T) {
	golden(t, "explain", explained(t).Explain())
}

// Whatever was registered is in the prompt, or named with the reason why not.
func TestOmitted(t *testing.T) {
	reasons := func(sc *Scope) string {
		a := must(sc.Assemble(t.Context(), Input{}))
		var out []string
		for _, p := range must(a.Render()).Omitted {
			if !strings.HasPrefix(p.Name, "deployment:") {
				out = append(out, p.Kind+" "+p.Name+": "+p.Omitted)
			}
		}
		return strings.Join(out, "; ")
	}
	g := NewRoot()
	section(g, "a", 1, "A")
	section(g, "e", 2, " ")
	must(g.Context(Context{Name: "c", Text: Static("C")}))
	if got := reasons(g); got != "section e: it is empty" {
		t.Errorf("got %s", got)
	}
	sub := g.New("sub")
	release := sub.SuppressRuntimeContext()
	if got := reasons(sub); got != "section e: it is empty; context c: runtime contexts are suppressed" {
		t.Errorf("got %s", got)
	}
	release()
	withdraw := must(sub.Section(Section{Name: "w", Complete: true, Text: Static("W")}))
	if got := reasons(sub); got != "section a: the complete section w takes its place; section e: it is empty" {
		t.Errorf("got %s", got)
	}
	withdraw()
	sub.Waterfall(func(context.Context, *Assembly, Next) (*Assembly, error) { return new(Assembly), nil })
	if got := reasons(sub); got != "section a: a stage took it out; section e: it is empty; context c: a stage took it out" {
		t.Errorf("got %s", got)
	}
	p := explained(t)
	var names []string
	for _, x := range p.Omitted {
		if x.Omitted == "" {
			t.Errorf("%s is left out without a reason", x.Name)
		}
		names = append(names, x.Name)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "deployment:persona-prefix deployment:persona-suffix environment-changes file-reference hidden hollow tasks" {
		t.Errorf("left out: %s", got)
	}
	if got := p.Sections[0]; !slices.Equal(got.Uses, []string{"model", "provider"}) || got.Hides != "global" || got.Scope != "session" {
		t.Errorf("got %+v", got)
	}
}

func TestTokens(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "0123456789": 3, "你好世界你好世界你好": 6, "abcdefghij你好世界你": 6} {
		if got := (Part{Text: text}).Tokens(); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
	if got := (Part{Text: "你好a"}).Characters(); got != 3 {
		t.Errorf("got %d", got)
	}
}

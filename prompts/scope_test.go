package prompts

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func second[T any](_ T, err error) error { return err }

func section(sc *Scope, name string, order int, text string) func() {
	return must(sc.Section(Section{Name: name, Order: order, Text: Static(text)}))
}

func rendered(sc *Scope) (*Prompt, error) {
	a, err := sc.Assemble(context.Background(), Input{Facts: Facts{Cwd: "/w"}})
	if err != nil {
		return nil, err
	}
	return a.Render()
}

func system(t *testing.T, sc *Scope) string {
	t.Helper()
	p, err := rendered(sc)
	if err != nil {
		t.Fatal(err)
	}
	return p.System()
}

func wantSystem(t *testing.T, sc *Scope, want string) {
	t.Helper()
	if got := system(t, sc); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func value(s string, ok bool, err error) Variable {
	return func(context.Context, Input) (string, bool, error) { return s, ok, err }
}

func TestOrderAndHiding(t *testing.T) {
	g := NewRoot()
	section(g, "b", 1, " in {{cwd}}\n")
	section(g, "a", 1, "A")
	must(g.Variable("cwd", func(_ context.Context, in Input) (string, bool, error) { return in.Cwd, true, nil }))
	sub := g.New("sub")
	wantSystem(t, g, "A\n\nin /w")
	withdraw := section(sub, "a", 9, "mine")
	wantSystem(t, sub, "in /w\n\nmine") // the inner entry brings its own order
	wantSystem(t, g, "A\n\nin /w")
	withdraw()
	wantSystem(t, sub, "A\n\nin /w")
	section(sub, "a", 0, "again")
	withdraw() // a second call withdraws nothing, least of all the new one
	wantSystem(t, sub, "again\n\nin /w")
	hide := section(sub.New("leaf"), "a", 1, " \n")
	hide()
	leaf := sub.New("leaf")
	section(leaf, "a", 1, " \n")
	wantSystem(t, leaf, "in /w") // an empty text hides
	section(leaf, PersonaPrefix, DeploymentPersonaPrefix, "You are terse.")
	section(leaf, PersonaSuffix, DeploymentPersonaSuffix, "Remember it.")
	wantSystem(t, leaf, "You are terse.\n\nin /w\n\nRemember it.")
	wantSystem(t, g, "A\n\nin /w")
	for _, part := range must(leaf.Assemble(t.Context(), Input{})).Sections {
		if part.Name == PersonaPrefix && (part.Scope != "leaf" || part.Hides != "global") {
			t.Errorf("part %+v does not say where it is from and what it hides", part)
		}
	}
}

func TestHidingOfVariablesAndContexts(t *testing.T) {
	g := NewRoot()
	section(g, "s", 1, "{{v}}")
	must(g.Variable("v", value("outer", true, nil)))
	must(g.Context(Context{Name: "c", Order: 1, Text: Static("outer {{v}}")}))
	sub := g.New("sub")
	withdraw := must(sub.Variable("v", value("inner", true, nil)))
	must(sub.Context(Context{Name: "c", Order: 1, Text: Static("{{v}}"), Literal: true}))
	p := must(rendered(sub))
	if p.System() != "inner" || p.Contexts[0].Text != "{{v}}" {
		t.Errorf("got %q and %q", p.System(), p.Contexts[0].Text)
	}
	withdraw()
	wantSystem(t, sub, "outer")
	must(sub.Variable("v", value("", false, nil))) // hides, and has no value
	if _, err := rendered(sub); err == nil {
		t.Error("a hidden variable still has its outer value")
	}
	if p := must(rendered(g)); p.Contexts[0].Text != "outer outer" {
		t.Errorf("got %q", p.Contexts[0].Text)
	}
}

func TestTies(t *testing.T) {
	g := NewRoot()
	// By UTF-16 code unit U+1F600 (D83D DE00) stands before U+FF21; by byte after.
	section(g, "\uff21", 1, "2")
	section(g, "\U0001f600", 1, "1")
	section(g, "Z", 1, "0")
	section(g, "z", -1, "first")
	wantSystem(t, g, "first\n\n0\n\n1\n\n2")
}

func TestRefusals(t *testing.T) {
	g := NewRoot()
	section(g, "a", 1, "A")
	must(g.Context(Context{Name: "a", Text: Static("")})) // another kind, another name
	must(g.Variable("a", value("", true, nil)))
	for what, err := range map[string]error{
		"same section":     second(g.Section(Section{Name: "a", Text: Static("")})),
		"same context":     second(g.Context(Context{Name: "a", Text: Static("")})),
		"same variable":    second(g.Variable("a", value("", true, nil))),
		"no name":          second(g.Section(Section{Text: Static("")})),
		"no context name":  second(g.Context(Context{Text: Static("")})),
		"no text":          second(g.Section(Section{Name: "n"})),
		"no context text":  second(g.Context(Context{Name: "n"})),
		"no variable":      second(g.Variable("n", nil)),
		"slot of the root": second(g.Section(Section{Name: PersonaSuffix, Text: Static("")})),
		"capital":          second(g.Variable("Dir", value("", true, nil))),
		"digit":            second(g.Variable("1dir", value("", true, nil))),
		"newline":          second(g.Variable("dir\n", value("", true, nil))),
		"position":         second(SectionOrder("CODE_RULE")),
		"no marker":        g.OrderTools([]string{"Read"}),
		"no marker at all": g.OrderTools(nil),
		"twice":            g.OrderTools([]string{"Read", UnlistedTools, "Read"}),
		"two markers":      g.OrderTools([]string{UnlistedTools, UnlistedTools}),
	} {
		if err == nil {
			t.Errorf("%s: want an error", what)
		}
	}
}

func TestComplete(t *testing.T) {
	g := NewRoot()
	section(g, "a", 1, "A")
	must(g.Variable("v", value("value", true, nil)))
	must(g.Context(Context{Name: "c", Text: Static("kept")}))
	g.Tools(func(context.Context, Input) (Toolset, error) { return Toolset{Schemas: []Schema{{Name: "T"}}}, nil })
	sub := g.New("sub")
	ran := false
	stop := sub.Waterfall(func(ctx context.Context, a *Assembly, next Next) (*Assembly, error) {
		ran = true
		for i := range a.Sections {
			a.Sections[i].Text = "changed"
		}
		a.Sections = append(a.Sections, Part{Name: "late", Text: "late"})
		return next(ctx, a)
	})
	wantSystem(t, sub, "changed\n\nlate")
	whole := must(sub.Section(Section{Name: "whole", Complete: true, Text: Static("only {{v}}")}))
	ran = false
	p := must(rendered(sub))
	if p.System() != "only value" || !ran || len(p.Contexts) != 1 || len(p.Tools) != 1 || len(p.Blocks()) != 1 {
		t.Errorf("got %q, stages ran: %v, contexts %v, tools %v, blocks %q", p.System(), ran, p.Contexts, p.Tools, p.Blocks())
	}
	wantSystem(t, g, "A") // a scope further out does not see it
	other := must(g.Section(Section{Name: "other", Complete: true, Text: Static("too")}))
	if _, err := rendered(sub); err == nil || !strings.Contains(err.Error(), "other and whole") {
		t.Errorf("two complete sections: %v", err)
	}
	whole()
	stop()
	withdraw := section(sub, "other", 2, "ordinary")
	wantSystem(t, sub, "A\n\nordinary") // hidden by an ordinary one, it is none
	withdraw()
	wantSystem(t, sub, "too")
	other()
	must(sub.Section(Section{Name: "empty", Complete: true, Text: Static("\n")}))
	wantSystem(t, sub, "A") // an empty part is no part
}

func TestWaterfall(t *testing.T) {
	g := NewRoot()
	var log []string
	stage := func(name string, pass bool) Stage {
		return func(ctx context.Context, a *Assembly, next Next) (*Assembly, error) {
			log = append(log, name)
			if !pass {
				return &Assembly{Sections: []Part{{Name: "veto", Text: "veto"}}}, nil
			}
			a, err := next(ctx, a)
			log = append(log, "/"+name)
			return a, err
		}
	}
	sub := g.New("sub")
	sub.Waterfall(stage("inner", true))
	g.Waterfall(stage("outer", true))
	g.Waterfall(stage("second", true))
	g.New("other").Waterfall(stage("other", true))
	check := func(system, order string) {
		t.Helper()
		log = nil
		wantSystem(t, sub, system)
		if got := strings.Join(log, " "); got != order {
			t.Errorf("got %s, want %s", got, order)
		}
	}
	check("", "outer second inner /inner /second /outer")
	stop := g.Waterfall(stage("veto", false))
	check("veto", "outer second veto /second /outer")
	stop()
	check("", "outer second inner /inner /second /outer")
	for name, bad := range map[string]Stage{
		"returns nothing": func(context.Context, *Assembly, Next) (*Assembly, error) { return nil, nil },
		"hands on nothing": func(ctx context.Context, _ *Assembly, next Next) (*Assembly, error) {
			return next(ctx, nil)
		},
		"fails": func(context.Context, *Assembly, Next) (*Assembly, error) { return nil, errors.New("no") },
	} {
		stop := sub.Waterfall(bad)
		if _, err := rendered(sub); err == nil {
			t.Errorf("a stage that %s: want an error", name)
		}
		stop()
	}
}

func TestSuppress(t *testing.T) {
	g := NewRoot()
	computed := 0
	must(g.Context(Context{Name: "time", Text: func(context.Context, Input) (string, error) { computed++; return "noon", nil }}))
	sub := g.New("sub")
	leaf := sub.New("leaf")
	sub.Waterfall(func(ctx context.Context, a *Assembly, next Next) (*Assembly, error) {
		a.Contexts = append(a.Contexts, Part{Name: "late", Text: "late"})
		return next(ctx, a)
	})
	contexts := func(sc *Scope, want int) {
		t.Helper()
		if p := must(rendered(sc)); len(p.Contexts) != want {
			t.Errorf("got %v, want %d", p.Contexts, want)
		}
	}
	one, two := sub.SuppressRuntimeContext(), sub.SuppressRuntimeContext()
	contexts(sub, 0)
	contexts(leaf, 0)
	if computed != 0 {
		t.Error("a suppressed context was computed")
	}
	contexts(g, 1)
	one()
	one()
	contexts(sub, 0)
	two()
	contexts(sub, 2)
	leaf.SuppressRuntimeContext()
	contexts(leaf, 0)
	contexts(sub, 2)
}

func TestErrors(t *testing.T) {
	bad := errors.New("bad")
	fails := func(context.Context, Input) (string, error) { return "", bad }
	for part, register := range map[string]func(*Scope){
		"variable v": func(g *Scope) { must(g.Variable("v", value("", false, bad))) },
		"section s":  func(g *Scope) { must(g.Section(Section{Name: "s", Text: fails})) },
		"context c":  func(g *Scope) { must(g.Context(Context{Name: "c", Text: fails})) },
		"tools": func(g *Scope) {
			g.Tools(func(context.Context, Input) (Toolset, error) { return Toolset{}, bad })
		},
	} {
		g := NewRoot()
		register(g)
		// A complete section makes the part unused, and does not hide its error.
		must(g.Section(Section{Name: "whole", Complete: true, Text: Static("only")}))
		if _, err := rendered(g); !errors.Is(err, bad) || !strings.HasPrefix(err.Error(), part) {
			t.Errorf("%s: got %v", part, err)
		}
	}
}

func toolNames(tools []Schema) string {
	var names []string
	for _, s := range tools {
		names = append(names, s.Name+s.Description)
	}
	return strings.Join(names, " ")
}

func TestTools(t *testing.T) {
	provide := func(sc *Scope, known []string, tools ...Schema) func() {
		return sc.Tools(func(context.Context, Input) (Toolset, error) { return Toolset{tools, known}, nil })
	}
	g := NewRoot()
	input := []byte(`{}`)
	provide(g, []string{"Bash"}, Schema{Name: "Write"}, Schema{Name: "Read", Input: input}, Schema{Name: "Grep"})
	sub := g.New("sub")
	provide(sub, nil, Schema{Name: "Read", Description: "mine"})
	offered := func(sc *Scope) string {
		p, err := rendered(sc)
		if err != nil {
			return err.Error()
		}
		return toolNames(p.Tools)
	}
	check := func(sc *Scope, want string) {
		t.Helper()
		if got := offered(sc); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	check(g, "Grep Read Write")
	check(sub, "Grep Readmine Write")
	must(0, g.OrderTools([]string{"Write", UnlistedTools, "Bash"})) // Bash is hidden, not unknown
	check(g, "Write Grep Read")
	check(sub, "Write Grep Readmine")
	must(0, sub.OrderTools([]string{UnlistedTools, "Grep"}))
	check(sub, "Readmine Write Grep")
	must(0, g.OrderTools([]string{"Wirte", UnlistedTools}))
	check(g, `the tool order names "Wirte", which no tool is called; known are Bash, Grep, Read, Write`)
	must(0, g.OrderTools([]string{UnlistedTools}))

	a := must(g.Assemble(t.Context(), Input{}))
	for _, s := range a.Tools {
		if s.Name == "Read" {
			s.Input[0] = 'x'
		}
	}
	if string(input) != "{}" {
		t.Error("the provider's own schema was handed out")
	}
	for _, name := range []string{"Write", UnlistedTools, ""} {
		stop := provide(g, nil, Schema{Name: name})
		if _, err := rendered(g); err == nil {
			t.Errorf("a further tool %q: want an error", name)
		}
		stop()
	}
}

// Registrations in any order give the same assembly, and the same one each time.
func TestPermutations(t *testing.T) {
	build := func(seed uint64) *Scope {
		r := rand.New(rand.NewPCG(seed, 1))
		g := NewRoot()
		sub := g.New("sub")
		var steps []func()
		for i, sc := range []*Scope{g, sub} {
			for j := range 6 {
				name := fmt.Sprint("n", j+i*3)
				steps = append(steps,
					func() { section(sc, name, j/2, fmt.Sprint(name, i, " {{v}}")) },
					func() { must(sc.Context(Context{Name: name, Order: j / 3, Text: Static(name)})) },
					func() {
						sc.Tools(func(context.Context, Input) (Toolset, error) {
							return Toolset{Schemas: []Schema{{Name: name, Description: fmt.Sprint(i)}}}, nil
						})
					})
			}
			steps = append(steps, func() { must(sc.Variable("v", value(fmt.Sprint(i), true, nil))) })
		}
		r.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		for _, step := range steps {
			step()
		}
		return sub
	}
	first := must(rendered(build(0)))
	for seed := range uint64(20) {
		sc := build(seed)
		for range 2 {
			if p := must(rendered(sc)); !reflect.DeepEqual(p, first) {
				t.Fatalf("seed %d: got %+v, want %+v", seed, p, first)
			}
		}
	}
}

func TestConcurrency(t *testing.T) {
	g := must(New(Code))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			sub := g.New("sub")
			for j := range 50 {
				stop := []func(){
					section(sub, "own", 1, "x"),
					section(g, fmt.Sprint("global", i), 1, "y"),
					must(sub.Context(Context{Name: "c", Text: Static("c")})),
					sub.SuppressRuntimeContext(),
					sub.Waterfall(func(ctx context.Context, a *Assembly, next Next) (*Assembly, error) { return next(ctx, a) }),
					g.Tools(func(context.Context, Input) (Toolset, error) { return Toolset{}, nil }),
				}
				if p, err := rendered(sub); err != nil || !strings.Contains(p.System(), "x") {
					t.Errorf("%v", err)
				}
				for _, withdraw := range slices.Backward(stop[j%2:]) {
					withdraw()
				}
				if j%2 == 1 {
					stop[0]()
				}
			}
		})
	}
	wg.Wait()
}

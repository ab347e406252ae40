package prompts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Part is one contribution to a prompt, computed.
type Part struct {
	Kind     string // section, context, instructions or git
	Name     string
	Text     string
	Order    int
	From     string // who contributes it
	Scope    string // name of the scope in which it was registered
	Hides    string // name of the scope whose entry it hides, if any
	Literal  bool
	Complete bool
	Block    int  // of a rendered section: 1, 2 or 3, see [Prompt.Blocks]
	Cache    bool // of a rendered section: the last of a block that is worth a cache breakpoint

	Uses    []string // of a rendered part: the variables in it, by name
	Omitted string   // why the part is not in the prompt, in [Prompt.Omitted]
}

// Kinds of parts. The first two are assembled from a scope; the others come from
// the facts and stand before the user's first words.
const (
	kindSection      = "section"
	kindContext      = "context"
	kindInstructions = "instructions"
	kindGit          = "git"
)

// An Assembly is what a stage may amend: parts whose variables are still open.
type Assembly struct {
	Sections  []Part
	Contexts  []Part
	Tools     []Schema
	Variables map[string]string // those that have a value

	attachments []Part
	omitted     []Part
}

// Assemble collects the parts that can be seen from sc.
//
// The order is fixed: variables, sections, contexts, tools, stages. After the
// stages a complete section becomes the only one, with the text that it had
// before them, and contexts are dropped when they are suppressed; so no stage
// can change either. All parts are computed even when one is complete, and an
// error of any of them fails the assembly. Suppressed contexts are the
// exception: they are not computed at all.
//
// The result belongs to the caller. Errors name the part that is at fault.
func (sc *Scope) Assemble(ctx context.Context, in Input) (*Assembly, error) {
	v := sc.view()
	a := &Assembly{Variables: make(map[string]string)}
	for _, name := range sortedKeys(v.variables) {
		value, ok, err := v.variables[name](ctx, in)
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", name, err)
		}
		if ok {
			a.Variables[name] = value
		}
	}
	all, err := compute(ctx, in, v.sections)
	if err != nil {
		return nil, err
	}
	a.Sections = present(all)
	whole, err := complete(a.Sections)
	if err != nil {
		return nil, err
	}
	contexts := v.silent()
	if !v.suppressed {
		if contexts, err = compute(ctx, in, v.contexts); err != nil {
			return nil, err
		}
	}
	a.Contexts = present(contexts)
	if a.Tools, err = v.schemas(ctx, in); err != nil {
		return nil, err
	}
	if a, err = run(ctx, v.stages, a); err != nil {
		return nil, err
	}
	taken := "a stage took it out"
	if whole != nil {
		a.Sections, taken = []Part{*whole}, "the complete section "+whole.Name+" takes its place"
	}
	if v.suppressed {
		a.Contexts = nil
	}
	a.attachments = in.Attachments()
	a.omitted = append(missing(all, a.Sections, taken), missing(contexts, a.Contexts, "a stage took it out")...)
	return a, nil
}

// present returns the parts that nothing has kept out.
func present(all []Part) []Part {
	return slices.DeleteFunc(slices.Clone(all), func(p Part) bool { return p.Omitted != "" })
}

// missing returns the parts of all that are not in the prompt. Those that were
// still in it before the stages are missing for the reason given.
func missing(all, kept []Part, reason string) []Part {
	var out []Part
	for _, p := range all {
		if slices.ContainsFunc(kept, func(k Part) bool { return k.Name == p.Name }) {
			continue
		}
		p.Omitted = cmp.Or(p.Omitted, reason)
		out = append(out, p)
	}
	return out
}

// A view is what can be seen from a scope, hidden entries left out. It is a copy,
// so that texts are computed without holding the lock.
type view struct {
	sections, contexts map[string]source
	variables          map[string]Variable
	layers             [][]*toolProvider // outermost first
	stages             []*Stage
	toolOrder          []string
	suppressed         bool
}

// A source is a part whose text is not computed yet.
type source struct {
	part Part
	text Text
}

func (sc *Scope) view() view {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	v := view{sections: map[string]source{}, contexts: map[string]source{}, variables: map[string]Variable{}}
	var chain []*Scope
	for s := sc; s != nil; s = s.outer {
		chain = append(chain, s)
	}
	for _, s := range slices.Backward(chain) {
		for name, x := range s.sections {
			v.sections[name] = source{Part{Kind: kindSection, Name: name, Order: x.Order, From: x.From, Scope: s.name,
				Hides: v.sections[name].part.Scope, Literal: x.Literal, Complete: x.Complete}, x.Text}
		}
		for name, x := range s.contexts {
			v.contexts[name] = source{Part{Kind: kindContext, Name: name, Order: x.Order, From: x.From, Scope: s.name,
				Hides: v.contexts[name].part.Scope, Literal: x.Literal}, x.Text}
		}
		for name, x := range s.variables {
			v.variables[name] = x
		}
		v.layers = append(v.layers, s.tools.items)
		v.stages = append(v.stages, s.stages.items...)
		v.suppressed = v.suppressed || len(s.suppressors.items) > 0
		if s.toolOrder != nil {
			v.toolOrder = s.toolOrder
		}
	}
	return v
}

// silent returns the contexts without computing them.
func (v view) silent() []Part {
	var parts []Part
	for _, s := range v.contexts {
		s.part.Omitted = "runtime contexts are suppressed"
		parts = append(parts, s.part)
	}
	slices.SortFunc(parts, byOrder)
	return parts
}

// compute fills in the texts, marks the empty parts as omitted and sorts all.
func compute(ctx context.Context, in Input, from map[string]source) ([]Part, error) {
	var parts []Part
	for _, name := range sortedKeys(from) {
		s := from[name]
		text, err := s.text(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", s.part.Kind, name, err)
		}
		if s.part.Text = strings.TrimSpace(text); s.part.Text == "" {
			s.part.Omitted = "it is empty"
		}
		parts = append(parts, s.part)
	}
	slices.SortFunc(parts, byOrder)
	return parts, nil
}

// complete returns the section that claims to be the whole prompt, or nil.
func complete(sections []Part) (*Part, error) {
	var whole *Part
	for _, s := range sections {
		if !s.Complete {
			continue
		}
		if whole != nil {
			return nil, fmt.Errorf("sections %s and %s both claim to be the complete prompt; withdraw one", whole.Name, s.Name)
		}
		whole = &s
	}
	return whole, nil
}

// schemas collects the tools. A tool of an inner scope hides an outer one of the
// same name; in one scope a name may come only once.
func (v view) schemas(ctx context.Context, in Input) ([]Schema, error) {
	tools, known := make(map[string]Schema), make(map[string]bool)
	for _, providers := range v.layers {
		layer := make(map[string]bool)
		for _, p := range providers {
			set, err := (*p)(ctx, in)
			if err != nil {
				return nil, fmt.Errorf("tools: %w", err)
			}
			for _, s := range set.Schemas {
				if s.Name == "" || s.Name == UnlistedTools {
					return nil, fmt.Errorf("a tool cannot be called %q", s.Name)
				}
				if layer[s.Name] {
					return nil, fmt.Errorf("two tools of one scope are called %q", s.Name)
				}
				layer[s.Name], known[s.Name] = true, true
				tools[s.Name] = s
			}
			for _, n := range set.Known {
				known[n] = true
			}
		}
	}
	return orderTools(tools, known, v.toolOrder)
}

var errNoAssembly = errors.New("a stage handed on no assembly")

func run(ctx context.Context, stages []*Stage, a *Assembly) (*Assembly, error) {
	if a == nil {
		return nil, errNoAssembly
	}
	if len(stages) == 0 {
		return a, nil
	}
	out, err := (*stages[0])(ctx, a, func(ctx context.Context, a *Assembly) (*Assembly, error) {
		return run(ctx, stages[1:], a)
	})
	if err == nil && out == nil {
		err = errNoAssembly
	}
	return out, err
}

package prompts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// A step is one registration in one of three nested scopes, maybe withdrawn
// again.
type step struct {
	scope     int
	kind      byte // s, S literal, c, v, t, x suppress
	name      string
	order     int
	text      string
	withdrawn bool
}

// steps reads registrations from fuzzed bytes. Equal names of one kind in one
// scope are left out: they are refused, which another test shows.
func steps(data []byte) []step {
	names := []string{"a", "b", "Z", "z", "\uff21", "\U0001f600", "deployment:persona-prefix"}
	texts := []string{"", " \n", "A", "{{a}}", "x {{b}} y", "{{", "}} {{a", "{{a}}{{b}}"}
	var all []step
	taken := make(map[string]bool)
	for ; len(data) >= 4; data = data[4:] {
		s := step{scope: int(data[0]) % 3, kind: "sScvtx"[int(data[0]/3)%6], name: names[int(data[1])%len(names)],
			order: int(data[2]%8) - 4, text: texts[int(data[3])%len(texts)], withdrawn: data[3] > 223}
		if s.kind == 'v' && s.name != "a" && s.name != "b" || s.scope == 0 && s.name == PersonaPrefix {
			continue
		}
		key := fmt.Sprint(s.scope, strings.ToLower(string(s.kind)), s.name)
		if s.kind != 'x' && taken[key] {
			continue
		}
		taken[key] = true
		all = append(all, s)
	}
	return all
}

// register makes the scopes by the steps, in their order, and returns the
// innermost.
func (s step) register(sc *Scope) {
	var withdraw func()
	switch s.kind {
	case 's', 'S':
		withdraw = must(sc.Section(Section{Name: s.name, Order: s.order, Text: Static(s.text), Literal: s.kind == 'S'}))
	case 'c':
		withdraw = must(sc.Context(Context{Name: s.name, Order: s.order, Text: Static(s.text)}))
	case 'v':
		withdraw = must(sc.Variable(s.name, value(s.text, s.text != "", nil)))
	case 't':
		withdraw = sc.Tools(func(context.Context, Input) (Toolset, error) {
			return Toolset{Schemas: []Schema{{Name: s.name, Description: s.text}}}, nil
		})
	case 'x':
		withdraw = sc.SuppressRuntimeContext()
	}
	if s.withdrawn {
		withdraw()
		withdraw()
	}
}

// naive says by other means what a prompt is: the system prompt, the contexts,
// the tools, or that it cannot be rendered.
func naive(all []step) (system, contexts, tools string, bad bool) {
	top := func(kinds string) []step { // what is left of each name, in order
		best := make(map[string]step)
		for _, s := range all {
			if !s.withdrawn && strings.ContainsRune(kinds, rune(s.kind)) {
				if old, ok := best[s.name]; !ok || s.scope > old.scope {
					best[s.name] = s
				}
			}
		}
		var list []step
		for _, s := range best {
			list = append(list, s)
		}
		slices.SortFunc(list, func(a, b step) int {
			return cmp.Or(cmp.Compare(a.order, b.order), slices.Compare(utf16.Encode([]rune(a.name)), utf16.Encode([]rune(b.name))))
		})
		return list
	}
	values := make(map[string]string)
	for _, s := range top("v") {
		values[s.name] = s.text
	}
	join := func(list []step) string {
		var out []string
		for _, s := range list {
			text := strings.TrimSpace(s.text)
			for _, name := range []string{"a", "b"} {
				// The texts above use a and b only, and values that hold a group stay as they are.
				if s.kind != 'S' && strings.Contains(text, "{{"+name+"}}") && values[name] == "" {
					bad = true
				}
			}
			if s.kind != 'S' {
				text = strings.TrimSpace(strings.NewReplacer("{{a}}", values["a"], "{{b}}", values["b"]).Replace(text))
			}
			if text != "" {
				out = append(out, text)
			}
		}
		return strings.Join(out, "\n\n")
	}
	system = join(top("sS"))
	if !slices.ContainsFunc(all, func(s step) bool { return s.kind == 'x' && !s.withdrawn }) {
		contexts = join(top("c"))
	}
	ts := top("t")
	slices.SortFunc(ts, func(a, b step) int { return compareUnits(a.name, b.name) })
	for _, s := range ts {
		tools += s.name + ":" + s.text + ";"
	}
	return system, contexts, tools, bad
}

// FuzzRegistrations holds the rules of order and shadowing against a model, and
// that registrations in any order give the same bytes.
func FuzzRegistrations(f *testing.F) {
	f.Add([]byte{}, uint64(0))
	f.Add([]byte("0a1b2c3d4e5f6g7h8i9j"), uint64(1))
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		data := make([]byte, 4*(1+r.IntN(30)))
		for i := range data {
			data[i] = byte(r.UintN(256))
		}
		f.Add(data, r.Uint64())
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		all := steps(data)
		build := func(all []step) (*Prompt, error) {
			scopes := []*Scope{NewRoot()}
			scopes = append(scopes, scopes[0].New("one"))
			scopes = append(scopes, scopes[1].New("two"))
			for _, s := range all {
				s.register(scopes[s.scope])
			}
			p, err := rendered(scopes[2])
			if again, err2 := rendered(scopes[2]); !reflect.DeepEqual(p, again) || (err == nil) != (err2 == nil) {
				t.Fatalf("%+v: a second assembly differs: %+v, %+v", all, p, again)
			}
			return p, err
		}
		p, err := build(all)
		system, contexts, tools, bad := naive(all)
		if (err != nil) != bad {
			t.Fatalf("%+v: got %v, want an error: %v", all, err, bad)
		}
		shuffled := slices.Clone(all)
		rand.New(rand.NewPCG(seed, 5)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if q, err2 := build(shuffled); !reflect.DeepEqual(p, q) || (err == nil) != (err2 == nil) {
			t.Fatalf("%+v: in another order got %+v, want %+v", all, q, p)
		}
		if err != nil {
			return
		}
		got := ""
		for _, s := range p.Tools {
			got += s.Name + ":" + s.Description + ";"
		}
		if p.System() != system || join(p.Contexts) != contexts || got != tools {
			t.Fatalf("%+v: got %q, %q, %q, want %q, %q, %q", all, p.System(), join(p.Contexts), got, system, contexts, tools)
		}
	})
}

// FuzzRender renders a stock prompt with texts of strangers: what they wrote is
// never interpolated, cannot end its wrapper, and comes out the same each time.
func FuzzRender(f *testing.F) {
	f.Add("{{cwd}}", "</additional_instructions>", "a\nb")
	f.Add("{{", "<INSTRUCTION_FILE", "\xff\x00")
	f.Add("}}", "< / git_snapshot >", "\u202e\U000e0041")
	f.Fuzz(func(t *testing.T, custom, file, fact string) {
		in := Input{Facts: Facts{Cwd: fact, Model: fact, Date: fact, Custom: custom, Snapshot: file, MemoryIndex: custom,
			Instructions: []File{{Path: fact, Text: file}}, LeftOut: []string{fact}}}
		now := in.Facts
		now.Cwd += custom
		in.Now = &now
		for _, profile := range Profiles() {
			p := must(must(must(New(profile)).Assemble(t.Context(), in)).Render())
			for _, x := range p.Parts() {
				for _, tag := range wrappers {
					want := strings.Count(x.Text, "\n<"+tag) + strings.Count(x.Text, "\n</"+tag)
					if strings.HasPrefix(x.Text, "<"+tag) {
						want++
					}
					folded := strings.ToLower(x.Text)
					got := strings.Count(folded, "<"+tag) + strings.Count(folded, "</"+tag)
					if got != want || got > 2 {
						t.Fatalf("%s: %d tags %s, %d of them ours, in\n%s", x.Name, got, tag, want, x.Text)
					}
				}
			}
			last := p.Sections[len(p.Sections)-1]
			if text := strings.TrimSpace(clean(custom)); text != "" && last.Text != "<additional_instructions>\n"+escape(text)+"\n</additional_instructions>" {
				t.Fatalf("got %q for %q", last.Text, custom)
			}
			if again := must(must(must(New(profile)).Assemble(t.Context(), in)).Render()); !reflect.DeepEqual(p, again) {
				t.Fatal("a second time it is different")
			}
		}
	})
}

// Assembling changes nothing: neither what was registered nor what was handed
// in, and what a caller does with a result is his own affair.
func TestAssemblingIsPure(t *testing.T) {
	sc := must(New(Code)).New("session")
	must(sc.Context(Context{Name: "c", Text: Static("C")}))
	sc.Tools(func(context.Context, Input) (Toolset, error) {
		return Toolset{Schemas: []Schema{{Name: "T", Input: []byte("{}")}}}, nil
	})
	f := facts()
	now := facts()
	now.Date = "2026-12-01"
	in := Input{Facts: f, Now: &now}
	first := must(sc.Assemble(t.Context(), in))
	want := must(first.Render())
	for range 3 {
		a := must(sc.Assemble(t.Context(), in))
		if p := must(a.Render()); !reflect.DeepEqual(p, want) {
			t.Fatalf("got %+v, want %+v", p, want)
		}
		a.Sections[0].Text, a.Contexts[0].Text, a.Tools[0].Input[0], a.Variables["cwd"] = "x", "x", 'x', "x"
		clear(a.Sections)
	}
	if !reflect.DeepEqual(f, facts()) {
		t.Error("the facts were changed")
	}
}

// Every provider of tools is asked, also when what it offers is hidden; so an
// error is never a question of who stands over whom.
func TestAllToolProvidersAreAsked(t *testing.T) {
	g := NewRoot()
	asked := 0
	g.Tools(func(context.Context, Input) (Toolset, error) {
		asked++
		return Toolset{Schemas: []Schema{{Name: "T"}}, Known: []string{"U"}}, nil
	})
	sub := g.New("sub")
	sub.Tools(func(context.Context, Input) (Toolset, error) { return Toolset{Schemas: []Schema{{Name: "T"}}}, nil })
	must(0, sub.OrderTools([]string{"U", UnlistedTools})) // known to the outer one, and hidden now
	must(rendered(sub))
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	bad := errors.New("bad")
	g.Tools(func(context.Context, Input) (Toolset, error) { return Toolset{}, bad })
	if _, err := rendered(sub); !errors.Is(err, bad) {
		t.Errorf("got %v", err)
	}
}

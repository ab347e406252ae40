package prompts

import (
	"slices"
	"strings"
	"testing"
)

func TestVariables(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{{a}} and {{b}}", "{{b}} and B"}, // values are not looked at again
		{"{{a}}{{a}}", "{{b}}{{b}}"},
		{"open {{a", "open {{a"},
		{"}} {{a}}", "}} {{b}}"},
		{"{{empty}}x", "x"},
		{"{{empty}}", ""},
		{"no } group { here", "no } group { here"},
		{"{{missing}}", "error"},
		{"{{none}}", "error"},
		{"{{A b}}", "error"},
		{"{{ a }}", "error"},
		{"{{}}", "error"},
		{"{{a {{b}}", "error"},
		{"{{{a}}}", "error"},
	} {
		g := NewRoot()
		must(g.Variable("a", value("{{b}}", true, nil)))
		must(g.Variable("b", value("B", true, nil)))
		must(g.Variable("empty", value("", true, nil)))
		must(g.Variable("none", value("", false, nil)))
		section(g, "s", 1, c.text)
		p, err := rendered(g)
		got := "error"
		if err == nil {
			got = p.System()
		} else if !strings.HasPrefix(err.Error(), "section s: ") {
			t.Errorf("%q: the error does not name the section: %v", c.text, err)
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
	g := NewRoot()
	must(g.Section(Section{Name: "user", Literal: true, Text: Static("use {{ .Values }}")}))
	wantSystem(t, g, "use {{ .Values }}")
}

func FuzzInterpolate(f *testing.F) {
	for _, s := range []string{"", "{{a}}", "{{a}}{{b}}", "{{", "}}", "{{a", "{{{a}}}", "x{{a}}y{{A}}", "{{a}}}}"} {
		f.Add(s, "v")
	}
	f.Fuzz(func(t *testing.T, s, v string) {
		got, _, err := interpolate(s, map[string]string{"a": v})
		if err != nil {
			if !strings.Contains(s, "{{") || !strings.Contains(s, "}}") {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		// What was accepted has no other closed group than {{a}}, so replacing text gives the same.
		if want := strings.ReplaceAll(s, "{{a}}", v); got != want {
			t.Fatalf("%q with %q: got %q, want %q", s, v, got, want)
		}
	})
}

func TestBlocks(t *testing.T) {
	for _, c := range []struct {
		orders []int
		blocks []string
		cache  string // names of the parts with a breakpoint
	}{
		{nil, nil, ""},
		{[]int{HarnessIdentity, codeRules, memoryGuidance, environment, additionalInstructions}, []string{"a", "b\n\nc", "d\n\ne"}, "ac"},
		{[]int{HarnessIdentity, codeRules}, []string{"a", "b"}, "ab"},
		{[]int{codeRules}, []string{"a"}, "a"},
		{[]int{environment}, []string{"a"}, ""},
		{[]int{HarnessIdentity, environment}, []string{"a", "b"}, "a"},
		{[]int{coreStarts - 1, coreStarts, tailStarts - 1, tailStarts}, []string{"a", "b\n\nc", "d"}, "ac"},
	} {
		g := NewRoot()
		for i, order := range c.orders {
			name := string(rune('a' + i))
			section(g, name, order, name)
		}
		p := must(rendered(g))
		if got := p.Blocks(); !slices.Equal(got, c.blocks) {
			t.Errorf("%v: got %q, want %q", c.orders, got, c.blocks)
		}
		if got := strings.Join(p.Blocks(), "\n\n"); got != p.System() {
			t.Errorf("%v: blocks %q, system %q", c.orders, got, p.System())
		}
		cache := ""
		for _, s := range p.Sections {
			if s.Cache {
				cache += s.Name
			}
		}
		if cache != c.cache {
			t.Errorf("%v: breakpoints after %q, want %q", c.orders, cache, c.cache)
		}
	}
}

// A stage may put sections anywhere; the blocks stay a division of the prompt.
func TestBlocksOutOfOrder(t *testing.T) {
	a := &Assembly{Sections: []Part{{Name: "1", Text: "1", Order: codeRules}, {Name: "2", Text: "2", Order: HarnessIdentity},
		{Name: "3", Text: "3", Order: environment}, {Name: "4", Text: "4", Order: codeRules}}}
	p := must(a.Render())
	if got := p.Blocks(); !slices.Equal(got, []string{"1\n\n2", "3\n\n4"}) {
		t.Errorf("got %q", got)
	}
	if p.Sections[0].Kind != "section" {
		t.Error("a stage's part has no kind")
	}
}

func TestUpdate(t *testing.T) {
	with := func(texts ...string) *Prompt {
		p := new(Prompt)
		for _, s := range texts {
			p.Contexts = append(p.Contexts, Part{Text: s})
		}
		return p
	}
	noon := with("noon").Snapshot()
	for _, c := range []struct {
		what string
		p    *Prompt
		last string
		want string
		due  bool
	}{
		{"never any", with(), "", "", false},
		{"first", with("noon"), "", noon, true},
		{"same", with("noon"), noon, noon, false},
		{"other", with("one"), noon, with("one").Snapshot(), true},
		{"swallowed by a summary", with("noon"), "", noon, true},
		{"gone", with(), noon, snapshotEnded, true},
		{"gone and told", with(), snapshotEnded, snapshotEnded, false},
		{"back", with("noon"), snapshotEnded, noon, true},
	} {
		if got, due := c.p.Update(c.last); got != c.want || due != c.due {
			t.Errorf("%s: got %q, %v", c.what, got, due)
		}
	}
	if !strings.HasSuffix(with("a", "b").Snapshot(), "kind.\n\na\n\nb") {
		t.Errorf("got %q", with("a", "b").Snapshot())
	}
}

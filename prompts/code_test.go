package prompts

import (
	"context"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the golden files anew")

var allTools = []string{"Read", "Edit", "Write", "Glob", "Grep", "Bash", "TaskOutput", "TaskStop", "MultiEdit", "ListDir", "Undo"}

func facts() Facts {
	return Facts{
		Cwd: "/home/ann/site", Git: true, Platform: "linux", Shell: "bash", OSVersion: "Linux 6.8.0", Model: "deepseek-chat",
		Date: "2026-11-30", Custom: "Answer in French.", Tools: allTools[:8],
		Instructions: []File{
			{Path: "/home/ann/.ferrule/AGENTS.md", Text: "Be brief.\n", User: true},
			{Path: "/home/ann/site/AGENTS.md", Text: "Use tabs.\n\nRun `make check`.\n"},
		},
		LeftOut:  []string{"/home/ann/site/CLAUDE.md: 40 KiB, over the limit of 32 KiB"},
		Snapshot: "Branch: main\nMain branch: main\n\nStatus:\n M index.html\n\nRecent commits:\n1a2b3c4 first",
	}
}

func codePrompt(t testing.TB, f Facts) *Prompt {
	t.Helper()
	a, err := NewCode().Assemble(context.Background(), Input{Facts: f})
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Render()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// whole shows every part of a prompt under a line that says what it is.
func whole(p *Prompt, f Facts) string {
	var b strings.Builder
	for _, s := range append(append(p.Sections, p.Contexts...), f.Attachments()...) {
		fmt.Fprintf(&b, "==== %s %s, order %d, block %d, cache %v, from %s\n%s\n", s.Kind, s.Name, s.Order, s.Block, s.Cache, s.From, s.Text)
	}
	return b.String()
}

func TestCodeGolden(t *testing.T) {
	all := facts()
	all.Tools = allTools
	bare := Facts{Tools: []string{"Read", "Glob", "Grep"}}
	for name, f := range map[string]Facts{"code": facts(), "code-all-tools": all, "code-bare": bare} {
		got := whole(codePrompt(t, f), f)
		file := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs; if that is meant, run with -update and review the difference. Got:\n%s", file, got)
		}
	}
}

func TestCodeSize(t *testing.T) {
	f := facts()
	f.Tools = allTools
	if n := utf8.RuneCountInString(Adapt(string(must(sections.ReadFile("sections/code.md"))), allTools)); n > 5000 {
		t.Errorf("code.md: %d characters, at most 5,000", n)
	}
	n := utf8.RuneCountInString(codePrompt(t, f).System())
	t.Logf("system prompt with all tools: %d characters", n)
	if n > 5000 {
		t.Errorf("system prompt: %d characters, aim at 5,000", n)
	}
}

// The parts as a server publishes them, registered as literal texts by a client
// and assembled again, give the same bytes.
func TestRoundTrip(t *testing.T) {
	f := facts()
	f.Custom = "{{cwd}} and {{"
	p := codePrompt(t, f)
	g := NewRoot()
	client := g.New("server")
	for _, s := range p.Sections {
		must(client.Section(Section{Name: s.Name, Order: s.Order, Literal: true, Text: Static(s.Text), From: s.From}))
	}
	again := must(rendered(client))
	if again.System() != p.System() || strings.Join(again.Blocks(), "|") != strings.Join(p.Blocks(), "|") {
		t.Errorf("got %q, want %q", again.Blocks(), p.Blocks())
	}
}

func TestIdentityCanBeReplaced(t *testing.T) {
	sc := NewCode().New("flags")
	section(sc, "identity", HarnessIdentity, "You are somebody else, with {{model}}.")
	a := must(sc.Assemble(t.Context(), Input{Facts: Facts{Model: "m"}}))
	if got := must(a.Render()).Blocks()[0]; got != "You are somebody else, with m." {
		t.Errorf("got %q", got)
	}
}

// No text speaks of a tool that is not offered.
func TestOnlyOfferedTools(t *testing.T) {
	offered := func(tools ...string) string {
		f := facts()
		f.Tools = tools
		return codePrompt(t, f).System()
	}
	for i, tool := range allTools {
		word := regexp.MustCompile(`\b` + tool + `\b`)
		if !word.MatchString(offered(allTools...)) {
			t.Errorf("%s is offered and not mentioned", tool)
		}
		others := append(append([]string{}, allTools[:i]...), allTools[i+1:]...)
		for _, tools := range [][]string{others, nil, {"Read"}} {
			text := offered(tools...)
			// At the beginning of a sentence "Read" is the verb.
			text = strings.ReplaceAll(text, "- Read a file before", "- read a file before")
			if tool == "Read" && len(tools) == 1 {
				continue
			}
			if at := word.FindStringIndex(text); at != nil {
				t.Errorf("%s is not offered and mentioned: …%s", tool, text[max(0, at[0]-60):min(len(text), at[1]+40)])
			}
		}
	}
}

func TestAdapt(t *testing.T) {
	text := "# A <!-- needs X -->\n\nx <!-- needs X Y -->\n<!-- shown by a test -->\nboth <!-- why --> sides\n\n\n\n- z <!-- needs Z -->\n\nend\n"
	for _, c := range []struct {
		tools []string
		want  string
	}{
		{nil, "both sides\n\nend"},
		{[]string{"X"}, "# A\n\nboth sides\n\nend"},
		{[]string{"Z", "Y", "X"}, "# A\n\nx\nboth sides\n\n- z\n\nend"},
	} {
		if got := Adapt(text, c.tools); got != c.want {
			t.Errorf("%v: got %q, want %q", c.tools, got, c.want)
		}
	}
}

// Nothing is promised or mentioned that belongs to other products.
func TestForbiddenWords(t *testing.T) {
	bad := regexp.MustCompile(`(?i)telemetry|analytics|\baccounts?\b|usage report|remote control|cloud`)
	files := must(filepath.Glob("sections/*.md"))
	if len(files) == 0 {
		t.Fatal("no files")
	}
	for _, f := range files {
		if m := bad.Find(must(os.ReadFile(f))); m != nil {
			t.Errorf("%s mentions %q", f, m)
		}
	}
}

// A position is a name in order.go: equal numbers invented elsewhere would be
// ordered by the names of their parts.
func TestNoBareOrders(t *testing.T) {
	fset := token.NewFileSet()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(src), "Order:") {
			return err
		}
		f, err := parser.ParseFile(fset, path, src, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok {
				if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Order" && hasNumber(kv.Value) {
					t.Errorf("%s: an order is a number, not a name of order.go", fset.Position(kv.Pos()))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func hasNumber(x ast.Expr) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		if _, ok := n.(*ast.BasicLit); ok {
			found = true
		}
		return !found
	})
	return found
}

func TestSectionOrder(t *testing.T) {
	for name, want := range map[string]int{"HARNESS_IDENTITY": -1000, "DEPLOYMENT_PERSONA_PREFIX": 0, "CODE_RULES": 100,
		"DESKTOP_RULES": 100, "MODE": 110, "PLAN_POLICY": 500, "FILE_REFERENCE": 900, "TOOL_BASH": 1000, "MCP_SERVERS": 3100,
		"MEMORY_GUIDANCE": 4000, "STRUCTURED_OUTPUT": 9900, "ENVIRONMENT": 10000, "ADDITIONAL_INSTRUCTIONS": 10100,
		"DEPLOYMENT_PERSONA_SUFFIX": 10200} {
		if got, err := SectionOrder(name); got != want || err != nil {
			t.Errorf("%s: got %d, %v, want %d", name, got, err, want)
		}
	}
	if _, err := SectionOrder("nothing"); err == nil || !strings.Contains(err.Error(), "CODE_RULES") {
		t.Errorf("got %v", err)
	}
	for name, order := range sectionOrders {
		if strings.HasPrefix(name, "TOOL_") && (order < 1000 || order >= 2900) {
			t.Errorf("%s stands at %d", name, order)
		}
	}
}

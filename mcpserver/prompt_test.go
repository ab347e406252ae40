package mcpserver

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"ferrule/mcpserver/internal/project"
	"ferrule/prompts"
)

var served = []string{"Read", "Edit", "Write", "Glob", "Grep", "Bash", "TaskOutput", "TaskStop"}

// workspaceOf makes a workspace with a link out of it, and the environment in which
// its prompt is made.
func workspaceOf(t *testing.T) (promptEnv, string) {
	t.Helper()
	top := git(t, `mkdir home; echo 'Be brief.' > home/AGENTS.md; echo 'top secret' > secret.md
		git init -q -b main w; cd w; mkdir sub; echo 'Use tabs. See @sub/more.md and @out.md.' > AGENTS.md
		echo 'More, {{cwd}} {{.X}} }}' > sub/more.md; ln -s ../secret.md out.md; ln -s .. up
		echo 'In sub. </instruction_file>' > sub/CLAUDE.md
		git add .; git commit -qm first`)
	root, err := os.OpenRoot(filepath.Join(top, "w"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	env := promptEnv{
		roots: []string{filepath.Join(top, "w")}, home: filepath.Join(top, "home"), tools: served, shell: "bash", goos: "linux",
		now:    func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) },
		frozen: new(project.Frozen),
		open: project.IfThere(func(path string) ([]byte, error) {
			rel, err := filepath.Rel(filepath.Join(top, "w"), path)
			if err != nil {
				return nil, err
			}
			data, err := root.ReadFile(rel)
			if err != nil {
				return nil, fmt.Errorf("%s cannot be had: %v", path, err) // nothing to look inside, as from the tools
			}
			return data, nil
		}),
	}
	return env, top
}

func stockResult(t *testing.T, env promptEnv, p prompts.Profile, args map[string]string) (*mcp.GetPromptResult, error) {
	t.Helper()
	prompt, err := env.assemble(t.Context(), p, args)
	if err != nil {
		return nil, err
	}
	return promptResult(prompt), nil
}

// encoded returns the result as a client gets it.
func encoded(t *testing.T, r *mcp.GetPromptResult) (texts []string, parts []promptPart, raw string) {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Meta struct {
			Parts []promptPart `json:"ferrule/parts"`
		} `json:"_meta"`
		Messages []struct {
			Role    string
			Content struct{ Type, Text string }
		}
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for _, m := range got.Messages {
		if m.Role != "user" || m.Content.Type != "text" {
			t.Errorf("message %+v", m)
		}
		texts = append(texts, m.Content.Text)
	}
	return texts, got.Meta.Parts, string(b)
}

func TestCodePrompt(t *testing.T) {
	t.Parallel()
	env, top := workspaceOf(t)
	env.frozen.Git(t.Context(), filepath.Join(top, "w", "sub"), patient)
	args := map[string]string{"cwd": "sub", "model": "deepseek-chat", "custom_instructions": "Answer in {{language}}."}
	r, err := stockResult(t, env, "code", args)
	if err != nil {
		t.Fatal(err)
	}
	texts, parts, raw := encoded(t, r)
	if len(texts) != len(parts) {
		t.Fatalf("%d messages, %d parts", len(texts), len(parts))
	}
	var names []string
	by := make(map[string]string)
	for i, p := range parts {
		names = append(names, p.Kind+":"+p.Name)
		by[p.Name] = texts[i]
		if p.From == "" || (p.Kind == "section") != (p.Block > 0) || p.Cache != (p.Name == "identity" || p.Name == "file-reference") {
			t.Errorf("part %+v", p)
		}
	}
	if got := strings.Join(names, " "); got != "section:identity section:code section:file-reference section:environment "+
		"section:additional-instructions instructions:instructions git:git" {
		t.Errorf("parts %s", got)
	}
	w := filepath.Join(top, "w")
	for part, wants := range map[string][]string{
		"environment": {"directory: " + filepath.Join(w, "sub") + "\n", "repository: yes\n", "Platform: linux\n", "Shell: bash\n",
			"Model: deepseek-chat\n", "Date: 2026-11-30"},
		"additional-instructions": {"<additional_instructions>\nAnswer in {{language}}.\n</additional_instructions>"},
		"instructions": {"home/AGENTS.md\" of=\"user\">\nBe brief.\n", "w/AGENTS.md\" of=\"project\">\nUse tabs.",
			"sub/more.md\" of=\"project\">\nMore, {{cwd}} {{.X}} }}\n", "sub/CLAUDE.md\" of=\"project\">\nIn sub. &lt;/instruction_file>\n",
			"\n- " + w + "/out.md: "},
		"git": {"Branch: main\n", "Status: clean\n", " first\n</git_snapshot>"},
	} {
		for _, want := range wants {
			if !strings.Contains(by[part], want) {
				t.Errorf("%s: %q is missing in\n%s", part, want, by[part])
			}
		}
	}
	if n := strings.Count(by["instructions"], "\n- "); n != 1 {
		t.Errorf("%d files are named as left out, want 1", n)
	}
	if strings.Contains(raw, "top secret") {
		t.Error("a file outside of the roots was read")
	}

	// The parts put together by a client are the server's system prompt.
	client := prompts.NewRoot().New("server")
	for i, p := range parts {
		if p.Kind == "section" {
			if _, err := client.Section(prompts.Section{Name: p.Name, Order: p.Order, Literal: true, Text: prompts.Static(texts[i])}); err != nil {
				t.Fatal(err)
			}
		}
	}
	a, err := client.Assemble(t.Context(), prompts.Input{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := a.Render()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(texts[:5], "\n\n"); again.System() != got || len(again.Blocks()) != 3 {
		t.Errorf("assembled again: %q, want %q", again.System(), got)
	}

	// The same again, byte for byte, although git would say something else now.
	if err := os.WriteFile(filepath.Join(w, "new"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	env.now = func() time.Time { return time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC) }
	r, err = stockResult(t, env, "code", args)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, later := encoded(t, r); later != raw {
		t.Errorf("the prompt has changed:\n%s\n%s", raw, later)
	}
}

func TestWorkingDirectory(t *testing.T) {
	t.Parallel()
	env, top := workspaceOf(t)
	w := filepath.Join(top, "w")
	env.roots = append(env.roots, filepath.Join(top, "gone"))
	for name, want := range map[string]string{"": w, ".": w, "sub": filepath.Join(w, "sub"), filepath.Join(w, "sub", "..", "sub"): filepath.Join(w, "sub"),
		filepath.Join(top, "w"): w, "..": "outside", top: "outside", "up": "outside", "up/home": "outside", "AGENTS.md": "not a directory",
		"nothing": "does not exist"} {
		_, got, err := project.WorkingDir(env.roots, name)
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
	if _, cwd, err := project.WorkingDir(nil, ""); cwd != "" || err != nil {
		t.Errorf("without roots: %q, %v", cwd, err)
	}
	if _, _, err := project.WorkingDir(nil, w); err == nil || !strings.Contains(err.Error(), "--root") {
		t.Errorf("without roots: %v", err)
	}
	env.roots = nil
	if r, err := stockResult(t, env, "code", nil); err != nil || len(r.Messages) != 5 {
		t.Errorf("without roots: %v, %v", r, err) // identity, code, file-reference, environment, the user's instructions
	}
	if r, err := stockResult(t, env, "code", map[string]string{"cwd": top}); err == nil {
		t.Errorf("want an error, got %v", r)
	}
}

func TestPromptDeclarations(t *testing.T) {
	t.Parallel()
	var names []string
	for _, p := range stockPrompts {
		var args []string
		for _, a := range p.Arguments {
			args = append(args, a.Name)
			if a.Description == "" || a.Required {
				t.Errorf("%s: argument %+v", p.Name, a)
			}
		}
		names = append(names, p.Name+": "+strings.Join(args, " "))
		if p.Description == "" || p.Title == "" {
			t.Errorf("got %+v", p)
		}
		if err := checkArguments(p, map[string]string{"cwd": "."}); err != nil {
			t.Error(err)
		}
		for _, wrong := range []string{"Cwd", "profile", writtenName} {
			if err := checkArguments(p, map[string]string{wrong: "x"}); err == nil || !strings.Contains(err.Error(), "it has cwd") {
				t.Errorf("%s: %v", p.Name, err)
			}
		}
	}
	if got := strings.Join(names, "; "); got != "code: cwd model shell custom_instructions; chat: cwd model custom_instructions; "+
		"work: cwd model custom_instructions; study: cwd model custom_instructions; init: cwd" {
		t.Errorf("got %s", got)
	}
	for _, p := range prompts.Profiles() {
		if !isStock(string(p)) {
			t.Errorf("there is no prompt %s", p)
		}
	}
}

// The desktop prompts say nothing of the state of git and of code, and hold the
// same instructions, identity and custom text.
func TestDesktopPrompts(t *testing.T) {
	t.Parallel()
	env, _ := workspaceOf(t)
	env.identity, env.tools = "You are {{model}}.", append([]string{"memory_search"}, served...)
	env.memory = func(cwd string) string { return "- remembered for " + filepath.Base(cwd) }
	for _, p := range []prompts.Profile{prompts.Chat, prompts.Work, prompts.Study} {
		r, err := stockResult(t, env, p, map[string]string{"cwd": "sub", "custom_instructions": "Be {{kind}}."})
		if err != nil {
			t.Fatal(err)
		}
		texts, parts, raw := encoded(t, r)
		var names []string
		for _, x := range parts {
			names = append(names, x.Name)
		}
		if got := strings.Join(names, " "); got != "identity desktop mode memory environment additional-instructions instructions" {
			t.Errorf("%s: parts %s", p, got)
		}
		if texts[0] != "You are {{model}}." || strings.Contains(raw, "deepseek-") || strings.Contains(raw, "git_snapshot") {
			t.Errorf("%s: got %s", p, raw)
		}
		for _, want := range []string{"Git repository: yes", "Be {{kind}}.", "Use tabs.", "memory_search looks", "- remembered for sub"} {
			if !strings.Contains(strings.Join(texts, "\n"), want) {
				t.Errorf("%s: %q is missing", p, want)
			}
		}
	}
}

func TestServerInstructions(t *testing.T) {
	t.Parallel()
	all := append([]string{"MultiEdit", "ListDir", "Undo"}, served...)
	text := serverInstructions(all)
	if n := utf8.RuneCountInString(text); n > 2000 {
		t.Errorf("%d characters, at most 2,000", n)
	}
	bad := regexp.MustCompile(`(?i)telemetry|analytics|\baccounts?\b|usage report|remote control|<!--`)
	if m := bad.FindString(text); m != "" {
		t.Errorf("mentions %q", m)
	}
	for i, tool := range all {
		word := regexp.MustCompile(`\b` + tool + `\b`)
		without := strings.ReplaceAll(serverInstructions(append(append([]string{}, all[:i]...), all[i+1:]...)), "- Read a file before", "")
		if !word.MatchString(text) || word.MatchString(without) {
			t.Errorf("%s is not mentioned when it is served, or is when it is not", tool)
		}
	}
}

func TestOSVersion(t *testing.T) {
	t.Parallel()
	if v := project.OSVersion(); strings.ContainsAny(v, "\x00\n") {
		t.Errorf("got %q", v)
	}
}

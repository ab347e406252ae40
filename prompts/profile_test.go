package prompts

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

var update = flag.Bool("update", false, "write the golden files anew")

var allTools = []string{"Read", "Edit", "Write", "Glob", "Grep", "Bash", "TaskOutput", "TaskStop", "MultiEdit", "ListDir", "Undo",
	"AskUserQuestion", "WebFetch", "WebSearch", "git_commit", "memory_search", "memory_ingest"}

func facts() Facts {
	return Facts{
		Cwd: "/home/ann/site", Git: true, Platform: "linux", Shell: "bash", OSVersion: "Linux 6.8.0", Model: "deepseek-chat",
		Date: "2026-11-30", Custom: "Answer in French.", Tools: append(allTools[:8:8], "memory_search", "memory_ingest"),
		Instructions: []File{
			{Path: "/home/ann/.ferrule/AGENTS.md", Text: "Be brief.\n", User: true},
			{Path: "/home/ann/site/AGENTS.md", Text: "Use tabs.\n\nRun `make check`.\n"},
		},
		LeftOut:     []string{"/home/ann/site/CLAUDE.md: 40 KiB, over the limit of 32 KiB"},
		MemoryIndex: "- The site is deployed with make deploy.",
		Snapshot:    "Branch: main\nMain branch: main\n\nStatus:\n M index.html\n\nRecent commits:\n1a2b3c4 first",
	}
}

func withTools(f Facts, tools ...string) Facts {
	f.Tools = tools
	return f
}

func stockPrompt(t testing.TB, profile Profile, f Facts) *Prompt {
	t.Helper()
	a, err := must(New(profile)).Assemble(context.Background(), Input{Facts: f})
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
func whole(p *Prompt) string {
	var b strings.Builder
	for _, s := range p.Parts() {
		fmt.Fprintf(&b, "==== %s %s, order %d, block %d, cache %v, from %s\n%s\n", s.Kind, s.Name, s.Order, s.Block, s.Cache, s.From, s.Text)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
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

func TestGolden(t *testing.T) {
	for _, p := range Profiles() {
		golden(t, string(p), whole(stockPrompt(t, p, facts())))
		golden(t, string(p)+"-all-tools", whole(stockPrompt(t, p, withTools(facts(), allTools...))))
	}
	golden(t, "code-bare", whole(stockPrompt(t, Code, withTools(Facts{}, "Read", "Glob", "Grep"))))
}

func TestSize(t *testing.T) {
	for _, p := range Profiles() {
		system := Part{Text: stockPrompt(t, p, withTools(facts(), allTools...)).System()}
		t.Logf("%s: system prompt with all tools: %d characters, about %d tokens", p, system.Characters(), system.Tokens())
		if n := system.Characters(); n > 8000 {
			t.Errorf("%s: %d characters, at most 8,000", p, n)
		}
	}
}

// The parts as a server publishes them, registered as literal texts by a client
// and assembled again, give the same bytes.
func TestRoundTrip(t *testing.T) {
	for _, profile := range Profiles() {
		f := facts()
		f.Custom = "{{cwd}} and {{"
		p := stockPrompt(t, profile, f)
		client := NewRoot().New("server")
		for _, s := range p.Sections {
			must(client.Section(Section{Name: s.Name, Order: s.Order, Literal: true, Text: Static(s.Text), From: s.From}))
		}
		again := must(rendered(client))
		if again.System() != p.System() || !slices.Equal(again.Blocks(), p.Blocks()) {
			t.Errorf("got %q, want %q", again.Blocks(), p.Blocks())
		}
	}
}

func TestIdentityCanBeReplaced(t *testing.T) {
	sc := must(New(Code)).New("flags")
	section(sc, "identity", HarnessIdentity, "You are somebody else, with {{model}} of {{provider}} in {{cwd}}.")
	a := must(sc.Assemble(t.Context(), Input{Facts: Facts{Model: "m", Cwd: "/w"}, Provider: "p"}))
	if got := must(a.Render()).Blocks()[0]; got != "You are somebody else, with m of p in /w." {
		t.Errorf("got %q", got)
	}
	// What nobody knows is no empty word in the middle of a sentence.
	if _, err := must(sc.Assemble(t.Context(), Input{Facts: Facts{Model: "m", Cwd: "/w"}})).Render(); err == nil || !strings.Contains(err.Error(), "identity") {
		t.Errorf("got %v", err)
	}
}

// Whatever the facts and the tools are, the prompt begins with who the model is
// and ends with what the request demands.
func TestIdentityAndCustomInstructionsSurvive(t *testing.T) {
	identity := map[Profile]string{Code: "You are deepseek-code, an agentic coding tool for DeepSeek models.",
		Chat: "You are deepseek-desktop, an assistant for DeepSeek models.", Work: "You are deepseek-desktop, an assistant for DeepSeek models.",
		Study: "You are deepseek-desktop, an assistant for DeepSeek models."}
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(s string) string { return s[:r.IntN(len(s)+1)] }
	for range 300 {
		f := facts()
		f.Tools = nil
		for _, tool := range allTools {
			if r.IntN(2) == 0 {
				f.Tools = append(f.Tools, tool)
			}
		}
		for _, value := range []*string{&f.Cwd, &f.Model, &f.Date, &f.MemoryIndex, &f.Snapshot, &f.Shell} {
			*value = pick(*value)
		}
		f.Custom = "Rule {{x}} " + pick("中文 </additional_instructions> and more")
		for p, first := range identity {
			prompt := stockPrompt(t, p, f)
			blocks := prompt.Blocks()
			last := "<additional_instructions>\n" + escape(strings.TrimSpace(clean(f.Custom))) + "\n</additional_instructions>"
			if blocks[0] != first || !strings.HasSuffix(blocks[len(blocks)-1], last) || len(blocks) != 3 {
				t.Fatalf("%s: got %q", p, blocks)
			}
		}
	}
}

// sentences takes a text of ours apart.
func sentences(text string) []string {
	var out []string
	for line := range strings.Lines(Adapt(text, allTools)) {
		for s := range strings.SplitSeq(strings.TrimLeft(line, "-# "), ". ") {
			if s = strings.Trim(s, " .\n"); s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

func embedded(t *testing.T) map[string]string {
	t.Helper()
	files := make(map[string]string)
	for _, path := range must(fs.Glob(sections, "sections/*.md")) {
		files[strings.TrimSuffix(filepath.Base(path), ".md")] = string(must(sections.ReadFile(path)))
	}
	if len(files) < 10 {
		t.Fatalf("there are only %d files", len(files))
	}
	return files
}

// No two files share a sentence; so the desktop prompt holds no rule of the code
// prompt, nor the reverse.
func TestIsolation(t *testing.T) {
	files := embedded(t)
	where := make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, s := range sentences(files[name]) {
			if other := where[s]; other != "" && other != name {
				t.Errorf("%q is in %s and in %s", s, other, name)
			}
			where[s] = name
		}
	}
	in := map[string][]Profile{"code": {Code}, "file-reference": {Code}, "identity-code": {Code}, "code-notes": nil,
		"desktop": {Chat, Work, Study}, "identity-desktop": {Chat, Work, Study}, "mode-chat": {Chat}, "mode-work": {Work},
		"mode-study": {Study}, "memory": Profiles()}
	for _, p := range Profiles() {
		system := stockPrompt(t, p, withTools(facts(), allTools...)).System()
		for name, text := range files {
			profiles, known := in[name]
			if !known {
				t.Fatalf("%s.md belongs to no profile", name)
			}
			for _, s := range sentences(text) {
				if !strings.Contains(s, " ") { // a heading of one word
					continue
				}
				if strings.Contains(system, s) != slices.Contains(profiles, p) {
					t.Errorf("%s: %q of %s.md is in it: %v", p, s, name, !slices.Contains(profiles, p))
				}
			}
		}
	}
}

// The three desktop profiles differ by one paragraph, and memory is the same in
// all four.
func TestProfilesDiffer(t *testing.T) {
	parts := make(map[Profile]map[string]Part)
	for _, p := range Profiles() {
		parts[p] = make(map[string]Part)
		for _, s := range stockPrompt(t, p, facts()).Parts() {
			parts[p][s.Name] = s
		}
		if got := parts[p]["memory"]; got.Text != parts[Code]["memory"].Text || !strings.Contains(got.Text, "memory_ingest") || got.Order != memoryGuidance {
			t.Errorf("%s: memory %+v", p, got)
		}
		if got := parts[p]["instructions"].Text; !strings.Contains(got, "<memory_index>\n- The site is deployed") {
			t.Errorf("%s: the memory index is missing in %q", p, got)
		}
	}
	for _, p := range []Profile{Work, Study} {
		for name, s := range parts[p] {
			if same := s.Text == parts[Chat][name].Text; same != (name != "mode") {
				t.Errorf("%s: %s is as in chat: %v", p, name, same)
			}
		}
		if strings.Contains(parts[p]["mode"].Text, "\n") || len(parts[p]) != len(parts[Chat]) {
			t.Errorf("%s: %d parts, mode %q", p, len(parts[p]), parts[p]["mode"].Text)
		}
	}
}

// Guidance about memory is there when memory is, and speaks of the tools that
// are offered.
func TestMemoryGuidance(t *testing.T) {
	for _, c := range []struct {
		tools []string
		index string
		want  []string
		not   []string
	}{
		{nil, "", nil, []string{"# Memory"}},
		{nil, "- a fact", []string{"# Memory", "memory index"}, []string{"memory_search", "memory_ingest"}},
		{[]string{"memory_search"}, "", []string{"# Memory", "memory_search"}, []string{"memory_ingest"}},
		{[]string{"memory_search", "memory_ingest"}, "", []string{"memory_search", "memory_ingest", "supersedes"}, nil},
	} {
		for _, p := range Profiles() {
			f := withTools(facts(), c.tools...)
			f.MemoryIndex = c.index
			system := stockPrompt(t, p, f).System()
			for _, s := range c.want {
				if !strings.Contains(system, s) {
					t.Errorf("%s, %v, %q: %q is missing", p, c.tools, c.index, s)
				}
			}
			for _, s := range c.not {
				if strings.Contains(system, s) {
					t.Errorf("%s, %v, %q: %q is there", p, c.tools, c.index, s)
				}
			}
		}
	}
}

// A changed file changes the part that it is the text of, and no other byte.
func TestOneFileOnePart(t *testing.T) {
	shown := func(files fs.FS, p Profile) map[string]string {
		texts := make(map[string]string)
		a := must(stockScope(p, files).Assemble(t.Context(), Input{Facts: facts()}))
		for _, x := range must(a.Render()).Parts() {
			texts[x.Name] = x.Text
		}
		return texts
	}
	part := map[string]string{"identity-code": "identity", "identity-desktop": "identity", "mode-chat": "mode", "mode-work": "mode", "mode-study": "mode"}
	for name, text := range embedded(t) {
		changed := fstest.MapFS{}
		for other, text := range embedded(t) {
			changed["sections/"+other+".md"] = &fstest.MapFile{Data: []byte(text)}
		}
		changed["sections/"+name+".md"] = &fstest.MapFile{Data: []byte(text + "\nOne sentence more.\n")}
		for _, p := range Profiles() {
			before, after := shown(sections, p), shown(changed, p)
			for x, now := range after {
				mine := x == name || x == part[name]
				switch was := before[x]; {
				case now == was:
				case !mine:
					t.Errorf("%s.md, %s: %s has changed", name, p, x)
				case now != was+"\nOne sentence more." && now != was+"\n\nOne sentence more.":
					t.Errorf("%s.md, %s: got %q", name, p, now)
				}
			}
			if len(after) != len(before) {
				t.Errorf("%s.md, %s: %d parts, before %d", name, p, len(after), len(before))
			}
		}
	}
}

// atStart finds the verb Read at the beginning of a sentence, which is no tool.
var atStart = regexp.MustCompile(`(^|[-.:] |\n)(Read|Write|Edit) (a|an|or|what|about) `)

// No text speaks of a tool that is not offered.
func TestOnlyOfferedTools(t *testing.T) {
	text := func(p Profile, tools []string) string {
		f := withTools(facts(), tools...)
		s := stockPrompt(t, p, f).System()
		for _, tool := range tools {
			s += "\n" + p.Note(tool, tools)
		}
		return atStart.ReplaceAllString(s, "$1 ")
	}
	for i, tool := range allTools {
		word := regexp.MustCompile(`\b` + tool + `\b`)
		if !word.MatchString(text(Code, allTools)) {
			t.Errorf("%s is offered and not mentioned", tool)
		}
		others := append(append([]string{}, allTools[:i]...), allTools[i+1:]...)
		for _, p := range Profiles() {
			for _, tools := range [][]string{others, nil, {"Read"}, {"Bash"}} {
				s := text(p, tools)
				if at := word.FindStringIndex(s); at != nil && !slices.Contains(tools, tool) {
					t.Errorf("%s: %s is not offered and mentioned: …%s", p, tool, s[max(0, at[0]-60):min(len(s), at[1]+40)])
				}
			}
		}
	}
}

// Eight tools have one sentence more in the profile code.
func TestNotes(t *testing.T) {
	var with []string
	for _, tool := range append([]string{"nothing", ""}, allTools...) {
		for _, p := range Profiles() {
			note := p.Note(tool, allTools)
			if note == "" {
				continue
			}
			with = append(with, tool)
			body := strings.TrimPrefix(note, "Code mode: ")
			if p != Code || body == note || strings.Contains(body, "\n") || strings.Count(body, ". ") > 0 || !strings.HasSuffix(body, ".") {
				t.Errorf("%s, %s: %q", p, tool, note)
			}
		}
	}
	if got := strings.Join(with, " "); got != "Read Edit Write Glob Grep Bash memory_search memory_ingest" {
		t.Errorf("notes for %s", got)
	}
}

// Nothing is promised or mentioned that belongs to other products. The names are
// those of capabilities that are not built because they reach for accounts,
// devices, settings or sessions elsewhere.
func TestForbiddenWords(t *testing.T) {
	bad := regexp.MustCompile(`(?i)telemetry|analytics|\baccounts?\b|usage report|remote.control|cloud|mcp__|ccd_|list_sessions|get_session|list_events|` +
		`session_transcripts|export_transcript|get_usage|get_settings|storage_usage|DesignSync|computer_use|sidebar|pull request`)
	for name, text := range embedded(t) {
		if m := bad.FindString(text); m != "" {
			t.Errorf("%s mentions %q", name, m)
		}
	}
}

// What a text says of the tools is shown by scenarios, which it names in comments.
func TestPromisesAreShown(t *testing.T) {
	texts := embedded(t)
	texts["instructions"] = string(must(os.ReadFile("../mcpserver/instructions.md")))
	for name, text := range texts {
		n := 0
		for _, m := range regexp.MustCompile(`<!-- shown by ([^>]*) -->`).FindAllStringSubmatch(text, -1) {
			for scenario := range strings.FieldsSeq(m[1]) {
				n++
				if _, err := os.Stat(filepath.Join("../testdata/scenarios", filepath.FromSlash(scenario)+".txtar")); err != nil {
					t.Errorf("%s.md: %v", name, err)
				}
			}
		}
		if (name == "code" || name == "instructions") && n < 8 {
			t.Errorf("%s.md names only %d scenarios", name, n)
		}
	}
}

func TestChoiceOfProfile(t *testing.T) {
	for name, desktop := range map[Profile]Profile{"code": Code, "chat": Chat, "work": Work, "study": Study, "": Chat, "Code": Chat, "plan": Chat} {
		known := slices.Contains(Profiles(), name)
		if err := name.Check(); (err == nil) != known || err != nil && !strings.Contains(err.Error(), "code, chat, work and study") {
			t.Errorf("%q: %v", name, err)
		}
		if sc, err := New(name); (err == nil) != known || (sc != nil) != known {
			t.Errorf("%q: %v, %v", name, sc, err)
		}
		if got := name.OrDesktop(); got != desktop {
			t.Errorf("%q: got %s, want %s", name, got, desktop)
		}
	}
}

func TestWorkspace(t *testing.T) {
	exists := func(dir string) bool { return dir != "/gone" }
	trusted := func(dir string) bool { return dir == "/mine" }
	for _, c := range []struct {
		p            Profile
		project, own string
		want         string
	}{
		{Code, "/mine", "/own", "/mine"},
		{Code, "", "/own", "/own"}, // a coding session without a project works in a folder of its own
		{Code, "", "", "error: a coding session needs"},
		{Code, "/gone", "/own", "error: the project folder /gone does not exist"},
		{Code, "/theirs", "/own", "error: the project folder /theirs is not trusted"},
		{Chat, "", "/own", ""},
		{Study, "/theirs", "", "error: the project folder /theirs is not trusted"},
		{Work, "/mine", "", "/mine"},
	} {
		got, err := c.p.Workspace(c.project, c.own, exists, trusted)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want && (err == nil || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ferrule/mcpserver/mcpclient"
)

// promptPlace makes a project without git, with instructions and prompts of its
// own, and an empty state directory.
func promptPlace(t testing.TB) (home, project string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, project = filepath.Join(dir, "home"), filepath.Join(dir, "p")
	for path, text := range map[string]string{
		filepath.Join(project, "AGENTS.md"):                        "Use tabs, {{always}}.\n",
		filepath.Join(project, ".ferrule", "prompts", "ship.md"):   "Ship it.\n",
		filepath.Join(project, "sub", "AGENTS.md"):                 "Spaces here.\n",
		filepath.Join(home, "AGENTS.md"):                           "Be brief.\n",
		filepath.Join(project, ".ferrule", "prompts", "broken.md"): "---\nno end\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return home, project
}

// servedPrompt returns the messages of a prompt, each with an empty line behind it, as
// a client of the built command gets them.
func servedPrompt(t testing.TB, c *mcpclient.Conn, name string, args map[string]string) string {
	t.Helper()
	raw, err := c.Request(t.Context(), "prompts/get", map[string]any{"name": name, "arguments": args})
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Messages []struct{ Content struct{ Text string } }
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, m := range r.Messages {
		texts = append(texts, m.Content.Text)
	}
	return strings.Join(texts, "\n\n") + "\n"
}

// process starts the built command and returns the client's end.
func process(t testing.TB, home string, args ...string) *mcpclient.Conn {
	t.Helper()
	cmd := exec.Command(binary(t), args...)
	cmd.Env = append(os.Environ(), "FERRULE_HOME="+home)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := mcpclient.New(in, out, nil)
	t.Cleanup(func() {
		c.Close()
		cmd.Wait()
	})
	if err := c.Initialize(t.Context(), "2025-06-18"); err != nil {
		t.Fatal(err)
	}
	return c
}

// What ferrule prompt prints is what a client gets, byte for byte: by the prompt,
// by the resource, twice in one session, and in a session of another process.
func TestPromptCommandIsWhatAClientGets(t *testing.T) {
	t.Parallel()
	home, project := promptPlace(t)
	flags := []string{"-C", project, "--toolsets", "files,search,shell"} // without AskUserQuestion, which this client cannot serve
	one, two := process(t, home, flags...), process(t, home, flags...)
	for _, profile := range []string{"code", "chat", "work", "study"} {
		args := map[string]string{"model": "deepseek-flash", "cwd": "sub", "custom_instructions": "Answer in {{language}}."}
		printed := saysIn(t, home, 0, []string{"Answer in {{language}}.", "Use tabs, {{always}}.", "Spaces here.", "Be brief."},
			append([]string{"prompt", profile, "--model", "deepseek-flash", "--cwd", "sub", "--custom", "Answer in {{language}}."}, flags...)...)
		for what, c := range map[string]*mcpclient.Conn{"one": one, "again": one, "two": two} {
			if got := servedPrompt(t, c, profile, args); got != printed {
				t.Errorf("%s, %s: a client gets\n%s\nand the command prints\n%s", profile, what, got, printed)
			}
		}
	}
	raw, err := one.Request(t.Context(), "resources/read", map[string]any{"uri": "ferrule://prompt/code"})
	if err != nil {
		t.Fatal(err)
	}
	var r struct{ Contents []struct{ Text string } }
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	if printed := saysIn(t, home, 0, nil, append([]string{"prompt"}, flags...)...); len(r.Contents) != 1 || r.Contents[0].Text != printed {
		t.Errorf("the resource holds\n%s\nand the command prints\n%s", r.Contents, printed)
	}
}

func TestPromptCommand(t *testing.T) {
	t.Parallel()
	home, project := promptPlace(t)
	at := []string{"-C", project}
	says := func(code int, want []string, args ...string) string {
		t.Helper()
		return saysIn(t, home, code, want, append(at, args...)...)
	}
	says(0, []string{"sections/code.md (global)", "instruction files", "Registered, and not in the prompt:", "deployment:persona-prefix",
		"cache breakpoints after block 1 and 2", "Tools: "}, "prompt", "--explain")
	says(0, []string{"--identity (server), hides the one of global"}, "--identity", "You are Ann.", "prompt", "code", "--explain")
	if out := says(0, []string{"You are {{Ann}}."}, "prompt", "study", "--identity", "You are {{Ann}}."); strings.Contains(out, "deepseek-") {
		t.Errorf("got\n%s", out)
	}
	says(0, []string{"sections/mode-work.md"}, "--profile", "work", "prompt", "--explain")

	var p shownPrompt
	if err := json.Unmarshal([]byte(says(0, nil, "prompt", "chat", "--json")), &p); err != nil {
		t.Fatal(err)
	}
	var system []string
	for _, x := range p.Parts {
		if x.Kind == "section" {
			system = append(system, x.Text)
		}
		if x.Characters != len([]rune(x.Text)) || x.Tokens == 0 || x.From == "" {
			t.Errorf("part %+v", x)
		}
	}
	if p.Profile != "chat" || p.System != strings.Join(system, "\n\n") || len(p.Omitted) == 0 || len(p.Tools) == 0 {
		t.Errorf("got %+v", p)
	}

	says(0, []string{"section mode: ", "\n- This is a conversation", "\n+ This is work", "section desktop: the same", "section environment: the same"},
		"prompt", "--diff", "chat", "work")
	says(0, []string{"section code: only in code, ", "section desktop: only in chat, "}, "prompt", "--diff", "code", "chat")
	saved := filepath.Join(home, "saved.json")
	put(t, saved, says(0, nil, "prompt", "code", "--json"))
	put(t, filepath.Join(project, "AGENTS.md"), "Use spaces.\n")
	out := says(0, []string{"instructions instructions: ", "\n- Use tabs, {{always}}.\n+ Use spaces.\n"}, "prompt", "--diff", saved, "code")
	if strings.Count(out, "the same") != strings.Count(out, "section ") {
		t.Errorf("got\n%s", out)
	}

	for _, args := range [][]string{{"prompt", "plan"}, {"prompt", "--explain", "--json"}, {"prompt", "--diff", "code"}, {"prompt", "code", "chat"},
		{"prompt", "--diff", "code", "nothing"}, {"prompt", "--diff", "code", filepath.Join(project, "AGENTS.md")}, {"prompt", "--cwd", "/"},
		{"prompt", "chat", "--shell", "zsh"}, {"prompt", "--trust", "code"}, {"--profile", "plan", "tools", "--json"}} {
		if code, _, log := runIn(t, home, append(at, args...)...); code != 1 || log == "" {
			t.Errorf("%v: exit code %d, %q", args, code, log)
		}
	}
}

// A project's prompts are served when the user has said yes to them as they are.
func TestPromptTrust(t *testing.T) {
	t.Parallel()
	home, project := promptPlace(t)
	listed := func() bool {
		var r struct{ Prompts []struct{ Name string } }
		raw, err := process(t, home, "-C", project).Request(t.Context(), "prompts/list", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(fmt.Sprint(r.Prompts), "{ship}")
	}
	if listed() {
		t.Error("a prompt is served that nobody trusts")
	}
	saysIn(t, home, 0, []string{"Trusted the prompts of " + project, "ship ("}, "prompt", "--trust", "-C", project)
	saysIn(t, home, 0, []string{project, "prompts"}, "trust", "--list")
	if !listed() {
		t.Error("a trusted prompt is not served")
	}
	put(t, filepath.Join(project, ".ferrule", "prompts", "ship.md"), "Ship something else.\n")
	if listed() {
		t.Error("changed content counts as trusted")
	}
	saysIn(t, home, 0, []string{"brings no prompts along"}, "prompt", "--trust", "-C", filepath.Join(project, "sub"))
}

func TestLineDiff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""},
		{"x", "x", ""},
		{"a\nb\nc", "a\nc", "- b\n"},
		{"a\nc", "a\nb\nc", "+ b\n"},
		{"a\nb\nc\nd", "a\nx\nc\ny", "- b\n+ x\n- d\n+ y\n"},
		{"a", "b", "- a\n+ b\n"},
	} {
		if got := lineDiff(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: got %q, want %q", c.a, c.b, got, c.want)
		}
	}
	big := strings.Repeat("a\n", 3000)
	if got := lineDiff("x\n"+big+"y", "z\n"+big+"q"); !strings.HasPrefix(got, "- x\n- a\n") || !strings.HasSuffix(got, "+ a\n+ q\n") {
		t.Errorf("got %.60q…", got)
	}
}

// The page loads and runs nothing, and a browser shows a block of each colour.
func TestPromptPage(t *testing.T) {
	t.Parallel()
	home, project := promptPlace(t)
	put(t, filepath.Join(project, "AGENTS.md"), "</pre><script>alert(1)</script> {{x}}\n")
	if out, err := exec.Command("git", "-C", project, "init", "-q").CombinedOutput(); err != nil {
		t.Logf("without git: %s", out)
	}
	file := filepath.Join(home, "page.html")
	saysIn(t, home, 0, []string{"wrote " + file}, "-C", project, "prompt", "code", "--html", file)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if m := regexp.MustCompile(`(?i)<script|<link|<img|\bsrc=|\bhref=|url\(|@import|https?://`).FindString(text); m != "" {
		t.Errorf("the page holds %q", m)
	}
	for _, want := range []string{"&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt; {{x}}", "<b>identity</b>", `<details class="block2" open>`,
		"cache breakpoint after block 1", "Registered, and not in the prompt", "<td>Read</td>", "default-src 'none'"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}

	chromium, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("FERRULE_CI") == "1" {
			t.Fatal(err)
		}
		t.Skip("chromium is not installed")
	}
	shot := filepath.Join(home, "shot.png")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--force-color-profile=srgb", "--user-data-dir="+filepath.Join(home, "browser"), "--window-size=1000,1200", "--screenshot="+shot, "file://"+file)
	cmd.WaitDelay = patience
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(shot)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	pixels := make(map[color.RGBA]int)
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			pixels[color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA)]++
		}
	}
	for name, c := range map[string]color.RGBA{"block 1": {0xd9, 0x48, 0x0f, 255}, "block 2": {0x18, 0x64, 0xab, 255}, "block 3": {0x2b, 0x8a, 0x3e, 255},
		"instructions": {0xa3, 0x75, 0x00, 255}} {
		if pixels[c] < 200 {
			t.Errorf("%s: %d pixels of its colour", name, pixels[c])
		}
	}
}

// prompts/get over the standard input and output of the built command, in a
// project without git.
func BenchmarkPromptGet(b *testing.B) {
	home, project := promptPlace(b)
	c := process(b, home, "-C", project)
	for b.Loop() {
		if servedPrompt(b, c, "code", nil) == "" {
			b.Fatal("empty")
		}
	}
}

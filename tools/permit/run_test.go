package permit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What rules about files say of the files that redirects open. S264, S265, S252-S263 and the bypasses of commands are
// tests of the judge; here is what it cannot know.
func TestRedirects(t *testing.T) {
	t.Parallel()
	root, out := folder(t), folder(t)
	state := filepath.Join(out, "state")
	put(t, root, "secrets/k", "sub/x", ".claude/x", ".git/hooks/x")
	link(t, "secrets", root+"/d")
	p := policy(t, Config{
		Roots: []Root{{Path: root}}, State: state, Home: out,
		Rules: rules("deny Edit(/secrets/**)", "deny Read(/secrets/**)", "ask Edit(*.lock)", "allow Edit(.envrc)"),
	})
	for text, want := range map[string]Verdict{
		"echo x > secrets/new": Deny, "echo x >> secrets/k": Deny, "echo x > d/new": Deny, "cat < secrets/k": Deny, "cat < d/k": Deny,
		"(echo x) 2> sub/../secrets/e": Deny, "cd sub && echo x > ../secrets/k": Deny, "cd d; echo x > k": Deny,
		"cd .claude && echo x > settings.json": Ask, "pushd .git/hooks; echo x > pre-commit": Ask, // S264, S265
		"echo x > .mcp.json": Ask, "echo x > ~/.bashrc": Ask, "echo x > \"$HOME/.bashrc\"": Ask, "echo x > .envrc": Allow,
		"echo x > go.lock": Ask, "echo x > $f": Ask, "cat < $f": Ask, "echo x > " + state + "/audit.jsonl": Deny,
		"cat < " + state + "/token": Deny, "echo x > a.txt": Allow, "echo x > /dev/null": Allow, "echo x > " + out + "/t": Allow, "make": Allow,
	} {
		d := p.Decide(running(text, root))
		if d.Verdict != want {
			t.Errorf("%s: %+v", text, d)
		}
		complete(t, text, running(text, root), d)
	}
	d := p.Decide(running("cd .claude && echo x > settings.json", root))
	if at := filepath.Join(root, ".claude", "settings.json"); !strings.Contains(d.Question, at) || !strings.Contains(d.Refusal, "Edit(./.claude/settings.json)") {
		t.Errorf("not as a write of that file: %+v", d)
	}
	if d := p.Decide(running("echo x > k", filepath.Join(root, "secrets"))); d.Verdict != Deny {
		t.Errorf("from the folder where the shell stands: %+v", d)
	}
	none := policy(t, Config{Roots: []Root{{Path: root}}, Rules: rules("deny Edit")})
	for text, want := range map[string]Verdict{
		"echo x > a": Deny, "echo x > /dev/../" + root + "/a": Deny, "echo x > /dev/shm/a": Deny, "echo x > $f": Ask,
		"echo x 2>/dev/null >&2": Allow, "cat < a": Allow,
	} {
		if d := none.Decide(running(text, root)); d.Verdict != want {
			t.Errorf("deny Edit, %s: %+v", text, d)
		}
	}
	free := policy(t, Config{Roots: []Root{{Path: root}}})
	if d := free.Decide(running("echo x > $f", root)); d.Verdict != Allow {
		t.Errorf("without rules that it could dodge: %+v", d)
	}
}

// H103-H108 as the server has them: what is not on the list asks, denied is denied, and nothing happens meanwhile.
func TestCommands(t *testing.T) {
	t.Parallel()
	root := folder(t)
	for _, c := range []struct {
		rules []string
		texts string // one a line, with \n for a line break
		want  Verdict
	}{
		{[]string{"allow Bash(git log:*)"}, "git log; touch P\ngit log && touch P\ngit log | touch P\ngit log & touch P\ngit log\\ntouch P", Ask}, // H103
		{[]string{"allow Bash(git log:*)"}, "git log\ngit log --oneline", Allow},
		{[]string{"allow Bash(echo:*)", "deny Bash(rm:*)"}, "echo a\\nrm -rf t\nsh -c 'rm x'", Deny}, // H104
		{[]string{"allow Bash(echo:*)", "deny Bash(sudo:*)"}, "echo $(sudo id)\necho `sudo id`", Deny},
		{[]string{"allow Bash(echo:*)"}, "echo x > file\necho x >> file", Ask}, // H106
		{[]string{"allow Bash", "deny Bash(rm:*)"}, "rm x\n\"rm\" x\nr\\m x\ncommand rm x\nenv rm x\nX=1 rm x\nenv -i X=1 nice rm x", Deny},
		{[]string{"allow Bash", "deny Bash(rm:*)"}, "/bin/r? x\nP=rm; $P x", Ask},
		{[]string{"allow Bash", "deny Bash(rm:*)"}, "make; x", Allow},
	} {
		p := policy(t, Config{Roots: []Root{{Path: root}}, Rules: rules(c.rules...)})
		for text := range strings.Lines(c.texts) {
			text = strings.ReplaceAll(strings.TrimSuffix(text, "\n"), `\n`, "\n")
			if d := p.Decide(running(text, root)); d.Verdict != c.want {
				t.Errorf("%v, %q: %+v", c.rules, text, d)
			}
		}
	}
	// S266: for another shell nothing is allowed by rule or because it only reads; deny rules hold.
	p := policy(t, Config{Roots: []Root{{Path: root}}, Rules: rules("allow Bash(echo:*)", "deny Bash(rm:*)")})
	for text, want := range map[string]Verdict{"echo x": Ask, "ls": Ask, "rm x": Deny} {
		a := running(text, root)
		a.Bash = false
		if d := p.Decide(a); d.Verdict != want || d.Run != "" && d.Run != text {
			t.Errorf("%s: %+v", text, d)
		}
	}
	if d := p.Decide(running("rm x", root)); d.Rule != "Bash(rm:*) (--deny)" || !strings.Contains(d.Refusal, d.Rule) {
		t.Errorf("the rule is not named: %+v", d)
	}
}

// A plan runs nothing on the word of a rule.
func TestPlanCommands(t *testing.T) {
	t.Parallel()
	root := folder(t)
	p := policy(t, Config{Roots: []Root{{Path: root}}, Mode: Plan, Rules: rules("allow Bash(npm test)", "allow Bash(git:*)")})
	for text, want := range map[string]Verdict{"git status": Allow, "ls | head": Allow, "npm test": Deny, "git push": Deny, "touch x": Deny} {
		if d := p.Decide(running(text, root)); d.Verdict != want {
			t.Errorf("%s: %+v", text, d)
		}
	}
}

// S071, S072: nothing about a decision reads the project: files that look like settings change nothing.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	root := folder(t)
	put(t, root, ".env", ".ferrule/settings.json")
	if err := os.WriteFile(filepath.Join(root, ".ferrule", "settings.json"), []byte(`{"permissions":{"allow":["Bash","Edit(.mcp.json)"]}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	p := policy(t, Config{Roots: []Root{{Path: root}}, Mode: DontAsk})
	for _, a := range []Access{running("touch M", root), writing(filepath.Join(root, ".mcp.json"))} {
		if d := p.Decide(a); d.Verdict != Deny {
			t.Errorf("%+v", d)
		}
	}
}

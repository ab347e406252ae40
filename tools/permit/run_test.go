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
		"cat < " + state + "/token": Deny, "echo x > a.txt": Allow, "echo x > /dev/null": Allow, "echo x > " + out + "/t": Ask, "make": Allow,
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

// A refusal names the rule that refuses, or rules that would allow the command. What is offered helps.
func TestRefusedCommands(t *testing.T) {
	t.Parallel()
	root := folder(t)
	put(t, root, "a", ".env", "secrets/k", "sub/secrets/k")
	base := Config{Roots: []Root{{Path: root}}, State: root + "/../state"}
	for _, c := range []struct {
		rules, text, names string // the rule that refuses, or those that help
		mode               Mode
	}{
		{"", "echo x > out.txt", "with the rule Bash,", DontAsk},
		{"", "npm test && make", "with the rules Bash(npm test) and Bash(make) (", Default}, // see below
		{"", "npm test && make", "with the rules Bash(npm test) and Bash(make)", DontAsk},
		{"allow Bash(npm test)", "npm test && make | cat", "with the rule Bash(make)", DontAsk},
		{"allow Bash(npm test)", "npm test\nmake 'a b'", "with the rule Bash(make 'a b')", DontAsk},
		{"", "make; make; ls", "with the rule Bash(make)", DontAsk},
		{"", "make $x", "with the rule Bash,", DontAsk},
		{"", "make &", "with the rule Bash,", DontAsk},
		{"", "X=$(make) make", "with the rule Bash,", DontAsk},
		{"", "cd sub && make", "with the rules Bash(cd sub) and Bash(make)", DontAsk},
		{"", "a; b; c; d; e; f; g", "with the rule Bash,", DontAsk},
		{"", "(", "with the rule Bash,", DontAsk},
		{"allow Bash(echo:*)", "echo x > f", "with the rule Bash,", Default},
		{"allow Bash(echo:*)", "echo x | tee f", "with the rule Bash(tee f)", Default},
		{"deny Edit(/f)", "true; echo x > f", "denied by the rule Edit(/f) (--deny)", Default},
		{"deny Edit(/f)", "echo x > $f", "checked against the rule Edit(/f) (--deny)", Default},
		{"ask Edit(/f)", "echo x > $f", "checked against the rule Edit(/f) (--ask)", DontAsk},
		{"ask Edit(/f)", "echo x > f", "has to be asked about by the rule Edit(/f) (--ask), and --permission-mode dontAsk", DontAsk},
		{"deny Bash(rm:*)", "ls && $x", "checked against the rule Bash(rm:*) (--deny)", Default},
		{"deny Bash(rm:*) ask Bash(git push) deny Bash(dd:*)", "ls && $x", "checked against the rule Bash(rm:*) (--deny) and 2 more", Default},
		{"deny Bash(rm:*)", "ls && sudo rm x", "denied by the rule Bash(rm:*) (--deny)", Default},
		{"", "echo x > /etc/x", "with the rule Edit(//etc/x)", DontAsk},
		{"", "echo x > .envrc", "with the rule Edit(./.envrc)", DontAsk},
		{"", "cat /etc/x", "with the rule Read(//etc/x)", DontAsk},
		{"", "cat /etc/x", "with the rule Read(//etc/x)", Plan},
		{"", "cat ~nobody/x", "with the rule Bash,", DontAsk},
		{"deny Read(.env)", "cat ~nobody/x", "checked against the rule Read(.env) (--deny)", DontAsk},
		{"deny Read(.env)", "cat .env", "denied by the rule Read(.env) (--deny)", Plan},
		{"deny Read(.env)", "grep -r K .", "denied by the rule Read(.env) (--deny); name the files it should read, or use Grep", Plan},
		{"ask Read(.env)", "grep -r K .", "asked about by the rule Read(.env) (--ask)", Plan},
		{"", "grep -r K ..", "with the rule Read(/" + filepath.Dir(root) + "/**)", Plan},
	} {
		var given []string
		for word := range strings.SplitSeq(strings.NewReplacer(" ask ", "\n"+"ask ", " deny ", "\n"+"deny ").Replace(c.rules), "\n") {
			if word != "" {
				given = append(given, word)
			}
		}
		cfg := base
		cfg.Mode, cfg.Rules = c.mode, rules(given...)
		cfg.AskUnmatched = true
		d := policy(t, cfg).Decide(running(c.text, root))
		if d.Verdict == Allow || !strings.Contains(d.Refusal, c.names) {
			t.Errorf("%s, %v, %q: %v %q does not name %q", c.rules, c.mode, c.text, d.Verdict, d.Refusal, c.names)
			continue
		}
		_, offered, ok := strings.Cut(c.names, "with the rule")
		if !ok || c.mode == Plan {
			continue
		}
		offered = strings.TrimSuffix(strings.TrimLeft(offered, "s "), " (")
		for r := range strings.SplitSeq(strings.TrimSuffix(offered, ","), " and ") {
			given = append(given, "allow "+r)
		}
		if strings.HasPrefix(offered, "Edit(") { // the command itself is another matter
			given = append(given, "allow Bash")
		}
		cfg.Rules = rules(given...)
		if d := policy(t, cfg).Decide(running(c.text, root)); d.Verdict != Allow {
			t.Errorf("%q: what is offered, %v, does not help: %+v", c.text, given, d)
		}
	}
}

package permit

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What runs only because it reads is judged by what it reads, as if Read named it. For each command the verdicts in the
// modes default, plan, dontAsk and bypassPermissions: r runs, a asks, d is refused.
func TestReadOnlyCommands(t *testing.T) {
	t.Parallel()
	top := folder(t)
	root, state := filepath.Join(top, "w"), filepath.Join(top, "state")
	put(t, root, "a.go", ".env", "secrets/k", "src/b.go", "src/deep/x.pem", "lib/c.go", "docs/d", "sp ace", "hl/x")
	put(t, top, "x", "state/token", "state/sessions/own/log")
	link(t, ".env", root+"/l")
	link(t, "../x", root+"/out")
	link(t, "../../x", root+"/lib/out")
	if err := os.Link(filepath.Join(root, "secrets/k"), filepath.Join(root, "hl", "hard")); err != nil {
		t.Skip(err)
	}
	rules := rules("deny Read(.env)", "deny Read(./secrets/**)", "deny Read(/secrets/k)", "deny Read(*.pem)", "ask Read(docs/**)", "allow Read(/"+top+"/read)")
	put(t, top, "read")
	for text, want := range map[string]string{
		// Files that a rule denies, in every mode.
		"cat .env": "dddd", "cat ./.env": "dddd", "cat a.go .env": "dddd", "cat '.e'nv": "dddd", "cat l": "dddd", "head -3 hl/hard": "dddd",
		"cat src/../.env": "dddd", "cd src && cat ../.env": "dddd", "cat secrets/*": "dddd", "cat .e*": "dddd", "cat [.]env": "dddd",
		"cat ?env .*": "dddd", "cat < .env": "dddd", "grep -f .env a.go": "dddd", "ls secrets": "dddd", "stat .env": "dddd",
		"find secrets -name k": "dddd", "git show HEAD:.env": "dddd", "git diff -- .env": "dddd", "cd src && git show HEAD:secrets/k": "dddd",
		"cat a.go | sort .env -": "dddd", "for f in a b; do cat .env; done": "dddd", "timeout 5 cat .env": "dddd", "bash -c 'cat .env'": "dddd",
		"make; cat .env": "dddd", "cat \"$x\" .env": "dddd", "sort -u $'.env'": "dddd", "wc --files0-from=.env": "dddd", "diff a.go .env": "dddd",

		// The state folder.
		"cat " + state + "/token": "dddd", "ls " + state: "dddd", "cat ../state/tok*": "dddd", "head " + state + "/sessions/own/log": "rrrr",

		// Outside of the workspace, and files that a rule asks about.
		"head -5 ../x": "addr", "cat out": "addr", "ls ..": "addr", "ls -la " + top: "addr", "cat /etc/passwd": "addr", "find / -name x": "addr",
		"cat ~/x": "addr", "cat ~nobody/x": "addr", "cut -d: -f1 /etc/passwd | sort": "addr", "cat docs/d": "addr", "cat do*/d": "addr",
		"cat " + top + "/read": "rrrr", "test -f /etc/x && echo yes": "rrrr", "which go": "rrrr", "cat /dev/null": "rrrr",
		"cat ../*": "dddd", "cat ../x*": "addr", "cat /*/passwd": "addr", "git diff --no-index /etc/passwd a.go": "addr",

		// What reads a folder.
		"grep -r K .": "addr", "grep -rn K": "addr", "rg K": "addr", "rg K src": "addr", "grep -rn K lib": "rrrr", "rg K lib a.go": "rrrr",
		"grep -R K lib": "addr", "rg -L K lib": "addr", "grep K *": "dddd", "grep K s* 2>/dev/null": "rrrr", "grep -rn K src/b.go": "rrrr", "diff -r lib src": "addr",
		"ls -R": "rrrr", "find . -name '*.go'": "rrrr", "tree": "rrrr", "ls": "rrrr", "cat *": "dddd", "cat o*": "addr",

		// And what is all right.
		"cat a.go": "rrrr", "cat nope": "rrrr", "cat 'sp ace'": "rrrr", "grep .env a.go": "rrrr", "grep -n '/etc' a.go": "rrrr", "echo .env /etc": "rrrr",
		"sed -n '/etc/p' a.go": "rrrr", "cat *.go": "rrrr", "head -n 5 src/*.go": "rrrr", "jq .env a.go": "rrrr", "git status": "rrrr",
		"git log -p": "rrrr", "git diff": "rrrr", "cd src && cat b.go": "rddr", "cat nope*": "rrrr", "rg K src/b.go": "rrrr",
	} {
		got := ""
		for _, m := range []Mode{Default, Plan, DontAsk, BypassPermissions} {
			p := policy(t, Config{Rules: rules, Mode: m, Roots: []Root{{Path: root}}, State: state, Home: filepath.Join(top, "home")})
			p = p.With([]Root{{Path: root}}, filepath.Join(state, "sessions/own"))
			a := running(text, root)
			d := p.Decide(a)
			got += string(map[Verdict]byte{Ask: 'a', Deny: 'd', Allow: 'r'}[d.Verdict])
			complete(t, text, a, d)
			if d.Verdict == Deny && !strings.Contains(d.Refusal, "rule") && !strings.Contains(d.Refusal, "own folder") && !strings.Contains(d.Refusal, "--permission-mode plan") {
				t.Errorf("%s: %v names no rule: %s", text, m, d.Refusal)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Where nothing is denied, only what lies outside or cannot be known makes a difference.
func TestReadOnlyWithoutRules(t *testing.T) {
	t.Parallel()
	root := folder(t)
	put(t, root, "a", "b/c")
	p := policy(t, Config{Mode: DontAsk, Roots: []Root{{Path: root}}, State: filepath.Join(root, "b", "state")})
	for text, want := range map[string]Verdict{
		"cat a": Allow, "grep -r x": Allow, "grep -R x .": Allow, "cat *": Allow, "rg x": Allow, "git diff": Allow, "cat /etc/passwd": Deny,
		"cat ~nobody/x": Deny, "ls": Allow, "ls -la": Allow, "cat nope": Allow,
	} {
		if d := p.Decide(running(text, root)); d.Verdict != want {
			t.Errorf("%s: %+v", text, d)
		}
	}
	// Where the shell stands counts.
	for text, want := range map[string]Verdict{"cat a": Deny, "ls": Deny, "cat " + root + "/a": Allow, "pwd": Allow} {
		if d := p.Decide(running(text, filepath.Dir(root))); d.Verdict != want {
			t.Errorf("elsewhere, %s: %+v", text, d)
		}
	}
	put(t, root, "b/state/token")
	for text, want := range map[string]Verdict{"grep -r x": Deny, "grep -r x b/c": Allow, "cat b/state/*": Deny, "cat b/*": Allow} {
		if d := p.Decide(running(text, root)); d.Verdict != want {
			t.Errorf("with a state folder inside, %s: %+v", text, d)
		}
	}
}

// A rule that allows the command answers for what it reads in a folder and outside, but not for what is denied.
func TestReadOnlyNamed(t *testing.T) {
	t.Parallel()
	root := folder(t)
	put(t, root, "a", ".env")
	for _, named := range []string{"allow Bash(cat:*)", "allow Bash"} {
		p := policy(t, Config{Mode: DontAsk, Roots: []Root{{Path: root}}, Rules: rules("deny Read(.env)", named, "allow Bash(rg:*)"), State: root + "/../state"})
		for text, want := range map[string]Verdict{"cat /etc/passwd": Allow, "cat .env": Deny, "rg x": Allow, "cat ../state/token": Deny} {
			if d := p.Decide(running(text, root)); d.Verdict != want {
				t.Errorf("%s, %s: %+v", named, text, d)
			}
		}
	}
}

// Of what git shows, only what it knows counts.
func TestReadOnlyTracked(t *testing.T) {
	t.Parallel()
	root := folder(t)
	put(t, root, "a", ".env", "secrets/k", "sub/x")
	p := policy(t, Config{Mode: DontAsk, Roots: []Root{{Path: root}}, Rules: rules("deny Read(.env)", "deny Read(./secrets/**)")})
	check := func(step, text string, want Verdict) {
		t.Helper()
		if d := p.Decide(running(text, root)); d.Verdict != want {
			t.Errorf("%s, %s: %+v", step, text, d)
		}
	}
	index := func(version byte, names ...string) {
		text := "DIRC\x00\x00\x00" + string(version) + "\x00\x00\x00\x01" + strings.Join(names, "\x00\x00\x00") + "\x00"
		if err := os.MkdirAll(filepath.Join(root, ".git"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, ".git", "index"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	check("no repository", "git diff", Allow)
	index(2, "a", "sub/x")
	for _, text := range []string{"git diff", "git log -p", "git show", "git grep K", "git diff HEAD~1", "git show main:a", "git diff -- a"} {
		check("untracked", text, Allow)
	}
	for _, text := range []string{"git grep --untracked K", "git grep --no-index K .", "grep -r K"} {
		check("untracked", text, Deny)
	}
	index(2, "a", "secrets/k", "sub/x")
	for _, text := range []string{"git diff", "git log -p", "git show", "git grep K", "git diff HEAD~1", "git log -p -- .", "git show HEAD:secrets/k", "cd sub && git show"} {
		check("tracked", text, Deny)
	}
	for _, text := range []string{"git diff -- a", "git diff a", "git log --oneline", "git diff --stat", "git status", "git log -p sub", "git grep K sub"} {
		check("tracked", text, Allow)
	}
	index(4, "a")
	check("an index that cannot be read", "git diff", Deny)
}

// Too much to look through asks; the text is told what it is.
func TestReadOnlyLimits(t *testing.T) {
	t.Parallel()
	root := folder(t)
	var many strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&many, " f%d", i)
	}
	p := policy(t, Config{Mode: DontAsk, Roots: []Root{{Path: root}}, Rules: rules("deny Read(.env)")})
	if d := p.Decide(running("cat"+many.String(), root)); d.Verdict != Deny || !strings.Contains(d.Refusal, "too many files") {
		t.Errorf("%v, %.200s", d.Verdict, d.Refusal)
	}
}

// What is usual and harmless still runs where nothing may be asked, unless it does read something outside.
func TestReadOnlyHarmless(t *testing.T) {
	t.Parallel()
	root := folder(t)
	put(t, root, "a.go", "main.go", "x", "go.mod", "src/b.go", "pkg/c.go", ".git/index")
	p := policy(t, Config{Mode: DontAsk, Roots: []Root{{Path: root}}, Rules: rules("allow Bash(go test:*)", "allow Bash(npm run test:*)")})
	f, err := os.Open("../internal/command/testdata/harmless.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := 0
	for d := json.NewDecoder(f); d.More(); seen++ {
		var c struct{ Command string }
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		outside := strings.Contains(c.Command, "/etc/passwd") || strings.Contains(c.Command, "~/x")
		if got := p.Decide(running(c.Command, root)); (got.Verdict == Allow) == outside {
			t.Errorf("%q: %+v", c.Command, got)
		}
	}
	if seen != 86 {
		t.Errorf("%d commands", seen)
	}
}

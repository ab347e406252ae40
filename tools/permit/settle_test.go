package permit

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(appendEnv) != "" {
		os.Exit(appendMain())
	}
	goleak.VerifyTestMain(m)
}

// rules reads rules written "deny Read(x)".
func rules(lines ...string) (out []Rule) {
	for _, l := range lines {
		effect, text, _ := strings.Cut(l, " ")
		out = append(out, Rule{Effect: map[string]Verdict{"ask": Ask, "deny": Deny, "allow": Allow}[effect], Text: text, At: "--" + effect})
	}
	return out
}

func policy(t testing.TB, c Config) *Policy {
	t.Helper()
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// folder returns a new folder's path without links.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// The accesses of the tools, over a root.
func reading(path string) Access {
	return Access{Tool: "Read", ReadOnly: true, Kind: ReadPath, Given: path, Path: path}
}

func writing(path string) Access {
	return Access{Tool: "Write", Kind: WritePath, Given: path, Path: path}
}

func running(text, dir string) Access {
	return Access{Tool: "Bash", Kind: RunCommand, Command: text, Dir: dir, Bash: true}
}

func fetching(url string) Access {
	return Access{Tool: "WebFetch", ReadOnly: true, Kind: FetchURL, URL: url}
}

// TestMatrix is the whole table of decisions: for each row the verdict in the modes default, acceptEdits, plan, dontAsk
// and bypassPermissions, as a letter: r runs, a asks, d is refused. S002, S063-S068, S264 are rows.
func TestMatrix(t *testing.T) {
	t.Parallel()
	root, out := folder(t), folder(t)
	in, other := filepath.Join(root, "a.go"), filepath.Join(out, "s")
	state := filepath.Join(out, "state")
	protected := filepath.Join(root, ".mcp.json")
	undo := Access{Tool: "Undo"}
	for _, c := range []struct {
		name   string
		rules  []string
		access Access
		server string // nobody but the client answers
		host   string // the host has asked
		strict string // what no rule speaks of asks
	}{
		{"deny rule, read", []string{"deny Read(a.go)", "allow Read"}, reading(in), "ddddd", "ddddd", "ddddd"},
		{"deny rule, write", []string{"deny Edit(a.go)", "allow Edit"}, writing(in), "ddddd", "ddddd", "ddddd"},
		{"deny rule, tool", []string{"deny Undo", "allow Undo"}, undo, "ddddd", "ddddd", "ddddd"},
		{"deny rule, command", []string{"deny Bash(curl:*)", "allow Bash"}, running("curl x", root), "ddddd", "ddddd", "ddddd"},
		{"deny rule, host", []string{"deny WebFetch(domain:e.com)", "allow WebFetch"}, fetching("https://e.com/"), "ddddd", "ddddd", "ddddd"},
		{"state folder, read", []string{"allow Read", "allow Read(//**)"}, reading(filepath.Join(state, "token")), "ddddd", "ddddd", "ddddd"},
		{"state folder, write", []string{"allow Edit(//**)"}, writing(state + "/settings.json"), "ddddd", "ddddd", "ddddd"},

		{"ask rule, read", []string{"ask Read(*.go)", "allow Read"}, reading(in), "aaadr", "rrrdr", "aaadr"},
		{"ask rule, write", []string{"ask Edit(*.go)", "allow Edit"}, writing(in), "aaddr", "rrddr", "aaddr"},
		{"ask rule, command", []string{"ask Bash(git push:*)", "allow Bash"}, running("git push", root), "aaddr", "rrddr", "aaddr"},
		{"ask rule, tool", []string{"ask Undo"}, undo, "aaddr", "rrddr", "aaddr"},
		{"protected file", nil, writing(protected), "aaddr", "ddddr", "aaddr"},
		{"protected file, allowed in general", []string{"allow Edit", "allow Edit(**)", "allow *"}, writing(protected), "aaddr", "ddddr", "aaddr"},
		{"protected file, allowed by name", []string{"allow Edit(.mcp.json)"}, writing(protected), "rrdrr", "rrdrr", "rrdrr"},
		{"protected file, ask rule", []string{"ask Edit(*)"}, writing(protected), "aaddr", "ddddr", "aaddr"},
		{"path outside, ask rule", []string{"ask Read"}, reading(other), "aaadd", "ddddd", "aaadd"},
		{"protected file, read", nil, reading(protected), "rrrrr", "rrrrr", "rrrrr"},
		{"redirect to a protected file", nil, running("echo x > .mcp.json", root), "aaddr", "ddddr", "aaddr"},
		{"redirect to a path outside", nil, running("echo x > "+other, root), "aaddd", "ddddd", "aaddd"},
		{"redirect to a path outside, allowed in general", []string{"allow Bash", "allow Edit"}, running("echo x > "+other, root), "aaddd", "ddddd", "aaddd"},
		{"redirect to a path outside, allowed by rule", []string{"allow Edit(/" + slashed(out) + "/s)", "allow Bash"}, running("echo x > "+other, root), "rrdrr", "rrdrr", "rrdrr"},
		{"redirect from a path outside", nil, running("cat < "+other, root), "aaddr", "ddddr", "aaddr"},
		{"read-only command, denied file", []string{"deny Read(a.go)", "allow Bash"}, running("cat a.go", root), "ddddd", "ddddd", "ddddd"},
		{"read-only command, state folder", []string{"allow Bash"}, running("cat "+state+"/token", root), "ddddd", "ddddd", "ddddd"},
		{"read-only command, path outside", nil, running("cat "+other, root), "aaddr", "ddddr", "aaddr"},
		{"read-only command, ask rule", []string{"ask Read(a.go)"}, running("cat a.go", root), "aaddr", "rrddr", "aaddr"},
		{"read-only command, allowed by name", []string{"allow Bash(cat:*)"}, running("cat "+other, root), "rrrrr", "rrrrr", "rrrrr"},
		{"new host", nil, fetching("https://e.com/"), "aaadr", "rrrdr", "aaadr"},
		{"path outside, read", nil, reading(other), "aaadd", "ddddd", "aaadd"},
		{"path outside, write", nil, writing(other), "aaddd", "ddddd", "aaddd"},
		{"path outside, allowed in general", []string{"allow Read", "allow Read(**)", "allow Read(/**)"}, reading(other), "aaadd", "ddddd", "aaadd"},
		{"path outside, allowed by rule", []string{"allow Read(/" + slashed(out) + "/**)"}, reading(other), "rrrrr", "rrrrr", "rrrrr"},
		{"path outside, write allowed by rule", []string{"allow Edit(/" + slashed(out) + "/s)"}, writing(other), "rrdrr", "rrdrr", "rrdrr"},

		{"allow rule, write", []string{"allow Edit(*.go)"}, writing(in), "rrdrr", "rrdrr", "rrdrr"},
		{"allow rule, command", []string{"allow Bash(npm test)"}, running("npm test", root), "rrdrr", "rrdrr", "rrdrr"},
		{"allow rule, tool", []string{"allow Undo"}, undo, "rrdrr", "rrdrr", "rrdrr"},
		{"allow rule, host", []string{"allow WebFetch(domain:e.com)"}, fetching("https://e.com/"), "rrrrr", "rrrrr", "rrrrr"},
		{"allow rule, all tools", []string{"allow *"}, undo, "rrdrr", "rrdrr", "rrdrr"},
		{"read-only tool", nil, Access{Tool: "TaskOutput", ReadOnly: true}, "rrrrr", "rrrrr", "rrrrr"},
		{"read in the workspace", []string{"allow Read(b.go)"}, reading(in), "rrrrr", "rrrrr", "rrrrr"},
		{"read-only command", []string{"allow Bash(npm test)"}, running("git status", root), "rrrrr", "rrrrr", "rrrrr"},

		{"edit, no rule", nil, writing(in), "rrddr", "rrddr", "arddr"},
		{"edit, not on the list", []string{"allow Edit(b.go)"}, writing(in), "arddr", "rrddr", "arddr"},
		{"command, no rule", nil, running("make", root), "rrddr", "rrddr", "aaddr"},
		{"command, not on the list", []string{"allow Bash(npm test)"}, running("make", root), "aaddr", "rrddr", "aaddr"},
		{"tool, no rule", nil, undo, "rrddr", "rrddr", "aaddr"},
		{"foreign tool", nil, Access{Tool: "mcp__x__y"}, "rrddr", "rrddr", "aaddr"},
	} {
		for i, m := range []Mode{Default, AcceptEdits, Plan, DontAsk, BypassPermissions} {
			for k, want := range []string{c.server, c.host, c.strict} {
				p := policy(t, Config{
					Rules: rules(c.rules...), Mode: m, HostAnswers: k == 1, AskUnmatched: k == 2,
					Roots: []Root{{Path: root}}, State: state,
				})
				d := p.Decide(c.access)
				if got := map[Verdict]byte{Ask: 'a', Deny: 'd', Allow: 'r'}[d.Verdict]; got != want[i] {
					t.Errorf("%s, %v, way %d: got %c, want %c; %+v", c.name, m, k, got, want[i], d)
				}
				complete(t, c.name, c.access, d)
			}
		}
	}
}

// complete demands that a decision has what it needs.
func complete(t *testing.T, name string, a Access, d Decision) {
	t.Helper()
	if (d.Refusal != "") != (d.Verdict != Allow) || (d.Question != "") != (d.Verdict == Ask) || (d.Key != "") != (d.Verdict == Ask) {
		t.Errorf("%s: incomplete: %+v", name, d)
	}
	if strings.ContainsAny(d.Refusal, "\n\t\x00") || strings.Contains(d.Refusal, "%!") || strings.Contains(d.Question, "%!") {
		t.Errorf("%s: %q, %q", name, d.Refusal, d.Question)
	}
	squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") } // the judge prints what it allows in its own way
	if a.Kind == RunCommand && (d.Verdict == Ask && d.Run != a.Command || d.Verdict == Allow && squeeze(d.Run) != squeeze(a.Command)) {
		t.Errorf("%s: would run %q", name, d.Run)
	}
}

// A refusal says what would have helped. S002, S063-S068.
func TestRefusal(t *testing.T) {
	t.Parallel()
	root, out := folder(t), folder(t)
	p := policy(t, Config{Roots: []Root{{Path: root}}, State: filepath.Join(out, "state"), Rules: rules("deny Read(.env)", "ask Bash(git push)")})
	for _, name := range []string{".mcp.json", ".git/hooks/pre-commit", ".claude/settings.json", ".vscode/tasks.json", ".envrc", ".ferrule/settings.json"} {
		d := p.Decide(writing(filepath.Join(root, filepath.FromSlash(name))))
		if rule := "Edit(./" + name + ")"; d.Verdict != Ask || !strings.Contains(d.Refusal, rule) {
			t.Errorf("%s: %+v", name, d)
			continue
		} else if q := policy(t, Config{Roots: []Root{{Path: root}}, Rules: rules("allow " + rule)}); q.Decide(writing(filepath.Join(root, name))).Verdict != Allow {
			t.Errorf("the rule that is offered, %s, does not help", rule)
		}
	}
	sibling := root + "-evil" // whose name begins like the root's
	for _, c := range []struct {
		access Access
		want   []string
	}{
		{reading(sibling + "/s"), []string{"--read-dir", "--add-dir", "Read(/" + slashed(sibling) + "/s)"}},
		{Access{Tool: "Grep", ReadOnly: true, Kind: ReadPath, Path: out, Info: info(t, out)}, []string{"Read(/" + slashed(out) + "/**)"}},
		{writing(sibling + "/s"), []string{"--add-dir", "Edit("}},
		{reading(filepath.Join(root, ".env")), []string{"Read(.env) (--deny)"}},
		{running("git push", root), []string{"Bash(git push) (--ask)"}},
		{fetching("https://Bücher.example:81/x"), []string{"WebFetch(domain:xn--bcher-kva.example)"}},
		{fetching("ftp://x/"), []string{"http and https"}},
		{reading(filepath.Join(root, "*[x]")), nil},
	} {
		d := p.Decide(c.access)
		if c.want == nil && d.Verdict != Allow || c.want != nil && d.Verdict == Allow {
			t.Errorf("%+v: %+v", c.access, d)
		}
		for _, w := range c.want {
			if runtime.GOOS != "windows" && !strings.Contains(d.Refusal, w) {
				t.Errorf("%q does not name %q", d.Refusal, w)
			}
		}
	}
}

func info(t *testing.T, path string) os.FileInfo {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return fi
}

// S081: the text in the question, the text that is judged and the text that runs are the same; what cannot be seen is
// shown.
func TestQuestion(t *testing.T) {
	t.Parallel()
	root := folder(t)
	p := policy(t, Config{Roots: []Root{{Path: root}}, AskUnmatched: true})
	for _, text := range []string{"make x", "make\nrm -rf x", "make 'a  b' # c", "make \u202Etxt.x"} {
		d := p.Decide(running(text, root))
		if d.Verdict != Ask || d.Run != text || !strings.HasSuffix(d.Question, "\n\n"+visible(text)) {
			t.Errorf("%q: %+v", text, d)
		}
		if strings.Contains(d.Question, "\u202E") {
			t.Errorf("hidden character in %q", d.Question)
		}
	}
	p = policy(t, Config{Roots: []Root{{Path: root}}, Rules: rules("allow Bash(npm:*)")})
	for _, text := range []string{"npm   test", "git   status"} {
		if d := p.Decide(running(text, root)); d.Verdict != Allow || d.Run != strings.Join(strings.Fields(text), " ") {
			t.Errorf("allowed by its words, so it has to run as these words: %+v", d)
		}
	}
}

// Answers hold for the very tool and argument.
func TestKeys(t *testing.T) {
	t.Parallel()
	root := folder(t)
	p := policy(t, Config{Roots: []Root{{Path: root}}, AskUnmatched: true})
	var g Grants
	mcp := filepath.Join(root, ".mcp.json")
	all := []Access{
		writing(mcp), writing(filepath.Join(root, ".envrc")), {Tool: "Edit", Kind: WritePath, Path: mcp}, reading("/x"), reading("/y"),
		running("make a", root), running("make  a", root), running("make a", root+"/b"), fetching("https://a.example/1"),
		fetching("https://b.example/1"), fetching("https://a.example:8443/1"), {Tool: "Undo"},
	}
	seen := map[string]bool{}
	for _, a := range all {
		k := p.Decide(a).Key
		if k == "" || seen[k] || g.Has(k) {
			t.Errorf("%+v: key %q", a, k)
		}
		seen[k] = true
		g.Add(k)
		if !g.Has(p.Decide(a).Key) {
			t.Errorf("%+v: not remembered", a)
		}
	}
	if !g.Has(p.Decide(fetching("https://A.example./2")).Key) {
		t.Error("an answer about a host holds for its pages")
	}
	g.Add("")
	if g.Has("") {
		t.Error("an empty key was granted")
	}
}

// BenchmarkDecide is what every call pays. Without rules a Read costs 20 ns.
func BenchmarkDecide(b *testing.B) {
	root := folder(b)
	read := reading(filepath.Join(root, "internal/parser/parser.go"))
	write := writing(filepath.Join(root, "internal/parser/parser.go"))
	deny := rules("deny Read(.env*)", "deny Read(./secrets/**)", "deny Read(**/*.pem)", "ask Edit(/vendor/**)")
	for _, c := range []struct {
		name string
		Config
		access Access
	}{
		{"read/no rules", Config{}, read},
		{"read/4 rules", Config{Rules: deny}, read},
		{"read/one path", Config{Rules: rules("deny Read(./secrets)")}, read},
		{"write/no rules", Config{}, write},
		{"command/no rules", Config{}, running("go test ./...", root)},
	} {
		c.Roots, c.State = []Root{{Path: root}}, "/nonexistent/state"
		p := policy(b, c.Config)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Decide(c.access)
			}
		})
	}
}

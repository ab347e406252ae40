package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ferrule/tools/permit"
)

// A person answers questions, always in the same way, and remembers them.
type person struct {
	nobody
	decision, reason string
	action           Action
	asked            []string
	err              error
}

func (u *person) CanAsk() bool { return true }

func (u *person) Ask(_ context.Context, q Question) (Answer, error) {
	u.asked = append(u.asked, q.Text)
	return Answer{Action: u.action, Values: map[string][]string{"decision": {u.decision}, "reason": {u.reason}}}, u.err
}

// guarded returns a session that lives by rules such as "deny Read(.env)".
func guarded(t *testing.T, rules ...string) (*Session, string) {
	t.Helper()
	cfg := permit.Config{}
	for _, text := range rules {
		effect, rule, _ := strings.Cut(text, " ")
		verdict := map[string]permit.Verdict{"deny": permit.Deny, "ask": permit.Ask, "allow": permit.Allow}[effect]
		cfg.Rules = append(cfg.Rules, permit.Rule{Effect: verdict, Text: rule, At: "test"})
	}
	return governed(t, cfg)
}

func governed(t *testing.T, cfg permit.Config) (*Session, string) {
	t.Helper()
	p, err := permit.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return open(t, Config{Policy: constant(p)})
}

func constant(p *permit.Policy) func(string) (*permit.Policy, error) {
	return func(string) (*permit.Policy, error) { return p, nil }
}

func as(t *testing.T, host Host, s *Session, tool *Tool, args map[string]any) Result {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return tool.Call(t.Context(), s, host, raw)
}

// H109, S007, S008, S009, S037: a denied file is denied to every tool and in
// every spelling, and searches go by as if it were not there.
func TestDenied(t *testing.T) {
	s, dir := guarded(t, "deny Read(./.env)", "deny Read(./secrets/**)")
	for _, d := range []string{"secrets", "sub", "x"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(dir, ".env"), "K=1\n")
	put(t, filepath.Join(dir, "secrets", "k"), "K=2\n")
	put(t, filepath.Join(dir, "open.txt"), "K=3\n")
	for name, target := range map[string]string{"link": ".env", "a": "secrets/k", "d": "secrets", "e": "sub"} {
		if err := os.Symlink(filepath.FromSlash(target), filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	names := []string{".env", dir + "/.env", "./x/../.env", "x/../.env", "link", "secrets/k", "a", "d/k", "d/../secrets/k", "e/../secrets/k", "//" + dir[1:] + "/.env"}
	if runtime.GOOS != "linux" {
		names = append(names, ".ENV")
	}
	for _, name := range names {
		for _, c := range []struct {
			tool *Tool
			args map[string]any
		}{
			{Read, map[string]any{"file_path": name}},
			{Grep, map[string]any{"pattern": "K", "path": name, "output_mode": "content"}},
			{Edit, map[string]any{"file_path": name, "old_string": "K", "new_string": "L"}},
			{Write, map[string]any{"file_path": name, "content": "x"}},
		} {
			r := call(t, s, c.tool, c.args)
			if !r.Failed || strings.Contains(r.Text, "K=") || !strings.Contains(r.Text, "denied by the rule Read(") {
				t.Errorf("%s %s: %q", c.tool.Name, name, r.Text)
			}
		}
	}
	for _, c := range []struct {
		tool *Tool
		args map[string]any
	}{
		{Grep, map[string]any{"pattern": "K", "output_mode": "content"}},
		{Grep, map[string]any{"pattern": "K", "glob": "**/.env*"}},
		{Glob, map[string]any{"pattern": "**"}},
		{Glob, map[string]any{"pattern": "**/k"}},
	} {
		text := call(t, s, c.tool, c.args).Text
		if strings.Contains(text, "K=1") || strings.Contains(text, "K=2") || strings.Contains(text, "secrets") || strings.Contains(text, "\t.env") {
			t.Errorf("%s %v shows what is denied: %q", c.tool.Name, c.args, text)
		}
	}
	if got := must(t, s, Grep, map[string]any{"pattern": "K", "output_mode": "content"}); !strings.Contains(got, "K=3") || !strings.Contains(got, "may not be read by rule") {
		t.Errorf("what is not denied, and that something is: %q", got)
	}
	if got := must(t, s, ListDir, map[string]any{}); strings.Contains(got, " secrets/\n") || !strings.Contains(got, "2 entries may not be read") {
		t.Errorf("ListDir: %q", got)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, ".env")); string(got) != "K=1\n" {
		t.Errorf(".env holds %q", got)
	}
}

// What may not be read gets into no prompt either, and is not overwritten by a
// redirect.
func TestDeniedElsewhere(t *testing.T) {
	s, dir := guarded(t, "deny Read(.env)")
	put(t, filepath.Join(dir, ".env"), "K=1\n")
	put(t, filepath.Join(dir, "AGENTS.md"), "see @.env\n")
	if data, err := s.ReadFile(".env"); err == nil {
		t.Errorf("a prompt may hold %q", data)
	}
	if _, err := s.ReadFile("AGENTS.md"); err != nil {
		t.Error(err)
	}
	for _, command := range []string{"echo x > .env", "echo x >> ./.env", "cat < .env"} {
		if r := call(t, s, Bash, map[string]any{"command": command}); !r.Failed || strings.Contains(r.Text, "K=1") {
			t.Errorf("%s: %q", command, r.Text)
		}
	}
	if got, _ := os.ReadFile(filepath.Join(dir, ".env")); string(got) != "K=1\n" {
		t.Errorf(".env holds %q", got)
	}
}

// S010: a pattern does not know a hard link to a file it denies, as the package
// documentation says; a rule that names the one file does.
func TestDeniedHardLink(t *testing.T) {
	s, dir := guarded(t, "deny Read(./secrets/**)", "deny Read(/one)")
	if err := os.Mkdir(filepath.Join(dir, "secrets"), 0o777); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "secrets", "k"), "K\n")
	put(t, filepath.Join(dir, "one"), "K\n")
	for from, to := range map[string]string{"secrets/k": "h1", "one": "h2"} {
		if err := os.Link(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Skip(err)
		}
	}
	must(t, s, Read, map[string]any{"file_path": "h1"})
	if r := call(t, s, Read, map[string]any{"file_path": "h2"}); !r.Failed {
		t.Error("a hard link to a file that is denied by name can be read")
	}
}

// S002 H110 H111: what lies outside is read or changed if the user says so, and
// only then, however the way there is written.
func TestOutsideAsks(t *testing.T) {
	s, dir := governed(t, permit.Config{})
	out := filepath.Join(filepath.Dir(dir), filepath.Base(dir)+"-evil")
	if err := os.Mkdir(out, 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(out, "s")
	put(t, file, "outside\n")
	read := map[string]any{"file_path": file}
	for _, c := range []struct {
		tool *Tool
		args map[string]any
	}{
		{Read, read},
		{Read, map[string]any{"file_path": dir + "/../" + filepath.Base(out) + "/s"}},
		{Read, map[string]any{"file_path": dir + "/sub/../../" + filepath.Base(out) + "/s"}},
		{Glob, map[string]any{"pattern": "*", "path": out}},
		{Grep, map[string]any{"pattern": "outside", "path": out}},
		{Edit, map[string]any{"file_path": file, "old_string": "o", "new_string": "O"}},
	} {
		if r := call(t, s, c.tool, c.args); !r.Failed || !strings.Contains(r.Text, "--add-dir") {
			t.Errorf("%s without a user: %q", c.tool.Name, r.Text)
		}
		no := &person{action: Accepted, decision: deny, reason: "look into p"}
		if r := as(t, no, s, c.tool, c.args); !r.Failed || !strings.Contains(r.Text, "look into p") || len(no.asked) != 1 || !strings.Contains(no.asked[0], out) {
			t.Errorf("%s, no: %q, asked %q", c.tool.Name, r.Text, no.asked)
		}
		for _, action := range []Action{Declined, Cancelled} {
			if r := as(t, &person{action: action}, s, c.tool, c.args); !r.Failed {
				t.Errorf("%s, %v: %q", c.tool.Name, action, r.Text)
			}
		}
	}
	once := &person{action: Accepted, decision: allowOnce}
	for range 2 {
		if r := as(t, once, s, Read, read); r.Failed || !strings.Contains(r.Text, "1\toutside") {
			t.Fatalf("allowed once: %q", r.Text)
		}
	}
	if len(once.asked) != 2 {
		t.Errorf("asked %d times for two calls that were allowed once", len(once.asked))
	}
	edit := map[string]any{"file_path": file, "old_string": "outside", "new_string": "changed"}
	if r := as(t, once, s, Edit, edit); r.Failed {
		t.Fatalf("allowed to edit: %q", r.Text)
	}
	if got, _ := os.ReadFile(file); string(got) != "changed\n" {
		t.Errorf("the file holds %q", got)
	}
	whole := &person{action: Accepted, decision: allowSession}
	as(t, whole, s, Read, read)
	if r := call(t, s, Read, read); r.Failed {
		t.Errorf("allowed for the session, then without a user: %q", r.Text)
	}
	put(t, filepath.Join(out, "t"), "another\n")
	if r := call(t, s, Read, map[string]any{"file_path": filepath.Join(out, "t")}); !r.Failed {
		t.Error("the answer for one file counts for its neighbour")
	}
	if r := call(t, s, Edit, edit); !r.Failed {
		t.Error("the answer for reading counts for writing")
	}
}

// A link in an allowed place outside does not lead further.
func TestOutsideLink(t *testing.T) {
	s, dir := governed(t, permit.Config{})
	out := t.TempDir()
	put(t, filepath.Join(out, "target"), "x\n")
	if err := os.Symlink(filepath.Join(out, "target"), filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	u := &person{action: Accepted, decision: allowOnce}
	if r := as(t, u, s, Read, map[string]any{"file_path": "link"}); r.Failed || len(u.asked) != 1 || !strings.Contains(u.asked[0], "target") {
		t.Errorf("%q, asked %q: the question has to name the file itself", r.Text, u.asked)
	}
}

// A pending question ends the call before it has had an effect.
func TestPending(t *testing.T) {
	s, dir := guarded(t, "ask Edit(*.go)", "ask Bash(touch:*)")
	put(t, filepath.Join(dir, "a.go"), "a\n")
	must(t, s, Read, map[string]any{"file_path": "a.go"})
	u := &person{err: ErrPending}
	for _, c := range []struct {
		tool *Tool
		args map[string]any
	}{
		{Edit, map[string]any{"file_path": "a.go", "old_string": "a", "new_string": "b"}},
		{MultiEdit, map[string]any{"file_path": "a.go", "edits": []map[string]string{{"old_string": "a", "new_string": "b"}}}},
		{Write, map[string]any{"file_path": "b.go", "content": "b"}},
		{Bash, map[string]any{"command": "touch c"}},
		{Bash, map[string]any{"command": "touch c", "run_in_background": true}},
	} {
		as(t, u, s, c.tool, c.args)
	}
	if len(u.asked) != 5 {
		t.Errorf("asked %q", u.asked)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "a.go")); string(got) != "a\n" {
		t.Errorf("a.go holds %q", got)
	}
	for _, name := range []string{"b.go", "c"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}

// Undo changes files, so it asks like every change; all steps or none.
func TestUndoAsks(t *testing.T) {
	p, err := permit.New(permit.Config{Rules: []permit.Rule{{Effect: permit.Ask, Text: "Undo"}}})
	if err != nil {
		t.Fatal(err)
	}
	s, dir := open(t, Config{Policy: constant(p), State: t.TempDir()})
	must(t, s, Write, map[string]any{"file_path": "a", "content": "1\n"})
	if r := call(t, s, Undo, map[string]any{}); !r.Failed {
		t.Errorf("undone without a question: %q", r.Text)
	}
	if r := as(t, &person{action: Accepted, decision: allowOnce}, s, Undo, map[string]any{}); r.Failed {
		t.Error(r.Text)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); err == nil {
		t.Error("not undone")
	}
}

// Commands are judged, and what was judged is what runs.
func TestCommandRules(t *testing.T) {
	s, dir := guarded(t, "deny Bash(rm:*)", "deny Edit(/kept)")
	put(t, filepath.Join(dir, "kept"), "x\n")
	for _, command := range []string{"rm kept", "true && rm kept", "/bin/rm kept", "echo $(rm kept)", "bash -c 'rm kept'", "echo y > kept", "cd . && echo y >> ./kept"} {
		if r := call(t, s, Bash, map[string]any{"command": command}); !r.Failed || !strings.Contains(r.Text, "rule") {
			t.Errorf("%s: %q", command, r.Text)
		}
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "kept")); string(got) != "x\n" {
		t.Errorf("kept holds %q", got)
	}
	if got := must(t, s, Bash, map[string]any{"command": "echo  'a  b'   \"$HOME\" >/dev/null; echo 'a  b'"}); !strings.HasPrefix(got, "a  b") {
		t.Errorf("a harmless command: %q", got)
	}
}

// Protected files ask in default mode, whether they exist or not.
func TestProtectedAsks(t *testing.T) {
	s, dir := governed(t, permit.Config{})
	for _, name := range []string{".git/hooks/pre-commit", ".mcp.json", ".vscode/tasks.json", ".envrc", ".GIT/config"} {
		if r := call(t, s, Write, map[string]any{"file_path": name, "content": "x"}); !r.Failed || !strings.Contains(r.Text, "protected") {
			t.Errorf("%s: %q", name, r.Text)
		}
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	if r := call(t, s, Bash, map[string]any{"command": "mkdir -p .git/hooks && echo x > .git/hooks/pre-commit"}); !r.Failed {
		t.Errorf("a redirect into a protected file: %q", r.Text)
	}
	u := &person{action: Accepted, decision: allowOnce}
	if r := as(t, u, s, Write, map[string]any{"file_path": ".envrc", "content": "x"}); r.Failed || len(u.asked) != 1 {
		t.Errorf("with a yes: %q, asked %q", r.Text, u.asked)
	}
}

// Every decision is written down, and nothing of what was read or written.
func TestAudited(t *testing.T) {
	state := t.TempDir()
	p, err := permit.New(permit.Config{Rules: []permit.Rule{{Effect: permit.Deny, Text: "Read(no)", At: "--deny"}}})
	if err != nil {
		t.Fatal(err)
	}
	log, err := permit.OpenAudit(state)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s, dir := open(t, Config{Policy: constant(p), Audit: log})
	put(t, filepath.Join(dir, "no"), "s3cret\n")
	must(t, s, Write, map[string]any{"file_path": "yes", "content": "s3cret\n"})
	call(t, s, Read, map[string]any{"file_path": "no"})
	must(t, s, Bash, map[string]any{"command": "echo s3cret"})
	data, err := os.ReadFile(filepath.Join(state, "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) != 3 || strings.Contains(string(data), "s3cret") {
		t.Fatalf("%s", data)
	}
	var e permit.Entry
	if err := json.Unmarshal([]byte(lines[1]), &e); err != nil || e.Tool != "Read" || e.Decision != "deny" || !strings.Contains(e.Rule, "--deny") || e.Session != s.ID() {
		t.Errorf("%s: %v", lines[1], err)
	}
}

package tools

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ferrule/tools/permit"
)

// S154: what a command does to protected files is told and can be taken back.
func TestGuard(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts of this test are for Unix")
	}
	state := t.TempDir()
	audit, err := permit.OpenAudit(state)
	if err != nil {
		t.Fatal(err)
	}
	defer audit.Close()
	s, dir := open(t, Config{State: state, Audit: audit})
	r := &request{s, nobody{}, Bash}
	if notes := r.guardNotes(); notes != nil {
		t.Errorf("without a command: %q", notes)
	}
	for _, folder := range []string{".git/hooks", ".vscode/deep/er"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(dir, ".git/config"), "[core]\n")
	put(t, filepath.Join(dir, ".mcp.json"), "{}\n")
	put(t, filepath.Join(dir, ".vscode/deep/er/x.json"), "1\n")
	put(t, filepath.Join(dir, ".envrc"), strings.Repeat("x", maxGuarded+1))
	put(t, filepath.Join(dir, ".git/hooks/pre-push"), "#!/bin/sh\n")
	run := func(script string) string {
		t.Helper()
		r.guardFiles()
		c := exec.Command("sh", "-ec", script)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return strings.Join(r.guardNotes(), "\n")
	}
	for _, c := range []struct{ script, name, what, before string }{
		{"echo x > .git/hooks/pre-commit", ".git/hooks/pre-commit", "was created", ""},
		{"echo y >> .mcp.json", ".mcp.json", "was changed", "{}\n"},
		{"printf '[]' > f && touch -r .mcp.json f && mv f .mcp.json", ".mcp.json", "was changed", "{}\n"},
		{"echo '[alias]' >> .git/config", ".git/config", "was changed", "[core]\n"},
		{"rm .vscode/deep/er/x.json", ".vscode/deep/er/x.json", "was removed", "1\n"},
		{"echo 1 > .bashrc", ".bashrc", "was created", ""},
	} {
		notes := run(c.script)
		want := fmt.Sprintf("(the protected file %s %s; the user can take that back with: ferrule undo %s)", c.name, c.what, c.name)
		if notes != want {
			t.Errorf("%s: %q, want %q", c.script, notes, want)
		}
		if _, err := s.Undo(t.Context(), UndoOptions{File: c.name}); err != nil {
			t.Errorf("%s: %v", c.script, err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, c.name)); string(got) != c.before || (err != nil) != (c.before == "") {
			t.Errorf("%s: %s holds %q, %v; want %q", c.script, c.name, got, err, c.before)
		}
	}
	for script, want := range map[string]string{
		"echo x > f; mkdir -p .git/objects; echo x > .git/objects/o; echo x > .git/hooks/pre-commit.sample": "",
		"chmod +x .git/hooks/pre-push": "has the mode -rwxr-xr-x now)",
		"echo y >> .envrc":             ".envrc was changed)",
		"ln -s /etc/hosts .gitmodules": ".gitmodules was created)",
	} {
		if notes := run(script); !strings.HasSuffix(notes, want) || (notes == "") != (want == "") {
			t.Errorf("%s: %q, want %q", script, notes, want)
		}
	}
	if notes := run("ln -sfn /etc/passwd .gitmodules"); !strings.Contains(notes, ".gitmodules was changed") {
		t.Errorf("another link: %q", notes)
	}
	many := run("mkdir .idea; for i in 1 2 3 4 5 6 7; do echo $i > .idea/$i; done")
	if strings.Count(many, "\n") != maxTold || !strings.Contains(many, "and 2 protected files more") {
		t.Errorf("many: %q", many)
	}
	log, err := os.ReadFile(filepath.Join(state, "audit.jsonl"))
	if err != nil || !strings.Contains(string(log), "the protected file .git/config was changed") {
		t.Errorf("the audit log: %v\n%s", err, log)
	}
}

// What happens between two commands is not theirs, unless one runs in the
// background; and what a tool did is known anyway.
func TestGuardBetween(t *testing.T) {
	s, dir := open(t, Config{State: t.TempDir()})
	r := &request{s, nobody{}, Bash}
	put(t, filepath.Join(dir, ".mcp.json"), "1\n")
	r.guardFiles()
	put(t, filepath.Join(dir, ".mcp.json"), "2\n")
	r.guardFiles()
	if notes := r.guardNotes(); notes != nil {
		t.Errorf("the user's change: %q", notes)
	}
	must(t, s, Read, map[string]any{"file_path": ".mcp.json"})
	must(t, s, Write, map[string]any{"file_path": ".mcp.json", "content": "3\n"})
	if notes := r.guardNotes(); notes != nil {
		t.Errorf("the tool's change: %q", notes)
	}
	must(t, s, Bash, map[string]any{"command": "read x", "run_in_background": true, "stdin_open": true})
	put(t, filepath.Join(dir, ".mcp.json"), "4\n")
	r.guardFiles()
	if notes := r.guardNotes(); len(notes) != 1 {
		t.Errorf("a change while a command ran: %q", notes)
	}
}

func BenchmarkGuard(b *testing.B) {
	dir := b.TempDir()
	for i := range 50 {
		os.MkdirAll(filepath.Join(dir, ".vscode"), 0o755)
		os.WriteFile(filepath.Join(dir, ".vscode", fmt.Sprint(i)), []byte("x"), 0o644)
	}
	s, err := NewSession(Config{Roots: []string{dir}})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	r := &request{s, nobody{}, Bash}
	for b.Loop() {
		r.guardFiles()
		r.guardNotes()
	}
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ferrule/tools/permit"
)

// runIn runs a command inside this process, with home as the place of its state.
func runIn(t *testing.T, home string, args ...string) (code int, out, log string) {
	t.Helper()
	var o, e bytes.Buffer
	env := environment{in: strings.NewReader(""), out: &o, err: &e, getenv: func(name string) string {
		return map[string]string{"FERRULE_HOME": home}[name]
	}}
	code = run(t.Context(), env, args)
	return code, o.String(), e.String()
}

// saysIn demands an exit code and texts in what a command prints.
func saysIn(t *testing.T, home string, code int, want []string, args ...string) string {
	t.Helper()
	got, out, log := runIn(t, home, args...)
	for _, w := range want {
		if !strings.Contains(out+log, w) {
			t.Errorf("ferrule %s does not say %q:\n%s%s", strings.Join(args, " "), w, out, log)
		}
	}
	if got != code {
		t.Errorf("ferrule %s: exit code %d, want %d:\n%s%s", strings.Join(args, " "), got, code, out, log)
	}
	return out
}

func TestTrustCommand(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, project := filepath.Join(dir, "home"), filepath.Join(dir, "p")
	if err := os.MkdirAll(filepath.Join(project, ".ferrule"), 0o755); err != nil {
		t.Fatal(err)
	}
	saysIn(t, home, 0, []string{"has no settings"}, "trust", project)
	saysIn(t, home, 0, []string{"No project is trusted"}, "trust", "--list")
	if _, err := os.Stat(home); err == nil {
		t.Error("looking has made a folder")
	}
	file := filepath.Join(project, ".ferrule", "settings.json")
	put(t, file, `{"permissions": {"allow": ["Bash(npm test)", "Bash(echo '\u001b[2J':*)"], "deny": ["Read(.env)"]}, "hooks": {}}`)
	out := saysIn(t, home, 1, []string{"settings.json:1:46"}, "trust", project) // the judge takes no such character
	if strings.Contains(out, "\x1b") {
		t.Errorf("a control character got through: %q", out)
	}
	put(t, file, `{"permissions": {"allow": ["Bash(npm test)", "Edit(\u202egnp.sh)"], "deny": ["Read(.env)"]}, "hooks": {}}`)
	saysIn(t, home, 0, []string{"allow Bash(npm test)", `"Edit(\u202egnp.sh)"`, "deny  Read(.env)", `"hooks" has no effect`, "Trusted as it is now"}, "-C", project, "trust")
	saysIn(t, home, 0, []string{"You trust this already"}, "trust", project)
	saysIn(t, home, 0, []string{project, "settings"}, "trust", "--list")
	put(t, file, `{"permissions": {"allow": ["Bash"]}}`)
	saysIn(t, home, 0, []string{"allow Bash ", "Trusted as it is now"}, "trust", project)
	saysIn(t, home, 0, []string{"no longer trusted"}, "trust", "--remove", project)
	saysIn(t, home, 1, []string{"is not trusted"}, "trust", "--remove", project)
	saysIn(t, home, 1, []string{"usage"}, "trust", "a", "b")
	saysIn(t, home, 1, []string{"usage"}, "trust", "--list", "--remove")
	saysIn(t, home, 1, []string{"no folder"}, "trust", filepath.Join(project, "nowhere"))
	if fi, err := os.Stat(filepath.Join(home, "trust.json")); err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", fi, err)
	}
}

func TestAuditCommand(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	saysIn(t, home, 0, []string{"Nothing has been decided"}, "audit")
	log, err := permit.OpenAudit(home)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for i, e := range []permit.Entry{
		{Session: "one", Tool: "Read", Decision: "allow"},
		{Session: "two", Tool: "Bash", Decision: "deny", Rule: "Bash(rm:*) (--deny)"},
		{Session: "one", Tool: "Wr\x1b[2Jite", Decision: "ask"},
	} {
		if err := log.Add(e); err != nil {
			t.Fatal(i, err)
		}
	}
	out := saysIn(t, home, 0, []string{"TIME", "Bash(rm:*) (--deny)", `"Wr\x1b[2Jite"`}, "audit")
	if strings.Count(out, "\n") != 4 {
		t.Errorf("%q", out)
	}
	out = saysIn(t, home, 0, []string{`"tool":"Read"`}, "audit", "--json", "--session", "one")
	if strings.Count(out, "\n") != 2 {
		t.Errorf("%q", out)
	}
	out = saysIn(t, home, 0, []string{"(2 before these"}, "audit", "-n", "1")
	if strings.Contains(out, "Bash") {
		t.Errorf("%q", out)
	}
	saysIn(t, home, 1, []string{"usage"}, "audit", "-n", "0")
	saysIn(t, home, 1, []string{"usage"}, "audit", "x")
}

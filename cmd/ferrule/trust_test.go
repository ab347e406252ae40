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

// What was trusted and is no longer what it was, or where, is not shown as if it
// counted, and can be removed.
func TestTrustList(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	for _, name := range []string{"same", "changed", "broken", "gone", "emptied"} {
		project := filepath.Join(dir, name)
		for _, sub := range []string{".ferrule/prompts"} {
			if err := os.MkdirAll(filepath.Join(project, sub), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		put(t, filepath.Join(project, ".ferrule", "settings.json"), `{"permissions": {"allow": ["Bash(npm test)"]}}`)
		saysIn(t, home, 0, []string{"Trusted as it is now"}, "trust", project)
	}
	same := filepath.Join(dir, "same")
	put(t, filepath.Join(same, ".ferrule", "prompts", "x.md"), "x\n")
	saysIn(t, home, 0, []string{"Trusted the prompts"}, "-C", same, "prompt", "--trust")
	state := func(project, subject string) string {
		for line := range strings.Lines(saysIn(t, home, 0, nil, "trust", "--list")) {
			if f := strings.Fields(line); len(f) > 4 && f[0] == filepath.Join(dir, project) && f[1] == subject {
				return strings.Join(f[4:], " ")
			}
		}
		return "not listed"
	}
	put(t, filepath.Join(dir, "changed", ".ferrule", "settings.json"), `{"permissions": {"allow": ["Bash"]}}`)
	put(t, filepath.Join(dir, "broken", ".ferrule", "settings.json"), `{`)
	for _, name := range []string{"gone", "emptied/.ferrule"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for what, want := range map[string]string{
		"same settings": "counts", "same prompts": "counts", "changed settings": "does not count: it has changed since",
		"broken settings": "does not count: it has changed since", "gone settings": "does not count: the folder is gone",
		"emptied settings": "does not count: it has changed since",
	} {
		project, subject, _ := strings.Cut(what, " ")
		if got := state(project, subject); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	put(t, filepath.Join(same, ".ferrule", "prompts", "x.md"), "y\n")
	if got := state("same", "prompts"); !strings.Contains(got, "has changed") {
		t.Errorf("changed prompts: %q", got)
	}
	saysIn(t, home, 0, []string{"no longer trusted"}, "trust", "--remove", filepath.Join(dir, "gone"))
	if got := state("gone", "settings"); got != "not listed" {
		t.Errorf("removed: %q", got)
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
	for _, as := range [][]string{{"audit"}, {"audit", "--json"}} {
		out = saysIn(t, home, 1, []string{"no session nope in the log", "the last are: one, two"}, append(as, "--session", "nope")...)
		if strings.Contains(out, "Nothing") {
			t.Errorf("%q", out)
		}
	}
	saysIn(t, t.TempDir(), 1, []string{"no session nope in the log, which names none"}, "audit", "--session", "nope")
	saysIn(t, home, 1, []string{"usage"}, "audit", "-n", "0")
	saysIn(t, home, 1, []string{"usage"}, "audit", "x")
}

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A desk is a home, a project and what ferrule says there.
type desk struct {
	home, project string
	out, err      bytes.Buffer
	vars          map[string]string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{home: t.TempDir(), project: t.TempDir()}
	d.vars = map[string]string{"HOME": d.home, "FERRULE_HOME": filepath.Join(d.home, ".ferrule"), "PATH": os.Getenv("PATH")}
	return d
}

func (d *desk) run(t *testing.T, args ...string) int {
	t.Helper()
	d.out.Reset()
	d.err.Reset()
	e := environment{out: &d.out, err: &d.err, getenv: func(k string) string { return d.vars[k] }}
	return run(t.Context(), e, append([]string{"-C", d.project}, args...))
}

func (d *desk) must(t *testing.T, code int, said string, args ...string) {
	t.Helper()
	if got := d.run(t, args...); got != code || !strings.Contains(d.out.String()+d.err.String(), said) {
		t.Fatalf("ferrule %q: exit code %d, want %d and %q\n%s%s", args, got, code, said, &d.out, &d.err)
	}
}

func (d *desk) read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func putFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestConfigPrints(t *testing.T) {
	d := newDesk(t)
	d.must(t, 0, filepath.Join(d.project, ".cursor", "mcp.json"), "config", "cursor")
	var file struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		}
	}
	if err := json.Unmarshal(d.out.Bytes(), &file); err != nil { // nothing but the snippet
		t.Fatalf("%v:\n%s", err, &d.out)
	}
	got := file.MCPServers["ferrule"]
	if !filepath.IsAbs(got.Command) || strings.Join(got.Args, " ") != "--root ${workspaceFolder} --root "+d.project &&
		strings.Join(got.Args, " ") != "--root "+d.project || got.Env["FERRULE_HOME"] != d.vars["FERRULE_HOME"] {
		t.Errorf("%+v", got)
	}
	if list, _ := os.ReadDir(d.project); len(list) > 0 {
		t.Errorf("printing made %v", list)
	}
	d.must(t, 0, `"mine"`, "config", "--name", "mine", "vscode", "--read-only", "--toolsets", "+extra")
	for _, want := range []string{`"--read-only"`, `"--toolsets=+extra"`} {
		if !strings.Contains(d.out.String(), want) {
			t.Errorf("the entry lacks %s:\n%s", want, &d.out)
		}
	}
	d.must(t, 0, "--permission", "config", "lm-studio", "--add-dir", d.home)
	if !strings.Contains(d.out.String(), `"--add-dir", "`+d.home+`"`) {
		t.Errorf("the entry lacks the directory:\n%s", &d.out)
	}
	d.must(t, 0, "jetbrains", "config", "--list")
}

func TestConfigRefuses(t *testing.T) {
	d := newDesk(t)
	for _, tt := range []struct {
		want string
		args string
	}{
		{"usage", "config"},
		{"usage", "config cursor zed"},
		{"usage", "config cursor --global --project"},
		{"usage", "config --list cursor"},
		{"no client is called", "config emacs"},
		{"1 to 40 letters", "config cursor --name a.b"},
		{"no file to write", "config jetbrains --write"},
		{"leave --project out", "config goose --write --project"},
		{"leave --http out", "config claude-desktop --http"},
		{"no token yet", "config zed --http --show-token"},
	} {
		d.must(t, 1, tt.want, strings.Fields(tt.args)...)
	}
	if list, _ := os.ReadDir(d.project); len(list) > 0 {
		t.Errorf("a refusal made %v", list)
	}
}

func TestConfigWrites(t *testing.T) {
	d := newDesk(t)
	file := filepath.Join(d.project, ".mcp.json")
	const old = "{\r\n\t// ours\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {\"command\": \"a\"}, // first\r\n\t}\r\n}"
	putFile(t, file, old)
	d.must(t, 0, "the old content is in ", "config", "claude-code", "--write")
	now := d.read(t, file)
	if !strings.HasPrefix(now, old[:strings.Index(old, "\r\n\t}")]) || strings.Contains(strings.ReplaceAll(now, "\r\n", ""), "\n") {
		t.Errorf("%q became %q", old, now)
	}
	_, backup, _ := strings.Cut(strings.TrimSpace(d.out.String()), "the old content is in ")
	if got := d.read(t, backup); got != old {
		t.Errorf("the backup holds %q", got)
	}
	d.must(t, 0, "nothing to do", "config", "claude-code", "--write")
	d.must(t, 1, "--force", "config", "claude-code", "--write", "--read-only")
	if got := d.read(t, file); got != now {
		t.Errorf("a conflict wrote %q", got)
	}
	d.must(t, 0, `+ `, "config", "claude-code", "--write", "--force", "--read-only")
	d.must(t, 0, "nothing to do", "config", "--write", "--read-only", "claude-code")
	d.must(t, 0, "wrote", "config", "claude-code", "--write", "--name", "b")
	d.must(t, 0, "wrote "+filepath.Join(d.home, ".claude.json"), "config", "claude-code", "--write", "--global")

	putFile(t, file, "{\n  \"mcpServers\": [\n")
	d.must(t, 1, "line 3, column 1", "config", "claude-code", "--write")
	if !strings.Contains(d.err.String(), `"command"`) {
		t.Errorf("a refusal does not show the entry: %s", &d.err)
	}
}

// TestConfigLinks: a link of the project's own is followed, one out of it is
// not, since it could lead to any file of the user's.
func TestConfigLinks(t *testing.T) {
	d := newDesk(t)
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(d.project, name)); err != nil {
			t.Skip(err)
		}
	}
	putFile(t, filepath.Join(d.project, "real.json"), "{}")
	link("real.json", ".mcp.json")
	d.must(t, 0, "wrote", "config", "claude-code", "--write")
	if !strings.Contains(d.read(t, filepath.Join(d.project, "real.json")), "ferrule") {
		t.Error("the target of a link was not written")
	}
	putFile(t, filepath.Join(d.home, "out.json"), "{}")
	link(filepath.Join(d.home, "out.json"), "opencode.json")
	link(d.home, ".cursor")
	link(filepath.Join(d.home, "nothing"), ".zed")
	for _, client := range []string{"opencode", "cursor", "zed"} {
		d.must(t, 1, "out of the project", "config", client, "--write")
	}
	if list, _ := os.ReadDir(d.home); len(list) != 1 || d.read(t, filepath.Join(d.home, "out.json")) != "{}" {
		t.Errorf("something outside changed: %v", list)
	}
}

func TestConfigToken(t *testing.T) {
	d := newDesk(t)
	const token = "0123456789abcdef"
	putFile(t, filepath.Join(d.vars["FERRULE_HOME"], "token"), token+"\n")
	never := func(args ...string) {
		t.Helper()
		d.must(t, 0, "FERRULE_TOKEN", args...)
		if strings.Contains(d.out.String()+d.err.String(), token) {
			t.Errorf("ferrule %q shows the token", args)
		}
	}
	never("config", "cursor", "--http", "--show-token")
	never("config", "codex", "--http")
	d.must(t, 0, "<the content of", "config", "zed", "--http")
	d.must(t, 1, "--show-token puts", "config", "cline", "--http", "--write")
	d.must(t, 1, "use --global", "config", "zed", "--http", "--write", "--show-token")
	d.must(t, 0, "wrote", "config", "zed", "--http", "--write", "--show-token", "--global", "--url", "https://h/mcp")
	zed := d.read(t, filepath.Join(d.home, ".config", "zed", "settings.json"))
	if !strings.Contains(zed, `"Bearer `+token+`"`) || !strings.Contains(zed, "https://h/mcp") {
		t.Errorf("%s", zed)
	}
	putFile(t, filepath.Join(d.vars["FERRULE_HOME"], "token"), "fedcba9876543210") // a conflict shows no token
	d.must(t, 1, "(hidden)", "config", "zed", "--http", "--write", "--show-token", "--global", "--url", "https://h/mcp")
	if strings.Contains(d.err.String(), token) || strings.Contains(d.err.String(), "fedcba") {
		t.Errorf("a conflict shows a token: %s", &d.err)
	}
}

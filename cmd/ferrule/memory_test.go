package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A notebook runs memory commands in a home and a project of its own.
type notebook struct {
	t       *testing.T
	home    string
	project string
	vars    map[string]string
}

func newNotebook(t *testing.T) *notebook {
	t.Helper()
	return &notebook{t, t.TempDir(), t.TempDir(), make(map[string]string)}
}

// run returns what the command said; in is its standard input, and with a
// terminal somebody types it.
func (n *notebook) run(in string, terminal bool, args ...string) (code int, out, errs string) {
	n.t.Helper()
	var o, e bytes.Buffer
	env := environment{in: strings.NewReader(in), out: &o, err: &e, terminal: terminal, getenv: func(k string) string {
		if k == "FERRULE_HOME" {
			return n.home
		}
		return n.vars[k]
	}}
	code = run(context.Background(), env, append([]string{"-C", n.project, "memory"}, args...))
	return code, o.String(), e.String()
}

// ok runs a command that must succeed.
func (n *notebook) ok(args ...string) string {
	n.t.Helper()
	code, out, errs := n.run("", false, args...)
	if code != 0 {
		n.t.Fatalf("%q: exit %d, %s%s", args, code, out, errs)
	}
	return out
}

func TestMemoryCommands(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	id := strings.Fields(n.ok("add", "The staging port is 6379", "--importance", "0.8", "--tags", "ops,port", "--source", "wiki"))[0]
	said := n.ok("add", "--scope", "user", "I prefer short answers", "--json")
	if !strings.HasPrefix(said, `{"id":"m`) || !strings.Contains(said, `"status":"stored"`) {
		t.Errorf("add --json: %s", said)
	}
	if out := n.ok("add", "The staging port is 6380", "--supersedes", id); !strings.Contains(out, "stored") {
		t.Error(out)
	}
	if out := n.ok("search", "staging", "port", "--limit", "1"); !strings.Contains(out, "6380") || strings.Contains(out, "6379") {
		t.Errorf("search: %s", out)
	}
	if out := n.ok("search", "--json", "--", "-short answers"); !strings.Contains(out, `"scope":"user"`) || !strings.Contains(out, `"coverage":`) {
		t.Errorf("search --json: %s", out)
	}
	if out := n.ok("search", "nothing of the kind"); out != "No memories match.\n" {
		t.Errorf("search: %q", out)
	}
	if out := n.ok("list"); strings.Count(out, "\n") != 2 || !strings.Contains(out, "  project  fact  ") || !strings.Contains(out, "  user  fact  ") {
		t.Errorf("list: %s", out)
	}
	if out := n.ok("list", "--all", "--scope", "project"); strings.Count(out, "\n") != 2 || !strings.Contains(out, "superseded by m") {
		t.Errorf("list --all: %s", out)
	}
	if out := n.ok("stats"); !strings.Contains(out, "2, and 1 superseded") || !strings.Contains(out, "project: 1") {
		t.Errorf("stats: %s", out)
	}
	if out := n.ok("check", "--rebuild"); out != "Everything is in order.\n" {
		t.Errorf("check: %s", out)
	}
	if code, _, errs := n.run("", false, "add", "密码是 Abc12345!"); code != 1 || !strings.Contains(errs, "little more than a secret") || strings.Contains(errs, "Abc") {
		t.Errorf("a secret: %d %s", code, errs)
	}
	if code, out, _ := n.run("the text comes from here\n", false, "add", "-"); code != 0 || !strings.Contains(out, "stored") {
		t.Errorf("add -: %d %s", code, out)
	}
	for _, args := range [][]string{{}, {"learn"}, {"search"}, {"search", "x", "--limit", "99"}, {"list", "x"}, {"forget"}, {"forget", "x", "--all"},
		{"add", "x y", "--scope", "all"}, {"add", "x y", "--scope", "bogus"}, {"list", "--since", "soon"}, {"export", "a", "b"}, {"import"}} {
		if code, _, errs := n.run("", false, args...); code != 1 || errs == "" {
			t.Errorf("%q: exit %d, %q", args, code, errs)
		}
	}
}

func TestMemoryForget(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	first := strings.Fields(n.ok("add", "one, of June", "--time", "2026-06-01"))[0]
	n.ok("add", "two, of July", "--time", "2026-07-01", "--session", "s")
	n.ok("add", "three, of the user", "--scope", "user")
	if code, _, errs := n.run("", false, "forget", first); code != 1 || !strings.Contains(errs, "--yes") {
		t.Errorf("without a terminal: %d %s", code, errs)
	}
	if code, _, errs := n.run("no\n", true, "forget", first); code != 1 || !strings.Contains(errs, "nothing was forgotten") {
		t.Errorf("no: %d %s", code, errs)
	}
	if code, out, _ := n.run("y\n", true, "forget", first, "mgone"); code != 0 || out != "1 forgotten\n" {
		t.Errorf("yes: %d %s", code, out)
	}
	if out := n.ok("forget", "--session", "s", "--yes"); out != "1 forgotten\n" {
		t.Error(out)
	}
	if code, _, errs := n.run("", false, "forget", "--before", "2026-07-01", "--yes"); code != 1 || !strings.Contains(errs, "nothing to forget") {
		t.Errorf("%d %s", code, errs)
	}
	if out := n.ok("forget", "--all", "--yes"); out != "1 forgotten\n" {
		t.Error(out)
	}
	n.ok("forget", "--traces")
	if out := n.ok("list", "--scope", "every", "--all"); out != "" {
		t.Error(out)
	}
}

func TestMemoryExportAndImport(t *testing.T) {
	t.Parallel()
	a, b := newNotebook(t), newNotebook(t)
	for i := range 5 {
		a.ok("add", fmt.Sprint("fact number ", i), "--tags", "t", "--session", "s", "--time", fmt.Sprintf("2026-06-0%dT12:00:00Z", i+1))
	}
	a.ok("add", "of the user", "--scope", "user")
	file := filepath.Join(t.TempDir(), "all.jsonl")
	a.ok("export", file)
	if fi, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
		t.Error(fi, err)
	}
	if out := b.ok("import", file); out != "6 stored, 0 were there already, 0 refused\n" {
		t.Error(out)
	}
	if out := b.ok("import", file); out != "0 stored, 6 were there already, 0 refused\n" {
		t.Error(out)
	}
	b = newNotebook(t)
	b.ok("import", file)
	if x, y := a.ok("export"), b.ok("export"); x != y || strings.Count(x, "\n") != 6 {
		t.Errorf("exported\n%s\nand after an import\n%s", x, y)
	}
}

func TestMemoryImportTellsBadLines(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	in := `{"content": "good one", "scope": "project", "time": "2026-06-01"}

{"content": ""}
{"contents": "typo"}
not JSON
{"content": 7}
{"content": "GOOD  one"}
{"content": "the api_key = 9f86d081884c7d659a2feaa0c55ad015 opens the metrics host in Frankfurt am Main"}
{"content": "` + strings.Repeat("x", maxLine) + `"}
{"content": "last", "scope": "user", "importance": 0, "id": "m-mine"}`
	code, out, errs := n.run(in, false, "import", "--json", "-")
	if code != 1 {
		t.Errorf("exit %d", code)
	}
	var got []string
	for line := range strings.Lines(out) {
		var x outcome
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got = append(got, fmt.Sprint(x.Line, " ", x.Status))
	}
	want := "1 stored, 3 rejected, 4 rejected, 5 rejected, 6 rejected, 7 duplicate, 8 stored, 9 rejected, 10 stored"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got %s\nwant %s", s, want)
	}
	for _, s := range []string{"line 3: content must not be empty", `line 4: unknown field "contents"`, "line 5: it is not one JSON object",
		"line 6: content cannot be a number", "line 9: the line has more than 1 MiB"} {
		if !strings.Contains(errs, s) {
			t.Errorf("%q is not told in %q", s, errs)
		}
	}
	if out := n.ok("search", "frankfurt", "--json"); strings.Contains(out, "9f86") || !strings.Contains(out, "redacted:") {
		t.Errorf("search: %s", out)
	}
}

// The settings decide where memories are; switched off for models, people still
// reach them.
func TestMemorySettings(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	settings := filepath.Join(n.home, "settings.json")
	if err := os.WriteFile(settings, []byte(`{"permissions": {}, "memory": {"enabled": false, "limit": 1}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	n.ok("add", "cedar one")
	n.ok("add", "cedar two")
	if out := n.ok("search", "--json", "cedar"); strings.Count(out, "\n") != 1 {
		t.Errorf("the limit of the settings: %s", out)
	}
	n.vars["FERRULE_MEMORY_LIMIT"] = "2"
	if out := n.ok("search", "--json", "cedar"); strings.Count(out, "\n") != 2 {
		t.Errorf("the environment comes first: %s", out)
	}
	n.vars["FERRULE_MEMORY_BACKEND"] = "memex"
	if code, _, errs := n.run("", false, "list"); code != 1 || !strings.Contains(errs, "memex.url") {
		t.Errorf("%d %s", code, errs)
	}
}

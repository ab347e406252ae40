package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ferrule/shell"
	"ferrule/tools/permit"
)

// begin starts a background command and returns its id.
func begin(t *testing.T, host Host, s *Session, args map[string]any) string {
	t.Helper()
	args["run_in_background"] = true
	r := as(t, host, s, Bash, args)
	if r.Failed {
		t.Fatalf("%v: %s", args, r.Text)
	}
	return r.Meta["task"].(map[string]any)["id"].(string)
}

// keeping returns a session with a policy and a place for logs.
func keeping(t *testing.T, cfg permit.Config) (*Session, string) {
	t.Helper()
	p, err := permit.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return open(t, Config{Policy: constant(p), State: t.TempDir()})
}

// sees waits until a task has printed something.
func sees(t *testing.T, s *Session, id, want string) {
	t.Helper()
	var got string
	for start := time.Now(); !strings.Contains(got, want); {
		if time.Since(start) > 10*time.Second {
			t.Fatalf("task %s: got %q, want %q", id, got, want)
		}
		got += as(t, nobody{}, s, TaskOutput, map[string]any{"task_id": id, "timeout": 50}).Text
	}
}

// What a shell may read is judged like a command, line by line; what another program reads is not.
func TestTypingIsJudged(t *testing.T) {
	t.Parallel()
	if shell.Name() != "bash" {
		t.Skip("there is no bash")
	}
	for _, c := range []struct {
		name, rule, command, text, want string // want is a part of the error; "" means that it is typed
	}{
		{"deny rule", "deny Bash(touch:*)", "bash --norc -i", "touch x\r", "denied by the rule"},
		{"with line feeds", "deny Bash(touch:*)", "bash --norc -i", "echo y\ntouch x\n", "denied by the rule"},
		{"by another road", "deny Bash(touch:*)", "bash --norc -i", "env t\"ou\"ch x\r", "denied by the rule"},
		{"half a line", "deny Bash(touch:*)", "bash --norc -i", "tou", "whole lines"},
		{"editing keys", "deny Bash(touch:*)", "bash --norc -i", "touhc\x7f\x7fch x\r", "cannot be checked"},
		{"harmless", "deny Bash(touch:*)", "bash --norc -i", "echo done\r", ""},
		{"interrupt", "deny Bash(touch:*)", "bash --norc -i", "\x03", ""},
		{"on the list", "allow Bash(mkdir:*)", "bash --norc -i", "mkdir d\r", ""},
		{"not on the list", "allow Bash(mkdir:*)", "bash --norc -i", "touch x\r", "no rule allows this command"},
		{"history", "allow Bash(mkdir:*)", "bash --norc -i", "mkdir d !!\r", "no rule allows this command"},
		{"another shell", "allow Bash(mkdir:*)", "bash -c 'exec -a zsh bash --norc -i'", "mkdir d\r", "no rule allows this command"},
		{"another program", "deny Bash(touch:*)", "cat", "touch", ""},
		{"the tool as a whole", "deny TaskInput", "cat", "x\r", "denied by the rule"},
		{"looking only", "deny TaskInput", "cat", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			effect, rule, _ := strings.Cut(c.rule, " ")
			s, dir := keeping(t, permit.Config{Rules: []permit.Rule{{
				Effect: map[string]permit.Verdict{"deny": permit.Deny, "allow": permit.Allow}[effect], Text: rule, At: "test"}}})
			u := &person{action: Accepted, decision: allowOnce} // to start a shell asks as well
			id := begin(t, u, s, map[string]any{"command": c.command, "tty": true})
			r := as(t, nobody{}, s, TaskInput, map[string]any{"task_id": id, "text": c.text})
			if r.Failed != (c.want != "") || !strings.Contains(r.Text, c.want) {
				t.Errorf("%q: %s; want %q", c.text, r.Text, c.want)
			}
			if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
				t.Error("it was typed")
			}
		})
	}
}

// The user is shown what will be typed, and planning types nothing.
func TestTypingAsks(t *testing.T) {
	t.Parallel()
	if shell.Name() != "bash" {
		t.Skip("there is no bash")
	}
	s, dir := keeping(t, permit.Config{Rules: []permit.Rule{{Effect: permit.Ask, Text: "Bash(touch:*)", At: "test"}}})
	u := &person{action: Accepted, decision: allowOnce}
	id := begin(t, u, s, map[string]any{"command": "bash --norc -i", "tty": true})
	u.asked = nil
	r := as(t, u, s, TaskInput, map[string]any{"task_id": id, "text": "touch x; echo d''one\r"})
	if r.Failed || len(u.asked) != 1 || !strings.HasSuffix(u.asked[0], "\n\ntouch x; echo d''one") {
		t.Errorf("%q, asked %q", r.Text, u.asked)
	}
	if !strings.Contains(r.Text, "\ndone") {
		sees(t, s, id, "\ndone")
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err != nil {
		t.Error(err)
	}
	plan, _ := keeping(t, permit.Config{Mode: permit.Plan})
	id = begin(t, u, plan, map[string]any{"command": "cat", "stdin_open": true})
	if r := as(t, u, plan, TaskInput, map[string]any{"task_id": id, "text": "x"}); !r.Failed || !strings.Contains(r.Text, "while planning") {
		t.Error(r.Text)
	}
}

// A command that has ended is told by the next result of any tool of the shell, once.
func TestEndIsTold(t *testing.T) {
	t.Parallel()
	s, _ := open(t, Config{State: t.TempDir()})
	over := func(id string) string {
		done := make(chan struct{})
		if s.WhenTaskEnds(id, func() { close(done) }) {
			<-done
		}
		return id
	}
	waits := begin(t, nobody{}, s, map[string]any{"command": "cat", "stdin_open": true})
	for _, c := range []struct {
		tool *Tool
		args map[string]any
	}{
		{Bash, map[string]any{"command": "true"}},
		{Bash, map[string]any{"command": "sleep 60", "run_in_background": true}},
		{TaskOutput, map[string]any{"task_id": waits, "block": false}},
		{TaskInput, map[string]any{"task_id": waits, "text": "x\n"}},
		{TaskStop, map[string]any{"task_id": waits}},
	} {
		id := over(begin(t, nobody{}, s, map[string]any{"command": "exit 3"}))
		r := as(t, nobody{}, s, c.tool, c.args)
		if r.Failed || strings.Count(r.Text, id) != 1 || !strings.Contains(r.Text, "(task "+id+" has failed after ") {
			t.Errorf("%s: %s", c.tool.Name, r.Text)
		}
		if r := as(t, nobody{}, s, Bash, map[string]any{"command": "true"}); strings.Contains(r.Text, id) {
			t.Errorf("told again: %s", r.Text)
		}
	}
}

func TestTerminalArguments(t *testing.T) {
	t.Parallel()
	s, _ := open(t, Config{})
	for _, c := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"command": "cat", "tty": true}, "need run_in_background"},
		{map[string]any{"command": "cat", "stdin_open": true}, "need run_in_background"},
		{map[string]any{"command": "cat", "tty": true, "run_in_background": true, "stdin": "x"}, "leave out stdin"},
	} {
		if r := as(t, nobody{}, s, Bash, c.args); !r.Failed || !strings.Contains(r.Text, c.want) {
			t.Errorf("%v: %s", c.args, r.Text)
		}
	}
}

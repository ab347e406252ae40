package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// server is an entry of a client's file.
func server(command string, more ...any) map[string]any {
	e := map[string]any{"command": command}
	for i := 0; i+1 < len(more); i += 2 {
		e[more[i].(string)] = more[i+1]
	}
	return e
}

func mcpFile(t *testing.T, path string, servers map[string]any) {
	t.Helper()
	b, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, path, string(b))
}

// fake makes a program called ferrule that is none, or not quite.
func fake(t *testing.T, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the programs here are shell scripts")
	}
	path := filepath.Join(t.TempDir(), "ferrule")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDoctorClients(t *testing.T) {
	d := newDesk(t)
	marker := filepath.Join(d.project, "marker")
	bin := binary(t)
	other := fake(t, `test "$1" = version && echo ferrule 0.0 && exit
		read line; echo '{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"impostor"}}}'; cat >/dev/null`)
	mute := fake(t, `test "$1" = version && echo ferrule 0.0 && exit; echo 'ferrule: no such flag' >&2; exit 2`)
	mcpFile(t, filepath.Join(d.home, ".cursor", "mcp.json"), map[string]any{
		"good":   server(bin, "args", []string{"--root", "${workspaceFolder}"}, "env", map[string]string{"FERRULE_HOME": d.home}),
		"gone":   server(filepath.Join(d.home, "ferrule")),
		"other":  server(other),
		"mute":   server(mute),
		"liar":   server(fake(t, "touch "+marker+"-not-made-by-version; echo hello")),
		"off":    server(bin, "disabled", true),
		"secret": server(bin, "args", []string{"--root", "${env:SECRET}"}),
		"npx":    server("npx", "args", []string{"ferrule"}), // another program: none of our business
	})
	mcpFile(t, filepath.Join(d.project, ".mcp.json"), map[string]any{
		"theirs":   server(fake(t, "touch "+marker)),
		"e\x1b[2J": server(fake(t, "touch "+marker)),
		"ours":     server(bin), // not the program that runs here, which is the test
	})
	putFile(t, filepath.Join(d.home, ".codex", "config.toml"), "[mcp_servers.ferrule]\nurl = \"http://127.0.0.1:7117/mcp\"\n")
	putFile(t, filepath.Join(d.home, ".config", "goose", "config.yaml"), "a: [\n")
	d.must(t, 1, "", "doctor")
	for _, want := range []string{
		`"good" in ` + filepath.Join(d.home, ".cursor", "mcp.json") + ": works, ",
		`: COMMAND NOT FOUND: ` + filepath.Join(d.home, "ferrule"),
		`: DOES NOT WORK: another server answers: "impostor"`,
		`: DOES NOT WORK: no such flag`,
		`does not say that it is ferrule`,
		`: switched off in the file`,
		`: not tried: only the client knows what ${env:SECRET} is`,
		`: NOT STARTED: a file of the project names a program that is not this one (` + bin + `)`,
		`: for a server that runs already, at http://127.0.0.1:7117/mcp`,
		`config.yaml: the file is not YAML`,
	} {
		if !strings.Contains(d.out.String(), want) {
			t.Errorf("doctor does not say %q", want)
		}
	}
	if strings.Count(d.out.String(), "NOT STARTED: a file of the project") != 3 || strings.Contains(d.out.String(), "npx") {
		t.Error("doctor names too few or too many")
	}
	if strings.Contains(d.out.String(), "\x1b") {
		t.Error("a name reaches the terminal as it is")
	}
	if t.Failed() {
		t.Log(d.out.String())
	}
	if _, err := os.Stat(marker); err == nil { // S071
		t.Error("a program of the project was run")
	}
}

// TestDoctorProject: what a project's file says to the right program is not
// believed either. S071.
func TestDoctorProject(t *testing.T) {
	p := place{project: true}
	for _, tt := range []struct {
		args string
		want string
	}{
		{"", ""},
		{"--root /x --read-only --toolsets +extra", ""},
		{"call Bash {}", "do not make it a server"},
		{"--root /x version", "do not make it a server"},
		{"--no-such-flag", "its arguments are wrong"},
	} {
		err := serves(strings.Fields(tt.args), p.project)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.args, err, tt.want)
		}
	}
	var o options // a flag that is new is not tried for a project before somebody has thought about it
	o.flags().VisitAll(func(f *flag.Flag) {
		for _, arg := range []string{"--" + f.Name + "=1", "--" + f.Name + "=5000"} {
			err := serves([]string{arg}, true)
			if !slices.Contains(harmless, f.Name) && err == nil {
				t.Errorf("%s is tried for a project", arg)
			}
		}
	})
}

// TestDoctorStarts writes a configuration with the built program and has it
// start what it wrote.
func TestDoctorStarts(t *testing.T) {
	bin := binary(t)
	home, project := t.TempDir(), t.TempDir()
	ferrule := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(bin, args...)
		cmd.Dir = project
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "USERPROFILE=" + home, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("ferrule %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	ferrule("config", "claude-code", "--write")
	ferrule("config", "claude-code", "--write", "--name", "ro", "--read-only")
	ferrule("config", "codex", "--write", "--global")
	link := filepath.Join(home, "bin", "ferrule") // to a version, say: the entry must survive the next one
	os.Mkdir(filepath.Dir(link), 0o755)
	if err := os.Symlink(bin, link); err == nil {
		real := bin
		bin = link
		if out := ferrule("config", "zed"); !strings.Contains(out, link) {
			t.Errorf("the entry does not name the link %s:\n%s", link, out)
		}
		bin = real
	}
	file := filepath.Join(project, ".mcp.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, file, strings.Replace(string(text), `"ro": {`, `"ro": {"env": {"LD_PRELOAD": "/x"},`, 1))
	out := ferrule("doctor")
	for _, want := range []string{
		`"ferrule" in ` + file + ": works, ", `"ro" in ` + file + ": works, ",
		"its variables were left out", filepath.Join(home, ".codex", "config.toml") + ": works, ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("doctor does not say %q:\n%s", want, out)
		}
	}
}

// TestTryHangs: a server that says nothing costs its time limit, and is gone
// afterwards.
func TestTryHangs(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	cmd := exec.CommandContext(ctx, fake(t, "exec sleep 60"))
	if n, err := try(ctx, cmd); err == nil || !strings.Contains(err.Error(), "no answer in") {
		t.Errorf("%d tools, %v", n, err)
	}
	if cmd.ProcessState == nil {
		t.Error("the process was not waited for")
	}
	var h head
	h.Write(bytes.Repeat([]byte("x"), 1<<20))
	if len(h.text) > 2000 {
		t.Errorf("%d bytes of standard error are kept", len(h.text))
	}
}

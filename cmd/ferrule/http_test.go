package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ferrule/mcpserver/auth"
)

// ferrule runs the program in this process.
func ferrule(home string, args ...string) (out, errs string, code int) {
	var o, e bytes.Buffer
	code = run(context.Background(), environment{in: strings.NewReader(""), out: &o, err: &e, getenv: func(k string) string {
		return map[string]string{"FERRULE_HOME": home}[k]
	}}, args)
	return o.String(), e.String(), code
}

func TestTokenCommand(t *testing.T) {
	home, dir, other := filepath.Join(t.TempDir(), "home"), t.TempDir(), t.TempDir()
	var secrets []string
	for _, args := range [][]string{
		{"token", "add", "ann", "--root", dir, "--read-dir", other, "--read-only", "--deny", "Bash(rm:*)"},
		{"token", "add", "--add-dir", dir, "bob"},
		{"--root", dir, "token", "add", "carl"},
		{"token", "add", "dora"},
	} {
		out, errs, code := ferrule(home, args...)
		if code != 0 || len(strings.TrimSpace(out)) != 43 || !strings.Contains(errs, "not shown again") || strings.Contains(errs, strings.TrimSpace(out)) {
			t.Errorf("%q: %d %q %q", args, code, out, errs)
		}
		secrets = append(secrets, strings.TrimSpace(out))
	}
	out, _, code := ferrule(home, "token", "list")
	var lines []string
	for line := range strings.Lines(out) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	today := time.Now().UTC().Format(time.DateOnly)
	want := []string{
		"NAME MADE MAY FOLDERS RULES",
		"default what the flags of ferrule http say (in " + filepath.Join(home, "token") + ")",
		"ann " + today + " read " + dir + ", " + other + " (may only be read) deny Bash(rm:*)",
		"bob " + today + " read and change " + dir,
		"carl " + today + " read and change " + dir,
		"dora " + today + " read and change those of the server",
	}
	if code != 0 || strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("list:\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	for _, s := range secrets {
		if strings.Contains(out, s) {
			t.Error("the list shows a token")
		}
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"token"}, "usage: ferrule token"},
		{[]string{"token", "add"}, "usage: ferrule token"},
		{[]string{"token", "add", "x", "y"}, "usage: ferrule token"},
		{[]string{"token", "add", "ann"}, "already a token ann"},
		{[]string{"token", "add", "eve", "--root", filepath.Join(dir, "none")}, filepath.Join(dir, "none")},
		{[]string{"token", "revoke", "eve"}, "there is no token"},
		{[]string{"token", "revoke"}, "usage: ferrule token"},
	} {
		if _, errs, code := ferrule(home, test.args...); code != 1 || !strings.Contains(errs, test.want) {
			t.Errorf("%q: %d %q", test.args, code, errs)
		}
	}
	if _, errs, code := ferrule(home, "token", "revoke", "ann"); code != 0 || errs != "" {
		t.Errorf("revoke: %d %s", code, errs)
	}
	if out, _, _ := ferrule(home, "token", "list"); strings.Contains(out, "ann") {
		t.Error("ann is still listed")
	}
}

// What is fixed for a token does not grow by what the server was started with.
func TestConfigFor(t *testing.T) {
	o := options{more: []string{"/more"}, guessed: true}
	o.workspace.Roots, o.workspace.ReadDirs = []string{"/w", "/more"}, []string{"/r"}
	for _, test := range []struct {
		p            auth.Principal
		roots, read  []string
		added        []string
		readOnly     bool
		serverIsOnly bool
	}{
		{auth.Principal{Name: "default"}, []string{"/w", "/more"}, []string{"/r"}, []string{"/more"}, false, false},
		{auth.Principal{Name: "ann", Roots: []string{"/a"}}, []string{"/a"}, nil, nil, false, false},
		{auth.Principal{Name: "bob", ReadDirs: []string{"/b"}, ReadOnly: true}, nil, []string{"/b"}, nil, true, false},
		{auth.Principal{Name: "carl"}, []string{"/w", "/more"}, []string{"/r"}, []string{"/more"}, true, true},
	} {
		o.selection.ReadOnly = test.serverIsOnly
		c, err := configFor(o, test.p)
		if own := c.Workspace.MemoryUser != ""; own != (test.p.Name != auth.Main) {
			t.Errorf("%s remembers for himself in %q", test.p.Name, c.Workspace.MemoryUser)
		}
		if err != nil || c.Guessed || c.Selection.ReadOnly != test.readOnly || !slices.Equal(c.Workspace.Roots, test.roots) ||
			!slices.Equal(c.Workspace.ReadDirs, test.read) || !slices.Equal(c.Added, test.added) {
			t.Errorf("%s gets %v %v, added %v, read only %v, %v", test.p.Name, c.Workspace.Roots, c.Workspace.ReadDirs, c.Added, c.Selection.ReadOnly, err)
		}
	}
}

// S371 and kind: the command does not start where the tools would be open to
// strangers, nor with flags that make no sense.
func TestHTTPRefusesToStart(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--no-auth", "--addr", "0.0.0.0:0"}, "--no-auth would let anybody run commands"},
		{[]string{"--no-auth", "--behind-proxy", "--addr", "127.0.0.1:0"}, "--no-auth would let anybody run commands"},
		{[]string{"--addr", "0.0.0.0:0"}, "use --cert and --key, or --behind-proxy"},
		{[]string{"--addr", ":0"}, "use --cert and --key, or --behind-proxy"},
		{[]string{"--addr", "127.0.0.1:0", "--cert", "c"}, "must be given together"},
		{[]string{"--addr", "127.0.0.1:0", "--cert", "none", "--key", "none"}, "none"},
		{[]string{"--addr", "127.0.0.1:0", "--host", "http://x"}, "--host"},
		{[]string{"--addr", "127.0.0.1:0", "--origin", "x"}, "--origin"},
		{[]string{"--addr", "127.0.0.1:0", "--http-era", "future"}, "usage: ferrule http"},
		{[]string{"--addr", "nonsense"}, "nonsense"},
	} {
		if _, errs, code := ferrule(home, append([]string{"-C", t.TempDir(), "http"}, test.args...)...); code != 1 || !strings.Contains(errs, test.want) {
			t.Errorf("%q: %d %q", test.args, code, errs)
		}
	}
}

// S370, and what a signal does: the program makes a token at its first start and
// says so once; it ends in order, and nothing it started is left.
func TestHTTPProcess(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals")
	}
	home, dir := filepath.Join(t.TempDir(), "home"), t.TempDir()
	for round := range 2 {
		cmd := exec.Command(binary(t), "-C", dir, "http", "--addr", "127.0.0.1:0")
		cmd.Env = append(os.Environ(), "FERRULE_HOME="+home)
		log := newWatchedLog()
		cmd.Stderr = log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		url := <-log.ready
		token, err := os.ReadFile(filepath.Join(home, "token"))
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(log.String(), filepath.Join(home, "token")); said != (round == 0) || strings.Contains(log.String(), strings.TrimSpace(string(token))) {
			t.Errorf("start %d: %s", round, log)
		}
		mark := fmt.Sprintf("86400.%d%d", os.Getpid(), round)
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Bash","arguments":{"command":"(sleep ` + mark + ` & sleep ` + mark + `) & setsid sleep ` + mark + `","run_in_background":true},` +
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
		r, _ := http.NewRequest("POST", url, strings.NewReader(body))
		for k, v := range map[string]string{"Authorization": "Bearer " + strings.TrimSpace(string(token)), "Content-Type": "application/json",
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "Bash"} {
			r.Header.Set(k, v)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if !strings.Contains(string(answer), "started task") {
			t.Fatalf("%s %s", res.Status, answer)
		}
		for end := time.Now().Add(10 * time.Second); processes(mark) < 3; runtime.Gosched() {
			if time.Now().After(end) {
				t.Fatal("the commands do not begin")
			}
		}
		begin := time.Now()
		cmd.Process.Signal([]os.Signal{syscall.SIGTERM, os.Interrupt}[round])
		if err := cmd.Wait(); err != nil || time.Since(begin) > 8*time.Second {
			t.Errorf("ended with %v after %v: %s", err, time.Since(begin), log)
		}
		if n := processes(mark); n > 0 {
			t.Errorf("%d processes are left", n)
		}
		if c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")); err == nil {
			c.Close()
			t.Error("somebody still listens")
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// processes counts those with a mark in their command line that are sleeps.
func processes(mark string) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, _ := os.ReadFile(f); strings.HasPrefix(string(b), "sleep\x00"+mark) {
			n++
		}
	}
	return n
}

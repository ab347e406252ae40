package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// H115, S386: whatever tools and commands print, and wherever they print it,
// every line on standard output is one message.
func TestOnlyMessagesOnStdout(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(binary(t), "-C", dir, "--toolsets", "+extra")
	cmd.Env = append(cmd.Environ(), "FERRULE_HOME="+t.TempDir())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	calls := []string{
		`{"name":"Write","arguments":{"file_path":"f","content":"one\ntwo\n"}}`,
		`{"name":"Read","arguments":{"file_path":"f"}}`,
		`{"name":"Edit","arguments":{"file_path":"f","old_string":"one","new_string":"1"}}`,
		`{"name":"MultiEdit","arguments":{"file_path":"f","edits":[{"old_string":"two","new_string":"2"}]}}`,
		`{"name":"Undo","arguments":{}}`, `{"name":"ListDir","arguments":{}}`,
		`{"name":"Glob","arguments":{"pattern":"*"}}`, `{"name":"Grep","arguments":{"pattern":"o"}}`,
		`{"name":"Bash","arguments":{"command":"echo out; echo err >&2; echo x >/dev/tty; echo y >/dev/stdout; echo z >/proc/$PPID/fd/1"}}`,
		`{"name":"Bash","arguments":{"command":"for p in $(pgrep -f toolsets); do echo w >/proc/$p/fd/1; done; echo >/dev/console"}}`,
		`{"name":"Bash","arguments":{"command":"echo background; echo err >&2","run_in_background":true}}`,
		`{"name":"TaskOutput","arguments":{"task_id":"none"}}`, `{"name":"TaskStop","arguments":{"task_id":"none"}}`,
	}
	go func() {
		fmt.Fprintln(in, `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		fmt.Fprintln(in, `{"jsonrpc":"2.0","id":"level","method":"logging/setLevel","params":{"level":"debug"}}`)
		for i, c := range calls {
			fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", i, c)
		}
		io.WriteString(in, "not json\n")
		in.Close()
	}()
	answers := 0
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var m struct{ JSONRPC string }
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.JSONRPC != "2.0" {
			t.Errorf("not a message: %q", lines.Text())
		}
		if !strings.Contains(lines.Text(), `"method":"notifications/`) {
			answers++
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	if want := len(calls) + 3; answers != want {
		t.Errorf("%d answers, want %d", answers, want)
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// inspectorCalls has one call of every tool. Each is a process and a session
// of its own, so no file has been read and no task is known: there the refusal
// is what must come, and the file must stay as it is.
var inspectorCalls = []struct {
	tool, args string
	failed     bool   // the result says isError
	want       string // part of its text
	file, then string // what a file holds afterwards
}{
	{tool: "Read", args: `{"file_path": "a.txt"}`, want: "1\tone\n2\ttwo"},
	{tool: "Edit", args: `{"file_path": "new.txt", "old_string": "", "new_string": "made\n"}`, file: "new.txt", then: "made\n"},
	{tool: "Edit", args: `{"file_path": "a.txt", "old_string": "one", "new_string": "1"}`, failed: true, want: "a.txt",
		file: "a.txt", then: "one\ntwo\n"},
	{tool: "MultiEdit", args: `{"file_path": "new.txt", "edits": [{"old_string": "", "new_string": "made\n"}]}`,
		file: "new.txt", then: "made\n"},
	{tool: "Write", args: `{"file_path": "sub/new.txt", "content": "ä\n"}`, file: "sub/new.txt", then: "ä\n"},
	{tool: "ListDir", args: `{}`, want: "a.txt"},
	{tool: "Undo", args: `{}`, failed: true, want: "no change left", file: "a.txt", then: "one\ntwo\n"},
	{tool: "Glob", args: `{"pattern": "*.txt"}`, want: "a.txt"},
	{tool: "Grep", args: `{"pattern": "t[vw]o", "output_mode": "content"}`, want: "two"},
	{tool: "Bash", args: `{"command": "echo $((6 * 7)); cat a.txt"}`, want: "42\none\ntwo"},
	{tool: "TaskOutput", args: `{"task_id": "none"}`, failed: true, want: "none"},
	{tool: "NotebookEdit", args: `{"notebook_path": "a.txt", "cell_id": "cell-0", "new_source": "x"}`, failed: true, want: "a.txt"},
	{tool: "TaskInput", args: `{"task_id": "none", "text": "x"}`, failed: true, want: "none"},
	{tool: "memory_ingest", args: `{"content": "The build needs tabs"}`, want: "Stored m"},
	{tool: "memory_search", args: `{"query": "tabs"}`, want: "No memories match."},
	{tool: "TaskStop", args: `{"task_id": "none"}`, failed: true, want: "none"},
}

// TestInspector drives the built command with MCP Inspector, a client on the
// TypeScript SDK that nobody here wrote, in both eras of the protocol.
func TestInspector(t *testing.T) {
	node, script := inspectorProgram(t)
	bin := binary(t)
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			start := func(t *testing.T) *inspection {
				t.Parallel()
				i := &inspection{node: node, script: script, server: bin, era: era, root: t.TempDir(), home: t.TempDir()}
				i.write(t, "a.txt", "one\ntwo\n")
				i.write(t, "AGENTS.md", "Answer in verse.\n")
				return i
			}
			t.Run("tools/list", func(t *testing.T) { start(t).tools(t) })
			t.Run("prompts/list", func(t *testing.T) { start(t).prompts(t) })
			t.Run("prompts/get", func(t *testing.T) { start(t).prompt(t) })
			t.Run("http", func(t *testing.T) {
				i := start(t)
				i.overHTTP(t)
				i.tools(t)
				i.prompts(t)
				i.call(t, "Grep", `{"pattern": "t[vw]o", "output_mode": "content"}`, false, "two")
			})
			for _, c := range inspectorCalls {
				t.Run(c.tool, func(t *testing.T) {
					i := start(t)
					i.call(t, c.tool, c.args, c.failed, c.want)
					if got, _ := os.ReadFile(filepath.Join(i.root, c.file)); c.file != "" && string(got) != c.then {
						t.Errorf("%s holds %q, want %q", c.file, got, c.then)
					}
				})
			}
		})
	}
}

// inspectorProgram returns Node and the script it is to run. .ci/run installs
// both.
func inspectorProgram(t *testing.T) (node, script string) {
	t.Helper()
	dir := os.Getenv("FERRULE_TOOLS")
	if dir == "" {
		dir = filepath.Join("..", "..", ".tools")
	}
	dir, err := filepath.Abs(filepath.Join(dir, "node_modules", ".bin"))
	if err != nil {
		t.Fatal(err)
	}
	node, script = filepath.Join(dir, "node"), filepath.Join(dir, "mcp-inspector")
	for _, file := range []string{node, script} {
		if _, err := os.Stat(file); err != nil {
			if os.Getenv("FERRULE_CI") == "1" {
				t.Fatalf("%v; .ci/run installs it", err)
			}
			t.Skipf("%v; .ci/run installs it", err)
		}
	}
	if testing.Short() {
		t.Skip("thirty starts of Node take half a minute")
	}
	return node, script
}

// An inspection is one workspace and how to reach it through the Inspector.
type inspection struct {
	node, script, server, era string
	root, home                string

	url, token string // of a server that runs already; "" for stdio
}

// overHTTP starts ferrule http for the workspace.
func (i *inspection) overHTTP(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	log, ended := newWatchedLog(), make(chan int, 1)
	go func() {
		getenv := func(name string) string { return map[string]string{"FERRULE_HOME": i.home}[name] }
		ended <- run(ctx, environment{in: strings.NewReader(""), out: io.Discard, err: log, getenv: getenv},
			[]string{"--root", i.root, "--toolsets", "+extra", "http", "--addr", "127.0.0.1:0"})
	}()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("ferrule http ended with %d: %s", code, log)
		}
	})
	select {
	case i.url = <-log.ready:
	case code := <-ended:
		ended <- code
		t.Fatalf("ferrule http ended with %d: %s", code, log)
	}
	b, err := os.ReadFile(filepath.Join(i.home, "token"))
	if err != nil {
		t.Fatal(err)
	}
	i.token = strings.TrimSpace(string(b))
}

func (i *inspection) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(i.root, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run makes one request and decodes its result. exit is the exit code that
// must come: 0, or 5 for a result that says isError; other codes are failures
// of the protocol.
func (i *inspection) run(t *testing.T, exit int, result any, request ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args := []string{i.script, "--cli", "--format", "json", "--protocol-era", i.era,
		i.server, "--root", i.root, "--toolsets", "+extra"}
	if i.url != "" {
		args = append(args[:len(args)-5], i.url, "--transport", "http", "--header", "Authorization: Bearer "+i.token)
	}
	cmd := exec.CommandContext(ctx, i.node, append(args, request...)...)
	cmd.Dir = i.root
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + i.home, "LANG=C.UTF-8", "MCP_INSPECTOR_SECRET_STORE=memory"}
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	var out struct{ Result json.RawMessage }
	if code := cmd.ProcessState.ExitCode(); code != exit {
		t.Fatalf("exit code %d, want %d\n%s: %s\n%s%s", code, exit, i.era, request, &stdout, &stderr)
	}
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatalf("%s: %v\n%s%s", request, err, &stdout, &stderr)
	}
	if err := json.Unmarshal(out.Result, result); err != nil {
		t.Fatalf("%s: %v\n%s", request, err, &stdout)
	}
}

// tools asks for the list and for the Inspector's own judgement of how
// portable the schemas are: it exits with 6 if one is not.
func (i *inspection) tools(t *testing.T) {
	var got struct {
		Tools []struct {
			Name, Title, Description string
			InputSchema              struct {
				Type                 string
				Properties           map[string]struct{ Type, Description string }
				AdditionalProperties *bool
			}
			Annotations map[string]any
		}
	}
	i.run(t, 0, &got, "--method", "tools/list", "--strict")
	var names []string
	for _, tool := range got.Tools {
		names = append(names, tool.Name)
		if s := tool.InputSchema; tool.Description == "" || s.Type != "object" || s.AdditionalProperties == nil {
			t.Errorf("%s: description %q, schema %+v", tool.Name, tool.Description, s)
		}
		for name, p := range tool.InputSchema.Properties {
			if p.Type == "" || p.Description == "" {
				t.Errorf("%s: parameter %s has type %q and description %q", tool.Name, name, p.Type, p.Description)
			}
		}
		for _, hint := range []string{"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if tool.Annotations[hint] == nil {
				t.Errorf("%s has no %s: %v", tool.Name, hint, tool.Annotations)
			}
		}
	}
	var want []string
	for _, c := range inspectorCalls {
		if !slices.Contains(want, c.tool) {
			want = append(want, c.tool)
		}
	}
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("tools %v, want those called here: %v", names, want)
	}
}

func (i *inspection) call(t *testing.T, tool, args string, failed bool, want string) {
	var got struct {
		Content []struct{ Type, Text string }
		IsError bool
	}
	exit := 0
	if failed {
		exit = 5
	}
	i.run(t, exit, &got, "--method", "tools/call", "--tool-name", tool, "--tool-args-json", args)
	if got.IsError != failed || len(got.Content) != 1 || got.Content[0].Type != "text" || !strings.Contains(got.Content[0].Text, want) {
		t.Errorf("%s %s = %+v, want isError %v and a text with %q", tool, args, got, failed, want)
	}
}

func (i *inspection) prompts(t *testing.T) {
	var got struct {
		Prompts []struct{ Name, Description string }
	}
	i.run(t, 0, &got, "--method", "prompts/list")
	var names []string
	for _, p := range got.Prompts {
		names = append(names, p.Name)
		if p.Description == "" {
			t.Errorf("prompt %s has no description", p.Name)
		}
	}
	if want := []string{"chat", "code", "init", "study", "work"}; !slices.Equal(slices.Sorted(slices.Values(names)), want) {
		t.Errorf("prompts %v, want %v", names, want)
	}
}

// prompt gets the code prompt, which must know the workspace and the
// project's own instructions.
func (i *inspection) prompt(t *testing.T) {
	var got struct {
		Messages []struct {
			Role    string
			Content struct{ Type, Text string }
		}
	}
	i.run(t, 0, &got, "--method", "prompts/get", "--prompt-name", "code", "--prompt-args", "cwd="+i.root)
	var all strings.Builder
	for _, m := range got.Messages {
		all.WriteString(m.Content.Text)
	}
	for _, want := range []string{i.root, "Answer in verse."} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("%d messages without %q:\n%s", len(got.Messages), want, &all)
		}
	}
}

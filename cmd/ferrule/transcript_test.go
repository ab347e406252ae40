package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// TestTranscript has a client that is not ours do a whole small job on a copy
// of this repository: find a symbol, read, edit, test, undo. What it sees is
// docs/transcript.md; -update writes it.
func TestTranscript(t *testing.T) {
	const file = "../../docs/transcript.md"
	dir := copyOfRepository(t)
	c, err := client.NewStdioMCPClient(binary(t), []string{"FERRULE_HOME=" + t.TempDir()}, "--root", dir, "--toolsets", "+extra")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "transcript", Version: "1"}
	if _, err := c.Initialize(ctx, hello); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	fmt.Fprint(&b, "# A small job\n\nA client works on this repository through Ferrule: it finds a constant, changes it, runs the tests, and takes\n"+
		"the change back. Made by `go test ./cmd/ferrule -run TestTranscript -update`; do not edit.\n")
	for _, step := range []struct{ why, tool, args string }{
		{"Where is the limit of reported faults?", "Grep", `{"pattern": "maxFaults", "output_mode": "content", "path": "tools"}`},
		{"Read the place.", "Read", `{"file_path": "tools/internal/schema/decode.go", "offset": 37, "limit": 12}`},
		{"Change it.", "Edit", `{"file_path": "tools/internal/schema/decode.go", "old_string": "const maxFaults = 20", "new_string": "const maxFaults = 10"}`},
		{"Do the tests still pass?", "Bash", `{"command": "go test ./tools/internal/schema"}`},
		{"It was only a try.", "Undo", `{"file_path": "tools/internal/schema/decode.go"}`},
		{"Is it as before?", "Grep", `{"pattern": "const maxFaults", "output_mode": "content", "path": "tools/internal/schema"}`},
	} {
		var req mcp.CallToolRequest
		req.Params.Name, req.Params.Arguments = step.tool, json.RawMessage(step.args)
		res, err := c.CallTool(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		text := res.Content[0].(mcp.TextContent).Text
		if res.IsError {
			t.Fatalf("%s: %s", step.tool, text)
		}
		fmt.Fprintf(&b, "\n## %s\n\n`%s %s`\n\n```\n%s\n```\n", step.why, step.tool, step.args, strings.TrimRight(text, "\n"))
	}
	got := bytes.ReplaceAll(b.Bytes(), []byte(dir), []byte("/path/to/ferrule"))
	got = regexp.MustCompile(`\d+\.\d+s\b|\(cached\)`).ReplaceAll(got, []byte("0.0s"))
	got = regexp.MustCompile(`\d\d:\d\d:\d\d`).ReplaceAll(got, []byte("12:00:00"))
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if want, _ := os.ReadFile(file); !bytes.Equal(got, want) {
		t.Errorf("%s is out of date; run go test ./cmd/ferrule -run TestTranscript -update\n%s", file, got)
	}
}

// copyOfRepository copies what git would know of this repository, as far as
// the job needs it.
func copyOfRepository(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tools", "cmd", "mcpserver", "prompts", "shell"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS("../../"+name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		b, err := os.ReadFile("../../" + name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

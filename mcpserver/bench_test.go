package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"ferrule/tools"
)

// init turns the test binary into a server with the one tool echo, for
// BenchmarkStdio, which starts it as a process like any other server.
func init() {
	var err error
	switch os.Getenv("FERRULE_ECHO") {
	case "":
		return
	case "ferrule":
		s, e := New(Config{Workspace: tools.Config{Roots: []string{os.TempDir()}}})
		if e != nil {
			log.Fatal(e)
		}
		s.add("echo", echo)
		err = s.ServeStdio(context.Background(), os.Stdin, os.Stdout)
	case "mcp-go":
		s := server.NewMCPServer("echo", "1", server.WithInputSchemaValidation())
		s.AddTool(mcp.NewTool("echo", mcp.WithString("text", mcp.Required())), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(r.GetString("text", "")), nil
		})
		err = server.ServeStdio(s)
	}
	if err != nil {
		log.Fatal(err)
	}
	os.Exit(0)
}

func echo(_ context.Context, _ *tools.Session, _ tools.Host, args json.RawMessage) *mcp.CallToolResult {
	var in struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return mcp.NewToolResultError(err.Error())
	}
	return mcp.NewToolResultText(in.Text)
}

// BenchmarkStdio calls the tool echo of servers made with mcp-go, with the
// official Go SDK, and with this package, each a process of its own. One run's
// ratios are what counts.
func BenchmarkStdio(b *testing.B) {
	sdk := filepath.Join(b.TempDir(), "gosdk")
	if out, err := exec.Command("go", "build", "-C", "../docs/bench/gosdk", "-o", sdk, ".").CombinedOutput(); err != nil {
		b.Logf("the Go SDK is left out: %v: %s", err, out)
		sdk = ""
	}
	for _, load := range []struct {
		name         string
		atOnce, size int
	}{{"one by one", 1, 5}, {"16 at once", 16, 5}, {"10 KB", 1, 10 << 10}} {
		for _, name := range []string{"mcp-go", "go-sdk", "ferrule"} {
			b.Run(load.name+"/"+name, func(b *testing.B) {
				cmd := exec.Command(os.Args[0])
				if name == "go-sdk" {
					if sdk == "" {
						b.Skip("not built")
					}
					cmd = exec.Command(sdk)
				}
				cmd.Env = append(os.Environ(), "FERRULE_ECHO="+name)
				callEcho(b, cmd, load.atOnce, strings.Repeat("x", load.size))
			})
		}
	}
}

// callEcho keeps so many calls at work until the benchmark is over.
func callEcho(b *testing.B, cmd *exec.Cmd, atOnce int, text string) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	out := bufio.NewReaderSize(stdout, 1<<20)
	read := func() string {
		line, err := out.ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		return line
	}
	io.WriteString(stdin, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`+"\n")
	read()
	io.WriteString(stdin, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	sent := 0
	send := func() {
		sent++
		fmt.Fprintf(stdin, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"%s"}}}`+"\n", sent, text)
	}
	for range atOnce {
		send()
	}
	for b.Loop() {
		if line := read(); !strings.Contains(line, text) || strings.Contains(line, `"isError":true`) {
			b.Fatal(line)
		}
		send()
	}
	b.StopTimer()
	stdin.Close()
	io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
}

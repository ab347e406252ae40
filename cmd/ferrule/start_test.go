package main

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkStart is the time from the start of a process to its answer to initialize: of the least Go program, of the
// least server of mcp-go, and of ours. Only their ratios say something.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	b.Setenv("FERRULE_HOME", dir)
	for _, name := range []string{"hello", "bare", "ferrule"} {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(dir, name)
			if name == "ferrule" {
				path = binary(b)
			} else if out, err := exec.Command("go", "build", "-o", path, "./testdata/"+name).CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			for b.Loop() {
				start(b, exec.Command(path))
			}
		})
	}
}

// start starts a server, waits for its answer to initialize, and ends it.
func start(b *testing.B, cmd *exec.Cmd) {
	b.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	io.WriteString(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`+"\n")
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		b.Fatalf("%q: %v", line, err)
	}
	b.StopTimer()
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	b.StartTimer()
}

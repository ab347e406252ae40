// The least server that mcp-go makes, which BenchmarkStart starts beside ours.
package main

import "github.com/mark3labs/mcp-go/server"

func main() {
	if err := server.ServeStdio(server.NewMCPServer("bare", "1")); err != nil {
		panic(err)
	}
}

package mcpserver

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ferrule/mcpserver/auth"
	"ferrule/tools"
)

// TestConformance lets the official suite loose on a server of ours over HTTP,
// guard and all. docs/protocol.md names the checks that the library makes
// impossible; testdata/conformance.yml holds them.
func TestConformance(t *testing.T) {
	node := tool(t, ".bin/node")
	for _, run := range []struct {
		name, suite string
		args        []string
		want        int // scenarios that pass
	}{
		{"0.1", "conformance", []string{"--suite", "all"}, 32},
		{"2025-11-25", "conformance-next", []string{"--requirements", "2025-11-25"}, 30},
		{"2026-07-28", "conformance-next", []string{"--requirements", "2026-07-28"}, 36},
	} {
		t.Run(run.name, func(t *testing.T) {
			script := tool(t, run.suite+"/dist/index.js")
			url := serveFixture(t)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			args := append([]string{script, "server", "--url", url, "-o", t.TempDir()}, run.args...)
			if run.name == "2026-07-28" {
				args = append(args, "--expected-failures", "testdata/conformance.yml")
			}
			out, err := exec.CommandContext(ctx, node, args...).CombinedOutput()
			text := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(string(out), "")
			t.Logf("%d scenarios passed, %d are wanted", strings.Count(text, "✓ "), run.want)
			if err != nil || strings.Count(text, "✓ ") < run.want {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}

// tool returns the path of something that .ci/run installs.
func tool(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("FERRULE_TOOLS")
	if dir == "" {
		dir = filepath.Join("..", ".tools")
	}
	path, err := filepath.Abs(filepath.Join(dir, "node_modules", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("FERRULE_CI") == "1" {
			t.Fatalf("%v; .ci/run installs it", err)
		}
		t.Skipf("%v; .ci/run installs it", err)
	}
	if testing.Short() {
		t.Skip("the suites take a minute")
	}
	return path
}

// serveFixture serves the fixture and returns its address.
func serveFixture(t *testing.T) string {
	t.Helper()
	listener := httptest.NewUnstartedServer(nil)
	t.Cleanup(listener.Close)
	url := "http://" + listener.Listener.Addr().String()
	g, err := auth.NewGuard(auth.Rules{Origins: []string{url}, MaxBody: maxMessage}, listener.Listener.Addr())
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(HTTPConfig{NoAuth: true}, g)
	t.Cleanup(s.sessions.close)
	srv, err := newServer(Config{Version: "1", Workspace: tools.Config{Roots: []string{t.TempDir()}, State: t.TempDir()}}, s.sessions)
	if err != nil {
		t.Fatal(err)
	}
	fixture{srv.mcp, srv}.fill()
	n := ready(t, "default#", srv)
	s.tenants[n.owner] = n
	listener.Config.Handler = s
	listener.Start()
	return url + "/mcp"
}

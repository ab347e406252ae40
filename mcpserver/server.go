// Package mcpserver publishes the tools and the prompts over the Model
// Context Protocol. It translates; it decides nothing.
//
// [New] makes a [Server] for a workspace, [Server.ServeStdio] serves one
// client. Begin with stdio.go: the transport is our own, because the
// library's loses cancellations, notifications and late results. The library,
// mcp-go, does what lies behind a message: registration, dispatch, and both
// eras of the protocol, the one with a handshake (2024-11-05 to 2025-11-25)
// and the one without (2026-07-28).
package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"ferrule/shell"
	"ferrule/tools"
)

// Config says what a [Server] serves. It is not changed after [New].
type Config struct {
	Workspace tools.Config
	Selection tools.Selection
	Version   string
	Drain     time.Duration // what calls in flight get when the input ends; 0 means 10 s
}

// A Server serves one workspace. Every client gets a [tools.Session] of its
// own, and nothing is shared between two servers in one process.
type Server struct {
	cfg   Config
	mcp   *server.MCPServer
	names []string // of the tools served
}

// New returns a Server for cfg. It fails if a directory of the workspace does
// not exist or the selection of tools names an unknown one.
func New(cfg Config) (*Server, error) {
	for _, dir := range slices.Concat(cfg.Workspace.Roots, cfg.Workspace.ReadDirs) {
		if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
			return nil, fmt.Errorf("%s is not a directory", dir)
		}
	}
	chosen, err := tools.Select(cfg.Selection)
	if err != nil {
		return nil, err
	}
	if cfg.Drain == 0 {
		cfg.Drain = 10 * time.Second
	}
	s := &Server{cfg: cfg}
	for _, t := range chosen {
		s.names = append(s.names, t.Name)
	}
	s.mcp = server.NewMCPServer("ferrule", cfg.Version,
		server.WithTitle("Ferrule"),
		server.WithToolCapabilities(false),
		server.WithPromptCapabilities(false),
		server.WithInstructions(serverInstructions(s.names)+folders(cfg.Workspace)),
		server.WithLogging(),
	)
	for _, t := range chosen {
		s.mcp.AddTool(toolOf(t), s.handler(t))
	}
	s.mcp.AddPrompt(codePromptDecl(), s.codePrompt)
	return s, nil
}

// folders names the folders of a workspace that has more than one: the tools'
// texts speak of the first only.
func folders(w tools.Config) string {
	if len(w.Roots)+len(w.ReadDirs) < 2 || len(w.Roots) == 0 {
		return ""
	}
	text := "\n\nRelative paths and searches without a path start in " + w.Roots[0] + ". There are also:"
	for _, dir := range w.Roots[1:] {
		text += "\n- " + dir
	}
	for _, dir := range w.ReadDirs {
		text += "\n- " + dir + " (may only be read)"
	}
	return text
}

// codePrompt puts the prompt together for the client that asks.
func (s *Server) codePrompt(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	c, ok := server.ClientSessionFromContext(ctx).(*client)
	if !ok {
		return nil, errNoClient
	}
	ts, err := c.session()
	if err != nil {
		return nil, err
	}
	env := promptEnv{home: s.cfg.Workspace.State, open: ts.ReadFile, tools: s.names, shell: shell.Name(), frozen: &c.frozen}
	for _, d := range ts.Dirs() {
		if !d.ReadOnly {
			env.roots = append(env.roots, d.Path)
		}
	}
	return codePrompt(ctx, env, req.Params.Arguments)
}

var errNoClient = errors.New("the request belongs to no client")

// refuse returns the protocol's error for a request that cannot be
// dispatched, or nil. The library would answer some of these with another
// code, or with a dump of the message.
func (s *Server) refuse(m *message) *refusal {
	if len(m.Params) > 0 && m.Params[0] != '{' && string(m.Params) != "null" {
		return &refusal{mcp.INVALID_PARAMS, "params must be an object"}
	}
	if m.Method != string(mcp.MethodToolsCall) {
		return nil
	}
	name, err := m.toolName()
	switch {
	case err != nil:
		return &refusal{mcp.INVALID_PARAMS, "params must hold the name of a tool"}
	case !slices.Contains(s.names, name):
		return &refusal{mcp.INVALID_PARAMS, fmt.Sprintf("there is no tool %q; the tools are %s", name, strings.Join(s.names, ", "))}
	}
	return nil
}

// session returns the state of the client that sent the request in ctx.
func session(ctx context.Context) (*tools.Session, error) {
	c, ok := server.ClientSessionFromContext(ctx).(*client)
	if !ok {
		return nil, errNoClient
	}
	return c.session()
}

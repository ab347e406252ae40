// Package mcpserver publishes the tools and the prompts over the Model
// Context Protocol. It translates; it decides nothing.
//
// [New] makes a [Server] for a workspace, [Server.ServeStdio] serves one
// client, [ServeHTTP] serves many, each by a Server for whom its token belongs
// to. Begin with stdio.go: the transports are our own, because the library's
// lose cancellations, notifications and late results. The library, mcp-go, does
// what lies behind a message: registration, dispatch, and both eras of the
// protocol, the one with a handshake (2024-11-05 to 2025-11-25) and the one
// without (2026-07-28).
package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"ferrule/mcpserver/internal/seal"
	"ferrule/mcpserver/mcpclient"
	"ferrule/prompts"
	"ferrule/tools"
)

// Config says what a [Server] serves. It is not changed after [New].
type Config struct {
	Workspace tools.Config
	Selection tools.Selection
	Version   string
	Drain     time.Duration // what calls in flight get when the input ends; 0 means 10 s

	// Guessed says that nobody has named Workspace.Roots, except those in Added:
	// then the folders that a client has open take their place. Otherwise the
	// client's folders only choose among them. Those in Added always stay.
	Guessed bool
	Added   []string

	Profile  prompts.Profile // chooses the notes on tools; "" means Code
	Identity string          // who the model is told to be, in place of the profile's own words

	// TrustsPrompts reports whether the user has said yes to the prompts that a
	// project folder brings along, by their hash; nil means no.
	TrustsPrompts func(root, hash string) bool
}

// A Server serves one workspace. Every client gets a [tools.Session] of its
// own, and nothing is shared between two servers in one process.
type Server struct {
	cfg         Config
	mcp         *server.MCPServer
	names       []string                          // of the tools served
	calls       map[string]server.ToolHandlerFunc // what answers them, by name
	sessions    *sessions
	connections atomic.Uint64 // served so far
	key         *seal.Sealer
	progress    time.Duration          // between two reports of a call
	announced   atomic.Pointer[string] // the prompts as clients have been told of them last
}

// New returns a Server for cfg. It fails if a directory of the workspace does
// not exist or the selection of tools names an unknown one.
func New(cfg Config) (*Server, error) { return newServer(cfg, newSessions(0)) }

// newServer returns a Server whose sessions live among those of others.
func newServer(cfg Config, among *sessions) (*Server, error) {
	for _, dir := range slices.Concat(cfg.Workspace.Roots, cfg.Workspace.ReadDirs) {
		if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
			return nil, fmt.Errorf("%s is not a directory", dir)
		}
	}
	chosen, err := tools.Select(cfg.Selection)
	if err != nil {
		return nil, err
	}
	if cfg.Profile == "" {
		cfg.Profile = prompts.Code
	}
	if err := cfg.Profile.Check(); err != nil {
		return nil, err
	}
	if cfg.Drain == 0 {
		cfg.Drain = 10 * time.Second
	}
	s := &Server{cfg: cfg, calls: make(map[string]server.ToolHandlerFunc), sessions: among, key: seal.New(answerTime, maxOpen), progress: progressTime}
	for _, t := range chosen {
		s.names = append(s.names, t.Name)
	}
	s.mcp = server.NewMCPServer("ferrule", cfg.Version,
		server.WithTitle("Ferrule"),
		server.WithToolCapabilities(false),
		server.WithPromptCapabilities(true),
		server.WithPromptFilter(s.listPrompts),
		server.WithToolHandlerMiddleware(s.nested),
		server.WithInstructions(serverInstructions(s.names)+s.limits()+folders(cfg)),
		server.WithLogging(),
		server.WithToolFilter(usable),
		server.WithResourceCapabilities(true, false),
		server.WithCompletions(),
		server.WithPromptCompletionProvider(completions{s}),
		server.WithResourceCompletionProvider(completions{s}),
		server.WithHooks(new(server.Hooks)),
	)
	for _, t := range chosen {
		s.calls[t.Name] = s.handler(t)
		s.mcp.AddTool(s.noted(s.toolOf(t)), s.calls[t.Name])
	}
	s.addPrompts(s.mcp.GetHooks())
	s.addResources(s.mcp.GetHooks())
	s.watchRoots()
	return s, nil
}

// Connect serves a client in this process and returns its connection, ready
// for calls. The caller must close it; ctx ends it, too.
func (s *Server) Connect(ctx context.Context) (*mcpclient.Conn, error) {
	theirs, ours := io.Pipe()
	from, to := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- s.ServeStdio(ctx, theirs, to)
		to.Close()
	}()
	c := mcpclient.Served(ours, from, served)
	return c, c.Initialize(ctx, mcp.LATEST_LEGACY_PROTOCOL_VERSION)
}

// limits says what holds the commands of Bash back.
func (s *Server) limits() string {
	line, err := s.cfg.Workspace.Sandbox.Check()
	if err != nil || !slices.Contains(s.names, tools.Bash.Name) {
		return ""
	}
	return "\n\nIn Bash " + line + "."
}

// folders names the folders of a workspace that has more than one: the tools'
// texts speak of the first only. What the client may replace is not named.
func folders(cfg Config) string {
	more, read := cfg.Added, cfg.Workspace.ReadDirs
	text := "\n\nBeside the project's own folder there are:"
	if !cfg.Guessed && len(cfg.Workspace.Roots) > 0 {
		more = cfg.Workspace.Roots[1:]
		text = "\n\nRelative paths and searches without a path start in " + cfg.Workspace.Roots[0] + ". There are also:"
	}
	if len(more)+len(read) == 0 || !cfg.Guessed && len(cfg.Workspace.Roots) == 0 {
		return ""
	}
	for _, dir := range more {
		text += "\n- " + dir
	}
	for _, dir := range read {
		text += "\n- " + dir + " (may only be read)"
	}
	return text
}

var errNoClient = errors.New("the request belongs to no client")

// refuse returns the protocol's error for a request that cannot be
// dispatched, or nil. The library would answer some of these with another
// code, or with a dump of the message. asks tells whether the client can ask its
// user.
func (s *Server) refuse(m *message, asks func() bool) *refusal {
	if len(m.Params) > 0 && m.Params[0] != '{' && string(m.Params) != "null" {
		return &refusal{mcp.INVALID_PARAMS, "params must be an object"}
	}
	if m.Method != string(mcp.MethodToolsCall) {
		return nil
	}
	name, err := m.toolName()
	if err != nil {
		return &refusal{mcp.INVALID_PARAMS, "params must hold the name of a tool"}
	}
	names := s.names
	if known := slices.Contains(names, name); known && name != tools.AskUserQuestion.Name {
		return nil
	}
	if !asks() {
		names = withoutAsking(names)
	}
	if slices.Contains(names, name) {
		return nil
	}
	return &refusal{mcp.INVALID_PARAMS, fmt.Sprintf("there is no tool %q; the tools are %s", name, strings.Join(names, ", "))}
}

// withoutAsking leaves out the tool that only a client with a user can use.
func withoutAsking(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == tools.AskUserQuestion.Name })
}

// dispatch hands a request to the library. The id of the answer is written as
// it came; the library's way over float64 would change large numbers.
func (s *Server) dispatch(ctx context.Context, m *message) mcp.JSONRPCMessage {
	resp := s.mcp.HandleMessage(ctx, m.raw)
	id := mcp.NewRequestId(m.ID)
	switch r := resp.(type) {
	case mcp.JSONRPCResponse:
		r.ID = id
		return r
	case mcp.JSONRPCError:
		r.ID = id
		switch { // the library says "invalid request" of good messages, and "internal error" of bad arguments
		case r.Error.Code == mcp.INVALID_REQUEST:
			r.Error.Code, r.Error.Message = mcp.INVALID_PARAMS, "the parameters are not those of "+m.Method
		case r.Error.Code == mcp.INTERNAL_ERROR:
			r.Error.Code = faultCode(m)
		}
		return r
	}
	return resp
}

// errTaken refuses a request whose id another one at work has.
func errTaken() *refusal {
	return &refusal{mcp.INVALID_REQUEST, "a request with this id is still at work"}
}

// clientOf returns the client that sent the request in ctx, or nil.
func clientOf(ctx context.Context) *client {
	switch c := server.ClientSessionFromContext(ctx).(type) {
	case *client:
		return c
	case *exchange:
		return c.client
	}
	return nil
}

// session returns the session of the tools for the request in ctx.
func session(ctx context.Context) (*tools.Session, error) {
	c := clientOf(ctx)
	if c == nil {
		return nil, errNoClient
	}
	return c.session()
}

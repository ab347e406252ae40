package mcpserver

import (
	"context"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"ferrule/tools"
)

// progressGap is the least time between two progress notifications of a call.
const progressGap = 250 * time.Millisecond

// host returns what the client of the request can do for the tool at work.
func (s *Server) host(ctx context.Context, req mcp.CallToolRequest) tools.Host {
	h := &host{ctx: ctx}
	if m := req.Params.Meta; m != nil {
		h.token = m.ProgressToken
	}
	return h
}

// A host speaks to the client of one request.
type host struct {
	ctx   context.Context // of the request: what is sent belongs to it
	token mcp.ProgressToken

	mu   sync.Mutex // guards last
	last time.Time
}

func (h *host) Progress(seconds float64, message string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.token == nil || time.Since(h.last) < progressGap {
		return
	}
	h.last = time.Now()
	if utf8.RuneCountInString(message) > 200 {
		message = string([]rune(message)[:199]) + "…"
	}
	notify(h.ctx, "notifications/progress", map[string]any{
		"progressToken": h.token, "progress": seconds, "message": message,
	})
}

// notify sends a notification that belongs to the request in ctx. It is on its
// way when notify returns, so it arrives before the response. Once the request
// has ended nothing is sent.
func notify(ctx context.Context, method string, params map[string]any) {
	if c, ok := server.ClientSessionFromContext(ctx).(*client); ok && ctx.Err() == nil {
		c.write(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
	}
}

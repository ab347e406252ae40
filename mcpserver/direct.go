package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// The library parses the parameters of a call five times over and builds every
// result through maps. For the calls of a client that has shaken hands, which
// are most, it adds nothing in return, so these go straight to the handler. What
// belongs to the era without a handshake, or asks for anything else that the
// library does, goes through it.

// A directCall is the parameters of tools/call as far as they are looked at here.
type directCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Meta      json.RawMessage `json:"_meta"`
	Task      json.RawMessage `json:"task"`
	Responses json.RawMessage `json:"inputResponses"`
	State     json.RawMessage `json:"requestState"`
}

// direct answers a call without the library, or returns nil if it cannot.
func (s *Server) direct(ctx context.Context, c *client, m *message) any {
	if m.Method != string(mcp.MethodToolsCall) || !c.Initialized() {
		return nil
	}
	var p directCall
	if json.Unmarshal(m.Params, &p) != nil || p.Task != nil || p.Responses != nil || p.State != nil {
		return nil
	}
	h := s.calls[p.Name]
	if h == nil || bytes.Contains(p.Meta, []byte("io.modelcontextprotocol/")) || !slices.Contains(s.toolNames(ctx), p.Name) {
		return nil
	}
	if _, wanted := c.GetClientCapabilities().Experimental[nestedKey]; wanted {
		return nil
	}
	var req mcp.CallToolRequest
	req.Method = m.Method
	req.Params.Name, req.Params.RawArguments = p.Name, p.Arguments
	if p.Meta != nil && json.Unmarshal(p.Meta, &req.Params.Meta) != nil {
		return nil
	}
	res, err := h(ctx, req)
	if err != nil || res.ResultType != "" || res.InputRequests != nil {
		return nil // no handler of ours does that
	}
	return directAnswer{"2.0", m.ID, directResult{res.Content, res.StructuredContent, res.IsError, res.Meta}}
}

// A directAnswer is written as the library would write it.
type directAnswer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  directResult    `json:"result"`
}

type directResult struct {
	Content    []mcp.Content `json:"content"`
	Structured any           `json:"structuredContent,omitempty"`
	IsError    bool          `json:"isError,omitempty"`
	Meta       *mcp.Meta     `json:"_meta,omitempty"`
}

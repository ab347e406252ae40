package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"ferrule/tools"
)

// toolOf publishes a tool with all four hints: the library announces those
// left out as "destructive, open world".
func toolOf(t *tools.Tool) mcp.Tool {
	m := mcp.NewToolWithRawSchema(t.Name, t.Description, t.Input)
	m.Annotations = mcp.ToolAnnotation{
		Title:           t.Title,
		ReadOnlyHint:    &t.Hints.ReadOnly,
		DestructiveHint: &t.Hints.Destructive,
		IdempotentHint:  &t.Hints.Idempotent,
		OpenWorldHint:   &t.Hints.OpenWorld,
	}
	if t.Large {
		m.Meta = mcp.NewMetaFromMap(map[string]any{"anthropic/maxResultSizeChars": tools.DefaultResultChars})
	}
	return m
}

// handler never returns an error: as a protocol error the model would not see
// it.
func (s *Server) handler(t *tools.Tool) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ts, err := session(ctx)
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		args, err := json.Marshal(req.GetRawArguments())
		if err != nil {
			return mcp.NewToolResultError("the arguments are not JSON: " + err.Error()), nil
		}
		return resultOf(t.Call(ctx, ts, s.host(ctx, req), args)), nil
	}
}

// resultOf puts the text first and pictures behind it.
func resultOf(r tools.Result) *mcp.CallToolResult {
	out := mcp.NewToolResultText(r.Text)
	out.IsError = r.Failed
	for _, i := range r.Images {
		out.Content = append(out.Content, mcp.NewImageContent(base64.StdEncoding.EncodeToString(i.Data), i.MIME))
	}
	if len(r.Meta) > 0 {
		meta := make(map[string]any, len(r.Meta))
		for name, v := range r.Meta {
			meta["ferrule/"+name] = v
		}
		out.Meta = mcp.NewMetaFromMap(meta)
	}
	return out
}

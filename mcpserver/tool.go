package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"ferrule/tools"
)

// toolOf publishes a tool with all four hints: the library announces those
// left out as "destructive, open world".
func (s *Server) toolOf(t *tools.Tool) mcp.Tool {
	t = s.cfg.Workspace.Hinted(t)
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

// usable drops the tools that the client of a request can do nothing with. It
// holds for the list of tools and for calls alike.
func usable(ctx context.Context, list []mcp.Tool) []mcp.Tool {
	if canAsk(ctx) {
		return list
	}
	return slices.DeleteFunc(list, func(t mcp.Tool) bool { return t.Name == tools.AskUserQuestion.Name })
}

// toolNames are the names of the tools that the client of a request can use.
func (s *Server) toolNames(ctx context.Context) []string {
	if canAsk(ctx) {
		return s.names
	}
	return slices.DeleteFunc(slices.Clone(s.names), func(n string) bool { return n == tools.AskUserQuestion.Name })
}

// handler returns what answers the calls of a tool.
func (s *Server) handler(t *tools.Tool) server.ToolHandlerFunc {
	return s.answering(func(ctx context.Context, ts *tools.Session, h tools.Host, args json.RawMessage) *mcp.CallToolResult {
		res := t.Call(ctx, ts, h, args)
		out := resultOf(res)
		if t == tools.Bash {
			out.Content = append(out.Content, taskLinks(res.Meta)...)
			announce(ctx, ts, res.Meta)
		}
		return out
	})
}

// answering returns a handler around a call. It never returns an error: as a
// protocol error the model would not see it.
func (s *Server) answering(call func(context.Context, *tools.Session, tools.Host, json.RawMessage) *mcp.CallToolResult) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ts, err := s.workspace(ctx)
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		args, err := json.Marshal(req.GetRawArguments())
		if err != nil {
			return mcp.NewToolResultError("the arguments are not JSON: " + err.Error()), nil
		}
		h, err := s.host(ctx, ts, req)
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		if m := req.Params.Meta; m != nil {
			ctx = tools.WithMeta(ctx, m.AdditionalFields)
		}
		stop := h.report(s.progress)
		out := call(ctx, ts, h, args)
		stop()
		if h.talk != nil {
			if asked := h.talk.result(); asked != nil { // the tool has not begun: it will be called again
				return asked, nil
			}
		}
		return out, nil
	}
}

// resultOf puts the text first and pictures behind it.
func resultOf(r tools.Result) *mcp.CallToolResult {
	out := mcp.NewToolResultText(r.Text)
	out.IsError = r.Failed
	out.StructuredContent = r.Structured
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

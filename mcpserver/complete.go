package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// What a client can offer its user while he types the argument of a prompt or
// of a resource.

// maxCompletions is how many values the protocol allows in one answer.
const maxCompletions = 100

// models are the names that DeepSeek's interface had in September 2026.
var models = []string{"deepseek-flash", "deepseek-v4-flash", "deepseek-v4-pro"}

// A completions answers completion/complete.
type completions struct{ srv *Server }

// CompletePromptArgument completes cwd and model of the stock prompts. Others
// have arguments of which nothing is known.
func (c completions) CompletePromptArgument(ctx context.Context, name string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if !slices.ContainsFunc(stockPrompts, func(p mcp.Prompt) bool { return p.Name == name }) {
		return nil, nil
	}
	switch arg.Name {
	case "cwd":
		ts, err := c.srv.workspace(ctx)
		if err != nil {
			return nil, err
		}
		paths, total := ts.Folders(arg.Value, maxCompletions)
		return &mcp.Completion{Values: paths, Total: total, HasMore: total > len(paths)}, nil
	case "model":
		return completion(models, arg.Value), nil
	}
	return nil, nil
}

// CompleteResourceArgument completes the id of a memory or of the output of a
// command.
func (c completions) CompleteResourceArgument(ctx context.Context, uri string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	ofMemory := strings.HasPrefix(uri, memoryScheme)
	if !ofMemory && !strings.HasPrefix(uri, taskScheme) || arg.Name != "id" {
		return nil, fmt.Errorf("there is nothing to complete in %q", uri)
	}
	ts, err := session(ctx)
	if err != nil {
		return nil, err
	}
	if ofMemory {
		ids, err := ts.Memories(ctx, arg.Value, maxCompletions)
		return &mcp.Completion{Values: ids}, err
	}
	var ids []string
	for _, t := range ts.Tasks() {
		ids = append(ids, t.ID)
	}
	return completion(ids, arg.Value), nil
}

// completion returns what begins as typed, at most as many as are allowed.
func completion(all []string, typed string) *mcp.Completion {
	var hits []string
	for _, v := range all {
		if strings.HasPrefix(v, typed) {
			hits = append(hits, v)
		}
	}
	some := hits[:min(len(hits), maxCompletions)]
	return &mcp.Completion{Values: some, Total: len(hits), HasMore: len(some) < len(hits)}
}

package mcpserver

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"ferrule/mcpserver/internal/project"
)

// nestedKey is what a client declares among its experimental capabilities to get
// the instruction files of folders that a call touches first, and where it finds
// them in the _meta of that call's result. Others would not know what to do with
// them.
const nestedKey = "ferrule/instructions"

// A nestedFile is an instruction file as it stands in _meta.
type nestedFile struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// nested hands on the instructions of folders that calls touch.
func (s *Server) nested(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := next(ctx, req)
		if c := clientOf(ctx); err == nil && res != nil && !res.IsError && !res.NeedsInput() && c != nil {
			if _, wanted := c.GetClientCapabilities().Experimental[nestedKey]; wanted {
				if files := s.touched(c, req.GetArguments()); files != nil {
					if res.Meta == nil {
						res.Meta = mcp.NewMetaFromMap(make(map[string]any))
					}
					res.Meta.AdditionalFields[nestedKey] = files
				}
			}
		}
		return res, err
	}
}

// touched returns the instructions for what a call with these arguments has
// touched, as far as the client has not got them yet.
func (s *Server) touched(c *client, args map[string]any) (files []nestedFile) {
	ts, err := c.session()
	if err != nil {
		return nil
	}
	env := s.envOf(ts, nil, &c.frozen)
	roots, first, err := project.WorkingDir(env.roots, "")
	if err != nil || first == "" {
		return nil
	}
	for _, name := range []string{"file_path", "path", "notebook_path"} {
		path, _ := args[name].(string)
		if path == "" {
			continue
		}
		if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
			path = filepath.Join(first, path)
		}
		dir, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
			dir = filepath.Dir(dir)
		}
		inside := func(root string) bool { return within(root, dir) }
		if !slices.ContainsFunc(roots, inside) || !env.frozen.Touch(dir) {
			continue
		}
		found := project.Sources{Roots: roots, Cwd: dir, Open: env.open}.Nested(env.frozen.Has)
		env.frozen.Give(found)
		for _, f := range found {
			files = append(files, nestedFile{f.Path, f.Text})
		}
	}
	return files
}

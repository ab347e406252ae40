package mcpserver_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestImports holds the direction in which packages may depend on one another.
// A package may import the packages listed for it and nothing else of ours.
// Only mcpserver may import mcp-go.
func TestImports(t *testing.T) {
	const mod, internal = "ferrule/", "tools/internal/"
	allow := map[string][]string{
		"cmd/ferrule":         {"cmd/ferrule/internal/clients", "cmd/internal/settings", "mcpserver", "mcpserver/auth", "mcpserver/mcpclient", "memory", "prompts", "shell", "tools", "tools/permit"},
		"mcpserver":           {"mcpserver/mcpclient", "mcpserver/internal/clientdir", "mcpserver/internal/project", "mcpserver/internal/seal", "mcpserver/internal/userform", "mcpserver/auth", "tools", "prompts", "shell"},
		"mcpserver/auth":      nil,
		"mcpserver/mcpclient": nil,

		"mcpserver/internal/clientdir": nil,
		"mcpserver/internal/project":   {"prompts", "shell"},
		"mcpserver/internal/seal":      nil,
		"mcpserver/internal/userform":  {"tools"},

		"tools":                 {"tools/permit", "memory", "shell", internal + "archive", internal + "atomicfile", internal + "fetch", internal + "history", internal + "notebook", internal + "page", internal + "pdf", internal + "picture", internal + "roots", internal + "schema", internal + "search", internal + "text", internal + "walk"},
		internal + "archive":    {internal + "page"},
		internal + "atomicfile": nil,
		internal + "command":    nil,
		internal + "fetch":      nil,
		internal + "history":    {internal + "atomicfile"},
		internal + "notebook":   nil,
		internal + "page":       {internal + "text"},
		internal + "pdf":        nil,
		internal + "picture":    nil,
		internal + "roots":      nil,
		internal + "schema":     nil,
		internal + "search":     {internal + "text", internal + "walk"},
		internal + "text":       nil,
		internal + "walk":       nil,
		"memory":                {"memory/internal/redact", "memory/internal/terms"},
		"shell":                 {"shell/internal/clean", "shell/internal/sandbox"},
		"prompts":               nil,

		"shell/internal/clean":   nil,
		"shell/internal/sandbox": nil,
		"memory/internal/redact": {"memory/internal/terms"},
		"memory/internal/terms":  nil,

		"cmd/ferrule/internal/clients": nil,
		"cmd/internal/settings":        {"tools/permit"},
		"tools/permit":                 {internal + "command", internal + "roots"},
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}: {{join .Imports " "}}`, "ferrule/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		pkg, imports, _ := strings.Cut(strings.TrimPrefix(line, mod), ":")
		ok, known := allow[pkg]
		if !known {
			t.Errorf("package %s is not in the layout", pkg)
		}
		for imp := range strings.FieldsSeq(imports) {
			if ours, is := strings.CutPrefix(imp, mod); is && !slices.Contains(ok, ours) {
				t.Errorf("%s must not import %s", pkg, ours)
			}
			if strings.HasPrefix(imp, "github.com/mark3labs/") && pkg != "mcpserver" {
				t.Errorf("%s must not import %s", pkg, imp)
			}
		}
	}
}

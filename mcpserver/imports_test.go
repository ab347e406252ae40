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
		"cmd/ferrule":           {"mcpserver", "tools"},
		"mcpserver":             {"tools", "prompts", "shell"},
		"tools":                 {"shell", internal + "atomicfile", internal + "history", internal + "roots", internal + "schema", internal + "search", internal + "text", internal + "walk"},
		internal + "atomicfile": nil,
		internal + "history":    {internal + "atomicfile"},
		internal + "roots":      nil,
		internal + "schema":     nil,
		internal + "search":     {internal + "text", internal + "walk"},
		internal + "text":       nil,
		internal + "walk":       nil,
		"shell":                 nil,
		"prompts":               nil,
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

package prompts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A position is a name in order.go: equal numbers invented elsewhere would be
// ordered by the names of their parts.
func TestNoBareOrders(t *testing.T) {
	fset := token.NewFileSet()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(src), "Order:") {
			return err
		}
		f, err := parser.ParseFile(fset, path, src, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok {
				if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Order" && hasNumber(kv.Value) {
					t.Errorf("%s: an order is a number, not a name of order.go", fset.Position(kv.Pos()))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func hasNumber(x ast.Expr) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		if _, ok := n.(*ast.BasicLit); ok {
			found = true
		}
		return !found
	})
	return found
}

func TestSectionOrder(t *testing.T) {
	for name, want := range map[string]int{"HARNESS_IDENTITY": -1000, "DEPLOYMENT_PERSONA_PREFIX": 0, "CODE_RULES": 100,
		"DESKTOP_RULES": 100, "MODE": 110, "PLAN_POLICY": 500, "FILE_REFERENCE": 900, "TOOL_BASH": 1000, "MCP_SERVERS": 3100,
		"MEMORY_GUIDANCE": 4000, "STRUCTURED_OUTPUT": 9900, "ENVIRONMENT": 10000, "ADDITIONAL_INSTRUCTIONS": 10100,
		"DEPLOYMENT_PERSONA_SUFFIX": 10200} {
		if got, err := SectionOrder(name); got != want || err != nil {
			t.Errorf("%s: got %d, %v, want %d", name, got, err, want)
		}
	}
	if _, err := SectionOrder("nothing"); err == nil || !strings.Contains(err.Error(), "CODE_RULES") {
		t.Errorf("got %v", err)
	}
	for name, order := range sectionOrders {
		if strings.HasPrefix(name, "TOOL_") && (order < 1000 || order >= 2900) {
			t.Errorf("%s stands at %d", name, order)
		}
	}
}

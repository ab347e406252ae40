package mcpserver_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Size budgets. An exception stands in excused, with its reason.
const (
	maxFunc     = 80
	maxFile     = 600
	maxPackage  = 4000
	maxExported = 40
	maxFields   = 15
)

var excused = map[string]string{
	"tools.package":        "one flat package with a file for each tool: it grows by tools, and what can be told without the word goes down",
	"tools.exported names": "likewise: a name for each tool",
	"tools.grepInput":      "one field for each parameter, which are the reference's",
}

// TestBudget holds the sizes of functions, files, packages and structs, and
// that no package variable is assigned after it is declared.
func TestBudget(t *testing.T) {
	packages := make(map[string][]*ast.File)
	fset := token.NewFileSet()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			f, err := parser.ParseFile(fset, path, nil, 0)
			if err != nil {
				return err
			}
			packages[filepath.ToSlash(filepath.Dir(path))] = append(packages[filepath.ToSlash(filepath.Dir(path))], f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	lines := func(n ast.Node) int { return fset.Position(n.End()).Line - fset.Position(n.Pos()).Line + 1 }
	for dir, files := range packages {
		name := strings.TrimPrefix(dir, "../")
		over := func(what string, got, limit int) {
			if got > limit && excused[name+"."+what] == "" {
				t.Errorf("%s: %s: %d, budget %d", name, what, got, limit)
			}
		}
		total, exported := 0, 0
		vars := packageVars(files)
		for _, f := range files {
			total += lines(f)
			over(filepath.Base(fset.Position(f.Pos()).Filename), lines(f), maxFile)
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					over(n.Name.Name, lines(n), maxFunc)
				case *ast.TypeSpec:
					if st, ok := n.Type.(*ast.StructType); ok {
						over(n.Name.Name, st.Fields.NumFields(), maxFields)
					}
				}
				for _, x := range targets(n) {
					if v := assigned(x); v != nil && vars[v.Name] && !local(v, f) {
						t.Errorf("%s: package variable %s is assigned", name, v.Name)
					}
				}
				return true
			})
			for _, d := range f.Decls {
				exported += countExported(d)
			}
		}
		over("package", total, maxPackage)
		over("exported names", exported, maxExported)
	}
}

func packageVars(files []*ast.File) map[string]bool {
	vars := make(map[string]bool)
	for _, f := range files {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				for _, s := range g.Specs {
					for _, n := range s.(*ast.ValueSpec).Names { // the blank name may be assigned everywhere
						vars[n.Name] = n.Name != "_"
					}
				}
			}
		}
	}
	return vars
}

// targets returns what a statement assigns to.
func targets(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	}
	return nil
}

// assigned returns the variable that an assignment to x changes.
func assigned(x ast.Expr) *ast.Ident {
	for {
		switch y := x.(type) {
		case *ast.Ident:
			return y
		case *ast.IndexExpr:
			x = y.X
		case *ast.SelectorExpr:
			x = y.X
		case *ast.StarExpr:
			x = y.X
		default:
			return nil
		}
	}
}

// local reports whether the parser resolved v to something inside a function.
func local(v *ast.Ident, f *ast.File) bool {
	return v.Obj != nil && f.Scope.Lookup(v.Name) != v.Obj
}

func countExported(d ast.Decl) (n int) {
	count := func(id *ast.Ident) {
		if id.IsExported() {
			n++
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			count(d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				count(s.Name)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					count(id)
				}
			}
		}
	}
	return n
}

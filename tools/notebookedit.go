package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ferrule/tools/internal/atomicfile"
	"ferrule/tools/internal/notebook"
)

type notebookEditInput struct {
	NotebookPath string  `json:"notebook_path"`
	CellID       string  `json:"cell_id,omitempty"`
	NewSource    *string `json:"new_source,omitempty" schema:"nul"`
	CellType     string  `json:"cell_type,omitempty" schema:"enum=code|markdown|raw"`
	EditMode     string  `json:"edit_mode,omitempty" schema:"enum=replace|insert|delete,default=replace"`
}

// NotebookEdit changes one cell of a notebook.
var NotebookEdit = define(spec{
	name: "NotebookEdit", title: "Edit a notebook", toolset: "files",
	hints: Hints{Destructive: true},
}, notebookEdit)

func notebookEdit(ctx context.Context, r *request, in notebookEditInput) (Result, error) {
	if err := in.check(); err != nil {
		return Result{}, err
	}
	p, err := r.toWrite(ctx, in.NotebookPath)
	if err != nil {
		return Result{}, err
	}
	name := printable(in.NotebookPath)
	var n *notebook.Notebook
	var done notebook.Change
	out, err := r.write(ctx, "NotebookEdit", p, name, func(old *atomicfile.Content) (version, error) {
		if old == nil {
			return version{}, r.gone(p)
		}
		var err error
		if n, err = notebook.Parse(old.Data); err != nil {
			return version{}, noCells(name, err)
		}
		if err := n.Editable(); err != nil {
			return version{}, fmt.Errorf("%s %s", name, strings.ReplaceAll(err.Error(), "FILE", quoteShell(p.Path)))
		}
		if err := r.seen.check(p.Path, name, old.Stamp, false); err != nil {
			return version{}, err
		}
		if done, err = in.apply(n); err != nil {
			return version{}, fmt.Errorf("%s: %w", name, err)
		}
		return version{data: done.Data, total: n.Len() + in.grows()}, nil
	})
	if err != nil {
		return Result{}, err
	}
	return Result{
		Text: in.told(n, done, name, out.Written) + r.writeNotes(p, out, ""),
		Meta: map[string]any{"cell": map[string]any{"id": done.ID, "index": done.Index, "type": done.Type}},
	}, nil
}

// check finds what the schema does not say of the arguments.
func (in notebookEditInput) check() error {
	switch {
	case in.EditMode != "delete" && in.NewSource == nil:
		return fmt.Errorf("new_source is needed to %s a cell", in.EditMode)
	case in.EditMode == "insert" && in.CellType == "":
		return errors.New("cell_type is needed to insert a cell: code, markdown or raw")
	case in.EditMode != "insert" && in.CellID == "":
		return fmt.Errorf("cell_id is needed to %s a cell; Read shows the ids", in.EditMode)
	}
	return nil
}

// noCells says why a file has no cells to edit.
func noCells(name string, err error) error {
	if errors.Is(err, notebook.ErrSyntax) {
		return fmt.Errorf("%s %w; use Read and Edit to mend it as text", name, err)
	}
	return fmt.Errorf("%s %w; change it as text with Edit", name, err)
}

// apply makes the change.
func (in notebookEditInput) apply(n *notebook.Notebook) (notebook.Change, error) {
	at := -1
	if in.CellID != "" {
		var err error
		if at, err = n.Find(in.CellID); err != nil {
			return notebook.Change{}, err
		}
	}
	switch in.EditMode {
	case "insert":
		return n.Insert(at+1, in.CellType, *in.NewSource)
	case "delete":
		return n.Delete(at)
	}
	return n.Replace(at, *in.NewSource, in.CellType)
}

// grows is by how many cells the notebook grows.
func (in notebookEditInput) grows() int {
	switch in.EditMode {
	case "insert":
		return 1
	case "delete":
		return -1
	}
	return 0
}

// told says what was done. n is the notebook as it was.
func (in notebookEditInput) told(n *notebook.Notebook, done notebook.Change, name string, written bool) string {
	cell := fmt.Sprintf("cell %s (index %d, %s)", printable(done.ID), done.Index, printable(done.Type))
	text := "replaced " + cell + " in " + name
	switch in.EditMode {
	case "insert":
		text = "inserted " + cell + " into " + name
	case "delete":
		text = "deleted " + cell + " from " + name
	default:
		if !written {
			return cell + " in " + name + " already had this source and type; nothing was written"
		}
		if was := n.Type(done.Index); was != done.Type {
			text += ", which was " + printable(was)
		}
	}
	var cleared []string
	if done.Outputs > 0 {
		cleared = append(cleared, count(done.Outputs, "output"))
	}
	if done.Count {
		cleared = append(cleared, "its execution count")
	}
	if len(cleared) > 0 {
		text += "; cleared " + strings.Join(cleared, " and ")
	}
	// Names by position of the cells behind it are others now.
	behind := n.Len() + min(in.grows(), 0) - done.Index
	if in.grows() != 0 && behind > 0 && !n.HasIDs() {
		text += fmt.Sprintf("\n(the cells behind it moved: what was cell-%d is cell-%d now)", n.Len()-1, n.Len()-1+in.grows())
	}
	return text
}

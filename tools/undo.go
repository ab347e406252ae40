package tools

import (
	"context"
	"strings"

	"ferrule/tools/permit"
)

type undoInput struct {
	FilePath string `json:"file_path,omitempty"`
	Steps    int    `json:"steps,omitempty" schema:"min=1,max=100,default=1"`
	Redo     bool   `json:"redo,omitempty" schema:"default=false"`
}

// Undo takes back changes that the tools of this session made.
var Undo = define(spec{
	name: "Undo", title: "Take back a change", toolset: "extra",
	hints: Hints{Destructive: true},
}, undo)

func undo(ctx context.Context, r *request, in undoInput) (Result, error) {
	may := func(path string) error {
		_, err := r.may(ctx, permit.Access{Kind: permit.WritePath, Path: path})
		return err
	}
	text, err := r.Undo(ctx, UndoOptions{File: in.FilePath, Session: r.id, Steps: in.Steps, Redo: in.Redo, may: may})
	if err != nil {
		return Result{}, err
	}
	return Result{Text: strings.Join(append([]string{text}, r.rootNotes()...), "\n")}, nil
}

package tools

import (
	"context"
	"errors"

	"ferrule/tools/internal/text"
)

type multiEditInput struct {
	FilePath string `json:"file_path"`
	Edits    []struct {
		OldString  string `json:"old_string" schema:"nul"`
		NewString  string `json:"new_string" schema:"nul"`
		ReplaceAll bool   `json:"replace_all,omitempty" schema:"default=false"`
	} `json:"edits" schema:"min=1"`
}

// MultiEdit makes several edits of one file, all or none.
var MultiEdit = define(spec{
	name: "MultiEdit", title: "Edit a file in several places", toolset: "extra",
	hints: Hints{Destructive: true},
}, multiEdit)

func multiEdit(ctx context.Context, r *request, in multiEditInput) (Result, error) {
	edits := make([]text.Edit, len(in.Edits))
	for i, e := range in.Edits {
		if e.OldString == "" && len(in.Edits) > 1 {
			return Result{}, errors.New("an empty old_string must be the only edit; it is for a new or empty file")
		}
		edits[i] = text.Edit{Old: e.OldString, New: e.NewString, All: e.ReplaceAll}
	}
	return r.edit(ctx, "MultiEdit", in.FilePath, edits)
}

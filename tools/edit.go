package tools

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"ferrule/tools/internal/atomicfile"
	"ferrule/tools/internal/roots"
	"ferrule/tools/internal/text"
)

type editInput struct {
	FilePath   string `json:"file_path"`
	OldString  string `json:"old_string" schema:"nul"`
	NewString  string `json:"new_string" schema:"nul"`
	ReplaceAll bool   `json:"replace_all,omitempty" schema:"default=false"`
}

// Edit replaces one exact piece of a file by another.
var Edit = define(spec{
	name: "Edit", title: "Edit a file", toolset: "files",
	hints: Hints{Destructive: true},
}, edit)

func edit(ctx context.Context, r *request, in editInput) (Result, error) {
	return r.edit(ctx, "Edit", in.FilePath, []text.Edit{{Old: in.OldString, New: in.NewString, All: in.ReplaceAll}})
}

const (
	snippetAround = 3  // lines shown before and behind a changed place
	snippetLines  = 60 // lines shown in all
)

// edit applies edits to a file, all or none, and shows the changed places.
func (r *request) edit(ctx context.Context, tool, path string, edits []text.Edit) (Result, error) {
	p, err := r.toWrite(ctx, path)
	if err != nil {
		return Result{}, err
	}
	name := printable(path)
	if len(edits) == 1 && edits[0].Old == "" {
		return r.fill(ctx, tool, p, name, edits[0].New)
	}
	var done *text.Applied
	var encoding string
	out, err := r.write(ctx, tool, p, name, func(old *atomicfile.Content) (version, error) {
		if old == nil {
			return version{}, r.gone(p)
		}
		f, err := decode(old, name)
		if err != nil {
			return version{}, err
		}
		if err := noNotebook(old.Data, name, filepath.Ext(p.Path)); err != nil {
			return version{}, err
		}
		if err := r.seen.check(p.Path, name, old.Stamp, false); err != nil {
			return version{}, err
		}
		encoding = f.Encoding()
		if done, err = f.Apply(edits); err != nil {
			return version{}, fmt.Errorf("%s: %w", name, err)
		}
		return version{data: done.Data, total: text.Lines(done.View)}, nil
	})
	if err != nil {
		return Result{}, err
	}
	head := fmt.Sprintf("%s in %s", count(done.Count, "replacement"), name)
	snippet := strings.TrimSuffix(text.Snippet(done.View, done.Spans, snippetAround, snippetLines), "\n")
	if done.View == "" {
		snippet = "(the file is empty now)"
	}
	if !out.Written {
		snippet += "\n(the content is the same as before, so nothing was written)"
	}
	return Result{
		Text: clip(head+"\n"+snippet, maxError) + r.writeNotes(p, out, encoding),
		Meta: map[string]any{"count": done.Count},
	}, nil
}

// fill writes a new file or fills an empty one, which is what an empty
// old_string stands for.
func (r *request) fill(ctx context.Context, tool string, p roots.Place, name, content string) (Result, error) {
	if content == "" {
		return Result{}, errors.New("old_string and new_string are both empty; there is nothing to do")
	}
	out, err := r.write(ctx, tool, p, name, func(old *atomicfile.Content) (version, error) {
		next := version{[]byte(content), text.Lines(content), true}
		if old == nil || len(old.Data) == 0 {
			return next, nil
		}
		f, err := decode(old, name)
		if err != nil {
			return version{}, err
		}
		if f.View() != "" {
			return version{}, fmt.Errorf("%s is not empty; an empty old_string is only for a new or empty file: give the text to replace, or use Write", name)
		}
		next.data, err = f.Rewrite(content) // only a byte-order mark is there, which stays
		return next, err
	})
	if err != nil {
		return Result{}, err
	}
	return Result{Text: written(name, out, content) + r.writeNotes(p, out, "")}, nil
}

// written says what a write has made of a file.
func written(name string, out outcome, content string) string {
	verb := "updated"
	switch {
	case out.Created:
		verb = "created"
	case !out.Written:
		verb = "unchanged (it already had this content):"
	}
	return fmt.Sprintf("%s %s, %s, %s", verb, name, count(text.Lines(content), "line"), count(int(out.Stamp.Size), "byte"))
}

package tools

import (
	"context"
	"fmt"
	"path/filepath"

	"ferrule/tools/internal/atomicfile"
	"ferrule/tools/internal/text"
)

type writeInput struct {
	FilePath string `json:"file_path"`
	Content  string `json:"content" schema:"nul"`
}

// Write gives a file new content as a whole.
var Write = define(spec{
	name: "Write", title: "Write a file", toolset: "files",
	hints: Hints{Destructive: true, Idempotent: true},
}, write)

func write(ctx context.Context, r *request, in writeInput) (Result, error) {
	p, err := r.toWrite(ctx, in.FilePath)
	if err != nil {
		return Result{}, err
	}
	name := printable(in.FilePath)
	var encoding string
	out, err := r.write(ctx, "Write", p, name, func(old *atomicfile.Content) (version, error) {
		next := version{[]byte(in.Content), text.Lines(in.Content), true}
		if old == nil || len(old.Data) == 0 {
			return next, nil
		}
		f, err := decode(old, name)
		if err != nil {
			return version{}, err
		}
		if err := r.seen.check(p.Path, name, old.Stamp, true); err != nil {
			return version{}, err
		}
		if err := staysNotebook(old.Data, []byte(in.Content), name, filepath.Ext(p.Path)); err != nil {
			return version{}, err
		}
		encoding = f.Encoding()
		if next.data, err = f.Rewrite(in.Content); err != nil {
			return version{}, fmt.Errorf("%s: %w", name, err)
		}
		return next, nil
	})
	if err != nil {
		return Result{}, err
	}
	return Result{Text: written(name, out, in.Content) + r.writeNotes(p, out, encoding)}, nil
}

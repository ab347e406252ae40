package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ferrule/tools/internal/roots"
	"ferrule/tools/internal/walk"
)

type globInput struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`
}

// Glob finds files by the pattern of their path.
var Glob = define(spec{
	name: "Glob", title: "Find files by name", toolset: "search",
	hints: Hints{ReadOnly: true, Idempotent: true},
}, glob)

// maxPaths is the number of paths that Glob shows.
const maxPaths = 100

func glob(ctx context.Context, r *request, in globInput) (Result, error) {
	start := time.Now()
	if in.Pattern == "" {
		return Result{}, errors.New(`pattern is empty; use * for all files, ./* for those of one directory`)
	}
	front, pattern := walk.SplitPattern(in.Pattern)
	if front != "" {
		in.Path = joinPath(in.Path, front)
	}
	dir, err := r.directory(in.Path)
	if err != nil {
		return Result{}, err
	}
	if walk.Literal(dir.Path, pattern) {
		name := filepath.Join(dir.Path, filepath.FromSlash(pattern))
		return Result{Text: r.roots.Display(name), Meta: searchMeta(start, 1, 1, true, nil)}, nil
	}
	globs, err := walk.ParseGlob(pattern)
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, searchLimit)
	defer cancel()
	found, err := walk.List(ctx, walk.Options{Top: rootOf(dir), Dir: dir.Path, Globs: globs, Times: true})
	if err != nil {
		return Result{}, fmt.Errorf("%s cannot be listed: %v", cmp.Or(in.Path, "the workspace"), reason(err))
	}
	return r.globResult(dir, found, start), nil
}

// globResult lists what was found, newest first.
func (r *request) globResult(dir roots.Place, found *walk.Listing, start time.Time) Result {
	slices.SortStableFunc(found.Files, func(a, b walk.File) int { return b.Modified.Compare(a.Modified) })
	total := len(found.Files)
	base := r.roots.Display(dir.Path)
	var out strings.Builder
	for _, f := range found.Files[:min(total, maxPaths)] {
		out.WriteString(displayBelow(base, f.Path))
		out.WriteByte('\n')
	}
	var notes []string
	switch {
	case total == 0:
		notes = append([]string{"No files match."}, leftOut(found)...)
	case total > maxPaths:
		notes = append(notes, fmt.Sprintf("(%d of %s files, newest first)", maxPaths, thousands(total)))
	}
	notes = append(notes, always(found)...)
	if n := r.followed(dir); n != "" {
		notes = append(notes, n)
	}
	return Result{
		Text: withNotes(out.String(), notes),
		Meta: searchMeta(start, min(total, maxPaths), total, found.Complete, found),
	}
}

// joinPath puts a path that may be absolute behind another.
func joinPath(dir, name string) string {
	if dir == "" || filepath.IsAbs(name) || strings.HasPrefix(name, "~") {
		return name
	}
	return dir + "/" + name // not path.Join: ".." behind a link means the parent of its target
}

// displayBelow is the name to show of a path below a directory shown as base.
func displayBelow(base, rel string) string {
	if base == "." {
		return rel
	}
	return path.Join(base, rel)
}

package tools

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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
	dir, err := r.folderToRead(ctx, in.Path)
	if err != nil {
		return Result{}, err
	}
	if walk.Literal(dir.Path, pattern) {
		return Result{Text: r.below(dir.Path)(path.Clean(pattern)), Meta: searchMeta(start, 1, 1, true, nil)}, nil
	}
	globs, err := walk.ParseGlob(pattern)
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, searchLimit)
	defer cancel()
	found, err := walk.List(ctx, walk.Options{Top: rootOf(dir), Dir: dir.Path, Globs: globs, Allow: r.visibleIn(dir.Path), Times: true})
	if err != nil {
		return Result{}, fmt.Errorf("%s cannot be listed: %s", printable(dir.Given), reason(err))
	}
	res := r.globResult(dir, found, start)
	if len(found.Files) == 0 && !strings.ContainsAny(pattern, `*?[{\`) {
		if p, err := r.resolve(joinPath(in.Path, pattern), toRead); err == nil && p.Info != nil && p.Info.IsDir() {
			res.Text += fmt.Sprintf("\n(%s is a directory; give it as path, with the pattern **)", r.shown(p.Path))
		}
	}
	return res, nil
}

// globResult lists what was found, newest first.
func (r *request) globResult(dir roots.Place, found *walk.Listing, start time.Time) Result {
	slices.SortStableFunc(found.Files, func(a, b walk.File) int { return b.Modified.Compare(a.Modified) })
	total := len(found.Files)
	show := r.below(dir.Path)
	var out strings.Builder
	shown, chars := 0, 0
	for _, f := range found.Files[:min(total, maxPaths)] {
		name := show(f.Path)
		if chars += utf8.RuneCountInString(name) + 1; chars > r.room(dir.Given) && shown > 0 {
			break
		}
		out.WriteString(name + "\n")
		shown++
	}
	var notes []string
	switch {
	case total == 0:
		notes = append([]string{"No files match."}, leftOut(found, show)...)
	case shown < min(total, maxPaths):
		notes = append(notes, fmt.Sprintf("(%d of %s files, newest first; the rest does not fit: narrow pattern or path)", shown, thousands(total)))
	case total > maxPaths:
		notes = append(notes, fmt.Sprintf("(%d of %s files, newest first)", maxPaths, thousands(total)))
	}
	notes = append(notes, always(found, show)...)
	if n := r.followed(dir); n != "" {
		notes = append(notes, n)
	}
	return Result{
		Text: withNotes(out.String(), notes),
		Meta: searchMeta(start, shown, total, found.Complete, found),
	}
}

// joinPath puts a path that may be absolute behind another.
func joinPath(dir, name string) string {
	if dir == "" || filepath.IsAbs(name) || strings.HasPrefix(name, "~") {
		return name
	}
	return dir + "/" + name // not path.Join: ".." behind a link means the parent of its target
}

package tools

import (
	"bytes"
	"context"
	"fmt"
)

type gitShowInput struct {
	Ref   string   `json:"ref"`
	File  string   `json:"file,omitempty"`
	Paths []string `json:"paths,omitempty"`
	Stat  bool     `json:"stat,omitempty" schema:"default=false"`
	Path  string   `json:"path,omitempty"`
}

// GitShow shows a commit, or a file as it was in one.
var GitShow = define(spec{
	name: "git_show", title: "Show a commit", toolset: "git", large: true,
	hints: Hints{ReadOnly: true, Idempotent: true},
}, gitShow)

func gitShow(ctx context.Context, r *request, in gitShowInput) (Result, error) {
	g, err := r.gitRepo(ctx, in.Path)
	if err != nil {
		return Result{}, err
	}
	rev, err := g.commit(ctx, in.Ref)
	if err != nil {
		return Result{}, err
	}
	if in.File != "" {
		return g.fileAt(ctx, rev, in.File)
	}
	specs, err := g.pathspecs(ctx, in.Paths)
	if err != nil {
		return Result{}, err
	}
	command := []string{"show", "--diff-merges=first-parent"}
	if in.Stat {
		command = append(command, "--stat=200")
	}
	out, hidden, err := g.patch(ctx, command, []string{rev}, specs)
	if err != nil {
		return Result{}, err
	}
	if len(bytes.TrimSpace(out)) == 0 {
		return Result{Text: "(the commit does not change these paths)"}, nil
	}
	return g.result(out, hidden, "set stat for an overview, or name paths"), nil
}

// fileAt shows a file as it was in a commit.
func (g *gitRepo) fileAt(ctx context.Context, rev, name string) (Result, error) {
	rel, err := g.path(ctx, name)
	if err != nil {
		return Result{}, err
	}
	blob, err := g.object(ctx, rev+":"+rel)
	if err == nil {
		blob, err = g.object(ctx, blob+"^{blob}")
	}
	if err != nil {
		return Result{}, fmt.Errorf("%s is no file in that commit", printable(name))
	}
	out, err := g.run(ctx, "show", "--end-of-options", blob)
	switch {
	case err != nil:
		return Result{}, err
	case bytes.IndexByte(out, 0) >= 0:
		return Result{}, fmt.Errorf("%s is binary there: %s", printable(name), size(int64(len(out))))
	case len(out) == 0:
		return Result{Text: "(the file is empty there)"}, nil
	}
	return g.result(out, 0, "git show by Bash with a file to put it in has all of it"), nil
}

package tools

import (
	"context"
	"errors"
	"strings"
)

type gitDiffInput struct {
	Ref    string   `json:"ref,omitempty"`
	Staged bool     `json:"staged,omitempty" schema:"default=false"`
	Paths  []string `json:"paths,omitempty"`
	Stat   bool     `json:"stat,omitempty" schema:"default=false"`
	Path   string   `json:"path,omitempty"`
}

// GitDiff shows changes between the working tree, what is staged, and commits.
var GitDiff = define(spec{
	name: "git_diff", title: "Show changes", toolset: "git", large: true,
	hints: Hints{ReadOnly: true, Idempotent: true},
}, gitDiff)

func gitDiff(ctx context.Context, r *request, in gitDiffInput) (Result, error) {
	g, err := r.gitRepo(ctx, in.Path)
	if err != nil {
		return Result{}, err
	}
	specs, err := g.pathspecs(ctx, in.Paths)
	if err != nil {
		return Result{}, err
	}
	command, revs := []string{"diff"}, []string(nil)
	if in.Stat {
		command = append(command, "--stat=200")
	}
	if in.Staged {
		command = append(command, "--cached")
	}
	if in.Ref != "" {
		rev, err := g.commits(ctx, in.Ref)
		if err != nil {
			return Result{}, err
		}
		if in.Staged && strings.Contains(rev, "..") {
			return Result{}, errors.New("staged compares what is staged with one commit; leave out staged, or name one commit as ref")
		}
		revs = []string{rev}
	}
	out, hidden, err := g.patch(ctx, command, revs, specs)
	if err != nil {
		return Result{}, err
	}
	if len(out) == 0 && hidden == 0 {
		return Result{Text: "(no changes)"}, nil
	}
	return g.result(out, hidden, "set stat for an overview, or name paths"), nil
}

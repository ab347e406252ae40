package tools

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

type gitLogInput struct {
	Ref   string   `json:"ref,omitempty"`
	Paths []string `json:"paths,omitempty"`
	Limit int      `json:"limit,omitempty" schema:"min=1,max=1000,default=20"`
	Skip  int      `json:"skip,omitempty" schema:"min=0,max=1000000,default=0"`
	Path  string   `json:"path,omitempty"`
}

// GitLog lists commits.
var GitLog = define(spec{
	name: "git_log", title: "List commits", toolset: "git", large: true,
	hints: Hints{ReadOnly: true, Idempotent: true},
}, gitLog)

func gitLog(ctx context.Context, r *request, in gitLogInput) (Result, error) {
	g, err := r.gitRepo(ctx, in.Path)
	if err != nil {
		return Result{}, err
	}
	specs, err := g.pathspecs(ctx, in.Paths)
	if err != nil {
		return Result{}, err
	}
	if _, err := g.commit(ctx, "HEAD"); err != nil && in.Ref == "" {
		return Result{Text: "(no commits yet)"}, ctx.Err()
	}
	rev, err := g.commits(ctx, cmp.Or(in.Ref, "HEAD"))
	if err != nil {
		return Result{}, err
	}
	limit := cmp.Or(in.Limit, 20)
	args := []string{"log", fmt.Sprintf("--max-count=%d", limit+1), fmt.Sprintf("--skip=%d", in.Skip), "--date=format:%Y-%m-%d %H:%M",
		"--format=%h  %ad  %an:  %s%d", "--end-of-options", rev, "--"}
	out, err := g.run(ctx, append(args, specs...)...)
	if err != nil {
		return Result{}, err
	}
	lines := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	if lines[0] == "" {
		return Result{Text: "(no commits match)"}, nil
	}
	more := len(lines) > limit
	lines = lines[:min(len(lines), limit)]
	text := []byte(strings.Join(lines, "\n"))
	if more {
		text = append(text, fmt.Sprintf("\n(older commits: set skip to %d)", in.Skip+limit)...)
	}
	return g.result(text, 0, "set a smaller limit, and skip"), nil
}

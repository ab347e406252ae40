package tools

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

type gitStatusInput struct {
	Path string `json:"path,omitempty"`
}

// GitStatus shows what is changed in a working tree.
var GitStatus = define(spec{
	name: "git_status", title: "Show the state of git", toolset: "git", large: true,
	hints: Hints{ReadOnly: true, Idempotent: true},
}, gitStatus)

func gitStatus(ctx context.Context, r *request, in gitStatusInput) (Result, error) {
	g, err := r.gitRepo(ctx, in.Path)
	if err != nil {
		return Result{}, err
	}
	specs, err := g.pathspecs(ctx, nil)
	if err != nil {
		return Result{}, err
	}
	out, err := g.run(ctx, append([]string{"status", "--porcelain", "--branch", "-z", "--"}, specs...)...)
	if err != nil {
		return Result{}, err
	}
	head, entries, ok := strings.Cut(string(out), "\x00")
	branch, is := strings.CutPrefix(head, "## ")
	if !ok || !is {
		return Result{}, errors.New("git told its state in an unknown form; use git status by Bash")
	}
	lines, hidden := g.statusLines(entries)
	if len(lines) == 0 && hidden == 0 {
		lines = []string{"nothing to commit, the working tree is clean"}
	}
	text := "branch: " + printable(branch) + "\n" + strings.Join(lines, "\n")
	return g.result([]byte(text), hidden, "name a folder as path to see its part"), nil
}

// statusLines words the entries of git status: two letters and a path, with a
// second one, from where, if it was renamed or copied.
func (g *gitRepo) statusLines(entries string) (lines []string, hidden int) {
	fields := strings.Split(strings.TrimSuffix(entries, "\x00"), "\x00")
	for i := 0; i < len(fields); i++ {
		state, name, ok := cutAt(fields[i], 3)
		if !ok {
			continue
		}
		from := ""
		if strings.ContainsAny(state, "RC") && i+1 < len(fields) {
			i++
			from = fields[i]
		}
		if !g.visible(filepath.FromSlash(name)) || from != "" && !g.visible(filepath.FromSlash(from)) {
			hidden++
			continue
		}
		line := state + g.shown(name)
		if from != "" {
			line = fmt.Sprintf("%s%s -> %s", state, g.shown(from), g.shown(name))
		}
		lines = append(lines, line)
	}
	return lines, hidden
}

// shown is a path of the repository as the file tools take it.
func (g *gitRepo) shown(rel string) string {
	path := g.r.shown(filepath.Join(g.top, filepath.FromSlash(rel)))
	if strings.HasSuffix(rel, "/") && !strings.HasSuffix(path, "/") {
		path += "/" // a folder of files that git does not know
	}
	return path
}

func cutAt(s string, n int) (before, after string, ok bool) {
	if len(s) <= n {
		return s, "", false
	}
	return s[:n], s[n:], true
}

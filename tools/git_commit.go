package tools

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"ferrule/shell"
)

type gitCommitInput struct {
	Message string   `json:"message"`
	Paths   []string `json:"paths,omitempty"`
	Path    string   `json:"path,omitempty"`
}

// GitCommit commits changes. It runs the hooks of the repository, and everything
// else that git runs for the user, so it is a command like any other: it is
// judged by the rules for commands and runs in the session's shell.
var GitCommit = define(spec{
	name: "git_commit", title: "Commit changes", toolset: "git",
	hints: Hints{Destructive: true, OpenWorld: true},
}, gitCommit)

const (
	commitLimit    = 2 * time.Minute // hooks may run tests
	maxMessage     = 64 << 10        // bytes: it travels as one argument of git
	maxCommitPaths = 1000
)

// commitScript is what runs, whatever is committed: folder, message and paths
// come by its input, each ended by NUL, and never become text of the shell.
const commitScript = `unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX GIT_LITERAL_PATHSPECS
IFS= read -r -d '' dir && IFS= read -r -d '' message || exit 125
set --
while IFS= read -r -d '' path; do set -- "$@" "$path"; done
git() { command git -C "$dir" -c core.fsmonitor=false -c advice.addIgnoredFile=false "$@" </dev/null; }
if [ $# = 0 ]; then
	git add --all -- . && git commit --cleanup=whitespace --message="$message"
else
	git add --all -- "$@" && git commit --cleanup=whitespace --message="$message" --only -- "$@"
fi`

func gitCommit(ctx context.Context, r *request, in gitCommitInput) (Result, error) {
	switch {
	case strings.TrimSpace(in.Message) == "":
		return Result{}, errors.New("the message is empty; say what the commit does")
	case len(in.Message) > maxMessage:
		return Result{}, fmt.Errorf("the message has %s; at most %s are allowed", size(int64(len(in.Message))), size(maxMessage))
	case len(in.Paths) > maxCommitPaths:
		return Result{}, fmt.Errorf("paths names %s; at most %s are allowed: name folders, or leave it out", count(len(in.Paths), "path"), thousands(maxCommitPaths))
	case shell.Name() != "bash":
		return Result{}, errors.New("git_commit needs bash, which is not installed; use git by Bash")
	}
	g, err := r.gitRepo(ctx, in.Path)
	if err != nil {
		return Result{}, err
	}
	if p, err := r.resolve(g.dir, toChange); err != nil || p.ReadOnly {
		return Result{}, fmt.Errorf("%s may only be read; start ferrule with --add-dir DIR to commit there", r.shown(g.dir))
	}
	dir := g.top
	if g.part != "" {
		dir = g.part
	}
	input, paths := []string{dir, in.Message}, ""
	for _, name := range in.Paths {
		rel, err := g.path(ctx, name)
		if err != nil {
			return Result{}, err
		}
		input = append(input, literal(rel))
		paths += " " + quoteShell(r.shown(filepath.Join(g.top, filepath.FromSlash(rel))))
	}
	words := "git add --all && git commit --message=" + quoteShell(in.Message)
	if paths != "" {
		words = fmt.Sprintf("git add --all --%s && git commit --message=%s --only --%s", paths, quoteShell(in.Message), paths)
	}
	if _, err := r.toRun(ctx, words); err != nil {
		return Result{}, err
	}
	return r.runCommit(ctx, words, strings.Join(input, "\x00")+"\x00")
}

// runCommit runs the script; words are what it comes to, for results and logs.
func (r *request) runCommit(ctx context.Context, words, input string) (Result, error) {
	sh, err := r.shell()
	if err != nil {
		return Result{}, err
	}
	r.guardFiles()
	res, err := sh.Run(ctx, shell.Command{Text: commitScript, Description: words, Timeout: commitLimit, Stdin: input, HasStdin: true})
	if err != nil {
		return Result{}, err
	}
	r.standsIn(res.Dir)
	out := r.commandResult(words, commitLimit, res)
	out.Text = withNotes(out.Text, append(r.sandboxNote(sh, res), r.guardNotes()...))
	return out, nil
}

package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ferrule/shell"
	"ferrule/tools/permit"
)

// What the git tools share. Those that only look run git so that nothing which
// the repository's configuration names is run (see shell/git.go), and show
// nothing that Read would not show.

const (
	gitLimit  = 30 * time.Second
	maxHidden = 500 // paths that one call can leave out
)

// A gitRepo is a repository of the workspace, as one call sees it.
type gitRepo struct {
	r     *request
	dir   string                             // the folder that was asked for
	top   string                             // of the working tree
	part  string                             // a root below top: what is shown ends there; "" if the whole tree is of the workspace
	shows func(path string, isDir bool) bool // nil: everything may be seen
}

// gitRepo finds the repository of a folder of the workspace; "" stands for the
// first root.
func (r *request) gitRepo(ctx context.Context, folder string) (*gitRepo, error) {
	p, err := r.folderToRead(ctx, folder)
	if err != nil {
		return nil, err
	}
	g := &gitRepo{r: r, dir: p.Path}
	out, err := g.run(ctx, "rev-parse", "--show-toplevel", "--absolute-git-dir")
	if errors.Is(err, shell.ErrNotRepository) {
		return nil, fmt.Errorf("%s is not in a git repository; git init, by Bash, makes one", printable(orHere(folder)))
	}
	if err != nil {
		return nil, err
	}
	top, dir, ok := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	if !ok || strings.Contains(dir, "\n") {
		return nil, errors.New("the path of the repository has a line break in it; use git by Bash")
	}
	g.top = filepath.FromSlash(top)
	if err := g.owns(filepath.FromSlash(dir)); err != nil {
		return nil, err
	}
	if _, err := r.roots.Resolve(g.top); err != nil {
		g.part = rootOf(p)
	}
	g.shows = r.visibleIn(cmp.Or(g.part, g.top))
	return g, nil
}

// owns refuses a repository outside of the workspace that a file .git names,
// unless git itself has put it there for this working tree.
func (g *gitRepo) owns(dir string) error {
	if dir == filepath.Join(g.top, ".git") {
		return nil
	}
	if _, err := g.r.roots.Resolve(dir); err == nil {
		return nil
	}
	back, err := os.ReadFile(filepath.Join(dir, "gitdir")) // of git worktree add
	link := strings.TrimSpace(string(back))
	if fi, statErr := os.Stat(link); err == nil && statErr == nil {
		if own, err := os.Stat(filepath.Join(g.top, ".git")); err == nil && os.SameFile(fi, own) {
			return nil
		}
	}
	return fmt.Errorf("the repository of this folder is kept in %s, outside of the workspace; %s", printable(dir), toRead)
}

// run runs a command of git that only reads.
func (g *gitRepo) run(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	out, err := shell.Git(ctx, g.dir, args...)
	switch {
	case errors.Is(err, shell.ErrGitMissing):
		err = errors.New("git is not installed on the machine of the server")
	case errors.Is(err, shell.ErrOutputTooLarge):
		err = nil // the beginning is more than can be shown
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("git took longer than %v; ask for less", gitLimit)
	}
	return out, err
}

// commit returns the name of the commit that a revision stands for. A file or
// folder in the repository has a name as well, but no rule could tell which it
// is.
func (g *gitRepo) commit(ctx context.Context, rev string) (string, error) {
	if err := plainRev(rev); err != nil {
		return "", err
	}
	name, err := g.object(ctx, rev+"^{commit}")
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s is no commit, branch or tag of this repository; git_log lists commits", printable(rev))
	}
	return name, err
}

// object returns the hash of the object that an expression stands for.
func (g *gitRepo) object(ctx context.Context, expression string) (string, error) {
	out, err := g.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", expression)
	name := strings.TrimSpace(string(out))
	if err == nil && (name == "" || strings.Trim(name, "0123456789abcdef") != "") {
		err = errors.New("git named an object in an unknown form")
	}
	return name, err
}

// commits does the same for a revision or for a range, A..B or A...B.
func (g *gitRepo) commits(ctx context.Context, rev string) (string, error) {
	if err := plainRev(rev); err != nil {
		return "", err
	}
	dots := ".."
	if strings.Contains(rev, "...") {
		dots = "..."
	}
	from, to, isRange := strings.Cut(rev, dots)
	if !isRange {
		return g.commit(ctx, rev)
	}
	from, err := g.commit(ctx, cmp.Or(from, "HEAD"))
	if err != nil {
		return "", err
	}
	to, err = g.commit(ctx, cmp.Or(to, "HEAD"))
	return from + dots + to, err
}

func plainRev(rev string) error {
	if rev == "" || rev[0] == '-' || strings.ContainsAny(rev, "\x00\n") {
		return fmt.Errorf("%s is no name of a commit", printable(rev))
	}
	return nil
}

// path returns a path of the working tree as git knows it, from its top.
func (g *gitRepo) path(ctx context.Context, name string) (string, error) {
	p, err := g.r.reach(ctx, name, permit.ReadPath)
	if err != nil {
		return "", err
	}
	path := p.Path
	if base := filepath.Base(filepath.Clean(name)); g.r.isLink(p) && base != ".." { // git keeps links, and nothing that is behind one
		if parent, err := g.r.resolve(filepath.Dir(name), toRead); err == nil {
			path = filepath.Join(parent.Path, base)
		}
	}
	rel, err := filepath.Rel(g.top, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s is not in the repository of %s", printable(name), g.r.shown(g.top))
	}
	if !g.visible(rel) {
		return "", fmt.Errorf("%s may not be read by rule", printable(name))
	}
	return filepath.ToSlash(rel), nil
}

// visible reports whether a file of the repository may be shown.
func (g *gitRepo) visible(rel string) bool {
	if g.part != "" && !filepath.IsLocal(relOr(g.part, filepath.Join(g.top, rel))) {
		return false
	}
	if g.shows == nil {
		return true
	}
	path := g.top
	names := strings.Split(filepath.ToSlash(filepath.Clean(rel)), "/")
	for i, name := range names {
		path = filepath.Join(path, name)
		if !g.shows(path, i < len(names)-1) {
			return false
		}
	}
	return true
}

// relOr is filepath.Rel, or ".." if there is no way.
func relOr(base, path string) string {
	rel, err := filepath.Rel(base, path)
	if err != nil {
		return ".."
	}
	return rel
}

// pathspecs returns what limits a command to paths: those given, or what may be
// shown.
func (g *gitRepo) pathspecs(ctx context.Context, paths []string) ([]string, error) {
	var specs []string
	for _, name := range paths {
		rel, err := g.path(ctx, name)
		if err != nil {
			return nil, err
		}
		specs = append(specs, literal(rel))
	}
	if specs == nil && g.part != "" {
		specs = []string{literal(filepath.ToSlash(relOr(g.top, g.part)))}
	}
	return specs, nil
}

// literal is the pathspec of exactly one path from the top, or of all below it.
func literal(rel string) string { return ":(top,literal)" + rel }

// patch runs a command that prints changes, without those of files that may
// not be seen. It says how many were left out.
func (g *gitRepo) patch(ctx context.Context, command []string, revs, specs []string) (text []byte, hidden int, err error) {
	if g.shows != nil {
		// With renames a file that may be seen would bring the content of another one.
		command = append(slices.Clone(command), "--no-renames")
		list := slices.Concat(command, []string{"--name-only", "-z", "--format=", "--end-of-options"}, revs, []string{"--"}, specs)
		if command[0] == "diff" {
			list = slices.DeleteFunc(list, func(arg string) bool { return arg == "--format=" })
		}
		out, err := g.run(ctx, list...)
		if err != nil {
			return nil, 0, err
		}
		exclude := make(map[string]bool)
		for name := range strings.SplitSeq(strings.Trim(string(out), "\x00\n"), "\x00") {
			if name = strings.TrimPrefix(name, "\n"); name != "" && !g.visible(filepath.FromSlash(name)) && !exclude[name] {
				exclude[name] = true
				specs = append(specs, ":(top,literal,exclude)"+name)
			}
		}
		if hidden = len(exclude); hidden > maxHidden {
			return nil, 0, fmt.Errorf("%s of these changes may not be read by rule; name the paths to see", count(hidden, "file"))
		}
	}
	text, err = g.run(ctx, slices.Concat(command, []string{"--end-of-options"}, revs, []string{"--"}, specs)...)
	return text, hidden, err
}

// result makes a result of what git printed, as much as fits. more is what to
// do to see the rest.
func (g *gitRepo) result(out []byte, hidden int, more string) Result {
	text := strings.TrimRight(strings.ToValidUTF8(string(out), "\uFFFD"), "\n")
	var notes []string
	if cut := fit(text, g.r.room(g.dir)); len(cut) < len(text) {
		left := strings.Count(text[len(cut):], "\n") + 1
		text = strings.TrimRight(cut, "\n")
		notes = append(notes, fmt.Sprintf("(%s more do not fit; %s)", count(left, "line"), more))
	}
	if hidden > 0 {
		notes = append(notes, fmt.Sprintf("(%s may not be read by rule)", count(hidden, "file")))
	}
	return Result{Text: withNotes(text, append(notes, g.r.rootNotes()...))}
}

// fit returns the beginning of a text that has at most n characters, at the end
// of a line where one is near.
func fit(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			s = s[:i]
			break
		}
		n--
	}
	if nl := strings.LastIndexByte(s, '\n'); nl > len(s)/2 {
		return s[:nl]
	}
	return s
}

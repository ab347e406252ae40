package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Git run by ourselves, not by the user's command, must not run code of the
// repository. A repository's own configuration can name programs for nearly
// everything: git status alone runs a file system monitor, hooks, clean filters,
// and git itself inside of submodules, under their configuration. Measured with a
// hostile repository, these are the roads, and what closes them:
//
//	monitor, hooks, signatures, pager,     fixed configuration, see gitOptions
//	submodule summaries, bare repositories
//	external diffs, text converters        options of the command; empty values in the
//	                                       configuration would make git diff fail
//	filters, configured hooks              each one that the repository's configuration
//	                                       names is emptied or turned off
//	submodules, with filters of their own  never looked into, by option of the command,
//	                                       since submodule.*.ignore beats configuration
//	missing objects of a partial clone     no transport is allowed
//	variables such as GIT_DIR              taken out of the environment
//	aliases                                only commands of a list
//
// A filter that cannot be emptied on the command line ends the attempt. Filters of
// the user's own configuration, such as git-lfs, stay.
const (
	gitLimit      = 30 * time.Second // for a caller that sets none
	snapshotLimit = 3 * time.Second  // taken once a session; a big repository on a busy machine needs more than one
	gitOutput     = 16 << 20         // bytes of output that are kept
	gitComplaint  = 4 << 10
)

// Errors of [Git] and [Snapshot] that callers tell apart.
var (
	ErrNotRepository  = errors.New("not a git repository")
	ErrGitMissing     = errors.New("git is not installed")
	ErrOutputTooLarge = fmt.Errorf("git printed more than %d MiB", gitOutput>>20)
)

var gitOptions = []string{
	"--no-optional-locks", "--no-pager",
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.pager=cat",
	"-c", "log.showSignature=false", "-c", "diff.submodule=short", "-c", "diff.ignoreSubmodules=dirty",
	"-c", "status.submoduleSummary=false", "-c", "safe.bareRepository=explicit",
	// What follows only keeps the output readable and the same everywhere.
	"-c", "core.quotePath=false", "-c", "color.ui=false", "-c", "color.status=false", "-c", "color.diff=false",
	"-c", "color.branch=false", "-c", "column.ui=never", "-c", "status.branch=false", "-c", "status.showStash=false",
	"-c", "i18n.logOutputEncoding=UTF-8",
}

// gitCommands are the commands that may be run, with options that each of them
// always gets.
var gitCommands = map[string][]string{
	"branch":       nil,
	"config":       nil,
	"diff":         {"--ignore-submodules=dirty", "--no-ext-diff", "--no-textconv"},
	"for-each-ref": nil,
	"log":          {"--no-ext-diff", "--no-textconv"},
	"rev-parse":    nil,
	"show":         {"--no-ext-diff", "--no-textconv"},
	"status":       {"--ignore-submodules=dirty"},
	"symbolic-ref": nil,
}

// Variables that change which repository is read or which programs are run. The
// others, such as GIT_CONFIG_GLOBAL, are the user's.
var gitVariables = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_PREFIX",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_EXTERNAL_DIFF",
	"GIT_DIFF_OPTS", "GIT_PAGER", "GIT_EDITOR", "GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND",
	"GIT_ALLOW_PROTOCOL", "GIT_TRACE", "GIT_LITERAL_PATHSPECS", "GIT_OPTIONAL_LOCKS", "GIT_NO_LAZY_FETCH",
	"GIT_TERMINAL_PROMPT", "LC_ALL", "LANGUAGE",
}

// Git runs git in dir and returns what it printed on its standard output. It is
// for reading; args[0] is one of branch, config, diff, for-each-ref, log,
// rev-parse, show, status, symbolic-ref. Nothing that the repository's
// configuration names is run. Names that come from elsewhere must stand behind
// --end-of-options or --.
//
// ctx limits the time; without a deadline of its own it is 30 seconds. When it
// ends, git and all it started are killed and ctx's error is returned. Output is
// cut at 16 MiB and then comes with [ErrOutputTooLarge]. In a directory without a
// repository the error is [ErrNotRepository]; other refusals hold git's own words.
func Git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	if len(args) == 0 {
		return nil, errors.New("git needs a command")
	}
	g, err := openGit(ctx, dir)
	if err != nil {
		return nil, err
	}
	return g.run(ctx, args...)
}

// A gitRepo runs git in one repository, hardened for it.
type gitRepo struct {
	program, dir string
	env          []string
	options      []string
}

// openGit finds the repository of dir and turns off the programs that it would
// run.
func openGit(ctx context.Context, dir string) (*gitRepo, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, ErrGitMissing
	}
	g := &gitRepo{program: program, dir: dir, env: gitEnv(os.Environ()), options: slices.Clone(gitOptions)}
	out, err := g.run(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	if err := ownsTree(strings.TrimSuffix(string(out), "\n"), dir); err != nil {
		return nil, err
	}
	if err := g.emptyFilters(ctx); err != nil {
		return nil, err
	}
	return g, nil
}

func gitEnv(environ []string) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(gitVariables, strings.ToUpper(name)) || strings.HasPrefix(name, "GIT_CONFIG_KEY_") ||
			strings.HasPrefix(name, "GIT_CONFIG_VALUE_") || strings.HasPrefix(name, "GIT_TRACE")
	})
	return append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
}

// ownsTree refuses a repository that claims, by core.worktree, a tree in which it
// does not stand: its status would list files of a stranger.
func ownsTree(top, dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return fmt.Errorf("%s cannot be resolved", dir)
	}
	if real, err = filepath.Abs(real); err != nil {
		return fmt.Errorf("%s cannot be resolved", dir)
	}
	rel, err := filepath.Rel(filepath.FromSlash(top), real)
	_, statErr := os.Lstat(filepath.Join(filepath.FromSlash(top), ".git"))
	if err != nil || !filepath.IsLocal(rel) || errors.Is(statErr, fs.ErrNotExist) {
		return errors.New("the repository claims a working tree elsewhere")
	}
	return nil
}

// filterKeys matches the keys whose values are programs that status, diff, log or
// show may run and that no fixed option turns off, since they have names.
const filterKeys = `^(filter\..*\.(clean|smudge|process|required)|hook\..*\.(command|event)|lfs\.extension\..*\.(clean|smudge))$`

// emptyFilters adds options that empty every filter which the repository names.
// Listing them runs nothing.
func (g *gitRepo) emptyFilters(ctx context.Context) error {
	out, err := g.run(ctx, "config", "--show-scope", "-z", "--name-only", "--get-regexp", filterKeys)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil // there are none
	}
	if err != nil {
		return err
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(fields)%2 != 0 {
		return errors.New("git listed its configuration in an unknown form")
	}
	for pair := range slices.Chunk(fields, 2) {
		scope, key := pair[0], pair[1]
		if scope != "local" && scope != "worktree" {
			continue
		}
		if strings.Contains(key, "=") {
			return errors.New("the repository's configuration names a program in a way that cannot be turned off")
		}
		g.options = append(g.options, "-c", emptied(key))
	}
	return nil
}

func emptied(key string) string {
	section, _, _ := strings.Cut(key, ".")
	name := key[:strings.LastIndexByte(key, '.')]
	switch {
	case section == "hook":
		return name + ".enabled=false"
	case section == "lfs":
		return key + "=cat" // an empty one is an error
	case strings.HasSuffix(key, ".required"):
		return key + "=false"
	}
	return key + "="
}

func (g *gitRepo) run(ctx context.Context, args ...string) ([]byte, error) {
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, gitLimit)
		defer cancel()
	}
	always, known := gitCommands[args[0]]
	if !known {
		return nil, fmt.Errorf("git %s is not a command that only reads", args[0])
	}
	c := exec.CommandContext(ctx, g.program, slices.Concat(g.options, args[:1], always, args[1:])...)
	out, complaint := &gitHead{limit: gitOutput}, &gitHead{limit: gitComplaint}
	c.Dir, c.Env, c.Stdout, c.Stderr = g.dir, g.env, out, complaint
	c.WaitDelay = time.Second
	killGitGroup(c)
	err := c.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil && out.cut:
		return out.kept, ErrOutputTooLarge
	case err == nil:
		return out.kept, nil
	}
	words, _, _ := strings.Cut(strings.TrimSpace(string(complaint.kept)), "\n")
	switch {
	case strings.Contains(words, "not a git repository"):
		return nil, ErrNotRepository
	case words != "":
		return nil, &gitError{words, err}
	}
	return nil, err
}

// A gitError shows what git said; the exit code can be unwrapped.
type gitError struct {
	words string
	exit  error
}

func (e *gitError) Error() string { return "git: " + strings.TrimPrefix(e.words, "fatal: ") }
func (e *gitError) Unwrap() error { return e.exit }

// A gitHead keeps the first bytes that are written to it and takes the rest in
// silence, so that the writer is not stopped.
type gitHead struct {
	kept  []byte
	limit int
	cut   bool
}

func (h *gitHead) Write(p []byte) (int, error) {
	n := len(p)
	if room := h.limit - len(h.kept); n > room {
		p, h.cut = p[:room], true
	}
	h.kept = append(h.kept, p...)
	return n, nil
}

// A GitState is what a repository looks like at one moment.
type GitState struct {
	Branch  string // "" when HEAD is detached
	Head    string // abbreviated commit, "" when there are no commits
	Main    string // name of the main branch, "" when it cannot be told
	Status  string // as git status --short prints it, paths from dir
	Commits string // the newest five, a line each: abbreviation and subject
}

// Snapshot looks at the repository of dir, which need not be its root. It takes
// at most three seconds; what is known by then is returned together with
// [context.DeadlineExceeded], status being looked at last. Errors are those of
// [Git]. Nothing that the repository's configuration names is run.
func Snapshot(ctx context.Context, dir string) (GitState, error) {
	return snapshot(ctx, dir, snapshotLimit)
}

func snapshot(ctx context.Context, dir string, limit time.Duration) (GitState, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var s GitState
	g, err := openGit(ctx, dir)
	if err != nil {
		return s, err
	}
	// A command that ends with an exit code has nothing to say: a detached head
	// has no branch, and a new repository no commits.
	line := func(args ...string) string {
		out, runErr := g.run(ctx, args...)
		if exit := (*exec.ExitError)(nil); !errors.As(runErr, &exit) {
			err = cmp.Or(err, runErr)
		}
		return strings.TrimRight(string(out), "\n")
	}
	s.Branch = line("branch", "--show-current")
	s.Head = line("rev-parse", "--verify", "--quiet", "--short", "HEAD")
	s.Main = mainBranch(line("for-each-ref", "--format=%(refname) %(symref)",
		"refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master"))
	if s.Head != "" {
		s.Commits = line("log", "--max-count=5", "--no-decorate", "--format=%h %s")
	}
	if err != nil {
		return s, err
	}
	out, err := g.run(ctx, "status", "--short")
	if errors.Is(err, ErrOutputTooLarge) {
		err = nil // the beginning will do
	}
	s.Status = strings.TrimRight(string(out), "\n")
	return s, err
}

// mainBranch reads lines of a reference and what it points to.
func mainBranch(refs string) string {
	found := make(map[string]bool)
	for line := range strings.Lines(refs) {
		ref, target, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		if name, ok := strings.CutPrefix(target, "refs/remotes/origin/"); ok {
			return name
		}
		found[ref] = true
	}
	for _, name := range []string{"main", "master"} {
		if found["refs/heads/"+name] {
			return name
		}
	}
	return ""
}

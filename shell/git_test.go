package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// generous is a limit for snapshots on a busy machine.
const generous = 30 * time.Second

func needGit(t testing.TB) {
	t.Helper()
	for _, program := range []string{"git", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("FERRULE_CI") == "1" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	if runtime.GOOS == "windows" {
		t.Skip("the scripts of this test are for Unix")
	}
}

// script runs a bash script in a new folder, with a home of its own, and returns
// the folder.
func script(t testing.TB, text string) string {
	t.Helper()
	needGit(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("bash", "-ec", text)
	c.Dir, c.Env = dir, plainEnv(dir)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

func plainEnv(home string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_TEMPLATE_DIR=",
		"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=a@b"}
}

// A trap is a repository that runs a program, which leaves a mark, when one of the
// commands args is given in it without care. In its script, `prog NAME` makes such a program
// and prints its path.
type trap struct {
	name, setup, dir string
	args             [][]string
	refused          bool // the commands fail
	snapshot         bool // try Snapshot as well
}

const prog = `prog() {
  printf '#!/bin/sh\ntouch %s\n' "$TOP/mark" > "$TOP/$1.sh"
  chmod +x "$TOP/$1.sh"; echo "$TOP/$1.sh"
}
TOP=$PWD
git init -q -b main r; cd r; mkdir .git/info
echo a > f; echo b > g; git add .; git commit -qm first
`

var (
	status = []string{"status", "--short"}
	diff   = []string{"diff"}
	log    = []string{"log", "-1"}
)

var traps = []trap{
	{name: "fsmonitor", args: [][]string{status}, setup: `git config core.fsmonitor $(prog p)`},
	{name: "hook", args: [][]string{status}, setup: `mkdir $TOP/hooks; cp $(prog p) $TOP/hooks/post-index-change
		git config core.hooksPath $TOP/hooks; touch -d '1 hour ago' f`},
	{name: "clean filter", args: [][]string{status}, setup: `echo '* filter=x' > .git/info/attributes
		git config filter.x.clean $(prog p); echo c > f`},
	{name: "required filter of an attribute file", args: [][]string{diff}, setup: `echo '* filter=X.y' > .gitattributes
		git config filter.X.y.clean $(prog p); git config filter.X.y.required true; echo c > f`},
	{name: "filter process", args: [][]string{status}, setup: `echo '* filter=x' > .git/info/attributes
		git config filter.x.process $(prog p); echo c > f`},
	{name: "filter whose name holds an equals sign", args: [][]string{status}, refused: true, setup: `echo '* filter=a=b' > .git/info/attributes
		git config filter.a=b.clean $(prog p); echo c > f`},
	{name: "filter of an included file", args: [][]string{status}, setup: `echo '* filter=x' > .git/info/attributes
		git config -f .git/more filter.x.clean $(prog p); git config include.path more; echo c > f`},
	{name: "filter of a worktree's configuration", args: [][]string{status}, setup: `echo '* filter=x' > .git/info/attributes
		git config extensions.worktreeConfig true; git config --worktree filter.x.clean $(prog p); echo c > f`},
	{name: "signature", snapshot: true, args: [][]string{log}, setup: `sig='gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----'
		git cat-file commit HEAD | sed "/^committer/a $sig" > ../c
		git update-ref HEAD $(git hash-object -t commit -w ../c)
		git config log.showSignature true; git config gpg.program $(prog p)`},
	{name: "external diff", args: [][]string{diff}, setup: `git config diff.external $(prog p); echo c > f`},
	{name: "diff driver", args: [][]string{diff}, setup: `echo '* diff=x' > .git/info/attributes
		git config diff.x.command $(prog p); echo c > f`},
	{name: "text converter", args: [][]string{diff}, setup: `echo '* diff=x' > .git/info/attributes
		git config diff.x.textconv $(prog p); echo c > f`},
	{name: "text converter in log", args: [][]string{{"log", "-p", "-1"}}, setup: `echo '* diff=x' > .git/info/attributes
		git config diff.x.textconv $(prog p)`},
	{name: "all at once", snapshot: true, args: [][]string{status}, setup: `echo '* filter=x diff=x' > .git/info/attributes
		P=$(prog p); mkdir $TOP/hooks; cp $P $TOP/hooks/post-index-change; echo c > f
		for k in core.fsmonitor filter.x.clean diff.x.textconv diff.x.command diff.external gpg.program core.pager \
			pager.status core.editor core.sshCommand alias.status; do git config $k $P; done
		git config core.hooksPath $TOP/hooks; git config log.showSignature true`},
	{name: "embedded bare repository", snapshot: true, dir: "docs/bare", args: [][]string{status}, refused: true, setup: `mkdir docs; git init -q --bare docs/bare
		git -C docs/bare config core.bare false; git -C docs/bare config core.worktree ..
		git -C docs/bare config core.fsmonitor $(prog p)`},
	{name: "submodule that must not be ignored", snapshot: true, args: [][]string{status, diff}, setup: `
		git clone -q . sub; mkdir -p .git/modules; mv sub/.git .git/modules/sub; mkdir -p .git/modules/sub/info
		echo 'gitdir: ../.git/modules/sub' > sub/.git
		git config -f .gitmodules submodule.sub.path sub; git config -f .gitmodules submodule.sub.url $TOP/r
		git add .gitmodules sub 2>/dev/null; git commit -qm sub; git config submodule.sub.ignore none
		echo '* filter=x' > .git/modules/sub/info/attributes; git -C sub config filter.x.clean $(prog p); echo c > sub/f`},
	{name: "missing object of a partial clone", args: [][]string{{"show", "HEAD:f"}}, refused: true, setup: `
		git config extensions.partialClone o; git config remote.o.promisor true; git config remote.o.url $TOP/r
		git config remote.o.uploadpack $(prog p)
		obj=$(git rev-parse HEAD:f); rm -f .git/objects/${obj:0:2}/${obj:2}`},
}

// Each trap works against plain git and not against Git and Snapshot. (S126,
// S127, S128, S129)
func TestHostileRepositories(t *testing.T) {
	t.Parallel()
	for _, tr := range traps {
		t.Run(tr.name, func(t *testing.T) {
			t.Parallel()
			top := script(t, prog+tr.setup)
			dir, mark := filepath.Join(top, "r", tr.dir), filepath.Join(top, "mark")
			sprung := func() bool {
				// A time that git has not seen makes it look at the content again.
				when := time.Now().Add(-time.Hour)
				for _, f := range []string{"f", "sub/f"} {
					os.Chtimes(filepath.Join(top, "r", f), when, when)
				}
				_, err := os.Stat(mark)
				os.Remove(mark)
				return err == nil
			}
			sprung()
			for _, args := range tr.args {
				ctx, cancel := context.WithTimeout(t.Context(), generous)
				defer cancel()
				c := exec.CommandContext(ctx, "git", args...)
				c.Dir, c.Env, c.WaitDelay = dir, plainEnv(top), time.Second
				killGitGroup(c)
				out, err := c.CombinedOutput()
				if !sprung() {
					t.Fatalf("the trap does not work against plain git %s: %v\n%s", args, err, out)
				}
				out, err = Git(t.Context(), dir, args...)
				if sprung() {
					t.Errorf("Git ran a program of the repository: %s", args)
				}
				if (err != nil) != tr.refused {
					t.Errorf("Git %s: %v\n%s", args, err, out)
				}
			}
			if !tr.snapshot {
				return
			}
			s, err := snapshot(t.Context(), dir, generous)
			if sprung() {
				t.Error("Snapshot ran a program of the repository")
			}
			if err != nil && !tr.refused {
				t.Errorf("Snapshot: %+v, %v", s, err)
			}
		})
	}
}

// Values are data wherever they come from. (S074)
func TestStringsAreNotShellText(t *testing.T) {
	t.Parallel()
	top := script(t, `git init -q -b main r; cd r
		git config user.email '"$(touch M)"'; git config user.name '$(touch M)'
		git commit -q --allow-empty -m '$(touch M)'; git checkout -q -b '$(touch${IFS}M)'`)
	s, err := snapshot(t.Context(), top+"/r", generous)
	if err != nil || s.Branch != "$(touch${IFS}M)" || !strings.Contains(s.Commits, "$(touch M)") {
		t.Errorf("got %+v, %v", s, err)
	}
	if found, _ := filepath.Glob(top + "/*/M"); found != nil {
		t.Error(found)
	}
}

// A repository must not lay hands on a tree in which it does not stand.
func TestForeignTree(t *testing.T) {
	t.Parallel()
	top := script(t, `mkdir secret; touch secret/key; git init -q r; git -C r config core.worktree $PWD/secret
		mkdir home; touch home/key; git init -q home/r; git -C home/r config core.worktree $PWD/home`)
	for _, dir := range []string{"r", "home/r"} {
		if out, err := Git(t.Context(), filepath.Join(top, dir), "status", "--short"); err == nil || strings.Contains(string(out), "key") {
			t.Errorf("%s: %q, %v", dir, out, err)
		}
	}
}

func TestGitEnvironment(t *testing.T) {
	t.Parallel()
	got := gitEnv([]string{"PATH=/bin", "GIT_DIR=/x", "git_dir=/x", "GIT_EXTERNAL_DIFF=x", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a",
		"GIT_CONFIG_VALUE_0=b", "GIT_TRACE2_EVENT=/x", "LC_ALL=de_DE", "GIT_CONFIG_GLOBAL=/g", "HOME=/h"})
	want := []string{"PATH=/bin", "GIT_CONFIG_GLOBAL=/g", "HOME=/h", "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEmptied(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"filter.a.clean":         "filter.a.clean=",
		"filter.a.b.process":     "filter.a.b.process=",
		"filter.required":        "filter.required=false",
		"filter.x.required":      "filter.x.required=false",
		"hook.lint.command":      "hook.lint.enabled=false",
		"hook.a.b.event":         "hook.a.b.enabled=false",
		"lfs.extension.x.smudge": "lfs.extension.x.smudge=cat",
	} {
		if got := emptied(key); got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	top := script(t, `git init -q -b main r; cd r; mkdir sub
		for i in 1 2 3 4; do git commit -q --allow-empty -m "commit $i"; done
		echo a > 'größe 中.txt'; git add .; git commit -qm 'файл'
		echo b > 'größe 中.txt'; touch new; echo x > sub/y
		git config color.ui always; git config status.branch true; git config status.showStash true
		git config i18n.logOutputEncoding UTF-16; git config format.pretty fuller
		cd ..; git clone -q r clone; git -C clone remote set-head origin main; git -C clone checkout -q -b topic
		git -C r worktree add -q ../tree 2>/dev/null
		git clone -q r detached; git -C detached checkout -q HEAD~1
		git init -q -b trunk empty; touch empty/f
		mkdir none; git init -q -b master old; git -C old commit -q --allow-empty -m x; git -C old checkout -q -b t`)
	for _, c := range []struct {
		dir  string
		want GitState
		err  error
	}{
		{"r", GitState{Branch: "main", Main: "main", Status: " M \"größe 中.txt\"\n?? new\n?? sub/"}, nil},
		{"r/sub", GitState{Branch: "main", Main: "main", Status: " M \"../größe 中.txt\"\n?? ../new\n?? ./"}, nil},
		{"clone", GitState{Branch: "topic", Main: "main"}, nil},
		{"tree", GitState{Branch: "tree", Main: "main"}, nil},
		{"detached", GitState{Branch: "", Main: "main"}, nil},
		{"old", GitState{Branch: "t", Main: "master"}, nil},
		{"empty", GitState{Branch: "trunk", Status: "?? f"}, nil},
		{"none", GitState{}, ErrNotRepository},
	} {
		got, err := snapshot(t.Context(), filepath.Join(top, c.dir), generous)
		head, commits := got.Head, got.Commits
		got.Head, got.Commits = "", ""
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: got %+v, %v, want %+v", c.dir, got, err, c.want)
		}
		if has := c.err == nil && c.dir != "empty"; (head != "") != has || !strings.HasPrefix(commits, head) {
			t.Errorf("%s: head %q, commits %q", c.dir, head, commits)
		}
		if c.dir == "r" && (strings.Count(commits, "\n") != 4 || !strings.Contains(commits, " файл\n")) {
			t.Errorf("commits %q", commits)
		}
	}
	if _, err := Snapshot(t.Context(), filepath.Join(top, "gone")); err == nil {
		t.Error("a missing folder: want an error")
	}
}

// Git that is slow is left, with what was known before.
func TestSlowGit(t *testing.T) {
	t.Parallel()
	top := script(t, `git init -q -b main r; cd r; git commit -q --allow-empty -m first
		mkfifo ../wait; git config core.excludesFile $PWD/../wait`)
	start := time.Now()
	s, err := snapshot(t.Context(), top+"/r", 2*time.Second)
	if d := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || d > 10*time.Second {
		t.Errorf("got %v after %v", err, d)
	}
	if s.Branch != "main" || s.Commits == "" || s.Status != "" {
		t.Errorf("got %+v", s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Git(ctx, top+"/r", "status"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// What git has started goes with it.
func TestGroupIsKilled(t *testing.T) {
	t.Parallel()
	top := script(t, `mkfifo alive
		printf '#!/bin/sh\n(sleep 1000; true) &\necho started >&3\nwait\n' > inner
		printf '#!/bin/bash\nexec 3>%s/alive\nexec sh %s/inner\n' "$PWD" "$PWD" > git; chmod +x git`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	g := &gitRepo{program: top + "/git", dir: top, env: os.Environ()}
	done := make(chan error, 1)
	go func() {
		_, err := g.run(ctx, "log")
		done <- err
	}()
	f, err := os.Open(top + "/alive")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, len("started\n"))
	if _, err := f.Read(b); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := f.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Logf("no deadline: %v", err)
	}
	// The end of the file comes when the last process that holds it is gone.
	if n, err := f.Read(b); n != 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("something is still running: %d, %v", n, err)
	}
}

func TestGitErrors(t *testing.T) {
	t.Parallel()
	top := script(t, `git init -q -b main r; mkdir none; git -C r commit -q --allow-empty -m x`)
	_, err := Git(t.Context(), top+"/r", "log", "--end-of-options", "nothing")
	if err == nil || !strings.HasPrefix(err.Error(), "git: ") || strings.Contains(err.Error(), "fatal") {
		t.Errorf("got %v", err)
	}
	if _, err := Git(t.Context(), top+"/none", "log"); err != ErrNotRepository {
		t.Errorf("got %v", err)
	}
	for _, args := range [][]string{nil, {"commit"}, {"st"}, {"-c", "alias.x=!touch M", "x"}} {
		if _, err := Git(t.Context(), top+"/r", args...); err == nil {
			t.Errorf("%q: want an error", args)
		}
	}
}

func TestGitHead(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 9, 10, 11, 40_000} {
		h := &gitHead{limit: 10}
		text := strings.Repeat("0123456789", 4000)[:n]
		written, err := io.Copy(h, strings.NewReader(text))
		if int(written) != n || err != nil || string(h.kept) != text[:min(n, 10)] || h.cut != (n > 10) {
			t.Errorf("%d bytes: kept %q, cut %v, written %d, %v", n, h.kept, h.cut, written, err)
		}
	}
}

// --end-of-options keeps a name from being an option, also one that writes.
func TestNamesAreNoOptions(t *testing.T) {
	t.Parallel()
	top := script(t, `git init -q -b main r; git -C r commit -q --allow-empty -m x`)
	if _, err := Git(t.Context(), top+"/r", "show", "--end-of-options", "--output=M"); err == nil {
		t.Error("want an error")
	}
	if found, _ := filepath.Glob(top + "/*/M"); found != nil {
		t.Error(found)
	}
}

func BenchmarkSnapshot(b *testing.B) {
	top := script(b, `git init -q -b main r; cd r; for i in $(seq 200); do echo $i > f$i; done; git add .; git commit -qm x`)
	for b.Loop() {
		if _, err := Snapshot(b.Context(), fmt.Sprint(top, "/r")); err != nil {
			b.Fatal(err)
		}
	}
}

package project

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"ferrule/shell"
)

// git runs a bash script with git in a new directory, which is returned.
func git(t testing.TB, script string) string {
	t.Helper()
	for _, program := range []string{"git", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("FERRULE_CI") == "1" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("bash", "-ec", script)
	c.Dir = dir
	c.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TEMPLATE_DIR=",
		"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// patient asks again when the machine was too busy for git's three seconds.
func patient(ctx context.Context, dir string) (text string, repo bool) {
	for range 20 {
		if text, repo = GitSnapshot(ctx, dir); !strings.Contains(text, "needed more than three seconds") {
			break
		}
	}
	return text, repo
}

func TestGitSnapshot(t *testing.T) {
	t.Parallel()
	top := git(t, `git init -q -b main r; cd r; echo a > f; git add f; git commit -qm 'first'; echo b > f; touch new
		git clone -q . ../clean; git -C ../clean checkout -q --detach
		git init -q -b trunk ../empty; mkdir ../none; git init -q --bare ../bare`)
	for _, c := range []struct {
		dir, want string // HEAD stands for the commit
		repo      bool
	}{
		{"r", "Branch: main\nMain branch: main\n\nStatus:\n M f\n?? new\n\nRecent commits:\nHEAD first", true},
		{"clean", "Branch: none, HEAD is detached at HEAD\nMain branch: main\nStatus: clean\n\nRecent commits:\nHEAD first", true},
		{"empty", "Branch: trunk (no commits yet)\nStatus: clean", true},
		{"none", "", false},
	} {
		dir := filepath.Join(top, c.dir)
		commit, _ := exec.Command("git", "-C", dir, "rev-parse", "--short", "HEAD").Output()
		want := strings.ReplaceAll(c.want, "HEAD ", strings.TrimSpace(string(commit))+" ")
		want = strings.ReplaceAll(want, strings.TrimSpace(string(commit))+" is", "HEAD is")
		want = strings.ReplaceAll(want, "at HEAD", "at "+strings.TrimSpace(string(commit)))
		if text, repo := patient(t.Context(), dir); text != want || repo != c.repo {
			t.Errorf("%s: got %v\n%s\nwant\n%s", c.dir, repo, text, want)
		}
	}
	if text, repo := patient(t.Context(), filepath.Join(top, "bare")); !repo || !strings.HasPrefix(text, "Git was asked and refused: ") {
		t.Errorf("bare: %v, %s", repo, text)
	}
	if !HasGit(filepath.Join(top, "r", "deeper")) || HasGit(top) {
		t.Error("HasGit")
	}
}

// Slow git is left after three seconds, and the snapshot says so.
func TestSlowGitSnapshot(t *testing.T) {
	t.Parallel()
	top := git(t, `git init -q -b main r; cd r; git commit -q --allow-empty -m first
		mkfifo ../wait; git config core.excludesFile $PWD/../wait`)
	start := time.Now()
	text, repo := GitSnapshot(t.Context(), top+"/r")
	if d := time.Since(start); d > 10*time.Second || !repo || !strings.Contains(text, "more than three seconds") {
		t.Errorf("got %v after %v:\n%s", repo, d, text)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	many := shell.GitState{Branch: "main", Head: "abc", Main: "main"}
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, " M größe/datei%d.txt\n", i)
	}
	many.Status = strings.TrimSuffix(b.String(), "\n")
	wide := shell.GitState{Branch: strings.Repeat("ä", 5000), Head: "a", Status: "?? " + strings.Repeat("中", 3000),
		Commits: "a " + strings.Repeat("é", 9000) + "\nb x"}
	for _, c := range []struct {
		name string
		s    shell.GitState
		slow bool
		want []string // parts
	}{
		{"many files", many, false, []string{"Status:\n M größe/datei0.txt\n", "\n… and more: ", " of 10000 lines are shown"}},
		{"wide", wide, false, []string{"Branch: ä", "Status:\n?? 中", "\n… and more: 1 of 1 lines", "\nb x"}},
		{"nothing in time", shell.GitState{}, true, []string{"Branch, status and commits are not known"}},
		{"no status in time", shell.GitState{Branch: "b", Head: "h", Commits: "h x"}, true, []string{"Branch: b\nStatus: not known", "commits:\nh x"}},
		{"no commits in time", shell.GitState{Branch: "b"}, true, []string{"Branch: b\nStatus: not known"}},
	} {
		got := describe(c.s, c.slow)
		for _, part := range c.want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q is missing in\n%s", c.name, part, got)
			}
		}
		if n := utf8.RuneCountInString(got); n > statusLimit+3*lineLimit || !utf8.ValidString(got) {
			t.Errorf("%s: %d characters", c.name, n)
		}
	}
	for _, n := range []int{0, 1, statusLimit - 1, statusLimit, statusLimit + 1, 3 * statusLimit} {
		s := strings.Repeat("中", n)
		got := cutStatus(s)
		if len := utf8.RuneCountInString(got); len > statusLimit || n <= statusLimit && got != s {
			t.Errorf("a status of %d characters: %d are shown", n, len)
		}
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{{"", 0, ""}, {"a", 0, "…"}, {"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"äöü", 2, "äö…"}} {
		if got := head(c.s, c.n); got != c.want {
			t.Errorf("%q, %d: got %q", c.s, c.n, got)
		}
	}
}

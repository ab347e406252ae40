package tools

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"ferrule/tools/permit"
)

// shellScript runs a bash script in dir, with git set up for it.
func shellScript(t *testing.T, dir, text string) {
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
	c := exec.Command("bash", "-ec", text)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=a@b", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// S131, S011: a repository outside of the workspace stays there: by its path, by
// a file .git that names it, and what of a larger repository lies beside the
// workspace. A tree of git worktree is no trick.
func TestGitOutside(t *testing.T) {
	dir := makeFolders(t, "private", "big/ws/trick", "big/beside")
	shellScript(t, dir, `cd private; git init -q -b main .; echo PRIVATE > p; git add p; git commit -qm PRIVATE
		git worktree add -q ../big/ws/tree -b tree; echo "gitdir: $PWD/.git" > ../big/ws/trick/.git
		ln -s ../../private ../big/ws/link; cd ../big
		git init -q -b main .; echo ws/tree > .git/info/exclude; echo ws/trick >> .git/info/exclude; echo ws/link >> .git/info/exclude
		echo 1 > ws/in; echo 1 > beside/out; git add ws/in beside; git commit -qm all
		for f in ws/in beside/out beside/new ws/new; do echo 2 >> $f; done`)
	s, err := NewSession(Config{Roots: []string{dir + "/big/ws"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, path := range []string{dir + "/private", "../../private", "trick", "link"} {
		for _, tool := range []*Tool{GitStatus, GitDiff, GitLog, GitShow, GitCommit} {
			args := map[string]any{"path": path}
			switch tool {
			case GitShow:
				args["ref"] = "HEAD"
			case GitCommit:
				args["message"] = "x"
			}
			if r := call(t, s, tool, args); !r.Failed || strings.Contains(r.Text, "PRIVATE") || !strings.Contains(r.Text, "outside") {
				t.Errorf("%s %s: %q", tool.Name, path, r.Text)
			}
		}
	}
	if got := must(t, s, GitLog, map[string]any{"path": "tree"}); !strings.Contains(got, "PRIVATE") {
		t.Errorf("a tree of git worktree: %q", got)
	}
	for _, c := range []struct {
		tool *Tool
		args map[string]any
		want string
	}{
		{GitStatus, map[string]any{}, " M in\n?? new"}, {GitDiff, map[string]any{}, "b/ws/in"},
		{GitDiff, map[string]any{"stat": true, "ref": "HEAD"}, "in"}, {GitShow, map[string]any{"ref": "HEAD"}, "b/ws/in"},
	} {
		if got := must(t, s, c.tool, c.args); !strings.Contains(got, c.want) || strings.Contains(got, "beside") {
			t.Errorf("%s %v: %q", c.tool.Name, c.args, got)
		}
	}
	for _, args := range []map[string]any{{"paths": []string{"../beside"}}, {"paths": []string{dir + "/big/beside"}}} {
		if r := call(t, s, GitDiff, args); !r.Failed {
			t.Errorf("%v: %q", args, r.Text)
		}
	}
	shellScript(t, dir, "cd big; git config user.name n; git config user.email a@b")
	must(t, s, GitCommit, map[string]any{"message": "part"})
	shellScript(t, dir, `cd big; git show --name-only --format= | grep -qx ws/in; ! git show --name-only --format= | grep beside`)
}

// Links are shown as links, files by the path that git knows.
func TestGitLinks(t *testing.T) {
	s, dir := open(t, Config{})
	shellScript(t, dir, `git init -q -b main .; mkdir d; echo 1 > d/f; ln -s d/f l; ln -s d e; git add .; git commit -qm first; echo 2 > d/f; ln -sfn x l`)
	if got := must(t, s, GitDiff, map[string]any{"paths": []string{"l"}}); !strings.Contains(got, "b/l") || strings.Contains(got, "d/f b") {
		t.Errorf("a link: %q", got)
	}
	if got := must(t, s, GitDiff, map[string]any{"paths": []string{"e/f"}}); !strings.Contains(got, "b/d/f") {
		t.Errorf("below a link: %q", got)
	}
	if got := must(t, s, GitShow, map[string]any{"ref": "HEAD", "file": "e/f"}); got != "1" {
		t.Errorf("a file below a link: %q", got)
	}
}

// What may not be read by rule is not in a patch either, nor in a rename of it, nor by asking for it later.
func TestGitHidden(t *testing.T) {
	s, dir := guarded(t, "deny Read(secret/**)", "ask Read(asked)")
	shellScript(t, dir, `git init -q -b main .; mkdir secret; printf '%s\n' SECRET 1 2 3 4 5 6 7 8 9 > secret/f; cp secret/f asked; echo x > plain; git add .; git commit -qm first
		git mv secret/f moved; echo x >> moved; echo y >> asked; echo y >> plain; git commit -qam second; mkdir -p secret/sub; echo SECRET > secret/sub/new`)
	for _, c := range []struct {
		tool *Tool
		args map[string]any
	}{
		{GitShow, map[string]any{"ref": "HEAD~1"}}, {GitDiff, map[string]any{"ref": "HEAD~1"}}, {GitStatus, map[string]any{}},
	} {
		got := must(t, s, c.tool, c.args)
		for line := range strings.Lines(got) {
			if strings.Contains(line, "-SECRET") || strings.Contains(line, "secret/") || strings.Contains(line, "asked") {
				t.Errorf("%s %v shows %q", c.tool.Name, c.args, line)
			}
		}
		if !strings.Contains(got, "may not be read by rule") {
			t.Errorf("%s %v does not say that something is missing: %q", c.tool.Name, c.args, got)
		}
	}
	for _, args := range []map[string]any{{"ref": "HEAD~1", "file": "secret/f"}, {"ref": "HEAD", "file": "secret/gone"}, {"ref": "HEAD", "file": "asked"}, {"ref": "HEAD", "paths": []string{"secret"}}} {
		if r := call(t, s, GitShow, args); !r.Failed || !strings.Contains(r.Text, "rule") {
			t.Errorf("%v: %q", args, r.Text)
		}
	}
}

// A long patch is cut at a line's end, and says how to see the rest.
func TestGitCap(t *testing.T) {
	s, dir := open(t, Config{MaxResultChars: 4000})
	shellScript(t, dir, `git init -q -b main .; seq 3000 > f; git add .; git commit -qm first; for i in $(seq 300); do echo > "file number $i"; done`)
	for _, c := range []struct {
		tool *Tool
		args map[string]any
		want string
	}{
		{GitShow, map[string]any{"ref": "HEAD"}, "set stat for an overview, or name paths"},
		{GitShow, map[string]any{"ref": "HEAD", "file": "f"}, "lines more do not fit"},
		{GitStatus, map[string]any{}, "name a folder as path"},
	} {
		if got := must(t, s, c.tool, c.args); len(got) > 4000 || len(got) < 2500 || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d characters: …%q", c.tool.Name, len(got), got[max(0, len(got)-200):])
		}
	}
}

// Commands of git that commit are asked about with the words they come to.
func TestGitCommitAsks(t *testing.T) {
	p, err := permit.New(permit.Config{Rules: []permit.Rule{{Effect: permit.Ask, Text: "Bash(git commit:*)"}}})
	if err != nil {
		t.Fatal(err)
	}
	s, dir := open(t, Config{Policy: constant(p)})
	shellScript(t, dir, `git init -q -b main .; git config user.name n; git config user.email a@b; echo 1 > "a b"; echo 1 > other`)
	u := &person{action: Accepted, decision: allowOnce}
	if r := as(t, u, s, GitCommit, map[string]any{"message": "it's", "paths": []string{"a b"}}); r.Failed {
		t.Fatal(r.Text)
	}
	if want := `git add --all -- 'a b' && git commit --message='it'\''s' --only -- 'a b'`; len(u.asked) != 1 || !strings.HasSuffix(u.asked[0], want) {
		t.Errorf("asked %q, want %q", u.asked, want)
	}
	shellScript(t, dir, `test "$(git log -1 --format=%s)" = "it's" && test "$(git ls-files)" = "a b"`)
	if r := call(t, s, GitCommit, map[string]any{"message": strings.Repeat("x", maxMessage+1)}); !r.Failed {
		t.Error(r.Text)
	}
}

package memory

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestProjectScope(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("FERRULE_CI") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", args, out)
		}
	}
	run("init", "-q", "one")
	run("-C", "one", "commit", "-q", "--allow-empty", "-m", "x")
	run("-C", "one", "worktree", "add", "-q", "../tree")
	run("init", "-q", "two")
	for _, d := range []string{"one/sub/deep", "plain", "forged"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "one"), filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "tree", ".git"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "forged", ".git"), b, 0o666); err != nil {
		t.Fatal(err)
	}
	scope := func(d string) string { return ProjectScope(filepath.Join(dir, d)) }
	for _, d := range []string{"one/sub/deep", "tree", "link", "one/../one"} {
		if scope(d) != scope("one") {
			t.Errorf("%s is another project", d)
		}
	}
	seen := make(map[string]string)
	for _, d := range []string{"one", "two", "plain", "forged", "."} {
		if other, ok := seen[scope(d)]; ok {
			t.Errorf("%s has the memories of %s", d, other)
		}
		seen[scope(d)] = d
	}
}

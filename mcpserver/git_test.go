package mcpserver

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ferrule/mcpserver/internal/project"
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
		if text, repo = project.GitSnapshot(ctx, dir); !strings.Contains(text, "needed more than three seconds") {
			break
		}
	}
	return text, repo
}

package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ferrule/shell"
)

// S125: eight sessions at once on one project: directories, tasks and what was read never cross.
func TestSessionsApart(t *testing.T) {
	t.Parallel()
	if shell.Name() != "bash" {
		t.Skip("there is no bash")
	}
	const n = 8
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprint("d", i)), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, fmt.Sprint("f", i)), "text\n")
	}
	state := t.TempDir()
	sessions, tasks := make([]*Session, n), make([]string, n)
	for i := range n {
		s, err := NewSession(Config{Roots: []string{dir}, State: state})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		sessions[i] = s
	}
	var wg sync.WaitGroup
	for i, s := range sessions {
		wg.Go(func() {
			must(t, s, Read, map[string]any{"file_path": fmt.Sprint("f", i)})
			must(t, s, Bash, map[string]any{"command": fmt.Sprintf("cd d%d; export X=%d", i, i)})
			for range 3 {
				if got := must(t, s, Bash, map[string]any{"command": "basename $PWD$X"}); got != fmt.Sprint("d", i) {
					t.Errorf("session %d stands in %s", i, got)
				}
			}
			tasks[i] = begin(t, nobody{}, s, map[string]any{"command": fmt.Sprintf("echo of %d; sleep 600", i)})
		})
	}
	wg.Wait()
	for i, s := range sessions {
		other := (i + 1) % n
		for _, tool := range []*Tool{TaskOutput, TaskInput, TaskStop} {
			r := call(t, s, tool, map[string]any{"task_id": tasks[other]})
			if !r.Failed || !strings.Contains(r.Text, tasks[i]) || strings.Count(r.Text, tasks[other]) != 1 {
				t.Errorf("%s of another session's task: %s", tool.Name, r.Text)
			}
		}
		edit := func(name string) Result {
			return call(t, s, Edit, map[string]any{"file_path": name, "old_string": "text", "new_string": "new"})
		}
		if r := edit(fmt.Sprint("f", other)); !r.Failed {
			t.Errorf("a file that only another session has read was changed: %s", r.Text)
		}
		if i == n-1 {
			if r := edit(fmt.Sprint("f", i)); r.Failed {
				t.Error(r.Text)
			}
		}
	}
}

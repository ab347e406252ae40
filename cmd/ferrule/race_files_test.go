package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ferrule/mcpserver"
	"ferrule/tools"
)

// increment reads a number and writes the next one by Read and Edit, and
// reports whether that was acknowledged.
func increment(ctx context.Context, s *served) (done bool, err error) {
	text, failed, err := s.call(ctx, "Read", map[string]any{"file_path": "n"})
	if failed || err != nil {
		return false, fmt.Errorf("Read: %s %v", text, err)
	}
	line, _, _ := strings.Cut(text, "\n")
	n, err := strconv.Atoi(strings.TrimPrefix(line, "1\tn="))
	if err != nil {
		return false, fmt.Errorf("Read shows %q", text)
	}
	text, failed, err = s.call(ctx, "Edit", map[string]any{
		"file_path": "n", "old_string": fmt.Sprintf("n=%d\n", n), "new_string": fmt.Sprintf("n=%d\n", n+1),
	})
	if failed && !strings.Contains(text, "read it again") && !strings.Contains(text, "was not found") {
		return false, fmt.Errorf("Edit: %s", text)
	}
	return !failed, err
}

// TestIncrements lets many callers add to one number, in one server and in
// four. Every edit is acknowledged or refused, and none that was acknowledged
// is lost. S051
func TestIncrements(t *testing.T) {
	for _, servers := range []int{1, 4} {
		t.Run(fmt.Sprint(servers), func(t *testing.T) {
			t.Parallel()
			callers, rounds := 32/servers, 6
			if nightly() {
				rounds = 60
			}
			dir, home := t.TempDir(), t.TempDir()
			put(t, filepath.Join(dir, "n"), "n=0\n")
			var acknowledged atomic.Int64
			var work sync.WaitGroup
			var all []*served
			for range servers {
				s := serve(t, dir, home)
				all = append(all, s)
				for range callers {
					work.Go(func() {
						for range rounds {
							done, err := increment(t.Context(), s)
							if err != nil {
								t.Error(err)
								return
							}
							if done {
								acknowledged.Add(1)
							}
						}
					})
				}
			}
			work.Wait()
			want := fmt.Sprintf("n=%d\n", acknowledged.Load())
			if got, err := os.ReadFile(filepath.Join(dir, "n")); string(got) != want || err != nil {
				t.Errorf("the file holds %q, want %q (%v)", got, want, err)
			}
			if n := acknowledged.Load(); n < int64(rounds) {
				t.Errorf("only %d of %d edits were acknowledged", n, 32*rounds)
			}
			for _, s := range all {
				s.close(t)
			}
			if names := temporary(t, dir); len(names) > 0 {
				t.Errorf("temporary files are left: %v", names)
			}
			t.Logf("%d of %d edits acknowledged", acknowledged.Load(), 32*rounds)
		})
	}
}

// TestOtherSession: what another session of ours wrote over a file that was
// read, at once and of the same size, is not overwritten. S058
func TestOtherSession(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	put(t, filepath.Join(dir, "f"), "ccc\n")
	a, b := serve(t, dir, home), serve(t, dir, home)
	edit := func(from, to string) map[string]any {
		return map[string]any{"file_path": "f", "old_string": from, "new_string": to}
	}
	read := map[string]any{"file_path": "f"}
	for range 20 {
		a.must(t, "Read", read)
		b.must(t, "Read", read)
		b.must(t, "Edit", edit("ccc", "ddd"))
		a.refuse(t, "f has changed since it was read; read it again", "Edit", edit("ccc", "eee"))
		a.refuse(t, "f has changed since it was read; read it again", "Write", map[string]any{"file_path": "f", "content": "eee\n"})
		b.must(t, "Edit", edit("ddd", "ccc"))
	}
	// One session's Undo does not take back the other's change.
	b.must(t, "Edit", edit("ccc", "ddd"))
	a.refuse(t, "there is no change left to take back", "Undo", nil)
	b.must(t, "Undo", nil)
	a.close(t)
	b.close(t)
	if got, _ := os.ReadFile(filepath.Join(dir, "f")); string(got) != "ccc\n" {
		t.Errorf("the file holds %q", got)
	}
}

// TestEditorSaves: while an editor saves by rename every 10 ms and the server
// edits in a loop, no save disappears; edits that came too late are refused.
// S052
func TestEditorSaves(t *testing.T) {
	t.Parallel()
	duration := time.Second
	if nightly() {
		duration = 10 * time.Second
	}
	dir, home := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, "f")
	saved := func(k int) string { return fmt.Sprintf("save %d\nedits 0\n", k) }
	put(t, file, saved(0))
	s := serve(t, dir, home)
	ctx, stop := context.WithCancel(t.Context())
	var editor sync.WaitGroup
	saves := 0
	editor.Go(func() {
		defer stop()
		end := time.After(duration)
		for tick := time.Tick(10 * time.Millisecond); ; {
			select {
			case <-tick:
			case <-end:
				return
			}
			// Ours may stand in its place for the moment that it takes to see whose version came out, and to put it back.
			var data []byte
			for patient := time.Now().Add(patience); ; {
				data, _ = os.ReadFile(file)
				if strings.HasPrefix(string(data), fmt.Sprintf("save %d\n", saves)) {
					break
				}
				if time.Now().After(patient) {
					t.Errorf("save %d has disappeared, the file holds %q", saves, data)
					return
				}
				time.Sleep(time.Millisecond)
			}
			saves++
			put(t, file+"~", saved(saves))
			if err := os.Rename(file+"~", file); err != nil {
				t.Error(err)
				return
			}
		}
	})
	edits, refused := 0, 0
	for ctx.Err() == nil {
		s.must(t, "Read", map[string]any{"file_path": "f"})
		text, failed, err := s.call(t.Context(), "Edit", map[string]any{"file_path": "f", "old_string": "edits ", "new_string": "edits 1"})
		switch {
		case err != nil:
			t.Fatal(err)
		case !failed:
			edits++
		case strings.Contains(text, "read it again"):
			refused++
		default:
			t.Fatal(text)
		}
	}
	editor.Wait()
	s.close(t)
	t.Logf("%d saves, %d edits, %d refused", saves, edits, refused)
}

// TestHangup: a client that closes our input in the middle of anything leaves
// no process and no temporary file behind, and what was begun is whole.
func TestHangup(t *testing.T) {
	big := strings.Repeat("a line of some length that is edited\n", 20_000)
	for _, c := range []struct {
		name, tool string
		args       map[string]any
		holds      []string // what the file may hold afterwards
	}{
		{"Edit", "Edit", map[string]any{"file_path": "f", "old_string": "edited", "new_string": "changed", "replace_all": true},
			[]string{big, strings.ReplaceAll(big, "edited", "changed")}},
		{"MultiEdit", "MultiEdit", map[string]any{"file_path": "f", "edits": []any{
			map[string]any{"old_string": "edited", "new_string": "changed", "replace_all": true},
			map[string]any{"old_string": "line", "new_string": "row", "replace_all": true}}},
			[]string{big, strings.ReplaceAll(strings.ReplaceAll(big, "edited", "changed"), "line", "row")}},
		{"Write", "Write", map[string]any{"file_path": "g", "content": big}, []string{"", big}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, home := t.TempDir(), t.TempDir()
			put(t, filepath.Join(dir, "f"), big)
			s := serve(t, dir, home)
			s.must(t, "Read", map[string]any{"file_path": "f", "limit": 1})
			s.Start("tools/call", map[string]any{"name": c.tool, "arguments": c.args})
			s.close(t)
			got, err := os.ReadFile(filepath.Join(dir, c.args["file_path"].(string)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) || !slices.Contains(c.holds, string(got)) {
				t.Errorf("the file holds %d bytes, which is neither the old nor the new content (%v)", len(got), err)
			}
			nothingLeft(t, dir, home, "")
		})
	}
	t.Run("background task", func(t *testing.T) {
		t.Parallel()
		dir, home, mark := t.TempDir(), t.TempDir(), unique()
		s := serve(t, dir, home)
		s.must(t, "Bash", map[string]any{"run_in_background": true,
			"command": fmt.Sprintf("sleep %s & (trap '' TERM HUP INT; setsid sleep %s) & touch here; wait", mark, mark)})
		until(t, filepath.Join(dir, "here"))
		s.close(t)
		nothingLeft(t, dir, home, mark)
	})
	t.Run("Bash", func(t *testing.T) {
		t.Parallel()
		dir, home, mark := t.TempDir(), t.TempDir(), unique()
		// In this process, where the time that a running call gets can be chosen.
		s, err := mcpserver.New(mcpserver.Config{Workspace: tools.Config{Roots: []string{dir}, State: home}, Drain: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c.Start("tools/call", map[string]any{"name": "Bash", "arguments": map[string]any{
			"command": fmt.Sprintf("(setsid sleep %s) & touch here; sleep %s", mark, mark)}})
		until(t, filepath.Join(dir, "here"))
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		nothingLeft(t, dir, home, mark)
	})
}

var marks atomic.Int64

// unique is a number of seconds that no other sleep on this machine has.
func unique() string { return fmt.Sprintf("86400.%07d%02d", os.Getpid(), marks.Add(1)) }

// until waits for a file that a command makes.
func until(t testing.TB, path string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not come", path)
		}
	}
}

// nothingLeft fails if a process with mark among its arguments is alive, or a
// temporary file or the log of a command is there.
func nothingLeft(t testing.TB, dir, home, mark string) {
	t.Helper()
	if mark != "" && runtime.GOOS == "linux" {
		if out, err := exec.Command("pgrep", "-af", "sleep "+mark).Output(); err == nil {
			t.Errorf("processes are left:\n%s", out)
		}
	}
	if names := temporary(t, dir); len(names) > 0 {
		t.Errorf("temporary files are left: %v", names)
	}
	err := filepath.WalkDir(filepath.Join(home, "sessions"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("%s is left", path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

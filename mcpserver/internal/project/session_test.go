package project

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"ferrule/prompts"
)

// What is said of the beginning of a session does not change in it.
func TestFrozen(t *testing.T) {
	t.Parallel()
	var f Frozen
	day := time.Date(2026, 11, 30, 23, 59, 0, 0, time.UTC)
	now := func() time.Time { day = day.Add(time.Minute); return day }
	if a, b := f.Date(now), f.Date(now); a != "2026-12-01" || b != a {
		t.Errorf("got %s, then %s", a, b)
	}
	var mu sync.Mutex
	asked := map[string]int{}
	snapshot := func(ctx context.Context, dir string) (string, bool) {
		mu.Lock()
		defer mu.Unlock()
		asked[dir]++
		if ctx.Err() != nil {
			return "cancelled", false
		}
		return fmt.Sprint(dir, asked[dir]), true
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // who asks first may leave, but others wait for the same answer
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, dir := range []string{"/a", "/b"} {
				if text, repo := f.Git(ctx, dir, snapshot); text != dir+"1" || !repo {
					t.Errorf("%s: got %q, %v", dir, text, repo)
				}
			}
		})
	}
	wg.Wait()
	for i := range 3 * frozenDirs {
		f.Git(ctx, fmt.Sprint("/", i), snapshot)
	}
	if len(f.repos) > frozenDirs {
		t.Errorf("%d directories are kept", len(f.repos))
	}
	if text, _ := f.Git(ctx, "/a", snapshot); text != "/a1" {
		t.Errorf("got %q", text)
	}
	n := 0
	index := func(dir string) string { n++; return fmt.Sprint(dir, n) }
	for range 2 {
		if a, b := f.Index("/a", index), f.Index("/b", index); a != "/a1" || b != "/b2" {
			t.Errorf("got %s, %s", a, b)
		}
	}
	if !f.Touch("/x") || f.Touch("/x") || f.Has("/x/AGENTS.md") {
		t.Error("touch")
	}
	f.Give([]prompts.File{{Path: "/x/AGENTS.md"}})
	if !f.Has("/x/AGENTS.md") {
		t.Error("give")
	}
	for i := range frozenFiles + 10 {
		f.Touch(fmt.Sprint("/", i))
	}
	if len(f.touched) != frozenFiles {
		t.Errorf("%d directories are kept", len(f.touched))
	}
}

package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"
)

func increment(old *Content) ([]byte, error) {
	n, err := strconv.Atoi(string(old.Data))
	return strconv.AppendInt(nil, int64(n)+1, 10), err
}

// TestParallelIncrements: no acknowledged update is lost and none is refused. S050, S051, H033.
func TestParallelIncrements(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, w := openRoot(t, dir), NewFiles(SyncNone)
	for _, f := range []string{"n", "m"} {
		put(t, filepath.Join(dir, f), "0")
	}
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			for range 25 {
				if _, err := w.Update(t.Context(), root, []string{"n", "m"}[i%2], Options{}, increment); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	same(t, "numbers", get(t, dir+"/n")+" "+get(t, dir+"/m"), "400 400")
	same(t, "names", list(t, dir), "[m n]")
	if len(w.locks.m) != 0 {
		t.Errorf("%d locks left", len(w.locks.m))
	}
}

// TestParallelNewFolders: files made at once in folders that do not exist yet, some of which are given up again.
func TestParallelNewFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, w := openRoot(t, dir), NewFiles(SyncNone)
	boom := errors.New("boom")
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			name := filepath.Join("a", "b", fmt.Sprint(i))
			_, err := w.Update(t.Context(), root, name, Options{Parents: true}, func(*Content) ([]byte, error) {
				if i%2 == 0 {
					return nil, boom
				}
				return []byte("x"), nil
			})
			if i%2 == 0 && !errors.Is(err, boom) || i%2 == 1 && err != nil {
				t.Error(i, err)
			}
		})
	}
	wg.Wait()
	if n := list(t, dir); len(n) != 2+16 {
		t.Errorf("%d names: %v", len(n), n)
	}
}

// TestFolderTakenBack: a call that waits for the lock of a folder that another call made and now takes back.
func TestFolderTakenBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, w := openRoot(t, dir), NewFiles(SyncNone)
	boom := errors.New("boom")
	waiters := func() int {
		w.locks.mu.Lock()
		defer w.locks.mu.Unlock()
		n := 0
		for _, e := range w.locks.m {
			n += e.refs
		}
		return n
	}
	var wg sync.WaitGroup
	_, err := w.Update(t.Context(), root, filepath.Join("a", "b", "f"), Options{Parents: true}, func(*Content) ([]byte, error) {
		wg.Go(func() {
			if _, err := w.Update(t.Context(), root, filepath.Join("a", "b", "g"), Options{Parents: true}, to("x")); err != nil {
				t.Error(err)
			}
		})
		for deadline := time.Now().Add(5 * time.Second); waiters() < 2 && time.Now().Before(deadline); {
			runtime.Gosched() // the other one tells nobody that it waits
		}
		return nil, boom
	})
	if !errors.Is(err, boom) {
		t.Error(err)
	}
	wg.Wait()
	same(t, "names", list(t, dir), "[a a/b a/b/g]")
}

func incrementChild() {
	root, err := os.OpenRoot(os.Args[1])
	if err != nil {
		panic(err)
	}
	rounds, _ := strconv.Atoi(os.Args[2])
	w := NewFiles(SyncNone)
	for range rounds {
		if _, err := w.Update(context.Background(), root, "n", Options{}, increment); err != nil {
			panic(err)
		}
	}
}

// TestProcessesIncrement: processes that share nothing but the folder lose nothing either.
func TestProcessesIncrement(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir+"/n", "0")
	rounds := 50
	if nightly() {
		rounds = 500
	}
	var wg sync.WaitGroup
	for range 4 {
		c := child(t, "increment", dir, strconv.Itoa(rounds))
		wg.Go(func() {
			if err := c.Run(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	same(t, "number", get(t, dir+"/n"), 4*rounds)
	same(t, "names", list(t, dir), "[n]")
}

func TestLocks(t *testing.T) {
	t.Parallel()
	var l locks
	unlock, err := l.lock(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.lock(t.Context(), "2")
	if err != nil {
		t.Fatal(err)
	}
	other()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.lock(ctx, "1"); !errors.Is(err, context.Canceled) {
		t.Error("locked twice:", err)
	}
	unlock()
	if len(l.m) != 0 {
		t.Error("entries left")
	}
}

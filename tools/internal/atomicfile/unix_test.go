//go:build unix

package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func umaskChild() {
	mask, err := strconv.ParseInt(os.Args[2], 8, 32)
	if err != nil {
		panic(err)
	}
	syscall.Umask(int(mask))
	root, err := os.OpenRoot(os.Args[1])
	if err != nil {
		panic(err)
	}
	_, err = NewFiles(SyncNone).Update(context.Background(), root, "d/new", Options{Parents: true}, to("x"))
	if err != nil {
		panic(err)
	}
}

// TestUmask: S049. The umask belongs to a process, so another one has it.
func TestUmask(t *testing.T) {
	t.Parallel()
	for mask, want := range map[string]string{"027": "0750 0640", "002": "0775 0664"} {
		dir := t.TempDir()
		if err := child(t, "umask", dir, mask).Run(); err != nil {
			t.Fatal(err)
		}
		d, _ := os.Stat(dir + "/d")
		f, err := os.Stat(dir + "/d/new")
		if err != nil {
			t.Fatal(err)
		}
		same(t, "modes under "+mask, fmt.Sprintf("%#o %#o", d.Mode().Perm(), f.Mode().Perm()), want)
	}
}

// TestPatience: a stranger that sits on the lock stops nothing for longer than agreed, and a caller that goes away is
// let go at once.
func TestPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := waitLock(t.Context(), func() bool { return false }); err != nil {
			t.Error(err)
		}
		same(t, "waited", time.Since(start).Round(100*time.Millisecond), flockPatience)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		if err := waitLock(ctx, func() bool { return false }); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		same(t, "waited", time.Since(start).Round(100*time.Millisecond), time.Second)
	})
}

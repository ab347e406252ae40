package memory

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// writerArgs makes the test binary a process that stores memories: a path, a
// number for it and how many.
const writerArgs = "FERRULE_TEST_MEMORY_WRITER"

func TestMain(m *testing.M) {
	if args := os.Getenv(writerArgs); args != "" {
		if err := writeMany(strings.Split(args, "\n")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writeMany prints the number of each memory once it has been acknowledged, and
// the slowest call to standard error.
func writeMany(args []string) error {
	path := args[0]
	w, _ := strconv.Atoi(args[1])
	n, _ := strconv.Atoi(args[2])
	c, err := New(Config{Settings: DefaultSettings(), File: path})
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(uint64(w), 1))
	var worst time.Duration
	for i := range n {
		start := time.Now()
		out, err := c.Ingest(context.Background(), Memory{
			Scope: "p", Session: fmt.Sprint("w", w, "-", i/20), Source: fmt.Sprint(w, "/", i),
			Content: fmt.Sprintf("writer%dnote%d 部署脚本 修改 nginx 配置 %d deploy alpha%d", w, i, r.IntN(1000), r.IntN(5000)),
		})
		if err != nil {
			return err
		}
		if out[0].Status != Kept {
			return fmt.Errorf("%+v", out[0])
		}
		worst = max(worst, time.Since(start))
		fmt.Println(i)
	}
	fmt.Fprint(os.Stderr, worst.Milliseconds())
	return c.Close()
}

func writerProcess(t *testing.T, path string, w, n int) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s\n%d\n%d", writerArgs, path, w, n))
	return cmd
}

func nightly() bool { return os.Getenv("FERRULE_NIGHTLY") == "1" }

// Processes that start together on a file that is not there yet lose nothing.
// Case H097.
func TestProcessesTogether(t *testing.T) {
	t.Parallel()
	const processes = 6
	each := 25
	if nightly() {
		each = 500
	}
	path := filepath.Join(t.TempDir(), "m", "memory.db")
	var wg sync.WaitGroup
	start := time.Now()
	for w := range processes {
		wg.Go(func() {
			var told strings.Builder
			cmd := writerProcess(t, path, w, each)
			cmd.Stderr = &told
			if err := cmd.Run(); err != nil {
				t.Errorf("process %d: %v: %s", w, err, told.String())
			}
			t.Logf("process %d: slowest call %s ms", w, told.String())
		})
	}
	wg.Wait()
	t.Logf("%.0f a second", float64(processes*each)/time.Since(start).Seconds())
	c, _ := open(t, path)
	if n := len(list(t, c, Query{})); n != processes*each {
		t.Errorf("%d rows, want %d", n, processes*each)
	}
	for w := range processes {
		text := fmt.Sprintf("writer%dnote%d", w, each-1)
		if got := find(t, c, Query{Text: text, Limit: 50}); len(got) == 0 || !strings.HasPrefix(got[0], text+" ") {
			t.Errorf("%q found %.1q", text, got)
		}
	}
	sound(t, c)
}

// A process killed while it writes leaves a sound file, and nothing that it has
// acknowledged is lost.
func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	kills := 3
	if nightly() {
		kills = 60
	}
	path := filepath.Join(t.TempDir(), "memory.db")
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	acknowledged := 0
	for k := range kills {
		cmd := writerProcess(t, path, 100+k, 1_000_000)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for last := 1 + r.IntN(40); last > 0 && lines.Scan(); last-- {
			acknowledged++
		}
		delay := time.Duration(r.IntN(3000)) * time.Microsecond
		for end := time.Now().Add(delay); time.Now().Before(end); { // somewhere within a transaction
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			acknowledged++
		}
		cmd.Wait()
		c, _ := open(t, path)
		if n := len(list(t, c, Query{})); n < acknowledged {
			t.Fatalf("kill %d: %d rows, %d acknowledged", k, n, acknowledged)
		} else {
			acknowledged = n // the last one may have been stored without being told
		}
		sound(t, c)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d memories", kills, acknowledged)
}

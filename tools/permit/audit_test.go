package permit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// appendEnv makes the test binary a process that writes to the log in the folder it names.
const appendEnv = "FERRULE_TEST_APPEND"

const perWriter = 300

func appendMain() int {
	l, err := OpenAudit(os.Getenv(appendEnv))
	if err != nil {
		return 1
	}
	l.limit = 20_000
	for i := range perWriter {
		if l.Add(Entry{Session: fmt.Sprint(os.Getpid(), "-", i), Tool: "Read", Decision: "allow", Rule: strings.Repeat("x", i)}) != nil {
			return 2
		}
	}
	return 0
}

// Two processes and two goroutines write and turn the log over; no line is torn, and none written twice.
func TestAuditProcesses(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open cannot be given another name here")
	}
	state := filepath.Join(t.TempDir(), "state")
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^$")
			cmd.Env = append(os.Environ(), appendEnv+"="+state)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v %s", err, out)
			}
		})
	}
	l, err := OpenAudit(state)
	if err != nil {
		t.Fatal(err)
	}
	l.limit = 20_000
	for g := range 2 {
		wg.Go(func() {
			for i := range perWriter {
				if err := l.Add(Entry{Session: fmt.Sprint("here", g, "-", i), Tool: "Write", Decision: "ask"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for e, err := range Entries(state) {
		if err != nil || seen[e.Session] {
			t.Fatalf("%+v, %v", e, err)
		}
		seen[e.Session] = true
	}
	files, _ := filepath.Glob(filepath.Join(state, "*"))
	if len(files) < 2 || len(files) > keepLogs+3 || len(seen) < 100 {
		t.Errorf("%d entries in %d files: the log has to be turned over and capped", len(seen), len(files))
	}
	lines := 0
	for _, f := range files {
		fi := info(t, f)
		if fi.Mode().Perm() != 0o600 || fi.Size() > 3*20_000 {
			t.Errorf("%s: %v, %d bytes", f, fi.Mode(), fi.Size())
		}
		text, _ := os.ReadFile(f)
		lines += strings.Count(string(text), "\n")
	}
	if lines != len(seen) {
		t.Errorf("%d lines, %d entries", lines, len(seen))
	}
	if m := info(t, state).Mode().Perm(); m != 0o700 {
		t.Errorf("folder: %v", m)
	}
}

// Writers that do not know of one another do not overwrite one another.
func TestAuditTurns(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	var logs [2]*Audit
	for i := range logs {
		l, err := OpenAudit(state)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		logs[i] = l
	}
	for i := range 20 {
		if err := logs[i%2].Add(Entry{Tool: fmt.Sprint("T", i)}); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for e, err := range Entries(state) {
		if err != nil || e.Tool != fmt.Sprint("T", n) {
			t.Fatalf("%+v, %v at %d", e, err, n)
		}
		n++
	}
	if n != 20 {
		t.Errorf("%d entries", n)
	}
}

func TestAudit(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	for range Entries(filepath.Join(state, "nowhere")) {
		t.Error("an entry from nowhere")
	}
	var none *Audit
	if none.Add(Entry{}) != nil || none.Close() != nil {
		t.Error("a nil log has to be silent")
	}
	l, err := OpenAudit(state)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	root := folder(t)
	p := policy(t, Config{Roots: []Root{{Path: root}}, Rules: rules("deny Read(secret*)")})
	a := reading(filepath.Join(root, "secret-password"))
	if err := l.Add(EntryOf("s1", a, p.Decide(a))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(state, logName)
	text, _ := os.ReadFile(path)
	if s := string(text); strings.Contains(s, "password") || !strings.Contains(s, `"decision":"deny","rule":"Read(secret*) (--deny)"`) {
		t.Errorf("line: %s", s)
	}
	// A line that a crash cut off, and a log that somebody removed.
	f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	f.WriteString(`{"time":"2026-01-01T00:00:00Z","tool":"Re` + "\n{}\n[]\nnull\n")
	f.Close()
	count := func() (n int) {
		for e, err := range Entries(state) {
			if err != nil || e.Time.After(time.Now().Add(time.Minute)) {
				t.Errorf("%+v, %v", e, err)
			}
			n++
		}
		return n
	}
	if count() != 1 {
		t.Errorf("%d entries", count())
	}
	os.Remove(path)
	if err := l.Add(Entry{Tool: "Bash", Rule: strings.Repeat("é", 2000)}); err != nil || count() != 1 {
		t.Errorf("after the log was removed: %v, %d", err, count())
	}
	// S077: a link planted at the log's name leads nowhere.
	os.Remove(path)
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.Symlink(victim, path); err != nil {
		t.Skip(err)
	}
	if err := l.Add(Entry{Tool: "Bash"}); err == nil {
		t.Error("wrote through a link")
	}
	if _, err := os.Lstat(victim); err == nil {
		t.Error("the link was followed")
	}
}

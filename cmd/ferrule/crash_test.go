package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ferrule/mcpserver/mcpclient"
)

// A served is the built command at work as a process of its own, with the
// connection of its one client.
type served struct {
	*mcpclient.Conn
	cmd *exec.Cmd
	log bytes.Buffer
}

// serve starts the command in dir with its state in home.
func serve(t testing.TB, dir, home string, flags ...string) *served {
	t.Helper()
	return serveCommand(t, exec.Command(binary(t), append([]string{"-C", dir, "--toolsets", "+extra"}, flags...)...), home)
}

func serveCommand(t testing.TB, cmd *exec.Cmd, home string) *served {
	t.Helper()
	s := &served{cmd: cmd}
	cmd.Env = []string{"HOME=" + home, "FERRULE_HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	cmd.Stderr = &s.log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.Conn = mcpclient.New(in, out, nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := s.Initialize(ctx, "2025-06-18"); err != nil {
		s.kill()
		t.Fatalf("no handshake: %v\n%s", err, &s.log)
	}
	return s
}

// kill ends the process at once and waits for it.
func (s *served) kill() {
	s.cmd.Process.Kill()
	s.Conn.Close()
	s.cmd.Wait()
}

// close ends the input and waits for the process, which must end well.
func (s *served) close(t testing.TB) {
	t.Helper()
	s.Conn.Close()
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v\n%s", err, &s.log)
	}
}

// call returns the text of a result and whether the tool failed. An error is
// one of the connection.
func (s *served) call(ctx context.Context, tool string, args map[string]any) (text string, failed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	raw, err := json.Marshal(args)
	if err != nil {
		return "", false, err
	}
	res, err := s.Call(ctx, tool, raw)
	if err != nil {
		return "", false, err
	}
	for _, c := range res.Content {
		text += c.Text
	}
	return text, res.IsError, nil
}

// must makes a call that has to succeed.
func (s *served) must(t testing.TB, tool string, args map[string]any) string {
	t.Helper()
	text, failed, err := s.call(t.Context(), tool, args)
	if failed || err != nil {
		t.Fatalf("%s %.200v: %s %v", tool, args, text, err)
	}
	return text
}

// refuse makes a call that has to fail with a text that holds want.
func (s *served) refuse(t testing.TB, want, tool string, args map[string]any) {
	t.Helper()
	text, failed, err := s.call(t.Context(), tool, args)
	if !failed || err != nil || !strings.Contains(text, want) {
		t.Fatalf("%s %.200v: %s (failed %v, %v), want a failure that says %q", tool, args, text, failed, err, want)
	}
}

func nightly() bool { return os.Getenv("FERRULE_NIGHTLY") == "1" }

// temporary returns the temporary files of the tools below dir.
func temporary(t testing.TB, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), ".ferrule-") {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Every file of the crash test holds one version only: a first line with the
// number of lines behind it, each of which begins with the generation. A file
// that is torn mixes two, or has not as many lines as it says.
func generation(gen, lines int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "lines %d\n", lines)
	for range lines {
		fmt.Fprintf(&b, "@%d@ the quick brown fox jumps over the lazy dog, again and again and again\n", gen)
	}
	return b.String()
}

// whole returns the generation of a file and an error if it is torn.
func whole(path string) (gen int, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	var lines, n int
	for line := range bytes.Lines(data) {
		if n++; n == 1 {
			if _, err := fmt.Sscanf(string(line), "lines %d\n", &lines); err != nil {
				return 0, fmt.Errorf("%s begins with %q", path, line)
			}
			continue
		}
		var g int
		if _, err := fmt.Sscanf(string(line), "@%d@", &g); err != nil || n > 2 && g != gen || !bytes.HasSuffix(line, []byte("again\n")) {
			return 0, fmt.Errorf("%s is torn at line %d: %q after generation %d", path, n, line, gen)
		}
		gen = g
	}
	if n != lines+1 {
		return 0, fmt.Errorf("%s has %d lines, want %d", path, n-1, lines)
	}
	return gen, nil
}

// A writer changes one file as fast as it is answered.
type writer struct {
	name  string
	edits bool // by Edit, else by Write
	gen   int  // last generation that was acknowledged or found
	known bool // the file must be there
}

// TestKilled kills the server at random times while Edits and Writes of
// 100 kB to 1 MB are at work. No file may be torn or lost, none may hold less
// than what was acknowledged, and after a restart no temporary file and no
// open record of the history may be left. S041 S042
func TestKilled(t *testing.T) {
	wantKills, wantWrites := 60, 200
	if nightly() {
		wantKills, wantWrites = 300, 2000
	}
	dir, home := t.TempDir(), t.TempDir()
	writers := []*writer{{name: "e0", edits: true}, {name: "w0"}, {name: "e1", edits: true}}
	for i, w := range writers {
		if w.edits {
			put(t, filepath.Join(dir, w.name), generation(0, 1500+2000*i))
			w.known = true
		}
	}
	var writes atomic.Int64
	kills, left := 0, 0
	for ; !t.Failed() && (kills < wantKills || int(writes.Load()) < wantWrites); kills++ {
		left += life(t, dir, home, writers, &writes)
	}
	t.Logf("%d kills, %d writes; %d temporary files seen after a kill", kills, writes.Load(), left)
	s := serve(t, dir, home)
	s.must(t, "ListDir", nil)
	if names := temporary(t, dir); len(names) > 0 {
		t.Errorf("temporary files after the restart: %v", names)
	}
	s.close(t)
	settled(t, home)
}

// life is one server, from its start to its kill, and what is found then. It
// returns the number of temporary files.
func life(t *testing.T, dir, home string, writers []*writer, writes *atomic.Int64) int {
	s := serve(t, dir, home)
	begun := make(chan struct{})
	killed := make(chan struct{})
	var work sync.WaitGroup
	for _, w := range writers {
		if !w.edits { // Write over a file needs to have seen it; a new one is seen by writing it
			os.Remove(filepath.Join(dir, w.name))
			w.known = false
		}
		work.Go(func() { w.work(t, s, writes, begun, killed) })
	}
	for range 3 + rand.IntN(9) {
		select {
		case <-begun:
		case <-time.After(patience):
			t.Error("no write begins")
		}
	}
	time.Sleep(time.Duration(rand.Int64N(int64(20 * time.Millisecond)))) // waits for nothing: the kill comes at random
	close(killed)
	s.kill()
	work.Wait()
	for _, w := range writers {
		gen, err := whole(filepath.Join(dir, w.name))
		switch {
		case errors.Is(err, fs.ErrNotExist) && !w.known:
		case err != nil:
			t.Error(err)
		case gen < w.gen:
			t.Errorf("%s holds generation %d, %d was acknowledged", w.name, gen, w.gen)
		default:
			w.gen = gen
		}
	}
	return len(temporary(t, dir))
}

// size is the number of lines of a file of 100 kB to 1 MB, more often small.
func size() int {
	if rand.IntN(6) == 0 {
		return 4000 + rand.IntN(8500)
	}
	return 1300 + rand.IntN(2700)
}

// work changes the file until the connection ends.
func (w *writer) work(t *testing.T, s *served, writes *atomic.Int64, begun chan<- struct{}, killed <-chan struct{}) {
	call := func(tool string, args map[string]any) bool {
		args["file_path"] = w.name
		text, failed, err := s.call(t.Context(), tool, args)
		if failed {
			t.Errorf("%s of %s: %s", tool, w.name, text)
		}
		return err == nil && !failed
	}
	if w.edits && !call("Read", map[string]any{"limit": 2}) {
		return
	}
	for {
		select {
		case begun <- struct{}{}:
		case <-killed:
		}
		tool, args := "Write", map[string]any{"content": generation(w.gen+1, size())}
		if w.edits {
			tool, args = "Edit", map[string]any{
				"old_string": fmt.Sprintf("@%d@", w.gen), "new_string": fmt.Sprintf("@%d@", w.gen+1), "replace_all": true,
			}
		}
		if !call(tool, args) {
			return
		}
		w.gen++
		w.known = true
		writes.Add(1)
	}
}

// settled fails if the history has a record that was begun and not ended.
func settled(t *testing.T, home string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(home, "history", "*", "log.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("logs %v, %v", logs, err)
	}
	data, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]bool{}
	for line := range bytes.Lines(data) {
		var e struct{ T, ID string }
		if i := bytes.LastIndex(line, []byte(`{"t":"`)); i < 0 || json.Unmarshal(line[i:], &e) != nil {
			continue // cut off by a kill
		}
		if e.T == "begin" {
			open[e.ID] = true
		} else {
			delete(open, e.ID)
		}
	}
	if len(open) > 0 {
		t.Errorf("%d records of the history are open after the restart", len(open))
	}
	if names, err := os.ReadDir(filepath.Join(filepath.Dir(logs[0]), "alive")); err != nil || len(names) > 0 {
		t.Errorf("marks of processes that are gone: %v %v", names, err)
	}
}

func put(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

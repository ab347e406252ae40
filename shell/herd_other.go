//go:build !linux || portable

package shell

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// This is what can be done without a shepherd, with the means that every system has. What is missing:
//
//   - A process that leaves its process group (setsid) is lost: it survives the time limit, Stop and the session. On
//     Windows nothing but the shell itself is ended.
//   - When this process is killed, what it started lives on.
//   - The directory is told by a trap on EXIT. A command with such a trap of its own, one that executes another program
//     in its place, and one that is killed do not tell; the result says so.
//
// The build tag portable chooses these means on Linux, to test them.

// maxArg bounds the text of one argument, with room for the 32 KiB that Windows allows for all. A longer command goes
// through a file.
const maxArg = 24 << 10

// A herd starts trees. It is safe for concurrent use.
type herd struct {
	wg sync.WaitGroup

	mu     sync.Mutex // guards closed
	closed bool
}

// A tree is a shell and its process group.
type tree struct {
	cmd   *exec.Cmd
	files []string      // to remove at the end; the first is where the shell tells its directory
	end   ending        // complete once ended is closed
	ended chan struct{} // closed when the shell has ended
	gone  chan struct{} // closed when nobody of the group is left
}

// init has nothing to do: there is no sandbox here.
func (h *herd) init(Config) {}

// prepare has nothing to do: a shell starts as fast as it can.
func (h *herd) prepare() {}

func (h *herd) start(j job) (*tree, error) {
	t := &tree{ended: make(chan struct{}), gone: make(chan struct{})}
	dir, err := temporary("")
	if err != nil {
		return nil, err
	}
	t.files = append(t.files, dir)
	argv := []string{"-c", tellDir + `eval "set --; $1"`, j.shell.name(), j.text}
	env := append(j.env, "FERRULE_DIR="+dir)
	if len(j.text) > maxArg {
		script, err := temporary(j.text)
		if err != nil {
			t.clean()
			return nil, err
		}
		t.files = append(t.files, script)
		argv = []string{"-c", tellDir + `eval "set --; $(cat "$FERRULE_SCRIPT")"`, j.shell.name()}
		env = append(env, "FERRULE_SCRIPT="+script)
	}
	if j.shell.bash {
		argv = append([]string{"--norc", "--noprofile"}, argv...)
	}
	t.cmd = exec.Command(j.shell.path, argv...)
	t.cmd.Dir, t.cmd.Env = j.dir, env
	t.cmd.Stdin, t.cmd.Stdout, t.cmd.Stderr = j.stdin, j.stdout, j.stderr
	detach(t.cmd, j.tty)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		t.clean()
		return nil, errClosed
	}
	if err := t.cmd.Start(); err != nil {
		t.clean()
		return nil, fmt.Errorf("the shell could not be started: %v", err)
	}
	h.wg.Go(t.wait)
	return t, nil
}

func temporary(content string) (string, error) {
	f, err := os.CreateTemp("", "ferrule-")
	if err != nil {
		return "", fmt.Errorf("no command can be started: %v", err)
	}
	defer f.Close()
	if _, err := f.WriteString(content); err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("no command can be started: %v", err)
	}
	return f.Name(), nil
}

func (t *tree) clean() {
	for _, f := range t.files {
		os.Remove(f)
	}
}

// wait waits for the shell, then for its group.
func (t *tree) wait() {
	t.cmd.Wait()
	t.end = ending{code: t.cmd.ProcessState.ExitCode()}
	if ws, ok := t.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		t.end.signal = ws.Signal()
		t.end.code = 128 + int(ws.Signal())
	}
	dir, err := os.ReadFile(t.files[0])
	t.end.dir = strings.TrimSuffix(string(dir), "\n")
	t.end.lost = err != nil || len(bytes.TrimSpace(dir)) == 0
	t.clean()
	if groupAlive(t.cmd.Process) {
		t.end.left = []Process{{PID: t.cmd.Process.Pid, Name: "process group"}}
	}
	close(t.ended)
	for groupAlive(t.cmd.Process) { // nothing tells the end of a group
		time.Sleep(20 * time.Millisecond)
	}
	close(t.gone)
}

// stop ends the tree: politely, after grace (or as soon as hurry is closed) for good. It returns when the tree is gone.
func (t *tree) stop(grace time.Duration, hurry <-chan struct{}) {
	signalGroup(t.cmd.Process, syscall.SIGTERM)
	if within(t.gone, grace, hurry) {
		return
	}
	signalGroup(t.cmd.Process, syscall.SIGKILL)
	within(t.gone, 5*time.Second, nil)
}

// reader may always be a shell: nobody keeps a list of the shell's children.
func (t *tree) reader() Reader { return AnyShell }

func (h *herd) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.wg.Wait()
}

func newPipe(bool) (r, w *os.File, err error) {
	if r, w, err = os.Pipe(); err != nil {
		return nil, nil, fmt.Errorf("no command can be started: %v", err)
	}
	return r, w, nil
}

// pump reads to the end of the output.
func (s *stream) pump() {
	buf := s.buf
	for {
		n, err := s.r.Read(buf)
		if n > 0 {
			s.mu.Lock()
			s.use(buf[:n])
			s.mu.Unlock()
		}
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// drain has no way to read without waiting; the wait before it has to be enough.
func (s *stream) drain() {}

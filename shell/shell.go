// Package shell runs the commands of one session. Begin with [New], then [Shell.Run] and [Shell.Start].
//
// Every command is a new shell; the working directory is the only thing that one command leaves to the next. It promises:
//
//   - Nothing outlives the session. Whatever a command starts, and however it hides it, is ended with the command's time
//     limit, its task, the session, or the death of this process. Only what has gained other privileges (sudo) cannot be
//     ended by us.
//   - A call returns when its shell has ended. What the command has left running becomes a task that can be looked at
//     and stopped.
//   - Memory and disk stay bounded under any output; the beginning and the end of it are kept.
//   - No command waits for an answer that nobody can give: standard input is empty unless given, and there is no terminal.
//
// On Linux each command runs below a helper process, the shepherd, which is this program started once more: see
// shepherd_linux.go. Elsewhere process groups have to do, and what they cannot promise stands in herd_other.go.
//
// The package decides nothing about what may run, and does not word results for a model.
package shell

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Config is fixed for the life of a Shell.
type Config struct {
	// Roots returns the folders that the working directory must stay in, absolute; the first is where the session starts
	// and returns to. It is asked before and after each command and may be called concurrently.
	Roots func() []string

	// LogDir is the folder for raw output, made when the first file needs it and removed by Close. It must be this
	// session's own. Empty: a temporary folder.
	LogDir string

	// Env is what commands get after cleaning. Nil: what a login shell has, once it is known, and before that this
	// process's own. Login is the answer of the login shell, for several Shells; nil: this one asks by itself.
	Env     []string
	Login   *Login
	EnvPass []string // names of variables that are kept although they look like secrets

	// Sandbox returns what the helper of each command limits itself by, see confine; nil: no limits. It is asked before
	// each command and may be called concurrently.
	Sandbox func() []string

	MaxOutput int   // characters of cleaned output in one result; 0: 48,000
	MaxLog    int64 // bytes of raw output kept per stream, at least 64 KiB; 0: 16 MiB

	pace  pace // for tests
	noPen bool // likewise: no control groups
}

// pace holds the durations of a Shell; zero ones have the usual values.
type pace struct {
	grace    time.Duration // between asking and killing at a time limit or Stop
	hurry    time.Duration // the same when a call is cancelled
	leave    time.Duration // the same when the session ends
	progress time.Duration // between two calls of Command.Progress
	send     time.Duration // that a command may take to read what Send types
}

// maxTasks bounds the running tasks of a session.
const maxTasks = 32

// maxEnded bounds the ended tasks that are remembered.
const maxEnded = 1000

var errClosed = errors.New("the session has ended")

// A Shell runs the commands of a session. It is safe for concurrent use.
type Shell struct {
	cfg     Config
	env     *environment
	program shellProgram
	herd    herd
	logs    logDir
	wg      sync.WaitGroup // everything a task has going
	closing chan struct{}

	starting sync.Mutex // held while a task is added, so that the limit holds; taken before mu

	mu     sync.Mutex // guards what follows
	closed bool
	dir    string             // where the next command runs, inside a root, spelled like the root; "": the first root
	live   map[*task]struct{} // trees that are not gone, of tasks and calls
	tasks  []*task            // of the whole session, oldest first
	own    *Login             // to be closed
}

// New returns a Shell with the first command's helper on its way.
func New(c Config) (*Shell, error) {
	program, err := findShell()
	if err != nil {
		return nil, err
	}
	if c.Roots == nil || len(c.Roots()) == 0 {
		return nil, errors.New("a shell needs a project folder to run in")
	}
	var own *Login
	if c.Env == nil {
		c.Env = os.Environ()
		if c.Login == nil {
			own = AskLogin()
			c.Login = own
		}
	} else {
		c.Login = nil
	}
	if c.MaxOutput <= 0 {
		c.MaxOutput = 48_000
	}
	if c.MaxLog <= 0 {
		c.MaxLog = 16 << 20
	}
	c.MaxLog = max(c.MaxLog, 64<<10)
	c.pace = c.pace.complete()
	s := &Shell{cfg: c, env: newEnvironment(c), program: program, closing: make(chan struct{}), own: own,
		logs: logDir{path: c.LogDir, budget: logBudget}, live: map[*task]struct{}{}}
	s.herd.init(c)
	s.wg.Go(s.herd.prepare)
	return s, nil
}

func (p pace) complete() pace {
	for _, d := range []struct {
		value *time.Duration
		usual time.Duration
	}{
		{&p.grace, 2 * time.Second}, {&p.hurry, 500 * time.Millisecond}, {&p.leave, 200 * time.Millisecond},
		{&p.progress, time.Second}, {&p.send, 2 * time.Second},
	} {
		if *d.value == 0 {
			*d.value = d.usual
		}
	}
	return p
}

// Close ends everything that was started, waits until it is gone, and removes the logs. Calls that are under way return
// an error.
func (s *Shell) Close() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	var stops sync.WaitGroup
	for t := range s.live {
		stops.Go(func() { t.tree.stop(s.cfg.pace.leave, nil) })
	}
	s.mu.Unlock()
	stops.Wait()
	s.own.Close()
	s.herd.close()
	s.wg.Wait()
	return s.logs.close()
}

// A shellProgram is the shell that interprets commands.
type shellProgram struct {
	path string
	bash bool
}

// name is the shell's $0, which begins its error messages.
func (sh shellProgram) name() string {
	if sh.bash {
		return "bash"
	}
	return "sh"
}

// Name is the name of the shell that runs commands here, or "none".
func Name() string {
	sh, err := findShell()
	if err != nil {
		return "none"
	}
	return sh.name()
}

func findShell() (shellProgram, error) {
	for _, name := range []string{"/bin/bash", "bash"} {
		if path, err := exec.LookPath(name); err == nil {
			return shellProgram{path, true}, nil
		}
	}
	for _, name := range []string{"/bin/sh", "sh"} {
		if path, err := exec.LookPath(name); err == nil {
			return shellProgram{path, false}, nil
		}
	}
	return shellProgram{}, errors.New("there is no bash here; install it (on Windows Git for Windows brings one)")
}

// enter returns the directory for the next command, and a note if it is not where the last one ended.
func (s *Shell) enter() (dir, note string, err error) {
	roots := s.cfg.Roots()
	home := ""
	for _, r := range roots {
		if isDir(r) {
			home = r
			break
		}
	}
	if home == "" {
		return "", "", fmt.Errorf("the project folder %s is gone; make it again", strings.Join(roots, ", "))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.dir == "":
		s.dir = home
	case !isDir(s.dir):
		note = fmt.Sprintf("the working directory %s is gone; this ran in %s", s.dir, home)
		s.dir = home
	default:
		if _, ok := spell(roots, s.dir); !ok {
			note = fmt.Sprintf("the working directory %s is outside the project now; this ran in %s", s.dir, home)
			s.dir = home
		}
	}
	return s.dir, note, nil
}

// leave keeps the directory that a shell, started in from, has ended in, and returns where the next command will run,
// with a note if that is somewhere else. A command that did not change its directory leaves the session's alone, so that
// calls running side by side do not undo each other's cd.
func (s *Shell) leave(from string, e ending) (dir, note string) {
	roots := s.cfg.Roots()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case e.lost:
		return s.dir, fmt.Sprintf("the directory that the command ended in is not known; the next one runs in %s", s.dir)
	case len(roots) == 0: // all were taken away meanwhile; enter will tell
		return s.dir, ""
	case e.dir == "":
		s.dir = roots[0]
		return s.dir, fmt.Sprintf("the working directory is gone; the next command runs in %s", s.dir)
	}
	switch start, err := filepath.EvalSymlinks(from); {
	case err == nil && start == e.dir:
		return s.dir, ""
	}
	inside, ok := spell(roots, e.dir)
	if !ok {
		s.dir = roots[0]
		return s.dir, fmt.Sprintf("%s is outside the project; the next command runs in %s", e.dir, s.dir)
	}
	s.dir = inside
	return s.dir, ""
}

// spell returns dir as a path below the root it lies in, with the root written as it was given, so that a project known
// by a symbolic link keeps its name. It reports whether there is such a root.
func spell(roots []string, dir string) (string, bool) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", false
	}
	for _, root := range roots {
		r, err := filepath.EvalSymlinks(root)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(r, real); err == nil && filepath.IsLocal(rel) {
			return filepath.Join(root, rel), true
		}
	}
	return "", false
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// random returns n characters that nobody can guess.
func random(n int) string {
	return strings.ToLower(rand.Text()[:n])
}

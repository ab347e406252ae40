package shell

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// loginLimit is how long a login shell may take. A usual profile takes a third of a second.
const loginLimit = 10 * time.Second

// maxLogin bounds what is read of its answer.
const maxLogin = 4 << 20

// A Login is the environment that the user's profile files set, asked for once: a server that a desktop has started does
// not have the PATH that the user's terminal has. It may be used concurrently, and a nil Login knows nothing.
type Login struct {
	herd herd
	wg   sync.WaitGroup
	quit chan struct{}
	end  func()

	done chan struct{} // closed when env is final
	env  []string      // nil: there was no answer
}

// AskLogin starts a login shell and returns at once. The shell, and what it may start, such as an agent for keys, is
// ended by Close. One that does not answer within ten seconds is ended as well, and then nothing is known.
func AskLogin() *Login {
	l := &Login{quit: make(chan struct{}), done: make(chan struct{})}
	l.end = sync.OnceFunc(func() { close(l.quit) })
	l.wg.Go(l.ask)
	return l
}

// Close ends everything that was started and waits for it.
func (l *Login) Close() {
	if l != nil {
		l.end()
		l.wg.Wait()
		l.herd.close()
	}
}

// known reports whether there was an answer.
func (l *Login) known() bool {
	if l == nil {
		return false
	}
	select {
	case <-l.done:
		return l.env != nil
	default:
		return false
	}
}

// ask runs the login shell and stays until what it has started has ended.
func (l *Login) ask() {
	answered := sync.OnceFunc(func() { close(l.done) })
	defer answered()
	program, err := findShell()
	if err != nil || !program.bash || runtime.GOOS == "windows" { // where programs get their PATH from the system
		return
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return
	}
	defer null.Close()
	trash, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer trash.Close()
	r, w, err := newPipe(false)
	if err != nil {
		return
	}
	home, err := os.UserHomeDir()
	if err != nil || !isDir(home) {
		home = string(os.PathSeparator)
	}
	// What the profile prints comes before the mark; functions and aliases of its own do not come between.
	mark := random(20)
	text := "exec '" + program.path + "' -lc 'printf \"%s\\0\" " + mark + "; exec env -0'"
	tree, err := l.herd.start(job{shell: program, dir: home, env: environ(os.Environ(), nil), text: text,
		stdin: null, stdout: w, stderr: trash})
	w.Close()
	if err != nil {
		r.Close()
		return
	}
	answer := make(chan []byte, 1)
	l.wg.Go(func() {
		b, _ := io.ReadAll(io.LimitReader(r, maxLogin)) // what came before an error counts
		answer <- b
	})
	limit := time.NewTimer(loginLimit)
	defer limit.Stop()
	select {
	case <-tree.ended:
		r.SetReadDeadline(time.Now().Add(settleLimit)) // it is all there; somebody else may hold the pipe
		l.env = parseLogin(<-answer, mark)
		answered()
		select {
		case <-tree.gone:
		case <-l.quit:
			tree.stop(0, nil)
		}
	case <-limit.C:
		tree.stop(0, nil)
	case <-l.quit:
		tree.stop(0, nil)
	}
	r.Close()
}

// parseLogin returns the variables that stand after the mark, or nil if there are none. Those that a shell counts or
// sets for one command are left out.
func parseLogin(b []byte, mark string) []string {
	_, b, ok := bytes.Cut(b, []byte(mark+"\x00"))
	if !ok || !bytes.HasSuffix(b, []byte{0}) { // cut off
		return nil
	}
	env := strings.Split(string(b[:len(b)-1]), "\x00")
	return slices.DeleteFunc(env, func(kv string) bool {
		name, _, ok := strings.Cut(kv, "=")
		return !ok || name == "_" || name == "SHLVL"
	})
}

//go:build !portable

package shell

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxArg is below MAX_ARG_STRLEN (128 KiB), the limit of one argument. A longer command goes through a file in memory.
const maxArg = 100 << 10

// answerLimit is how long a shepherd may take to say that it has its order. It takes a millisecond; one that takes this
// long was stopped by somebody.
const answerLimit = 5 * time.Second

// A herd starts trees, each below a shepherd of its own, and keeps one shepherd ready so that its start costs nothing.
// It is safe for concurrent use.
type herd struct {
	wg sync.WaitGroup // one for each shepherd

	mu     sync.Mutex // guards what follows, and is held while a shepherd is started: two would make one too many
	spare  *tree
	closed bool

	limits func() []string // Config.Sandbox; nil: none
	group  func() string   // where control groups are made, "": nowhere; nil: none
}

// A tree is a shell and everything that came from it.
type tree struct {
	control *os.File
	cmd     *exec.Cmd // the shepherd
	mark    string    // in the environment of the tree
	limits  []string  // what the shepherd was told
	pen     *pen      // nil: none
	session int       // process id of the shell; read after gone only
	taken   chan struct{}
	end     ending        // complete once ended is closed
	ended   chan struct{} // closed when the shell has ended
	gone    chan struct{} // closed when nobody of the tree is left
}

// init says how the trees of a session are held. It comes before everything else.
func (h *herd) init(c Config) {
	h.limits = c.Sandbox
	if !c.noPen {
		h.group = sync.OnceValue(penParent)
	}
}

// prepare sees to it that a shepherd is ready.
func (h *herd) prepare() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.spare == nil {
		h.spare, _ = h.spawn() // the error comes again when a command needs one
	}
}

// spawn starts a shepherd. The caller holds h.mu.
func (h *herd) spawn() (*tree, error) {
	if h.closed {
		return nil, errClosed
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("no command can be started: %v", err)
	}
	unix.SetNonblock(fds[0], true)
	ours, theirs := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control")
	defer theirs.Close()
	cmd := exec.Command("/proc/self/exe") // right also when the file was replaced since
	t := &tree{control: ours, cmd: cmd, mark: "FERRULE_TREE=" + random(16), taken: make(chan struct{}),
		ended: make(chan struct{}), gone: make(chan struct{})}
	if h.limits != nil {
		t.limits = h.limits()
	}
	cmd.Args = append([]string{shepherdName}, t.limits...)
	cmd.Env = []string{"GOMAXPROCS=2"} // and nothing else: the helper has no secrets to show
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGCONT} // one that a command has stopped goes on to end its tree
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, fmt.Errorf("no command can be started: %v", err)
	}
	if h.group != nil && h.group() != "" {
		t.pen, _ = newPen(h.group()) // without one it goes on
	}
	h.wg.Go(func() {
		t.listen()
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.spare == t {
			h.spare = nil
		}
	})
	return t, nil
}

// start runs a job. A shepherd that dies before it has taken the order is replaced once; after that the command may
// have begun and is never begun again.
func (h *herd) start(j job) (*tree, error) {
	script, err := memoryFile(j.text)
	if err != nil {
		return nil, err
	}
	files := []*os.File{j.stdin, j.stdout, j.stderr}
	if script != nil {
		defer script.Close()
		files = append(files, script)
	}
	argv := j.shell.argv(j.text, script != nil)
	for range 2 {
		var t *tree
		if t, err = h.take(); err != nil {
			return nil, err
		}
		if err = t.order(j, argv, files); err == nil {
			return t, nil
		}
	}
	return nil, err
}

// take returns a shepherd without an order: the one that stands ready, or a new one if that is held to other limits.
func (h *herd) take() (*tree, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.spare
	h.spare = nil
	switch {
	case t == nil:
	case h.limits == nil || slices.Equal(t.limits, h.limits()):
		return t, nil
	default:
		t.control.Close()
	}
	return h.spawn()
}

// order hands the job to the shepherd and waits until it has it.
func (t *tree) order(j job, argv []string, files []*os.File) error {
	flags := ""
	if j.tty {
		flags += flagTTY
	}
	if t.pen != nil {
		flags += flagPen
		files = append(files[:len(files):len(files)], t.pen.dir, t.pen.kill)
	}
	fields := append([]string{j.dir, flags, strconv.Itoa(len(argv))}, argv...)
	fields = append(append(fields, j.env...), t.mark)
	t.control.SetWriteDeadline(time.Now().Add(answerLimit))
	err := send(t.control, frame(orderRun, fields...), files)
	if err == nil {
		timer := time.NewTimer(answerLimit)
		defer timer.Stop()
		select {
		case <-t.taken:
			return nil
		case <-t.gone:
		case <-timer.C:
		}
	}
	t.cmd.Process.Kill()
	<-t.gone
	select {
	case <-t.taken: // at the last moment
		return nil
	default:
		return errors.New("no command can be started: the helper process was killed before it could")
	}
}

// send writes b, and with its first byte the descriptors of files.
func send(control *os.File, b []byte, files []*os.File) error {
	rc, err := control.SyscallConn()
	if err != nil {
		return err
	}
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	var n int
	var failed error
	err = rc.Write(func(fd uintptr) bool {
		n, failed = unix.SendmsgN(int(fd), b, unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL)
		return failed != unix.EAGAIN && failed != unix.EINTR
	})
	if err = cmp.Or(err, failed); err != nil {
		return err
	}
	_, err = control.Write(b[n:])
	return err
}

// listen follows the reports of the shepherd to its end.
func (t *tree) listen() {
	over := false
	finish := func(e ending) {
		if !over {
			over = true
			t.end = e
			close(t.ended)
		}
	}
	for in := bufio.NewReader(t.control); ; {
		kind, fields, err := readFrame(in)
		if err != nil {
			break
		}
		switch {
		case kind == reportTaken:
			close(t.taken)
		case kind == reportStarted && len(fields) == 1:
			t.session, _ = strconv.Atoi(fields[0])
		case kind == reportError && len(fields) == 1:
			finish(ending{err: fmt.Errorf("the shell could not be started: %s", fields[0])})
		case kind == reportEnded && len(fields) >= 3:
			finish(parseEnding(fields))
		}
	}
	t.control.Close()
	if t.cmd.Wait() != nil && t.session > 0 { // it was killed and could not look after its tree
		t.pen.clear()
		slay(func() []proc { return strays(t.session, t.mark) }, 1000)
	}
	t.pen.remove()
	finish(ending{code: 128 + int(syscall.SIGKILL), signal: syscall.SIGKILL, lost: true})
	close(t.gone)
}

func parseEnding(fields []string) ending {
	code, _ := strconv.Atoi(fields[0])
	sig, _ := strconv.Atoi(fields[1])
	e := ending{code: code, signal: syscall.Signal(sig), dir: fields[2], lost: fields[2] == "?"}
	for left := range slices.Chunk(fields[3:], 2) {
		if len(left) == 2 {
			pid, _ := strconv.Atoi(left[0])
			e.left = append(e.left, Process{PID: pid, Name: left[1]})
		}
	}
	return e
}

func (t *tree) signal(sig syscall.Signal) {
	t.control.SetWriteDeadline(time.Now().Add(time.Second))
	t.control.Write(frame(orderSignal, strconv.Itoa(int(sig)))) // a shepherd that is gone needs no order
}

// stop ends the tree: politely, after grace (or as soon as hurry is closed) for good. It returns when the tree is gone.
// It may be called by several at once.
func (t *tree) stop(grace time.Duration, hurry <-chan struct{}) {
	t.signal(syscall.SIGTERM)
	if within(t.gone, grace, hurry) {
		return
	}
	t.signal(syscall.SIGKILL)
	if within(t.gone, 3*time.Second, nil) {
		return
	}
	t.cmd.Process.Kill() // it was stopped, and listen looks after the tree
	within(t.gone, 5*time.Second, nil)
}

// close ends the spare and waits for everybody. Trees that run must have been stopped.
func (h *herd) close() {
	h.mu.Lock()
	h.closed = true
	spare := h.spare
	h.mu.Unlock()
	if spare != nil {
		spare.control.Close()
		if !within(spare.gone, time.Second, nil) {
			spare.cmd.Process.Kill() // somebody has stopped it
		}
	}
	h.wg.Wait()
}

// memoryFile returns a file that holds a long command, or nil for a short one.
func memoryFile(text string) (*os.File, error) {
	if len(text) <= maxArg {
		return nil, nil
	}
	fd, err := unix.MemfdCreate("command", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("no room for a command of %d bytes: %v", len(text), err)
	}
	f := os.NewFile(uintptr(fd), "command")
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return nil, fmt.Errorf("no room for a command of %d bytes: %v", len(text), err)
	}
	return f, nil
}

// commandMark begins what the shell of a command is told.
const commandMark = `eval "set --;`

// argv returns the arguments that make the shell run text, or the file at descriptor 3 if long.
//
// Without the eval a shell with one simple command would execute it in its own place, and a set-uid program such as sudo
// gets no privilege in a process that shares its working directory with another.
func (sh shellProgram) argv(text string, long bool) []string {
	argv := []string{sh.path}
	if sh.bash {
		argv = append(argv, "--norc", "--noprofile")
	}
	switch {
	case !long:
		return append(argv, "-c", commandMark+` $1"`, sh.name(), text)
	case sh.bash:
		return append(argv, "-c", commandMark+` $(</proc/self/fd/3)" 3<&-`, sh.name())
	}
	return append(argv, "-c", commandMark+` $(cat /proc/self/fd/3)" 3<&-`, sh.name())
}

// newPipe returns a pipe with our end ready for polling and theirs as programs expect it, or the other way round if we
// write.
func newPipe(weWrite bool) (r, w *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, fmt.Errorf("no command can be started: %v", err)
	}
	ours := 0
	if weWrite {
		ours = 1
	}
	unix.SetNonblock(fds[ours], true)
	return os.NewFile(uintptr(fds[0]), "|0"), os.NewFile(uintptr(fds[1]), "|1"), nil
}

// pump reads to the end of the output.
func (s *stream) pump() {
	rc, err := s.r.SyscallConn()
	if err != nil {
		return
	}
	rc.Read(func(fd uintptr) bool {
		for s.readOnce(int(fd)) > 0 {
		}
		return s.over()
	})
}

// drain takes what the pipe holds now: when the shell has ended, this is all it wrote, whoever else still may write.
func (s *stream) drain() {
	rc, err := s.r.SyscallConn()
	if err != nil {
		return
	}
	rc.Control(func(fd uintptr) {
		for n := 0; n < 1<<20; { // no pipe of an ordinary user holds more
			k := s.readOnce(int(fd))
			if k <= 0 {
				return
			}
			n += k
		}
	})
}

// readOnce reads what there is without waiting. Pump and drain both call it: reading and using are one step.
func (s *stream) readOnce(fd int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.eof {
		return 0
	}
	n, err := unix.Read(fd, s.buf)
	for err == unix.EINTR {
		n, err = unix.Read(fd, s.buf)
	}
	if n <= 0 {
		s.eof = err != unix.EAGAIN
		return 0
	}
	s.use(s.buf[:n])
	return n
}

// over reports that the output has ended.
func (s *stream) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.eof
}

// reader tells whether a shell is in the tree, beside the one that runs its command and copies of that. A program that
// cannot be looked at counts as one.
func (t *tree) reader() Reader {
	reader := NoShell
	for _, p := range descendants(t.cmd.Process.Pid) {
		where := "/proc/" + strconv.Itoa(p.pid)
		line, err := os.ReadFile(where + "/cmdline")
		if err == nil && bytes.Contains(line, []byte(commandMark)) {
			continue
		}
		program, err := os.Readlink(where + "/exe")
		kind, is := shells[strings.TrimSuffix(filepath.Base(program), " (deleted)")]
		if is || err != nil && !errors.Is(err, os.ErrNotExist) {
			reader = min(reader, kind)
		}
	}
	return reader
}

// signalName returns the usual name of a signal.
func signalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return "signal " + strconv.Itoa(int(sig))
}

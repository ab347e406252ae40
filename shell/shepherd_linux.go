//go:build !portable

package shell

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// shepherdName is the argv[0] that makes this program a shepherd.
const shepherdName = "ferrule-shepherd"

// controlFd is the shepherd's end of the connection to the server.
const controlFd = 3

// init runs the shepherd and never returns if this process was started as one. It is an init function and not the first
// thing that main does because the packages of a large program take longer to set up than a shell takes to run: those
// that come after this one are never set up in a shepherd. No program that uses this package has to know.
func init() {
	if len(os.Args) > 0 && os.Args[0] == shepherdName {
		shepherd()
	}
}

// shepherd is the helper that each command runs below.
//
// It is a subreaper: whoever loses its parent becomes its child, setsid or not, so the whole tree is always below it,
// and the tree is gone exactly when it has no child left. It shares its working directory with the shell (CLONE_FS), so
// its own getcwd tells where the shell was at the end, however it ended. When the connection closes, because the server
// is done with it or dead, the tree dies. Its arguments say what the tree may do, see confine.
//
// It leaves by syscall.Exit, which runs no hooks: those of the race detector take a second.
func shepherd() {
	runtime.LockOSThread() // Pdeathsig is bound to the thread that forks
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	inheritNothing()
	s := &warden{control: os.NewFile(controlFd, "control")}
	refused := confine(os.Args[1:]) // now, not when the order comes: nobody waits for it yet
	in, files := s.receive()
	kind, order, err := readFrame(in)
	if err != nil || kind != orderRun {
		syscall.Exit(0)
	}
	s.send(reportTaken)
	pid, err := 0, refused
	if err == nil {
		pid, err = s.start(order, files)
	}
	for _, fd := range files { // from here on only the tree holds them
		if fd != s.pen {
			unix.Close(fd)
		}
	}
	if err != nil {
		s.send(reportError, err.Error())
		syscall.Exit(0)
	}
	s.send(reportStarted, strconv.Itoa(pid))
	go s.obey(in)
	s.reap(pid)
	syscall.Exit(0)
}

// inheritNothing keeps descriptors that whoever started the server left open from reaching commands.
func inheritNothing() {
	if unix.CloseRange(controlFd, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	d, err := os.ReadDir("/proc/self/fd") // before Linux 5.11
	if err != nil {
		unix.CloseOnExec(controlFd)
	}
	for _, e := range d {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd >= controlFd {
			unix.CloseOnExec(fd)
		}
	}
}

// A warden is the shepherd's side of the connection.
type warden struct {
	mu      sync.Mutex // one report at a time
	control *os.File
	apart   bool // the shell has a working directory of its own, after all
	pen     int  // descriptor of what kills the tree's control group; 0: it has none
}

// receive waits for the first bytes from the server, with which the descriptors of the command come.
func (s *warden) receive() (*bufio.Reader, []int) {
	buf, rights := make([]byte, 16<<10), make([]byte, unix.CmsgSpace(8*4))
	var n, got int
	err := error(unix.EINTR)
	for err == unix.EINTR {
		n, got, _, _, err = unix.Recvmsg(controlFd, buf, rights, unix.MSG_CMSG_CLOEXEC)
	}
	if err != nil || n == 0 {
		syscall.Exit(0)
	}
	var files []int
	msgs, _ := unix.ParseSocketControlMessage(rights[:got])
	for _, m := range msgs {
		fds, _ := unix.ParseUnixRights(&m)
		files = append(files, fds...)
	}
	return bufio.NewReader(io.MultiReader(bytes.NewReader(buf[:n]), s.control)), files
}

func (s *warden) send(kind byte, fields ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.control.Write(frame(kind, fields...)) // a server that is gone shows as the end of input
}

// obey sends signals to the tree as told. SIGKILL, and the end of the connection, mean everybody and for good; then
// reap finds no child and ends the process.
func (s *warden) obey(in *bufio.Reader) {
	below := func() []proc { return descendants(os.Getpid()) }
	for {
		kind, fields, err := readFrame(in)
		if err != nil {
			s.slay(below)
			syscall.Exit(1)
		}
		if kind != orderSignal || len(fields) != 1 {
			continue
		}
		n, _ := strconv.Atoi(fields[0])
		if sig := syscall.Signal(n); sig == syscall.SIGKILL {
			s.slay(below)
		} else {
			go ask(below, sig) // which must not hold up what comes next
		}
	}
}

// ask sends a signal to everybody, and in three further looks to those who were being born at the first one: their parent
// has obeyed, so they are our children now. What others start meanwhile, such as the cleaning up of a trap, is left alone.
func ask(below func() []proc, sig syscall.Signal) {
	asked := make(map[int]bool)
	for look := range 4 {
		for _, p := range below() {
			if !asked[p.pid] && (look == 0 || p.ppid == os.Getpid()) {
				syscall.Kill(p.pid, sig)
				asked[p.pid] = true
			}
		}
		time.Sleep(10 * time.Millisecond << look)
	}
}

func (s *warden) slay(below func() []proc) {
	if s.pen > 0 {
		unix.Write(s.pen, []byte("1")) // all at once, however fast they multiply; who has left the group is found below
	}
	slay(below, 20)
	harry()
}

// harry kills the children of this process until it has none, or gives up after two seconds. A program that does nothing
// but fork and leave is somebody else at each look at the whole process table; but each of them becomes our child, and
// to read who those are takes less time than a fork.
func harry() {
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		pids := childrenOf(os.Getpid())
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// reap reports the end of the shell and then waits for everybody it has left behind.
func (s *warden) reap(shell int) {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // ECHILD: nobody is left
			return
		case pid == shell:
			s.send(reportEnded, s.ended(ws)...)
		}
	}
}

// ended describes the end of the shell.
func (s *warden) ended(ws syscall.WaitStatus) []string {
	code, sig := ws.ExitStatus(), syscall.Signal(0)
	if ws.Signaled() {
		sig = ws.Signal()
		code = 128 + int(sig)
	}
	dir, buf := "", make([]byte, 4096)
	if s.apart {
		dir = "?"
	} else if n, err := unix.Getcwd(buf); err == nil && buf[0] == '/' {
		dir = string(bytes.TrimRight(buf[:n], "\x00"))
	}
	fields := []string{strconv.Itoa(code), strconv.Itoa(int(sig)), dir}
	// Looking through /proc costs more than a small command, so ask first whether there is anybody.
	pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
	for err == nil && pid > 0 {
		pid, err = syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
	}
	if err == nil {
		for _, p := range descendants(os.Getpid()) {
			fields = append(fields, strconv.Itoa(p.pid), p.name)
		}
	}
	return fields
}

// start runs the shell: order is dir, flags, number of arguments, arguments, environment, and files become its
// descriptors from 0 on.
func (s *warden) start(order []string, files []int) (int, error) {
	if len(order) < 3 {
		return 0, errFrame
	}
	dir, flags, rest := order[0], order[1], order[3:]
	n, err := strconv.Atoi(order[2])
	if err != nil || n < 1 || n > len(rest) {
		return 0, errFrame
	}
	attr := &syscall.ProcAttr{Dir: dir, Env: rest[n:], Sys: &syscall.SysProcAttr{
		Setsid: true, Cloneflags: unix.CLONE_FS, Pdeathsig: syscall.SIGKILL, Setctty: strings.Contains(flags, flagTTY),
	}}
	if k := len(files) - 2; strings.Contains(flags, flagPen) && k > 0 {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD, s.pen = true, files[k], files[k+1]
		files = files[:k]
	}
	if len(files) < 3 {
		return 0, errFrame
	}
	for _, fd := range files {
		attr.Files = append(attr.Files, uintptr(fd))
	}
	return s.fork(rest[:n], attr, syscall.ForkExec)
}

// fork starts the shell, if need be without what a kernel, or the container it runs in, refuses: the control group, then
// the shared working directory.
func (s *warden) fork(argv []string, attr *syscall.ProcAttr, exec func(string, []string, *syscall.ProcAttr) (int, error)) (int, error) {
	path := strings.Clone(argv[0])
	pid, err := exec(path, argv, attr)
	if err != nil && attr.Sys.UseCgroupFD {
		attr.Sys.UseCgroupFD, s.pen = false, 0
		pid, err = exec(path, argv, attr)
	}
	if err != nil {
		attr.Sys.Cloneflags, s.apart = 0, true
		pid, err = exec(path, argv, attr)
	}
	return pid, err
}

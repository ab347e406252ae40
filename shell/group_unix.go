//go:build unix && (!linux || portable)

package shell

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// tellDir makes the shell write its directory to a file at its end.
const tellDir = `trap 'pwd -P >"$FERRULE_DIR"' EXIT; `

// detach gives a command a session, and so a process group, of its own, and no terminal but its standard input if that is
// one.
func detach(cmd *exec.Cmd, tty bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: tty}
}

func signalGroup(p *os.Process, sig syscall.Signal) { syscall.Kill(-p.Pid, sig) }

func groupAlive(p *os.Process) bool { return syscall.Kill(-p.Pid, 0) == nil }

// signalName returns the usual name of a signal.
func signalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return "signal " + strconv.Itoa(int(sig))
}

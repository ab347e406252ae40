package shell

import (
	"os"
	"os/exec"
	"syscall"
)

// tellDir makes the shell write its directory to a file at its end, in the way of Windows.
const tellDir = `trap '(pwd -W || pwd) >"$FERRULE_DIR" 2>/dev/null' EXIT; `

// detach gives a command a process group of its own, so that Ctrl+C at the server's console is not for it.
func detach(cmd *exec.Cmd, _ bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// signalGroup ends the shell and nothing else: there are no signals, and no job object holds its children yet.
func signalGroup(p *os.Process, sig syscall.Signal) {
	if sig == syscall.SIGKILL {
		p.Kill()
	}
}

// groupAlive is false: nobody keeps a list of the shell's children.
func groupAlive(*os.Process) bool { return false }

// signalName returns the name of a signal, of which this system has none.
func signalName(sig syscall.Signal) string { return sig.String() }

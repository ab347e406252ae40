//go:build unix

package shell

import (
	"os/exec"
	"syscall"
)

// killGitGroup makes the end of c's context kill all that c started, too.
func killGitGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

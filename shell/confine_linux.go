//go:build !portable

package shell

import (
	"fmt"

	"golang.org/x/sys/unix"

	"ferrule/shell/internal/sandbox"
)

// confine is where a shepherd limits itself, and with itself all that comes from it, before it knows what it will run.
// limits are the words of Config.Sandbox; none mean no limit. An error means that no command may run.
func confine(limits []string) error {
	p, err := sandbox.Parse(limits)
	if err == nil {
		unix.FcntlInt(controlFd, unix.F_SETFD, 0) // if it goes on in another process, the connection goes along
		_, err = p.Apply()
		unix.CloseOnExec(controlFd)
	}
	if err != nil {
		return fmt.Errorf("the sandbox cannot be set up, and without it no command runs: %v", err)
	}
	return nil
}

package shell

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// HideMemory closes the memory and the environment of this process, where secrets may be, to other processes of the same
// user, such as the commands that it will run. It does not hold against root. Elsewhere than on Linux it does nothing.
func HideMemory() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("other processes of this user can read the memory of this one: %v", err)
	}
	return nil
}

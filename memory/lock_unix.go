//go:build unix

package memory

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes a lock on f that lasts until f is closed. It reports false if
// another process has it.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

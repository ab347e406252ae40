//go:build unix

package history

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock of an open file, which ends with the file or its process, or reports that another has it. A
// file system without such locks is taken as used by one process.
func tryLock(f *os.File) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil, errors.Is(err, errors.ErrUnsupported), errors.Is(err, unix.ENOLCK):
			return true, nil
		case err == unix.EINTR:
			continue
		case err == unix.EWOULDBLOCK:
			return false, nil
		}
		return false, err
	}
}

// syncDir flushes the names in a folder.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

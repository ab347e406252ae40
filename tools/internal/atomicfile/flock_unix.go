//go:build unix

package atomicfile

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// flock takes the advisory lock of an open file, which ends with the descriptor or its process. File systems that have
// no such locks count as unlocked.
func flock(ctx context.Context, fd int) error {
	return waitLock(ctx, func() bool {
		err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		return err != unix.EWOULDBLOCK && err != unix.EINTR
	})
}

// flockPatience bounds the wait for a lock of another process: a stranger sitting on it must not stop all work. Going
// on without it is safe against lost foreign saves, since what the exchange brings out is looked at in any case.
const flockPatience = 2 * time.Second

var errPatience = errors.New("out of patience")

// waitLock calls try, which reports whether the lock is taken, with growing pauses.
func waitLock(ctx context.Context, try func() bool) error {
	if try() {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, flockPatience, errPatience)
	defer cancel()
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			if context.Cause(ctx) == errPatience {
				return nil
			}
			return ctx.Err()
		}
		if try() {
			return nil
		}
	}
}

package atomicfile

import (
	"fmt"
	"os"
)

// rewrite turns the content of f from old into data without a second file. Whatever fails before the new content is
// complete, the old bytes are put back, and only if that fails, too, is the error ErrTorn. The order keeps the old
// content whole as long as the disk can still be full: reserve, write what lies beyond the old end, then the rest.
//
// complete reports whether f holds data; an error beside it comes from flushing.
func rewrite(sys system, f *os.File, old, data []byte, sync Sync) (complete bool, err error) {
	write := func(b []byte, at int) error {
		if len(b) == 0 {
			return nil
		}
		return sys.call("pwrite", func() error { _, err := f.WriteAt(b, int64(at)); return err })
	}
	truncate := func(n int) error {
		return sys.call("ftruncate", func() error { return f.Truncate(int64(n)) })
	}
	common := min(len(old), len(data))
	if err = sys.call("fallocate", func() error { return reserve(f, int64(len(data))) }); err != nil {
		// This gives back what was reserved beyond the end. If it cannot, the content is whole all the same.
		_ = truncate(len(old))
		return false, err
	}
	if err = write(data[common:], len(old)); err == nil {
		err = write(data[:common], 0)
	}
	if err == nil && len(data) < len(old) {
		err = truncate(len(data))
	}
	if err != nil {
		back := write(old, 0)
		if back == nil {
			back = truncate(len(old))
		}
		if back != nil {
			return false, fmt.Errorf("%w: %w", ErrTorn, err)
		}
		return false, err
	}
	if sync != SyncNone {
		err = sys.call("fsync", f.Sync)
	}
	return true, err
}

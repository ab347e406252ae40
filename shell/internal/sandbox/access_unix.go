//go:build !windows

package sandbox

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// mayChange reports whether this process could make, change or remove what is at a path. What it could not even read is
// closed for other reasons than writing.
func mayChange(path string) bool {
	if _, err := os.Lstat(path); err == nil && unix.Access(path, unix.R_OK) != nil {
		return false
	}
	return unix.Access(path, unix.W_OK) == nil || unix.Access(filepath.Dir(path), unix.W_OK) == nil
}

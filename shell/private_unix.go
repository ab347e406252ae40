//go:build unix

package shell

import "os"

// private reports that nobody but its owner can enter a folder.
func private(fi os.FileInfo) bool { return fi.Mode().Perm()&0o077 == 0 }

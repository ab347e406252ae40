//go:build !linux && !darwin

package atomicfile

import "io/fs"

// statOf knows neither inode nor change time nor the number of names: a hard link is split by a replacement here.
func statOf(fi fs.FileInfo) (st Stamp, names uint64) {
	return Stamp{Size: fi.Size(), MTime: fi.ModTime().UnixNano()}, 1
}

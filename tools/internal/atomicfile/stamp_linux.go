package atomicfile

import (
	"io/fs"
	"syscall"
)

// statOf returns the stamp and the number of names of a file.
func statOf(fi fs.FileInfo) (st Stamp, names uint64) {
	s, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return Stamp{Size: fi.Size(), MTime: fi.ModTime().UnixNano()}, 1
	}
	return Stamp{Dev: s.Dev, Ino: s.Ino, Size: s.Size, MTime: s.Mtim.Nano(), CTime: s.Ctim.Nano()}, uint64(s.Nlink)
}

package clients

import (
	"io/fs"
	"os"
)

// names returns 1: a file with several names is rare here and not told by
// FileInfo.
func names(fs.FileInfo) uint64 { return 1 }

// chown does nothing: a new file inherits its rights from the folder.
func chown(*os.File, fs.FileInfo) error { return nil }

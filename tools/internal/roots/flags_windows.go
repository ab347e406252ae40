package roots

import "os"

// Opening a file never waits on Windows once device names are refused, and folders open like files.
const (
	readFlags = os.O_RDONLY
	dirFlags  = os.O_RDONLY
)

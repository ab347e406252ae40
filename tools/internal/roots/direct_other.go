//go:build !linux || portable

package roots

import (
	"errors"
	"io/fs"
	"os"
)

// Other systems than Linux have no call that follows a whole path and refuses links, so there the walk is always step
// by step, and a link that is swapped in afterwards is noticed only in the last component; os.Root still keeps it
// inside the root. On Linux the tag portable chooses this file, so that it can be tested there.

func openDirect(*os.File, string, int) (*os.File, error) { return nil, errors.ErrUnsupported }

func statDirect(*os.File, string) (fs.FileInfo, error) { return nil, errors.ErrUnsupported }

func lstatDirect(*os.File, string) (fs.FileInfo, error) { return nil, errors.ErrUnsupported }

//go:build !linux || portable

package search

import (
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// tree opens the files below a directory. It holds the directory open, so the search stays in the tree that was listed
// when directories above are moved or replaced by links. It may be used concurrently.
//
// These are the means that every system has: they cost a few calls more for each file, and a link within the tree that
// is put in a file's place between the look and the open is followed, though not out of the tree.
type tree struct{ root *os.Root }

func openTree(dir string) (*tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &tree{root}, nil
}

func (t *tree) close() { t.root.Close() }

// handle is an open regular file.
type handle struct {
	file     *os.File
	size     int64
	modified time.Time
}

// open opens a regular file; it never waits for a pipe. name is relative, with slashes.
func (t *tree) open(name string) (handle, error) {
	name = filepath.FromSlash(name)
	fi, err := t.root.Lstat(name)
	if err != nil {
		return handle{}, err
	}
	if !fi.Mode().IsRegular() {
		return handle{}, errNotRegular
	}
	f, err := t.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return handle{}, err
	}
	fi, err = f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		f.Close()
		return handle{}, err
	}
	return handle{f, fi.Size(), fi.ModTime()}, nil
}

// read fills b from the file and returns io.EOF at its end.
func (h handle) read(b []byte) (int, error) { return h.file.Read(b) }

func (h handle) close() { h.file.Close() }

//go:build !linux || portable

package walk

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// openFlags are none: a file is looked at before it is opened, and a pipe put in its place meanwhile may block.
const openFlags = 0

// dir is an open directory, by the means that every system has: a root that what lies in it is opened through. It costs
// a second open for each directory, and one that is replaced by a link to its neighbour just before it is opened may be
// listed twice. The tag portable builds it on Linux, too, for its tests.
type dir struct{ root *os.Root }

func openDir(path string) (dir, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return dir{}, err
	}
	if !info.IsDir() {
		return dir{}, &os.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	root, err := os.OpenRoot(path)
	return dir{root}, err
}

// sub opens a directory in d.
func (d dir) sub(name string) (dir, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return dir{}, err
	}
	if !info.IsDir() {
		return dir{}, syscall.ENOTDIR
	}
	root, err := d.root.OpenRoot(name)
	return dir{root}, err
}

func (d dir) close() { d.root.Close() }

// entries lists the directory in no order.
func (d dir) entries() ([]entry, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	var out []entry
	for _, e := range list {
		k := odd
		switch t := e.Type(); {
		case t.IsRegular():
			k = regular
		case t.IsDir():
			k = directory
		case t&fs.ModeSymlink != 0:
			k = link
		}
		out = append(out, entry{e.Name(), k})
	}
	return out, err
}

// modified is a regular file's time; false when there is no such file any more.
func (d dir) modified(name string) (time.Time, bool) {
	info, err := d.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return time.Time{}, false
	}
	return info.ModTime(), true
}

// rules returns what maxRuleFile allows of a regular file in d, or nil.
func (d dir) rules(name string) []byte {
	if info, err := d.root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	return readSome(f)
}

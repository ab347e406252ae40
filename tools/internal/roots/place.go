package roots

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// waitEmpty is how long reading a file of size 0 may wait in all.
const waitEmpty = 900 * time.Millisecond

// Place is where a name leads, as Resolve saw it. It is a value and stays usable until the Set is closed, but what
// stands there may change at any time: what counts is the file that is opened.
type Place struct {
	Given    string      // the name as it was given; a separator at its end says that a folder is meant
	Path     string      // absolute, clean, without links; one path for a file however it was spelled
	Root     *os.Root    // the root it lies in, to work at Rel through descriptors
	Rel      string      // name below Root, "." for the root itself; it holds no link and no ".."
	ReadOnly bool        // the root is one that must not be changed; the caller has to obey
	Links    []Link      // the links that were followed, in order
	Info     fs.FileInfo // what stands there, never a link; nil if there is nothing
	Note     string      // what the reader must be told about the root, else ""; each change of a root is told once

	held *held
}

// Link is a link that was followed.
type Link struct {
	Name   string // where it stands, shown as by Set.Display
	Target string // what it holds
}

// Open opens the place for reading if it is a regular file, and never waits for a FIFO or a device: those, folders and
// sockets are a KindError. If nothing stands there, the error is fs.ErrNotExist. A link that was put in the way since
// Resolve is an error.
//
// A file of size 0 may be one that the kernel makes up and that has nothing to give yet (/proc/kmsg); reading it fails
// with os.ErrDeadlineExceeded 900 ms after Open instead of waiting.
func (p Place) Open() (*os.File, error) {
	// What is known to be special is not even opened: opening some devices does something.
	if p.Info != nil && !p.Info.Mode().IsRegular() {
		return nil, &KindError{Given: p.Given, Kind: kindOf(p.Info.Mode())}
	}
	f, err := openDirect(p.held.dir, p.Rel, readFlags)
	if errors.Is(err, errors.ErrUnsupported) {
		f, err = p.openPortable(readFlags)
	}
	if err != nil {
		if fi, e := p.Root.Lstat(p.Rel); e == nil && fi.Mode()&fs.ModeSocket != 0 {
			return nil, &KindError{Given: p.Given, Kind: "socket"} // cannot be opened
		}
		return nil, explain(p.Given, err)
	}
	fi, err := f.Stat()
	switch {
	case err != nil:
		err = explain(p.Given, err)
	case !fi.Mode().IsRegular():
		err = &KindError{Given: p.Given, Kind: kindOf(fi.Mode())}
	case fi.Size() == 0:
		_ = f.SetReadDeadline(time.Now().Add(waitEmpty)) // ordinary files have no deadline and never wait
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

// OpenDir opens the place for listing if it is a folder; anything else is a KindError. The entries' Info is taken
// through the descriptor, so it cannot lead outside either.
func (p Place) OpenDir() (*os.File, error) {
	if p.Info != nil && !p.Info.IsDir() {
		return nil, &KindError{Given: p.Given, Kind: kindOf(p.Info.Mode()), dir: true}
	}
	// Always by os.Root: only files that come from it take the Info of their entries from the descriptor.
	f, err := p.openPortable(dirFlags)
	if err == nil {
		return f, nil
	}
	if fi, e := p.Root.Lstat(p.Rel); e == nil && !fi.IsDir() && !isLink(fi.Mode()) {
		return nil, &KindError{Given: p.Given, Kind: kindOf(fi.Mode()), dir: true}
	}
	return nil, explain(p.Given, err)
}

// openPortable opens through os.Root, which follows links inside the root, and then makes sure that none was followed.
// Where the system cannot do that in one step, only a link in the last component is noticed.
func (p Place) openPortable(flags int) (*os.File, error) {
	f, err := p.Root.OpenFile(p.Rel, flags, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil {
		var named fs.FileInfo
		named, err = statDirect(p.held.dir, p.Rel)
		if errors.Is(err, errors.ErrUnsupported) {
			named, err = p.Root.Lstat(p.Rel)
		}
		if err == nil && !os.SameFile(opened, named) {
			err = errLink
		}
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

package roots

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"
)

var (
	// ErrOutside is what every OutsideError is, for errors.Is.
	ErrOutside = errors.New("outside the workspace")
	// ErrNoRoot is returned by Resolve when there is no writable root.
	ErrNoRoot = errors.New("there is no workspace folder, so no path can be used; the user has to name one")

	// errLink is the cause when a link stands where a moment ago was none.
	errLink = errors.New("replaced by a link")
)

// OutsideError is returned for a name that leads out of the roots.
type OutsideError struct {
	Given  string // the name as it was given
	Link   string // the last link that was followed, shown as by Set.Display; empty if there was none
	Target string // what that link holds
	Path   string // absolute path, outside, to which the name leads; further links in it are not resolved
}

func (e *OutsideError) Error() string {
	if e.Link != "" {
		return fmt.Sprintf("%s leads outside the workspace: %s is a link to %s", Quoted(e.Given), Quoted(e.Link),
			Quoted(e.Target))
	}
	if e.Path != e.Given {
		return fmt.Sprintf("%s leads outside the workspace, to %s", Quoted(e.Given), Quoted(e.Path))
	}
	return Quoted(e.Given) + " leads outside the workspace"
}

// Is makes it an ErrOutside.
func (e *OutsideError) Is(target error) bool { return target == ErrOutside }

// KindError is returned where a regular file is needed and the name is something else, or a folder is needed and it is
// none.
type KindError struct {
	Given string // the name as it was given
	Part  string // the part of it that is of the wrong kind, shown as by Set.Display; empty if it is the whole
	Kind  string // "directory", "file", "FIFO", "socket", "device"
	dir   bool   // a directory was needed
}

func (e *KindError) Error() string {
	want := "a file"
	switch {
	case e.dir:
		want = "a directory"
	case e.Kind != "directory":
		want = "a regular file"
	}
	if e.Part != "" {
		return fmt.Sprintf("%s cannot exist: %s is a %s, not %s", Quoted(e.Given), Quoted(e.Part), e.Kind, want)
	}
	return fmt.Sprintf("%s is a %s, not %s", Quoted(e.Given), e.Kind, want)
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "directory"
	case m.IsRegular():
		return "file"
	case m&fs.ModeNamedPipe != 0:
		return "FIFO"
	case m&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

// failure is a sentence with its cause, for errors.Is.
type failure struct {
	text string
	err  error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.err }

// explain says in a sentence what an operation on the given name met. The cause stays within reach of errors.Is.
func explain(given string, err error) error {
	name := Quoted(given)
	var text string
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text = name + " does not exist"
	case errors.Is(err, fs.ErrPermission):
		text = "permission is denied for " + name + ", or for a folder on the way to it"
	case errors.Is(err, errLink):
		text = name + " changed while it was looked at; try again"
	case errors.Is(err, fs.ErrClosed):
		text = name + " cannot be used any more: the workspace was closed or replaced"
	case errors.Is(err, syscall.ENAMETOOLONG):
		text = name + " holds a name that is too long for the file system"
	default:
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = path.Err
		} else if call, ok := errors.AsType[*os.SyscallError](err); ok {
			err = call.Err
		}
		text = name + ": " + err.Error()
	}
	return &failure{text, err}
}

// Quoted returns the name as it is if every character of it can be seen or is a plain blank, else in quotes with those
// that cannot be seen escaped: control and format characters, other blanks, bytes that are not UTF-8.
func Quoted(name string) string {
	hidden := func(r rune) bool { return !strconv.IsPrint(r) }
	if name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, hidden) {
		return strconv.Quote(name)
	}
	return name
}

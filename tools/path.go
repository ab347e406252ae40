package tools

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"ferrule/tools/internal/roots"
)

var errNoRoot = errors.New("no project folder is set: start ferrule in a project's directory or with --root DIR")

// Every path of every tool comes through here. The errors are for the model.

// What a refusal says about the way to have a path outside of the workspace.
const (
	toRead   = "to allow it, start ferrule with --read-dir DIR (to read there) or --add-dir DIR (to change it, too)"
	toChange = "to let files be changed there, start ferrule with --add-dir DIR"
)

// resolve returns the place that a path leads to. It need not exist. way is
// what to do if it lies outside.
func (s *Session) resolve(name, way string) (roots.Place, error) {
	if path, ok := strings.CutPrefix(name, "file://"); ok {
		return roots.Place{}, fmt.Errorf("%s is a URL; give the path itself, such as %s", printable(name), printable(path))
	}
	p, err := s.roots.Resolve(name)
	if p.Note != "" {
		s.mu.Lock()
		s.notes = append(s.notes, p.Note)
		s.mu.Unlock()
	}
	switch {
	case errors.Is(err, roots.ErrNoRoot):
		return p, errNoRoot
	case errors.Is(err, roots.ErrOutside):
		if own, ok := s.ownLog(name); ok {
			return own, nil
		}
		return p, fmt.Errorf("%w; %s", err, way)
	case err == nil && p.Info == nil && strings.HasPrefix(name, `"`):
		if plain, err := strconv.Unquote(name); err == nil { // the form in which such a name is shown
			if q, err := s.resolve(plain, way); err == nil && q.Info != nil {
				return q, nil
			}
		}
	}
	return p, err
}

// ownLog returns the place of a file that this session's commands have left
// output in. It lies outside of the workspace, and results name it.
func (s *Session) ownLog(name string) (roots.Place, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logs == nil && s.sh != nil {
		s.logs, _ = roots.Open([]string{s.logDir()}, nil) // not there yet: no output was left
	}
	if s.logs == nil {
		return roots.Place{}, false
	}
	p, err := s.logs.Resolve(name)
	p.ReadOnly = true
	return p, err == nil
}

// existing returns the place of a path that must exist.
func (s *Session) existing(name string) (roots.Place, error) {
	p, err := s.resolve(name, toRead)
	if err == nil && p.Info == nil {
		err = s.missing(p)
	}
	return p, err
}

// file returns the place of a path that must be a regular file.
func (s *Session) file(name string) (roots.Place, error) {
	p, err := s.existing(name)
	if err != nil {
		return p, err
	}
	return p, regular(p.Info, name)
}

// directory returns the place of a path that must be a directory; "" stands
// for the first root.
func (s *Session) directory(name string) (roots.Place, error) {
	p, err := s.existing(orHere(name))
	if err != nil {
		return p, err
	}
	return p, folder(p.Info, name)
}

// orHere is the path of the first root for a model that gave none.
func orHere(name string) string { return cmp.Or(name, ".") }

// folder returns an error that says what name is, unless a directory.
func folder(fi fs.FileInfo, name string) error {
	switch {
	case fi.IsDir():
		return nil
	case fi.Mode().IsRegular():
		return fmt.Errorf("%s is not a directory; use Read to see a file", printable(name))
	}
	return fmt.Errorf("%s is not a directory", printable(name))
}

// writable returns the place of a path that may be written: a regular file or
// one that does not exist yet.
func (s *Session) writable(name string) (roots.Place, error) {
	p, err := s.resolve(name, toChange)
	if err != nil {
		return p, err
	}
	return p, writable(p, name)
}

// writable returns an error that says why a place cannot be written, if so.
func writable(p roots.Place, name string) error {
	switch {
	case p.ReadOnly:
		return fmt.Errorf("%s is in a directory that may only be read; start ferrule with --add-dir DIR to change files there", printable(name))
	case p.Info != nil:
		if err := regular(p.Info, name); err != nil {
			return err
		}
		return permitted(p)
	case namesDirectory(name):
		return fmt.Errorf("%s names a directory, which does not exist; give the path of a file", printable(name))
	}
	return nil
}

// permitted returns an error unless the user we run as may write the file.
// Replacing it would need no such right, only one on the folder.
func permitted(p roots.Place) error {
	flag := os.O_WRONLY
	if runtime.GOOS != "windows" {
		flag |= syscall.O_NONBLOCK // a FIFO put there meanwhile must not hold us
	}
	f, err := p.Root.OpenFile(p.Rel, flag, 0)
	if err == nil {
		return f.Close()
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s may not be written by this user (its mode is %v); change the mode with Bash if that is wanted", printable(p.Given), p.Info.Mode())
	}
	return nil // what else is wrong shows when it is written
}

// namesDirectory reports whether a path can only mean a directory, as the
// kernel has it: it ends in a separator, "." or "..".
func namesDirectory(name string) bool {
	name = filepath.ToSlash(name)
	switch name[strings.LastIndexByte(name, '/')+1:] {
	case "", ".", "..":
		return true
	}
	return false
}

// missing is the error for a place where nothing is, with what may have been
// meant.
func (s *Session) missing(p roots.Place) error {
	text := printable(p.Given) + " does not exist"
	if s.isLink(p) {
		return fmt.Errorf("%s: it is a link to %s, where nothing is", text, s.shown(p.Path))
	}
	if at := s.inShellDir(p.Given); at != "" {
		return fmt.Errorf("%s in the workspace folder, where relative paths start; the shell stands elsewhere and has %s", text, printable(at))
	}
	if near := roots.Near(p, 3); len(near) > 0 {
		for i := range near {
			near[i] = s.shown(near[i])
		}
		text += "; there is " + strings.Join(near, ", ")
	}
	return errors.New(text)
}

// regular returns an error that says what name is, unless a regular file.
func regular(fi fs.FileInfo, name string) error {
	name = printable(name)
	switch m := fi.Mode(); {
	case m.IsRegular():
		return nil
	case m.IsDir():
		return fmt.Errorf("%s is a directory; use Glob to list the files in it", name)
	case m&fs.ModeNamedPipe != 0:
		return fmt.Errorf("%s is a FIFO, not a regular file", name)
	case m&fs.ModeSocket != 0:
		return fmt.Errorf("%s is a socket, not a regular file", name)
	default:
		return fmt.Errorf("%s is a device, not a regular file", name)
	}
}

// shown is the absolute path of a place as a result shows it: short, and on
// one line.
func (s *Session) shown(path string) string { return printable(s.roots.Display(path)) }

// standsIn records where the shell stands.
func (s *Session) standsIn(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dir = dir
}

// inShellDir returns the full path of what a relative path leads to from where
// the shell stands, "" if nothing is there.
func (s *Session) inShellDir(name string) string {
	s.mu.Lock()
	dir := s.dir
	s.mu.Unlock()
	if dir == "" || filepath.IsAbs(name) {
		return ""
	}
	p, err := s.roots.Resolve(dir + string(filepath.Separator) + name)
	if err != nil || p.Info == nil {
		return ""
	}
	return p.Path
}

// rootNotes tells once what has become of the roots.
func (s *Session) rootNotes() (notes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.notes {
		notes = append(notes, "("+n+")")
	}
	s.notes = nil
	return notes
}

// followed tells what must be known of the way to a place: the links on it,
// and what has become of the roots. It is empty in the ordinary case.
func (s *Session) followed(p roots.Place) string {
	var notes []string
	kind := "file"
	if p.Info != nil && p.Info.IsDir() {
		kind = "directory"
	}
	switch {
	case s.isLink(p):
		notes = append(notes, fmt.Sprintf("(%s is a link; the %s is %s)", printable(p.Given), kind, s.shown(p.Path)))
	case len(p.Links) > 0:
		notes = append(notes, fmt.Sprintf("(%s goes through a link; the %s is %s)", printable(p.Given), kind, s.shown(p.Path)))
	}
	return strings.Join(append(notes, s.rootNotes()...), "\n")
}

// isLink reports whether the path as given is itself a link, as far as its
// spelling shows.
func (s *Session) isLink(p roots.Place) bool {
	if len(p.Links) == 0 {
		return false
	}
	given := p.Given
	if !filepath.IsAbs(given) {
		given = filepath.Join(s.roots.First(), given)
	}
	return s.roots.Display(filepath.Clean(given)) == p.Links[0].Name
}

// rootOf returns the path of the root that holds the place.
func rootOf(p roots.Place) string {
	if p.Rel == "." {
		return p.Path
	}
	return filepath.Clean(strings.TrimSuffix(p.Path, p.Rel))
}

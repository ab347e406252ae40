package roots

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

const (
	maxLinks = 40       // as the kernel
	maxName  = 16 << 10 // bytes; four times what the kernel takes at once
)

// Resolve finds out where a name leads: an absolute one, one that begins with "~/", or one relative to the first root.
// The place need not exist. Every error is a sentence that names the path as it was given; OutsideError, KindError
// (part of the way is no folder), ErrNoRoot, fs.ErrPermission and syscall.ELOOP can be told apart.
//
// A ".." takes back a component that does not exist just as one that does.
func (s *Set) Resolve(name string) (Place, error) {
	if s.first == nil {
		return Place{}, ErrNoRoot
	}
	full, err := s.expand(name)
	if err != nil {
		return Place{}, err
	}
	start, rest := s.first, []string(nil)
	if !filepath.IsAbs(full) {
		if rooted(full) {
			return Place{}, &OutsideError{Given: name, Path: full}
		}
		rest = split(full)
	} else if start, rest = s.locate(full); start == nil {
		return Place{}, s.outside(name, full)
	}
	if err := checkBelow(name, rest); err != nil {
		return Place{}, err
	}
	w := &walk{set: s, given: name}
	if err := w.enter(start); err != nil {
		return Place{}, err
	}
	for !w.direct(rest) {
		if rest, err = w.follow(rest); err != nil {
			return Place{}, err
		}
	}
	return w.place(), nil
}

// expand refuses what can be no name and puts in the home folder.
func (s *Set) expand(name string) (string, error) {
	switch {
	case name == "":
		return "", errors.New(`the path is empty; "." stands for the workspace folder`)
	case strings.IndexByte(name, 0) >= 0:
		return "", fmt.Errorf("%q holds a NUL character, which no file name can have", name)
	case len(name) > maxName:
		return "", fmt.Errorf("the path that begins with %s is %d bytes long; %d are allowed", Quoted(name[:64]),
			len(name), maxName)
	case name != "~" && (len(name) < 2 || name[0] != '~' || !os.IsPathSeparator(name[1])):
		return name, nil
	case s.home == "":
		return "", fmt.Errorf("%s cannot be used because the home folder is not known; give the full path", Quoted(name))
	}
	return s.home + name[1:], nil
}

// outside is the error for an absolute name that begins with no root. On Windows a name that is no name comes first.
func (s *Set) outside(given, full string) error {
	if runtime.GOOS == "windows" {
		if err := CheckWindowsName(full); err != nil {
			return err
		}
	}
	return &OutsideError{Given: given, Path: filepath.Clean(full)}
}

// rooted says of a name that is not absolute that it is not relative either: "\x" and "C:x" on Windows.
func rooted(name string) bool {
	return name != "" && os.IsPathSeparator(name[0]) || filepath.VolumeName(name) != ""
}

// checkBelow applies the rules of Windows to the part of a name below a root. The root's own path is the user's choice
// and may well hold a short name.
func checkBelow(given string, rest []string) error {
	if runtime.GOOS != "windows" {
		return nil
	}
	if err := CheckWindowsName(strings.Join(rest, `\`)); err != nil {
		return fmt.Errorf("%s cannot be used: %w", Quoted(given), err)
	}
	return nil
}

// walk is the state of one Resolve: a root, a name below it without links, and what stands there.
type walk struct {
	set   *Set
	given string
	root  *root
	held  *held
	rel   string
	info  fs.FileInfo // nil if there is nothing under this name
	links []Link
	notes []string
}

// enter puts the walk at the top of a root.
func (w *walk) enter(r *root) error {
	h, note := r.current()
	if h == nil {
		return explain(w.given, fs.ErrClosed)
	}
	if note != "" {
		w.notes = append(w.notes, note)
	}
	w.root, w.held, w.rel, w.info = r, h, ".", h.info
	return nil
}

// direct takes all of the way that is left in one system call, if there is no link on it and no other root in it; else
// it reports false and the way has to be followed.
func (w *walk) direct(rest []string) bool {
	if len(rest) == 0 {
		return true
	}
	if w.root.nested {
		return false
	}
	const sep = string(filepath.Separator)
	raw := w.rel + sep + strings.Join(rest, sep)
	rel := filepath.Clean(raw)
	turns := slices.Contains(rest, "..")
	fi, err := statDirect(w.held.dir, raw)
	if errors.Is(err, fs.ErrNotExist) && !turns {
		// The kernel came without meeting a link to the first component that is missing; the rest is missing too.
		w.rel, w.info = rel, nil
		return true
	}
	if err != nil {
		return false
	}
	w.rel, w.info = rel, fi
	return true
}

// follow goes the way component by component to its end or past the next link, and returns what is left of it.
func (w *walk) follow(rest []string) ([]string, error) {
	for len(rest) > 0 {
		c := rest[0]
		rest = rest[1:]
		if w.info != nil && !w.info.IsDir() {
			return nil, &KindError{Given: w.given, Part: w.set.Display(w.path()), Kind: kindOf(w.info.Mode()), dir: true}
		}
		switch {
		case c == "" || c == ".":
			continue
		case c == "..":
			if err := w.up(rest); err != nil {
				return nil, err
			}
			continue
		}
		l, err := w.down(c)
		if err != nil {
			return nil, err
		}
		if l.Name != "" {
			return w.jump(l, rest)
		}
	}
	return nil, nil
}

// up goes to the parent, which may lie in an outer root.
func (w *walk) up(rest []string) error {
	if w.rel != "." {
		w.rel = filepath.Dir(w.rel)
		fi, err := w.held.lstat(w.rel)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			fi = nil
		case err != nil:
			return explain(w.given, err)
		case isLink(fi.Mode()):
			return explain(w.given, errLink)
		}
		w.info = fi
		return nil
	}
	parent := filepath.Dir(w.root.real)
	r, rel := w.set.around(parent) // the parent of the file system's top is the top
	if r == nil {
		return w.escaped(parent, rest)
	}
	if err := w.enter(r); err != nil {
		return err
	}
	if w.rel = rel; rel == "." {
		return nil
	}
	fi, err := w.held.lstat(rel)
	if err != nil {
		return explain(w.given, err)
	}
	w.info = fi
	return nil
}

// down goes to the component c. If that is a link, the walk stays where it is, and down returns the link.
func (w *walk) down(c string) (l Link, err error) {
	next := filepath.Join(w.rel, c)
	fi, err := w.held.lstat(next)
	if errors.Is(err, fs.ErrNotExist) {
		w.rel, w.info = next, nil
		return l, nil
	}
	if err != nil {
		return l, explain(w.given, err)
	}
	if isLink(fi.Mode()) {
		target, err := w.held.root.Readlink(next)
		if err == nil {
			return Link{Name: w.set.Display(filepath.Join(w.root.real, next)), Target: target}, nil
		}
		if fi.Mode()&fs.ModeSymlink != 0 {
			return l, explain(w.given, err)
		}
	}
	if fi.IsDir() {
		if r := w.set.at(fi, w.root); r != nil {
			return l, w.enter(r)
		}
	}
	w.rel, w.info = next, fi
	return l, nil
}

// isLink says that what stands under a name may be a link. Windows reports its junctions as irregular.
func isLink(m fs.FileMode) bool { return m&(fs.ModeSymlink|fs.ModeIrregular) != 0 }

// jump puts what a link holds in front of the rest of the way.
func (w *walk) jump(l Link, rest []string) ([]string, error) {
	if w.links = append(w.links, l); len(w.links) > maxLinks {
		return nil, &failure{fmt.Sprintf("%s goes through more than %d links; one of them leads back to itself",
			Quoted(w.given), maxLinks), syscall.ELOOP}
	}
	if !filepath.IsAbs(l.Target) {
		if rooted(l.Target) {
			return nil, w.escaped(l.Target, rest)
		}
		return append(split(l.Target), rest...), nil
	}
	r, head := w.set.locate(l.Target)
	if r == nil {
		return nil, w.escaped(l.Target, rest)
	}
	if err := w.enter(r); err != nil {
		return nil, err
	}
	return append(head, rest...), nil
}

// escaped is the error for a walk that came to the folder outside and had the rest still to go.
func (w *walk) escaped(outside string, rest []string) error {
	e := &OutsideError{Given: w.given, Path: filepath.Join(outside, filepath.Join(rest...))}
	if len(w.links) > 0 {
		last := w.links[len(w.links)-1]
		e.Link, e.Target = last.Name, last.Target
	}
	return e
}

func (w *walk) path() string { return filepath.Join(w.root.real, w.rel) }

func (w *walk) place() Place {
	return Place{
		Given: w.given, Path: w.path(), Root: w.held.root, Rel: w.rel, ReadOnly: w.root.readOnly,
		Links: w.links, Info: w.info, Note: strings.Join(w.notes, "; "), held: w.held,
	}
}

// Package roots confines names of files to a few folders, the roots. It is the one place that decides where a name
// leads and whether that is inside; nothing else may open a file by a name that came from outside the program.
//
// Begin at Open, which holds the roots, and Set.Resolve, which turns a name into a Place: a root, a relative name below
// it that holds no link, and what was followed on the way. Everything after that goes through descriptors: reading
// through Place.Open and Place.OpenDir, changing through Place.Root with Place.Rel. Whoever swaps a folder for a link
// between the two gets an error, never a file outside.
//
// Resolve walks as the kernel does: component by component, a link replaced by what it holds, ".." after a link the
// parent of its target. It differs in four ways. The walk may at no moment stand outside of every root, so a link
// that leaves and comes back is refused. An absolute name or link must begin with the path of a root, as it was given
// or as it really is. Components that do not exist are kept, so that a new file is checked like an old one. And only
// the text of a link counts, so the links of /proc lead where they say and not where the kernel would jump.
//
// The package knows nothing of rules, of protected names or of who may be asked; it cannot tell a hard link to a file
// outside from a file inside; and it crosses mount points.
package roots

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Set is the roots of one session. It may be used by several goroutines at once.
type Set struct {
	roots []*root // the writable ones first; those given twice stand here once
	first *root   // nil if there is no writable root
	home  string  // what "~" stands for; empty if unknown
}

// Dir describes a root.
type Dir struct {
	Path     string // real path: absolute, clean, without links
	ReadOnly bool
}

// Open holds the given folders as roots. Each name is made absolute and its links are resolved once, here. Roots may
// nest; the innermost one answers for a name. A folder in both lists is writable. With no writable folder the Set is
// valid, but every Resolve fails with ErrNoRoot.
func Open(writable, readOnly []string) (*Set, error) {
	s := &Set{}
	if home, err := os.UserHomeDir(); err == nil {
		s.home = home
	}
	for i, name := range slices.Concat(writable, readOnly) {
		if err := s.add(name, i >= len(writable)); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	if len(writable) > 0 {
		s.first = s.roots[0]
	}
	for _, r := range s.roots {
		r.nested = slices.ContainsFunc(s.roots, func(o *root) bool {
			_, ok := r.below(o.real)
			return ok && o != r
		})
	}
	return s, nil
}

func (s *Set) add(name string, readOnly bool) error {
	r, err := openRoot(name, readOnly)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(s.roots, func(o *root) bool { return o.real == r.real })
	if i < 0 {
		s.roots = append(s.roots, r)
		return nil
	}
	known := s.roots[i]
	known.aliases = append(known.aliases, r.aliases...)
	known.spellings = append(known.spellings, r.spellings...)
	return r.close()
}

// Close lets the roots go. Files opened from them stay open.
func (s *Set) Close() error {
	var err error
	for _, r := range s.roots {
		err = errors.Join(err, r.close())
	}
	return err
}

// First returns the real path of the first writable root, or "" if there is none.
func (s *Set) First() string {
	if s.first == nil {
		return ""
	}
	return s.first.real
}

// Dirs lists the roots, the writable ones first, each in the order given.
func (s *Set) Dirs() []Dir {
	dirs := make([]Dir, len(s.roots))
	for i, r := range s.roots {
		dirs[i] = Dir{Path: r.real, ReadOnly: r.readOnly}
	}
	return dirs
}

// Display shortens an absolute path for showing: relative to the first root when it lies inside, "." for that root
// itself, else as it is. It has slashes on every system, and Resolve accepts it.
func (s *Set) Display(abs string) string {
	if s.first != nil {
		if rel, ok := s.first.below(abs); ok {
			abs = rel
		}
	}
	if strings.HasPrefix(abs, "~") {
		abs = "./" + abs // a file of that name, not the home folder
	}
	return filepath.ToSlash(abs)
}

// locate finds the root whose path begins the absolute name, as it was given or as it really is, and the components
// that are left. The longest such path wins.
func (s *Set) locate(abs string) (found *root, rest []string) {
	all := parts(abs)
	best := -1
	for _, r := range s.roots {
		for _, spelling := range r.spellings {
			if left, ok := cut(all, spelling); ok && len(spelling) > best {
				found, rest, best = r, left, len(spelling)
			}
		}
	}
	return found, rest
}

// around finds the innermost root that holds the real path abs, and the name below it.
func (s *Set) around(abs string) (found *root, rel string) {
	for _, r := range s.roots {
		if below, ok := r.below(abs); ok && (found == nil || len(r.real) > len(found.real)) {
			found, rel = r, below
		}
	}
	return found, rel
}

// at returns the other root that is the folder fi, if any. Comparing the folder and not its name also finds it where
// the file system takes two names for one, as most on macOS and Windows do.
func (s *Set) at(fi fs.FileInfo, here *root) *root {
	for _, r := range s.roots {
		if r != here && r.is(fi) {
			return r
		}
	}
	return nil
}

// split cuts a name at its separators. Empty components stay: one at the end says that a folder is meant.
func split(name string) []string { return strings.Split(filepath.ToSlash(name), "/") }

// parts cuts an absolute name into its volume, on Windows, and its components.
func parts(abs string) []string {
	vol := filepath.VolumeName(abs)
	all := split(abs[len(vol):])
	if vol != "" {
		all = slices.Insert(all, 0, vol)
	}
	return all
}

// cut takes the components of prefix off name, component by component, so that /w/fs is no prefix of /w/fsx.
func cut(name, prefix []string) (rest []string, ok bool) {
	for len(prefix) > 0 {
		if len(name) == 0 {
			return nil, false
		}
		if name[0] != "" && name[0] != "." {
			if !sameName(name[0], prefix[0]) {
				return nil, false
			}
			prefix = prefix[1:]
		}
		name = name[1:]
	}
	return name, true
}

// sameName compares components of a root's path. Only Windows is known to take two cases for one name everywhere.
func sameName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

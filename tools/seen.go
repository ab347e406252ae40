package tools

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"ferrule/tools/internal/atomicfile"
)

// seen is the record of what the model was shown of each file. It decides
// whether a file may be changed: content decides, never time.
type seen struct {
	mu    sync.Mutex        // guards files
	files map[string]record // by resolved path
}

// A record says which version of a file was shown, and which lines of it.
type record struct {
	stamp  atomicfile.Stamp
	total  int       // lines of that version
	lines  []span    // that were shown: in order, apart from each other
	told   time.Time // time of the last change of the file that was told
	writes int       // changes that the model made
}

// A span is a run of lines, both ends included.
type span struct{ first, last int }

func (r record) whole() bool {
	return r.total == 0 || len(r.lines) == 1 && r.lines[0] == span{1, r.total}
}

// writes returns how often the model has changed a file, which a read must
// know from before it looks at it.
func (s *seen) writes(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[path].writes
}

// shown records that lines of a version were shown. Lines of another version
// no longer count. A page without lines shows nothing, unless the file has
// none. If the model has changed the file since the read began, which writes
// tells, the read may be of the version before and does not count.
func (s *seen) shown(path string, stamp atomicfile.Stamp, total int, lines span, writes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.files[path]
	if r.stamp.Sum != stamp.Sum && r.writes != writes || lines.last < lines.first && total > 0 {
		return
	}
	switch {
	case r.stamp.Sum != stamp.Sum:
		r = record{total: total, writes: writes}
	case r.whole(): // in whatever unit: nothing can be added
		lines = span{1, 0}
	case r.total != total: // counted in another unit before: lines, now cells
		r.total, r.lines = total, nil
	}
	r.stamp = stamp
	r.lines = merge(r.lines, lines)
	s.files[path] = r
}

// written records a version that the model made itself. All of it counts as
// seen if whole is set or all of the version before did.
func (s *seen) written(path string, stamp atomicfile.Stamp, total int, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.files[path]
	r := record{stamp: stamp, total: total, writes: before.writes + 1}
	if whole || known && before.whole() {
		r.lines = []span{{1, total}}
	}
	s.files[path] = r
}

func (s *seen) forget(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, path)
}

// check returns an error, fit for the model, unless this version of the file
// was shown; with whole, unless all of it was. name is how to call the file.
func (s *seen) check(path, name string, stamp atomicfile.Stamp, whole bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.files[path]
	switch {
	case !ok:
		return fmt.Errorf("%s has not been read in this session; use Read first", name)
	case r.stamp.Sum != stamp.Sum:
		return fmt.Errorf("%s has changed since it was read; read it again", name)
	case whole && !r.whole():
		return fmt.Errorf("only a part of %s has been read; read the rest before writing over it, or use Edit", name)
	}
	return nil
}

func merge(spans []span, add span) []span {
	if add.last < add.first {
		return spans
	}
	spans = append(slices.Clone(spans), add)
	slices.SortFunc(spans, func(a, b span) int { return a.first - b.first })
	out := spans[:1]
	for _, x := range spans[1:] {
		if last := &out[len(out)-1]; x.first <= last.last+1 {
			last.last = max(last.last, x.last)
		} else {
			out = append(out, x)
		}
	}
	return out
}

// knows reports whether any version of the file was shown.
func (s *seen) knows(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.files[path]
	return ok
}

// changed returns the paths of files that look different from what was shown.
// It is only a hint, from stat alone, and tells each change once.
func (s *seen) changed() (paths []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, r := range s.files {
		fi, err := os.Lstat(path)
		if err != nil || atomicfile.StampOf(fi).SameStat(r.stamp) || fi.ModTime().Equal(r.told) {
			continue
		}
		r.told = fi.ModTime()
		s.files[path] = r
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths[:min(len(paths), 10)]
}

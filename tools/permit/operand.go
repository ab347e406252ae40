package permit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ferrule/tools/internal/command"
)

// What a command that only reads is given is judged as Read would judge it. A named file that Read may not show is
// refused. A folder that is read with all that is in it is looked through for such a file.

const (
	maxOperands = 2000   // files that one command may be given
	maxBelow    = 50_000 // files and folders that are looked through; 20,000 take 30 ms
	maxIndex    = 64 << 20
)

// operands judges what commands read, except for what those read that an allow rule names: it answers for everything but
// what is denied by name.
func (p *Policy) operands(f *finding, a *Access, v *command.Verdict) {
	left := maxOperands
	for i := range v.Reads {
		o := &v.Reads[i]
		o.Named = o.Named || f.allow != nil && v.Decision != command.Allow
		unclear := func(why string) {
			if !o.Named && (f.reads || v.Decision == command.Allow) && f.must(nil, isUnknown) {
				f.what = why
			}
		}
		if o.Dynamic {
			unclear("what " + o.Name + " names is only known when it runs")
			continue
		}
		paths, ok := []string{p.at(a.Dir, o.Name)}, true
		switch {
		case o.Top:
			p.ofGit(f, a, o)
			continue
		case o.Pattern:
			paths, ok = expand(paths[0], left)
		}
		if left -= len(paths); !ok || left < 0 {
			unclear("too many files are named to look at each")
			return
		}
		for _, path := range paths {
			if o.Revision && !exists(path) {
				p.ofGit(f, a, &command.Operand{Deep: true, Tracked: true, Named: o.Named})
				continue
			}
			p.operand(f, a, o, path)
		}
	}
}

// operand judges one path.
func (p *Policy) operand(f *finding, a *Access, o *command.Operand, path string) {
	given := o.Name
	if o.Pattern {
		given = path
	}
	file := &Access{Tool: a.Tool, Kind: ReadPath, Given: given, Path: resolve(path)}
	if inside := p.readable(file.Path); inside && !o.Deep && (p.plain && !p.nearState || o.Pattern && isFolder(file.Path)) {
		return // of a folder that a pattern has caught, names are shown at most
	}
	p.touch(f, file, path, "reads", o.Named)
	if o.Deep && !o.Named && file.Info != nil && file.Info.IsDir() && f.denied == none {
		p.below(f, file, o)
	}
}

// ofGit judges what git shows that is named from the top of its working tree.
func (p *Policy) ofGit(f *finding, a *Access, o *command.Operand) {
	top := gitTop(a.Dir)
	switch {
	case o.Name != "":
		if top == "" {
			top = a.Dir
		}
		p.operand(f, a, o, filepath.Join(top, filepath.FromSlash(o.Name)))
	case top != "" && !o.Named:
		p.below(f, &Access{Tool: a.Tool, Kind: ReadPath, Given: top, Path: top}, o)
	}
}

// below looks in a folder for what may not be read.
func (p *Policy) below(f *finding, folder *Access, o *command.Operand) {
	hides := p.Hides(folder.Path)
	if hides == nil && !o.Follows {
		return
	}
	known := func(string, bool) bool { return true }
	if o.Tracked {
		known = tracked(folder.Path)
	}
	seen := 0
	walk := func(path string, d fs.DirEntry, err error) error {
		if seen++; seen > maxBelow {
			p.hitBelow(f, folder, path, isUncounted)
			return fs.SkipAll
		}
		if err != nil || path == folder.Path {
			return nil // what cannot be read is not shown by the command either
		}
		if hides != nil && hides(path, d.IsDir()) && known(path, d.IsDir()) {
			p.hitBelow(f, folder, path, isBelow)
			return fs.SkipAll
		}
		if o.Follows && d.Type()&fs.ModeSymlink != 0 && !p.followed(path, hides) {
			p.hitBelow(f, folder, path, isLinked)
			return fs.SkipAll
		}
		return nil
	}
	if filepath.WalkDir(folder.Path, walk) != nil {
		return // walk returns no error of its own
	}
}

// hitBelow notes that a folder holds something that is not read unasked.
func (p *Policy) hitBelow(f *finding, folder *Access, path string, c cause) {
	n := p.namesOf(&Access{Path: path})
	rule := hit(p.deny.read, &n)
	if rule == nil {
		rule = hit(p.ask.read, &n)
	}
	if c != isBelow {
		rule = nil
	}
	if f.must(rule, c) {
		f.what, f.target, f.verb = path, folder, "reads everything in"
	}
}

// followed reports whether a link leads to a file of the workspace that may be read.
func (p *Policy) followed(path string, hides func(string, bool) bool) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true // it leads nowhere
	}
	fi, err := os.Stat(real)
	return err == nil && !fi.IsDir() && p.readable(real) && (hides == nil || !hides(real, false))
}

// at is where a name in a command leads, seen from the folder where the shell stands. It is not cleaned.
func (p *Policy) at(dir, name string) string {
	switch {
	case name == "~" || strings.HasPrefix(name, "~/"):
		return p.cfg.Home + name[1:]
	case filepath.IsAbs(name):
		return name
	}
	return dir + string(filepath.Separator) + filepath.FromSlash(name)
}

func isFolder(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.IsDir()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// resolve replaces the links of a path as far as it exists, as the system would: .. behind a link is the parent of what
// the link leads to.
func resolve(path string) string {
	for end := len(path); end > 0; {
		if real, err := filepath.EvalSymlinks(path[:end]); err == nil {
			return filepath.Join(real, path[end:])
		}
		for end--; end > 0 && !os.IsPathSeparator(path[end]); end-- {
		}
	}
	return filepath.Clean(path)
}

// expand returns the files that a pattern stands for in bash, and some more where it says less: what may have been quoted
// counts as not quoted. It reports whether it has found at most limit.
func expand(pattern string, limit int) (paths []string, ok bool) {
	pattern = filepath.ToSlash(pattern)
	paths = []string{""}
	if vol := filepath.VolumeName(pattern); vol != "" {
		paths, pattern = []string{vol}, pattern[len(vol):]
	}
	for c := range strings.SplitSeq(strings.TrimPrefix(pattern, "/"), "/") {
		var next []string
		for _, base := range paths {
			if !strings.ContainsAny(c, special) {
				next = append(next, base+"/"+c)
				continue
			}
			names, err := os.ReadDir(base + "/")
			if err != nil {
				continue // then bash finds nothing either
			}
			for _, e := range names {
				if globbed(c, e.Name()) {
					next = append(next, base+"/"+e.Name())
				}
			}
			if len(next) > limit {
				return nil, false
			}
		}
		paths = next
	}
	return paths, true
}

// globbed reports whether a component of a pattern may take a name.
func globbed(pattern, name string) bool {
	if name[0] == '.' && pattern[0] != '.' {
		return false
	}
	if strings.ContainsAny(pattern, `[\`) {
		return true
	}
	c := component{kind: isPattern, text: pattern}
	return c.takes(name)
}

// gitTop is the folder at or above dir that has a .git; "" if there is none.
func gitTop(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, ".git")) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// tracked returns what tells whether git knows a file, or one in a folder: the index holds every path in full. In doubt
// it knows all.
func tracked(dir string) func(path string, isDir bool) bool {
	top := gitTop(dir)
	index, err := readIndex(top)
	if top == "" || errors.Is(err, fs.ErrNotExist) {
		return func(string, bool) bool { return false }
	}
	if err != nil {
		return func(string, bool) bool { return true }
	}
	return func(path string, isDir bool) bool {
		rel, err := filepath.Rel(top, path)
		end := "\x00"
		if isDir {
			end = "/"
		}
		return err != nil || bytes.Contains(index, []byte(filepath.ToSlash(rel)+end))
	}
}

var errIndex = errors.New("the index is of a kind that does not hold all paths in full")

// readIndex reads the index of a repository.
func readIndex(top string) ([]byte, error) {
	dir := filepath.Join(top, ".git")
	if named := gitFile(dir); named != "" {
		if dir = named; !filepath.IsAbs(named) {
			dir = filepath.Join(top, named)
		}
	}
	if parts, _ := filepath.Glob(filepath.Join(dir, "sharedindex.*")); len(parts) > 0 { // the only error is one of the pattern
		return nil, errIndex
	}
	name := filepath.Join(dir, "index")
	fi, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > maxIndex {
		return nil, errIndex
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if len(data) < 8 || binary.BigEndian.Uint32(data[4:]) > 3 { // from 4 on, paths are shortened
		return nil, errIndex
	}
	return data, nil
}

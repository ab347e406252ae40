package permit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// names are the absolute slash paths that a file goes by, the resolved one first. Deny and ask rules are asked about
// each of them, folded.
type names struct {
	path    string
	folded  []string
	inRoots bool
	isDir   bool
	info    os.FileInfo
}

func (p *Policy) namesOf(a *Access) names {
	n := names{path: slashed(a.Path), info: a.Info, isDir: a.Info != nil && a.Info.IsDir(), inRoots: inAny(a.Path, p.cfg.Roots)}
	add := func(abs string) {
		if f := fold(slashed(abs)); !slices.Contains(n.folded, f) {
			n.folded = append(n.folded, f)
		}
	}
	add(a.Path)
	if a.Given != "" {
		add(p.abs(a.Given))
	}
	for _, alias := range a.Aliases {
		add(p.abs(alias))
	}
	return n
}

// abs is a name as the model may write it, made absolute by its letters alone.
func (p *Policy) abs(name string) string {
	switch {
	case name == "~" || strings.HasPrefix(name, "~/"):
		return filepath.Join(p.cfg.Home, name[1:])
	case filepath.IsAbs(name) || len(p.cfg.Roots) == 0:
		return filepath.Clean(name)
	}
	return filepath.Join(p.cfg.Roots[0].Path, name)
}

// hit returns the first rule that holds for one of the names.
func hit(rules []*rule, n *names) *rule {
	for _, r := range rules {
		for i := range r.places {
			for _, name := range n.folded {
				if r.places[i].matches(name, n.isDir, n.inRoots) {
					return r
				}
			}
		}
	}
	return sameFile(rules, n)
}

// sameFile returns the first rule for one path that is the file by another name: a hard link, a folder that is mounted
// twice, a spelling that only this file system takes for the same.
func sameFile(rules []*rule, n *names) *rule {
	for _, r := range rules {
		for i := range r.places {
			pl := &r.places[i]
			if pl.literal == "" {
				continue
			}
			fi, err := os.Stat(pl.literal)
			if err != nil || pl.dirOnly && !fi.IsDir() {
				continue
			}
			if n.info != nil && os.SameFile(fi, n.info) || fi.IsDir() && below(n.path, fi) {
				return r
			}
		}
	}
	return nil
}

// below reports whether a path lies in the folder, whatever it is called there.
func below(path string, folder os.FileInfo) bool {
	for dir := filepath.Dir(filepath.FromSlash(path)); ; dir = filepath.Dir(dir) {
		if fi, err := os.Stat(dir); err == nil && os.SameFile(fi, folder) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// allows returns the first rule that allows the resolved path. Only a rule of the user's that names it from the disk's
// root or the home folder can allow what lies outside of the workspace, and only one that names a protected part can
// allow that.
func (p *Policy) allows(rules []*rule, n *names, outside bool, protected string) *rule {
	for _, r := range rules {
		if outside && (r.pattern.from != fromDisk || r.Project != "") || protected != "" && !r.pattern.spells(protected) {
			continue
		}
		for i := range r.places {
			if r.places[i].matches(n.path, n.isDir, !outside) {
				return r
			}
		}
	}
	return nil
}

// spells reports whether a component stands in the pattern letter by letter.
func (p *pattern) spells(component string) bool {
	same := func(c string) bool { return fold(c) == component }
	return slices.ContainsFunc(p.plain, same) || slices.ContainsFunc(p.glob, same)
}

// path judges reading or writing a file.
func (p *Policy) path(f *finding, a *Access) {
	n := p.namesOf(a)
	write := a.Kind == WritePath
	if p.hidden(&n) && (write || !p.ownLog(&n)) {
		f.refuse(nil, isState)
	}
	p.rules(f, &n, write)
	rules := p.allow.read
	if write {
		rules = p.allow.edit
	}
	outside := !p.inside(a.Path, write)
	if outside && (write || !p.ownLog(&n)) && p.allows(rules, &n, true, "") == nil {
		f.must(nil, isOutside)
	}
	protected := ""
	if write {
		if protected = p.protected(&n); protected != "" && p.allows(rules, &n, outside, protected) == nil {
			f.protected = protected
			f.must(nil, isProtected)
		}
		f.edit, f.listed, f.reads = true, len(rules) > 0, false
	}
	if f.allow == nil {
		f.allow = p.allows(rules, &n, outside, protected)
	}
}

// rules applies deny and ask rules to a file. What must not be read must not be changed either, since results show what
// is in a file that they change.
func (p *Policy) rules(f *finding, n *names, write bool) {
	f.refuse(hit(p.deny.read, n), byRule)
	f.must(hit(p.ask.read, n), byRule)
	if write {
		f.refuse(hit(p.deny.edit, n), byRule)
		f.must(hit(p.ask.edit, n), byRule)
	}
}

// hidden reports whether one of the names lies in the state folder.
func (p *Policy) hidden(n *names) bool {
	return slices.ContainsFunc(p.state, func(s string) bool {
		return slices.ContainsFunc(n.folded, func(name string) bool { return within(name, s) })
	})
}

// ownLog reports whether all names lie in the folder of the session's logs.
func (p *Policy) ownLog(n *names) bool {
	return len(p.logs) > 0 && !slices.ContainsFunc(n.folded, func(name string) bool {
		return !slices.ContainsFunc(p.logs, func(l string) bool { return within(name, l) })
	})
}

// inside reports whether a resolved path lies in a root, for writing in one that may be changed. The innermost root
// answers.
func (p *Policy) inside(path string, write bool) bool {
	var found *Root
	for i := range p.cfg.Roots {
		if r := &p.cfg.Roots[i]; within(path, r.Path) && (found == nil || len(r.Path) > len(found.Path)) {
			found = r
		}
	}
	return found != nil && !(write && found.ReadOnly)
}

// Hides returns what tells whether a file or folder that a search of the folder top comes by is to be left out of
// account, since reading it is denied or would have to be asked; nil if nothing is. What made top itself a question is
// not asked again below it. The function takes absolute paths without links and may be called concurrently; for a
// folder that it hides, everything below is hidden as well.
func (p *Policy) Hides(top string) func(path string, isDir bool) bool {
	n := p.namesOf(&Access{Path: top})
	n.isDir = true
	rules := slices.Clone(p.deny.read)
	if !p.cfg.HostAnswers && p.cfg.Mode != BypassPermissions {
		for _, r := range p.ask.read {
			if hit([]*rule{r}, &n) == nil {
				rules = append(rules, r)
			}
		}
	}
	state := p.state
	if !p.nearState || p.ownLog(&n) {
		state = nil
	}
	if len(rules) == 0 && len(state) == 0 {
		return nil
	}
	var same []os.FileInfo
	for _, r := range rules {
		for i := range r.places {
			if pl := &r.places[i]; pl.literal != "" {
				if fi, err := os.Stat(pl.literal); err == nil && (fi.IsDir() || !pl.dirOnly) {
					same = append(same, fi)
				}
			}
		}
	}
	return func(path string, isDir bool) bool {
		name := fold(filepath.ToSlash(path))
		for _, s := range state {
			if within(name, s) {
				return true
			}
		}
		for _, r := range rules {
			for i := range r.places {
				if r.places[i].matches(name, isDir, true) {
					return true
				}
			}
		}
		return isAny(path, same)
	}
}

// isAny reports whether a path is one of the files.
func isAny(path string, files []os.FileInfo) bool {
	if len(files) == 0 {
		return false
	}
	fi, err := os.Lstat(path)
	return err == nil && slices.ContainsFunc(files, func(o os.FileInfo) bool { return os.SameFile(fi, o) })
}

package walk

import (
	"io/fs"
	"path/filepath"
)

// IgnoredIn tells which of the entries of o.Dir a walk of o.Top leaves out: by the rules, or because they belong to a
// version control system. Of o only Top, Dir, Home and ConfigHome count.
func IgnoredIn(o Options, entries []fs.DirEntry) map[string]bool {
	e := newEnv(o.Home, o.ConfigHome)
	s, all := e.above(filepath.Clean(o.Top), filepath.Clean(o.Dir))
	s = e.enter(s, o.Dir, isRepository(o.Dir), func(name string) []byte {
		return readRules(filepath.Join(o.Dir, name), false)
	})
	out := make(map[string]bool)
	for _, x := range entries {
		k := regular
		if x.IsDir() {
			k = directory
		}
		ignored, _ := s.ignores(x.Name(), x.IsDir())
		out[x.Name()] = all || ignored || private(entry{name: x.Name(), kind: k})
	}
	return out
}

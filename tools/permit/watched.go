package permit

import (
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds of what Watched looks at, for folders that somebody has filled.
const (
	maxWatched   = 200 // files below one protected folder
	watchedDepth = 3
)

// inGit is what counts below .git. The rest changes with every commit.
var inGit = []string{".git/config", ".git/config.worktree", ".git/info/attributes"}

// Watched lists the protected files that stand at the top of a root, and below protected folders there, as slash paths
// from it: what a command could leave behind that runs, or decides what runs, later. Links are listed and not followed.
func Watched(root string) (names []string) {
	lstat := func(name string) (fs.FileInfo, error) { return os.Lstat(filepath.Join(root, name)) }
	present := presentIn(root)
	for _, name := range slices.Sorted(present(protectedFiles)) {
		if fi, err := lstat(name); err == nil && !fi.IsDir() {
			names = append(names, name)
		}
	}
	for _, dir := range slices.Sorted(present(protectedDirs)) {
		fi, err := lstat(dir)
		switch {
		case err != nil:
		case !fi.IsDir():
			names = append(names, dir) // a link, or the file by which a working tree names its repository
		case fold(dir) == ".git":
			names = append(names, watchedGit(lstat, root)...)
		default:
			most := len(names) + maxWatched
			names = watchedBelow(root, dir, watchedDepth, names, most)
		}
	}
	return names
}

// presentIn returns what tells the names of a table that may stand in a folder: to list a folder that is not large costs
// a tenth of asking for each.
func presentIn(root string) func(table map[string]bool) iter.Seq[string] {
	const large = 500
	var found []string
	f, err := os.Open(root)
	if err == nil {
		found, _ = f.Readdirnames(large)
		f.Close()
	}
	if len(found) == 0 || len(found) == large {
		return func(table map[string]bool) iter.Seq[string] { return maps.Keys(table) }
	}
	return func(table map[string]bool) iter.Seq[string] {
		return func(yield func(string) bool) {
			for _, name := range found {
				if table[fold(name)] && !yield(name) {
					return
				}
			}
		}
	}
}

func watchedGit(lstat func(string) (fs.FileInfo, error), root string) (names []string) {
	for _, name := range inGit {
		if fi, err := lstat(name); err == nil && !fi.IsDir() {
			names = append(names, name)
		}
	}
	const hooks = ".git/hooks"
	if fi, err := lstat(hooks); err == nil && !fi.IsDir() {
		return append(names, hooks)
	}
	for _, e := range entries(root, hooks) {
		if hookNames[fold(e.Name())] {
			names = append(names, path.Join(hooks, e.Name()))
		}
	}
	return names
}

func watchedBelow(root string, dir string, depth int, names []string, most int) []string {
	for _, e := range entries(root, dir) {
		name := path.Join(dir, e.Name())
		switch {
		case len(names) >= most:
			return names
		case !e.IsDir():
			names = append(names, name)
		case depth > 1:
			names = watchedBelow(root, name, depth-1, names, most)
		}
	}
	return names
}

// entries returns what stands in a folder, in a fixed order, up to ten times as many as are wanted.
func entries(root, dir string) []fs.DirEntry {
	f, err := os.Open(filepath.Join(root, dir))
	if err != nil {
		return nil
	}
	defer f.Close()
	found, _ := f.ReadDir(10 * maxWatched)
	slices.SortFunc(found, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return found
}

// Package walk lists the files below a directory as a search wants to see them: what ignore rules leave out is left
// out, a glob and named file types choose, the order is always the same. Begin with List; ParseGlob and ParseFilter make
// its globs, Options says what holds.
//
// It knows the rules of git (.gitignore, .git/info/exclude, core.excludesFile) and those of .ignore and .rgignore, and
// where tools differ it does as git does. It runs no git, reads no index (a tracked file that a rule leaves out is left
// out), keeps nothing between calls, and opens no file but rule files.
//
// How it works: a few workers take directories from a stack, deepest first. A directory is read as a whole, then its
// own rule files are added to the chain of those above it (scope.go), then each entry is asked three things: does the
// glob let it through, do the rules leave it out, may the caller see it. The glob is followed while descending
// (glob.go): where nothing below can match, the directory is not entered. At the end the tree of results is laid out
// in order.
package walk

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Options says what to list. Top and Dir are needed; the rest has useful zero values.
type Options struct {
	Top   string                           // absolute, resolved root that Dir belongs to; outside a repository .gitignore counts from here
	Dir   string                           // absolute, resolved directory to list: Top, or below it
	Globs *Globs                           // which files; nil: all
	Types []string                         // only files of one of these types, see LookupType; empty: all
	Allow func(path string, dir bool) bool // may a file or directory (absolute path) be seen; called concurrently; nil: all may
	Times bool                             // fill in File.Modified

	Home       string // the user's home directory; empty: from the environment
	ConfigHome string // where the user's settings lie; empty: $XDG_CONFIG_HOME, or .config in Home
}

// Listing is what List found. The counts hold for the directories that were entered: a glob that can match nothing in
// a directory keeps the walk out of it.
type Listing struct {
	Files      []File // in path order: the files of a directory by name, then its subdirectories by name
	Entries    int    // names in the directories that were entered, of whatever kind and also those left out
	Ignored    Ignored
	Denied     int   // files and directories that Allow refused
	Unreadable Tally // directories that could not be read
	Links      Tally // symbolic links that the glob and the rules let through: not followed and not listed
	Special    int   // pipes, sockets, devices: not listed

	// Dropped says that Dir is itself ignored, or all it holds is, by rules from above it, and that these were left
	// out of account: who names a directory wants to see it.
	Dropped bool
	// Complete is false when the context ended first or there were more than a million entries.
	Complete bool

	dir string
}

// File is one regular file.
type File struct {
	Path     string    // relative to Options.Dir, with slashes
	Modified time.Time // zero unless Options.Times is set
}

// Ignored counts what the rules left out, as far as the glob lets it through. A directory counts as one.
type Ignored struct {
	Files, Dirs int
	Names       []string // up to five paths relative to Options.Dir, directories (with a slash at the end) first
}

// Tally counts and names.
type Tally struct {
	Count int
	Names []string // up to five paths relative to Options.Dir
}

// Stat looks at Files[i]. It is for callers that need the times of a few files only.
func (l *Listing) Stat(i int) (fs.FileInfo, error) {
	return os.Lstat(filepath.Join(l.dir, filepath.FromSlash(l.Files[i].Path)))
}

// MaxEntries is how many files and directories a listing looks at; it is incomplete where there are more.
const MaxEntries = 1 << 20

const (
	maxNames   = 5 // names of ignored entries
	maxWorkers = 8
	maxPath    = 4096 // bytes; what lies deeper cannot be opened by its path and counts as unreadable
)

// List lists the regular files below o.Dir. The error is about o.Dir itself (it satisfies errors.Is with
// fs.ErrNotExist and the like) or an unknown type; everything below is counted in the listing. When ctx ends, List
// returns what it has, marked incomplete. It starts up to eight workers and waits for them.
func List(ctx context.Context, o Options) (*Listing, error) {
	o.Top, o.Dir = filepath.Clean(o.Top), filepath.Clean(o.Dir)
	types, err := newTypeSet(o.Types)
	if err != nil {
		return nil, err
	}
	d, err := openDir(o.Dir)
	if err != nil {
		return nil, err
	}
	w := &walker{ctx: ctx, o: o, env: newEnv(o.Home, o.ConfigHome), types: types}
	w.wake.L = &w.mu
	root := &node{}
	if err := w.first(root, d); err != nil {
		return nil, err
	}
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxWorkers) {
		all.Go(w.work)
	}
	all.Wait()
	l := &Listing{dir: o.Dir, Dropped: w.dropped, Complete: !w.cut.Load() && ctx.Err() == nil, Entries: int(w.entries.Load())}
	l.collect(root)
	return l, nil
}

type kind uint8

const (
	regular kind = iota
	directory
	link
	odd // pipe, socket, device
)

// entry is a name in a directory.
type entry struct {
	name string
	kind kind
}

// node is one directory of the result.
type node struct {
	path  string // relative, with slashes; "" for the top
	files []File // Path is the bare name until the end
	subs  []*node

	outFiles, outDirs         []string // ignored, the first few
	ignoredFiles, ignoredDirs int
	links                     Tally
	denied, special           int
	unreadable                bool // the directory itself
}

func (n *node) child(name string) string {
	if n.path == "" {
		return name
	}
	return n.path + "/" + name
}

// parent is an open directory that waits for its subdirectories to be opened.
type parent struct {
	dir  dir
	left atomic.Int32
}

func (p *parent) done() {
	if p.left.Add(-1) == 0 {
		p.dir.close()
	}
}

// job is a directory to be listed.
type job struct {
	node  *node
	in    *parent
	name  string
	scope scope // of the directory it lies in
	state state
}

type walker struct {
	ctx   context.Context
	o     Options
	env   env
	types *typeSet

	dropped bool         // set before the workers start
	entries atomic.Int64 // files and directories so far
	cut     atomic.Bool  // there were too many

	mu    sync.Mutex
	wake  sync.Cond // with mu: stack or busy changed
	stack []job
	busy  int // workers that may push more
}

// work lists directories until there are none left and nobody can find more.
func (w *walker) work() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.stack) == 0 && w.busy > 0 {
			w.wake.Wait()
		}
		if len(w.stack) == 0 {
			w.wake.Broadcast()
			return
		}
		j := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		w.busy++
		w.mu.Unlock()
		w.list(j)
		w.mu.Lock()
		if w.busy--; w.busy == 0 {
			w.wake.Broadcast()
		}
	}
}

func (w *walker) push(jobs []job) {
	slices.Reverse(jobs) // the first by name is taken first
	w.mu.Lock()
	w.stack = append(w.stack, jobs...)
	w.mu.Unlock()
	w.wake.Broadcast()
}

// stopped reports whether to give up: the jobs that are left only let go of what they hold.
func (w *walker) stopped() bool { return w.cut.Load() || w.ctx.Err() != nil }

// list reads one directory.
func (w *walker) list(j job) {
	defer j.in.done()
	if w.stopped() {
		return
	}
	if len(w.o.Dir)+len(j.node.path) > maxPath {
		j.node.unreadable = true
		return
	}
	d, err := j.in.dir.sub(j.name)
	if err == nil {
		var ents []entry
		if ents, err = entries(d); err == nil {
			s := w.scope(j.scope, j.node, d, ents)
			w.fill(j.node, d, ents, &s, j.state)
			return
		}
		d.close()
	}
	// One that went away meanwhile, or became something else, is none of this listing.
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, syscall.ELOOP) {
		j.node.unreadable = true
	}
}

// first lists the directory that was named, and decides whether the rules from above it count.
func (w *walker) first(root *node, d dir) error {
	ents, err := entries(d)
	if err != nil {
		d.close()
		return err
	}
	above, ignored := w.env.above(w.o.Top, w.o.Dir)
	s, alone := w.scope(above, root, d, ents), w.scope(scope{}, root, d, ents)
	if ignored || allIgnored(&s, ents) && !allIgnored(&alone, ents) {
		s, w.dropped = alone, true
	}
	w.fill(root, d, ents, &s, w.o.Globs.start(w.o.Top, w.o.Dir))
	return nil
}

// allIgnored reports whether rules leave out everything in a directory that holds something.
func allIgnored(s *scope, ents []entry) bool {
	some := false
	for _, e := range ents {
		if e.kind != regular && e.kind != directory || private(e) {
			continue
		}
		if out, _ := s.ignores(e.name, e.kind == directory); !out {
			return false
		}
		some = true
	}
	return some
}

// private reports whether an entry belongs to a version control system. Such are never entered or listed, only named.
func private(e entry) bool {
	switch e.name {
	case ".git":
		return true
	case ".hg", ".svn", ".jj":
		return e.kind == directory
	}
	return false
}

// entries lists an open directory by name.
func entries(d dir) ([]entry, error) {
	ents, err := d.entries()
	slices.SortFunc(ents, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	return ents, err
}

// scope is the scope of a directory whose entries are known.
func (w *walker) scope(up scope, n *node, d dir, ents []entry) scope {
	find := func(name string) (kind, bool) {
		i, ok := slices.BinarySearchFunc(ents, name, func(e entry, s string) int { return cmp.Compare(e.name, s) })
		if !ok {
			return 0, false
		}
		return ents[i].kind, true
	}
	abs := w.abs(n.path)
	k, hasGit := find(".git")
	if hasGit && k != directory && k != regular {
		hasGit = isRepository(abs)
	}
	return w.env.enter(up, abs, hasGit, func(name string) []byte {
		if k, ok := find(name); !ok || k != regular {
			return nil // git does not follow links to rule files either
		}
		return d.rules(name)
	})
}

func (w *walker) abs(rel string) string { return filepath.Join(w.o.Dir, filepath.FromSlash(rel)) }

func (w *walker) allowed(n *node, name string, dir bool) bool {
	return w.o.Allow == nil || w.o.Allow(w.abs(n.child(name)), dir)
}

// fill sorts the entries of one directory into its node, and pushes its subdirectories. It takes d over.
func (w *walker) fill(n *node, d dir, ents []entry, s *scope, st state) {
	p := &parent{dir: d}
	p.left.Store(1)
	defer p.done()
	if w.entries.Add(int64(len(ents))) > MaxEntries {
		w.cut.Store(true)
	}
	var jobs []job
	for i, e := range ents {
		if i%1024 == 1023 && w.stopped() {
			break
		}
		switch {
		case private(e):
		case e.kind == regular:
			w.file(n, d, e.name, s, st)
		case e.kind == directory:
			below, ok := w.o.Globs.descend(st, e.name)
			if ok && w.enters(n, e.name, s) {
				sub := &node{path: n.child(e.name)}
				n.subs = append(n.subs, sub)
				jobs = append(jobs, job{sub, p, e.name, *s, below})
			}
		case e.kind == link:
			w.link(n, e.name, s, st)
		default:
			n.special++
		}
	}
	p.left.Add(int32(len(jobs)))
	w.push(jobs)
}

// file takes a regular file into the listing, or counts why not.
func (w *walker) file(n *node, d dir, name string, s *scope, st state) {
	if !w.o.Globs.file(st, name) || !w.types.has(name) {
		return
	}
	out, _ := s.ignores(name, false)
	switch {
	case out:
		n.ignoredFiles++
		if len(n.outFiles) < maxNames {
			n.outFiles = append(n.outFiles, n.child(name))
		}
	case !w.allowed(n, name, false):
		n.denied++
	default:
		f := File{Path: name}
		if w.o.Times {
			var ok bool
			if f.Modified, ok = d.modified(name); !ok {
				return // gone meanwhile
			}
		}
		n.files = append(n.files, f)
	}
}

// link counts a link that would be listed or entered if links were followed.
func (w *walker) link(n *node, name string, s *scope, st state) {
	_, way := w.o.Globs.descend(st, name)
	if !way && !(w.o.Globs.file(st, name) && w.types.has(name)) {
		return
	}
	if out, _ := s.ignores(name, false); !out && w.allowed(n, name, false) {
		n.links.add(n.child(name))
	}
}

// enters reports whether a subdirectory is walked, or counts why not.
func (w *walker) enters(n *node, name string, s *scope) bool {
	if out, _ := s.ignores(name, true); out {
		n.ignoredDirs++
		if len(n.outDirs) < maxNames {
			n.outDirs = append(n.outDirs, n.child(name)+"/")
		}
		return false
	}
	if !w.allowed(n, name, true) {
		n.denied++
		return false
	}
	return true
}

// collect lays out the tree in order.
func (l *Listing) collect(root *node) {
	var total int
	root.each(func(n *node) { total += len(n.files) })
	l.Files = make([]File, 0, total)
	var files []string // ignored
	root.each(func(n *node) {
		for _, f := range n.files {
			f.Path = n.child(f.Path)
			l.Files = append(l.Files, f)
		}
		l.Denied += n.denied
		if n.unreadable {
			l.Unreadable.add(n.path)
		}
		l.Links.Count += n.links.Count
		l.Links.Names = append(l.Links.Names, n.links.Names[:min(len(n.links.Names), maxNames-len(l.Links.Names))]...)
		l.Special += n.special
		l.Ignored.Files += n.ignoredFiles
		l.Ignored.Dirs += n.ignoredDirs
		l.Ignored.Names = append(l.Ignored.Names, n.outDirs[:min(len(n.outDirs), maxNames-len(l.Ignored.Names))]...)
		files = append(files, n.outFiles[:min(len(n.outFiles), maxNames-len(files))]...)
	})
	l.Ignored.Names = append(l.Ignored.Names, files[:min(len(files), maxNames-len(l.Ignored.Names))]...)
}

func (t *Tally) add(path string) {
	if t.Count++; t.Count <= maxNames {
		t.Names = append(t.Names, path)
	}
}

// each visits n and what is below it, in the order of the listing.
func (n *node) each(visit func(*node)) {
	visit(n)
	for _, sub := range n.subs {
		sub.each(visit)
	}
}

// readRules reads a file of rules or settings; nil when it is not there or no regular file.
func readRules(path string, follow bool) []byte {
	stat := os.Lstat
	if follow {
		stat = os.Stat
	}
	if info, err := stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	return readSome(f)
}

// readSome reads a little more than the part of a file that counts.
func readSome(f *os.File) []byte {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, maxRuleFile+1))
	if err != nil {
		return nil
	}
	return text
}

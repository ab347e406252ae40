package tools

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ferrule/shell"
	"ferrule/tools/internal/atomicfile"
	"ferrule/tools/internal/history"
	"ferrule/tools/permit"
)

// A command may change a protected file of the workspace, such as a hook of
// git or .mcp.json: no sandbox can keep a file closed in a folder that is open.
// So these files are compared before and after each command. What has changed
// is told, written down, and kept in history, so that it can be taken back.

const (
	maxGuarded = 256 << 10 // bytes of a file that is kept
	allGuarded = 8 << 20   // bytes of all of them
	maxTold    = 5         // changes that one result tells
)

// guard is what protected files held when a command was started.
type guard struct {
	mu    sync.Mutex
	files map[string]guardedFile // by path; nil: no command was started yet
}

// A guardedFile is one version of a protected file. Data is nil if the file is
// too large to be kept, or is a link.
type guardedFile struct {
	stamp atomicfile.Stamp
	mode  fs.FileMode
	link  string
	data  []byte
}

// same reports whether nothing has changed that matters. Of a file that was not
// read only the stat can tell.
func (f guardedFile) same(g guardedFile) bool {
	if f.mode != g.mode || f.link != g.link || (f.data == nil) != (g.data == nil) {
		return false
	}
	if f.data == nil {
		return f.link != "" || f.stamp.SameStat(g.stamp)
	}
	return f.stamp.Same(g.stamp)
}

// guardFiles is called before a command is started. While others run in the
// background, what they have changed is still to be told.
func (s *Session) guardFiles() {
	running := slices.ContainsFunc(s.Tasks(), func(t shell.TaskInfo) bool { return t.State == shell.Running })
	s.guard.mu.Lock()
	defer s.guard.mu.Unlock()
	if s.guard.files == nil || !running {
		s.guard.files = s.protectedFiles(s.guard.files)
	}
}

// guardNotes is called after a command, or when a background command was looked
// at. It tells which protected files have changed, and puts what they held
// before into history.
func (r *request) guardNotes() (notes []string) {
	r.guard.mu.Lock()
	defer r.guard.mu.Unlock()
	before := r.guard.files
	if before == nil {
		return nil
	}
	now := r.protectedFiles(before)
	r.guard.files = now
	var paths []string
	for path := range now {
		paths = append(paths, path)
	}
	for path := range before {
		if _, ok := now[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for _, path := range paths {
		old, was := before[path]
		file, is := now[path]
		if was == is && old.same(file) || !r.watches(path) {
			continue
		}
		if n := r.guardNote(path, old, was, file, is); n != "" {
			notes = append(notes, n)
		}
	}
	if more := len(notes) - maxTold; more > 0 {
		notes = append(notes[:maxTold], fmt.Sprintf("(and %s more; ferrule undo --list has them)", count(more, "protected file")))
	}
	return notes
}

// watches reports whether a path still lies in the workspace.
func (s *Session) watches(path string) bool {
	_, err := s.roots.Resolve(filepath.Dir(path))
	return err == nil
}

// guardNote records one change and words it; "" if a tool of ours made it.
func (r *request) guardNote(path string, old guardedFile, was bool, now guardedFile, is bool) string {
	what := "was changed"
	switch {
	case !was:
		what = "was created"
	case !is:
		what = "was removed"
	case old.stamp.Same(now.stamp) && old.link == now.link && old.mode != now.mode:
		what = fmt.Sprintf("has the mode %v now", now.mode)
	}
	kept, ours := r.keepGuarded(path, old, was, now, is)
	if ours {
		return ""
	}
	name := r.shown(path)
	entry := permit.Entry{Session: r.id, Tool: r.tool.Name, Decision: "a command ran: the protected file " + name + " " + what}
	note := fmt.Sprintf("the protected file %s %s", name, what)
	if kept {
		note += "; the user can take that back with: ferrule undo " + quoteShell(name)
	}
	if err := r.cfg.Audit.Add(entry); err != nil {
		note += "; the audit log cannot be written"
	}
	return "(" + note + ")"
}

// keepGuarded puts a change into history. It reports whether it can be taken
// back, and whether history has it already, since a tool made it.
func (r *request) keepGuarded(path string, old guardedFile, was bool, now guardedFile, is bool) (kept, ours bool) {
	e := history.Entry{Session: r.id, Tool: r.tool.Name, Time: time.Now()}
	if was {
		e.Before = &old.stamp.Sum
	}
	if is {
		e.After = &now.stamp.Sum
	}
	if was && old.data == nil || is && now.data == nil || was && is && *e.Before == *e.After {
		return false, false
	}
	p, err := r.roots.Resolve(filepath.Dir(path))
	if err != nil {
		return false, false
	}
	past := r.past(p.Root, rootOf(p))
	if past.log == nil {
		return false, false
	}
	e.Path = filepath.ToSlash(filepath.Join(p.Rel, filepath.Base(path)))
	entries, err := past.log.Entries(e.Path, "")
	if err != nil {
		return false, false
	}
	if len(entries) > 0 {
		last := entries[0].After
		if last == nil && !is || last != nil && is && *last == now.stamp.Sum {
			return true, true
		}
	}
	if e, err = past.log.Begin(e, old.data); err != nil {
		return false, false
	}
	return past.log.End(e.ID, history.Done) == nil && !e.NotKept, false
}

// protectedFiles reads the protected files of the roots that may be changed.
// What looks as before is not read again.
func (s *Session) protectedFiles(before map[string]guardedFile) map[string]guardedFile {
	files := make(map[string]guardedFile)
	room := int64(allGuarded)
	for _, dir := range s.rootDirs() {
		p, err := s.roots.Resolve(dir)
		if err != nil {
			continue
		}
		for _, name := range permit.Watched(dir) {
			rel := filepath.FromSlash(name)
			path := filepath.Join(dir, rel)
			f, ok := readGuarded(p.Root, rel, path, before[path], min(room, maxGuarded))
			if ok {
				files[path] = f
				room -= int64(len(f.data))
			}
		}
	}
	return files
}

// readGuarded reads a file of at most max bytes, unless it looks like before.
func readGuarded(root *os.Root, rel, path string, before guardedFile, max int64) (guardedFile, bool) {
	fi, err := os.Lstat(path) // a twentieth of what it costs by root
	if err != nil {
		return guardedFile{}, false
	}
	f := guardedFile{stamp: atomicfile.StampOf(fi), mode: fi.Mode()}
	switch {
	case fi.Mode()&fs.ModeSymlink != 0:
		f.link, _ = os.Readlink(path)
		return f, true
	case before.data != nil && before.mode == f.mode && before.stamp.SameStat(f.stamp):
		return before, true
	case !fi.Mode().IsRegular() || fi.Size() > max:
		return f, true
	}
	file, err := atomicfile.Open(root, rel)
	if err != nil {
		return f, true // it may be written and not be read
	}
	defer file.Close()
	data, _, err := atomicfile.Read(file, max)
	if err == nil {
		f.data = append([]byte{}, data...) // not nil
		f.stamp.Size, f.stamp.Sum = int64(len(data)), sha256.Sum256(data)
	}
	return f, true
}

// sandboxNote tells that the sandbox is why a command has failed, if so.
func (r *request) sandboxNote(sh *shell.Shell, res *shell.Result) []string {
	if res.Code == 0 {
		return nil
	}
	dirs := r.rootDirs()
	if !slices.Contains(dirs, res.Dir) {
		dirs = append(dirs, res.Dir)
	}
	if why := sh.Explain(res.Output, dirs...); why != "" {
		return []string{"(" + strings.TrimSuffix(why, ".") + ")"}
	}
	return nil
}

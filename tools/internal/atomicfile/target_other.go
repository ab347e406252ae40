//go:build !linux || portable

package atomicfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// This is what the standard library alone can do: a named temporary file and a rename over the old one, through
// os.Root. What it lacks against Linux: between the last look at the old file and the rename stays a gap of some
// microseconds in which a foreign save is lost; owner, extended attributes and ACLs are those of a new file; space is
// not reserved before writing in place; folders are not flushed. A link that is swapped in meanwhile for a folder is
// followed if it stays inside the root.

// kernel makes the calls.
type kernel struct{}

func (kernel) call(_ string, f func() error) error { return f() }

// target is one name in a locked folder.
type target struct {
	sys    system
	root   *os.Root
	rel    string
	dir    *os.File // holds the flock
	made   []string
	unlock func()
	held   *os.File // the version that was read
}

// target opens and locks the folder of rel. If the folder is removed while the lock is waited for, as happens when
// another call takes back folders it made, it is looked for anew.
func (w *Files) target(ctx context.Context, root *os.Root, rel string, parents bool) (*target, error) {
	if err := checkRel(rel); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		t := &target{sys: w.sys, root: root, rel: rel}
		err := t.open(ctx, &w.locks, parents)
		if err == nil {
			return t, nil
		}
		t.close()
		t.dropMade()
		if !parents || attempt == 3 || !errors.Is(err, fs.ErrNotExist) {
			return nil, bare(err)
		}
	}
}

func (t *target) open(ctx context.Context, l *locks, parents bool) (err error) {
	dir := filepath.Dir(t.rel)
	if err := t.walk(dir, parents); err != nil {
		return err
	}
	if t.unlock, err = l.lock(ctx, filepath.Join(t.root.Name(), dir)); err != nil {
		return err
	}
	if t.dir, err = t.root.Open(dir); err != nil {
		return err
	}
	if err := flock(ctx, int(t.dir.Fd())); err != nil {
		return err
	}
	return t.walk(dir, false)
}

// walk refuses links on the way to dir and makes what is missing.
func (t *target) walk(dir string, parents bool) error {
	if dir == "." {
		return nil
	}
	names := strings.Split(dir, string(filepath.Separator))
	for i := range names {
		p := filepath.Join(names[:i+1]...)
		fi, err := t.root.Lstat(p)
		if errors.Is(err, fs.ErrNotExist) && parents {
			if err = t.root.Mkdir(p, 0o777); err == nil {
				t.made = append(t.made, p)
			}
			if err == nil || errors.Is(err, fs.ErrExist) {
				fi, err = t.root.Lstat(p)
			}
		}
		if err != nil {
			return err
		}
		if !fi.IsDir() {
			return syscall.ENOTDIR
		}
	}
	return nil
}

func (t *target) close() {
	if t.held != nil {
		t.held.Close()
	}
	if t.dir != nil {
		t.dir.Close()
	}
	if t.unlock != nil {
		t.unlock()
	}
}

func (t *target) dropMade() { RemoveDirs(t.root, t.made) }

func removeDir(root *os.Root, rel string) {
	if fi, err := root.Lstat(rel); err == nil && fi.IsDir() {
		root.Remove(rel) // best effort: a folder in use stays
	}
}

// Open opens a regular file for reading without following a link at its name.
func Open(root *os.Root, rel string) (*os.File, error) {
	if err := checkRel(rel); err != nil {
		return nil, err
	}
	fi, err := root.Lstat(rel)
	if err != nil {
		return nil, bare(err)
	}
	if !fi.Mode().IsRegular() {
		return nil, ErrSpecial
	}
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, bare(err)
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(fi, now) {
		f.Close()
		return nil, ErrChanging
	}
	return f, nil
}

// read returns the present version and keeps it open, or nil if there is none.
func (t *target) read(_ context.Context, max int64) (*Content, error) {
	err := t.sys.call("open", func() (err error) { t.held, err = Open(t.root, t.rel); return err })
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, stamp, err := Read(t.held, max)
	if err != nil {
		return nil, bare(err)
	}
	return &Content{Data: data, Stamp: stamp}, nil
}

// first chooses the way to begin with.
func (t *target) first(j *job) (way, string) {
	if j.old != nil {
		if fi, err := t.held.Stat(); err == nil {
			if _, names := statOf(fi); names > 1 {
				return inPlace, "hard link"
			}
		}
	}
	return named, ""
}

// isHeld reports whether the file at name is the version that was read.
func (t *target) isHeld(name string, old *Content) (bool, error) {
	var now, held fs.FileInfo
	err := t.sys.call("lstat", func() (err error) { now, err = t.root.Lstat(name); return err })
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		held, err = t.held.Stat()
	}
	if err != nil || !os.SameFile(now, held) {
		return false, err
	}
	return holds(t.held, old.Data)
}

// replace writes a second file and renames it.
func (t *target) replace(j *job, _ way) (out Outcome, err error) {
	tmp := filepath.Join(filepath.Dir(t.rel), tempName())
	if err := j.begin(filepath.Base(tmp), ""); err != nil {
		return out, err
	}
	defer func() { j.end(out, err) }()
	var f *os.File
	mode := fs.FileMode(0o600)
	if j.old == nil {
		mode = 0o666 // less umask
	}
	err = t.sys.call("create", func() (err error) {
		f, err = t.root.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		return err
	})
	if err != nil {
		t.discard(tmp) // nobody else has this name, and the call may have done its work
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return out, &fallback{to: inPlace, why: "folder not writable", err: bare(err)}
	}
	if err != nil {
		return out, bare(err)
	}
	defer f.Close()
	var mine fs.FileInfo
	if err = t.fill(f, j); err == nil {
		mine, err = f.Stat()
	}
	if err == nil {
		if err = t.sys.call("close", f.Close); err == nil {
			err = t.publish(j, tmp)
		}
	}
	left := ""
	if !t.discard(tmp) {
		left = filepath.Base(tmp)
	}
	now, gone := t.root.Lstat(t.rel) // a call may have done its work and reported an error all the same
	if mine != nil && gone == nil && os.SameFile(now, mine) {
		out = j.outcome(StampOf(now))
	}
	out.Left = left
	return out, bare(err)
}

// fill writes content and mode and flushes them.
func (t *target) fill(f *os.File, j *job) error {
	if err := t.sys.call("write", func() error { _, err := f.Write(j.data); return err }); err != nil {
		return err
	}
	if j.old != nil {
		fi, err := t.held.Stat()
		if err == nil && runtime.GOOS != "windows" { // a mode there is only the read-only bit
			err = t.sys.call("fchmod", func() error { return f.Chmod(fi.Mode()) })
		}
		if err != nil {
			return err
		}
	}
	if j.sync == SyncNone {
		return nil
	}
	return t.sys.call("fsync", f.Sync)
}

// publish gives tmp the name.
func (t *target) publish(j *job, tmp string) error {
	if j.old == nil {
		err := t.sys.call("link", func() error { return t.root.Link(tmp, t.rel) })
		if errors.Is(err, fs.ErrExist) {
			return ErrStale
		}
		if err == nil {
			return nil
		}
		if _, err := t.root.Lstat(t.rel); err == nil { // no hard links here
			return ErrStale
		}
	} else {
		same, err := t.isHeld(t.rel, j.old)
		if err != nil {
			return err
		}
		if !same {
			return ErrStale
		}
		if runtime.GOOS == "windows" { // an open file cannot be replaced there
			t.held.Close()
		}
	}
	return t.patiently(func() error { return t.root.Rename(tmp, t.rel) })
}

// patiently repeats a rename for a second while a virus scanner or an indexer holds the file, as happens on Windows.
func (t *target) patiently(rename func() error) error {
	for deadline := time.Now().Add(time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := t.sys.call("rename", rename)
		if err == nil || runtime.GOOS != "windows" || time.Now().After(deadline) {
			return err
		}
	}
}

// discard removes the temporary file if it is still there.
func (t *target) discard(tmp string) bool {
	for range 2 {
		err := t.sys.call("remove", func() error { return t.root.Remove(tmp) })
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// overwrite writes in place.
func (t *target) overwrite(j *job, why string) (out Outcome, err error) {
	var f *os.File
	err = t.sys.call("open", func() (err error) { f, err = t.root.OpenFile(t.rel, os.O_RDWR, 0); return err })
	if err != nil {
		return out, bare(err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return out, bare(err)
	}
	held, err := t.held.Stat()
	if err != nil {
		return out, bare(err)
	}
	if same, err := holds(f, j.old.Data); err != nil {
		return out, bare(err)
	} else if !same || !os.SameFile(fi, held) {
		return out, ErrStale
	}
	if err := j.begin("", why); err != nil {
		return out, err
	}
	defer func() { j.end(out, err) }()
	complete, err := rewrite(t.sys, f, j.old.Data, j.data, j.sync)
	if complete {
		st := Stamp{}
		if fi, err := f.Stat(); err == nil {
			st = StampOf(fi)
		}
		out = j.outcome(st)
		out.InPlace = why
	}
	return out, bare(err)
}

// reserve does nothing: the standard library knows no way to reserve space.
func reserve(*os.File, int64) error { return nil }

// remove looks at the file a last time and removes it.
func (t *target) remove(j *job) (out Outcome, err error) {
	if err := j.begin("", ""); err != nil {
		return out, err
	}
	defer func() { j.end(out, err) }()
	same, err := t.isHeld(t.rel, j.old)
	if err == nil && !same {
		err = ErrStale
	}
	if err != nil {
		return out, bare(err)
	}
	t.held.Close()
	err = t.sys.call("remove", func() error { return t.root.Remove(t.rel) })
	_, gone := t.root.Lstat(t.rel)
	out.Written = errors.Is(gone, fs.ErrNotExist)
	return out, bare(err)
}

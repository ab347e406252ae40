// Package history keeps what files held before they were changed, and works out how to bring it back.
//
// Begin at [Open] and [Log.Record]. One folder belongs to one root:
//
//	log.jsonl       one line per event, appended with one write; the last field is a CRC-32C of what is before it
//	blobs/<sha256>  contents from before a change, compressed (DEFLATE)
//	alive/<id>      one file per process that has the log open, locked as long as it lives
//	lock            held while a process opens, settles or cleans up
//
// Everything is private to the user, 0700 and 0600. Several processes may have one log open.
//
// # Events
//
// Before a file changes, its old content becomes a blob and a "begin" line names path, hashes before and after, and the
// temporary file. Afterwards comes "done", or "void" if nothing was changed after all. What a crash leaves open is
// settled by [Log.Settle] at the next start, by looking at the file: it holds the old content (void), the new one
// (done), or something else ("torn", which is reported and can be repaired with [Log.Blob]). A line that a crash cut
// off is skipped.
//
// # Undo
//
// The changes of a file form a stack. Undo takes the newest ones off and brings back what was there before; undoing
// again walks further back. Redo puts back what the last undo took off, as long as no new change came after it. Both
// are changes with an entry of their own, which name in Undoes what they took back, so nothing is ever lost. A step is
// refused unless the file holds exactly what its newest entry left there: work of others is not overwritten, and
// neither is a change of another session that came later. A file that an entry created is removed again, with the
// folders that were made for it if they are empty.
//
// # Limits
//
// A content above [MaxContent] is not kept and its change cannot be undone. Entries older than 30 days go when the log
// is opened, the oldest beyond the size limit also while it is used. Nothing is flushed to the disk, except before a
// file is written in place: after a power cut the last entries may be missing, the files themselves are whole.
//
// The package does not decide who may undo what, and phrases nothing for a model beyond the reason of a refusal.
package history

import (
	"compress/flate"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"ferrule/tools/internal/atomicfile"
)

const (
	// MaxContent is the largest content in bytes that is kept.
	MaxContent = 16 << 20
	// DefaultLimit is the size of a log with its blobs, in bytes, that Open keeps to when it is told none.
	DefaultLimit = 500 << 20

	maxAge     = 30 * 24 * time.Hour
	maxEntries = 10_000 // about 5 MB of log, read in 0.1 s
)

// State says what became of a change.
type State string

// The states of an entry.
const (
	Pending State = ""     // begun and not ended: in work, or left by a crash and not settled yet
	Done    State = "done" // the file holds, or held, After
	Void    State = "void" // nothing was changed
	Torn    State = "torn" // a crash left neither Before nor After; Before can be brought back
)

// Entry is one change of one file.
type Entry struct {
	ID       string          `json:"id"`
	Time     time.Time       `json:"time"`
	Session  string          `json:"session,omitempty"`
	Tool     string          `json:"tool,omitempty"`
	Path     string          `json:"path"`             // relative to the root, with slashes
	Before   *atomicfile.Sum `json:"before,omitempty"` // nil: there was no file
	After    *atomicfile.Sum `json:"after,omitempty"`  // nil: there is no file
	Temp     string          `json:"temp,omitempty"`   // file in the same folder that a crash may leave behind
	InPlace  bool            `json:"in_place,omitempty"`
	MadeDirs []string        `json:"made_dirs,omitempty"` // folders made for the file, outermost first
	NotKept  bool            `json:"not_kept,omitempty"`  // Before was too large to be kept: cannot be undone
	Undoes   []string        `json:"undoes,omitempty"`    // IDs of the changes that this one takes back, newest first
	Owner    string          `json:"owner"`               // the process, as named in alive/
	Size     int64           `json:"size,omitempty"`      // of the blob of Before, in bytes
	State    State           `json:"-"`
}

// ErrNotKept says that a content is not, or no longer, in the log.
var ErrNotKept = errors.New("the content from before this change is not kept")

// Log is the history of one root. It is safe for concurrent use, also by several processes.
type Log struct {
	dir   string
	limit int64
	owner string
	file  *os.File // log.jsonl, appended to
	alive *os.File // locked until Close

	mu      sync.Mutex // guards all below
	offset  int64      // up to here the file has been read
	entries []*Entry   // in the order of the log
	byID    map[string]*Entry
	zip     *flate.Writer // reused: a new one costs 0.1 ms
	stored  int64         // bytes in blobs, as far as this process knows
}

// Open opens or makes the log in dir, removes what is too old or beyond limit bytes (0 means DefaultLimit), and waits
// at most two seconds for another process that is just doing the same.
func Open(dir string, limit int64) (*Log, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	for _, d := range []string{dir, filepath.Join(dir, "blobs"), filepath.Join(dir, "alive")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, err
	}
	l := &Log{dir: dir, limit: limit, owner: newID(), byID: map[string]*Entry{}}
	l.zip, _ = flate.NewWriter(nil, flate.BestSpeed) // the level is valid
	unlock, err := l.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := l.open(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// open does what must not happen in two processes at once.
func (l *Log) open() (err error) {
	alone, err := l.othersGone()
	if err != nil {
		return err
	}
	if l.alive, err = os.OpenFile(filepath.Join(l.dir, "alive", l.owner), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return err
	}
	if ok, err := tryLock(l.alive); !ok {
		return errors.Join(errors.New("the history folder cannot be locked"), err)
	}
	if l.file, err = openLog(l.dir); err != nil {
		return err
	}
	if err := l.refresh(); err != nil {
		return err
	}
	if alone {
		err = l.prune(time.Now())
	}
	return err
}

func openLog(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, "log.jsonl"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
}

// Close ends the use of the log by this process.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	if l.file != nil {
		errs = append(errs, l.file.Close())
	}
	if l.alive != nil {
		errs = append(errs, l.alive.Close(), os.Remove(filepath.Join(l.dir, "alive", l.owner)))
	}
	l.file, l.alive = nil, nil
	return errors.Join(errs...)
}

// lock takes the lock of the folder, for short work only.
func (l *Log) lock() (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(l.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(2 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		ok, err := tryLock(f)
		if ok {
			return func() { f.Close() }, nil
		}
		if err != nil || time.Now().After(deadline) {
			f.Close()
			return nil, errors.Join(fmt.Errorf("the history in %s is in use by another process", l.dir), err)
		}
	}
}

// lives reports whether the process that calls itself owner still has the log open.
func (l *Log) lives(owner string) bool {
	if owner == l.owner {
		return true
	}
	f, err := os.OpenFile(filepath.Join(l.dir, "alive", filepath.Base(owner)), os.O_RDWR, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	ok, _ := tryLock(f)
	return !ok
}

// othersGone removes the marks of dead processes and reports whether no other one lives.
func (l *Log) othersGone() (alone bool, err error) {
	marks, err := os.ReadDir(filepath.Join(l.dir, "alive"))
	if err != nil {
		return false, err
	}
	alone = true
	for _, m := range marks {
		if m.Name() == l.owner {
			continue
		}
		if l.lives(m.Name()) {
			alone = false
			continue
		}
		if err := os.Remove(filepath.Join(l.dir, "alive", m.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	return alone, nil
}

// Begin records a change that is about to happen, with the old content if e.Before is set. ID and Owner, and Time if it
// is zero, are filled in. If e.InPlace is set, all of it is on the disk when Begin returns. The entry as recorded is
// returned.
func (l *Log) Begin(e Entry, old []byte) (Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.ID, e.Owner, e.State, e.NotKept, e.Size = newID(), l.owner, Pending, false, 0
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Time = e.Time.UTC().Truncate(time.Millisecond)
	switch {
	case e.Before == nil:
	case len(old) > MaxContent:
		e.NotKept = true
	default:
		size, err := l.store(*e.Before, old, e.InPlace)
		e.Size, e.NotKept = size, errors.Is(err, ErrNotKept)
		if err != nil && !e.NotKept {
			return e, err
		}
	}
	if err := l.append(event{What: begin, Entry: &e}); err != nil {
		return e, err
	}
	if e.InPlace {
		return e, errors.Join(l.file.Sync(), syncDir(l.dir))
	}
	return e, nil
}

// End records what became of a change: Done, Void or Torn.
func (l *Log) End(id string, s State) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.append(event{What: string(s), Entry: &Entry{ID: id}})
}

// Record makes o record the change in the log: e gives Session, Tool, Path and Undoes, and holds the whole entry
// afterwards. A change that cannot be recorded does not happen. Use o for one call.
func (l *Log) Record(o *atomicfile.Options, e *Entry) {
	asked := *e
	o.Begin = func(p atomicfile.Plan) (err error) {
		next := asked
		next.Path = filepath.ToSlash(asked.Path)
		next.Temp, next.InPlace = p.Temp, p.InPlace != ""
		next.MadeDirs = slices.Clone(p.MadeDirs)
		for i, d := range next.MadeDirs {
			next.MadeDirs[i] = filepath.ToSlash(d)
		}
		var old []byte
		if p.Old != nil {
			old, next.Before = p.Old.Data, &p.Old.Stamp.Sum
		}
		if !p.Remove {
			next.After = &p.Sum
		}
		if *e, err = l.Begin(next, old); err != nil {
			return fmt.Errorf("nothing was changed, since the change cannot be recorded: %v", err)
		}
		return nil
	}
	o.End = func(out atomicfile.Outcome, err error) {
		switch {
		case out.Written:
			e.State = Done
		case errors.Is(err, atomicfile.ErrTorn):
			e.State = Torn
		case out.Left != "":
			return // it stays open, and the next start looks at what was left
		default:
			e.State = Void
		}
		// If this cannot be written, the entry stays open and the next start settles it by looking at the file.
		_ = l.End(e.ID, e.State)
	}
}

// Entries returns the changes, newest first: of one path and one session, where "" means all. Those that changed
// nothing are left out.
func (l *Log) Entries(path, session string) ([]Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(); err != nil {
		return nil, err
	}
	var found []Entry
	for _, e := range slices.Backward(l.entries) {
		if e.State != Void && (path == "" || e.Path == path) && (session == "" || e.Session == session) {
			found = append(found, *e)
		}
	}
	return found, nil
}

package memory

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"ferrule/memory/internal/terms"
)

// The file has the rows (memories), an index without content over our own terms
// and the scope (mem_fts), its vocabulary with the number of rows for each term
// (mem_terms), memories that wait for a server (outbox), and numbers about
// itself (meta). One transaction holds a row, its index entry and those of its
// neighbours.
//
// Several processes share the file: SQLite's write-ahead log lets all of them
// read while one writes. What only one may do at a time, making the file and
// mending it, happens under a lock on memory.lock beside it.

//go:embed schema.sql
var firstSchema string

//go:embed schema2.sql
var scopeSchema string

// schemas are the steps that lead from an empty file to today's schema. A step
// that has been released is never changed.
func schemas() []string { return []string{firstSchema, scopeSchema} }

// A store is the SQLite backend. It may be used concurrently, and by several
// processes. The file is opened by the first call.
type store struct {
	path  string
	steps []string

	mu     sync.RWMutex // guards the fields below; held for reading while a call uses h
	h      *handle
	closed bool

	noteMu sync.Mutex // guards the fields below
	note   string     // what the next answer tells
	told   int        // damaged rows that an answer has told of
}

func newStore(path string) *store { return &store{path: path, steps: schemas()} }

// Close waits for calls at work. It leaves the write-ahead log to SQLite: other
// processes may be writing.
func (s *store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.drop()
}

// drop closes the handle; s.mu is held.
func (s *store) drop() error {
	if s.h == nil {
		return nil
	}
	err := s.h.close()
	s.h = nil
	return err
}

// do runs f with the open file. If the file turns out to be damaged it is
// mended, and f runs once more.
func (s *store) do(ctx context.Context, f func(*handle) error) error {
	h, err := s.acquire(ctx)
	if err != nil {
		return told(err)
	}
	err = f(h)
	s.mu.RUnlock()
	if damaged(err) {
		if err := s.repair(ctx, h); err != nil {
			return told(err)
		}
		if h, err = s.acquire(ctx); err != nil {
			return told(err)
		}
		err = f(h)
		s.mu.RUnlock()
	}
	return told(err)
}

// acquire returns the handle with s.mu held for reading. It opens the file if
// that has not been done, or if another one has taken its place since.
func (s *store) acquire(ctx context.Context) (*handle, error) {
	for {
		s.mu.RLock()
		if s.closed {
			s.mu.RUnlock()
			return nil, errClosed
		}
		if s.h != nil && s.current(s.h) {
			return s.h, nil
		}
		s.mu.RUnlock()
		if err := s.open(ctx); err != nil {
			return nil, err
		}
	}
}

// current reports whether h is of the file that stands at the path now.
func (s *store) current(h *handle) bool {
	fi, err := os.Stat(s.path)
	return err == nil && os.SameFile(fi, h.info)
}

func (s *store) open(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.h != nil && s.current(s.h) {
		return nil // acquire looks again
	}
	s.drop() // of a file that is not there any more
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("memory needs the directory %s: %v", dir, err)
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	s.h, err = openFile(ctx, s.path, s.steps)
	if damaged(err) {
		if err := s.salvage(ctx); err != nil {
			return err
		}
		s.h, err = openFile(ctx, s.path, s.steps)
	}
	if err == nil {
		err = s.startRebuild(ctx)
	}
	return err
}

// lock takes the lock between processes. Where there can be no lock, on some
// network and read-only file systems, it goes without: SQLite's own still hold.
func (s *store) lock(ctx context.Context) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(filepath.Dir(s.path), "memory.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second) // mending a large file takes that long
	defer cancel()
	for {
		if got, err := tryLock(f); got || err != nil {
			return func() { f.Close() }, nil
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, errBusy
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// openFile opens the file, makes it if it is not there, and brings it to the
// newest schema. It is called under the lock.
func openFile(ctx context.Context, path string, steps []string) (_ *handle, err error) {
	h := &handle{schema: len(steps)}
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // before SQLite, which would make it readable for all
	switch {
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		return h, h.openReadOnly(ctx, path, "the file "+path+" may not be written")
	case err != nil:
		return nil, fmt.Errorf("the memory file cannot be opened: %v", err)
	}
	if h.info, err = f.Stat(); err == nil && h.info.Mode().Perm()&0o077 != 0 {
		err = f.Chmod(0o600)
	}
	f.Close()
	if err != nil {
		return nil, err
	}
	var version int
	if h.w, h.journal, err = openJournal(ctx, path); err == nil {
		err = h.w.alone(ctx, func(t *tx) (err error) {
			version, err = migrate(t, path, steps)
			return err
		})
	}
	why := ""
	switch c := code(err); {
	case c == sqlite3.SQLITE_CANTOPEN || c == sqlite3.SQLITE_READONLY:
		why = "nothing may be written in the directory of " + path
	case err != nil:
		return nil, err
	case version > len(steps):
		why = fmt.Sprintf("a newer ferrule made the file (its schema is %d, this one knows %d); update ferrule", version, len(steps))
	default:
		h.r, err = openReaders(path)
		return h, err
	}
	if h.w != nil {
		h.w.close() // it has written nothing
		h.w = nil
	}
	return h, h.openReadOnly(ctx, path, why)
}

// openJournal opens the connection that writes and sets its journal. Where
// shared memory does not work, as on network file systems, the write-ahead log
// does not either, and the older journal takes its place.
func openJournal(ctx context.Context, path string) (w *writer, journal string, err error) {
	for _, mode := range []string{"wal", "delete"} {
		if w, err = openWriter(ctx, path); err != nil {
			return nil, "", err
		}
		err = w.alone(ctx, func(t *tx) error {
			if mode == "wal" {
				if _, err := t.row("PRAGMA journal_mode(WAL)", nil, &journal); err != nil {
					return err
				}
			}
			if _, err := t.row("PRAGMA journal_mode", nil, &journal); err != nil {
				return err
			}
			return t.script("PRAGMA synchronous(NORMAL); PRAGMA journal_size_limit(67108864); PRAGMA cache_size(-16000);" +
				"SELECT count(*) FROM sqlite_schema") // only this opens the log
		})
		if err == nil {
			return w, journal, nil
		}
		w.close()
		if damaged(err) || ctx.Err() != nil || code(err) == sqlite3.SQLITE_BUSY || mode == "delete" {
			break
		}
		if leaveLog(ctx, path) != nil {
			break // the first error says more
		}
	}
	return nil, "", err
}

// leaveLog marks a file as one without a log: the attempt has marked it
// already. A connection that locks exclusively does without shared memory.
func leaveLog(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", dsn(path, "_pragma=locking_mode(EXCLUSIVE)"))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "PRAGMA journal_mode(DELETE)")
	return err
}

// openReadOnly opens the pool only. A file without its shared memory, on a
// read-only file system, is read as one that nobody changes.
func (h *handle) openReadOnly(ctx context.Context, path, why string) (err error) {
	h.readOnly = why
	if h.info, err = os.Stat(path); err != nil {
		return fmt.Errorf("the memory file cannot be read: %v", err)
	}
	for _, mode := range []string{"mode=ro", "mode=ro&immutable=1"} {
		if h.r, err = openReaders(path, mode); err != nil {
			return err
		}
		var n int
		if err = h.r.QueryRowContext(ctx, "SELECT count(*) FROM meta").Scan(&n); err == nil || damaged(err) {
			return err
		}
		h.r.Close()
	}
	return err
}

// migrate takes the steps that the file lacks, one transaction each, and
// returns the version of its schema. A file that has memories is checked and
// copied first.
func migrate(t *tx, path string, steps []string) (int, error) {
	version, err := schemaVersion(t)
	if err != nil || version >= len(steps) {
		return version, err
	}
	if version > 0 {
		if err := backUp(t, path, version); err != nil {
			return version, err
		}
	}
	for version < len(steps) {
		err := func() error {
			if err := t.exec("BEGIN IMMEDIATE"); err != nil {
				return err
			}
			err := t.script(steps[version])
			if err == nil {
				err = t.script(fmt.Sprintf("INSERT INTO meta VALUES('schema', %d) ON CONFLICT DO UPDATE SET value=excluded.value;"+
					"INSERT INTO meta VALUES('analyzer', %d) ON CONFLICT DO NOTHING", version+1, terms.Version))
			}
			if err == nil {
				err = t.exec("COMMIT")
			}
			if err != nil {
				t.exec("ROLLBACK")
			}
			return err
		}()
		if err != nil {
			return version, err
		}
		version++
	}
	return version, nil
}

func schemaVersion(t *tx) (version int, err error) {
	var tables int
	if _, err := t.row("SELECT count(*) FROM sqlite_schema WHERE name='meta'", nil, &tables); err != nil || tables == 0 {
		return 0, err
	}
	_, err = t.row("SELECT value FROM meta WHERE key='schema'", nil, &version)
	return version, err
}

// maxBackups is how many copies from before a migration are kept.
const maxBackups = 3

// backUp checks the file and copies it to one beside it.
func backUp(t *tx, path string, version int) error {
	var state string
	if _, err := t.row("PRAGMA integrity_check(1)", nil, &state); err != nil {
		return err
	}
	if state != "ok" {
		return fmt.Errorf("the memory file is damaged (%s) and was not changed: run ferrule memory check", oneLine(state))
	}
	name := fmt.Sprintf("%s.schema%d-%s", path, version, time.Now().UTC().Format("20060102T150405.000"))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // VACUUM INTO takes an empty file
	if err != nil {
		return fmt.Errorf("memory cannot be brought to the new format without a copy first: %v", err)
	}
	f.Close()
	if err := t.exec("VACUUM INTO ?", name); err != nil {
		os.Remove(name)
		return err
	}
	old, _ := filepath.Glob(globQuote(path) + ".schema*-*")
	slices.SortFunc(old, func(a, b string) int { return strings.Compare(stamp(a), stamp(b)) })
	for _, p := range old[:max(0, len(old)-maxBackups)] {
		os.Remove(p) // one that stays is in nobody's way
	}
	return nil
}

func stamp(name string) string { return name[strings.LastIndexByte(name, '-')+1:] }

// globQuote makes a path a pattern that matches itself.
func globQuote(path string) string {
	if os.PathSeparator == '\\' {
		return path // nothing can be quoted there
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// say leaves a sentence for the next answer.
func (s *store) say(note string) {
	s.noteMu.Lock()
	defer s.noteMu.Unlock()
	s.note = strings.TrimSpace(s.note + " " + note)
}

// takeNote returns what is to be told, once.
func (s *store) takeNote() string {
	s.noteMu.Lock()
	defer s.noteMu.Unlock()
	note := s.note
	s.note = ""
	return note
}

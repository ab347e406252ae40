package memory

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A handle is one open database: a connection that writes, and a pool of
// connections that only read.
type handle struct {
	info     os.FileInfo // of the file that was opened
	readOnly string      // why nothing can be written, "" if it can
	journal  string
	schema   int // the version that this program knows

	w *writer // nil if readOnly
	r *sql.DB

	queries sync.Map     // SQL → *sql.Stmt, for r: parsing was a fifth of the time of a search
	common  sync.Map     // term → document frequency, for common terms
	counted atomic.Int64 // about how many rows there were when common was empty

	stop context.CancelFunc // ends the making of the index, if it is at work
	done chan struct{}      // closed when it has ended
}

const readers = 4

// dsn names a file for the driver. Every character of the path is data.
func dsn(path string, params ...string) string {
	p := filepath.ToSlash(path)
	if runtime.GOOS == "windows" {
		p = "/" + p
	}
	u := url.URL{Scheme: "file", Path: p, RawQuery: strings.Join(append(params, "_pragma=busy_timeout(10000)"), "&")}
	return u.String()
}

// openReaders opens the pool. Connections are made when they are needed.
func openReaders(path string, params ...string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn(path, append(params, "_pragma=query_only(1)", "_pragma=cache_size(-8000)")...))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	return db, nil
}

// stmt returns a prepared reading statement.
func (h *handle) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := h.queries.Load(query); ok {
		return s.(*sql.Stmt), nil
	}
	s, err := h.r.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if old, loaded := h.queries.LoadOrStore(query, s); loaded {
		s.Close()
		return old.(*sql.Stmt), nil
	}
	return s, nil
}

// query runs a reading statement and calls scan for each row.
func (h *handle) query(ctx context.Context, text string, args []any, scan func(*sql.Rows) error) error {
	s, err := h.stmt(ctx, text)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// number runs a reading statement that gives one integer.
func (h *handle) number(ctx context.Context, text string, args ...any) (n int64, err error) {
	s, err := h.stmt(ctx, text)
	if err != nil {
		return 0, err
	}
	return n, s.QueryRowContext(ctx, args...).Scan(&n)
}

// write runs f in a transaction, unless a newer program has changed the file
// since it was opened: what f would write might then lack what searches need.
func (h *handle) write(ctx context.Context, f func(*tx) error) error {
	return h.w.write(ctx, func(t *tx) error {
		var version int
		if _, err := t.row("SELECT value FROM meta WHERE key='schema'", nil, &version); err != nil {
			return err
		}
		if version > h.schema {
			return errNewer
		}
		return f(t)
	})
}

func (h *handle) close() error {
	if h.stop != nil {
		h.stop()
		<-h.done
	}
	var errs []error
	if h.r != nil {
		errs = append(errs, h.r.Close()) // the statements go with it
	}
	if h.w != nil {
		errs = append(errs, h.w.close())
	}
	return errors.Join(errs...)
}

// A writer is the one connection that writes. Transactions queue for it.
type writer struct {
	db    *sql.DB
	conn  *sql.Conn
	turn  chan struct{} // holds a value while nobody writes
	stmts map[string]*sql.Stmt

	untidy int // rows written since the index was tidied; for whose turn it is
}

func openWriter(ctx context.Context, path string) (*writer, error) {
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		db.Close()
		return nil, err
	}
	w := &writer{db: db, conn: conn, turn: make(chan struct{}, 1), stmts: make(map[string]*sql.Stmt)}
	w.turn <- struct{}{}
	return w, nil
}

func (w *writer) close() error {
	for _, s := range w.stmts {
		s.Close()
	}
	return errors.Join(w.conn.Close(), w.db.Close())
}

// A tx is a transaction at work.
type tx struct {
	ctx context.Context
	w   *writer
}

// write runs f in a transaction that holds the write lock from its beginning.
// The transaction is committed, whatever happens to ctx then, if f returns nil.
func (w *writer) write(ctx context.Context, f func(*tx) error) error {
	return w.alone(ctx, func(t *tx) error {
		if err := t.exec("BEGIN IMMEDIATE"); err != nil {
			return err
		}
		end := &tx{context.WithoutCancel(ctx), w}
		err := f(t)
		if err == nil {
			err = end.exec("COMMIT")
		}
		if err != nil {
			end.exec("ROLLBACK") // an error means that SQLite has rolled back by itself
		}
		return err
	})
}

// alone runs f while nobody else of this process writes.
func (w *writer) alone(ctx context.Context, f func(*tx) error) error {
	select {
	case <-w.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { w.turn <- struct{}{} }()
	return f(&tx{ctx, w})
}

func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if s, ok := t.w.stmts[query]; ok {
		return s, nil
	}
	s, err := t.w.conn.PrepareContext(t.ctx, query)
	if err == nil {
		t.w.stmts[query] = s
	}
	return s, err
}

func (t *tx) exec(query string, args ...any) error {
	s, err := t.stmt(query)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(t.ctx, args...)
	return err
}

// row reads the one row of a query into dest; without one it reports false.
func (t *tx) row(query string, args []any, dest ...any) (bool, error) {
	s, err := t.stmt(query)
	if err != nil {
		return false, err
	}
	err = s.QueryRowContext(t.ctx, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// ids reads a column of row numbers.
func (t *tx) ids(query string, args ...any) (out []int64, err error) {
	s, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(t.ctx, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, rows.Err()
}

// script runs several statements outside of the cache.
func (t *tx) script(text string) error {
	_, err := t.w.conn.ExecContext(t.ctx, text)
	return err
}

// code is the primary result code of SQLite in an error, or 0.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// damaged reports an error that means that the file is not what it should be.
func damaged(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_CORRUPT || c == sqlite3.SQLITE_NOTADB
}

// Errors that the caller's user reads.
var (
	errBusy   = errors.New("memory is busy: another process holds the file; try again")
	errFull   = errors.New("the disk is full: nothing was stored; free some space and try again")
	errNewer  = errors.New("a newer ferrule has changed the memory file: update ferrule or start it again")
	errClosed = errors.New("memory is closed")
)

// told makes an error of SQLite one that says what to do.
func told(err error) error {
	switch code(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return errBusy
	case sqlite3.SQLITE_FULL:
		return errFull
	}
	return err
}

package memory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// repair mends the file after bad has met damage: under the lock it checks
// again, since another process may have been first.
func (s *store) repair(ctx context.Context, bad *handle) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.h != bad || !s.current(bad) {
		return nil // somebody else has
	}
	s.drop()
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if fi, err := os.Stat(s.path); err != nil || !os.SameFile(fi, bad.info) {
		return nil
	}
	return s.salvage(ctx)
}

// salvage copies every row that can be read to a new file, which then takes the
// place of the damaged one; that is kept beside it. It is called with s.mu and
// the lock held and nothing open.
func (s *store) salvage(ctx context.Context) error {
	fresh := s.path + ".new"
	for _, suffix := range journals {
		os.Remove(fresh + suffix) // of one who was killed here
	}
	h, err := openFile(ctx, fresh, s.steps)
	if err != nil {
		return err
	}
	kept, err := copyRows(ctx, h, s.path)
	for more := true; more && err == nil; { // no other process knows this file
		more, err = h.rebuildSome(ctx)
	}
	if err = errors.Join(err, h.close()); err != nil { // closing moves the log into the file
		return err
	}
	old := s.path + ".damaged-" + time.Now().UTC().Format("20060102T150405.000")
	// The log goes first: it must never be applied to the new file.
	for _, suffix := range append(journals[1:], "") {
		if err := os.Rename(s.path+suffix, old+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the memory file is damaged and cannot be moved out of the way: %v", err)
		}
	}
	if err := os.Rename(fresh, s.path); err != nil {
		return fmt.Errorf("the memory file is damaged; what could be read is in %s and cannot be put in its place: %v", fresh, err)
	}
	s.say(fmt.Sprintf("The memory file was damaged: %d memories could be read and are kept, the damaged file is %s.", kept, old))
	return nil
}

// journals are the files of a database by their suffix.
var journals = []string{"", "-wal", "-shm", "-journal"}

// copyRows copies the memories and the outbox of the file at path into h and
// returns how many memories there were. Damage only ends a stretch of rows: it
// reads forward from the first, then back from the last, then what is left one
// by one.
func copyRows(ctx context.Context, h *handle, path string) (kept int, err error) {
	// With writable_schema a file that has been cut off is read as far as it goes.
	db, err := sql.Open("sqlite", dsn(path, "_pragma=writable_schema(1)"))
	if err != nil {
		return 0, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	err = h.w.write(ctx, func(t *tx) error {
		c := copier{t: t, db: db}
		up, ok := c.stretch("ORDER BY id", nil)
		if !ok {
			down, _ := c.stretch("WHERE id>? ORDER BY id DESC", up)
			for id := up + 1; id < min(down, up+maxProbes) && c.err == nil; id++ {
				c.stretch("WHERE id=?", id)
			}
		}
		kept = c.rows
		c.outbox()
		return errors.Join(c.err, t.script(unmade))
	})
	return kept, err
}

// maxProbes bounds the rows that are asked for one by one.
const maxProbes = 100_000

type copier struct {
	t    *tx
	db   *sql.DB
	rows int
	err  error // of the new file
}

// allColumns are those of the table of memories.
const allColumns = "id, uid, scope, session, seq, kind, content, tags, source, importance, auto, said, updated, seen, hash, superseded_by"

// stretch copies rows until there are no more or one cannot be read. It returns
// the number of the last one and whether it came to the end.
func (c *copier) stretch(which string, from any) (last int64, ok bool) {
	last, _ = from.(int64)
	args := []any{from}[:strings.Count(which, "?")]
	rows, err := c.db.QueryContext(c.t.ctx, "SELECT "+allColumns+" FROM memories "+which, args...)
	if err != nil {
		return last, false
	}
	defer rows.Close()
	v := make([]any, strings.Count(allColumns, ",")+1)
	p := make([]any, len(v))
	for i := range v {
		p[i] = &v[i]
	}
	for rows.Next() && c.err == nil {
		if rows.Scan(p...) != nil {
			continue
		}
		if id, is := v[0].(int64); is {
			last = id
		}
		var id int64
		added, err := c.t.row("INSERT OR IGNORE INTO memories("+allColumns+") VALUES(?"+strings.Repeat(",?", len(v)-1)+") RETURNING id", v, &id)
		switch code(err) {
		case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH: // not a row of ours
			continue
		}
		if c.err = err; added {
			c.rows++
		}
	}
	return last, rows.Err() == nil
}

func (c *copier) outbox() {
	rows, err := c.db.QueryContext(c.t.ctx, "SELECT uid, body, fault FROM outbox ORDER BY id")
	if err != nil {
		return
	}
	defer rows.Close()
	for rows.Next() {
		var uid, body string
		var fault sql.NullString
		if rows.Scan(&uid, &body, &fault) == nil {
			c.err = errors.Join(c.err, c.t.exec("INSERT OR IGNORE INTO outbox(uid, body, fault) VALUES(?,?,?)", uid, body, fault))
		}
	}
}

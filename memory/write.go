package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
	sqlite3 "modernc.org/sqlite/lib"

	"ferrule/memory/internal/terms"
)

// Ingest stores memories in one transaction and answers when it is on disk. An
// identical text of the same scope is counted, not stored again; near copies
// are never merged, since "port is 6380" differs from "port is 6379" by one
// term.
func (s *store) Ingest(ctx context.Context, ms []Memory) (out []Stored, err error) {
	err = s.do(ctx, func(h *handle) error {
		if h.w == nil {
			return errors.New("memory can only be read: " + h.readOnly)
		}
		var similar []Memory
		if len(ms) == 1 {
			if similar, err = h.similar(ctx, ms[0]); err != nil {
				return err
			}
		}
		out = make([]Stored, len(ms))
		err := h.write(ctx, func(t *tx) error {
			touched := make(map[int64]bool) // rows whose index entry must be made again
			for i, m := range ms {
				var err error
				if out[i], err = insert(t, m, touched); err != nil {
					return err
				}
			}
			for _, row := range slices.Sorted(maps.Keys(touched)) {
				if err := reindex(t, row); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			h.w.tidy(ctx, len(ms))
		}
		for _, x := range similar {
			if x.ID != out[0].ID && !slices.Contains(out[0].Superseded, x.ID) {
				out[0].Similar = append(out[0].Similar, x)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(out) > 0 {
		out[0].Note = s.takeNote()
	}
	return out, nil
}

// For so many rows written so many pages of the index are merged.
const (
	tidyRows  = 16
	tidyPages = 16
)

// tidy merges segments of the index, in proportion to what was written. Every
// search looks into every segment: without this, imports leave twenty of them,
// which make it half as fast again, and single memories five times slower.
func (w *writer) tidy(ctx context.Context, rows int) {
	w.alone(ctx, func(t *tx) error { // what fails here is done later
		for w.untidy += rows; w.untidy >= tidyRows; w.untidy -= tidyRows {
			var before, after int
			if _, err := t.row("SELECT total_changes()", nil, &before); err != nil {
				return err
			}
			if err := t.exec("INSERT INTO mem_fts(mem_fts, rank) VALUES('merge', ?)", tidyPages); err != nil {
				return err
			}
			if _, err := t.row("SELECT total_changes()", nil, &after); err != nil || after-before < 2 {
				w.untidy = 0 // nothing is left to merge
				return err
			}
		}
		return nil
	})
}

// insert adds one row, or counts the one that says the same.
func insert(t *tx, m Memory, touched map[int64]bool) (st Stored, err error) {
	st = Stored{ID: m.ID, Status: Kept, Importance: m.Importance}
	hash := contentHash(m.Content)
	var row int64
	var old struct {
		id, tags   string
		superseded *string
	}
	found, err := t.row("SELECT id, uid, tags, superseded_by FROM memories WHERE scope=? AND hash=?", []any{m.Scope, hash},
		&row, &old.id, &old.tags, &old.superseded)
	switch {
	case err != nil:
		return st, err
	case found:
		st.ID, st.Status = old.id, Duplicate
		if err := countAgain(t, m, row, old.tags); err != nil {
			return st, err
		}
		if old.superseded == nil || m.SupersededBy != "" {
			break
		}
		touched[row] = true // said again after it was superseded, it holds again
		if err := touchNeighbours(t, row, touched); err != nil {
			return st, err
		}
	default:
		if row, err = add(t, &m, hash); err != nil || row == 0 {
			st.Status, st.Reason = Rejected, "the id "+m.ID+" belongs to another memory"
			return st, err
		}
		st.ID = m.ID
		touched[row] = true
		if err := touchNeighbours(t, row, touched); err != nil {
			return st, err
		}
	}
	return st, supersede(t, m, row, &st, touched)
}

// countAgain notes that the words of a stored row came again.
func countAgain(t *tx, m Memory, row int64, oldTags string) error {
	var tags []string
	json.Unmarshal([]byte(oldTags), &tags) // damaged ones are replaced
	for _, tag := range m.Tags {
		if !slices.Contains(tags, tag) && len(tags) < maxTags {
			tags = append(tags, tag)
		}
	}
	return t.exec(`UPDATE memories SET seen=seen+max(1,?2), updated=max(updated,?3), importance=max(importance,?4), tags=?5,
		source=CASE source WHEN '' THEN ?6 ELSE source END, kind=CASE WHEN auto>?7 THEN ?8 ELSE kind END, auto=min(auto,?7),
		superseded_by=?9 WHERE id=?1`, row, m.Seen, max(m.Time.UnixMilli(), millis(m.Updated)), m.Importance, jsonTags(tags),
		m.Source, m.Auto, m.Kind, nullable(m.SupersededBy))
}

// add inserts a row and returns its number, or 0 if the id is taken. It fills
// in the id and the session of m.
func add(t *tx, m *Memory, hash []byte) (row int64, err error) {
	if m.ID == "" {
		m.ID = newID()
	}
	if m.Session == "" {
		m.Session = m.ID
	}
	said := m.Time.UnixMilli()
	_, err = t.row(`INSERT INTO memories(uid, scope, session, seq, kind, content, tags, source, importance, auto, said,
		updated, seen, hash, superseded_by) VALUES(?1,?2,?3,
		(SELECT coalesce(max(seq)+1,0) FROM memories WHERE scope=?2 AND session=?3),
		?4,?5,?6,?7,?8,?9,?10,?11,max(1,?12),?13,?14) ON CONFLICT(uid) DO NOTHING RETURNING id`,
		[]any{m.ID, m.Scope, m.Session, m.Kind, m.Content, jsonTags(m.Tags), m.Source, m.Importance, m.Auto, said,
			max(said, millis(m.Updated)), m.Seen, hash, nullable(m.SupersededBy)}, &row)
	return row, err
}

// supersede takes the memories that m replaces out of the index. They stay in
// the table, and come back when somebody says them again.
func supersede(t *tx, m Memory, row int64, st *Stored, touched map[int64]bool) error {
	for _, uid := range m.Supersedes {
		var dead int64
		found, err := t.row("UPDATE memories SET superseded_by=? WHERE uid=? AND scope=? AND id<>? RETURNING id",
			[]any{st.ID, uid, m.Scope, row}, &dead)
		switch {
		case err != nil:
			return err
		case !found:
			st.Unknown = append(st.Unknown, uid)
			continue
		}
		st.Superseded = append(st.Superseded, uid)
		touched[dead] = true
		if err := touchNeighbours(t, dead, touched); err != nil {
			return err
		}
	}
	return nil
}

const neighbour = `SELECT n.id, n.content FROM memories m JOIN memories n ON n.scope=m.scope AND n.session=m.session
	WHERE m.id=? AND n.superseded_by IS NULL AND n.seq `

// neighbours find the memory before and the one after in the same session.
var neighbours = [2]string{
	neighbour + `< m.seq ORDER BY n.seq DESC LIMIT 1`,
	neighbour + `> m.seq ORDER BY n.seq LIMIT 1`,
}

func touchNeighbours(t *tx, row int64, touched map[int64]bool) error {
	for _, q := range neighbours {
		var n int64
		var content string
		switch found, err := t.row(q, []any{row}, &n, &content); {
		case err != nil:
			return err
		case found:
			touched[n] = true
		}
	}
	return nil
}

// reindex makes the index entry of a row again, or removes it when the row has
// been superseded or deleted. An index without content takes no update of a
// part of an entry.
func reindex(t *tx, row int64) error {
	if err := t.exec("DELETE FROM mem_fts WHERE rowid=?", row); err != nil {
		return err
	}
	var content, scope string
	var said int64
	found, err := t.row("SELECT content, said, scope FROM memories WHERE id=? AND superseded_by IS NULL", []any{row}, &content, &said, &scope)
	if err != nil || !found {
		return err
	}
	var around [2]string
	for i, q := range neighbours {
		var n int64
		if _, err := t.row(q, []any{row}, &n, &around[i]); err != nil {
			return err
		}
	}
	return t.exec("INSERT INTO mem_fts(rowid, body, prev, nxt, ts, scope) VALUES(?,?,?,?,?,?)", row, indexText(content),
		indexText(around[0]), indexText(around[1]), indexText(terms.Day(time.UnixMilli(said))), scopeTerm(scope))
}

// scopeTerm stands for a scope in the index. No text has such a term, since §
// is neither letter, digit nor mark; the index takes it for part of a word.
func scopeTerm(scope string) string {
	h := sha256.Sum256([]byte(scope))
	return "§" + hex.EncodeToString(h[:8])
}

func indexText(s string) string { return strings.Join(terms.Index(s), " ") }

// contentHash is the same for texts that differ in case, white space and
// compatibility forms only.
func contentHash(s string) []byte {
	folded := strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(s))), " ")
	h := sha256.Sum256([]byte(folded))
	return h[:16]
}

func jsonTags(tags []string) string {
	b, _ := json.Marshal(append([]string{}, tags...)) // strings always can
	return string(b)
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// millis is 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Delete forgets memories and returns how many there were. Deleting alone
// leaves words in segments of the index, in free pages and in the log, so it
// goes on until the file holds no byte of them; if that cannot be done the
// error says so.
func (s *store) Delete(ctx context.Context, ids []string) (n int, err error) {
	err = s.do(ctx, func(h *handle) error {
		if h.w == nil {
			return errors.New("memory can only be read: " + h.readOnly)
		}
		for part := range slices.Chunk(ids, 1000) {
			err := h.write(ctx, func(t *tx) error {
				k, err := remove(t, part)
				n += k
				return err
			})
			if err != nil {
				return err
			}
		}
		return h.w.alone(ctx, scrub)
	})
	return n, err
}

// remove deletes rows and what their neighbours' entries say of them.
func remove(t *tx, ids []string) (n int, err error) {
	touched := make(map[int64]bool)
	for _, uid := range ids {
		var row int64
		if err := t.exec("DELETE FROM outbox WHERE uid=?", uid); err != nil {
			return n, err
		}
		found, err := t.row("SELECT id FROM memories WHERE uid=?", []any{uid}, &row)
		if err != nil {
			return n, err
		}
		if !found {
			continue
		}
		touched[row] = true
		if err := touchNeighbours(t, row, touched); err != nil {
			return n, err
		}
		if err := t.exec("DELETE FROM memories WHERE id=?", row); err != nil {
			return n, err
		}
		n++
	}
	for _, row := range slices.Sorted(maps.Keys(touched)) {
		if err := reindex(t, row); err != nil {
			return n, err
		}
	}
	return n, t.exec("INSERT INTO meta VALUES('traces', 1) ON CONFLICT DO NOTHING")
}

// scrub removes what deleted rows have left behind in the file. The mark in
// meta makes the next Delete try again if it cannot.
func scrub(t *tx) error {
	var marked int
	if found, err := t.row("SELECT value FROM meta WHERE key='traces'", nil, &marked); err != nil || !found {
		return err
	}
	for _, step := range []string{"INSERT INTO mem_fts(mem_fts) VALUES('optimize')", "VACUUM"} {
		if err := t.exec(step); err != nil {
			return fmt.Errorf("forgotten, but traces are left in the file (%v): run ferrule memory forget --traces", told(err))
		}
	}
	if err := truncateLog(t); err != nil {
		return err
	}
	if err := t.exec("DELETE FROM meta WHERE key='traces'"); err != nil {
		return err
	}
	return truncateLog(t)
}

func truncateLog(t *tx) error {
	var busy, log, moved int
	if _, err := t.row("PRAGMA wal_checkpoint(TRUNCATE)", nil, &busy, &log, &moved); err != nil {
		return err
	}
	if busy != 0 {
		return errors.New("forgotten, but traces are left in the log: another process is reading it: run ferrule memory forget --traces later")
	}
	return nil
}

// rebuildBatch is how many index entries are made again in one transaction.
const rebuildBatch = 200

// startRebuild makes the index again in the background if another analyzer made
// it. Searches meanwhile use what is there.
func (s *store) startRebuild(ctx context.Context) error {
	h := s.h
	if h.w == nil {
		return nil
	}
	n, err := h.number(ctx, "SELECT value FROM meta WHERE key='analyzer'")
	if err != nil || n == terms.Version {
		return err
	}
	work, stop := context.WithCancel(context.Background())
	h.stop, h.done = stop, make(chan struct{})
	go func() {
		defer close(h.done)
		for more := true; more; {
			var err error
			more, err = h.rebuildSome(work)
			if err != nil && code(err) != sqlite3.SQLITE_BUSY {
				return // the next process goes on
			}
			more = more || err != nil // the lock was not to be had
			select {
			case <-work.Done():
				return
			case <-time.After(10 * time.Millisecond): // others want to write, too
			}
		}
	}()
	return nil
}

// rebuilding reports whether the index is being made again, as far as this
// process has to do with it.
func (h *handle) rebuilding() bool {
	if h.done == nil {
		return false
	}
	select {
	case <-h.done:
		return false
	default:
		return true
	}
}

// rebuildSome makes the next entries and reports whether there are more.
func (h *handle) rebuildSome(ctx context.Context) (more bool, err error) {
	err = h.write(ctx, func(t *tx) (err error) {
		more, err = rebuildBefore(t)
		return err
	})
	if err == nil {
		h.w.tidy(ctx, rebuildBatch)
	}
	return more, err
}

// unmade says that the index must be made again, from the beginning.
const unmade = "UPDATE meta SET value=0 WHERE key='analyzer'; DELETE FROM meta WHERE key='rebuilt'"

// rebuildBefore goes on, newest first, where the last batch ended. That stands
// in the file, so that several processes may share the work.
func rebuildBefore(t *tx) (more bool, err error) {
	var by int
	if _, err := t.row("SELECT value FROM meta WHERE key='analyzer'", nil, &by); err != nil || by == terms.Version {
		return false, err // another process has come to the end
	}
	at := int64(math.MaxInt64)
	if _, err := t.row("SELECT value FROM meta WHERE key='rebuilt'", nil, &at); err != nil {
		return false, err
	}
	rows, err := t.ids("SELECT id FROM memories WHERE id<? ORDER BY id DESC LIMIT ?", at, rebuildBatch)
	if err != nil {
		return false, err
	}
	for _, row := range rows {
		if err := reindex(t, row); err != nil {
			return false, err
		}
	}
	if len(rows) > 0 {
		return true, t.exec("INSERT INTO meta VALUES('rebuilt', ?) ON CONFLICT DO UPDATE SET value=excluded.value", rows[len(rows)-1])
	}
	if err := t.exec("DELETE FROM meta WHERE key='rebuilt'"); err != nil {
		return false, err
	}
	return false, t.exec("UPDATE meta SET value=? WHERE key='analyzer'", terms.Version)
}

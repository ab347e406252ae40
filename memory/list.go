package memory

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"ferrule/memory/internal/terms"
)

// pageRows is how many rows are read at once: one long reading would keep the
// log from shrinking.
const pageRows = 500

// Walk yields the memories that q chooses. Rows that are damaged are passed
// over.
func (s *store) Walk(ctx context.Context, q Query) iter.Seq2[Memory, error] {
	return func(yield func(Memory, error) bool) {
		where, args := q.chosen()
		order, next := " ORDER BY m.said DESC, m.id DESC", " AND (m.said, m.id) < (?, ?)"
		if q.Oldest {
			order, next = " ORDER BY m.id", " AND m.id > ?"
		}
		after, from := "", []any(nil)
		for given := 0; ; after = next {
			page, last, err := s.page(ctx, "SELECT "+columns+" FROM memories m WHERE 1"+where+after+order+" LIMIT ?",
				slices.Concat(args, from, []any{pageRows}))
			if err != nil {
				yield(Memory{}, err)
				return
			}
			for _, m := range page {
				if given++; !yield(m, nil) || given == q.Limit {
					return
				}
			}
			if last == nil {
				return
			}
			if from = last; q.Oldest {
				from = last[1:]
			}
		}
	}
}

// page reads one page, and the time and number of its last row unless it is the
// last page.
func (s *store) page(ctx context.Context, text string, args []any) (page []Memory, last []any, err error) {
	err = s.do(ctx, func(h *handle) error {
		page, last = nil, nil
		read := 0
		err := h.query(ctx, text, args, func(r *sql.Rows) error {
			row, m, ok := scan(r)
			if ok {
				page = append(page, m)
			}
			read++
			last = []any{m.Time.UnixMilli(), row}
			return nil
		})
		if read < pageRows {
			last = nil
		}
		return err
	})
	return page, last, err
}

// chosen adds to the filters of a search those of a list.
func (q Query) chosen() (where string, args []any) {
	where, args = q.conditions()
	if len(q.IDs) > 0 {
		where, args = where+" AND m.uid IN (SELECT value FROM json_each(?))", append(args, jsonTags(q.IDs))
	}
	if q.Session != "" {
		where, args = where+" AND m.session=?", append(args, q.Session)
	}
	if !q.Superseded {
		where += " AND m.superseded_by IS NULL"
	}
	return where, args
}

// Stats counts what there is.
func (s *store) Stats(ctx context.Context) (st Stats, err error) {
	err = s.do(ctx, func(h *handle) error {
		st = Stats{Backend: "sqlite", File: s.path, Kinds: make(map[string]int), Scopes: make(map[string]int), Journal: h.journal}
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if fi, err := os.Stat(s.path + suffix); err == nil {
				st.Bytes += fi.Size()
			}
		}
		err := h.query(ctx, `SELECT kind, scope, superseded_by IS NULL, count(*) FROM memories GROUP BY 1, 2, 3`, nil, func(r *sql.Rows) error {
			var kind, scope string
			var live bool
			var n int
			if err := r.Scan(&kind, &scope, &live, &n); err != nil {
				return err
			}
			if !live {
				st.Superseded += n
				return nil
			}
			st.Memories += n
			st.Kinds[kind] += n
			st.Scopes[scope] += n
			return nil
		})
		if err != nil {
			return err
		}
		err = h.query(ctx, `SELECT key, value FROM meta UNION ALL SELECT 'queued', count(*) FROM outbox WHERE fault IS NULL
			UNION ALL SELECT 'parked', count(*) FROM outbox WHERE fault IS NOT NULL`, nil, func(r *sql.Rows) error {
			var key string
			var n int
			if err := r.Scan(&key, &n); err != nil {
				return err
			}
			st.number(key, n)
			return nil
		})
		if err != nil {
			return err
		}
		if st.Analyzer != terms.Version {
			st.Notes = append(st.Notes, "the index is being made again for this version")
		}
		if h.readOnly != "" {
			st.Notes = append(st.Notes, "read-only: "+h.readOnly)
		}
		if h.journal == "delete" {
			st.Notes = append(st.Notes, "the file system does not allow a write-ahead log: writing is slower and processes wait for one another")
		}
		st.Notes = append(st.Notes, s.copies()...)
		st.Damaged, err = h.countDamaged(ctx)
		return err
	})
	return st, err
}

func (st *Stats) number(key string, n int) {
	switch key {
	case "schema":
		st.Schema = n
	case "analyzer":
		st.Analyzer = n
	case "queued":
		st.Queued = n
	case "parked":
		st.Parked = n
	case "traces":
		st.Notes = append(st.Notes, "traces of forgotten memories are left in the file: run ferrule memory forget --traces")
	}
}

// copies names older files beside the store: they hold what has been forgotten
// since.
func (s *store) copies() (notes []string) {
	for _, pattern := range []string{".schema*-*", ".damaged-*"} {
		names, _ := filepath.Glob(globQuote(s.path) + pattern)
		for _, n := range names {
			notes = append(notes, "an older copy: "+n)
		}
	}
	return notes
}

// countDamaged reads every row.
func (h *handle) countDamaged(ctx context.Context) (n int, err error) {
	err = h.query(ctx, "SELECT "+columns+" FROM memories m", nil, func(r *sql.Rows) error {
		if _, _, ok := scan(r); !ok {
			n++
		}
		return nil
	})
	return n, err
}

// tellDamage leaves a note if a search has met more damaged rows than have been
// told of.
func (s *store) tellDamage(n int) {
	s.noteMu.Lock()
	more := n > s.told
	s.told = max(s.told, n)
	s.noteMu.Unlock()
	if more {
		s.say(fmt.Sprintf("%d damaged memories cannot be read and were passed over; nothing was deleted (see ferrule memory check).", n))
	}
}

// Check looks for damage and returns what it finds, a sentence each. With
// rebuild it makes the index again first.
func (s *store) Check(ctx context.Context, rebuild bool) (faults []string, err error) {
	err = s.do(ctx, func(h *handle) error {
		if h.w == nil {
			return fmt.Errorf("memory cannot be checked: %s", h.readOnly)
		}
		if rebuild {
			if err := h.rebuild(ctx); err != nil {
				return err
			}
		}
		return h.w.alone(ctx, func(t *tx) error {
			faults, err = inspect(t)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	err = s.do(ctx, func(h *handle) error {
		n, err := h.countDamaged(ctx)
		if n > 0 {
			faults = append(faults, fmt.Sprintf("%d rows cannot be read; they are passed over, and nothing is deleted", n))
		}
		return err
	})
	return faults, err
}

// inspect runs SQLite's own checks and compares the index with the rows.
func inspect(t *tx) (faults []string, err error) {
	var state string
	if _, err := t.row("PRAGMA integrity_check(1)", nil, &state); err != nil {
		return nil, err
	}
	if state != "ok" {
		faults = append(faults, "the file is damaged: "+oneLine(state))
	}
	if err := t.exec("INSERT INTO mem_fts(mem_fts) VALUES('integrity-check')"); err != nil {
		return nil, err
	}
	var missing, extra, lost int
	if _, err := t.row(`SELECT (SELECT count(*) FROM memories WHERE superseded_by IS NULL AND id NOT IN (SELECT id FROM mem_fts_docsize)),
		(SELECT count(*) FROM mem_fts_docsize WHERE id NOT IN (SELECT id FROM memories WHERE superseded_by IS NULL)),
		(SELECT count(*) FROM mem_fts_docsize) - (SELECT coalesce(sum(doc), 0) FROM mem_terms WHERE term>='§' AND term<'§g')`,
		nil, &missing, &extra, &lost); err != nil {
		return nil, err
	}
	if missing != 0 || extra != 0 || lost != 0 {
		faults = append(faults, fmt.Sprintf("the index lacks %d memories, has %d that are gone and knows no scope of %d: "+
			"run ferrule memory check --rebuild", missing, extra, lost))
	}
	return faults, nil
}

// rebuild makes the index again from nothing.
func (h *handle) rebuild(ctx context.Context) error {
	err := h.write(ctx, func(t *tx) error {
		if err := t.exec("INSERT INTO mem_fts(mem_fts) VALUES('delete-all')"); err != nil {
			return err
		}
		return t.script(unmade)
	})
	for more := true; more && err == nil; {
		more, err = h.rebuildSome(ctx)
	}
	return err
}

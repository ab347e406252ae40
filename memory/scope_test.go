package memory

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ferrule/memory/internal/terms"
)

// The index restricts a search to its scopes only where that pays, and what it
// finds, its order and its scores are the same either way.
func TestScopeInTheIndex(t *testing.T) {
	t.Parallel()
	c, s := fresh(t)
	texts := newCorpus()
	ms := make([]Memory, 1000)
	for i := range ms {
		ms[i] = texts.memory() // in one of twenty projects
		switch {
		case i%4 > 0:
			ms[i].Scope = "large"
		case i%40 == 0:
			ms[i].Scope = UserScope
		}
	}
	if _, err := c.Ingest(t.Context(), ms...); err != nil {
		t.Fatal(err)
	}
	most := []string{"large"}
	for i := range 19 {
		most = append(most, fmt.Sprint("p", i))
	}
	restricted, found := 0, 0
	for i := range 50 {
		words := terms.Query(texts.sentence(3 + texts.r.IntN(9)))
		q := Query{Scopes: []string{fmt.Sprint("p", i%20), UserScope, "gone"}}
		err := s.do(t.Context(), func(h *handle) error {
			asked, err := h.lookUp(t.Context(), words, q.Scopes)
			if err != nil {
				return err
			}
			expr := asked.plan(termsMost, postings)
			open := question{terms: asked.terms, rows: asked.rows}.plan(termsMost, postings)
			want, err := h.match(t.Context(), q, open, candidates)
			if err != nil {
				return err
			}
			got, err := h.match(t.Context(), q, expr, candidates)
			if !slices.EqualFunc(got, want, func(a, b Hit) bool { return a.row == b.row && a.Score == b.Score }) {
				t.Errorf("%s found %v, want %v", expr, got, want)
			}
			if found += len(got); strings.Contains(expr, " AND ") {
				restricted++
			}
			if err != nil {
				return err
			}
			asked, err = h.lookUp(t.Context(), words, most)
			if expr := asked.plan(termsMost, postings); strings.Contains(expr, " AND ") {
				t.Errorf("scopes that hold nearly all of the store restrict the index: %s", expr)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if restricted < 25 || found < 50 {
		t.Errorf("%d of 50 searches were restricted and found %d rows", restricted, found)
	}
	if got := find(t, c, Query{Text: ms[1].Content, Scopes: []string{"gone"}}); len(got) > 0 {
		t.Errorf("found %q in a scope without memories", got)
	}
	if words := terms.Query(scopeTerm("large")); slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "§") }) {
		t.Errorf("a text can name a scope in the index: %q", words)
	}
}

// What is remembered of a scope's size is counted again when the store has
// grown: a scope that was small may hold most of it.
func TestCountsAreRenewed(t *testing.T) {
	t.Parallel()
	_, s := fresh(t)
	sizeOf := func() (n int) {
		err := s.do(t.Context(), func(h *handle) error {
			q, err := h.lookUp(t.Context(), []string{"tree"}, []string{"p"})
			n = q.scopes[0].rows
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	total := 0
	for _, more := range []int{commonRows + 10, 100, 2 * commonRows} {
		err := s.do(t.Context(), func(h *handle) error {
			return h.w.write(t.Context(), func(x *tx) error {
				err := x.exec(`WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i+1 FROM n WHERE i<?1+?2-1)
					INSERT INTO mem_fts(rowid, body, prev, nxt, ts, scope) SELECT i, 'tree', '', '', '', ?3 FROM n`, total+1, more, scopeTerm("p"))
				if err != nil {
					return err
				}
				total += more // about how many there are is the number of the last one
				return x.exec(`INSERT INTO memories(id, uid, scope, session, seq, kind, content, tags, source, importance, auto, said, updated, hash)
					VALUES(?1, ?1, 'p', '', 1, 'fact', 'tree', '[]', '', 0.5, 0, 0, 0, CAST(?1 AS BLOB))`, total)
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		if n := sizeOf(); n > total || n < total/2 {
			t.Errorf("%d rows of %d", n, total)
		}
	}
}

// A file from before the index knew scopes is copied, gets the new index in the
// background, newest first, and is found in as before. Who still has it open
// with the old program, or comes with it later, reads and does not write.
func TestMigrationOfTheIndex(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.db")
	before := newStore(path)
	before.steps = schemas()[:1]
	old := &Client{DefaultSettings(), before}
	t.Cleanup(func() { old.Close() })
	const rows = 2*rebuildBatch + 50
	err := before.do(t.Context(), func(h *handle) error {
		return h.w.alone(t.Context(), func(x *tx) error {
			return x.script(fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<%d)
				INSERT INTO memories(uid, scope, session, seq, kind, content, tags, source, importance, auto, said, updated, hash)
				SELECT 'm'||i, 'p'||(i%%3), 's', i, 'fact', 'juniper word'||char(97+i/26, 97+i%%26), '[]', '', 0.5, 0, 0, 0, randomblob(16) FROM n;
				UPDATE memories SET superseded_by='m1' WHERE id=3;
				INSERT INTO mem_fts(rowid, body, prev, nxt, ts) SELECT id, content, '', '', '' FROM memories WHERE id<>3`, rows))
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := find(t, old, Query{Text: "wordah"}); len(got) != 1 {
		t.Fatalf("%q", got)
	}

	c, s := open(t, path)
	find(t, c, Query{Text: "juniper"}) // opens it
	if s.h.done == nil {
		t.Fatal("the index is not made again")
	}
	<-s.h.done
	for q, want := range map[*Query]int{
		{Text: "juniper", Limit: 50, Scopes: []string{"p2"}}: 50, {Text: "wordah"}: 3, {Text: "wordah", Scopes: []string{"p0", "p1"}}: 3,
		{Text: "wordah", Scopes: []string{"p0", "p2"}}: 0,
		{Text: "wordad", Scopes: []string{"p0"}}:       0, {Text: "juniper", Scopes: []string{"p4"}}: 0,
	} {
		if got := find(t, c, *q); len(got) != want {
			t.Errorf("%+v found %q, want %d", *q, got, want)
		}
	}
	sound(t, c)
	err = s.do(t.Context(), func(h *handle) error { // another process, which has not heard that it is done
		if more, err := h.rebuildSome(t.Context()); more || err != nil {
			t.Errorf("it is made once more: %v %v", more, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	st, err := c.Stats(t.Context())
	if err != nil || st.Schema != len(schemas()) || st.Analyzer != terms.Version || st.Memories != rows-1 {
		t.Errorf("%+v %v", st, err)
	}
	copies, _ := filepath.Glob(path + ".schema1-*")
	if len(copies) != 1 {
		t.Fatalf("copies %v", copies)
	}
	was := newStore(copies[0])
	was.steps = schemas()[:1]
	t.Cleanup(func() { was.Close() })
	if n := len(list(t, &Client{DefaultSettings(), was}, Query{})); n != rows-1 {
		t.Errorf("the copy has %d rows", n)
	}

	if got := find(t, old, Query{Text: "wordah", Scopes: []string{"p1"}}); len(got) == 0 {
		t.Error("the old program does not find what is there")
	}
	if _, err := old.Ingest(t.Context(), Memory{Content: "without its scope", Scope: "p"}); !errors.Is(err, errNewer) {
		t.Errorf("the error is %v", err)
	}
	late := newStore(path)
	late.steps = schemas()[:1]
	t.Cleanup(func() { late.Close() })
	if got := find(t, &Client{DefaultSettings(), late}, Query{Text: "wordah"}); len(got) == 0 {
		t.Error("the old program does not find what is there")
	}
}

// A search while the index is being made says that it may be incomplete.
func TestSearchWhileRebuilding(t *testing.T) {
	t.Parallel()
	c, s := fresh(t)
	keepAll(t, c, "rowan")
	note := func() string {
		f, err := c.Search(t.Context(), Query{Text: "rowan"})
		if err != nil || len(f.Hits) != 1 {
			t.Errorf("%+v %v", f, err)
		}
		return f.Note
	}
	if got := note(); got != "" {
		t.Errorf("note %q", got)
	}
	s.h.stop, s.h.done = func() {}, make(chan struct{})
	if got := note(); !strings.Contains(got, "being made again") {
		t.Errorf("note %q", got)
	}
	close(s.h.done)
	if got := note(); got != "" {
		t.Errorf("note %q", got)
	}
}

// An entry that lacks its scope, by a program that knows none, is told and
// mended.
func TestCheckFindsMissingScopes(t *testing.T) {
	t.Parallel()
	c, s := fresh(t)
	keepAll(t, c, "larch", "spruce")
	err := s.do(t.Context(), func(h *handle) error {
		return h.w.alone(context.Background(), func(x *tx) error {
			return x.script("DELETE FROM mem_fts WHERE rowid=2; INSERT INTO mem_fts(rowid, body, prev, nxt, ts) VALUES(2, 'spruce', '', '', '')")
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if faults, err := c.Check(t.Context(), false); err != nil || len(faults) != 1 || !strings.Contains(faults[0], "no scope of 1") {
		t.Errorf("%q %v", faults, err)
	}
	if faults, err := c.Check(t.Context(), true); err != nil || len(faults) != 0 {
		t.Errorf("%q %v", faults, err)
	}
}

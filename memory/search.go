package memory

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ferrule/memory/internal/terms"
)

// The index is only a posting list with BM25; what it finds is ranked again:
// the row's own score, the vote of its session, and two small priors. Every
// constant was measured on long conversations (LoCoMo) and Chinese sentences
// (CMRC): the neighbours' words in the index find .09 more of the evidence in
// ten results, the session's vote .025, the priors only order ties. What did
// not pay: feedback terms, trigrams, proximity, coordination, other k1 and b, a
// Chinese dictionary, and single Chinese characters (.02, but 6–14 times the
// time).
const (
	candidates = 200    // rows taken from the index
	voteWeight = 0.5    // of the session's vote beside the row's own score
	voteTop    = 3      // rows of a session that vote
	wordsMost  = 64     // distinct query terms that are looked up
	termsMost  = 12     // rarest of them that are searched for
	termsLeast = 2      // of which so many whatever they cost
	commonRows = 2_000  // rows that hold a term from which on their number is remembered
	postings   = 20_000 // read at most, beyond the termsLeast rarest; 1,000 would find .07 less
	scopePays  = 15     // postings of a scope that may be read to leave a posting of others out; it is 20 at 100,000, 30 at a million
	impWeight  = 0.10   // importance moves a score by at most this part
	ageWeight  = 0.05   // age moves a score by at most this part
	ageHalf    = 90 * 24 * time.Hour
	restates   = 0.7 // shared part of the smaller set of terms from which on the newer of two results stands first
	spare      = 10  // results read beyond the limit, since some are dropped
	gateTop    = 5   // results of which one must reach the gate
	smallStore = 50  // coverage is measured as if there were at least so many memories

	nearCopy                          = 0.5 // Jaccard of terms from which on a stored memory is called similar
	nearTerms, nearPostings, nearRows = 4, 1000, 10
	similarMost                       = 5
	earliest                          = -62135596800000 // year 1, in Unix milliseconds
	latest                            = 253402300799999 // year 9999
	maxStored                         = 4 * MaxContent  // characters of a row that is not damaged
)

// A queryTerm is a term with the number of rows that hold it.
type queryTerm struct {
	text   string
	rows   int
	prefix bool
}

// A question is what is known before the index is searched.
type question struct {
	terms  []queryTerm
	scopes []queryTerm // their terms in the index; none: everything is searched
	rows   int         // in the store, about
}

// Search returns the best memories first. It writes nothing.
func (s *store) Search(ctx context.Context, q Query) (f Found, err error) {
	err = s.do(ctx, func(h *handle) error {
		f = Found{Backend: "sqlite"}
		if h.rebuilding() {
			f.Note = "The index of memories is being made again for this version: older ones may not be found until it is done. "
		}
		asked, err := h.lookUp(ctx, terms.Query(q.Text), q.Scopes)
		if err != nil {
			return err
		}
		hits, err := h.match(ctx, q, asked.plan(termsMost, postings), candidates)
		if err != nil || len(hits) == 0 {
			return err
		}
		rank(hits, time.Now())
		f.Candidates = len(hits)
		hits, bad, err := h.fill(ctx, hits[:min(len(hits), q.Limit+spare+len(q.Exclude))])
		if err != nil {
			return err
		}
		s.tellDamage(bad)
		hits = slices.DeleteFunc(hits, func(x Hit) bool { return slices.Contains(q.Exclude, x.ID) })
		f.Hits = gate(choose(hits, asked, q.Limit), q.Gate)
		return nil
	})
	f.Note = strings.TrimSpace(f.Note + s.takeNote())
	return f, err
}

// lookUp finds how many rows hold each term and each scope, and about how many
// rows there are. Counting a common term walks its whole posting list, so its
// count is kept until the store has doubled: it serves to leave the term out,
// and may be old.
func (h *handle) lookUp(ctx context.Context, words, scopes []string) (q question, err error) {
	words = words[:min(len(words), wordsMost)]
	rows, err := h.number(ctx, "SELECT coalesce(max(id), 0) FROM memories")
	if err != nil || len(words) == 0 {
		return q, err
	}
	if was := h.counted.Load(); rows > 2*was && h.counted.CompareAndSwap(was, rows) {
		h.common.Clear()
	}
	all := make([]queryTerm, len(words)+len(scopes))
	for i, w := range words {
		all[i] = queryTerm{text: w, prefix: len(words) == 1 && terms.Lone(w)}
	}
	for i, scope := range scopes {
		all[len(words)+i].text = scopeTerm(scope)
	}
	q = question{terms: all[:len(words)], scopes: all[len(words):], rows: int(rows)}
	at := make(map[string]*queryTerm, len(all))
	var ask []string
	for i, t := range all {
		if n, ok := h.common.Load(t.text); ok {
			all[i].rows = n.(int)
			continue
		}
		at[t.text] = &all[i]
		ask = append(ask, t.text)
	}
	if len(ask) == 0 {
		return q, nil
	}
	err = h.query(ctx, "SELECT t.term, t.doc FROM json_each(?) j CROSS JOIN mem_terms t WHERE t.term=j.value", []any{jsonTags(ask)},
		func(r *sql.Rows) error {
			var w string
			var n int
			if err := r.Scan(&w, &n); err != nil {
				return err
			}
			if at[w].rows = n; n > commonRows {
				h.common.Store(w, n)
			}
			return nil
		})
	return q, err
}

// plan writes the expression for the index: the rarest terms first, as many as
// the budget of postings allows. Every term is quoted, so that nothing a user
// types is syntax.
func (q question) plan(most, budget int) string {
	known := slices.DeleteFunc(slices.Clone(q.terms), func(t queryTerm) bool { return t.rows == 0 && !t.prefix })
	slices.SortStableFunc(known, func(a, b queryTerm) int { return a.rows - b.rows })
	read := 0
	for i, t := range known {
		if i >= termsLeast && (read+t.rows > budget || i >= most) {
			known = known[:i]
			break
		}
		read += t.rows
	}
	if len(known) == 0 {
		return ""
	}
	return q.within(anyOf(known), read)
}

// within restricts an expression that reads so many postings to the scopes of
// the question, if that pays: scoring a row of another scope costs more than
// scopePays times what a posting of the scope does, which is counted, too, for
// BM25. Rows of other scopes are filtered out later in any case.
func (q question) within(expr string, read int) string {
	if len(q.scopes) == 0 {
		return expr
	}
	held := 0
	for _, s := range q.scopes {
		held += s.rows
	}
	switch others := 1 - float64(held)/float64(max(q.rows, 1)); {
	case held == 0:
		return ""
	case float64(held) > scopePays*float64(read)*others:
		return expr
	}
	return "(" + expr + ") AND (" + anyOf(q.scopes) + ")"
}

// anyOf is an expression for rows that hold one of the terms, which have letters,
// digits, marks and § only.
func anyOf(list []queryTerm) string {
	var or []string
	for _, t := range list {
		e := `"` + t.text + `"`
		if t.prefix {
			e += "*"
		}
		or = append(or, e)
	}
	return strings.Join(or, " OR ")
}

// match takes the best rows from the index, without their text. CROSS JOIN
// keeps the index outside, so that rows come in the order of rank and filters
// cannot starve.
func (h *handle) match(ctx context.Context, q Query, expr string, limit int) (hits []Hit, err error) {
	if expr == "" {
		return nil, nil
	}
	where, args := q.conditions()
	text := `SELECT m.id, m.session, m.importance, max(m.said, m.updated), f.rank FROM mem_fts f
		CROSS JOIN memories m ON m.id = f.rowid WHERE f.mem_fts MATCH ?` + where + ` ORDER BY f.rank LIMIT ?`
	err = h.query(ctx, text, slices.Concat([]any{expr}, args, []any{limit}), func(r *sql.Rows) error {
		var x Hit
		var last int64
		if r.Scan(&x.row, &x.Session, &x.Importance, &last, &x.Score) != nil {
			return nil // a row of a damaged page: others are served
		}
		x.Score, x.last = -x.Score, time.UnixMilli(last)
		hits = append(hits, x)
		return nil
	})
	return hits, err
}

// conditions writes the filters of a query on table m, from " AND" on. Lists go
// in as JSON, so that there are few different statements to prepare.
func (q Query) conditions() (where string, args []any) {
	add := func(cond string, v any) { where, args = where+" AND "+cond, append(args, v) }
	if len(q.Scopes) > 0 {
		add("m.scope IN (SELECT value FROM json_each(?))", jsonTags(q.Scopes))
	}
	if q.Kind != "" {
		add("m.kind=?", q.Kind)
	}
	if len(q.Tags) > 0 {
		add(`NOT EXISTS (SELECT 1 FROM json_each(?) a WHERE a.value NOT IN
			(SELECT value FROM json_each(CASE WHEN json_valid(m.tags) THEN m.tags ELSE '[]' END)))`, jsonTags(q.Tags))
	}
	if q.MinImportance > 0 {
		add("m.importance>=?", q.MinImportance)
	}
	if !q.Since.IsZero() {
		add("m.said>=?", q.Since.UnixMilli())
	}
	if !q.Until.IsZero() {
		add("m.said<?", q.Until.UnixMilli())
	}
	return where, args
}

// columns are what a Memory is read from, see scan.
const columns = `m.id, m.said, m.updated, m.uid, m.scope, m.session, m.kind, m.content, m.tags, m.source, m.importance, m.auto,
	m.seen, coalesce(m.superseded_by, '')`

// scan reads a row of columns. It reports false if the row holds what no writer
// of ours has stored: such a row is passed over, but its number and its time
// are given.
func scan(r *sql.Rows) (row int64, m Memory, ok bool) {
	var tags string
	var said, updated int64
	err := r.Scan(&row, &said, &updated, &m.ID, &m.Scope, &m.Session, &m.Kind, &m.Content, &tags, &m.Source, &m.Importance,
		&m.Auto, &m.Seen, &m.SupersededBy)
	m.Time, m.Updated = time.UnixMilli(said).UTC(), time.UnixMilli(updated).UTC()
	if err != nil || json.Unmarshal([]byte(tags), &m.Tags) != nil {
		return row, m, false
	}
	for _, s := range append([]string{m.ID, m.Scope, m.Session, m.Kind, m.Content, m.Source, m.SupersededBy}, m.Tags...) {
		if !utf8.ValidString(s) {
			return row, m, false
		}
	}
	ok = m.Content != "" && len(m.Content) <= maxStored*utf8.UTFMax && slices.Contains(kinds[:], m.Kind) &&
		m.Importance >= 0 && m.Importance <= 1 && min(said, updated) >= earliest && max(said, updated) <= latest
	return row, m, ok
}

// fill reads the rows that may be shown and counts those that are damaged. Rows
// that have been deleted in between are left out.
func (h *handle) fill(ctx context.Context, hits []Hit) (_ []Hit, bad int, err error) {
	at := make(map[int64]*Hit, len(hits))
	rows := make([]int64, len(hits))
	for i := range hits {
		at[hits[i].row], rows[i] = &hits[i], hits[i].row
	}
	list, _ := json.Marshal(rows)
	err = h.query(ctx, "SELECT "+columns+" FROM memories m WHERE m.id IN (SELECT value FROM json_each(?))", []any{string(list)},
		func(r *sql.Rows) error {
			row, m, ok := scan(r)
			if x := at[row]; ok && x != nil {
				x.Memory = m
			} else {
				bad++
			}
			return nil
		})
	return slices.DeleteFunc(hits, func(x Hit) bool { return x.Content == "" }), bad, err
}

// rank adds to each row's own score the vote of its session, then the priors.
// The hits come best first.
func rank(hits []Hit, now time.Time) {
	top := hits[0].Score
	votes, n, most := make(map[string]float64), make(map[string]int), 0.0
	for _, x := range hits {
		if n[x.Session]++; n[x.Session] <= voteTop {
			votes[x.Session] += x.Score
			most = max(most, votes[x.Session])
		}
	}
	for i := range hits {
		x := &hits[i]
		age := max(0, now.Sub(x.last).Hours()/ageHalf.Hours())
		x.Score = (x.Score/top + voteWeight*votes[x.Session]/most) / (1 + voteWeight)
		x.Score *= (1 - impWeight + impWeight*x.Importance) * (1 - ageWeight + ageWeight*math.Exp2(-age))
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
}

// choose measures coverage, drops copies that differ in the order of words at
// most, and puts a newer memory that restates an older one and answers the
// query as well in front of it: an update is read before what it replaces.
func choose(hits []Hit, asked question, limit int) []Hit {
	var out []Hit
	var sets []map[string]bool
	for _, x := range hits {
		set := terms.Set(x.Content)
		x.Coverage = asked.coverage(set, x.Time)
		same, older := -1, -1
		for i, other := range sets {
			both := terms.Shared(other, set)
			if both == len(set) && both == len(other) {
				same = i
				break
			}
			if older < 0 && x.last.After(out[i].last) && x.Coverage >= out[i].Coverage &&
				float64(both) >= restates*float64(min(len(set), len(other))) {
				older = i
			}
		}
		switch {
		case same >= 0 && x.last.After(out[same].last):
			out[same] = x
		case same >= 0:
		case older >= 0:
			out, sets = slices.Insert(out, older, x), slices.Insert(sets, older, set)
		default:
			out, sets = append(out, x), append(sets, set)
		}
		if len(out) == limit {
			break
		}
	}
	return out
}

// coverage is the share of the query's information that the memory itself
// holds, its day included. A term that no row holds counts in full, so that a
// question about something unknown covers little.
func (q question) coverage(set map[string]bool, said time.Time) float64 {
	day := terms.Set(terms.Day(said))
	n := float64(max(q.rows, smallStore)) // among a few memories a missing word would outweigh all that match
	var all, got float64
	for _, t := range q.terms {
		df := min(float64(t.rows), n)
		weight := math.Log(1 + (n-df+0.5)/(df+0.5))
		all += weight
		if set[t.text] || day[t.text] || t.prefix {
			got += weight
		}
	}
	if all == 0 {
		return 0
	}
	return got / all
}

// gate returns the hits if one of the first reaches the gate, else none. A
// threshold for each result would be worse: words of neighbours find evidence
// that covers little by itself.
func gate(hits []Hit, least float64) []Hit {
	opens := func(x Hit) bool { return x.Coverage >= least }
	if least > 0 && !slices.ContainsFunc(hits[:min(gateTop, len(hits))], opens) {
		return nil
	}
	return hits
}

// similar finds stored memories that say nearly the same as m. They share its
// rarest words, so that a few of these are enough to ask for.
func (h *handle) similar(ctx context.Context, m Memory) (out []Memory, err error) {
	scopes := []string{m.Scope}
	asked, err := h.lookUp(ctx, terms.Query(m.Content), scopes)
	if err != nil {
		return nil, err
	}
	hits, err := h.match(ctx, Query{Scopes: scopes}, asked.plan(nearTerms, nearPostings), nearRows)
	if err != nil || len(hits) == 0 {
		return nil, err
	}
	if hits, _, err = h.fill(ctx, hits); err != nil {
		return nil, err
	}
	set := terms.Set(m.Content)
	for _, x := range hits {
		old := terms.Set(x.Content)
		if both := terms.Shared(set, old); float64(both) >= nearCopy*float64(len(set)+len(old)-both) {
			out = append(out, x.Memory)
		}
	}
	return out[:min(len(out), similarMost)], nil
}

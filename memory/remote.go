package memory

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ferrule/memory/internal/redact"
	"ferrule/memory/internal/terms"
)

// The contract with a memory server. Everything is JSON in UTF-8, with
// "Authorization: Bearer KEY" if there is a key:
//
//	GET    {base}/health                    200 {"status":"ok"}
//	POST   {base}/memories/search           {"query","limit","scopes","kind","tags","since","until","min_importance"}
//	                                        200 {"results":[memory with "score"],"candidates"}
//	POST   {base}/memories                  Idempotency-Key: the id; a memory
//	                                        200 or 201 {"id","status":"stored" or "duplicate","similar":[ids]}
//	DELETE {base}/memories/{id}             204; 404 counts as done
//	GET    {base}/memories?cursor&limit=500 200 {"memories":[…],"next":"cursor"}, oldest first
//
// A memory has the fields of [Memory]. Errors are {"error":"one sentence"}; 409
// means that the id has another body, 413 that it is too large, 429 comes with
// Retry-After. The client waits as long as the constants below say.
const (
	healthWait = time.Second
	searchWait = 2 * time.Second
	writeWait  = 5 * time.Second
	listWait   = 30 * time.Second

	maxAnswer = 4 << 20 // bytes
	maxError  = 200     // characters of a server's error that are passed on
)

// A remote is the HTTP backend. What the server cannot take now waits in the
// outbox of a local file.
type remote struct {
	base, key string
	http      *http.Client
	box       *store
	breaker   breaker

	wake chan struct{} // tells the sender that the server is there
	stop context.CancelFunc
	done sync.WaitGroup
}

func newRemote(base, key string, box *store) *remote {
	r := &remote{base: strings.TrimRight(base, "/"), key: key, box: box, wake: make(chan struct{}, 1)}
	r.http = &http.Client{CheckRedirect: sameHost, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: writeWait}).DialContext,
		TLSHandshakeTimeout: writeWait, MaxIdleConnsPerHost: 4, IdleConnTimeout: 90 * time.Second,
	}}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	r.done.Go(func() { r.send(ctx) })
	return r
}

// sameHost refuses redirects that would take memories or the key elsewhere, or
// turn a request into another one.
func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0]
	if req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme || req.Method != first.Method || len(via) > 3 {
		return errors.New("the server redirects to another place")
	}
	return nil
}

func (r *remote) Close() error {
	r.stop()
	r.done.Wait()
	r.http.CloseIdleConnections()
	return r.box.Close()
}

// A refusal is an answer of the server other than success.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string {
	return fmt.Sprintf("the memory server refuses it: %s (status %d)", e.text, e.status)
}

// later reports whether the same request may succeed at another time.
func (e *refusal) later() bool {
	return slices.Contains([]int{http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests}, e.status) || e.status >= 500
}

// errAway is the error of a server that does not answer.
var errAway = errors.New("the memory server does not answer")

// call makes one request and decodes the answer into out, unless that is nil.
// The breaker learns from it.
func (r *remote) call(ctx context.Context, wait time.Duration, method, path string, header http.Header, in, out any) error {
	if !r.breaker.allow(time.Now()) {
		return errAway
	}
	err := r.roundTrip(ctx, wait, method, path, header, in, out)
	var refused *refusal
	switch {
	case errors.Is(err, context.Canceled):
		r.breaker.forget() // the caller went away; that says nothing of the server
	case err == nil, errors.As(err, &refused) && !refused.later():
		r.breaker.succeed()
	default:
		r.breaker.fail(time.Now())
	}
	return err
}

func (r *remote) roundTrip(ctx context.Context, wait time.Duration, method, path string, header http.Header, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, body)
	if err != nil {
		return err
	}
	for k, v := range header {
		req.Header[k] = v
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	if r.key != "" {
		req.Header.Set("Authorization", "Bearer "+r.key)
	}
	res, err := r.http.Do(req)
	if err != nil {
		return away(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return away(err)
	case len(data) > maxAnswer:
		return fmt.Errorf("%w: its answer has more than 4 MiB", errAway)
	case res.StatusCode < 200 || res.StatusCode > 299:
		return refused(res.StatusCode, data)
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("%w: what came is not the JSON that was expected", errAway)
	}
	return nil
}

// away words a failure of the network without the address, which may hold what
// is nobody's business.
func away(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	switch {
	case errors.Is(err, context.Canceled): // by our caller
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w in time", errAway)
	}
	return fmt.Errorf("%w: %s", errAway, Excerpt(oneLine(err.Error()), "", maxError))
}

// refused makes an error of an answer. The server's sentence is passed on, but
// it may repeat what was sent.
func refused(status int, data []byte) error {
	var body struct{ Error string }
	if json.Unmarshal(data, &body) != nil || body.Error == "" {
		body.Error = http.StatusText(status)
	}
	text, _, _ := redact.Redact(Excerpt(oneLine(plainText(body.Error)), "", maxError))
	return &refusal{status, text}
}

// Search asks the server. A failure is no error: there are no results then, and
// a note says why.
func (r *remote) Search(ctx context.Context, q Query) (Found, error) {
	f := Found{Backend: memexBackend}
	if q.Text = strings.TrimSpace(q.Text); q.Text == "" {
		return f, nil
	}
	ask := map[string]any{"query": q.Text, "limit": min(q.Limit+len(q.Exclude), 50)}
	optional(ask, "scopes", q.Scopes, len(q.Scopes) > 0)
	optional(ask, "kind", q.Kind, q.Kind != "")
	optional(ask, "tags", q.Tags, len(q.Tags) > 0)
	optional(ask, "since", q.Since.UTC(), !q.Since.IsZero())
	optional(ask, "until", q.Until.UTC(), !q.Until.IsZero())
	optional(ask, "min_importance", q.MinImportance, q.MinImportance > 0)
	var got struct {
		Results []struct {
			Memory
			Score float64 `json:"score"`
		}
		Candidates int
	}
	if err := r.call(ctx, searchWait, http.MethodPost, "/memories/search", nil, ask, &got); err != nil {
		if errors.Is(err, context.Canceled) {
			return f, err
		}
		f.Note = err.Error()
		return f, nil
	}
	r.alive()
	asked := question{rows: smallStore}
	for _, w := range terms.Query(q.Text) {
		asked.terms = append(asked.terms, queryTerm{text: w})
	}
	for _, x := range got.Results {
		m, ok := received(x.Memory)
		other := len(q.Scopes) > 0 && !slices.Contains(q.Scopes, m.Scope) // a server may be careless, too
		if !ok || other || slices.Contains(q.Exclude, m.ID) || len(f.Hits) == q.Limit {
			continue
		}
		if math.IsNaN(x.Score) || math.IsInf(x.Score, 0) {
			x.Score = 0
		}
		f.Hits = append(f.Hits, Hit{Memory: m, Score: x.Score, Coverage: asked.coverage(terms.Set(m.Content), m.Time)})
	}
	f.Candidates = max(got.Candidates, len(f.Hits))
	f.Hits = gate(f.Hits, q.Gate)
	return f, nil
}

func optional(to map[string]any, name string, v any, set bool) {
	if set {
		to[name] = v
	}
}

// received makes a memory from a server one that our own store could hold. It
// reports false for one that cannot be shown.
func received(m Memory) (Memory, bool) {
	m.Content = strings.TrimSpace(plainText(m.Content))
	if rs := []rune(m.Content); len(rs) > MaxContent {
		m.Content = string(rs[:MaxContent])
	}
	m.Source = Excerpt(oneLine(plainText(m.Source)), "", maxSource)
	m.Session = Excerpt(oneLine(plainText(m.Session)), "", maxSession)
	m.Tags = m.Tags[:min(len(m.Tags), maxTags)]
	for i := range m.Tags {
		m.Tags[i] = Excerpt(oneLine(plainText(m.Tags[i])), "", maxTag)
	}
	if !slices.Contains(kinds[:], m.Kind) {
		m.Kind = "fact"
	}
	if !(m.Importance >= 0 && m.Importance <= 1) {
		m.Importance = 0.5
	}
	if !validID.MatchString(m.SupersededBy) {
		m.SupersededBy = ""
	}
	year := m.Time.Year()
	return m, m.Content != "" && validID.MatchString(m.ID) && year >= 0 && year <= 9999
}

// Ingest sends memories one by one. What the server cannot take now waits in
// the outbox, so the network is never a reason to fail.
func (r *remote) Ingest(ctx context.Context, ms []Memory) ([]Stored, error) {
	out := make([]Stored, 0, len(ms))
	for _, m := range ms {
		m.ID = cmp.Or(m.ID, newID())
		m.Session = cmp.Or(m.Session, m.ID)
		st := Stored{ID: m.ID, Importance: m.Importance}
		got, err := r.post(ctx, m)
		var refused *refusal
		switch {
		case err == nil:
			st.ID, st.Status = cmp.Or(got.ID, m.ID), cmp.Or(got.Status, Kept)
			st.Superseded, st.Unknown = got.Superseded, got.Unknown
			for _, id := range got.Similar[:min(len(got.Similar), similarMost)] {
				st.Similar = append(st.Similar, Memory{ID: id})
			}
			r.alive()
		case errors.As(err, &refused) && !refused.later():
			st.Status, st.Reason = Rejected, err.Error()
		case errors.Is(err, context.Canceled):
			return out, err
		default:
			if err := r.box.enqueue(context.WithoutCancel(ctx), m); err != nil {
				return out, err
			}
			st.Status, st.Note = Queued, err.Error()
		}
		out = append(out, st)
	}
	return out, nil
}

// acceptance is the server's answer to a memory.
type acceptance struct {
	ID         string
	Status     Status
	Similar    []string
	Superseded []string
	Unknown    []string
}

func (r *remote) post(ctx context.Context, m Memory) (a acceptance, err error) {
	header := http.Header{"Idempotency-Key": {m.ID}}
	if err := r.call(ctx, writeWait, http.MethodPost, "/memories", header, m, &a); err != nil {
		return a, err
	}
	bad := func(id string) bool { return !validID.MatchString(id) }
	a.Similar, a.Superseded = slices.DeleteFunc(a.Similar, bad), slices.DeleteFunc(a.Superseded, bad)
	a.Unknown = slices.DeleteFunc(a.Unknown, bad)
	if bad(a.ID) {
		a.ID = m.ID
	}
	if a.Status != Duplicate {
		a.Status = Kept
	}
	return a, nil
}

// Delete forgets memories at the server and in the outbox.
func (r *remote) Delete(ctx context.Context, ids []string) (n int, err error) {
	for _, id := range ids {
		err := r.call(ctx, writeWait, http.MethodDelete, "/memories/"+url.PathEscape(id), nil, nil, nil)
		var refused *refusal
		switch {
		case err == nil:
			n++
		case errors.As(err, &refused) && refused.status == http.StatusNotFound:
		default:
			return n, err
		}
	}
	if !r.box.exists() {
		return n, nil
	}
	_, err = r.box.Delete(ctx, ids)
	return n, err
}

// Walk reads the server's list. The server knows no filters there, and gives it
// oldest first: what is newest first is gathered before the first is yielded.
func (r *remote) Walk(ctx context.Context, q Query) iter.Seq2[Memory, error] {
	return func(yield func(Memory, error) bool) {
		var all []Memory
		given := 0
		for m, err := range r.pages(ctx) {
			switch {
			case err != nil:
				yield(Memory{}, err)
				return
			case !q.chooses(m):
			case !q.Oldest:
				all = append(all, m)
			default:
				if given++; !yield(m, nil) || given == q.Limit {
					return
				}
			}
		}
		slices.Reverse(all)
		slices.SortStableFunc(all, func(a, b Memory) int { return b.Time.Compare(a.Time) })
		for _, m := range all {
			if given++; !yield(m, nil) || given == q.Limit {
				return
			}
		}
	}
}

func (r *remote) pages(ctx context.Context) iter.Seq2[Memory, error] {
	return func(yield func(Memory, error) bool) {
		for cursor := ""; ; {
			var page struct {
				Memories []Memory
				Next     string
			}
			path := "/memories?limit=" + strconv.Itoa(pageRows)
			if cursor != "" {
				path += "&cursor=" + url.QueryEscape(cursor)
			}
			if err := r.call(ctx, listWait, http.MethodGet, path, nil, nil, &page); err != nil {
				yield(Memory{}, err)
				return
			}
			for _, m := range page.Memories {
				if m, ok := received(m); ok && !yield(m, nil) {
					return
				}
			}
			if page.Next == "" || page.Next == cursor {
				return
			}
			cursor = page.Next
		}
	}
}

// chooses applies to one memory what chosen writes as SQL.
func (q Query) chooses(m Memory) bool {
	lacks := func(tag string) bool { return !slices.Contains(m.Tags, tag) }
	return (len(q.Scopes) == 0 || slices.Contains(q.Scopes, m.Scope)) && (q.Kind == "" || q.Kind == m.Kind) &&
		!slices.ContainsFunc(q.Tags, lacks) && m.Importance >= q.MinImportance && !m.Time.Before(q.Since) &&
		(q.Until.IsZero() || m.Time.Before(q.Until)) && (len(q.IDs) == 0 || slices.Contains(q.IDs, m.ID)) &&
		(q.Session == "" || q.Session == m.Session) && (q.Superseded || m.SupersededBy == "")
}

// Stats asks whether the server is there and counts what waits for it.
func (r *remote) Stats(ctx context.Context) (Stats, error) {
	st := Stats{Backend: memexBackend}
	if r.box.exists() {
		local, err := r.box.Stats(ctx)
		if err != nil {
			return st, err
		}
		st = Stats{Backend: memexBackend, File: local.File, Bytes: local.Bytes, Queued: local.Queued, Parked: local.Parked, Schema: local.Schema}
		if local.Memories > 0 {
			st.Notes = append(st.Notes, fmt.Sprintf("the local file holds %d memories from before: export and import move them", local.Memories))
		}
		faults, err := r.box.faults(ctx)
		if err != nil {
			return st, err
		}
		st.Notes = append(st.Notes, faults...)
	}
	if err := r.call(ctx, healthWait, http.MethodGet, "/health", nil, nil, nil); err != nil {
		st.Notes = append(st.Notes, err.Error())
		return st, nil
	}
	r.alive()
	for m, err := range r.pages(ctx) {
		if err != nil {
			st.Notes = append(st.Notes, err.Error())
			return st, nil
		}
		if m.SupersededBy != "" {
			st.Superseded++
			continue
		}
		st.Memories++
	}
	return st, nil
}

// A breaker spares a turn from waiting for a server that is away: after three
// failures in a row, calls fail at once for 30 seconds, then one may try.
type breaker struct {
	mu      sync.Mutex // guards the fields below
	fails   int
	until   time.Time
	probing bool
}

const (
	breakerFails = 3
	breakerRest  = 30 * time.Second
)

func (b *breaker) allow(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.fails < breakerFails:
		return true
	case now.Before(b.until) || b.probing:
		return false
	}
	b.probing = true
	return true
}

func (b *breaker) succeed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fails, b.probing = 0, false
}

func (b *breaker) fail(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fails++
	b.probing = false
	b.until = now.Add(breakerRest)
}

// forget ends a probe that told nothing.
func (b *breaker) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}

package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const testKey = "not-a-real-key"

// A reference is a server that keeps to the contract, with a real database
// behind it. A test may put a fault in front of it.
type reference struct {
	t     *testing.T
	store *store
	fault atomic.Pointer[func(w http.ResponseWriter, r *http.Request) bool] // reports whether it has answered

	mu     sync.Mutex // guards the fields below
	bodies map[string]string

	arrived chan string // the content of each memory that was stored
}

func newReference(t *testing.T) (*reference, *httptest.Server) {
	t.Helper()
	_, s := open(t, filepath.Join(t.TempDir(), "server.db"))
	ref := &reference{t: t, store: s, bodies: make(map[string]string), arrived: make(chan string, 10000)}
	srv := httptest.NewServer(ref)
	t.Cleanup(srv.Close)
	return ref, srv
}

// client returns a client of a server. Its file is new unless path is given.
func (ref *reference) client(t *testing.T, url, path string) *Client {
	t.Helper()
	s := DefaultSettings()
	s.Backend, s.Memex.URL = memexBackend, url
	if path == "" {
		path = filepath.Join(t.TempDir(), "local", "memory.db")
	}
	c, err := New(Config{Settings: s, File: path, Key: testKey})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func (ref *reference) fail(f func(http.ResponseWriter, *http.Request) bool) { ref.fault.Store(&f) }
func (ref *reference) recover()                                             { ref.fault.Store(nil) }

func (ref *reference) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+testKey {
		ref.refuse(w, http.StatusUnauthorized, "the key is wrong")
		return
	}
	if f := ref.fault.Load(); f != nil && (*f)(w, r) {
		return
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) { ref.answer(w, map[string]string{"status": "ok"}) })
	mux.HandleFunc("POST /memories/search", ref.search)
	mux.HandleFunc("POST /memories", ref.ingest)
	mux.HandleFunc("GET /memories", ref.list)
	mux.HandleFunc("DELETE /memories/{id}", func(w http.ResponseWriter, r *http.Request) {
		n, err := ref.store.Delete(r.Context(), []string{r.PathValue("id")})
		switch {
		case err != nil:
			ref.refuse(w, http.StatusInternalServerError, err.Error())
		case n == 0:
			ref.refuse(w, 404, "there is no such memory")
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	})
	mux.ServeHTTP(w, r)
}

func (ref *reference) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

func (ref *reference) refuse(w http.ResponseWriter, status int, text string) {
	w.WriteHeader(status)
	ref.answer(w, map[string]string{"error": text})
}

func (ref *reference) search(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Query         string
		Limit         int
		Scopes, Tags  []string
		Kind          string
		Since, Until  time.Time
		MinImportance float64 `json:"min_importance"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		ref.refuse(w, 400, "the body is no JSON")
		return
	}
	f, err := ref.store.Search(r.Context(), Query{Text: q.Query, Limit: q.Limit, Scopes: q.Scopes, Kind: q.Kind, Tags: q.Tags,
		Since: q.Since, Until: q.Until, MinImportance: q.MinImportance})
	if err != nil {
		ref.refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	type result struct {
		Memory
		Score float64 `json:"score"`
	}
	results := []result{}
	for _, h := range f.Hits {
		results = append(results, result{h.Memory, h.Score})
	}
	ref.answer(w, map[string]any{"results": results, "candidates": f.Candidates})
}

func (ref *reference) ingest(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m Memory
	if err := json.Unmarshal(body, &m); err != nil || m.ID == "" || m.ID != r.Header.Get("Idempotency-Key") {
		ref.refuse(w, 400, "the body is not what the contract says")
		return
	}
	ref.mu.Lock()
	old, again := ref.bodies[m.ID]
	ref.bodies[m.ID] = string(body)
	ref.mu.Unlock()
	if again && old != string(body) {
		ref.refuse(w, http.StatusConflict, "the id has another body")
		return
	}
	if strings.Contains(m.Content, "too large") {
		ref.refuse(w, http.StatusRequestEntityTooLarge, "too large: "+m.Content)
		return
	}
	out, err := ref.store.Ingest(r.Context(), []Memory{m})
	if err != nil {
		ref.refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	if !again {
		ref.arrived <- m.Content
	}
	similar := []string{}
	for _, x := range out[0].Similar {
		similar = append(similar, x.ID)
	}
	w.WriteHeader(http.StatusCreated)
	ref.answer(w, map[string]any{"id": out[0].ID, "status": out[0].Status, "similar": similar, "superseded": out[0].Superseded, "unknown": out[0].Unknown})
}

// list gives pages of two, whatever was asked for: the client must go on.
func (ref *reference) list(w http.ResponseWriter, r *http.Request) {
	page, next := []Memory{}, ""
	skip := r.URL.Query().Get("cursor")
	for m, err := range ref.store.Walk(r.Context(), Query{Oldest: true, Superseded: true}) {
		if err != nil {
			ref.refuse(w, http.StatusInternalServerError, err.Error())
			return
		}
		switch {
		case skip != "":
			if m.ID == skip {
				skip = ""
			}
		case len(page) < 2:
			page = append(page, m)
		default:
			next = page[1].ID
		}
		if next != "" {
			break
		}
	}
	ref.answer(w, map[string]any{"memories": page, "next": next})
}

func TestRemote(t *testing.T) {
	t.Parallel()
	ref, srv := newReference(t)
	c := ref.client(t, srv.URL, "")
	first := keep(t, c, Memory{Content: "The staging port is 6379", Session: "a", Tags: []string{"ops"}, Source: "wiki"})
	second := keep(t, c, Memory{Content: "The staging port is 6380", Supersedes: []string{first.ID, "mgone"}})
	if first.Status != Kept || len(second.Similar) != 0 || !slices.Equal(second.Superseded, []string{first.ID}) ||
		!slices.Equal(second.Unknown, []string{"mgone"}) {
		t.Errorf("%+v %+v", first, second)
	}
	if d := keep(t, c, Memory{Content: "the staging port is 6380"}); d.Status != Duplicate || d.ID != second.ID {
		t.Errorf("%+v", d)
	}
	keep(t, c, Memory{Content: "of another project, on port 6380", Scope: "q"})
	f, err := c.Search(t.Context(), Query{Text: "staging port", Scopes: []string{"p"}})
	if err != nil || len(f.Hits) != 1 || f.Hits[0].ID != second.ID || f.Hits[0].Coverage != 1 || f.Backend != memexBackend {
		t.Errorf("%+v %v", f, err)
	}
	if f := c.Recall(t.Context(), Query{Text: "staging port", Scopes: []string{"p"}}); len(f.Hits) != 1 {
		t.Errorf("%+v", f)
	}
	if f := c.Recall(t.Context(), Query{Text: "staging birthdays chocolate icing candles", Scopes: []string{"p"}}); len(f.Hits) != 0 {
		t.Errorf("the gate counts words: %+v", f.Hits)
	}
	if n := len(list(t, c, Query{})); n != 2 {
		t.Errorf("%d listed", n)
	}
	all := list(t, c, Query{Superseded: true, Oldest: true, Scopes: []string{"p"}})
	if len(all) != 2 || all[0].SupersededBy != second.ID || all[0].Source != "wiki" || !slices.Equal(all[0].Tags, []string{"ops"}) {
		t.Errorf("%+v", all)
	}
	if n, err := c.Delete(t.Context(), second.ID, "mgone"); n != 1 || err != nil {
		t.Error(n, err)
	}
	st, err := c.Stats(t.Context())
	if err != nil || st.Memories != 1 || st.Superseded != 1 || len(st.Notes) > 0 {
		t.Errorf("%+v %v", st, err)
	}
	if readOrNil(t, filepath.Join(t.TempDir(), "memory.db")) != nil {
		t.Error("a local file was made although nothing waits")
	}
}

// While the server is away nothing fails and nothing is lost; when it is back
// everything arrives once, in order.
func TestOutbox(t *testing.T) {
	t.Parallel()
	ref, srv := newReference(t)
	path := filepath.Join(t.TempDir(), "memory.db")
	c := ref.client(t, srv.URL, path)
	faults := []func(http.ResponseWriter, *http.Request) bool{
		func(w http.ResponseWriter, r *http.Request) bool { ref.refuse(w, 503, "starting"); return true },
		func(w http.ResponseWriter, r *http.Request) bool { ref.refuse(w, 429, "slowly"); return true },
		func(w http.ResponseWriter, r *http.Request) bool { // stored, but the answer is lost
			ref.ServeHTTPWithoutFault(r)
			panic(http.ErrAbortHandler)
		},
	}
	var want []string
	for i := range 12 {
		if i < len(faults) {
			ref.fail(faults[i])
		}
		text := fmt.Sprint("memory number ", i)
		want = append(want, text)
		if st := keep(t, c, Memory{Content: text, Session: "s"}); st.Status != Queued || st.Note == "" {
			t.Fatalf("%d: %+v", i, st)
		}
	}
	st, err := c.Stats(t.Context())
	if err != nil || st.Queued != 12 {
		t.Fatalf("%+v %v", st, err)
	}
	if f, err := c.Search(t.Context(), Query{Text: "memory"}); err != nil || len(f.Hits) != 0 || f.Note == "" {
		t.Errorf("%+v %v", f, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}

	ref.recover()
	var got []string
	others := []*Client{ref.client(t, srv.URL, path), ref.client(t, srv.URL, path)} // two processes send at once
	for len(got) < 12 {
		select {
		case text := <-ref.arrived:
			got = append(got, text)
		case <-time.After(20 * time.Second):
			t.Fatalf("arrived: %q", got)
		}
		others[0].back.(*remote).alive()
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("arrived: %q", got)
	}
	for _, c := range others {
		for st, err := c.Stats(t.Context()); err != nil || st.Queued > 0; st, err = c.Stats(t.Context()) {
			if err != nil { // the last one has arrived, the sender has yet to note it
				t.Fatal(err)
			}
		}
		c.Close()
	}
	local := newStore(path)
	defer local.Close()
	if st, err := local.Stats(t.Context()); err != nil || st.Queued+st.Parked != 0 {
		t.Errorf("%+v %v", st, err)
	}
	if n := len(list(t, &Client{DefaultSettings(), ref.store}, Query{})); n != 12 {
		t.Errorf("the server has %d", n)
	}
}

// ServeHTTPWithoutFault does what a request asks for and throws the answer
// away.
func (ref *reference) ServeHTTPWithoutFault(r *http.Request) {
	if r.Method == http.MethodPost && r.URL.Path == "/memories" {
		ref.ingest(httptest.NewRecorder(), r)
	}
}

// What the server refuses for good is told at once, or parked.
func TestRefusedByServer(t *testing.T) {
	t.Parallel()
	ref, srv := newReference(t)
	path := filepath.Join(t.TempDir(), "memory.db")
	c := ref.client(t, srv.URL, path)
	out, err := c.Ingest(t.Context(), Memory{Content: "this is too large", Scope: "p"})
	if err != nil || out[0].Status != Rejected || !strings.Contains(out[0].Reason, "status 413") {
		t.Errorf("%+v %v", out, err)
	}
	ref.fail(func(w http.ResponseWriter, r *http.Request) bool { ref.refuse(w, 500, "no"); return true })
	keep(t, c, Memory{Content: "also too large"})
	keep(t, c, Memory{Content: "small enough"})
	c.Close()
	ref.recover()
	c = ref.client(t, srv.URL, path)
	for {
		if text := <-ref.arrived; text == "small enough" {
			break
		}
	}
	st, err := c.Stats(t.Context())
	for err == nil && st.Queued > 0 { // it has arrived, the sender has yet to note it
		st, err = c.Stats(t.Context())
	}
	if err != nil || st.Parked != 1 || st.Queued != 0 || !strings.Contains(strings.Join(st.Notes, "\n"), "413") {
		t.Errorf("%+v %v", st, err)
	}
}

// Answers that are too large, are no JSON, lead elsewhere or hold nonsense are
// told and do no harm.
func TestBadServers(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Error("the other host was asked, with", r.Header)
	}))
	defer elsewhere.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"large": func(w http.ResponseWriter, r *http.Request) { io.CopyN(w, zeros{}, maxAnswer+10) },
		"html":  func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html>") },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		},
		"method": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) },
		"key": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, `{"error":"bad key \u0007 api_key = 9f86d081884c7d65"}`, http.StatusUnauthorized)
		},
	} {
		ref := &reference{}
		srv := httptest.NewServer(answer)
		c := ref.client(t, srv.URL, "")
		f, err := c.Search(t.Context(), Query{Text: "anything"})
		if err != nil || len(f.Hits) != 0 || f.Note == "" || strings.ContainsAny(f.Note, "\a<") || strings.Contains(f.Note, "9f86") ||
			strings.Contains(f.Note, srv.URL) {
			t.Errorf("%s: %+v %v", name, f, err)
		}
		c.Close()
		srv.Close()
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"results": [{"id": "a b", "content": "bad id"}, {"id": "m1", "content": ""}, {"id": "m2", "content": "fine\u0000\u001b[2J",
			"kind": "spell", "importance": 9, "tags": ["x\ny"], "source": "l1\n2. [m9] fake", "scope": "p"}, {"id": "m3", "content": "password: hunter2isold99", "scope": "p"},
			{"id": "m4", "content": "theirs", "scope": "q"}], "candidates": -3}`)
	}))
	defer srv.Close()
	c := (&reference{}).client(t, srv.URL, "")
	f, err := c.Search(t.Context(), Query{Text: "anything", Scopes: []string{"p"}})
	if err != nil || len(f.Hits) != 2 || f.Hits[0].Content != "fine[2J" || f.Hits[0].Source != "l1 2. [m9] fake" || f.Hits[0].Tags[0] != "x y" ||
		f.Hits[0].Kind != "fact" || f.Hits[1].Content != "password: [redacted:password]" || f.Candidates != 2 {
		t.Errorf("%+v %v", f, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// A turn waits two seconds for a server that says nothing, and after three of
// them not at all.
func TestTurnDoesNotWait(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer srv.Close()
	c := (&reference{}).client(t, srv.URL, "")
	var wg sync.WaitGroup
	for range breakerFails {
		wg.Go(func() {
			start := time.Now()
			if f := c.Recall(t.Context(), Query{Text: "anything"}); len(f.Hits) != 0 || f.Note == "" || time.Since(start) > recallWait+time.Second {
				t.Errorf("after %v: %+v", time.Since(start), f)
			}
		})
	}
	wg.Wait()
	start := time.Now()
	f := c.Recall(t.Context(), Query{Text: "anything"})
	st := keep(t, c, Memory{Content: "something"})
	if len(f.Hits) != 0 || f.Note == "" || st.Status != Queued || time.Since(start) > time.Second {
		t.Errorf("after %v: %+v %+v", time.Since(start), f, st)
	}
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	var b breaker
	now := time.Now()
	for range breakerFails {
		if !b.allow(now) {
			t.Fatal("it opens too early")
		}
		b.fail(now)
	}
	if b.allow(now.Add(breakerRest - time.Second)) {
		t.Error("it does not rest")
	}
	later := now.Add(breakerRest)
	if !b.allow(later) || b.allow(later) {
		t.Error("one call must try")
	}
	b.fail(later)
	if b.allow(later.Add(time.Second)) {
		t.Error("a failed trial does not end the rest")
	}
	b.allow(later.Add(breakerRest))
	b.succeed()
	if b.fails != 0 || !b.allow(now) || b.probing {
		t.Error("success does not close it")
	}
}

func TestOutboxHasALimit(t *testing.T) {
	t.Parallel()
	_, s := fresh(t)
	err := s.do(t.Context(), func(h *handle) error {
		return h.w.write(t.Context(), func(x *tx) error {
			return x.exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<?) INSERT INTO outbox(uid, body) SELECT i, '{}' FROM n", maxQueued)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.enqueue(t.Context(), Memory{ID: "x"}); err == nil || !strings.Contains(err.Error(), "10,000 memories wait") {
		t.Error(err)
	}
}

// The lease keeps two processes from sending one row, and ends by itself.
func TestLease(t *testing.T) {
	t.Parallel()
	_, s := fresh(t)
	for _, id := range []string{"a", "b"} {
		if err := s.enqueue(t.Context(), Memory{ID: id, Content: id}); err != nil {
			t.Fatal(err)
		}
	}
	take := func(at time.Time, urgent bool) *parcel {
		t.Helper()
		p, err := s.take(t.Context(), at, urgent)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	now := time.Now()
	p := take(now, false)
	if p == nil || p.m.ID != "a" || take(now.Add(leaseTime-time.Second), true) != nil {
		t.Fatalf("%+v", p)
	}
	if p = take(now.Add(leaseTime), true); p == nil || p.m.ID != "a" {
		t.Fatalf("a lease of one who was killed: %+v", p)
	}
	if err := s.settle(t.Context(), p, now, errAway); err != nil {
		t.Fatal(err)
	}
	if take(now, false) != nil || take(now, true) == nil {
		t.Error("after a failure it waits, unless the server is known to be back")
	}
	if err := s.settle(t.Context(), p, now, nil); err != nil {
		t.Fatal(err)
	}
	if p := take(now, false); p == nil || p.m.ID != "b" {
		t.Errorf("%+v", p)
	}
}

// Everything goes from the file to a server and back without loss.
func TestSwitchingBackends(t *testing.T) {
	t.Parallel()
	local, _ := fresh(t)
	for i := range 30 {
		keep(t, local, Memory{Content: fmt.Sprint("memory of many, number ", i), Session: fmt.Sprint("s", i%3), Tags: []string{"t", fmt.Sprint(i)},
			Source: "x.md", Importance: float64(i) / 30, Kind: kinds[i%3], Scope: []string{"p", UserScope}[i%2], Time: time.UnixMilli(int64(i) * 1e9)})
	}
	all := list(t, local, Query{Oldest: true})
	keep(t, local, Memory{Content: "the last word", Scope: all[0].Scope, Supersedes: []string{all[0].ID}})
	keep(t, local, Memory{Content: all[3].Content, Scope: all[3].Scope})
	want := list(t, local, Query{Oldest: true, Superseded: true})

	ref, srv := newReference(t)
	server := ref.client(t, srv.URL, "")
	move(t, local, server)
	if got := list(t, server, Query{Oldest: true, Superseded: true}); !same(got, want) {
		t.Errorf("on the server:\n%+v\nwant\n%+v", got, want)
	}
	back, _ := fresh(t)
	move(t, server, back)
	if got := list(t, back, Query{Oldest: true, Superseded: true}); !same(got, want) {
		t.Errorf("back again:\n%+v\nwant\n%+v", got, want)
	}
	sound(t, back)
}

// move does what export and import do.
func move(t *testing.T, from, to *Client) {
	t.Helper()
	for _, m := range list(t, from, Query{Oldest: true, Superseded: true}) {
		line, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ParseLine(line, "p")
		if err != nil {
			t.Fatal(err)
		}
		keep(t, to, m)
	}
}

func same(a, b []Memory) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

func TestRemoteCancel(t *testing.T) {
	t.Parallel()
	ref, srv := newReference(t)
	c := ref.client(t, srv.URL, "")
	ctx, cancel := context.WithCancel(t.Context())
	ref.fail(func(w http.ResponseWriter, r *http.Request) bool {
		cancel()
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		return true
	})
	if _, err := c.Search(ctx, Query{Text: "x"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := c.Ingest(ctx, Memory{Content: "x", Scope: "p"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

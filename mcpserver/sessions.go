package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ferrule/mcpserver/internal/project"
	"ferrule/tools"
)

// An origin is what a transport knows of where a request comes from.
type origin struct {
	connection uint64 // stdio, in process: a number for each connection
	owner      string // HTTP: who the token belongs to
	session    string // HTTP up to 2025-11-25: the session id
	handle     string // HTTP 2026-07-28: ferrule/session, "" for the owner's own
}

// sessionKey is the name under which a request finds its session of the tools.
// Nothing else decides who shares a session with whom. An owner is part of the
// key, so nobody reaches a session of another by its id or handle.
func sessionKey(o origin) string {
	switch {
	case o.connection != 0:
		return fmt.Sprintf("connection %d", o.connection)
	case o.session != "":
		return "session " + o.owner + " " + o.session
	default:
		return "handle " + o.owner + " " + o.handle
	}
}

const maxHandle = 64

// isHandle reports whether s may name a session.
func isHandle(s string) bool {
	return s != "" && len(s) <= maxHandle && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// A state is what outlives a request: a session of the tools, opened when it is
// first asked for, and what prompts say of its beginning.
type state struct {
	cfg      tools.Config
	frozen   project.Frozen
	files    promptFiles
	roots    rooting
	requests inflight // over HTTP
	link     *link    // of a session that a client of HTTP has begun by a handshake

	gone context.Context // done when the session has ended
	stop context.CancelFunc

	mu    sync.Mutex // guards the fields below
	ts    *tools.Session
	ended bool

	key   string // set by sessions.enter
	owner string
	uses  int       // requests at work, and connections; guarded by sessions.mu
	last  time.Time // when it was used last; likewise
}

// newState returns what a new session of this server begins with.
func (s *Server) newState() *state {
	st := newState(s.cfg.Workspace)
	st.files.Home, st.files.Reserved, st.files.Trusted = s.cfg.Workspace.State, isStock, s.cfg.TrustsPrompts
	return st
}

func newState(cfg tools.Config) *state {
	st := &state{cfg: cfg}
	st.gone, st.stop = context.WithCancel(context.Background())
	return st
}

// session returns the session of the tools.
func (st *state) session() (*tools.Session, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.ended {
		return nil, errSessionEnded
	}
	if st.ts != nil {
		return st.ts, nil
	}
	ts, err := tools.NewSession(st.cfg)
	if err == nil {
		st.ts = ts
	}
	return ts, err
}

// close ends everything that the session has started, and waits for it.
func (st *state) close() {
	st.stop()
	st.requests.cancelWhere(errSessionEnded, func(string) bool { return true })
	st.files.end()
	st.roots.end()
	st.mu.Lock()
	ts := st.ts
	st.ended = true
	st.mu.Unlock()
	if ts != nil {
		ts.Close()
	}
	if st.link != nil {
		st.link.unregister()
	}
}

// tasks ends the background commands that began before limit and returns how
// many were running, with those.
func (st *state) tasks(limit time.Time) int {
	st.mu.Lock()
	ts := st.ts
	st.mu.Unlock()
	if ts == nil {
		return 0
	}
	return ts.EndTasksBefore(limit)
}

var (
	errSessionEnded = errors.New("the session has ended; begin a new one")
	errNoSession    = errors.New("there is no such session; begin a new one with initialize")
	errTooMany      = errors.New("too many sessions are open; end one, or try again later")
	errClosing      = errors.New("the server is shutting down")
)

const (
	maxIdle    = 30 * time.Minute
	maxTaskAge = 24 * time.Hour
)

// sessions owns the open sessions. It may be used concurrently.
type sessions struct {
	max int // 0: no limit

	mu     sync.Mutex // guards the fields below
	open   map[string]*state
	closed bool
	ending sync.WaitGroup // sessions that are being closed
}

func newSessions(max int) *sessions {
	return &sessions{max: max, open: make(map[string]*state)}
}

// enter returns the session of a request and keeps it from ending idle until
// leave is called. If there is none it becomes what make returns; without make
// the error is errNoSession.
func (r *sessions) enter(o origin, make func() *state) (*state, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := sessionKey(o)
	st := r.open[key]
	switch {
	case r.closed:
		return nil, errClosing
	case st != nil:
	case make == nil:
		return nil, errNoSession
	case r.max > 0 && (len(r.open) >= r.max || r.of(o.owner) >= r.max*3/4): // no principal locks the others out
		return nil, errTooMany
	default:
		st = make()
		st.key, st.owner = key, o.owner
		r.open[key] = st
	}
	st.uses++
	return st, nil
}

// of counts the sessions of an owner. The caller holds the lock.
func (r *sessions) of(owner string) (n int) {
	for _, st := range r.open {
		if st.owner == owner {
			n++
		}
	}
	return n
}

func (r *sessions) leave(st *state) {
	r.mu.Lock()
	defer r.mu.Unlock()
	st.uses--
	st.last = time.Now()
}

// end ends a session with everything it has started, and waits for it.
func (r *sessions) end(st *state) { r.endIf(st, func() bool { return true }) }

// endIf ends a session if it is still open and ok, which is asked under the
// lock.
func (r *sessions) endIf(st *state, ok func() bool) {
	r.mu.Lock()
	if r.open[st.key] != st || !ok() {
		r.mu.Unlock()
		return
	}
	delete(r.open, st.key)
	r.ending.Add(1)
	r.mu.Unlock()
	defer r.ending.Done()
	st.close()
}

// all returns the sessions that are open now.
func (r *sessions) all() []*state {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]*state, 0, len(r.open))
	for _, st := range r.open {
		list = append(list, st)
	}
	return list
}

// sweep ends what is too old: background commands after maxTaskAge, and
// sessions in which nothing has happened and nothing has run for maxIdle.
func (r *sessions) sweep(now time.Time) {
	var wg sync.WaitGroup
	for _, st := range r.all() {
		wg.Go(func() {
			if st.tasks(now.Add(-maxTaskAge)) > 0 {
				r.mu.Lock()
				st.last = now
				r.mu.Unlock()
				return
			}
			r.endIf(st, func() bool { return st.uses == 0 && now.Sub(st.last) >= maxIdle })
		})
	}
	wg.Wait()
}

// owners returns whose sessions are open now.
func (r *sessions) owners() (list []string) {
	for _, st := range r.all() {
		if !slices.Contains(list, st.owner) {
			list = append(list, st.owner)
		}
	}
	return list
}

// endOf ends the sessions of an owner. What is at work in them is told the
// cause.
func (r *sessions) endOf(owner string, cause error) {
	var wg sync.WaitGroup
	for _, st := range r.all() {
		if st.owner == owner {
			st.requests.cancelWhere(cause, func(string) bool { return true })
			wg.Go(func() { r.end(st) })
		}
	}
	wg.Wait()
}

// close ends all sessions and waits for them. None can be entered afterwards.
func (r *sessions) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	var wg sync.WaitGroup
	for _, st := range r.all() {
		wg.Go(func() { r.end(st) })
	}
	wg.Wait()
	r.ending.Wait()
}

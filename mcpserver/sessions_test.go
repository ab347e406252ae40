package mcpserver

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"ferrule/tools"
)

func TestSessionKey(t *testing.T) {
	seen := make(map[string]origin)
	for _, o := range []origin{
		{connection: 1}, {connection: 2},
		{owner: "ann#1", session: "a"}, {owner: "ann#1", session: "b"}, {owner: "bob#2", session: "a"},
		{owner: "ann#1"}, {owner: "bob#2"}, {owner: "ann#1", handle: "a"}, {owner: "ann#1", handle: "b"}, {owner: "bob#2", handle: "a"},
	} {
		key := sessionKey(o)
		if other, ok := seen[key]; ok {
			t.Errorf("%+v and %+v share %q", o, other, key)
		}
		seen[key] = o
	}
}

// A session ends after 30 idle minutes, not while a request is at work.
func TestSessionsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(HTTPConfig{NoAuth: true}, nil)
		done := make(chan struct{})
		go func() { s.keep(t.Context()); close(done) }()
		idle, busy := addSession(t, s.sessions, "o", "idle"), addSession(t, s.sessions, "o", "busy")
		ts, err := idle.session()
		if err != nil {
			t.Fatal(err)
		}
		s.sessions.enter(origin{owner: "o", session: "busy"}, nil)
		time.Sleep(maxIdle - time.Minute)
		if _, err := s.sessions.enter(origin{owner: "o", session: "idle"}, nil); err != nil {
			t.Fatal(err)
		}
		s.sessions.leave(idle) // which counts from now
		time.Sleep(maxIdle - time.Minute)
		if idle.gone.Err() != nil {
			t.Error("ended too early")
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if idle.gone.Err() == nil || busy.gone.Err() != nil {
			t.Errorf("idle ended %v, busy ended %v", idle.gone.Err() != nil, busy.gone.Err() != nil)
		}
		if _, err := s.sessions.enter(origin{owner: "o", session: "idle"}, nil); !errors.Is(err, errNoSession) {
			t.Errorf("an ended session: %v", err)
		}
		if _, err := idle.session(); !errors.Is(err, errSessionEnded) {
			t.Errorf("an ended session's tools: %v", err)
		}
		if _, err := ts.ReadFile("x"); err == nil {
			t.Error("the tools' session is still open")
		}
		s.sessions.close()
		if _, err := s.sessions.enter(origin{owner: "o"}, func() *state { return newState(tools.Config{}) }); !errors.Is(err, errClosing) {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestSessionsCap(t *testing.T) {
	r := newSessions(4)
	a := addSession(t, r, "o", "a")
	addSession(t, r, "o", "b")
	addSession(t, r, "o", "c")
	made := func() *state { t.Error("made"); return nil }
	if _, err := r.enter(origin{owner: "o"}, made); !errors.Is(err, errTooMany) { // the rest is for others
		t.Errorf("the fourth of one owner: %v", err)
	}
	addSession(t, r, "p", "a")
	if _, err := r.enter(origin{owner: "p"}, made); !errors.Is(err, errTooMany) {
		t.Errorf("the fifth: %v", err)
	}
	if again, err := r.enter(origin{owner: "o", session: "a"}, nil); again != a || err != nil {
		t.Errorf("one that is open: %v", err)
	}
	r.end(a)
	r.end(a)
	addSession(t, r, "p", "c")
	r.endOf("o", errRevoked)
	if left := r.all(); len(left) != 2 || left[0].owner != "p" || left[1].owner != "p" {
		t.Errorf("%d are left", len(left))
	}
	r.close()
}

// A session with a background command does not end idle; the command ends after
// a day, and the session 30 minutes after that.
func TestSessionsTasks(t *testing.T) {
	t.Parallel()
	r := newSessions(0)
	defer r.close()
	st := addSession(t, r, "o", "id")
	ts, err := st.session()
	if err != nil {
		t.Fatal(err)
	}
	res := tools.Bash.Call(t.Context(), ts, &host{ctx: t.Context()}, []byte(`{"command":"sleep 86399","run_in_background":true}`))
	if res.Failed {
		t.Fatal(res.Text)
	}
	now := time.Now()
	for _, step := range []struct {
		after   time.Duration
		running int
		open    bool
	}{
		{maxIdle + time.Minute, 1, true},
		{23 * time.Hour, 1, true},
		{maxTaskAge + time.Minute, 0, true},
		{maxTaskAge + maxIdle - time.Minute, 0, true},
		{maxTaskAge + maxIdle + 2*time.Minute, 0, false},
	} {
		r.sweep(now.Add(step.after))
		if n, open := st.tasks(time.Time{}), st.gone.Err() == nil; n != step.running || open != step.open {
			t.Errorf("after %v: %d running, open %v", step.after, n, open)
		}
	}
}

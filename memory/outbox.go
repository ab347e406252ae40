package memory

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// Memories that the server could not take wait in the local file. They are sent
// oldest first, by one process at a time: whoever sends a row holds a lease on
// it, and nobody begins a row while the oldest is leased.
const (
	maxQueued   = 10_000
	leaseTime   = 30 * time.Second
	firstPause  = time.Second
	longPause   = 10 * time.Minute
	idleBetween = time.Minute
)

// exists reports whether there is a file: one without anything waiting in it
// need not be made.
func (s *store) exists() bool {
	_, err := os.Stat(s.path)
	return err == nil
}

// enqueue keeps a memory for later.
func (s *store) enqueue(ctx context.Context, m Memory) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return s.do(ctx, func(h *handle) error {
		if h.w == nil {
			return errors.New("the memory server is away and nothing can be kept for it: " + h.readOnly)
		}
		return h.write(ctx, func(t *tx) error {
			var n int
			if _, err := t.row("SELECT count(*) FROM outbox", nil, &n); err != nil {
				return err
			}
			if n >= maxQueued {
				return fmt.Errorf("the memory server is away and %s memories wait for it already: nothing was stored", thousands(n))
			}
			return t.exec("INSERT INTO outbox(uid, body) VALUES(?,?) ON CONFLICT(uid) DO NOTHING", m.ID, string(body))
		})
	})
}

// A parcel is a row of the outbox that this process may send.
type parcel struct {
	id    int64
	tries int
	m     Memory
}

// take leases the oldest row. Without urgent a row waits until it is due. It
// returns nil if there is nothing to do.
func (s *store) take(ctx context.Context, now time.Time, urgent bool) (p *parcel, err error) {
	err = s.do(ctx, func(h *handle) error {
		p = nil
		if n, err := h.number(ctx, "SELECT count(*) FROM outbox WHERE fault IS NULL"); err != nil || n == 0 || h.w == nil {
			return err // mostly nothing waits, and this takes no lock
		}
		return h.write(ctx, func(t *tx) error {
			var x parcel
			var body string
			var due, lease int64
			found, err := t.row("SELECT id, body, tries, due, lease FROM outbox WHERE fault IS NULL ORDER BY id LIMIT 1", nil,
				&x.id, &body, &x.tries, &due, &lease)
			if err != nil || !found || lease > now.UnixMilli() || !urgent && due > now.UnixMilli() {
				return err
			}
			if err := json.Unmarshal([]byte(body), &x.m); err != nil {
				return t.exec("UPDATE outbox SET fault='the row cannot be read' WHERE id=?", x.id)
			}
			p = &x
			return t.exec("UPDATE outbox SET lease=? WHERE id=?", now.Add(leaseTime).UnixMilli(), x.id)
		})
	})
	return p, err
}

// settle ends a lease: the row is done, or refused for good, or due again.
func (s *store) settle(ctx context.Context, p *parcel, now time.Time, cause error) error {
	return s.do(ctx, func(h *handle) error {
		if h.w == nil {
			return nil
		}
		return h.write(ctx, func(t *tx) error {
			var refused *refusal
			switch {
			case cause == nil:
				return t.exec("DELETE FROM outbox WHERE id=?", p.id)
			case errors.As(cause, &refused) && !refused.later():
				return t.exec("UPDATE outbox SET fault=?, lease=0 WHERE id=?", cause.Error(), p.id)
			}
			pause := min(firstPause<<min(p.tries, 20), longPause)
			return t.exec("UPDATE outbox SET tries=tries+1, lease=0, due=? WHERE id=?", now.Add(pause).UnixMilli(), p.id)
		})
	})
}

// faults tells of rows that the server refused.
func (s *store) faults(ctx context.Context) (notes []string, err error) {
	err = s.do(ctx, func(h *handle) error {
		notes = nil
		return h.query(ctx, "SELECT uid, fault FROM outbox WHERE fault IS NOT NULL ORDER BY id LIMIT 5", nil, func(r *sql.Rows) error {
			var uid, fault string
			if err := r.Scan(&uid, &fault); err != nil {
				return err
			}
			notes = append(notes, "not sent: "+uid+": "+fault)
			return nil
		})
	})
	return notes, err
}

// alive tells the sender that the server answers.
func (r *remote) alive() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// due returns how long it is until the oldest row may be sent, at most
// idleBetween.
func (s *store) due(ctx context.Context, now time.Time) time.Duration {
	pause := idleBetween
	s.do(ctx, func(h *handle) error { // an error leaves the pause as it is
		at, err := h.number(ctx, "SELECT coalesce(min(max(due, lease)), 0) FROM (SELECT due, lease FROM outbox WHERE fault IS NULL ORDER BY id LIMIT 1)")
		if err == nil && at > 0 {
			pause = min(pause, max(time.UnixMilli(at).Sub(now), firstPause))
		}
		return nil
	})
	return pause
}

// send empties the outbox: at the start, whenever the server has answered
// somebody, when the oldest row is due, and every minute.
func (r *remote) send(ctx context.Context) {
	urgent := true
	for {
		pause := idleBetween
		if r.box.exists() {
			r.sendAll(ctx, urgent)
			pause = r.box.due(ctx, time.Now())
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-r.wake:
			urgent = true
		case <-timer.C:
			urgent = false
		}
		timer.Stop()
	}
}

// sendAll sends until there is nothing left to do or the server cannot take it.
func (r *remote) sendAll(ctx context.Context, urgent bool) {
	for ctx.Err() == nil {
		p, err := r.box.take(ctx, time.Now(), urgent)
		if err != nil || p == nil {
			return // the next round tries again
		}
		_, cause := r.post(ctx, p.m)
		if err := r.box.settle(context.WithoutCancel(ctx), p, time.Now(), cause); err != nil {
			return
		}
		var refused *refusal
		if cause != nil && !(errors.As(cause, &refused) && !refused.later()) {
			return
		}
	}
}

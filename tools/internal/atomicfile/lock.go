package atomicfile

import (
	"context"
	"sync"
)

// Folders are locked, not files: writers of the same folder in other processes can only meet on the folder, and a
// process that queued per file would have its own calls poll against each other for the folder's flock.

// locks hands out one lock per folder, in the order of asking. A key is whatever names a folder best on a system. A
// waiter can give up; an unused key costs nothing.
type locks struct {
	mu sync.Mutex
	m  map[string]*lockEntry // guarded by mu
}

type lockEntry struct {
	held chan struct{} // full while somebody holds the lock
	refs int           // holder and waiters; guarded by locks.mu
}

func (l *locks) lock(ctx context.Context, key string) (unlock func(), err error) {
	l.mu.Lock()
	if l.m == nil {
		l.m = map[string]*lockEntry{}
	}
	e := l.m[key]
	if e == nil {
		e = &lockEntry{held: make(chan struct{}, 1)}
		l.m[key] = e
	}
	e.refs++
	l.mu.Unlock()
	select {
	case e.held <- struct{}{}:
		return func() { <-e.held; l.drop(key, e) }, nil
	case <-ctx.Done():
		l.drop(key, e)
		return nil, ctx.Err()
	}
}

func (l *locks) drop(key string, e *lockEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.refs--; e.refs == 0 {
		delete(l.m, key)
	}
}

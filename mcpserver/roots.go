package mcpserver

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"ferrule/mcpserver/internal/clientdir"
	"ferrule/tools"
)

// The folders that a client has open, its roots, are the workspace where the
// user has named no other; where he has, they choose among what he named. They
// are asked for after the handshake and whenever the client says that they have
// changed. A request of ours is needed for that, which only the era with a
// handshake has; in the other the workspace is the one the server began with.

const (
	rootsPatience = 2 * time.Second // how long a call waits for the client's roots
	rootsTime     = time.Minute     // how long they are waited for
)

// A rooting follows the roots of the client of one session. The zero value is
// ready; it may be used concurrently.
type rooting struct {
	mu    sync.Mutex    // guards the fields below
	stale bool          // what the client has said last does not count any more
	busy  chan struct{} // closed when the client has answered; nil: it is not being asked

	asking sync.WaitGroup
}

// watchRoots has the server hear what clients say of their roots.
func (s *Server) watchRoots() {
	changed := func(ctx context.Context, _ mcp.JSONRPCNotification) {
		c := clientOf(ctx)
		if c == nil || c.ProtocolVersion() == "" || c.GetClientCapabilities().Roots == nil {
			return
		}
		c.roots.mu.Lock()
		c.roots.stale = true
		c.roots.mu.Unlock()
		if _, ok := server.ClientSessionFromContext(ctx).(*client); ok { // else only a request has a way to the client
			s.askRoots(ctx, c)
		}
	}
	s.mcp.AddNotificationHandler("notifications/initialized", changed)
	s.mcp.AddNotificationHandler(mcp.MethodNotificationRootsListChanged, changed)
}

// workspace returns the session of the tools for the request in ctx, when its
// roots are those of the client.
func (s *Server) workspace(ctx context.Context) (*tools.Session, error) {
	c := clientOf(ctx)
	if c == nil {
		return nil, errNoClient
	}
	ts, err := c.session()
	if err != nil {
		return nil, err
	}
	if busy := s.askRoots(ctx, c); busy != nil {
		patience := time.NewTimer(rootsPatience)
		defer patience.Stop()
		select {
		case <-busy:
		case <-patience.C:
		case <-ctx.Done():
		}
	}
	return ts, nil
}

// askRoots has the client asked for its roots if they are not known, and
// returns a channel that is closed when they are, or nil.
func (s *Server) askRoots(ctx context.Context, c *client) <-chan struct{} {
	r := &c.roots
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy == nil && r.stale && c.gone.Err() == nil {
		busy := make(chan struct{})
		r.busy = busy
		// The answer outlives the request that happened to ask, not the session.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rootsTime)
		unhook := context.AfterFunc(c.gone, cancel)
		r.asking.Go(func() {
			defer cancel()
			defer unhook()
			for r.next() {
				s.readRoots(ctx, c)
			}
			close(busy)
		})
	}
	return r.busy
}

// next reports whether the client is to be asked, once more.
func (r *rooting) next() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	again := r.stale
	r.stale = false
	if !again {
		r.busy = nil
	}
	return again
}

// readRoots asks the client and moves the session.
func (s *Server) readRoots(ctx context.Context, c *client) {
	list, err := c.ListRoots(ctx, mcp.ListRootsRequest{})
	if err != nil {
		if c.gone.Err() == nil && !errors.Is(err, errClientGone) {
			tell(ctx, mcp.LoggingLevelWarning, "the client does not say which folders it has open: %v", err)
		}
		return
	}
	ts, err := c.session()
	if err != nil {
		return // whoever calls a tool hears of it
	}
	named := slices.DeleteFunc(slices.Clone(s.cfg.Workspace.Roots), func(d string) bool { return slices.Contains(s.cfg.Added, d) })
	uris := make([]string, len(list.Roots))
	for i, r := range list.Roots {
		uris[i] = r.URI
	}
	dirs, unused := clientdir.Choose(uris, named, s.cfg.Guessed)
	dirs = append(dirs, s.cfg.Added...)
	for _, why := range unused {
		tell(ctx, mcp.LoggingLevelWarning, "%s", why)
	}
	if err := ts.ChangeRoots(dirs); err != nil {
		tell(ctx, mcp.LoggingLevelWarning, "the client's folders are not used: %v", err)
		return
	}
	tell(ctx, mcp.LoggingLevelInfo, "the project folders are %s", strings.Join(dirs, ", "))
}

// end waits until nobody asks any more. The session has ended.
func (r *rooting) end() {
	r.mu.Lock()
	r.stale = false
	r.mu.Unlock()
	r.asking.Wait()
}

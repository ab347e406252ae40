package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"ferrule/tools"
)

// A client is the one client of a stdio connection, as mcp-go wants to see it
// (the library stores in it what it learns), and the owner of what the client
// has at work in the tools.
type client struct {
	*wire
	id     string
	notes  chan mcp.JSONRPCNotification // what the library sends outside a request
	active atomic.Bool
	open   func() (*tools.Session, error) // opens the session once, whoever asks first
	frozen frozen                         // what prompts say of the session's beginning

	mu       sync.Mutex // guards the fields below
	info     mcp.Implementation
	caps     mcp.ClientCapabilities
	version  string
	level    mcp.LoggingLevel
	filter   mcp.SubscriptionFilter
	filtered bool
}

func newClient(id string, w *wire, cfg tools.Config) *client {
	return &client{
		wire: w, id: id, level: mcp.LoggingLevelError,
		notes: make(chan mcp.JSONRPCNotification, 1024),
		open:  sync.OnceValues(func() (*tools.Session, error) { return tools.NewSession(cfg) }),
	}
}

// session returns the state of the tools for this client.
func (c *client) session() (*tools.Session, error) { return c.open() }

// close ends everything that the client's tools have started.
func (c *client) close() {
	if s, err := c.open(); err == nil {
		s.Close()
	}
}

func (c *client) SessionID() string                                   { return c.id }
func (c *client) Initialize()                                         { c.active.Store(true) }
func (c *client) Initialized() bool                                   { return c.active.Load() }
func (c *client) NotificationChannel() chan<- mcp.JSONRPCNotification { return c.notes }

func load[T any](c *client, field *T) T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *field
}

func store[T any](c *client, field *T, v T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*field = v
}

func (c *client) GetClientInfo() mcp.Implementation              { return load(c, &c.info) }
func (c *client) SetClientInfo(v mcp.Implementation)             { store(c, &c.info, v) }
func (c *client) GetClientCapabilities() mcp.ClientCapabilities  { return load(c, &c.caps) }
func (c *client) SetClientCapabilities(v mcp.ClientCapabilities) { store(c, &c.caps, v) }
func (c *client) ProtocolVersion() string                        { return load(c, &c.version) }
func (c *client) SetProtocolVersion(v string)                    { store(c, &c.version, v) }
func (c *client) GetLogLevel() mcp.LoggingLevel                  { return load(c, &c.level) }
func (c *client) SetLogLevel(v mcp.LoggingLevel)                 { store(c, &c.level, v) }

func (c *client) SubscriptionFilter() (mcp.SubscriptionFilter, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.filter, c.filtered
}

func (c *client) SetSubscriptionFilter(f mcp.SubscriptionFilter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.filter = f
	c.filtered = f.ToolsListChanged || f.PromptsListChanged || f.ResourcesListChanged || len(f.ResourceSubscriptions) > 0
}

// ListRoots asks the client for its workspace folders.
func (c *client) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return ask[mcp.ListRootsResult](ctx, c.wire, mcp.MethodListRoots, struct{}{})
}

var errClientGone = errors.New("the client is gone")

// ask sends a request to the client and waits for the answer, for ctx, or for
// the end of the client's input, after which no answer can come.
func ask[T any](ctx context.Context, w *wire, method mcp.MCPMethod, params any) (*T, error) {
	id, answer := w.expect()
	defer w.forget(id)
	w.write(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case line, ok := <-answer:
		if !ok {
			return nil, errClientGone
		}
		var m struct {
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, err
		}
		if m.Error != nil {
			return nil, fmt.Errorf("the client answered: %s", m.Error.Message)
		}
		v := new(T)
		return v, json.Unmarshal(m.Result, v)
	}
}

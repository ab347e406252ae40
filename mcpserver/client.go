package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
)

// A client is who sends requests in one session, as mcp-go wants to see it (the
// library stores in it what it learns). In the era without a handshake there is
// one for each request.
type client struct {
	*wire
	*state // of the session that the client works in
	id     string
	notes  chan mcp.JSONRPCNotification // what the library sends outside a request
	active atomic.Bool

	mu       sync.Mutex // guards the fields below
	info     mcp.Implementation
	caps     mcp.ClientCapabilities
	agreed   *mcp.ClientCapabilities // at the handshake; a request of the other era on the same connection changes caps
	version  string
	level    mcp.LoggingLevel
	filter   mcp.SubscriptionFilter
	filtered bool

	subscribed map[string]bool // URIs of resources
}

// newClient returns a client that speaks through w. Of the notifications that
// the library sends outside a request it keeps so many until they are written.
func newClient(id string, w *wire, st *state, notes int) *client {
	return &client{
		wire: w, state: st, id: id, level: mcp.LoggingLevelError,
		notes: make(chan mcp.JSONRPCNotification, notes),
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
func (c *client) SetClientCapabilities(v mcp.ClientCapabilities) { store(c, &c.caps, v) }
func (c *client) ProtocolVersion() string                        { return load(c, &c.version) }
func (c *client) GetLogLevel() mcp.LoggingLevel                  { return load(c, &c.level) }
func (c *client) SetLogLevel(v mcp.LoggingLevel)                 { store(c, &c.level, v) }

// SetProtocolVersion ends a handshake: the library has stored what the client
// can do just before.
func (c *client) SetProtocolVersion(v string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	caps := c.caps
	c.version, c.agreed = v, &caps
}

// GetClientCapabilities returns what the client has declared at the handshake.
func (c *client) GetClientCapabilities() mcp.ClientCapabilities {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.agreed != nil {
		return *c.agreed
	}
	return c.caps
}

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

// ListRoots asks the client for the folders that it has open.
func (c *client) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return ask[mcp.ListRootsResult](ctx, c.wire, mcp.MethodListRoots, struct{}{})
}

// RequestElicitation has the client put a question to its user.
func (c *client) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return ask[mcp.ElicitationResult](ctx, c.wire, mcp.MethodElicitationCreate, r.Params)
}

// RequestSampling has the client's model write a text.
func (c *client) RequestSampling(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return ask[mcp.CreateMessageResult](ctx, c.wire, mcp.MethodSamplingCreateMessage, r.CreateMessageParams)
}

// A clientError is the client's refusal of a request of ours.
type clientError struct{ text string }

func (e *clientError) Error() string { return "the client answered: " + e.text }

var errClientGone = errors.New("the client is gone")

// ask sends a request to the client and waits for the answer, for ctx, or for
// the end of the client's input, after which no answer can come.
func ask[T any](ctx context.Context, w *wire, method mcp.MCPMethod, params any) (*T, error) {
	id, answer := w.expect()
	defer w.forget(id)
	send(ctx, w, map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	select {
	case <-ctx.Done():
		send(ctx, w, map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id}})
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
			return nil, &clientError{m.Error.Message}
		}
		v := new(T)
		return v, json.Unmarshal(m.Result, v)
	}
}

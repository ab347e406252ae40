package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// A Conn is the client's end of a connection: enough of a client for the
// command line and for tests. Its methods may be called concurrently.
type Conn struct {
	w      io.WriteCloser
	ended  chan struct{} // closed when nothing more comes
	served chan error    // what ServeStdio returned, if the server is ours

	out sync.Mutex // guards writing to w

	mu      sync.Mutex // guards the fields below
	next    int
	pending map[int]chan reply
}

type reply struct {
	Result json.RawMessage
	Error  *RPCError
}

// An RPCError is an error of the protocol, as against the failure of a tool.
type RPCError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *RPCError) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// A CallResult is what a tool answered.
type CallResult struct {
	Content []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Data     string `json:"data"`
		MIMEType string `json:"mimeType"`
	} `json:"content"`
	IsError bool           `json:"isError"`
	Meta    map[string]any `json:"_meta"`
}

// NewConn returns the client of a server that reads what is written to w and
// writes what is read from r. Notifications and requests of the server go to
// heard, one after the other; it may be nil.
func NewConn(w io.WriteCloser, r io.Reader, heard func(method string, params json.RawMessage)) *Conn {
	c := &Conn{w: w, ended: make(chan struct{}), pending: make(map[int]chan reply)}
	go c.read(r, heard)
	return c
}

// Connect serves a client in this process and returns its connection, ready
// for calls. The caller must close it; ctx ends it, too.
func (s *Server) Connect(ctx context.Context) (*Conn, error) {
	theirs, ours := io.Pipe()
	from, to := io.Pipe()
	c := NewConn(ours, from, nil)
	c.served = make(chan error, 1)
	go func() {
		c.served <- s.ServeStdio(ctx, theirs, to)
		to.Close()
	}()
	return c, c.Initialize(ctx, mcp.LATEST_LEGACY_PROTOCOL_VERSION)
}

// Initialize does the handshake.
func (c *Conn) Initialize(ctx context.Context, version string) error {
	_, err := c.Request(ctx, "initialize", map[string]any{
		"protocolVersion": version, "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "ferrule", "version": "1"},
	})
	if err != nil {
		return err
	}
	return c.Notify("notifications/initialized", nil)
}

// Start sends a request and returns the id it got and a function that waits
// for the answer, or for ctx.
func (c *Conn) Start(method string, params any) (id int, wait func(context.Context) (json.RawMessage, error)) {
	answer := make(chan reply, 1)
	c.mu.Lock()
	c.next++
	id = c.next
	c.pending[id] = answer
	c.mu.Unlock()
	err := c.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return id, func(ctx context.Context) (json.RawMessage, error) {
		if err != nil {
			return nil, err
		}
		select {
		case r := <-answer:
			if r.Error != nil {
				return nil, r.Error
			}
			return r.Result, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.ended:
			return nil, io.ErrUnexpectedEOF
		}
	}
}

// Request sends a request and waits for its answer.
func (c *Conn) Request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	_, wait := c.Start(method, params)
	return wait(ctx)
}

// Notify sends a notification.
func (c *Conn) Notify(method string, params any) error {
	return c.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// Call calls a tool. The failure of the tool is in the result; an error is one
// of the protocol or the connection.
func (c *Conn) Call(ctx context.Context, tool string, args json.RawMessage) (*CallResult, error) {
	raw, err := c.Request(ctx, "tools/call", map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return nil, err
	}
	res := new(CallResult)
	return res, json.Unmarshal(raw, res)
}

// Close ends the input of the server and waits until it has sent its last
// word. It returns what ServeStdio returned, if the server is in this process.
func (c *Conn) Close() error {
	c.w.Close()
	<-c.ended
	if c.served != nil {
		return <-c.served
	}
	return nil
}

func (c *Conn) send(m map[string]any) error {
	if m["params"] == nil {
		delete(m, "params")
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	c.out.Lock()
	defer c.out.Unlock()
	_, err = c.w.Write(append(b, '\n'))
	return err
}

func (c *Conn) read(r io.Reader, heard func(string, json.RawMessage)) {
	defer close(c.ended)
	for in := bufio.NewReader(r); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
			reply
		}
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		if m.Method != "" {
			if heard != nil {
				heard(m.Method, m.Params)
			}
			continue
		}
		var id int
		if json.Unmarshal(m.ID, &id) != nil {
			continue
		}
		c.mu.Lock()
		answer := c.pending[id]
		delete(c.pending, id)
		c.mu.Unlock()
		if answer != nil {
			answer <- m.reply
		}
	}
}

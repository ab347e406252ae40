// Package mcpclient is the client's end of a connection: enough of one for the
// command line and for tests. Begin with [New]. It does not know what servers
// are for, and carries messages over a pair of streams only.
package mcpclient

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// A Conn is the client's end of a connection: enough of a client for the
// command line and for tests. Its methods may be called concurrently.
type Conn struct {
	w      io.WriteCloser
	ended  chan struct{} // closed when nothing more comes
	served <-chan error  // what the server ends with, if it is in this process

	out sync.Mutex // guards writing to w

	mu      sync.Mutex // guards the fields below
	next    int
	pending map[int]chan reply
	answers func(method string, params json.RawMessage) (any, *RPCError)
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
		URI      string `json:"uri"` // of a link
	} `json:"content"`
	IsError    bool            `json:"isError"`
	Meta       map[string]any  `json:"_meta"`
	Structured json.RawMessage `json:"structuredContent"`
}

// New returns the client of a server that reads what is written to w and
// writes what is read from r. Notifications and requests of the server go to
// heard, one after the other; it may be nil.
func New(w io.WriteCloser, r io.Reader, heard func(method string, params json.RawMessage)) *Conn {
	c := &Conn{w: w, ended: make(chan struct{}), pending: make(map[int]chan reply)}
	go c.read(r, heard)
	return c
}

// Served returns the client of a server in this process. Its Close also waits for
// what the server ends with.
func Served(w io.WriteCloser, r io.Reader, served <-chan error) *Conn {
	c := New(w, r, nil)
	c.served = served
	return c
}

// Answer has f answer the requests of the server, each on a goroutine of its
// own. Until then nobody does.
func (c *Conn) Answer(f func(method string, params json.RawMessage) (any, *RPCError)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers = f
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

// Done is closed when nothing more comes from the server.
func (c *Conn) Done() <-chan struct{} { return c.ended }

// Close ends the input of the server and waits until it has sent its last
// word. It returns what the server ended with, if it is in this process.
func (c *Conn) Close() error {
	c.w.Close()
	<-c.ended
	if c.served != nil {
		return <-c.served
	}
	return nil
}

func (c *Conn) respond(id json.RawMessage, method string, params json.RawMessage, f func(string, json.RawMessage) (any, *RPCError)) {
	m := map[string]any{"jsonrpc": "2.0", "id": id}
	result, fault := f(method, params)
	if fault != nil {
		m["error"] = fault
	} else {
		m["result"] = result
	}
	c.send(m) // a server that is gone needs no answer
}

func (c *Conn) send(m map[string]any) error {
	if v, ok := m["params"]; ok && v == nil {
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
			c.mu.Lock()
			f := c.answers
			c.mu.Unlock()
			if len(m.ID) > 0 && f != nil {
				go c.respond(m.ID, m.Method, m.Params, f)
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

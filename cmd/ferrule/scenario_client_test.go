package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"ferrule/mcpserver/mcpclient"
)

// modernVersion is the version of the protocol without a handshake, which a
// script speaks that sets PROTOCOL to it.
const modernVersion = "2026-07-28"

// A clientSide is what the client of a scenario can do for the server, and what
// it has got from it.
type clientSide struct {
	caps   json.RawMessage
	modern bool

	mu      sync.Mutex // guards the fields below
	news    sync.Cond  // something has come; its lock is mu
	replies map[string][]json.RawMessage
	asked   map[string]json.RawMessage   // the parameters of the last request, by its method
	heard   map[string][]json.RawMessage // of notifications that no command has taken yet
}

func newClientSide() *clientSide {
	c := &clientSide{caps: json.RawMessage(`{}`),
		replies: map[string][]json.RawMessage{}, asked: map[string]json.RawMessage{}, heard: map[string][]json.RawMessage{}}
	c.news.L = &c.mu
	return c
}

// hear takes what the server sends by itself.
func (c *clientSide) hear(method string, params json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard[method] = append(c.heard[method], params)
	c.news.Broadcast()
}

// reply answers a request of the server with the next of the script's replies.
// The last one stays.
func (c *clientSide) reply(method string, params json.RawMessage) (any, *mcpclient.RPCError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked[method] = params
	list := c.replies[method]
	if len(list) > 1 {
		c.replies[method] = list[1:]
	}
	if len(list) == 0 {
		return nil, &mcpclient.RPCError{Code: -32601, Message: "the script has no reply to " + method}
	}
	return list[0], nil
}

// hello does the handshake, if there is one.
func (c *clientSide) hello(ctx context.Context, conn *mcpclient.Conn, version string) error {
	conn.Answer(c.reply)
	if c.modern {
		return nil
	}
	_, err := conn.Request(ctx, "initialize", map[string]any{"protocolVersion": version, "capabilities": c.caps,
		"clientInfo": map[string]any{"name": "scenario", "version": "1"}})
	return cmp.Or(err, conn.Notify("notifications/initialized", nil))
}

// params completes the parameters of a request.
func (c *clientSide) params(p any) any {
	if !c.modern {
		return p
	}
	m := map[string]any{}
	if b, err := json.Marshal(p); err == nil {
		json.Unmarshal(b, &m)
	}
	if m == nil {
		m = map[string]any{}
	}
	meta, _ := m["_meta"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta["io.modelcontextprotocol/protocolVersion"] = modernVersion
	meta["io.modelcontextprotocol/clientCapabilities"] = c.caps
	meta["io.modelcontextprotocol/clientInfo"] = map[string]any{"name": "scenario", "version": "1"}
	m["_meta"] = meta
	return m
}

// maxRounds is how often a call may ask for more.
const maxRounds = 10

// call starts a call and, in the era without a handshake, makes it again with
// what it asks for.
func (c *clientSide) call(conn *mcpclient.Conn, params map[string]any) *pending {
	id, wait := conn.Start("tools/call", c.params(params))
	return &pending{id, func(ctx context.Context) (json.RawMessage, error) {
		raw, err := wait(ctx)
		for range maxRounds {
			var more struct {
				ResultType, RequestState string
				InputRequests            map[string]struct {
					Method string
					Params json.RawMessage
				}
			}
			if err != nil || json.Unmarshal(raw, &more) != nil || more.ResultType != "input_required" {
				return raw, err
			}
			answers := map[string]any{}
			for name, r := range more.InputRequests {
				a, fault := c.reply(r.Method, r.Params)
				if fault != nil {
					return nil, fault
				}
				answers[name] = a
			}
			params["inputResponses"], params["requestState"] = answers, more.RequestState
			raw, err = conn.Request(ctx, "tools/call", c.params(params))
		}
		return nil, errors.New("the call asks without an end")
	}}
}

func clientCmd(ts *testscript.TestScript, _ bool, args []string) {
	want(ts, args, 1, "client CAPABILITIES")
	s := of(ts)
	if s.conn != nil {
		ts.Fatalf("client must come before the first call")
	}
	s.client.caps = s.args(ts, args[0])
}

func replyCmd(ts *testscript.TestScript, _ bool, args []string) {
	want(ts, args, 2, "reply METHOD RESULT")
	s := of(ts)
	c, r := s.client, s.args(ts, args[1])
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replies[args[0]] = append(c.replies[args[0]], r)
}

// askedCmd takes note of a request, so that the next one can be told from it.
func askedCmd(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, args, 1, "asked METHOD")
	s := of(ts)
	s.client.mu.Lock()
	params, ok := s.client.asked[args[0]]
	delete(s.client.asked, args[0])
	s.client.mu.Unlock()
	if ok == neg {
		ts.Fatalf("asked %s: %v %s", args[0], ok, params)
	}
	if ok {
		s.save(ts, "out", indent(ts, params))
	}
}

func heardCmd(ts *testscript.TestScript, _ bool, args []string) {
	want(ts, args, 1, "heard METHOD")
	s := of(ts)
	c := s.client
	late := false
	alarm := time.AfterFunc(patience, func() {
		c.mu.Lock()
		late = true
		c.mu.Unlock()
		c.news.Broadcast()
	})
	defer alarm.Stop()
	c.mu.Lock()
	for len(c.heard[args[0]]) == 0 && !late {
		c.news.Wait()
	}
	var params json.RawMessage
	if list := c.heard[args[0]]; len(list) > 0 {
		params, c.heard[args[0]] = list[0], list[1:]
	}
	c.mu.Unlock()
	if params == nil {
		ts.Fatalf("heard %s: nothing came", args[0])
	}
	s.save(ts, "out", indent(ts, params))
}

// shownContent is a block of a result that is no text, as a script sees it.
func shownContent(kind, mime, uri, task string) string {
	if kind == "resource_link" {
		if task != "" {
			uri = strings.ReplaceAll(uri, task, "$ID")
		}
		return fmt.Sprintf("[%s %s]", kind, uri)
	}
	return fmt.Sprintf("[%s %s]", kind, mime)
}

func listenCmd(ts *testscript.TestScript, _ bool, args []string) {
	want(ts, args, 1, "listen PARAMS")
	s := of(ts)
	s.connect(ts).Start("subscriptions/listen", s.client.params(s.args(ts, args[0])))
}

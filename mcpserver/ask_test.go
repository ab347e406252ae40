package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"ferrule/mcpserver/internal/seal"
	"ferrule/mcpserver/mcpclient"
	"ferrule/tools"
)

// A caller is the client of a server in this process. What the server asks is
// remembered, and answered from replies.
type caller struct {
	*mcpclient.Conn
	in   io.Closer // of the server
	t    *testing.T
	srv  *Server
	dir  string
	meta map[string]any // of every request, in the era without a handshake

	news    sync.Cond  // something was asked or heard; its lock is mu
	mu      sync.Mutex // guards the fields below
	replies map[string][]any
	asked   []string // method and parameters
	heard   []string
}

// connect starts a server in a new workspace and serves a client that can do
// what caps says. Version 2026-07-28 and later have no handshake.
func connect(t *testing.T, version, caps string, change func(*Config, string)) *caller {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Workspace: tools.Config{Roots: []string{dir}, State: t.TempDir()}}
	if change != nil {
		change(&cfg, dir)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.add("probe", probe)
	c := &caller{t: t, srv: s, dir: dir, replies: make(map[string][]any)}
	c.news.L = &c.mu
	c.serve(version, caps)
	return c
}

// serve connects the client.
func (c *caller) serve(version, caps string) {
	theirs, ours := io.Pipe()
	from, to := io.Pipe()
	c.in = ours
	c.Conn = mcpclient.New(ours, from, func(method string, params json.RawMessage) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.heard = append(c.heard, method+" "+string(params))
		c.news.Broadcast()
	})
	c.Answer(c.reply)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.srv.ServeStdio(context.Background(), theirs, to)
		to.Close()
	}()
	c.t.Cleanup(func() { ours.Close(); <-done; <-c.Done() })
	if mcp.IsModernProtocol(version) {
		c.meta = map[string]any{mcp.MetaKeyProtocolVersion: version, mcp.MetaKeyClientCapabilities: json.RawMessage(caps),
			mcp.MetaKeyClientInfo: map[string]any{"name": "t", "version": "1"}}
		return
	}
	c.request("initialize", map[string]any{"protocolVersion": version, "capabilities": json.RawMessage(caps), "clientInfo": map[string]any{"name": "t", "version": "1"}})
	c.Notify("notifications/initialized", nil)
}

// reply answers a request of the server by the next of the replies, of which
// the last stays. A string is an error, nil no answer at all.
func (c *caller) reply(method string, params json.RawMessage) (any, *mcpclient.RPCError) {
	c.mu.Lock()
	c.asked = append(c.asked, method+" "+string(params))
	c.news.Broadcast()
	list := c.replies[method]
	if len(list) > 1 {
		c.replies[method] = list[1:]
	}
	c.mu.Unlock()
	if len(list) == 0 {
		return nil, &mcpclient.RPCError{Code: -32601, Message: "no such method"}
	}
	switch r := list[0].(type) {
	case string:
		return nil, &mcpclient.RPCError{Code: -1, Message: r}
	case nil:
		<-c.Done()
	}
	return list[0], nil
}

func (c *caller) replyWith(method string, replies ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replies[method] = replies
}

func (c *caller) request(method string, params map[string]any) (json.RawMessage, error) {
	if c.meta != nil {
		params["_meta"] = c.meta
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return c.Request(ctx, method, params)
}

type outcome struct {
	Content []struct {
		Type, Text, URI string
	}
	IsError           bool
	StructuredContent json.RawMessage
	ResultType        string
	InputRequests     map[string]struct {
		Method string
		Params json.RawMessage
	}
	RequestState string
}

func (o outcome) text() string {
	if len(o.Content) == 0 {
		return ""
	}
	return o.Content[0].Text
}

// round is one request of a call: with the answers to what was asked before.
func (c *caller) round(tool, args, state string, answers map[string]any) outcome {
	c.t.Helper()
	params := map[string]any{"name": tool, "arguments": json.RawMessage(args)}
	if state != "" {
		params["requestState"] = state
	}
	if answers != nil {
		params["inputResponses"] = answers
	}
	raw, err := c.request("tools/call", params)
	if err != nil {
		c.t.Fatal(err)
	}
	var o outcome
	if err := json.Unmarshal(raw, &o); err != nil {
		c.t.Fatalf("%s: %v", raw, err)
	}
	return o
}

// complete makes a call and answers what it asks, in either era.
func (c *caller) complete(tool, args string) outcome {
	c.t.Helper()
	o := c.round(tool, args, "", nil)
	for range 10 {
		if o.ResultType != "input_required" {
			return o
		}
		answers := make(map[string]any)
		for name, r := range o.InputRequests {
			answers[name], _ = c.reply(r.Method, r.Params)
		}
		o = c.round(tool, args, o.RequestState, answers)
	}
	c.t.Fatal("it asks without an end")
	return o
}

func (s *Server) add(name string, call func(context.Context, *tools.Session, tools.Host, json.RawMessage) *mcp.CallToolResult) {
	s.names = append(s.names, name)
	s.calls[name] = s.answering(call)
	s.mcp.AddTool(mcp.NewTool(name), s.calls[name])
}

// probe asks in the order of its argument: u the user, m the model.
func probe(ctx context.Context, _ *tools.Session, h tools.Host, args json.RawMessage) *mcp.CallToolResult {
	var in struct{ Ask string }
	json.Unmarshal(args, &in)
	var got []string
	for i, who := range in.Ask {
		var text string
		var err error
		if who == 'm' {
			text, err = h.Complete(ctx, fmt.Sprintf("prompt %d", i))
		} else {
			var a tools.Answer
			a, err = h.Ask(ctx, tools.Question{Text: fmt.Sprintf("question %d", i), Fields: []tools.Field{{Name: "x"}}})
			text = fmt.Sprint(a.Action, a.Values["x"])
		}
		switch {
		case errors.Is(err, tools.ErrPending):
			return mcp.NewToolResultText("nobody sees this")
		case err != nil:
			return mcp.NewToolResultError(err.Error())
		}
		got = append(got, text)
	}
	return mcp.NewToolResultText(strings.Join(got, "; "))
}

func filled(action string, content ...any) map[string]any {
	m := map[string]any{"action": action}
	if len(content) > 0 {
		m["content"] = content[0]
	}
	return m
}

var eras = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

const asks = `{"elicitation": {}, "sampling": {}}`

func sampled(text string) map[string]any {
	return map[string]any{"role": "assistant", "model": "m", "content": map[string]any{"type": "text", "text": text}}
}

// One call asks the user and the model several times, in both eras.
func TestAsk(t *testing.T) {
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			c := connect(t, era, asks, nil)
			say := func(x any) map[string]any { return filled("accept", map[string]any{"x": x}) }
			c.replyWith("elicitation/create", say("one"), filled("decline"), filled("cancel"), say(7), say(" "), filled("dance"), map[string]any{}, say("last"))
			c.replyWith("sampling/createMessage", sampled("first"), map[string]any{"role": "assistant", "content": []any{sampled("sec")["content"], sampled("ond")["content"]}}, sampled(" "))
			// 2 is an accepted form with a value, 1 a no, 0 no answer.
			for _, want := range []struct{ ask, text string }{
				{"umu", "2 [one]; first; 1 []"},
				{"", ""},
				{"uuuuu", "0 []; 0 []; 0 []; 0 []; 0 []"},
				{"m", "second"},
				{"um", "this client offers no model: it wrote no text"},
			} {
				if o := c.complete("probe", `{"ask": "`+want.ask+`"}`); o.text() != want.text {
					t.Errorf("%s: %q; want %q", want.ask, o.text(), want.text)
				}
			}
			if len(c.asked) != 11 {
				t.Errorf("%d questions: %q", len(c.asked), c.asked)
			}
		})
	}
}

// Nothing is sent to a client that has not said that it can be asked, and the
// tool that only asks is hidden from it, in the list and for calls.
func TestAskNobody(t *testing.T) {
	for _, era := range eras {
		for _, caps := range []string{`{}`, `{"elicitation": {"url": {}}}`} {
			c := connect(t, era, caps, nil)
			c.replyWith("elicitation/create", filled("accept", map[string]any{"x": "y"}))
			for ask, want := range map[string]string{"u": "this client cannot ask its user", "m": "this client offers no model"} {
				if o := c.complete("probe", `{"ask": "`+ask+`"}`); o.text() != want || !o.IsError {
					t.Errorf("%s %s: %+v", era, caps, o)
				}
			}
			if c.lists("AskUserQuestion") {
				t.Errorf("%s %s: the tool is shown", era, caps)
			}
			if _, err := c.request("tools/call", map[string]any{"name": "AskUserQuestion", "arguments": map[string]any{}}); err == nil || !strings.Contains(err.Error(), "-32602") {
				t.Errorf("%s %s: %v", era, caps, err)
			}
			for _, name := range []string{"AskUserQuestion", "Raed"} {
				_, err := c.request("tools/call", map[string]any{"name": name, "arguments": map[string]any{}})
				_, listed, _ := strings.Cut(fmt.Sprint(err), "the tools are")
				if !strings.Contains(listed, " Read,") || strings.Contains(listed, "AskUserQuestion") {
					t.Errorf("%s %s: %s: %v", era, caps, name, err)
				}
			}
			if len(c.asked) > 0 {
				t.Errorf("%s %s: asked %q", era, caps, c.asked)
			}
		}
		for _, caps := range []string{asks, `{"elicitation": {"form": {}}}`, `{"elicitation": {"form": {}, "url": {}}}`} {
			c := connect(t, era, caps, nil)
			if !c.lists("AskUserQuestion") {
				t.Errorf("%s %s: the tool is hidden", era, caps)
			}
			if _, err := c.request("tools/call", map[string]any{"name": "Raed"}); !strings.Contains(fmt.Sprint(err), "AskUserQuestion") {
				t.Errorf("%s %s: %v", era, caps, err)
			}
		}
	}
}

func (c *caller) lists(tool string) bool {
	raw, err := c.request("tools/list", map[string]any{})
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.Contains(string(raw), `"name":"`+tool+`"`)
}

// A request of the era without handshakes says for itself what the client can
// do, on a connection that has had a handshake, too; and the other way round.
func TestAskBothEras(t *testing.T) {
	c := connect(t, "2025-11-25", asks, nil)
	c.replyWith("elicitation/create", filled("decline"))
	legacy := c.meta
	c.meta = map[string]any{mcp.MetaKeyProtocolVersion: "2026-07-28", mcp.MetaKeyClientCapabilities: map[string]any{}}
	if o := c.complete("probe", `{"ask": "u"}`); o.text() != "this client cannot ask its user" {
		t.Errorf("%+v", o)
	}
	c.meta = legacy
	if o := c.complete("probe", `{"ask": "u"}`); o.text() != "1 []" {
		t.Errorf("%+v", o)
	}
}

// A client that refuses the request has not asked anybody; one that never
// answers is given up with its call or its connection.
func TestAskRefused(t *testing.T) {
	c := connect(t, "2025-11-25", asks, nil)
	c.replyWith("elicitation/create", "not now")
	c.replyWith("sampling/createMessage", "not now")
	for ask, want := range map[string]string{"u": `this client cannot ask its user: it says "not now"`, "m": `this client offers no model: it says "not now"`} {
		if o := c.complete("probe", `{"ask": "`+ask+`"}`); o.text() != want {
			t.Errorf("%+v", o)
		}
	}
	c.replyWith("elicitation/create", nil)
	id, wait := c.Start("tools/call", map[string]any{"name": "probe", "arguments": map[string]any{"ask": "u"}})
	c.until(func() bool { return len(c.asked) == 3 })
	c.Notify("notifications/cancelled", map[string]any{"requestId": id})
	c.until(func() bool { // the user need not answer any more
		return slices.Contains(c.heard, `notifications/cancelled {"requestId":"srv-3"}`)
	})
	_, last := c.Start("tools/call", map[string]any{"name": "probe", "arguments": map[string]any{"ask": "u"}})
	c.until(func() bool { return len(c.asked) == 4 })
	c.in.Close()
	if raw, err := last(t.Context()); err != nil || !strings.Contains(string(raw), "the client is gone") {
		t.Errorf("%s %v", raw, err)
	}
	if _, err := wait(t.Context()); err == nil {
		t.Error("a cancelled call was answered")
	}
}

// The client's model is waited for, not for ever.
func TestCompleteLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, "2025-11-25", asks, func(cfg *Config, _ string) { cfg.Workspace.State = "" })
		c.replyWith("sampling/createMessage", nil)
		begin := time.Now()
		raw, err := c.Request(t.Context(), "tools/call", map[string]any{"name": "probe", "arguments": map[string]any{"ask": "m"}})
		if err != nil || !strings.Contains(string(raw), "this client offers no model: it did not answer in time") || time.Since(begin) != sampleTime {
			t.Errorf("%v: %s %v", time.Since(begin), raw, err)
		}
	})
}

// until waits for what another goroutine brings about.
func (c *caller) until(ok func() bool) {
	c.t.Helper()
	late := false
	alarm := time.AfterFunc(10*time.Second, func() {
		c.mu.Lock()
		late = true
		c.mu.Unlock()
		c.news.Broadcast()
	})
	defer alarm.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !ok() {
		if late {
			c.t.Fatalf("it does not happen; asked %q, heard %q", c.asked, c.heard)
		}
		c.news.Wait()
	}
}

// An answer counts for the call that asked, and only if what was asked travels
// with it untouched.
func TestAskForeign(t *testing.T) {
	c := connect(t, "2026-07-28", asks, nil)
	other := connect(t, "2026-07-28", asks, nil)
	const args = `{"ask": "uu", "n": 12345678901234567890}`
	o := c.round("probe", args, "", nil)
	var name string
	for n, r := range o.InputRequests {
		if name = n; r.Method != "elicitation/create" {
			t.Errorf("%+v", r)
		}
	}
	if o.ResultType != "input_required" || len(o.InputRequests) != 1 || len(o.Content) != 0 || o.RequestState == "" {
		t.Fatalf("%+v", o)
	}
	yes := map[string]any{name: filled("accept", map[string]any{"x": "1"})}
	second := c.round("probe", `{"n":12345678901234567890,"ask":"uu"}`, o.RequestState, yes) // the same arguments
	if second.ResultType != "input_required" || len(second.InputRequests) != 1 || second.InputRequests[name].Method != "" {
		t.Fatalf("%+v", second)
	}
	payload, mac, _ := strings.Cut(second.RequestState, ".")
	for what, r := range map[string]outcome{
		"no state":            c.round("probe", args, "", yes),
		"not ours":            c.round("probe", args, "e30.e30", yes),
		"changed":             c.round("probe", args, strings.ToUpper(payload)+"."+mac, yes),
		"another's signature": c.round("probe", args, payload+"."+strings.Split(o.RequestState, ".")[1], yes),
		"other arguments":     c.round("probe", `{"ask": "uu", "n": 12345678901234567891}`, o.RequestState, yes),
		"other tool":          c.round("AskUserQuestion", args, o.RequestState, yes),
		"other server":        other.round("probe", args, o.RequestState, yes),
	} {
		if !r.IsError || r.text() != errForeign.Error() {
			t.Errorf("%s: %+v", what, r)
		}
	}
	// What was not asked is not answered, and without an answer it is asked again.
	third := c.round("probe", args, second.RequestState, map[string]any{"ask-0000": filled("accept")})
	if third.ResultType != "input_required" {
		t.Errorf("%+v", third)
	}
	if r := c.round("probe", args, third.RequestState, nil); r.ResultType != "input_required" {
		t.Errorf("%+v", r)
	}
}

// What was answered once is good for one call: the same answer cannot be sent
// again, neither later nor at the same moment.
func TestAskOnce(t *testing.T) {
	c := connect(t, "2026-07-28", asks, nil)
	const args = `{"ask": "uu"}`
	answer := func(o outcome) map[string]any {
		m := make(map[string]any)
		for name := range o.InputRequests {
			m[name] = filled("accept", map[string]any{"x": "yes"})
		}
		return m
	}
	first := c.round("probe", args, "", nil)
	second := c.round("probe", args, first.RequestState, answer(first))
	if done := c.round("probe", args, second.RequestState, answer(second)); done.IsError || done.text() != "2 [yes]; 2 [yes]" {
		t.Fatalf("%+v", done)
	}
	for _, o := range []outcome{first, second} {
		if r := c.round("probe", args, o.RequestState, answer(o)); !r.IsError || r.text() != errForeign.Error() {
			t.Errorf("a second time: %+v", r)
		}
		if r := c.round("probe", args, o.RequestState, nil); !r.IsError {
			t.Errorf("a second time, without the answer: %+v", r)
		}
	}
}

// A question can be answered for ten minutes. The answers that travel have a
// limit.
func TestAskExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := seal.New(answerTime, maxOpen)
		p := mcp.CallToolParams{Name: "x", RawArguments: json.RawMessage(`{}`)}
		first, err := newTalk(key, "s", p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := first.ask("q", mcp.InputRequest{}); !errors.Is(err, tools.ErrPending) {
			t.Fatal(err)
		}
		late := first.result().RequestState
		p.RequestState = first.result().RequestState
		time.Sleep(answerTime - time.Second)
		if _, err := newTalk(key, "another session", p); !errors.Is(err, errForeign) {
			t.Error(err)
		}
		if _, err := newTalk(key, "s", p); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		p.RequestState = late
		if _, err := newTalk(key, "s", p); !errors.Is(err, errForeign) {
			t.Error(err)
		}
		first.answers["long"] = json.RawMessage(`"` + strings.Repeat("x", maxState) + `"`)
		if r := first.result(); !r.IsError || r.ResultType != "" {
			t.Errorf("%+v", r)
		}
	})
}

package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"ferrule/mcpserver/auth"
	"ferrule/tools"
)

type testSite struct {
	*site
	waiting chan struct{} // gets one from each call of wait
}

// newTestSite returns a site without a guard to speak of, whose only principal
// has tools for the tests beside the real ones.
func newTestSite(t testing.TB) *testSite {
	t.Helper()
	c := HTTPConfig{NoAuth: true, Serve: func(auth.Principal) (Config, error) { return Config{}, nil }}
	s := &testSite{newSite(c, nil), make(chan struct{}, maxCalls)}
	srv, err := newServer(Config{Workspace: tools.Config{Roots: []string{t.TempDir()}, State: t.TempDir()}}, s.sessions)
	if err != nil {
		t.Fatal(err)
	}
	add := func(name string, h server.ToolHandlerFunc) {
		srv.mcp.AddTool(mcp.NewTool(name), h)
		srv.names = append(srv.names, name)
	}
	add("echo", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.GetString("text", "")), nil
	})
	// five notifications of ours and five of the library's, in all orders
	add("chatter", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 5 {
			notify(ctx, "notifications/progress", map[string]any{"progressToken": r.Params.Meta.ProgressToken, "progress": i})
			srv.mcp.SendNotificationToClient(ctx, "notifications/message", map[string]any{"level": "info", "data": r.Params.Meta.ProgressToken})
		}
		return mcp.NewToolResultText(fmt.Sprint(r.Params.Meta.ProgressToken)), nil
	})
	add("question", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		notify(ctx, "notifications/progress", map[string]any{"progressToken": "t", "progress": 1})
		res, err := srv.mcp.RequestElicitation(ctx, mcp.ElicitationRequest{Params: mcp.ElicitationParams{Message: "well?", RequestedSchema: map[string]any{"type": "object"}}})
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultText(string(res.Action)), nil
	})
	add("wait", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.waiting <- struct{}{}
		<-ctx.Done()
		return mcp.NewToolResultText("ended"), nil
	})
	n := ready(t, "default#", srv)
	s.tenants[n.owner] = n
	t.Cleanup(s.sessions.close)
	return s
}

func ready(t testing.TB, owner string, srv *Server) *tenant {
	t.Helper()
	n := newTenant(owner, func() (*Server, error) { return srv, nil })
	if err := n.ready(); err != nil {
		t.Fatal(err)
	}
	return n
}

// passes is a handler that lets everything reach a site.
func (t *testSite) passes() http.Handler { return t.serves(t.tenants["default#"]) }

func (t *testSite) serves(n *tenant) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		switch r.Method {
		case http.MethodPost:
			err = t.post(w, r, n)
		case http.MethodGet:
			err = t.listen(w, r, n)
		case http.MethodDelete:
			err = t.delete(w, r, n)
		}
		if err != nil {
			refuse(w, err)
		}
	})
}

type spoken struct {
	ID     json.RawMessage
	Method string
	Params struct {
		ProgressToken string
		Data          string
		Meta          map[string]any `json:"_meta"`
	}
	Result json.RawMessage
}

// hear reads the messages of a response one by one.
func hear(body io.Reader, got func(spoken)) {
	for in := bufio.NewReader(body); ; {
		line, err := in.ReadBytes('\n')
		line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("data: "))
		var m spoken
		if bytes.HasPrefix(line, []byte("{")) && json.Unmarshal(line, &m) == nil {
			got(m)
		}
		if err != nil {
			return
		}
	}
}

type httpClient struct {
	t      testing.TB
	url    string
	header http.Header
	client *http.Client
}

func dial(t testing.TB, h http.Handler) *httpClient {
	srv := httptest.NewServer(h)
	c := &httpClient{t: t, url: srv.URL, header: http.Header{"Content-Type": {"application/json"}}, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 200}}}
	t.Cleanup(func() { c.client.CloseIdleConnections(); srv.Close() })
	return c
}

func (c *httpClient) do(ctx context.Context, method, body string, header http.Header) *http.Response {
	c.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, c.url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header = header
	res, err := c.client.Do(r)
	if err != nil {
		c.t.Error(err)
		return &http.Response{Body: http.NoBody}
	}
	return res
}

// begin opens a session and returns the headers of its requests.
func (c *httpClient) begin(capabilities string) http.Header {
	res := c.do(context.Background(), "POST", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"t","version":"1"}}}`, c.header)
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	h := c.header.Clone()
	h.Set("Mcp-Session-Id", res.Header.Get("Mcp-Session-Id"))
	h.Set("Mcp-Protocol-Version", "2025-11-25")
	return h
}

// modernHead returns the headers of a request without a session.
func (c *httpClient) modernHead(method, name string) http.Header {
	h := c.header.Clone()
	h.Set("Mcp-Protocol-Version", "2026-07-28")
	h.Set("Mcp-Method", method)
	if name != "" {
		h.Set("Mcp-Name", name)
	}
	return h
}

const modernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`

// 64 calls at once, in one session, in 64, and without: every notification
// reaches its own call, before the answer, and none is lost.
func TestStreamChatter(t *testing.T) {
	c := dial(t, newTestSite(t).passes())
	one := c.begin("{}")
	for name, head := range map[string]func() http.Header{
		"one session": func() http.Header { return one },
		"64 sessions": func() http.Header { return c.begin("{}") },
		"no session":  func() http.Header { return c.modernHead("tools/call", "chatter") },
	} {
		t.Run(name, func(t *testing.T) {
			var wg sync.WaitGroup
			for i := range 64 {
				wg.Go(func() {
					head, meta := head(), ""
					if head.Get("Mcp-Method") != "" {
						meta = "," + modernMeta
					}
					for round := range 3 {
						token := fmt.Sprintf("t%d-%d", i, round)
						res := c.do(context.Background(), "POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"chatter","_meta":{"progressToken":%q%s}}}`, i*10+round, token, meta), head)
						var own, foreign int
						last := ""
						hear(res.Body, func(m spoken) {
							switch {
							case last != "":
								t.Errorf("%s: %s after the answer", token, m.Method)
							case m.Method == "":
								last = string(m.ID)
							case m.Params.ProgressToken == token || m.Params.Data == token:
								own++
							default:
								foreign++
							}
						})
						res.Body.Close()
						if own != 10 || foreign != 0 || last != fmt.Sprint(i*10+round) {
							t.Errorf("%s: %d own, %d foreign notifications, answer to %q", token, own, foreign, last)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// A client that takes only JSON gets only the answer.
func TestStreamJSONOnly(t *testing.T) {
	c := dial(t, newTestSite(t).passes())
	head := c.begin("{}")
	head.Set("Accept", "application/json")
	res := c.do(context.Background(), "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"chatter","_meta":{"progressToken":"t"}}}`, head)
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	if res.Header.Get("Content-Type") != "application/json" || !json.Valid(b) {
		t.Errorf("%s %s", res.Header.Get("Content-Type"), b)
	}
	got := c.do(context.Background(), "GET", "", head)
	got.Body.Close()
	if got.StatusCode != 406 {
		t.Errorf("GET: %s", got.Status)
	}
}

// Progress, a question to the user and the answer share the response; what the
// user says comes by another request, and only from the same session.
func TestStreamQuestion(t *testing.T) {
	c := dial(t, newTestSite(t).passes())
	head, other := c.begin(`{"elicitation":{}}`), c.begin(`{"elicitation":{}}`)
	res := c.do(context.Background(), "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"question"}}`, head)
	defer res.Body.Close()
	var seen []string
	hear(res.Body, func(m spoken) {
		seen = append(seen, m.Method)
		if m.Method == "elicitation/create" {
			for _, try := range []struct {
				head   http.Header
				action string
			}{{other, "decline"}, {head, "accept"}} {
				r := c.do(context.Background(), "POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":%q}}`, m.ID, try.action), try.head)
				r.Body.Close()
				if r.StatusCode != 202 {
					t.Errorf("the user's answer: %s", r.Status)
				}
			}
		}
		if m.Method == "" && !strings.Contains(string(m.Result), `"accept"`) {
			t.Errorf("got %s", m.Result)
		}
	})
	if want := []string{"notifications/progress", "elicitation/create", ""}; !slices.Equal(seen, want) {
		t.Errorf("got %q", seen)
	}
}

// More than 64 requests at once of one principal are refused; cancelling one is
// not, nor are those of another principal.
func TestTooMany(t *testing.T) {
	s := newTestSite(t)
	c := dial(t, s.passes())
	head := c.begin("{}")
	ask := func(body string) *http.Response {
		res := c.do(context.Background(), "POST", body, head)
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		return res
	}
	var wg sync.WaitGroup
	for i := range maxCalls {
		wg.Go(func() {
			ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"wait"}}`, i))
		})
	}
	for range maxCalls {
		<-s.waiting
	}
	const ping = `{"jsonrpc":"2.0","id":"p","method":"ping"}`
	if res := ask(ping); res.StatusCode != 429 || res.Header.Get("Retry-After") == "" {
		t.Errorf("one more: %s", res.Status)
	}
	dial(t, s.serves(ready(t, "other#", s.tenants["default#"].srv))).begin("{}")
	for i := range maxCalls {
		if res := ask(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i)); res.StatusCode != 202 {
			t.Errorf("cancelling: %s", res.Status)
		}
	}
	wg.Wait()
	if res := ask(ping); res.StatusCode != 200 {
		t.Errorf("afterwards: %s", res.Status)
	}
}

// Without sessions several clients share a principal's session and choose the
// same ids: none of their calls is in another's way.
func TestSameIDs(t *testing.T) {
	s := newTestSite(t)
	c := dial(t, s.passes())
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for range 3 {
		wg.Go(func() {
			r, _ := http.NewRequestWithContext(ctx, "POST", c.url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","_meta":{`+modernMeta+`}}}`))
			r.Header = c.modernHead("tools/call", "wait")
			if res, err := c.client.Do(r); err == nil {
				t.Errorf("answered: %s", res.Status)
				res.Body.Close()
			}
		})
	}
	for range 3 {
		<-s.waiting
	}
	cancel()
	wg.Wait()
}

// Whose token has been revoked loses what he has running.
func TestEvict(t *testing.T) {
	s := newTestSite(t)
	dir := filepath.Join(t.TempDir(), "state")
	tokens, _, err := auth.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.cfg.NoAuth, s.cfg.Tokens = false, tokens
	text, err := auth.Add(dir, auth.Principal{Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	list, err := auth.List(dir)
	if err != nil || text == "" {
		t.Fatal(err)
	}
	owner := list[0].Owner()
	s.tenants[owner] = ready(t, owner, nil)
	st := addSession(t, s.sessions, owner, "id")
	s.evict()
	if st.gone.Err() != nil || s.tenants[owner] == nil {
		t.Error("ended with a good token")
	}
	if err := auth.Revoke(dir, "ann"); err != nil {
		t.Fatal(err)
	}
	s.evict()
	if st.gone.Err() == nil || s.tenants[owner] != nil {
		t.Error("still there with a revoked token")
	}
}

// A question for a client whose request takes only the answer goes to the stream
// of its GET.
func TestStreamQuestionAside(t *testing.T) {
	c := dial(t, newTestSite(t).passes())
	head := c.begin(`{"elicitation":{}}`)
	plain := head.Clone()
	plain.Set("Accept", "application/json")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	aside := c.do(ctx, "GET", "", head)
	var wg sync.WaitGroup
	wg.Go(func() {
		hear(aside.Body, func(m spoken) {
			if m.Method == "elicitation/create" {
				c.do(context.Background(), "POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, m.ID), head).Body.Close()
			}
		})
		aside.Body.Close()
	})
	res := c.do(context.Background(), "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"question"}}`, plain)
	b, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if !strings.Contains(string(b), `"accept"`) {
		t.Errorf("got %s", b)
	}
	cancel()
	wg.Wait()
}

// What belongs to no request goes to the stream of a GET, or to a subscription,
// and carries the subscription's id.
func TestStreamBroadcast(t *testing.T) {
	s := newTestSite(t)
	c := dial(t, s.passes())
	head := c.begin("{}")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	ready := make(chan bool, 3)
	got := make(chan spoken, 10)
	wg.Go(func() {
		res := c.do(ctx, "GET", "", head)
		ready <- true
		hear(res.Body, func(m spoken) { got <- m })
		res.Body.Close()
	})
	srv := s.tenants["default#"].srv.mcp
	server.WithToolCapabilities(true)(srv)
	wg.Go(func() {
		res := c.do(ctx, "POST", `{"jsonrpc":"2.0","id":12345678901234567890,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{`+modernMeta+`}}}`, c.modernHead("subscriptions/listen", ""))
		hear(res.Body, func(m spoken) {
			if m.Method == "notifications/subscriptions/acknowledged" {
				ready <- true
			} else {
				got <- m
			}
		})
		res.Body.Close()
	})
	<-ready
	<-ready
	srv.SendNotificationToAllClients(mcp.MethodNotificationToolsListChanged, nil)
	srv.SendNotificationToAllClients(mcp.MethodNotificationPromptsListChanged, nil) // not asked for by the subscription
	var seen []string
	for range 3 {
		m := <-got
		seen = append(seen, fmt.Sprint(m.Method, " ", m.Params.Meta["io.modelcontextprotocol/subscriptionId"]))
	}
	slices.Sort(seen)
	want := []string{"notifications/prompts/list_changed <nil>", "notifications/tools/list_changed 1.2345678901234567e+19", "notifications/tools/list_changed <nil>"}
	if !slices.Equal(seen, want) {
		t.Errorf("got %q", seen)
	}
	cancel()
	wg.Wait()
	if len(got) > 0 {
		t.Errorf("also %+v", <-got)
	}
}

// After the answer nothing is sent, whoever still holds the request.
func TestStreamAfterEnd(t *testing.T) {
	w := httptest.NewRecorder()
	out := newStream(w, httptest.NewRequest("POST", "/", nil), func(error) {})
	x := &exchange{client: new(client), out: out}
	out.send("before")
	x.close()
	out.finish(http.StatusOK, "answer")
	n := w.Body.Len()
	out.send("late")
	out.beat()
	out.finish(http.StatusOK, "twice")
	if x.NotificationChannel() != nil || w.Body.Len() != n {
		t.Errorf("written after the end: %s", w.Body.Bytes()[n:])
	}
	if got := w.Body.String(); got != "event: message\ndata: \"before\"\n\nevent: message\ndata: \"answer\"\n\n" {
		t.Errorf("got %q", got)
	}
}

// A client that does not take what is written is given up, and its call ended.
func TestStreamBroken(t *testing.T) {
	given := false
	out := newStream(brokenWriter{httptest.NewRecorder()}, httptest.NewRequest("POST", "/", nil), func(error) { given = true })
	out.send("x")
	out.send("y")
	if !given {
		t.Error("the request goes on")
	}
}

type brokenWriter struct{ http.ResponseWriter }

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A plain writer that may be read while it is written to.
type plainWriter struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (*plainWriter) Header() http.Header { return http.Header{} }
func (*plainWriter) WriteHeader(int)     {}
func (*plainWriter) Flush()              {}
func (w *plainWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

// A stream that stays open is written to every 25 seconds. A new GET of the same
// session ends the one before.
func TestStreamHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(HTTPConfig{NoAuth: true}, nil)
		n := ready(t, "o", nil)
		st := addSession(t, s.sessions, n.owner, "id")
		var wg sync.WaitGroup
		open := func(w *plainWriter) {
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/mcp", nil)
			r.Header.Set("Mcp-Session-Id", "id")
			wg.Go(func() { s.listen(w, r, n) })
			synctest.Wait()
		}
		var first, second plainWriter
		open(&first)
		time.Sleep(80 * time.Second)
		synctest.Wait()
		if got := strings.Count(first.b.String(), ": still here\n\n"); got != 3 {
			t.Errorf("%d beats in 80 s", got)
		}
		open(&second)
		st.link.notes <- mcp.JSONRPCNotification{}
		time.Sleep(26 * time.Second)
		synctest.Wait()
		if first.b.Len() > 50 || !strings.Contains(second.b.String(), "data: {") || !strings.Contains(second.b.String(), "still here") {
			t.Errorf("first %q, second %q", &first.b, &second.b)
		}
		close(s.closing)
		wg.Wait()
		s.sessions.close()
	})
}

// addSession opens a session as the handshake would.
func addSession(t testing.TB, r *sessions, owner, id string) *state {
	t.Helper()
	st, err := r.enter(origin{owner: owner, session: id}, func() *state {
		st := newState(tools.Config{Roots: []string{t.TempDir()}, State: t.TempDir()})
		st.link = &link{leave: func() {}}
		st.link.client = newClient(id, newWire(&st.link.back, nil), st, 64)
		return st
	})
	if err != nil {
		t.Fatal(err)
	}
	r.leave(st)
	return st
}

// ownerOf returns who a request with these headers comes from.
func ownerOf(t testing.TB, s *testSite, host string, h http.Header) string {
	t.Helper()
	r := httptest.NewRequest("POST", "/mcp", nil)
	r.Header, r.Host = h, host
	p, err := s.guard.Check(r)
	if err != nil {
		t.Fatal(err)
	}
	return p.Owner()
}

// BenchmarkHTTPEcho compares a call over our transport, without and with all that
// stands before it, with the library's own on the same server. Calls take turns,
// so all see the same machine; the metrics are ratios of medians, and above 1
// ours is faster.
func BenchmarkHTTPEcho(b *testing.B) {
	s := newTestSite(b)
	home := filepath.Join(b.TempDir(), "state")
	tokens, file, err := auth.Open(home)
	if err != nil {
		b.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	srv := s.tenants["default#"].srv
	s.cfg.NoAuth, s.cfg.Tokens = false, tokens
	front := httptest.NewUnstartedServer(s)
	if s.guard, err = auth.NewGuard(auth.Rules{Tokens: tokens, MaxBody: maxMessage}, front.Listener.Addr()); err != nil {
		b.Fatal(err)
	}
	front.Start()
	b.Cleanup(front.Close)
	own := &httpClient{b, front.URL + "/mcp", http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + strings.TrimSpace(string(text))}}, front.Client()}
	s.cfg.Serve = func(auth.Principal) (Config, error) { return srv.cfg, nil }
	owner := ownerOf(b, s, front.Listener.Addr().String(), own.header)
	s.tenants[owner] = ready(b, owner, srv)
	lib := dial(b, server.NewStreamableHTTPServer(s.tenants["default#"].srv.mcp, server.WithStateful(true)))
	bare := dial(b, s.passes())
	clients := []*httpClient{lib, bare, own}
	heads := []http.Header{lib.begin("{}"), bare.begin("{}"), own.begin("{}")}
	for _, size := range []int{5, 10_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":%q}}}`, strings.Repeat("x", size))
			var took [3][]time.Duration
			for b.Loop() {
				for i, c := range clients {
					begin := time.Now()
					res := c.do(context.Background(), "POST", body, heads[i])
					if n, _ := io.Copy(io.Discard, res.Body); n < int64(size) {
						b.Fatal("no answer")
					}
					res.Body.Close()
					took[i] = append(took[i], time.Since(begin))
				}
			}
			var median [3]float64
			for i := range took {
				slices.Sort(took[i])
				median[i] = float64(took[i][len(took[i])/2])
			}
			b.ReportMetric(median[0]/median[1], "library/ours")
			b.ReportMetric(median[0]/median[2], "library/guarded")
			b.ReportMetric(median[1], "ours-ns")
		})
	}
}

// S371 and kind: what would open the tools to strangers does not start.
func TestHTTPStart(t *testing.T) {
	far := &net.TCPAddr{IP: net.IPv4zero, Port: 7117}
	near := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7117}
	tokens, _, err := auth.Open(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		c    HTTPConfig
		addr net.Addr
		ok   bool
	}{
		{"loopback and token", HTTPConfig{Tokens: tokens}, near, true},
		{"loopback without token", HTTPConfig{NoAuth: true}, near, true},
		{"S371: far without token", HTTPConfig{NoAuth: true}, far, false},
		{"S371: far without token, TLS", HTTPConfig{NoAuth: true, Cert: "c", Key: "k"}, far, false},
		{"behind a proxy without token", HTTPConfig{NoAuth: true, BehindProxy: true}, near, false},
		{"no token at all", HTTPConfig{}, near, false},
		{"far in the clear", HTTPConfig{Tokens: tokens}, far, false},
		{"far with TLS", HTTPConfig{Tokens: tokens, Cert: "c", Key: "k"}, far, true},
		{"far behind a proxy", HTTPConfig{Tokens: tokens, BehindProxy: true}, far, true},
		{"half a certificate", HTTPConfig{Tokens: tokens, Cert: "c"}, near, false},
	} {
		if err := test.c.check(test.addr); (err == nil) != test.ok {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

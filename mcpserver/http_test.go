package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"ferrule/mcpserver"
	"ferrule/mcpserver/auth"
	"ferrule/mcpserver/mcpclient"
	"ferrule/tools"
)

// A web is a server of HTTP on loopback.
type web struct {
	t          testing.TB
	addr, port string
	dir, state string // the workspace and where the tokens are
	client     *http.Client
	stop       context.CancelFunc
	end        chan error
}

// serveWeb serves a new workspace. Tokens may be added to w.state at any time.
func serveWeb(t testing.TB, change func(*mcpserver.HTTPConfig)) *web {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &web{t: t, dir: dir, state: filepath.Join(t.TempDir(), "state"), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}, end: make(chan error, 1)}
	tokens, _, err := auth.Open(w.state)
	if err != nil {
		t.Fatal(err)
	}
	c := mcpserver.HTTPConfig{Tokens: tokens, Drain: 200 * time.Millisecond, Serve: func(p auth.Principal) (mcpserver.Config, error) {
		cfg := mcpserver.Config{Workspace: tools.Config{Roots: []string{dir}, State: w.state}, Selection: tools.Selection{Toolsets: "+extra", ReadOnly: p.ReadOnly}}
		if len(p.Roots) > 0 {
			cfg.Workspace.Roots = p.Roots
		}
		return cfg, nil
	}}
	if change != nil {
		change(&c)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.addr = l.Addr().String()
	_, w.port, _ = net.SplitHostPort(w.addr)
	ctx, cancel := context.WithCancel(context.Background())
	w.stop = cancel
	go func() { w.end <- mcpserver.ServeHTTP(ctx, l, c) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-w.end:
			w.end <- err
		case <-time.After(60 * time.Second):
			t.Error("the server did not end")
		}
		w.client.CloseIdleConnections()
	})
	return w
}

// token returns the token that the server has made for itself.
func (w *web) token() string {
	b, err := os.ReadFile(filepath.Join(w.state, "token"))
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// A caller is a client of a web, with the headers it sends.
type caller struct {
	*web
	header map[string]string
}

func (w *web) caller(token string) *caller {
	return &caller{w, map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}}
}

// begin does the handshake of a version with sessions.
func (w *web) begin(token, version string) *caller {
	w.t.Helper()
	c := w.caller(token)
	res, _ := c.send("POST", fmt.Sprintf(hello, version))
	if res.StatusCode != 200 || res.Header.Get("Mcp-Session-Id") == "" {
		w.t.Fatalf("initialize: %s", res.Status)
	}
	c.header["Mcp-Session-Id"], c.header["Mcp-Protocol-Version"] = res.Header.Get("Mcp-Session-Id"), version
	if res, _ := c.send("POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`); res.StatusCode != 202 {
		w.t.Fatalf("initialized: %s", res.Status)
	}
	return c
}

// with returns the same client with other headers; an empty value leaves one
// out, and "Host" and "Path" set those.
func (c *caller) with(header map[string]string) *caller {
	h := maps.Clone(c.header)
	maps.Copy(h, header)
	return &caller{c.web, h}
}

func (c *caller) request(ctx context.Context, method string, body io.Reader) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+c.addr+"/mcp", body)
	if err != nil {
		c.t.Fatal(err)
	}
	for k, v := range c.header {
		switch {
		case k == "Host":
			r.Host = v
		case k == "Path":
			r.URL.Path = v
		case v != "":
			r.Header.Set(k, v)
		}
	}
	return r
}

// send sends one request and returns the response with its whole body.
func (c *caller) send(method, body string) (*http.Response, string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	res, err := c.client.Do(c.request(ctx, method, strings.NewReader(body)))
	if err != nil {
		c.t.Errorf("%s: %v", method, err)
		return &http.Response{}, ""
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Errorf("%s: %v", method, err)
	}
	return res, string(b)
}

// messages returns the messages of a body, in both of its forms.
func messages(t testing.TB, body io.Reader, events bool, got func(answer)) {
	t.Helper()
	in := bufio.NewReader(body)
	for {
		line, err := in.ReadBytes('\n')
		data := bytes.TrimSpace(line)
		if events {
			data = bytes.TrimPrefix(data, []byte("data: "))
		}
		if len(data) > 0 && data[0] == '{' {
			var a answer
			if err := json.Unmarshal(data, &a); err != nil {
				t.Errorf("not a message: %s", data)
			}
			got(a)
		}
		if err != nil {
			return
		}
	}
}

// ask sends a request and returns all that comes back, the answer last.
func (c *caller) ask(body string) (all []answer) {
	c.t.Helper()
	res, b := c.send("POST", body)
	if res.Header == nil {
		return []answer{{}}
	}
	messages(c.t, strings.NewReader(b), strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream"), func(a answer) { all = append(all, a) })
	if len(all) == 0 {
		c.t.Errorf("no answer to %.100s: %s %.200s", body, res.Status, b)
		return []answer{{}}
	}
	return all
}

func (c *caller) answer(body string) answer {
	c.t.Helper()
	all := c.ask(body)
	return all[len(all)-1]
}

// modern returns the client in the era without sessions, for one method.
func (c *caller) modern(method, name string) *caller {
	return c.with(map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name, "Mcp-Session-Id": ""})
}

// modernCall is a call of a tool in that era, in the session that handle names.
func modernCall(id any, tool, args, handle string) string {
	meta := `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
	if handle != "" {
		meta += `,"ferrule/session":` + handle
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{%s}}}`, id, tool, args, meta)
}

func (w *web) file(name, text string) {
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o666); err != nil {
		w.t.Fatal(err)
	}
}

func (w *web) appears(name string) { (&peer{t: w.t, dir: w.dir}).appears(name) }

// S359–S369, S372–S376, S381: what a page, a stranger or a broken client sends
// is refused before anything of it is done. H122 likewise.
func TestHTTPAttacks(t *testing.T) {
	w := serveWeb(t, func(c *mcpserver.HTTPConfig) {
		c.Origins = []string{"https://good.example"}
		c.Hosts = []string{"ferrule.example"}
	})
	honest := w.begin(w.token(), "2025-06-18")
	call := callLine(2, "Write", `{"file_path":"made","content":"x"}`)
	big := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Write","arguments":{"file_path":"made","content":"` + strings.Repeat("A", 17<<20) + `"}}}`
	nested := callLine(2, "Write", `{"file_path":"made","content":`+strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)+`}`)
	for _, a := range []struct {
		id, name, method, body string
		header                 map[string]string
		status                 int
	}{
		{"S359", "Host evil.com", "POST", call, map[string]string{"Host": "evil.com:" + w.port}, 403},
		{"S360", "Host localhost.evil.com", "POST", call, map[string]string{"Host": "localhost.evil.com"}, 403},
		{"S361", "Host 127.0.0.1.nip.io", "POST", call, map[string]string{"Host": "127.0.0.1.nip.io:" + w.port}, 403},
		{"S362", "Host localhost.", "POST", call, map[string]string{"Host": "localhost.:" + w.port}, 403},
		{"S363", "Host with another port", "POST", call, map[string]string{"Host": "127.0.0.1:1"}, 403},
		{"S363", "Host without the port", "POST", call, map[string]string{"Host": "127.0.0.1"}, 403},
		{"S364", "foreign Origin", "POST", call, map[string]string{"Origin": "https://evil.com"}, 403},
		{"S364", "our own Host as Origin", "POST", call, map[string]string{"Origin": "http://" + w.addr}, 403},
		{"S365", "Origin null", "POST", call, map[string]string{"Origin": "null"}, 403},
		{"S366", "Sec-Fetch-Site cross-site", "POST", call, map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"S366", "Sec-Fetch-Site same-site", "POST", call, map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
		{"S366", "Sec-Fetch-Site cross-site on GET", "GET", "", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"S367", "text/plain", "POST", call, map[string]string{"Content-Type": "text/plain"}, 415},
		{"S367", "a form", "POST", call, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 415},
		{"S368", "no Content-Type", "POST", call, map[string]string{"Content-Type": ""}, 415},
		{"S368", "text/plain on DELETE", "DELETE", call, map[string]string{"Content-Type": "text/plain"}, 415},
		{"S369", "foreign Origin on GET", "GET", "", map[string]string{"Origin": "https://evil.com"}, 403},
		{"S369", "foreign Origin on DELETE", "DELETE", "", map[string]string{"Origin": "https://evil.com"}, 403},
		{"S369", "foreign Origin on OPTIONS", "OPTIONS", "", map[string]string{"Origin": "https://evil.com"}, 403},
		{"S369", "foreign Origin on another path", "POST", call, map[string]string{"Origin": "https://evil.com", "Path": "/"}, 403},
		{"S372", "no token", "POST", call, map[string]string{"Authorization": ""}, 401},
		{"S372", "wrong token", "POST", call, map[string]string{"Authorization": "Bearer x" + w.token()[1:]}, 401},
		{"S372", "half a token", "POST", call, map[string]string{"Authorization": "Bearer " + w.token()[:20]}, 401},
		{"S372", "another scheme", "POST", call, map[string]string{"Authorization": "Basic " + w.token()}, 401},
		{"S372", "token in the URL", "POST", call, map[string]string{"Authorization": "", "Path": "/mcp?token=" + w.token()}, 401},
		{"S372", "no token on another path", "GET", "", map[string]string{"Authorization": "", "Path": "/anything"}, 401},
		{"S373", "invented session", "POST", call, map[string]string{"Mcp-Session-Id": "mcp-session-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"}, 404},
		{"S373", "invented session of our form", "POST", call, map[string]string{"Mcp-Session-Id": strings.Repeat("0a", 16)}, 404},
		{"S373", "invented session on GET", "GET", "", map[string]string{"Mcp-Session-Id": strings.Repeat("0a", 16)}, 404},
		{"S373", "invented session on DELETE", "DELETE", "", map[string]string{"Mcp-Session-Id": strings.Repeat("0a", 16)}, 404},
		{"S374", "no session", "POST", call, map[string]string{"Mcp-Session-Id": ""}, 400},
		{"S374", "no session on GET", "GET", "", map[string]string{"Mcp-Session-Id": ""}, 400},
		{"S375", "batch", "POST", "[" + call + "," + call + "]", nil, 400},
		{"S376", "nested arrays", "POST", nested, nil, 400},
		{"S377", "long body", "POST", big, nil, 413},
		{"S381", "another's Last-Event-ID", "GET", "", map[string]string{"Last-Event-ID": "1", "Mcp-Session-Id": strings.Repeat("0a", 16)}, 404},
		{"H122", "broken JSON", "POST", "{bad json", nil, 400},
		{"", "another path", "POST", call, map[string]string{"Path": "/mcp/"}, 404},
		{"", "another method", "PUT", call, nil, 405},
		{"", "an unknown version", "POST", call, map[string]string{"Mcp-Protocol-Version": "2024-01-01"}, 400},
		{"", "a name that is allowed", "POST", ping("7"), map[string]string{"Host": "Ferrule.example:" + w.port}, 200},
		{"", "the same behind a proxy", "POST", ping("7"), map[string]string{"Host": "ferrule.example"}, 200},
		{"", "an Origin that is allowed", "POST", ping("7"), map[string]string{"Origin": "https://good.example", "Sec-Fetch-Site": "cross-site"}, 200},
		{"", "localhost", "POST", ping("7"), map[string]string{"Host": "localhost:" + w.port, "Content-Type": "application/json; charset=utf-8"}, 200},
	} {
		res, body := honest.with(a.header).send(a.method, a.body)
		if res.StatusCode != a.status {
			t.Errorf("%s %s: %s %.100s, want %d", a.id, a.name, res.Status, body, a.status)
		}
		if strings.Contains(body, w.token()) || a.status == 401 && res.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s %s: %v %s", a.id, a.name, res.Header, body)
		}
		if _, err := os.Stat(filepath.Join(w.dir, "made")); err == nil {
			t.Fatalf("%s %s: the tool was called", a.id, a.name)
		}
	}
	if s, bad := honest.answer(call).text(t); bad { // and an honest one is served
		t.Error(s)
	}
	w.appears("made")
}

// S377: a body that says it is too long is refused before anything is read or
// kept, and one that does not say it as soon as it is.
func TestHTTPLongBody(t *testing.T) {
	w := serveWeb(t, nil)
	for _, chunked := range []bool{false, true} {
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		length := "Content-Length: 209715200"
		if chunked {
			length = "Transfer-Encoding: chunked"
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s\r\n\r\n", w.addr, w.token(), length)
		if chunked {
			go func() {
				chunk := fmt.Sprintf("%x\r\n%s\r\n", 1<<16, strings.Repeat("x", 1<<16))
				for range 200 << 4 {
					if _, err := io.WriteString(c, chunk); err != nil {
						return
					}
				}
			}()
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		runtime.ReadMemStats(&after)
		limit := uint64(1 << 20)
		if chunked {
			limit = 256 << 20 // what is sent, and what was read up to the limit, growing as it came
		}
		if got := after.TotalAlloc - before.TotalAlloc; res.StatusCode != 413 || got > limit {
			t.Errorf("chunked %v: %s after allocating %d bytes", chunked, res.Status, got)
		}
	}
}

// S379: a header that never ends is not waited for.
func TestHTTPSlowHeader(t *testing.T) {
	t.Parallel()
	w := serveWeb(t, nil)
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: %s\r\n", w.addr)
	c.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection stays open")
	}
}

// The same messages are refused with the same codes as on stdio.
func TestHTTPRefusals(t *testing.T) {
	w := serveWeb(t, nil)
	c := w.begin(w.token(), "2025-06-18")
	for _, test := range refusals {
		res, body := c.send("POST", test.line)
		var a answer
		if json.Unmarshal([]byte(body), &a) != nil || a.Error == nil || a.Error.Code != test.code || string(a.ID) != test.id {
			t.Errorf("%s: got %s %s; want id %s, code %d", test.line, res.Status, body, test.id, test.code)
		}
		if broken := test.code == -32700 || test.code == -32600; broken != (res.StatusCode == 400) {
			t.Errorf("%s: %s", test.line, res.Status)
		}
	}
	// GO-2026-4770: NUL is an error wherever it stands.
	if s, bad := c.answer(callLine(1, "Read", `{"file_path":"a\u0000b"}`)).text(t); !bad || !strings.Contains(s, "NUL") {
		t.Errorf("NUL in a path: %q", s)
	}
	// An answer to nothing, and a notification, are taken and not answered.
	for _, line := range []string{`{"jsonrpc":"2.0","id":"srv-9","result":{}}`, `{"jsonrpc":"2.0","method":"notifications/nothing"}`} {
		if res, body := c.send("POST", line); res.StatusCode != 202 || body != "" {
			t.Errorf("%s: %s %q", line, res.Status, body)
		}
	}
}

// Ids come back byte for byte.
func TestHTTPIDs(t *testing.T) {
	w := serveWeb(t, nil)
	c := w.begin(w.token(), "2025-06-18")
	m := w.caller(w.token()).modern("tools/call", "Glob")
	for _, id := range []string{`0`, `-1`, `""`, `"abc"`, `1.5`, `1e3`, `12345678901234567890`, `"\u00e9"`} {
		for _, a := range []answer{c.answer(ping(id)), c.answer(callLine(id, "Glob", `{"pattern":"*"}`)), m.answer(modernCall(id, "Glob", `{"pattern":"*"}`, ""))} {
			if string(a.ID) != id || a.Error != nil {
				t.Errorf("id %s came back as %s %+v", id, a.ID, a.Error)
			}
		}
	}
}

// Every version with sessions, and the one without.
func TestHTTPVersions(t *testing.T) {
	w := serveWeb(t, nil)
	w.file("f", "x\n")
	for _, v := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		c := w.begin(w.token(), v)
		if s, _ := c.answer(callLine(1, "Read", `{"file_path":"f"}`)).text(t); s != "1\tx\n" {
			t.Errorf("%s: %q", v, s)
		}
	}
	a := w.caller(w.token()).modern("tools/call", "Read").answer(modernCall(2, "Read", `{"file_path":"f"}`, ""))
	if s, _ := a.text(t); s != "1\tx\n" || !bytes.Contains(a.Result, []byte(`"resultType":"complete"`)) {
		t.Errorf("stateless: %s", a.Result)
	}
}

// In the era without sessions the headers must say what the message says.
func TestHTTPHeaders(t *testing.T) {
	w := serveWeb(t, nil)
	c := w.caller(w.token()).modern("tools/call", "Glob")
	call := modernCall(1, "Glob", `{"pattern":"*"}`, "")
	for _, test := range []struct {
		name, body string
		header     map[string]string
		status     int
		code       int
	}{
		{"right", call, nil, 200, 0},
		{"S374: a session is not needed, and not looked at", call, map[string]string{"Mcp-Session-Id": "nonsense"}, 200, 0},
		{"another method", call, map[string]string{"Mcp-Method": "tools/list"}, 400, -32020},
		{"another name", call, map[string]string{"Mcp-Name": "Read"}, 400, -32020},
		{"no name", call, map[string]string{"Mcp-Name": ""}, 400, -32020},
		{"no version", call, map[string]string{"Mcp-Protocol-Version": ""}, 400, -32020},
		{"another version", call, map[string]string{"Mcp-Protocol-Version": "2026-07-29"}, 400, -32020},
		{"a version of the future", strings.ReplaceAll(call, "2026-07-28", "2099-01-01"), map[string]string{"Mcp-Protocol-Version": "2099-01-01"}, 400, -32022},
		{"no _meta", callLine(1, "Glob", `{"pattern":"*"}`), nil, 400, -32602},
		{"Last-Event-ID", call, map[string]string{"Last-Event-ID": "1"}, 400, -32020},
		{"an answer", `{"jsonrpc":"2.0","id":1,"result":{}}`, nil, 400, -32600},
		{"unknown tool", modernCall(1, "Nope", `{}`, ""), map[string]string{"Mcp-Name": "Nope"}, 400, -32602},
		{"unknown method", strings.Replace(call, "tools/call", "nope", 1), map[string]string{"Mcp-Method": "nope"}, 404, -32601},
		{"the handshake", strings.Replace(call, "tools/call", "initialize", 1), map[string]string{"Mcp-Method": "initialize"}, 404, -32601},
		{"a handle with a blank", modernCall(1, "Glob", `{"pattern":"*"}`, `"a b"`), nil, 400, -32602},
		{"a handle with NUL", modernCall(1, "Glob", `{"pattern":"*"}`, `"a\u0000"`), nil, 400, -32602},
		{"an empty handle", modernCall(1, "Glob", `{"pattern":"*"}`, `""`), nil, 400, -32602},
		{"a long handle", modernCall(1, "Glob", `{"pattern":"*"}`, `"`+strings.Repeat("a", 65)+`"`), nil, 400, -32602},
		{"a number for a handle", modernCall(1, "Glob", `{"pattern":"*"}`, `7`), nil, 400, -32602},
		{"a handle", modernCall(1, "Glob", `{"pattern":"*"}`, `"`+strings.Repeat("aZ9_-0123", 7)+`"`), nil, 200, 0},
	} {
		res, body := c.with(test.header).send("POST", test.body)
		var a answer
		json.Unmarshal([]byte(body), &a)
		code := 0
		if a.Error != nil {
			code = a.Error.Code
		}
		if res.StatusCode != test.status || code != test.code || string(a.ID) != "1" {
			t.Errorf("%s: %s %s, want %d and code %d", test.name, res.Status, body, test.status, test.code)
		}
	}
	for _, method := range []string{"GET", "DELETE"} {
		if res, _ := c.send(method, ""); res.StatusCode != 405 || res.Header.Get("Allow") != "POST" {
			t.Errorf("%s: %s", method, res.Status)
		}
	}
	notice := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
	if res, body := c.modern("notifications/cancelled", "").send("POST", notice); res.StatusCode != 202 {
		t.Errorf("a notification: %s %s", res.Status, body)
	}
}

// A host that needs sessions is not offered the era without.
func TestHTTPLegacyOnly(t *testing.T) {
	w := serveWeb(t, func(c *mcpserver.HTTPConfig) { c.Legacy = true })
	res, body := w.caller(w.token()).modern("tools/call", "Glob").send("POST", modernCall(1, "Glob", `{"pattern":"*"}`, ""))
	if res.StatusCode != 400 || !strings.Contains(body, "-32022") || !strings.Contains(body, "2025-11-25") {
		t.Errorf("%s %s", res.Status, body)
	}
	w.begin(w.token(), "2025-11-25")
}

// S382, CVE-2026-25536: what one token's holder does is never another's to see,
// by session id or by handle, and neither are files of the other's folder.
func TestHTTPPrincipals(t *testing.T) {
	w := serveWeb(t, nil)
	type user struct {
		name, token, dir string
		old              *caller
		modern           *caller
	}
	var users []*user
	for _, name := range []string{"ann", "bob"} {
		u := &user{name: name, dir: t.TempDir()}
		token, err := auth.Add(w.state, auth.Principal{Name: name, Roots: []string{u.dir}, ReadOnly: name == "bob"})
		if err != nil {
			t.Fatal(err)
		}
		os.WriteFile(filepath.Join(u.dir, "who"), []byte(name+"\n"), 0o666)
		u.token, u.old, u.modern = token, w.begin(token, "2025-06-18"), w.caller(token)
		users = append(users, u)
	}
	ann, bob := users[0], users[1]
	for _, u := range users {
		for _, a := range []answer{
			u.old.answer(callLine(1, "Read", `{"file_path":"who"}`)),
			u.modern.modern("tools/call", "Read").answer(modernCall(1, "Read", `{"file_path":"who"}`, `"same"`)),
		} {
			if s, _ := a.text(t); s != "1\t"+u.name+"\n" {
				t.Errorf("%s reads %q", u.name, s)
			}
		}
	}
	stolen := bob.old.with(map[string]string{"Mcp-Session-Id": ann.old.header["Mcp-Session-Id"]})
	for _, method := range []string{"POST", "GET", "DELETE"} {
		if res, _ := stolen.send(method, ping("1")); res.StatusCode != 404 {
			t.Errorf("S382: %s with another's session: %s", method, res.Status)
		}
	}
	if a := ann.old.answer(ping("1")); a.Error != nil { // and it is still there
		t.Errorf("%+v", a.Error)
	}
	// A background command is known to its own session alone.
	started := ann.modern.modern("tools/call", "Bash").answer(modernCall(1, "Bash", `{"command":"sleep 60","run_in_background":true}`, `"same"`))
	var r mcpclient.CallResult
	json.Unmarshal(started.Result, &r)
	task, _ := r.Meta["ferrule/task"].(map[string]any)
	id, _ := task["id"].(string)
	if id == "" {
		t.Fatalf("no task: %s", started.Result)
	}
	look := fmt.Sprintf(`{"task_id":%q,"block":false}`, id)
	if s, bad := ann.modern.modern("tools/call", "TaskOutput").answer(modernCall(2, "TaskOutput", look, `"same"`)).text(t); bad {
		t.Errorf("the own session does not know it: %s", s)
	}
	for name, a := range map[string]answer{
		"another token":   w.caller(w.token()).modern("tools/call", "TaskOutput").answer(modernCall(1, "TaskOutput", look, `"same"`)),
		"another handle":  ann.modern.modern("tools/call", "TaskOutput").answer(modernCall(1, "TaskOutput", look, `"other"`)),
		"no handle":       ann.modern.modern("tools/call", "TaskOutput").answer(modernCall(1, "TaskOutput", look, "")),
		"another session": ann.old.answer(callLine(2, "TaskOutput", look)),
	} {
		if s, bad := a.text(t); !bad {
			t.Errorf("%s knows the task: %s", name, s)
		}
	}
	// What is fixed for a token holds: Bash is not served to who may only read.
	if a := bob.old.answer(callLine(3, "Bash", `{"command":"id"}`)); a.Error == nil || a.Error.Code != -32602 {
		t.Errorf("bob may only read, and got %s", a.Result)
	}
	if s, bad := bob.old.answer(callLine(4, "Read", fmt.Sprintf(`{"file_path":%q}`, filepath.Join(ann.dir, "who")))).text(t); !bad {
		t.Errorf("bob reads in ann's folder: %s", s)
	}
}

// What runs with a token ends soon after it was revoked, and is told why, in
// either era.
func TestHTTPRevokeRunning(t *testing.T) {
	w := serveWeb(t, nil)
	for _, era := range []string{"2025-06-18", "2026-07-28"} {
		token, err := auth.Add(w.state, auth.Principal{Name: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		started := "started-" + era
		args := fmt.Sprintf(`{"command":"echo > %s; exec sleep 300"}`, started)
		c, body := w.caller(token).modern("tools/call", "Bash"), modernCall(2, "Bash", args, "")
		if era != "2026-07-28" {
			c, body = w.begin(token, era), callLine(2, "Bash", args)
		}
		var began time.Time
		var wg sync.WaitGroup
		wg.Go(func() {
			w.appears(started)
			began = time.Now()
			if err := auth.Revoke(w.state, "ann"); err != nil {
				t.Error(err)
			}
		})
		text, bad := c.answer(body).text(t)
		ended := time.Now()
		wg.Wait()
		took := ended.Sub(began)
		if !bad || !strings.Contains(text, "token has been revoked") || took > 5*time.Second { // half a second, and what a busy machine adds
			t.Errorf("%s: after %v: %q", era, took, text)
		}
	}
}

// A revoked token is refused at once, by a server that is running.
func TestHTTPRevoke(t *testing.T) {
	w := serveWeb(t, nil)
	token, err := auth.Add(w.state, auth.Principal{Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	c := w.begin(token, "2025-06-18")
	if err := auth.Revoke(w.state, "ann"); err != nil {
		t.Fatal(err)
	}
	if res, _ := c.send("POST", ping("1")); res.StatusCode != 401 {
		t.Errorf("a revoked token: %s", res.Status)
	}
	again, err := auth.Add(w.state, auth.Principal{Name: "ann"}) // the same name is not the same holder
	if err != nil {
		t.Fatal(err)
	}
	if res, _ := c.with(map[string]string{"Authorization": "Bearer " + again}).send("POST", ping("1")); res.StatusCode != 404 {
		t.Errorf("the session of the one before: %s", res.Status)
	}
	w.begin(w.token(), "2025-06-18")
}

// Cancelling ends a call with its processes and touches no other, in both eras.
func TestHTTPCancel(t *testing.T) {
	t.Parallel()
	w := serveWeb(t, nil)
	start := func(c *caller, ctx context.Context, body, ready string) (done chan *http.Response) {
		done = make(chan *http.Response, 1)
		go func() {
			res, err := c.client.Do(c.request(ctx, "POST", strings.NewReader(body)))
			if err == nil {
				b, _ := io.ReadAll(res.Body)
				res.Body.Close()
				res.Body = io.NopCloser(bytes.NewReader(b))
			}
			done <- res
		}()
		w.appears(ready)
		return done
	}
	bash := func(mark, ready string) string {
		return fmt.Sprintf(`{"command":"touch %s; until test -e go; do :; done & sleep %s & wait -n; echo done"}`, ready, mark)
	}
	a, b := w.begin(w.token(), "2025-06-18"), w.begin(w.token(), "2025-06-18")
	m1, m2, m3, m4 := mark(), mark(), mark(), mark()
	ctx := context.Background()
	closing, hangUp := context.WithCancel(ctx)
	mine := start(a, ctx, callLine(5, "Bash", bash(m1, "r1")), "r1")
	other := start(b, ctx, callLine(5, "Bash", bash(m2, "r2")), "r2")
	modern := w.caller(w.token()).modern("tools/call", "Bash")
	first := start(modern, ctx, modernCall(5, "Bash", bash(m3, "r3"), `"x"`), "r3")
	second := start(modern, closing, modernCall(5, "Bash", bash(m4, "r4"), `"y"`), "r4")

	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`
	if res, _ := a.send("POST", cancel); res.StatusCode != 202 {
		t.Errorf("cancelled: %s", res.Status)
	}
	if res := <-mine; res == nil || res.StatusCode != 202 {
		t.Errorf("the cancelled call was answered: %+v", res)
	}
	gone(t, m1, time.Second*slack)
	// In the era without sessions such a notification means nothing.
	modern.modern("notifications/cancelled", "").send("POST", strings.Replace(cancel, `"requestId":5`, `"requestId":5,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`, 1))
	hangUp()
	<-second
	gone(t, m4, time.Second*slack)
	w.file("go", "")
	for name, done := range map[string]chan *http.Response{"the other session's": other, "the other client's": first} {
		res := <-done
		if res == nil || res.StatusCode != 200 {
			t.Errorf("%s call: %+v", name, res)
			continue
		}
		if body, _ := io.ReadAll(res.Body); !bytes.Contains(body, []byte("done")) {
			t.Errorf("%s call: %s", name, body)
		}
	}
}

// An id that is at work cannot be used again in its session, but in another.
func TestHTTPDuplicateID(t *testing.T) {
	t.Parallel()
	w := serveWeb(t, nil)
	c := w.begin(w.token(), "2025-06-18")
	var first answer
	var wg sync.WaitGroup
	wg.Go(func() {
		first = c.answer(callLine(1, "Bash", `{"command":"touch here; until test -e go; do :; done; echo first"}`))
	})
	w.appears("here")
	if a := c.answer(callLine(1, "Bash", `{"command":"echo second"}`)); a.Error == nil || a.Error.Code != -32600 {
		t.Errorf("the same id: %s", a.Result)
	}
	if a := w.begin(w.token(), "2025-06-18").answer(callLine(1, "Bash", `{"command":"echo third"}`)); a.Error != nil {
		t.Errorf("in another session: %+v", a.Error)
	}
	w.file("go", "")
	wg.Wait()
	if s, _ := first.text(t); !strings.Contains(s, "first") {
		t.Errorf("got %q", s)
	}
}

// S378: 2,000 sessions that nobody uses cost no goroutine, and there are not
// more than 256 of them.
func TestHTTPAbandoned(t *testing.T) {
	w := serveWeb(t, nil)
	c := w.caller(w.token())
	honest := w.begin(w.token(), "2025-06-18")
	before := runtime.NumGoroutine()
	opened, refused := 1, 0
	for range 2000 {
		switch res, _ := c.send("POST", fmt.Sprintf(hello, "2025-06-18")); res.StatusCode {
		case 200:
			opened++
		case 503:
			refused++
			if res.Header.Get("Retry-After") == "" {
				t.Fatal("no Retry-After")
			}
		default:
			t.Fatal(res.Status)
		}
	}
	if opened != 192 || refused != 2001-192 {
		t.Errorf("%d opened, %d refused", opened, refused)
	}
	if after := runtime.NumGoroutine(); after > before+10 {
		t.Errorf("%d goroutines, %d before", after, before)
	}
	if a := honest.answer(ping("1")); a.Error != nil { // those that there are still work
		t.Errorf("%+v", a.Error)
	}
	if res, _ := honest.send("DELETE", ""); res.StatusCode != 200 {
		t.Errorf("DELETE: %s", res.Status)
	}
	if res, _ := honest.send("POST", ping("1")); res.StatusCode != 404 {
		t.Errorf("after DELETE: %s", res.Status)
	}
	w.begin(w.token(), "2025-06-18") // there is room again
}

// DELETE ends what the session has started; so does the end of the server.
func TestHTTPEnds(t *testing.T) {
	t.Parallel()
	w := serveWeb(t, nil)
	c, d := w.begin(w.token(), "2025-06-18"), w.begin(w.token(), "2025-06-18")
	m1, m2, m3 := mark(), mark(), mark()
	tree := func(m string) string {
		return `{"command":"trap '' TERM; (sleep ` + m + ` & sleep ` + m + `)","run_in_background":true}`
	}
	c.answer(callLine(1, "Bash", tree(m1)))
	d.answer(callLine(1, "Bash", tree(m2)))
	c.send("DELETE", "")
	gone(t, m1, time.Second*slack)
	var wg sync.WaitGroup
	wg.Go(func() { // a call at work when the server ends
		res, err := d.client.Do(d.request(context.Background(), "POST", strings.NewReader(callLine(2, "Bash", `{"command":"touch here; sleep `+m3+`"}`))))
		if err == nil {
			res.Body.Close()
		}
	})
	wg.Go(func() { // and a stream that is open
		res, err := d.client.Do(d.request(context.Background(), "GET", nil))
		if err == nil {
			io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	})
	w.appears("here")
	w.stop()
	if err := <-w.end; err != nil {
		t.Error(err)
	}
	w.end <- nil
	gone(t, m2, time.Millisecond)
	gone(t, m3, time.Millisecond)
	wg.Wait()
}

// A server that ends lets calls finish.
func TestHTTPDrain(t *testing.T) {
	t.Parallel()
	w := serveWeb(t, func(c *mcpserver.HTTPConfig) { c.Drain = 20 * time.Second })
	c := w.begin(w.token(), "2025-06-18")
	var a answer
	var wg sync.WaitGroup
	wg.Go(func() {
		a = c.answer(callLine(1, "Bash", `{"command":"touch here; until test -e go; do :; done; echo finished"}`))
	})
	w.appears("here")
	w.stop()
	for { // until new requests are not taken
		conn, err := net.Dial("tcp", w.addr)
		if err != nil {
			break
		}
		conn.Close()
		runtime.Gosched()
	}
	w.file("go", "")
	wg.Wait()
	if s, _ := a.text(t); !strings.Contains(s, "finished") {
		t.Errorf("got %q", s)
	}
}

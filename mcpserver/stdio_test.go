package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ferrule/mcpserver"
	"ferrule/mcpserver/mcpclient"
	"ferrule/tools"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// A peer is the far end of a served connection, line by line.
type peer struct {
	t   testing.TB
	dir string
	in  io.WriteCloser
	out *bufio.Reader
	end chan error
}

// serve starts a server in a new workspace.
func serve(t testing.TB) *peer {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return serveConfig(t, mcpserver.Config{Workspace: tools.Config{Roots: []string{dir}, State: t.TempDir()}, Selection: tools.Selection{Toolsets: "+extra"}})
}

func serveConfig(t testing.TB, cfg mcpserver.Config) *peer {
	t.Helper()
	s, err := mcpserver.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours := io.Pipe()
	from, to := io.Pipe()
	p := &peer{t, "", ours, bufio.NewReaderSize(from, 1<<20), make(chan error, 1)}
	if len(cfg.Workspace.Roots) > 0 {
		p.dir = cfg.Workspace.Roots[0]
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		p.end <- s.ServeStdio(ctx, theirs, to)
		to.Close()
		close(done)
	}()
	t.Cleanup(func() {
		ours.Close()
		go io.Copy(io.Discard, from)
		select {
		case <-done:
		case <-time.After(60 * time.Second):
			t.Error("the server did not end")
		}
		cancel()
	})
	return p
}

func (p *peer) send(lines ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

type answer struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *mcpclient.RPCError
}

func (p *peer) recv() answer {
	p.t.Helper()
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		p.t.Fatalf("no answer: %v", err)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		p.t.Fatalf("not a message: %s", line)
	}
	return a
}

func (p *peer) want(id string, code int) answer {
	p.t.Helper()
	a := p.recv()
	got := 0
	if a.Error != nil {
		got = a.Error.Code
	}
	if string(a.ID) != id || got != code {
		p.t.Fatalf("got id %s, error %+v, result %s; want id %s, code %d", a.ID, a.Error, a.Result, id, code)
	}
	return a
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"%s","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func (p *peer) hello(version string) {
	p.t.Helper()
	p.send(fmt.Sprintf(hello, version), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	var r struct{ ProtocolVersion string }
	if json.Unmarshal(p.want("0", 0).Result, &r); r.ProtocolVersion != version {
		p.t.Fatalf("version %q, want %q", r.ProtocolVersion, version)
	}
}

func callLine(id any, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args)
}

func ping(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }

// text returns the text of a call's result and whether it is an error.
func (a answer) text(t testing.TB) (string, bool) {
	t.Helper()
	var r mcpclient.CallResult
	if err := json.Unmarshal(a.Result, &r); err != nil || len(r.Content) == 0 {
		t.Fatalf("not a result: %s %+v", a.Result, a.Error)
	}
	return r.Content[0].Text, r.IsError
}

// gone waits until no process has the mark in its command line.
func gone(t testing.TB, mark string, within time.Duration) {
	t.Helper()
	for end := time.Now().Add(within); ; {
		found := ""
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, f := range files {
			if b, _ := os.ReadFile(f); bytes.Contains(b, []byte(mark)) && filepath.Base(filepath.Dir(f)) != fmt.Sprint(os.Getpid()) {
				found = filepath.Dir(f)
			}
		}
		if found == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s is still there", found)
		}
		runtime.Gosched()
	}
}

// appears waits until a file of the workspace is there.
func (p *peer) appears(name string) {
	p.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		if _, err := os.Stat(filepath.Join(p.dir, name)); err == nil {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("%s did not appear", name)
		}
	}
}

// mark is a number of seconds that no other test sleeps.
func mark() string { return fmt.Sprintf("7%08d", rand.IntN(1e8)) }

func TestVersions(t *testing.T) {
	for _, v := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		p := serve(t)
		p.hello(v)
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		p.want("1", 0)
	}
}

// The stateless era: no handshake, version and capabilities in every request.
func TestModern(t *testing.T) {
	p := serve(t)
	os.WriteFile(filepath.Join(p.dir, "f"), []byte("x\n"), 0o666)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	p.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`)
	var d struct{ SupportedVersions []string }
	if json.Unmarshal(p.want("1", 0).Result, &d); len(d.SupportedVersions) != 5 || d.SupportedVersions[0] != "2026-07-28" {
		t.Errorf("versions %v", d.SupportedVersions)
	}
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Read","arguments":{"file_path":"f"},` + meta + `}}`)
	a := p.want("2", 0)
	if s, bad := a.text(t); s != "1\tx\n" || bad {
		t.Errorf("Read: %q", s)
	}
	if !bytes.Contains(a.Result, []byte(`"resultType":"complete"`)) {
		t.Errorf("the result of the stateless era has no type: %s", a.Result)
	}
	p.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{` + strings.Replace(meta, "2026-07-28", "2099-01-01", 1) + `}}`)
	if a := p.recv(); a.Error == nil {
		t.Error("an unknown version was accepted")
	}
}

// refusals are messages that are refused on every transport.
var refusals = []struct {
	line, id string
	code     int
}{
	{`{bad json`, "null", -32700},
	{`nonsense`, "null", -32700},
	{`"a"`, "null", -32600},
	{`[1,2]`, "null", -32600},
	{`[`, "null", -32700},
	{`{}`, "null", -32600},
	{`{"jsonrpc":"2.0"}`, "null", -32600},
	{`{"id":1,"method":"ping"}`, "1", -32600},
	{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, "1", -32600},
	{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", -32600},
	{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", -32600},
	{`{"jsonrpc":"2.0","id":true,"method":"ping"}`, "null", -32600},
	{`{"jsonrpc":"2.0","id":1,"method":"nope"}`, "1", -32601},
	{`{"jsonrpc":"2.0","id":5,"method":"notifications/initialized"}`, "5", -32601},
	{`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, "1", -32602},
	{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, "1", -32602},
	{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, "1", -32602},
	{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Nope","arguments":{}}}`, "1", -32602},
	{`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":7}}`, "1", -32602},
	{`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"nope"}}`, "1", -32602},
}

// What is no message, or no good one, gets the code the protocol has for it,
// and the next line is served.
func TestRefusals(t *testing.T) {
	p := serve(t)
	p.hello("2025-06-18")
	for _, test := range refusals {
		p.send(test.line)
		a := p.recv()
		if a.Error == nil || a.Error.Code != test.code || string(a.ID) != test.id {
			t.Errorf("%s: got id %s, %+v; want id %s, code %d", test.line, a.ID, a.Error, test.id, test.code)
		}
		p.send(ping("77"))
		p.want("77", 0)
	}
}

// Ids come back as they were, byte for byte.
func TestIDs(t *testing.T) {
	p := serve(t)
	p.hello("2025-06-18")
	for _, id := range []string{`0`, `-1`, `""`, `"abc"`, `1.5`, `1e3`, `12345678901234567890`, `"\u00e9"`} {
		p.send(ping(id))
		p.want(id, 0)
		p.send(callLine(id, "Glob", `{"pattern":"*"}`))
		p.want(id, 0)
	}
}

// H112, H114, H119: probes and notifications in odd forms.
func TestOddStart(t *testing.T) {
	p := serve(t)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`)
	p.recv() // an error or an answer: either is right
	p.send(`{"jsonrpc":"2.0","method":"initialize","params":{}}`, "", "  ")
	p.hello("2025-06-18")
	p.send(`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`)
	p.want("7", 0)
}

func TestBatch(t *testing.T) {
	p := serve(t)
	p.hello("2025-03-26")
	p.send(`[` + ping("1") + `,{"jsonrpc":"2.0","method":"notifications/initialized"},` + callLine(2, "Glob", `{"pattern":"*"}`) + `,7]`)
	line, err := p.out.ReadBytes('\n')
	var got []answer
	if err != nil || json.Unmarshal(line, &got) != nil || len(got) != 3 {
		t.Fatalf("got %s", line)
	}
	p.send(`[{"jsonrpc":"2.0","method":"notifications/initialized"}]`, ping("9"))
	p.want("9", 0)
	p.send(`[]`)
	p.want("null", -32600)
}

// One message in a thousand pieces, and many in one piece, keep their order.
func TestPipelining(t *testing.T) {
	for range 20 {
		p := serve(t)
		all := fmt.Sprintf(hello, "2025-06-18") + "\n"
		for i := 1; i <= 30; i++ {
			all += ping(fmt.Sprint(i)) + "\n"
		}
		go func() {
			for i := 0; i < len(all); {
				n := min(1+rand.IntN(40), len(all)-i)
				io.WriteString(p.in, all[i:i+n])
				i += n
			}
		}()
		for i := range 31 {
			p.want(fmt.Sprint(i), 0)
		}
	}
}

// H122, S383: a line over the cap is one error, and memory stays bounded.
func TestLongLine(t *testing.T) {
	size := 40 << 20
	if os.Getenv("FERRULE_NIGHTLY") != "" {
		size = 300 << 20
	}
	p := serve(t)
	p.hello("2025-06-18")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	io.WriteString(p.in, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`)
	chunk := strings.Repeat("x", 1<<20)
	for range size >> 20 {
		io.WriteString(p.in, chunk)
	}
	p.send(`"}}`)
	p.want("null", -32600)
	p.send(ping("2"))
	p.want("2", 0)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 64<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
	// Just as long as allowed is served.
	line := `{"jsonrpc":"2.0","id":3,"method":"ping","params":{"x":""}}`
	p.send(strings.Replace(line, `""`, `"`+strings.Repeat("x", 16<<20-len(line))+`"`, 1))
	p.want("3", 0)
}

// H120 and kind: a cancelled call ends with its processes and is not answered,
// also if the cancellation comes right behind it.
func TestCancel(t *testing.T) {
	p := serve(t)
	p.hello("2025-06-18")
	m := mark()
	p.send(callLine(990, "Bash", `{"command":"touch here; sleep `+m+`"}`))
	p.appears("here")
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":990}}`)
	gone(t, m, time.Second*slack)

	var lines []string
	for i := range 40 {
		lines = append(lines, callLine(i+1000, "Bash", `{"command":"sleep `+m+`"}`))
	}
	for i := range 40 {
		lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i+1000))
	}
	p.send(lines...)
	gone(t, m, 10*time.Second)
	p.send(callLine(1, "Bash", `{"command":"echo still here"}`))
	if s, _ := p.want("1", 0).text(t); s != "still here\n" && s != "still here" {
		t.Errorf("after the cancellations: %q", s)
	}
}

// An id that is at work cannot be used again.
func TestDuplicateID(t *testing.T) {
	p := serve(t)
	p.hello("2025-06-18")
	p.send(callLine(1, "Bash", `{"command":"touch here; until test -e go; do :; done; echo first"}`))
	p.appears("here")
	p.send(callLine(1, "Bash", `{"command":"echo second"}`))
	p.want("1", -32600)
	os.WriteFile(filepath.Join(p.dir, "go"), nil, 0o666)
	if s, _ := p.want("1", 0).text(t); !strings.Contains(s, "first") {
		t.Errorf("got %q", s)
	}
}

// H113, and kind: nothing that is slow keeps a ping waiting.
func TestNothingBlocks(t *testing.T) {
	p := serve(t)
	p.hello("2025-06-18")
	const calls = 24
	for i := range calls {
		p.send(callLine(100+i, "Bash", `{"command":"until test -e go; do sleep 0.1; done"}`))
	}
	p.send(ping("1"))
	p.want("1", 0)
	os.WriteFile(filepath.Join(p.dir, "go"), nil, 0o666)
	for range calls {
		p.recv()
	}
}

// Progress comes before the response, never crossed, only where asked for.
func TestProgress(t *testing.T) {
	p := serve(t)
	p.hello("2025-06-18")
	open := make(map[string]bool)
	for i := range 8 {
		id := fmt.Sprint(i + 1)
		open[id] = true
		p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"Bash","arguments":{"command":"echo line` + id + `; sleep 5.3"},"_meta":{"progressToken":"t` + id + `"}}}`)
	}
	seen := make(map[string]int)
	for len(open) > 0 {
		a := p.recv()
		if a.Method == "" {
			if seen[string(a.ID)] == 0 {
				t.Errorf("call %s had no progress before its answer", a.ID)
			}
			delete(open, string(a.ID))
			continue
		}
		var n struct {
			ProgressToken, Message string
			Progress               float64
		}
		json.Unmarshal(a.Params, &n)
		id := strings.TrimPrefix(n.ProgressToken, "t")
		if a.Method != "notifications/progress" || !open[id] || n.Message != "line"+id || n.Progress < 4 {
			t.Errorf("unexpected %s %s", a.Method, a.Params)
		}
		seen[id]++
	}
}

// S384–S385, H116: when the input ends, calls in flight are finished,
// background tasks are not, and the server ends.
func TestEndOfInput(t *testing.T) {
	t.Run("idle", func(t *testing.T) {
		p := serve(t)
		p.hello("2025-06-18")
		start := time.Now()
		p.in.Close()
		if err := <-p.end; err != nil || time.Since(start) > time.Second*slack {
			t.Errorf("ended with %v after %v", err, time.Since(start))
		}
	})
	t.Run("drain", func(t *testing.T) {
		p := serve(t)
		p.send(fmt.Sprintf(hello, "2025-06-18"), callLine(1, "Bash", `{"command":"sleep 0.3; echo done"}`))
		p.in.Close()
		p.want("0", 0)
		if s, _ := p.want("1", 0).text(t); !strings.Contains(s, "done") {
			t.Errorf("got %q", s)
		}
	})
	t.Run("task", func(t *testing.T) {
		p := serve(t)
		p.hello("2025-06-18")
		m := mark()
		p.send(callLine(1, "Bash", `{"command":"sleep `+m+`","run_in_background":true}`))
		p.want("1", 0)
		start := time.Now()
		p.in.Close()
		if err := <-p.end; err != nil || time.Since(start) > 2*time.Second*slack {
			t.Errorf("ended with %v after %v", err, time.Since(start))
		}
		gone(t, m, time.Millisecond)
	})
	t.Run("stuck", func(t *testing.T) {
		dir := t.TempDir()
		p := serveConfig(t, mcpserver.Config{Workspace: tools.Config{Roots: []string{dir}, State: t.TempDir()}, Drain: 100 * time.Millisecond})
		p.hello("2025-06-18")
		m := mark()
		p.send(callLine(1, "Bash", `{"command":"trap '' TERM; touch here; while :; do sleep `+m+`; done"}`))
		p.appears("here")
		p.in.Close()
		go io.Copy(io.Discard, p.out)
		if err := <-p.end; err != nil {
			t.Error(err)
		}
		gone(t, m, time.Millisecond)
	})
}

// A client that no longer reads does not keep the server, nor what it started.
func TestBrokenOutput(t *testing.T) {
	s, err := mcpserver.New(mcpserver.Config{Workspace: tools.Config{Roots: []string{t.TempDir()}, State: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	in, w := io.Pipe()
	defer in.Close()
	end := make(chan error, 1)
	go func() { end <- s.ServeStdio(context.Background(), in, brokenPipe{}) }()
	fmt.Fprintf(w, hello+"\n", "2025-06-18")
	if err := <-end; err == nil || !strings.Contains(err.Error(), "cannot write to the client") {
		t.Errorf("ended with %v", err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// Two servers in one process share nothing, not even with the same ids.
func TestTwoServers(t *testing.T) {
	a, b := serve(t), serve(t)
	var wg sync.WaitGroup
	for i, p := range []*peer{a, b} {
		wg.Go(func() {
			name := fmt.Sprint("server", i)
			os.WriteFile(filepath.Join(p.dir, "who"), []byte(name+"\n"), 0o666)
			p.hello("2025-06-18")
			for range 50 {
				p.send(callLine(1, "Read", `{"file_path":"who"}`))
				if s, _ := p.want("1", 0).text(t); s != "1\t"+name+"\n" {
					t.Errorf("%s got %q", name, s)
				}
			}
		})
	}
	wg.Wait()
	a.send(callLine(2, "Read", fmt.Sprintf(`{"file_path":%q}`, filepath.Join(b.dir, "who"))))
	if s, bad := a.want("2", 0).text(t); !bad {
		t.Errorf("one server reads the other's workspace: %q", s)
	}
}

// H121: the list is the same every time.
func TestListIsStable(t *testing.T) {
	p := serve(t)
	p.hello("2025-06-18")
	var first []byte
	for i := range 50 {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, i))
		a := p.want(fmt.Sprint(i), 0)
		if first == nil {
			first = a.Result
		}
		if !bytes.Equal(a.Result, first) {
			t.Fatal("the list differs")
		}
	}
}

// FuzzStdio feeds lines to a server: it must answer only with messages, and
// must still be there afterwards.
func FuzzStdio(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{bad`, `[1,2]`, "\x00\xff", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Glob","arguments":{"pattern":"*"}}}`,
		`{"jsonrpc":"2.0","id":"srv-1","result":{}}`, `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"code"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
	} {
		f.Add([]byte(s + "\n" + s))
	}
	dir := f.TempDir()
	s, err := mcpserver.New(mcpserver.Config{Workspace: tools.Config{Roots: []string{dir}, State: f.TempDir()}, Selection: tools.Selection{Toolsets: "search"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		in := string(data) + "\n" + `{"jsonrpc":"2.0","id":"last","method":"ping"}` + "\n"
		if err := s.ServeStdio(context.Background(), strings.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		last := false
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("not a message: %q", line)
			}
			last = last || strings.Contains(line, `"id":"last"`)
		}
		if !last {
			t.Errorf("no answer after %q", data)
		}
	})
}

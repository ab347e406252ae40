package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// A bridge lets a client of lines speak to a server of HTTP: every line it
// writes becomes a request, and every message that comes back a line. So a
// scenario need not know which way it goes.
type bridge struct {
	url, token string
	out        io.Writer
	client     *http.Client

	writing sync.Mutex // guards out
	work    sync.WaitGroup

	mu              sync.Mutex // guards the fields below
	session, agreed string
	open            map[string]context.CancelFunc // by the id of the request
}

func newBridge(url, token string, out io.Writer) *bridge {
	return &bridge{url: url, token: token, out: out, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}, open: make(map[string]context.CancelFunc)}
}

// envelope is what a bridge looks at of a message.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name            string          `json:"name"`
		URI             string          `json:"uri"`
		ProtocolVersion string          `json:"protocolVersion"`
		RequestID       json.RawMessage `json:"requestId"`
		Meta            struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
	Result struct {
		ProtocolVersion string `json:"protocolVersion"`
	} `json:"result"`
}

// run sends what comes from in until it ends. Requests do not wait for one
// another; all else is sent in order.
func (b *bridge) run(in io.Reader) {
	for r := bufio.NewReaderSize(in, 1<<20); ; {
		line, err := r.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			b.send(line)
		}
		if err != nil {
			return
		}
	}
}

// close waits until the last response has ended.
func (b *bridge) close() {
	b.work.Wait()
	b.client.CloseIdleConnections()
}

func (b *bridge) send(line []byte) {
	var m envelope
	json.Unmarshal(line, &m) // what cannot be understood is sent as it is
	ctx, cancel := context.WithCancel(context.Background())
	switch {
	case m.Method == "initialize":
		b.post(ctx, line, m)
		cancel()
		b.work.Go(b.listen)
	case m.Method == "notifications/cancelled" && b.modern(m): // there a request is cancelled by closing its response
		b.mu.Lock()
		if stop := b.open[string(m.Params.RequestID)]; stop != nil {
			stop()
		}
		b.mu.Unlock()
		cancel()
	case len(m.ID) > 0 && m.Method != "":
		b.mu.Lock()
		b.open[string(m.ID)] = cancel
		b.mu.Unlock()
		b.work.Go(func() {
			defer cancel()
			b.post(ctx, line, m)
		})
	default:
		b.post(ctx, line, m)
		cancel()
	}
}

// modern reports whether a message belongs to the era without a handshake. A
// notification need not say so.
func (b *bridge) modern(m envelope) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return m.Params.Meta.Version != "" || b.session == ""
}

func (b *bridge) request(ctx context.Context, method string, body io.Reader, m envelope) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, b.url, body)
	if err != nil {
		panic(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, value := range map[string]string{
		"Authorization": "Bearer " + b.token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Session-Id": b.session, "Mcp-Protocol-Version": cmp.Or(m.Params.Meta.Version, b.agreed),
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if m.Params.Meta.Version != "" {
		r.Header.Set("Mcp-Method", m.Method)
		if name := cmp.Or(m.Params.Name, m.Params.URI); name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	}
	return r
}

func (b *bridge) post(ctx context.Context, line []byte, m envelope) {
	res, err := b.client.Do(b.request(ctx, "POST", bytes.NewReader(line), m))
	if err != nil {
		return // cancelled, or the server has ended
	}
	defer res.Body.Close()
	b.hear(res, func(line []byte) {
		if m.Method != "initialize" {
			return
		}
		var answer envelope
		json.Unmarshal(line, &answer)
		b.mu.Lock()
		b.session, b.agreed = res.Header.Get("Mcp-Session-Id"), answer.Result.ProtocolVersion
		b.mu.Unlock()
	})
}

// listen hears what belongs to no request.
func (b *bridge) listen() {
	res, err := b.client.Do(b.request(context.Background(), "GET", nil, envelope{}))
	if err != nil {
		return
	}
	defer res.Body.Close()
	b.hear(res, func([]byte) {})
}

// hear writes the messages of a response as lines. What is no message becomes
// an error without an id, so that it is seen.
func (b *bridge) hear(res *http.Response, before func([]byte)) {
	events := strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
	for r := bufio.NewReaderSize(res.Body, 1<<20); ; {
		line, err := r.ReadBytes('\n')
		data, is := bytes.CutPrefix(line, []byte("data: "))
		if data = bytes.TrimSpace(data); len(data) > 0 && is == events {
			if !json.Valid(data) {
				fmt.Fprintf(os.Stderr, "bridge: %s: %s\n", res.Status, data)
			}
			before(data)
			b.writing.Lock()
			b.out.Write(append(data, '\n'))
			b.writing.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// A watchedLog is a server's standard error, which says where it listens.
type watchedLog struct {
	mu    sync.Mutex // guards b
	b     bytes.Buffer
	ready chan string // gets the address
}

func newWatchedLog() *watchedLog { return &watchedLog{ready: make(chan string, 1)} }

func (w *watchedLog) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, rest, ok := strings.Cut(string(p), "serving "); ok {
		url, _, _ := strings.Cut(rest, "\n")
		w.ready <- url
	}
	return w.b.Write(p)
}

func (w *watchedLog) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// overHTTP runs ferrule http in this process and returns the two ends of a
// connection to it. end ends the server as a signal would.
func overHTTP(env map[string]string, args []string) (in io.WriteCloser, out io.Reader, end func() error, err error) {
	ctx, stop := context.WithCancel(context.Background())
	log, ended := newWatchedLog(), make(chan int, 1)
	go func() {
		ended <- run(ctx, environment{in: strings.NewReader(""), out: io.Discard, err: log, getenv: func(k string) string { return env[k] }},
			append(args, "http", "--addr", "127.0.0.1:0"))
	}()
	var url string
	select {
	case url = <-log.ready:
	case code := <-ended:
		stop()
		return nil, nil, nil, exited(code, bytes.NewBufferString(log.String()))
	}
	token, err := os.ReadFile(filepath.Join(env["FERRULE_HOME"], "token"))
	if err != nil {
		stop()
		return nil, nil, nil, err
	}
	theirs, ours := io.Pipe()
	from, to := io.Pipe()
	b := newBridge(url, strings.TrimSpace(string(token)), to)
	code := make(chan int, 1)
	go func() {
		b.run(theirs)
		stop()
		code <- <-ended
		b.close()
		to.Close()
	}()
	return ours, from, func() error { return exited(<-code, bytes.NewBufferString(log.String())) }, nil
}

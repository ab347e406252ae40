package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"ferrule/tools"
)

// The stdio transport: one message a line, one reader, one lock for writing.
//
// Methods that only look things up are answered on the reader, in the order
// of the input; every other request gets a goroutine, and there is no queue
// that could fill up. The id of a request is known before the next line is
// read, so a cancellation cannot miss it. A cancelled request is not answered.
//
// When the input ends, background commands end and calls in flight get
// [Config.Drain] to finish, so that "printf … | ferrule" sees its results.
// When the output breaks or ctx is done, all is cancelled at once. In every
// case ServeStdio returns when nothing that it started is left.

var errCancelled = errors.New("cancelled by the client")

// lastWait is how long a call may go on after it was cancelled before it is
// given up, which only happens if it is stuck in the kernel or the client does
// not read.
const lastWait = 5 * time.Second

// A loop serves one client.
type loop struct {
	srv    *Server
	client *client

	calls sync.WaitGroup // requests that end by themselves
	subs  sync.WaitGroup // subscriptions, which end when they are cancelled

	running inflight
}

// ServeStdio serves the client that writes to in and reads from out, until in
// ends, out breaks, or ctx is done. Only the protocol may write to out.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	from := origin{connection: s.connections.Add(1)}
	st, err := s.sessions.enter(from, s.newState)
	if err != nil {
		return err
	}
	defer s.sessions.end(st)
	c := newClient(sessionKey(from), newWire(out, func(err error) { stop(err) }), st, 1024)
	if err := s.mcp.RegisterSession(ctx, c); err != nil {
		return err
	}
	defer s.mcp.UnregisterSession(context.WithoutCancel(ctx), c.id)
	l := &loop{srv: s, client: c}
	go c.session() // ready before the first call asks, without making initialize wait
	ctx = s.mcp.WithContext(ctx, c)
	var pump sync.WaitGroup
	pump.Go(func() { l.pump(ctx) })
	defer pump.Wait()
	defer stop(nil)

	lines := make(chan line)
	go readLines(ctx, in, lines)
	for l.next(ctx, lines) {
	}
	return l.end(ctx, stop)
}

// end lets what is at work come to its end, or ends it.
func (l *loop) end(ctx context.Context, stop context.CancelCauseFunc) error {
	l.client.noMoreAnswers()
	l.running.cancelWhere(errCancelled, func(key string) bool { return strings.HasPrefix(key, "sub:") })
	done := make(chan struct{})
	go func() { l.calls.Wait(); l.subs.Wait(); close(done) }()
	if ctx.Err() == nil {
		if s, err := l.client.session(); err == nil {
			s.EndTasks()
		}
		select {
		case <-done:
			return nil
		case <-ctx.Done():
		case <-time.After(l.srv.cfg.Drain):
		}
	}
	stop(errClientGone)
	select {
	case <-done:
	case <-time.After(lastWait):
	}
	if err := context.Cause(ctx); !errors.Is(err, errClientGone) && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// next handles one line and reports whether there may be another.
func (l *loop) next(ctx context.Context, lines <-chan line) bool {
	select {
	case <-ctx.Done():
		return false
	case in, ok := <-lines:
		data := bytes.TrimSpace(in.data)
		switch {
		case !ok:
			return false
		case in.tooLong:
			r := refusal{mcp.INVALID_REQUEST, tooLong}
			l.client.write(r.to(nil))
		case len(data) == 0:
		case data[0] == '[':
			l.batch(ctx, data)
		default:
			l.handle(ctx, data, l.client.write)
		}
		return true
	}
}

// handle answers one message through reply.
func (l *loop) handle(ctx context.Context, data []byte, reply func(any)) {
	m, bad := parse(data)
	switch {
	case bad != nil:
		reply(bad.to(m.ID))
	case m.Method == "":
		l.client.answer(m)
	case m.Method == "notifications/cancelled":
		l.running.cancel(m)
	case len(m.ID) == 0: // a notification: never answered
		l.srv.mcp.HandleMessage(ctx, m.raw)
	default:
		if bad := l.srv.refuse(m, func() bool { return mayAsk(m, l.client, true) }); bad != nil {
			reply(bad.to(m.ID))
		} else if quick(m.Method) {
			reply(l.srv.dispatch(ctx, m))
		} else {
			l.start(ctx, m, reply)
		}
	}
}

// quick reports whether a method is answered at once and in order.
func quick(method string) bool {
	switch method {
	case "initialize", "server/discover", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		return true
	}
	return strings.HasSuffix(method, "/list")
}

// start runs a request on its own goroutine.
func (l *loop) start(ctx context.Context, m *message, reply func(any)) {
	ctx, cancel := context.WithCancelCause(ctx)
	key := m.key()
	if !l.running.begin(key, cancel) {
		cancel(nil)
		reply(errTaken().to(m.ID))
		return
	}
	group := &l.calls
	if m.Method == string(mcp.MethodSubscriptionsListen) {
		group = &l.subs
	}
	group.Go(func() {
		defer cancel(nil)
		resp := l.srv.direct(ctx, l.client, m)
		if resp == nil {
			resp = l.srv.dispatch(ctx, m)
		}
		l.running.end(key)
		if context.Cause(ctx) == errCancelled { // who cancels a request wants no answer
			resp = nil
		}
		reply(resp)
	})
}

// batch answers an array of messages by one array. Only the revision of
// 2025-03-26 has them; there they are demanded.
func (l *loop) batch(ctx context.Context, data []byte) {
	var items []json.RawMessage
	if json.Unmarshal(data, &items) != nil {
		r := refusal{mcp.PARSE_ERROR, "not JSON"}
		l.client.write(r.to(nil))
		return
	}
	if l.client.ProtocolVersion() != mcp.ProtocolVersion20250326 || len(items) == 0 {
		r := refusal{mcp.INVALID_REQUEST, "batches are not part of this protocol version; send one message a line"}
		l.client.write(r.to(nil))
		return
	}
	var mu sync.Mutex // guards answers
	var answers []any
	var open sync.WaitGroup
	for _, item := range items {
		answered := func(v any) {
			mu.Lock()
			defer mu.Unlock()
			if v != nil {
				answers = append(answers, v)
			}
			open.Done()
		}
		if m, bad := parse(item); bad == nil && (m.Method == "" || len(m.ID) == 0) {
			l.handle(ctx, item, func(any) {}) // notifications and answers are not answered
			continue
		}
		open.Add(1)
		l.handle(ctx, item, answered)
	}
	l.calls.Go(func() {
		open.Wait()
		if len(answers) > 0 {
			l.client.write(answers)
		}
	})
}

// pump writes what the library sends by itself, such as list_changed. Such
// notifications belong to no request, so their order does not matter.
func (l *loop) pump(ctx context.Context) {
	for {
		select {
		case n := <-l.client.notes:
			l.client.write(n)
		case <-ctx.Done():
			return
		}
	}
}

// readLines sends the lines of in, then closes the channel. If ctx ends while
// in does not, the goroutine stays in its read; the process is about to end.
func readLines(ctx context.Context, in io.Reader, lines chan<- line) {
	defer close(lines)
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		m, err := readLine(r)
		select {
		case lines <- m:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

var _ tools.Host = (*host)(nil)

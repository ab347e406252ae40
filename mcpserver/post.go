package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"ferrule/mcpserver/auth"
)

// A link is a client that has begun a session by the handshake.
type link struct {
	*client
	back  back
	leave func() // the library's list of sessions
}

// A back is the stream that a GET has opened, if one is open. What belongs to no
// request is written to it.
type back struct {
	mu  sync.Mutex // guards out
	out *stream
}

func (b *back) Write(line []byte) (int, error) {
	b.mu.Lock()
	out := b.out
	b.mu.Unlock()
	if out != nil {
		out.event(line)
	}
	return len(line), nil
}

// open makes out the stream, and ends the one before: a client that opens a new
// one has lost the old.
func (b *back) open(out *stream) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.out != nil {
		b.out.cancel(nil)
	}
	b.out = out
}

func (b *back) close(out *stream) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.out == out {
		b.out = nil
	}
}

func (l *link) unregister() { l.leave() }

// post serves one message.
func (t *site) post(w http.ResponseWriter, r *http.Request, n *tenant) error {
	body, err := n.body(w, r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	out := newStream(w, r, cancel)
	m, bad := parse(body)
	switch {
	case bad != nil:
		out.finish(http.StatusBadRequest, bad.to(m.ID))
		return nil
	case isModern(r.Header, m):
		return t.stateless(ctx, r, n, m, out)
	case !known(r.Header.Get(mcp.HeaderProtocolVersion)) && m.Method != string(mcp.MethodInitialize):
		return t.unknown(r.Header.Get(mcp.HeaderProtocolVersion))
	case m.Method == string(mcp.MethodInitialize) && len(m.ID) > 0:
		return t.begin(ctx, n, m, out)
	}
	st, err := t.resume(r, n)
	if err != nil {
		return err
	}
	defer t.sessions.leave(st)
	l := st.link
	switch {
	case m.Method == "":
		l.answer(m)
	case m.Method == string(mcp.MethodNotificationCancelled):
		st.requests.cancel(m)
	case len(m.ID) == 0: // what it sets off outlives this request, in whose response nothing can be sent
		n.srv.mcp.HandleMessage(n.srv.mcp.WithContext(st.gone, &exchange{client: l.client, out: out}), m.raw)
	default:
		return t.call(ctx, n, l.client, m.key(), m, out, func(mcp.JSONRPCMessage) int { return http.StatusOK })
	}
	out.finish(http.StatusAccepted, nil)
	return nil
}

// known reports whether a version that a header names is one of those with
// sessions. Clients of the first ones send none.
func known(version string) bool {
	return version == "" || mcp.IsValidProtocolVersion(version) && !mcp.IsModernProtocol(version)
}

// body reads the message. The room for it grows as it comes.
func (n *tenant) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if !n.bodies.enter() {
		return nil, errBusy()
	}
	defer n.bodies.leave()
	defer http.NewResponseController(w).SetReadDeadline(time.Time{}) // later it would look as if the client had gone
	var b bytes.Buffer
	b.Grow(int(min(max(r.ContentLength, 0), 64<<10)) + bytes.MinRead)
	if _, err := b.ReadFrom(http.MaxBytesReader(w, r.Body, maxMessage)); err != nil {
		if long := new(http.MaxBytesError); errors.As(err, &long) {
			return nil, &auth.Denial{Status: http.StatusRequestEntityTooLarge, Text: tooLong}
		}
		return nil, &auth.Denial{Status: http.StatusBadRequest, Text: "the body did not arrive whole"}
	}
	return b.Bytes(), nil
}

func errBusy() error {
	return &auth.Denial{Status: http.StatusTooManyRequests, Text: fmt.Sprintf("%d requests are at work; wait for one of them", maxCalls)}
}

// begin does the handshake, which opens a session.
func (t *site) begin(ctx context.Context, n *tenant, m *message, out *stream) error {
	id := newSessionID()
	st, err := t.sessions.enter(origin{owner: n.owner, session: id}, func() *state {
		st := n.srv.newState()
		l := new(link)
		l.client = newClient(id, newWire(&l.back, func(error) {}), st, 64)
		l.leave = func() { n.srv.mcp.UnregisterSession(context.Background(), id) }
		st.link = l
		return st
	})
	if err != nil {
		return err
	}
	defer t.sessions.leave(st)
	var failed bool
	err = t.call(ctx, n, st.link.client, m.key(), m, out, func(answer mcp.JSONRPCMessage) int {
		if _, failed = answer.(mcp.JSONRPCError); !failed {
			n.srv.mcp.RegisterSession(ctx, st.link.client) // the id is new, so it cannot fail
			out.w.Header().Set(mcp.HeaderSessionID, id)
		}
		return http.StatusOK
	})
	if err != nil || failed {
		t.sessions.end(st)
	}
	return err
}

func newSessionID() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// resume returns the session that the request names. It must be left.
func (t *site) resume(r *http.Request, n *tenant) (*state, error) {
	ids := r.Header.Values(mcp.HeaderSessionID)
	if len(ids) != 1 {
		return nil, &auth.Denial{Status: http.StatusBadRequest, Text: "the header " + mcp.HeaderSessionID + " is needed; initialize gives its value"}
	}
	return t.sessions.enter(origin{owner: n.owner, session: ids[0]}, nil)
}

// call has a request answered that is known by key in its session. The status of
// the answer is asked for before it goes out.
func (t *site) call(ctx context.Context, n *tenant, c *client, key string, m *message, out *stream, status func(mcp.JSONRPCMessage) int) error {
	if bad := n.srv.refuse(m, func() bool { return mayAsk(m, c, out.events) }); bad != nil {
		answer := bad.to(m.ID)
		out.finish(status(answer), answer)
		return nil
	}
	listens := m.Method == string(mcp.MethodSubscriptionsListen)
	gate := &n.calls
	if listens {
		gate = &n.streams
	}
	if !gate.enter() {
		return errBusy()
	}
	defer gate.leave()
	if !c.requests.begin(key, out.cancel) {
		answer := errTaken().to(m.ID)
		out.finish(status(answer), answer)
		return nil
	}
	end := sync.OnceFunc(func() { c.requests.end(key) })
	defer end()
	if c.gone.Err() != nil { // it was too late to be ended with the others
		return errNoSession
	}
	x := &exchange{client: c, out: out}
	if listens {
		x.tag = m.ID
		defer t.subscribe(ctx, n, x)()
	}
	asking := n.srv.mcp.WithContext(ctx, x)
	if t.cfg.Legacy {
		asking = server.WithSupportedProtocolVersions(asking, t.versions())
	}
	answer := n.srv.dispatch(asking, m)
	x.close()
	end()                                   // before the client can know that its id is free
	if context.Cause(ctx) == errCancelled { // who cancels a request wants no answer
		out.finish(http.StatusAccepted, nil)
		return nil
	}
	if told := ended(ctx, answer); told != nil {
		answer = told
	}
	out.finish(status(answer), answer)
	return nil
}

// ended is the answer to a call that has failed because its session was ended, or
// nil: what the tool has made of that says nothing.
func ended(ctx context.Context, answer mcp.JSONRPCMessage) mcp.JSONRPCMessage {
	cause := context.Cause(ctx)
	if cause != errRevoked && cause != errSessionEnded {
		return nil
	}
	r, _ := answer.(mcp.JSONRPCResponse)
	res, _ := r.Result.(*mcp.CallToolResult)
	if res == nil || !res.IsError {
		return nil
	}
	res.Content = mcp.NewToolResultError(cause.Error()).Content
	return r
}

// isModern reports whether a message belongs to the era without a handshake:
// its header or its parameters say so.
func isModern(h http.Header, m *message) bool {
	return mcp.IsModernProtocol(h.Get(mcp.HeaderProtocolVersion)) || mcp.IsModernProtocol(m.version())
}

// stateless serves one message of the era without a handshake. Its client says
// everything in each request. It cancels one by closing the response; there is
// nothing else that a notification could do.
func (t *site) stateless(ctx context.Context, r *http.Request, n *tenant, m *message, out *stream) error {
	if bad := t.headers(r.Header, m); bad != nil {
		bad.ID = mcp.NewRequestId(m.ID)
		out.finish(http.StatusBadRequest, *bad)
		return nil
	}
	if len(m.ID) == 0 {
		out.finish(http.StatusAccepted, nil)
		return nil
	}
	handle, bad := m.handle()
	if bad != nil {
		out.finish(http.StatusBadRequest, bad.to(m.ID))
		return nil
	}
	st, err := t.sessions.enter(origin{owner: n.owner, handle: handle}, n.srv.newState)
	if err != nil {
		return err
	}
	defer t.sessions.leave(st)
	c := newClient(fmt.Sprintf("request %d", n.srv.connections.Add(1)), newWire(new(back), func(error) {}), st, 0)
	return t.call(ctx, n, c, c.id+" "+m.key(), m, out, modernStatus)
}

// headers compares the headers with the message, which must say the same, and
// returns what is wrong with them.
func (t *site) headers(h http.Header, m *message) *mcp.JSONRPCError {
	fault := func(code int, text string) *mcp.JSONRPCError {
		return &mcp.JSONRPCError{JSONRPC: mcp.JSONRPC_VERSION, Error: mcp.JSONRPCErrorDetails{Code: code, Message: text}}
	}
	head, body := h.Get(mcp.HeaderProtocolVersion), m.version()
	switch {
	case m.Method == "":
		return fault(mcp.INVALID_REQUEST, "the server asks nothing in this protocol version, so nothing can be answered")
	case h.Get(mcp.HeaderLastEventID) != "":
		return fault(mcp.HEADER_MISMATCH, "streams cannot be resumed in this protocol version; send the request again with a new id")
	case body == "":
		return fault(mcp.INVALID_PARAMS, "_meta must hold "+mcp.MetaKeyProtocolVersion)
	case head != body:
		return fault(mcp.HEADER_MISMATCH, fmt.Sprintf("the header %s is %q, but %s is %q", mcp.HeaderProtocolVersion, head, mcp.MetaKeyProtocolVersion, body))
	case !slices.Contains(t.versions(), body):
		e := mcp.UnsupportedProtocolVersionError{Version: body, Supported: t.versions()}.JSONRPCError()
		return &e
	}
	if err := mcp.ValidateStandardHeaders(h.Get, body, mcp.MCPMethod(m.Method), m.Params); err != nil {
		return fault(mcp.HEADER_MISMATCH, err.Error())
	}
	return nil
}

// modernStatus is the status that this era wants with an answer.
func modernStatus(answer mcp.JSONRPCMessage) int {
	e, ok := answer.(mcp.JSONRPCError)
	if !ok {
		return http.StatusOK
	}
	switch e.Error.Code {
	case mcp.METHOD_NOT_FOUND:
		return http.StatusNotFound
	case mcp.HEADER_MISMATCH, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, mcp.UNSUPPORTED_PROTOCOL_VERSION,
		mcp.INVALID_REQUEST, mcp.INVALID_PARAMS, mcp.PARSE_ERROR:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// subscribe makes what the library sends to everybody reach the subscription x,
// whose stream stays open. The function it returns undoes this.
func (t *site) subscribe(ctx context.Context, n *tenant, x *exchange) (undo func()) {
	x.Initialize()
	if n.srv.mcp.RegisterSession(ctx, x) != nil { // a request of a session, which the library will refuse
		return func() {}
	}
	var beats sync.WaitGroup
	ctx, stop := context.WithCancel(ctx)
	beats.Go(func() { t.watch(ctx, x.out, nil) })
	return func() {
		stop()
		beats.Wait()
		n.srv.mcp.UnregisterSession(context.WithoutCancel(ctx), x.SessionID())
	}
}

// watch keeps a stream alive, and ends it with the server. Notifications that
// come meanwhile are sent.
func (t *site) watch(ctx context.Context, out *stream, notes <-chan mcp.JSONRPCNotification) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case n := <-notes:
			out.send(n)
		case <-beat.C:
			out.beat()
		case <-t.closing:
			out.cancel(errClosing)
			return
		case <-ctx.Done():
			return
		}
	}
}

// listen opens the stream of a session for what belongs to no request.
func (t *site) listen(w http.ResponseWriter, r *http.Request, n *tenant) error {
	st, err := t.lasting(w, r, n)
	if err != nil {
		return err
	}
	defer t.sessions.leave(st) // a client that listens is not idle
	if !n.streams.enter() {
		return errBusy()
	}
	defer n.streams.leave()
	http.NewResponseController(w).SetReadDeadline(time.Time{})
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(st.gone, func() { cancel(errSessionEnded) })()
	out := newStream(w, r, cancel)
	if !out.events {
		return &auth.Denial{Status: http.StatusNotAcceptable, Text: "GET opens a stream; accept text/event-stream"}
	}
	st.link.back.open(out) // first: once the client sees the stream it counts on it
	out.open()
	defer st.link.back.close(out)
	t.watch(ctx, out, st.link.notes)
	out.finish(http.StatusOK, nil)
	return nil
}

// delete ends a session with all that it has started.
func (t *site) delete(w http.ResponseWriter, r *http.Request, n *tenant) error {
	st, err := t.lasting(w, r, n)
	if err != nil {
		return err
	}
	t.sessions.end(st)
	t.sessions.leave(st)
	w.WriteHeader(http.StatusOK)
	return nil
}

// lasting returns the session of a GET or DELETE, which only the era with
// sessions has. It must be left.
func (t *site) lasting(w http.ResponseWriter, r *http.Request, n *tenant) (*state, error) {
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	switch {
	case mcp.IsModernProtocol(version):
		w.Header().Set("Allow", http.MethodPost)
		return nil, &auth.Denial{Status: http.StatusMethodNotAllowed, Text: "this protocol version has only POST"}
	case !known(version):
		return nil, t.unknown(version)
	}
	return t.resume(r, n)
}

func (t *site) unknown(version string) error {
	return &auth.Denial{Status: http.StatusBadRequest, Text: fmt.Sprintf("the protocol version %q is not supported; the versions are %s", version, strings.Join(t.versions(), ", "))}
}

package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxMessage is the longest message accepted from a client, in bytes.
const maxMessage = 16 << 20

var tooLong = fmt.Sprintf("the message is longer than %d bytes", maxMessage)

// A message is one JSON-RPC message of the client.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	raw     []byte
	seen    *peek // once something has asked for it
}

// A refusal is a JSON-RPC error in the making.
type refusal struct {
	code int
	text string
}

func (r *refusal) to(id json.RawMessage) mcp.JSONRPCMessage {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	return mcp.NewJSONRPCError(mcp.NewRequestId(id), r.code, r.text, nil)
}

// parse reads one message and says what is wrong with it as a message. The
// message is never nil; its ID is set if an answer can be matched by it.
func parse(raw []byte) (*message, *refusal) {
	m := &message{raw: raw}
	if err := json.Unmarshal(raw, m); err != nil {
		if json.Valid(raw) {
			var only struct{ ID json.RawMessage }
			if json.Unmarshal(raw, &only) != nil || len(only.ID) == 0 || !isID(only.ID) {
				only.ID = nil
			}
			return &message{ID: only.ID}, &refusal{mcp.INVALID_REQUEST, "not a JSON-RPC message"}
		}
		return new(message), &refusal{mcp.PARSE_ERROR, "not JSON"}
	}
	switch {
	case len(m.ID) > 0 && !isID(m.ID):
		m.ID = nil
		return m, &refusal{mcp.INVALID_REQUEST, "an id must be a string or a number"}
	case m.Version != mcp.JSONRPC_VERSION:
		return m, &refusal{mcp.INVALID_REQUEST, `jsonrpc must be "2.0"`}
	case m.Method == "" && len(m.ID) == 0:
		return m, &refusal{mcp.INVALID_REQUEST, "the message has neither method nor id"}
	}
	return m, nil
}

// isID reports whether raw may be the id of a request: a string or a number.
func isID(raw json.RawMessage) bool { return strings.ContainsRune(`"-0123456789`, rune(raw[0])) }

// A peek is what is looked at of a request's parameters before the library sees
// them.
type peek struct {
	Name *string                    `json:"name"`
	Meta map[string]json.RawMessage `json:"_meta"`
	err  error
}

func (m *message) peek() *peek {
	if m.seen == nil {
		m.seen = new(peek)
		m.seen.err = json.Unmarshal(m.Params, m.seen)
	}
	return m.seen
}

// toolName returns the name in the parameters of tools/call.
func (m *message) toolName() (string, error) {
	h := m.peek()
	if h.err != nil || h.Name == nil {
		return "", errors.New("no name")
	}
	return *h.Name, nil
}

// version is the protocol version that a request says it belongs to, "" if it
// says none.
func (m *message) version() (s string) {
	if len(m.Params) > 0 {
		json.Unmarshal(m.peek().Meta[mcp.MetaKeyProtocolVersion], &s) // what is no string is none
	}
	return s
}

// handle is the name that a request gives to the session it belongs to.
func (m *message) handle() (s string, _ *refusal) {
	raw, ok := m.peek().Meta["ferrule/session"]
	if ok && (json.Unmarshal(raw, &s) != nil || !isHandle(s)) {
		return "", &refusal{mcp.INVALID_PARAMS, fmt.Sprintf("ferrule/session must be 1 to %d letters, digits, - or _", maxHandle)}
	}
	return s, nil
}

// A wire writes messages, one line each, and matches the client's answers to
// the requests we made.
type wire struct {
	broken func(error) // called when the output cannot be written

	out sync.Mutex // guards w
	w   io.Writer

	mu      sync.Mutex // guards the fields below
	next    int
	pending map[string]chan []byte
	closed  bool
}

func newWire(w io.Writer, broken func(error)) *wire {
	return &wire{w: w, broken: broken, pending: make(map[string]chan []byte)}
}

// write sends one message. It is on its way when write returns, so what a
// request writes before its response arrives before its response. Nil stands
// for no answer.
func (w *wire) write(v any) {
	if v == nil {
		return
	}
	b, err := encode(v)
	if err != nil {
		w.broken(err)
		return
	}
	w.out.Lock()
	defer w.out.Unlock()
	if _, err := w.w.Write(b); err != nil {
		w.broken(fmt.Errorf("cannot write to the client: %v", err))
	}
}

// encode returns a message as one line, with its newline.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("a message of ours cannot be encoded: %v", err)
	}
	return b.Bytes(), nil
}

// An inflight knows how to end the requests that are at work. The zero value is
// ready; it may be used concurrently.
type inflight struct {
	mu      sync.Mutex // guards running
	running map[string]context.CancelCauseFunc
}

// begin takes a request into the list and reports whether its key was free.
func (f *inflight) begin(key string, cancel context.CancelCauseFunc) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, taken := f.running[key]; taken {
		return false
	}
	if f.running == nil {
		f.running = make(map[string]context.CancelCauseFunc)
	}
	f.running[key] = cancel
	return true
}

// end takes a request off the list.
func (f *inflight) end(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.running, key)
}

// cancel ends the request that the parameters of notifications/cancelled name.
func (f *inflight) cancel(m *message) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.Params, &p) == nil {
		f.cancelWhere(errCancelled, func(key string) bool { return key == "call:"+string(p.RequestID) || key == "sub:"+string(p.RequestID) })
	}
}

func (f *inflight) cancelWhere(cause error, hit func(key string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, c := range f.running {
		if hit(key) {
			c(cause)
		}
	}
}

// key is what a request is known by while it is at work.
func (m *message) key() string {
	if m.Method == string(mcp.MethodSubscriptionsListen) {
		return "sub:" + string(m.ID)
	}
	return "call:" + string(m.ID)
}

// expect reserves an id for a request of ours. The ids are strings, so they can
// never be mistaken for the client's numbers.
func (w *wire) expect() (id string, answer chan []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next++
	id = fmt.Sprintf("srv-%d", w.next)
	answer = make(chan []byte, 1)
	if w.closed {
		close(answer)
	} else {
		w.pending[id] = answer
	}
	return id, answer
}

func (w *wire) forget(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pending, id)
}

// answer hands an answer to whoever waits for it. Others are dropped.
func (w *wire) answer(m *message) {
	var id string
	if json.Unmarshal(m.ID, &id) != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.pending[id]; c != nil {
		delete(w.pending, id)
		c <- m.raw
	}
}

// noMoreAnswers fails every request of ours, now and later.
func (w *wire) noMoreAnswers() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for id, c := range w.pending {
		delete(w.pending, id)
		close(c)
	}
}

// A line is one line of input. Of one longer than maxMessage only that is told.
type line struct {
	data    []byte
	tooLong bool
}

// readLine reads one line. It keeps no more than maxMessage bytes of it, but
// always reads to its end, so that the next line starts where it should.
func readLine(r *bufio.Reader) (m line, err error) {
	for {
		p, err := r.ReadSlice('\n')
		if len(m.data)+len(p) > maxMessage+1 { // the newline does not count
			m = line{tooLong: true}
		}
		if !m.tooLong {
			m.data = append(m.data, p...)
		}
		if err != bufio.ErrBufferFull {
			return m, err
		}
	}
}

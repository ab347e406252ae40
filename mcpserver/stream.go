package mcpserver

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// writeLimit is how long a client may take to accept what is written to it.
// A server-wide limit would cut streams, so each write has its own.
const writeLimit = 30 * time.Second

// heartbeat is how often something is written to a stream that stays open, so
// that nothing between us and the client takes it for dead, and we notice if it
// is.
const heartbeat = 25 * time.Second

// A stream is the response to one request over HTTP. It is one JSON message, or
// a stream of events once something has to be sent before the answer; the
// answer is then the last event. What is sent after it goes nowhere.
type stream struct {
	w      http.ResponseWriter
	ctl    *http.ResponseController
	events bool                    // the client takes events
	cancel context.CancelCauseFunc // called when the client does not take what is written
	since  time.Time               // when the request came, and the limit for writing was set

	mu    sync.Mutex // guards the fields below, and writing
	begun bool       // the events have begun
	done  bool
}

func newStream(w http.ResponseWriter, r *http.Request, cancel context.CancelCauseFunc) *stream {
	return &stream{w: w, ctl: http.NewResponseController(w), events: takesEvents(r.Header.Values("Accept")), cancel: cancel, since: time.Now()}
}

// takesEvents reports whether a client that accepts this takes a stream of
// events. One that says nothing takes everything.
func takesEvents(accept []string) bool {
	for _, a := range accept {
		for kind := range strings.SplitSeq(a, ",") {
			kind, _, _ = strings.Cut(kind, ";")
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "text/event-stream", "text/*", "*/*":
				return true
			}
		}
	}
	return len(accept) == 0
}

// open begins the events without sending one.
func (s *stream) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin()
	s.write(nil)
}

func (s *stream) begin() {
	if s.begun {
		return
	}
	s.begun = true
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
}

// send sends a message before the answer. It is on its way when send returns.
func (s *stream) send(v any) {
	if b, err := encode(v); err == nil {
		s.event(b)
	}
}

// event sends an encoded message as an event.
func (s *stream) event(message []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done || !s.events {
		return
	}
	s.begin()
	s.write(frame(message))
}

// beat sends what clients ignore.
func (s *stream) beat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.done && s.begun {
		s.write([]byte(": still here\n\n"))
	}
}

// frame makes an event of a message, which is one line with its newline.
func frame(message []byte) []byte {
	b := append(make([]byte, 0, len(message)+24), "event: message\ndata: "...)
	return append(append(b, message...), '\n')
}

// write writes and flushes. A client that does not take it is given up.
func (s *stream) write(p []byte) {
	s.ctl.SetWriteDeadline(time.Now().Add(writeLimit)) // where it is not supported nothing can hang: a test
	_, err := s.w.Write(p)
	if err == nil {
		err = s.ctl.Flush()
	}
	if err != nil {
		s.done = true
		s.cancel(errClientGone)
	}
}

// finish sends the answer, or nothing if v is nil.
func (s *stream) finish(status int, v any) {
	var b []byte
	if v != nil {
		var err error
		if b, err = encode(v); err != nil {
			status, b = http.StatusInternalServerError, nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return
	}
	s.done = true
	switch {
	case s.begun && len(b) > 0:
		s.write(frame(b))
	case s.begun:
	default:
		if time.Since(s.since) > time.Second {
			s.ctl.SetWriteDeadline(time.Now().Add(writeLimit))
		}
		if len(b) > 0 {
			s.w.Header().Set("Content-Type", "application/json")
			s.w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		}
		s.w.WriteHeader(status)
		s.w.Write(b) // who does not take the answer does not miss it
	}
}

// An exchange is one request over HTTP as mcp-go wants to see its client. What
// the library sends while the request is at work belongs to it, and so goes
// into its response.
type exchange struct {
	*client
	out *stream
	tag json.RawMessage // the id of a subscription, which every notification of it carries

	notesMu sync.Mutex // guards notes and ended
	notes   chan mcp.JSONRPCNotification
	ended   bool
	quit    chan struct{}
	pump    sync.WaitGroup
}

// NotificationChannel returns what the library puts notifications into. Few
// requests have any, so it is made when it is first asked for.
func (x *exchange) NotificationChannel() chan<- mcp.JSONRPCNotification {
	x.notesMu.Lock()
	defer x.notesMu.Unlock()
	if x.ended {
		return nil // which the library finds full
	}
	if x.notes == nil {
		x.notes, x.quit = make(chan mcp.JSONRPCNotification, 64), make(chan struct{})
		x.pump.Go(x.forward)
	}
	return x.notes
}

// SubscriptionFilter is asked before something goes to everybody. A subscription
// gets only what it has asked for, also before the library has heard what.
func (x *exchange) SubscriptionFilter() (mcp.SubscriptionFilter, bool) {
	f, on := x.client.SubscriptionFilter()
	return f, on || x.tag != nil
}

func (x *exchange) forward() {
	for {
		select {
		case n := <-x.notes:
			x.out.send(x.tagged(n))
			continue
		case <-x.quit:
		}
		for { // what was sent before the end comes before the answer
			select {
			case n := <-x.notes:
				x.out.send(x.tagged(n))
			default:
				return
			}
		}
	}
}

// tagged returns n as it goes out. The library shares its parameters among all
// receivers, so they are copied.
func (x *exchange) tagged(n mcp.JSONRPCNotification) mcp.JSONRPCNotification {
	if x.tag == nil {
		return n
	}
	meta := make(map[string]any, len(n.Params.Meta)+1)
	maps.Copy(meta, n.Params.Meta)
	meta[mcp.MetaKeySubscriptionID] = x.tag
	n.Params.Meta = meta
	return n
}

// close sends what the library has sent so far. What comes later is dropped.
func (x *exchange) close() {
	x.notesMu.Lock()
	x.ended = true
	if x.quit != nil {
		close(x.quit)
	}
	x.notesMu.Unlock()
	x.pump.Wait()
}

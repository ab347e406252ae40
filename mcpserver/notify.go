package mcpserver

import (
	"context"
	"fmt"
	"log"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"ferrule/tools"
)

// progressTime is how often a client that wants to know hears that a call is
// still at work.
const progressTime = 5 * time.Second

// host returns what the client of the request can do for the tool at work. The
// error is for the model.
func (s *Server) host(ctx context.Context, ts *tools.Session, req mcp.CallToolRequest) (*host, error) {
	h := &host{ctx: ctx}
	if m := req.Params.Meta; m != nil {
		h.token = m.ProgressToken
	}
	var err error
	if server.IsModernRequest(ctx) {
		h.talk, err = newTalk(s.key, ts.ID(), req.Params)
	}
	return h, err
}

// A host speaks to the client of one request.
type host struct {
	ctx   context.Context // of the request: what is sent belongs to it
	token mcp.ProgressToken
	talk  *talk                  // in the era without a handshake
	line  atomic.Pointer[string] // what the tool has said last of how it stands

	mu    sync.Mutex // guards ended, and sending progress
	ended bool
}

// Progress implements [tools.Host]. What it says is sent by the next report.
func (h *host) Progress(_ float64, message string) {
	if h.token != nil {
		message = oneLine(message)
		h.line.Store(&message)
	}
}

// report tells the client so often that the call is at work, if it wants to
// know. When the function it returns has returned, nothing more is sent.
func (h *host) report(every time.Duration) (stop func()) {
	if h.token == nil {
		return func() {}
	}
	begin := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	var next *time.Timer
	next = time.AfterFunc(every, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.ended {
			return
		}
		params := map[string]any{"progressToken": h.token, "progress": time.Since(begin).Seconds()}
		if line := h.line.Load(); line != nil && *line != "" {
			params["message"] = *line
		}
		notify(h.ctx, "notifications/progress", params)
		next.Reset(every)
	})
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.ended = true
		next.Stop()
	}
}

// maxLine is the length of a progress message, in characters.
const maxLine = 200

// oneLine returns s without what could do something to a terminal, cut.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) > maxLine {
		s = string([]rune(s)[:maxLine-1]) + "…"
	}
	return s
}

// tell writes a message for people to stderr, and to the client of the request
// in ctx if it wants messages of this level.
func tell(ctx context.Context, level mcp.LoggingLevel, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	log.Print(text)
	var least mcp.LoggingLevel // of what the client wants
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		least = info.LogLevel
	} else if c := clientOf(ctx); c != nil {
		least = c.GetLogLevel()
	}
	if level.ShouldSendTo(least) {
		notify(ctx, "notifications/message", map[string]any{"level": level, "logger": "ferrule", "data": text})
	}
}

// notify sends a notification that belongs to the request in ctx. It is on its
// way when notify returns, so it arrives before the response. Once the request
// has ended nothing is sent.
func notify(ctx context.Context, method string, params map[string]any) {
	if c := clientOf(ctx); c != nil && ctx.Err() == nil {
		send(ctx, c.wire, map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
	}
}

// send sends a message that belongs to the request in ctx: in the response to
// it, where each request has one of its own that takes more than the answer,
// else through w.
func send(ctx context.Context, w *wire, v any) {
	if x, ok := server.ClientSessionFromContext(ctx).(*exchange); ok && x.out.events {
		x.out.send(v)
		return
	}
	w.write(v)
}

// announce tells the client of the request in ctx when the background command ends that a result tells of, if it does,
// in a message of the level info. A client without a session has subscriptions for that.
func announce(ctx context.Context, ts *tools.Session, meta map[string]any) {
	task, _ := meta["task"].(map[string]any)
	id, _ := task["id"].(string)
	c := clientOf(ctx)
	if c == nil || id == "" || server.IsModernRequest(ctx) {
		return
	}
	ts.OnTaskEnd(id, func(words string) {
		if mcp.LoggingLevelInfo.ShouldSendTo(c.GetLogLevel()) {
			pass(c.notes, mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{
				Method: "notifications/message",
				Params: mcp.NotificationParams{AdditionalFields: map[string]any{
					"level": mcp.LoggingLevelInfo, "logger": "ferrule", "data": oneLine(words)}},
			}})
		}
	})
}

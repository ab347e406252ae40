package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// listening returns the context of a request, and what its client reads.
func listening(t *testing.T, modern bool, level mcp.LoggingLevel) (context.Context, *bytes.Buffer) {
	t.Helper()
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := newClient("c", newWire(&out, func(err error) { t.Error(err) }), s.newState(), 1)
	t.Cleanup(c.stop)
	info := new(server.RequestProtocolInfo)
	if modern {
		info = &server.RequestProtocolInfo{Modern: true, ProtocolVersion: "2026-07-28", LogLevel: level}
	} else if level != "" {
		c.SetLogLevel(level)
	}
	return server.WithRequestProtocolInfo(s.mcp.WithContext(t.Context(), c), info), &out
}

// Who sent a token hears every five seconds how a call stands, however much the
// tool has to say, and nothing after its end.
func TestReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, out := listening(t, false, "")
		h := &host{ctx: ctx, token: "tok"}
		stop := h.report(progressTime)
		for range 124 { // 12.4 s
			time.Sleep(100 * time.Millisecond)
			h.Progress(0, "line "+time.Now().Format(time.TimeOnly))
		}
		synctest.Wait()
		stop()
		time.Sleep(time.Minute)
		synctest.Wait()
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 2 {
			t.Fatalf("%q", lines)
		}
		for i, line := range lines {
			var n struct {
				Method string
				Params struct {
					ProgressToken, Message string
					Progress               float64
				}
			}
			if err := json.Unmarshal([]byte(line), &n); err != nil {
				t.Fatal(err)
			}
			p := n.Params
			if n.Method != "notifications/progress" || p.ProgressToken != "tok" || p.Progress != float64(5*(i+1)) || !strings.HasPrefix(p.Message, "line ") {
				t.Errorf("%s", line)
			}
		}
	})
}

func TestReportUnasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, out := listening(t, false, "")
		h := &host{ctx: ctx}
		stop := h.report(progressTime)
		h.Progress(0, "x")
		time.Sleep(time.Minute)
		stop()
		if out.Len() > 0 {
			t.Error(out)
		}
	})
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"plain ä":                   "plain ä",
		"a\tb\nc":                   "a b c",
		"\x1b[31mred\x07\u202e\x7f": "[31mred",
		strings.Repeat("é", 200):    strings.Repeat("é", 200),
		strings.Repeat("é", 201):    strings.Repeat("é", 199) + "…",
	} {
		if got := oneLine(in); got != want || !utf8.ValidString(got) {
			t.Errorf("%q: %q; want %q", in, got, want)
		}
	}
}

// A message goes to stderr in any case, and to a client that wants messages of
// its level: in the era without a handshake only one that says so in this very
// request.
func TestTell(t *testing.T) {
	var stderr bytes.Buffer
	log.SetOutput(io.MultiWriter(&stderr))
	defer log.SetOutput(os.Stderr)
	for _, test := range []struct {
		modern bool
		wants  mcp.LoggingLevel
		sent   bool
	}{
		{false, "", false}, // which is error
		{false, "debug", true},
		{false, "warning", true},
		{false, "error", false},
		{true, "", false},
		{true, "info", true},
		{true, "warning", true},
		{true, "emergency", false},
	} {
		ctx, out := listening(t, test.modern, test.wants)
		stderr.Reset()
		tell(ctx, mcp.LoggingLevelWarning, "the %s", "end")
		if got := strings.Contains(out.String(), `{"data":"the end","level":"warning","logger":"ferrule"}`); got != test.sent || got != (out.Len() > 0) {
			t.Errorf("%+v: sent %q", test, out)
		}
		if !strings.HasSuffix(stderr.String(), "the end\n") {
			t.Errorf("%+v: logged %q", test, &stderr)
		}
	}
}

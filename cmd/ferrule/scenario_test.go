package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"ferrule/mcpserver/mcpclient"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata")

// TestScenarios runs every testdata/scenarios/**/*.txtar against the real
// server, once inside this process, once over the standard input and output of
// the built command, and once over HTTP. The three must not differ.
//
// A scenario is a testscript with these commands more:
//
//	serve FLAGS...            use these flags (default: --toolsets +extra); before the first call
//	[!] call TOOL ARGS        call a tool; with ! it must fail
//	start NAME TOOL ARGS      call it without waiting
//	[!] await NAME            wait for that call (wait is a command of testscript)
//	silent NAME               the cancelled call NAME must stay without an answer
//	cancel NAME               send notifications/cancelled for it
//	notify METHOD PARAMS      send a notification
//	[!] request METHOD PARAMS send any request, the answer goes to out as JSON
//	list [tools|prompts]      the answer goes to out as indented JSON
//	client CAPABILITIES       what the client can do (default: nothing); before the first call
//	reply METHOD RESULT       what the client answers a request of the server with; the last reply stays
//	[!] asked METHOD          such a request has come; its parameters go to out as JSON
//	heard METHOD              wait for a notification; its parameters go to out as JSON
//	listen PARAMS             send subscriptions/listen, which is answered when the server ends
//	hangup                    end the server's input and wait for its end
//	hex FILE HEX              make a file of bytes
//	bytes FILE HEX            the file holds exactly these bytes
//	sh COMMAND                run a shell command beside the server, not through it
//	until COMMAND             run a shell command until it succeeds, at most 10 s
//
// ARGS is a name of a file or JSON as it stands; in either $WORK stands for the
// scenario's directory, which is the root, and $ID for the task id of the last
// call that started one. With PROTOCOL set to 2026-07-28 there is no handshake,
// and a call that asks for something is made again with the client's replies.
// The text of a result goes to the file out, its _meta
// to the file meta; in both the directory is written as $WORK. Its pictures go
// to image1 and so on.
func TestScenarios(t *testing.T) {
	for _, transport := range []string{"inprocess", "stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			var dirs []string
			err := filepath.WalkDir("../../testdata/scenarios", func(path string, d os.DirEntry, err error) error {
				if err == nil && d.IsDir() {
					if m, _ := filepath.Glob(filepath.Join(path, "*.txtar")); len(m) > 0 {
						dirs = append(dirs, path)
					}
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, dir := range dirs {
				t.Run(filepath.Base(dir), func(t *testing.T) {
					testscript.Run(t, scenarioParams(t, transport, dir))
				})
			}
		})
	}
}

func scenarioParams(t *testing.T, transport, dir string) testscript.Params {
	bin := ""
	if transport == "stdio" {
		bin = binary(t)
	}
	return testscript.Params{
		Dir:           dir,
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			user, err := os.MkdirTemp("", "ferrule-home-")
			if err != nil {
				return err
			}
			home := filepath.Join(user, ".ferrule") // of ferrule, in the user's
			if err := os.Mkdir(home, 0o700); err != nil {
				return err
			}
			work, err := filepath.EvalSymlinks(e.WorkDir)
			s := &scenario{bin: bin, http: transport == "http", work: work, home: home, flags: []string{"--toolsets", "+extra"}, calls: map[string]*pending{}}
			s.client = newClientSide()
			e.Setenv("FERRULE_HOME", home)
			e.Setenv("HOME", user)
			e.Values[scenarioKey{}] = s
			e.Defer(func() {
				s.close()
				os.RemoveAll(user)
			})
			return err
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "slow": // a PDF cannot be read in time
				return raceEnabled && transport != "stdio", nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve":   command1(func(s *scenario, ts *testscript.TestScript, args []string) { s.flags = args }),
			"call":    callCmd,
			"start":   startCmd,
			"await":   awaitCmd,
			"silent":  silentCmd,
			"cancel":  cancelCmd,
			"notify":  notifyCmd,
			"request": requestCmd,
			"list":    listCmd,
			"client":  clientCmd,
			"reply":   replyCmd,
			"asked":   askedCmd,
			"heard":   heardCmd,
			"listen":  listenCmd,
			"hangup":  command1(func(s *scenario, ts *testscript.TestScript, _ []string) { ts.Check(s.close()) }),
			"hex":     hexCmd,
			"bytes":   bytesCmd,
			"sh":      shCmd,
			"until":   untilCmd,
		},
	}
}

type scenarioKey struct{}

// A scenario is one script at work.
type scenario struct {
	bin, work, home string
	http            bool
	flags           []string
	conn            *mcpclient.Conn
	end             func() error
	calls           map[string]*pending
	client          *clientSide
	task            string // id of the last task
}

type pending struct {
	id   int
	wait func(context.Context) (json.RawMessage, error)
}

const patience = 30 * time.Second

func of(ts *testscript.TestScript) *scenario { return ts.Value(scenarioKey{}).(*scenario) }

func command1(f func(*scenario, *testscript.TestScript, []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) { f(of(ts), ts, args) }
}

// connect starts the server on the first call of a script.
func (s *scenario) connect(ts *testscript.TestScript) *mcpclient.Conn {
	if s.conn != nil {
		return s.conn
	}
	s.client.modern = ts.Getenv("PROTOCOL") == modernVersion
	args := append([]string{"-C", s.work}, s.flags...)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "$WORK", s.work)
	}
	env := map[string]string{"HOME": filepath.Dir(s.home), "FERRULE_HOME": s.home, "PATH": ts.Getenv("PATH"), "LANG": "C.UTF-8"}
	if s.http {
		in, out, end, err := overHTTP(env, args)
		ts.Check(err)
		s.conn = mcpclient.New(in, out, s.client.hear)
		s.end = func() error { s.conn.Close(); return end() }
	} else if s.bin == "" {
		theirs, ours := io.Pipe()
		from, to := io.Pipe()
		var log bytes.Buffer
		ended := make(chan int, 1)
		go func() {
			ended <- run(context.Background(), environment{in: theirs, out: to, err: &log, getenv: func(k string) string { return env[k] }}, args)
			to.Close()
		}()
		s.conn = mcpclient.New(ours, from, s.client.hear)
		s.end = func() error { s.conn.Close(); return exited(<-ended, &log) }
	} else {
		cmd := exec.Command(s.bin, args...)
		for k, v := range env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		cmd.Dir = s.work
		var log bytes.Buffer
		cmd.Stderr = &log
		in, err := cmd.StdinPipe()
		ts.Check(err)
		out, err := cmd.StdoutPipe()
		ts.Check(err)
		ts.Check(cmd.Start())
		s.conn = mcpclient.New(in, out, s.client.hear)
		s.end = func() error { s.conn.Close(); cmd.Wait(); return exited(cmd.ProcessState.ExitCode(), &log) }
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ts.Check(s.client.hello(ctx, s.conn, cmp.Or(ts.Getenv("PROTOCOL"), "2025-06-18")))
	return s.conn
}

func exited(code int, log *bytes.Buffer) error {
	if code != 0 {
		return fmt.Errorf("the server ended with code %d: %s", code, log)
	}
	return nil
}

func (s *scenario) close() error {
	if s.end == nil {
		return nil
	}
	end := s.end
	s.end = nil
	defer func() { s.conn = nil }()
	return end()
}

// args reads the arguments of a call.
func (s *scenario) args(ts *testscript.TestScript, arg string) json.RawMessage {
	if !strings.HasPrefix(strings.TrimSpace(arg), "{") && !strings.HasPrefix(arg, "[") {
		arg = ts.ReadFile(arg)
	}
	arg = strings.ReplaceAll(arg, "$WORK", s.work)
	return json.RawMessage(strings.ReplaceAll(arg, "$ID", s.task))
}

func (s *scenario) start(ts *testscript.TestScript, tool, args string) *pending {
	c := s.connect(ts)
	return s.client.call(c, map[string]any{"name": tool, "arguments": s.args(ts, args)})
}

// finish waits for a call and leaves its text in out and its facts in meta.
func (s *scenario) finish(ts *testscript.TestScript, p *pending, neg bool, what string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	raw, err := p.wait(ctx)
	if err != nil {
		s.save(ts, "out", err.Error())
		if !neg {
			ts.Fatalf("%s: %v", what, err)
		}
		return
	}
	var res mcpclient.CallResult
	ts.Check(json.Unmarshal(raw, &res))
	if task, ok := res.Meta["ferrule/task"].(map[string]any); ok {
		s.task, _ = task["id"].(string)
	}
	var texts []string
	pictures := 0
	for _, c := range res.Content {
		if c.Type == "image" {
			pictures++
			data, err := base64.StdEncoding.DecodeString(c.Data)
			ts.Check(err)
			ts.Check(os.WriteFile(ts.MkAbs(fmt.Sprintf("image%d", pictures)), data, 0o666))
		}
		if c.Type == "text" {
			texts = append(texts, c.Text)
		} else {
			texts = append(texts, shownContent(c.Type, c.MIMEType, c.URI, s.task))
		}
	}
	text := strings.Join(texts, "\n")
	s.save(ts, "out", text)
	meta, err := json.Marshal(res.Meta)
	ts.Check(err)
	s.save(ts, "meta", string(meta))
	s.save(ts, "structured", string(res.Structured))
	if res.IsError != neg {
		ts.Fatalf("%s: error is %v, want %v: %s", what, res.IsError, neg, text)
	}
}

func (s *scenario) save(ts *testscript.TestScript, name, text string) {
	text = strings.ReplaceAll(text, s.work, "$WORK")
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	ts.Check(os.WriteFile(filepath.Join(s.home, name), []byte(text), 0o666))
	ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o666))
}

func want(ts *testscript.TestScript, args []string, n int, form string) {
	if len(args) != n {
		ts.Fatalf("usage: %s", form)
	}
}

func callCmd(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, args, 2, "call TOOL ARGS")
	s := of(ts)
	s.finish(ts, s.start(ts, args[0], args[1]), neg, "call "+args[0])
}

func startCmd(ts *testscript.TestScript, _ bool, args []string) {
	want(ts, args, 3, "start NAME TOOL ARGS")
	s := of(ts)
	s.calls[args[0]] = s.start(ts, args[1], args[2])
}

func awaitCmd(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, args, 1, "await NAME")
	s := of(ts)
	s.finish(ts, s.calls[args[0]], neg, "await "+args[0])
}

// silentCmd asks for something that is answered in order: what came before it
// would have been answered before.
func silentCmd(ts *testscript.TestScript, _ bool, args []string) {
	want(ts, args, 1, "silent NAME")
	s := of(ts)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := s.connect(ts).Request(ctx, "tools/list", s.client.params(nil))
	ts.Check(err)
	done, stop := context.WithCancel(context.Background())
	stop()
	if raw, err := s.calls[args[0]].wait(done); !errors.Is(err, context.Canceled) {
		ts.Fatalf("call %s was answered: %s %v", args[0], raw, err)
	}
}

func cancelCmd(ts *testscript.TestScript, _ bool, args []string) {
	want(ts, args, 1, "cancel NAME")
	s := of(ts)
	ts.Check(s.connect(ts).Notify("notifications/cancelled", map[string]any{"requestId": s.calls[args[0]].id}))
}

func notifyCmd(ts *testscript.TestScript, _ bool, args []string) {
	want(ts, args, 2, "notify METHOD PARAMS")
	s := of(ts)
	ts.Check(s.connect(ts).Notify(args[0], s.args(ts, args[1])))
}

func requestCmd(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, args, 2, "request METHOD PARAMS")
	s := of(ts)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	raw, err := s.connect(ts).Request(ctx, args[0], s.client.params(s.args(ts, args[1])))
	if (err != nil) != neg {
		ts.Fatalf("request %s: %s %v", args[0], raw, err)
	}
	if err != nil {
		raw = json.RawMessage(strconv.Quote(err.Error()))
	}
	s.save(ts, "out", indent(ts, raw))
}

func listCmd(ts *testscript.TestScript, _ bool, args []string) {
	what := "tools"
	if len(args) > 0 {
		what = args[0]
	}
	s := of(ts)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	raw, err := s.connect(ts).Request(ctx, what+"/list", s.client.params(nil))
	ts.Check(err)
	s.save(ts, "out", indent(ts, raw))
}

func indent(ts *testscript.TestScript, raw json.RawMessage) string {
	var b bytes.Buffer
	ts.Check(json.Indent(&b, raw, "", " "))
	return b.String()
}

func hexCmd(ts *testscript.TestScript, _ bool, args []string) {
	want(ts, args, 2, "hex FILE HEX")
	b, err := hex.DecodeString(strings.ReplaceAll(args[1], " ", ""))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o666))
}

func bytesCmd(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, args, 2, "bytes FILE HEX")
	b, err := hex.DecodeString(strings.ReplaceAll(args[1], " ", ""))
	ts.Check(err)
	got, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	if !slices.Equal(got, b) != neg {
		ts.Fatalf("%s holds\n% x, want\n% x", args[0], got, b)
	}
}

func beside(ts *testscript.TestScript, command string) ([]byte, error) {
	cmd := exec.Command("bash", "-c", command)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "WORK="+of(ts).work, "ID="+of(ts).task, "FERRULE_HOME="+of(ts).home)
	return cmd.CombinedOutput()
}

func shCmd(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, args, 1, "sh COMMAND")
	out, err := beside(ts, args[0])
	ts.Logf("%s", out)
	if (err != nil) != neg {
		ts.Fatalf("sh %s: %v", args[0], err)
	}
}

func untilCmd(ts *testscript.TestScript, _ bool, args []string) {
	want(ts, args, 1, "until COMMAND")
	for end := time.Now().Add(10 * time.Second); ; {
		out, err := beside(ts, args[0])
		if err == nil {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("until %s: %v\n%s", args[0], err, out)
		}
	}
}

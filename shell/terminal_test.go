//go:build linux && !portable

package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// typeIn types into a task and wants an answer that holds something, which may need a second look.
func typeIn(t *testing.T, s *Shell, id, text, want string) TaskOutput {
	t.Helper()
	out, err := s.Send(t.Context(), id, text, false)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	got := out.Output
	eventually(t, 10*time.Second, func() bool {
		if strings.Contains(got, want) {
			return true
		}
		out, err = s.Output(t.Context(), id, 0)
		got += out.Output
		return false
	}, func() string { return "after " + text + ": got " + got + ", want " + want })
	out.Output = got
	return out
}

// A terminal: its size, who controls it, prompts, echo, editing keys, and signals.
func TestTerminal(t *testing.T) {
	t.Parallel()
	need(t, "stty", "tty")
	s, _ := newShell(t, Config{pace: faster})
	info, err := s.Start(t.Context(), Command{TTY: true,
		Text: `stty size; tty; test -t 0 && test -t 1 && test -t 2 && echo terminal; : </dev/tty && echo controls; read -p 'name? ' n; echo "hi $n"; sleep 600`})
	if err != nil || info.StdoutFile == "" || info.StderrFile != "" {
		t.Fatal(info, err)
	}
	out := typeIn(t, s, info.ID, "", "name? ")
	if !strings.HasPrefix(out.Output, "40 120\n/dev/pts/") || !strings.Contains(out.Output, "terminal\ncontrols\nname? ") {
		t.Errorf("%q", out.Output)
	}
	out = typeIn(t, s, info.ID, "boc\x7fb\r", "hi bob\n")
	if strings.ContainsAny(out.Output, "\r\b\x7f") || !strings.HasSuffix(out.Output, "hi bob\n") {
		t.Errorf("%q", out.Output)
	}
	if _, err := s.Send(t.Context(), info.ID, "\x03", false); err != nil { // ^C
		t.Fatal(err)
	}
	if out := outcome(t, s, info.ID); out.Signal != "SIGINT" && out.Code != 130 || out.State != Failed {
		t.Errorf("%+v", out)
	}
}

// The end of a terminal is no error, and what it was to others is over.
func TestTerminalEnds(t *testing.T) {
	t.Parallel()
	need(t, "setsid", "stty")
	s, _ := newShell(t, Config{pace: faster})
	start := func(text string) string {
		info, err := s.Start(t.Context(), Command{Text: text, TTY: true})
		if err != nil {
			t.Fatal(err)
		}
		return info.ID
	}
	for _, c := range []struct {
		command, out string
		code         int
	}{
		{"echo hi; echo err >&2", "hi\nerr\n", 0},
		{"printf 'no end'; exit 4", "no end", 4},
		{`printf '\033[31mred\033[0m\n\033]0;title\007x\n'`, "red\nx\n", 0},
		{"for i in 1 2 3; do printf '\\r%d%%' $i; done; echo", "3%\n", 0},
		{"echo $TERM; stty -a | grep -o 'rows 40; columns 120'", "xterm-256color\nrows 40; columns 120\n", 0},
		{"seq 20000 | tail -n 1", "20000\n", 0},
	} {
		out := outcome(t, s, start(c.command))
		if got := strings.Replace(out.Output, termOf(), "xterm-256color", 1); got != c.out || out.Code != c.code {
			t.Errorf("%q: %+v", c.command, out)
		}
	}
	id := start("cat; echo end")
	out, err := s.Send(t.Context(), id, "abc", true)
	if err != nil {
		t.Fatal(err)
	}
	last := outcome(t, s, id)
	if got := out.Output + last.Output; !strings.HasPrefix(got, "abc") || !strings.HasSuffix(got, "abcend\n") || last.State != Completed {
		t.Errorf("%q, %+v", got, last)
	}
	tag := tag()
	id = start(family(tag))
	awaitFamily(t, tag, children)
	if _, ended, err := s.Stop(t.Context(), id); err != nil || !ended {
		t.Error(ended, err)
	}
	none(t, tag)
}

// termOf is the TERM that a terminal has here.
func termOf() string {
	for _, kv := range forTerminal(environ(os.Environ(), nil)) {
		if term, ok := strings.CutPrefix(kv, "TERM="); ok {
			return term
		}
	}
	return ""
}

// Programs that draw on the screen can be looked at and left.
func TestTerminalPrograms(t *testing.T) {
	t.Parallel()
	s, root := newShell(t, Config{pace: faster})
	if err := os.WriteFile(filepath.Join(root, "f"), []byte(strings.Repeat("some text\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ command, shows, keys string }{
		{"less f", "some text", "q"},
		{"vi f", "some text", "\x1b:q!\r"},
		{"top", "load average", "q"},
		{"bash --norc -i", "bash", "exit\r"},
		{"python3 -q", ">>>", "exit()\r"},
		{"sh -c 'read -r x </dev/tty; echo \"[$x]\"'", "", "y\r"},
	} {
		program, _, _ := strings.Cut(c.command, " ")
		if _, err := exec.LookPath(program); err != nil {
			continue
		}
		info, err := s.Start(t.Context(), Command{Text: c.command, TTY: true, Timeout: 30 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		out := typeIn(t, s, info.ID, "", c.shows)
		if strings.ContainsAny(out.Output, "\x1b\r\x07") {
			t.Errorf("%s: %q", c.command, out.Output)
		}
		if _, err := s.Send(t.Context(), info.ID, c.keys, false); err != nil {
			t.Errorf("%s: %v", c.command, err)
		}
		if end := outcome(t, s, info.ID); end.State != Completed {
			t.Errorf("%s: %+v", c.command, end)
		}
	}
}

// A standard input that stays open, with what was given first.
func TestSend(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{pace: faster})
	info, err := s.Start(t.Context(), Command{Text: "cat; echo end", Stdin: "first\n", HasStdin: true, OpenStdin: true})
	if err != nil {
		t.Fatal(err)
	}
	if out := typeIn(t, s, info.ID, "second\n", "second\n"); !strings.HasSuffix("first\nsecond\n", out.Output) {
		t.Errorf("%+v", out)
	}
	if out := typeIn(t, s, info.ID, "third\n", "third\n"); out.Output != "third\n" || out.State != Running {
		t.Errorf("%+v", out)
	}
	out, err := s.Send(t.Context(), info.ID, "", true)
	last := outcome(t, s, info.ID)
	if err != nil || out.Output+last.Output != "end\n" || last.State != Completed {
		t.Errorf("%+v %v %+v", out, err, last)
	}
}

// What cannot be typed into says so, and a program that does not read holds nobody up.
func TestSendRefuses(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{pace: pace{grace: faster.grace, send: 300 * time.Millisecond}})
	silent := launch(t, s, "sleep 600")
	over := launch(t, s, "true")
	outcome(t, s, over.ID)
	start := func(c Command) string {
		info, err := s.Start(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return info.ID
	}
	deaf := start(Command{Text: "sleep 600", OpenStdin: true})
	given := start(Command{Text: "sleep 600", OpenStdin: true, HasStdin: true, Stdin: strings.Repeat("x", 1<<20)})
	tty := start(Command{Text: "stty raw -echo; echo ready; sleep 600", TTY: true})
	typeIn(t, s, tty, "", "ready")
	closed := start(Command{Text: "exec <&-; echo ready; sleep 600", OpenStdin: true})
	typeIn(t, s, closed, "", "ready")
	for _, c := range []struct{ id, text, want string }{
		{silent.ID, "x", "has no input that could be typed into"},
		{over.ID, "x", "has ended"},
		{"nope", "x", "there is no task nope"},
		{deaf, strings.Repeat("x", 1<<20), "has taken only 65536 of 1048576 bytes"},
		{deaf, "x", "has taken only 0 of 1 bytes"},
		{given, "x", "has not yet read what it was given before"},
		{tty, strings.Repeat("x", 1<<20), "has taken only "},
		{closed, "x", "no longer reads"},
	} {
		start := time.Now()
		_, err := s.Send(t.Context(), c.id, c.text, false)
		if err == nil || !strings.Contains(err.Error(), c.want) || time.Since(start) > 3*time.Second {
			t.Errorf("%.10q to %s: %v after %v, want %q", c.text, c.id, err, time.Since(start), c.want)
		}
	}
	if _, err := s.Run(t.Context(), Command{Text: "cat", TTY: true}); err == nil {
		t.Error("a call got a terminal")
	}
	if _, err := s.Start(t.Context(), Command{Text: "cat", TTY: true, HasStdin: true}); err == nil {
		t.Error("a terminal got another input")
	}
}

// Send waits for silence, and of endless output no longer than two seconds.
func TestSendWaits(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t, Config{pace: faster})
	info, err := s.Start(t.Context(), Command{Text: "read x; for i in 1 2 3 4; do echo $i; sleep .05; done; read y; yes", OpenStdin: true})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	out, err := s.Send(t.Context(), info.ID, "\n", false)
	if took := time.Since(start); err != nil || took < silence || !strings.HasPrefix(out.Output, "1\n") {
		t.Errorf("%q %v after %v", out.Output, err, took)
	}
	typed := "\n"
	for { // on a busy machine yes may take longer to begin than silence lasts
		start = time.Now()
		out, err = s.Send(t.Context(), info.ID, typed, false)
		took := time.Since(start)
		if err != nil || took > longest+5*time.Second {
			t.Fatalf("%v, after %v", err, took)
		}
		if took >= longest && out.MissingBytes > 0 {
			return
		}
		typed = ""
	}
}

// Who may read what is typed: a shell that the command names, or one that it has come to by other ways.
func TestReader(t *testing.T) {
	t.Parallel()
	s, root := newShell(t, Config{pace: faster})
	script := "#!/bin/sh\necho ready; read x\n"
	if err := os.WriteFile(filepath.Join(root, "ask.sh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command string
		want    Reader
	}{
		{"echo ready; cat", NoShell},
		{"echo ready; read x; cat notes.sh run-sh", NoShell},
		{"(echo ready; cat) | cat", NoShell},
		{"f() { echo ready; read x; }; f", NoShell},
		{"echo ready; bash", Bash},
		{"echo ready; /bin/sh -i", Bash},
		{"echo ready; sleep 600; \"$SHELL\"", AnyShell},
		{"echo ready; sleep 600; sudo -s", AnyShell},
		{"echo ready; exec zsh", AnyShell},
		{`echo ready; b""ash -c 'cat; :'`, AnyShell}, // ash, as far as the text goes
		{`echo ready; exec $(echo hsab | rev) -c 'cat; :'`, Bash},
		{"./ask.*", Bash},
		{"setsid ./ask.*", Bash},
	} {
		if strings.Contains(c.command, "exec zsh") {
			if _, err := exec.LookPath("zsh"); err != nil {
				continue
			}
		}
		info, err := s.Start(t.Context(), Command{Text: c.command, OpenStdin: true})
		if err != nil {
			t.Fatal(err)
		}
		typeIn(t, s, info.ID, "", "ready")
		eventually(t, 5*time.Second, func() bool { // a shell that comes after the word needs a moment
			got, err := s.Reader(info.ID)
			return err == nil && got == c.want
		}, func() string { return c.command })
		if _, _, err := s.Stop(t.Context(), info.ID); err != nil {
			t.Error(err)
		}
	}
}

package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"
)

// How long Send waits for output.
const (
	silence = 200 * time.Millisecond // without output, before it returns
	longest = 2 * time.Second        // while output comes
)

// An input is our end of what a command reads: a pipe, or a terminal, whose other direction is its output. A nil input
// is none.
type input struct {
	f     *os.File
	tty   bool
	kept  bool          // it is for Send, too
	named Reader        // by the text of the command
	turn  chan struct{} // held by who writes or closes; empty once it is closed for good
}

func newInput(f *os.File, tty bool, c Command) *input {
	return &input{f: f, tty: tty, kept: tty || c.OpenStdin, named: named(c.Text), turn: make(chan struct{}, 1)}
}

// feed writes the text that a command is given at its start, which it need not read all, and closes the input if nothing
// more can come. It must be called first, and once.
func (in *input) feed(text string, more bool) {
	if text != "" {
		io.WriteString(in.f, text)
	}
	if more {
		in.turn <- struct{}{}
	} else {
		in.f.Close()
	}
}

// close ends a feed or send under way.
func (in *input) close() {
	if in != nil && !in.tty { // the stream closes a terminal, when all is read
		in.f.Close()
	}
}

// send writes text and, for eof, ends the input: on a terminal by the character that does so. The command has to take it
// within the limit.
func (in *input) send(ctx context.Context, text string, eof bool, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-in.turn:
	case <-timer.C:
		return errors.New("the command has closed its input, or has not yet read what it was given before")
	case <-ctx.Done():
		return ctx.Err()
	}
	if eof && !in.tty {
		defer in.f.Close() // and the turn comes to nobody
	} else {
		defer func() { in.turn <- struct{}{} }()
	}
	if eof && in.tty {
		if text != "" && !strings.HasSuffix(text, "\n") && !strings.HasSuffix(text, "\r") {
			text += "\x04" // the first one ends the line, the second the input
		}
		text += "\x04"
	}
	in.f.SetWriteDeadline(time.Now().Add(limit))
	n, err := io.WriteString(in.f, text)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("the command has taken only %d of %d bytes in %v; it is not reading, see what it does with TaskOutput", n, len(text), limit)
	case err != nil:
		return errors.New("the command no longer reads its input")
	}
	return nil
}

// Send types text into a running task that has a terminal or an open standard input, and with eof ends its input. It
// returns what the task has printed since it was last asked, when nothing has come for 200 ms, at most after two seconds.
func (s *Shell) Send(ctx context.Context, id, text string, eof bool) (TaskOutput, error) {
	t, err := s.known(id)
	if err != nil {
		return TaskOutput{}, err
	}
	if err := t.typable(); err != nil {
		return TaskOutput{}, err
	}
	select {
	case <-t.came: // of before
	default:
	}
	if err := t.input.send(ctx, text, eof, s.cfg.pace.send); err != nil {
		return TaskOutput{}, err
	}
	most, quiet := time.NewTimer(longest), time.NewTimer(silence)
	defer most.Stop()
	defer quiet.Stop()
	for {
		select {
		case <-t.came:
			quiet.Reset(silence)
			continue
		case <-quiet.C:
		case <-most.C:
		case <-t.done:
		case <-ctx.Done():
			return TaskOutput{}, ctx.Err()
		}
		return t.report(), nil
	}
}

// typable returns an error if nothing can be sent to a task.
func (t *task) typable() error {
	switch {
	case t.over():
		return fmt.Errorf("task %s has ended; TaskOutput shows how", t.id)
	case t.input == nil || !t.input.kept:
		return fmt.Errorf("task %s has no input that could be typed into; start the command with tty or stdin_open", t.id)
	}
	return nil
}

// A Reader says who reads what is sent to a task.
type Reader int

const (
	AnyShell Reader = iota // a shell that need not be bash, or something that cannot be looked at
	Bash                   // bash, or the sh that it can be
	NoShell                // another program
)

// namesShell finds the words that start a shell, or something that starts one for its input.
var namesShell = regexp.MustCompile(`(?i)(?:^|[^\w.-])((?:a|ba|c|da|fi|k|mk|pdk|po|rba|tc|xon|ya|z|s)?sh|adb|busybox|chroot|docker|doas|` +
	`elvish|expect|kubectl|login|lxc|mosh|newgrp|nsenter|nu|osh|podman|powershell|pwsh|runuser|screen|script|shell|sg|su|sudo|tmux|unshare)\b`)

// shells are programs that read commands.
var shells = map[string]Reader{
	"bash": Bash, "sh": Bash, "dash": Bash,
	"ash": AnyShell, "busybox": AnyShell, "csh": AnyShell, "elvish": AnyShell, "fish": AnyShell, "ksh": AnyShell, "mksh": AnyShell, "nu": AnyShell,
	"osh": AnyShell, "posh": AnyShell, "pwsh": AnyShell, "rbash": AnyShell, "tcsh": AnyShell, "xonsh": AnyShell, "yash": AnyShell, "zsh": AnyShell,
}

// named returns who the text of a command says will read its input.
func named(command string) Reader {
	reader := NoShell
	for _, m := range namesShell.FindAllStringSubmatch(command, -1) {
		reader = min(reader, shells[m[1]])
	}
	return reader
}

// Reader tells who may be what reads the text that is sent to a task, now or later: a shell if its command names one, or
// if one is among its processes. The error is Send's, if nothing can be sent.
func (s *Shell) Reader(id string) (Reader, error) {
	t, err := s.known(id)
	if err != nil {
		return AnyShell, err
	}
	if err := t.typable(); err != nil {
		return AnyShell, err
	}
	return min(t.input.named, t.tree.reader()), nil
}

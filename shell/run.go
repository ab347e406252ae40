package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// A Command is what the shell is to run.
type Command struct {
	Text        string
	Description string        // in words; only remembered
	Timeout     time.Duration // 0: no limit
	Stdin       string        // what the command can read, if HasStdin; else it sees the end of input at once
	HasStdin    bool

	// In the background only: what Send types. TTY gives the command a terminal, which stdin and stdout are; OpenStdin
	// keeps standard input open after Stdin. At most one may be set, and a terminal takes no Stdin.
	TTY       bool
	OpenStdin bool

	// Progress, if not nil, is told every second how long Run has been waiting and what the last line of output
	// is. It is called from Run's own goroutine.
	Progress func(elapsed time.Duration, lastLine string)
}

// A Result is how a command ended. That it failed is no error of Run's.
type Result struct {
	Output       string // cleaned, stdout and stderr in the order of writing; a line stands for what was left out
	MissingLines int64  // how many line feeds and bytes of cleaned text that is
	MissingBytes int64
	LogFile      string // raw output, if some of it was left out above
	LogLimited   bool   // that file has reached its limit and lacks a part as well

	Code     int    // exit code, or 128 and the number of the signal
	Signal   string // that ended the shell, such as "SIGKILL"; "" for none
	TimedOut bool   // the time limit struck and the whole tree was ended
	Wall     time.Duration

	Dir     string // where the next command runs
	DirNote string // one sentence, if that is not where this one ended, or if this one did not run where the last ended

	Left *TaskInfo // what the command has left running, now a task; State says if it was ended for want of room
}

// settleLimit is how long a result waits for the output's end after the shell's end when somebody is still running:
// what was started last thing, such as a server that cannot get its port, may say so.
const settleLimit = 50 * time.Millisecond

// Run runs a command and returns when its shell has ended. At the time limit the whole tree is ended, politely first,
// and the result tells what was reached. If ctx is done the tree is ended sooner and the error is ctx's.
func (s *Shell) Run(ctx context.Context, c Command) (*Result, error) {
	t, err := s.begin(c, false)
	if err != nil {
		return nil, err
	}
	defer s.next()
	defer t.release()
	timedOut, err := s.await(ctx, t, c)
	if err != nil {
		return nil, err
	}
	end := t.tree.end
	if end.err != nil {
		return nil, end.err
	}
	left := t.settle()
	r := &Result{Code: end.code, TimedOut: timedOut, Wall: time.Since(t.start)}
	if end.signal != 0 {
		r.Signal = signalName(end.signal)
	}
	var note string
	r.Dir, note = s.leave(t.dir, end)
	r.DirNote = strings.Join(nonEmpty(t.note, note), "; ")
	if len(left) > 0 && !timedOut {
		info := s.adopt(t, left)
		r.Left = &info
	}
	var lost missing
	r.Output, lost = t.take()
	r.MissingLines, r.MissingBytes = lost.Lines, lost.Bytes
	if lost.Bytes > 0 {
		r.LogFile = t.keepLogs()[0]
		r.LogLimited = t.streams[0].log.full()
	}
	return r, nil
}

// next gets the next helper ready while the model thinks.
func (s *Shell) next() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.wg.Go(s.herd.prepare)
	}
}

// await waits for the end of t's shell and ends the tree if its time is up or nobody wants it any more.
func (s *Shell) await(ctx context.Context, t *task, c Command) (timedOut bool, err error) {
	var limit, tick <-chan time.Time
	if c.Timeout > 0 {
		timer := time.NewTimer(c.Timeout - time.Since(t.start))
		defer timer.Stop()
		limit = timer.C
	}
	if c.Progress != nil {
		ticker := time.NewTicker(s.cfg.pace.progress)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-t.tree.ended:
			if s.over() {
				return false, errClosed
			}
			return false, nil
		case <-limit:
			t.tree.stop(s.cfg.pace.grace, ctx.Done())
			<-t.tree.ended
			return true, ctx.Err()
		case <-ctx.Done():
			t.tree.stop(s.cfg.pace.hurry, nil)
			return false, ctx.Err()
		case <-tick:
			c.Progress(time.Since(t.start), t.lastLine())
		}
	}
}

func (s *Shell) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// check returns an error for what cannot be run.
func (c *Command) check(background bool) error {
	switch {
	case strings.ContainsRune(c.Text, 0):
		return errors.New(`the command holds a NUL character, which no shell can read; write it as \0 for printf`)
	case (c.TTY || c.OpenStdin) && !background:
		return errors.New("a command that is typed into has to run in the background")
	case c.TTY && (c.HasStdin || c.OpenStdin):
		return errors.New("a command on a terminal takes no other standard input; type into it instead")
	}
	return nil
}

// begin starts a command. In the background it has a stream for each of its outputs, unless they are a terminal, and
// keeps its own time.
func (s *Shell) begin(c Command, background bool) (*task, error) {
	if err := c.check(background); err != nil {
		return nil, err
	}
	if s.over() {
		return nil, errClosed
	}
	dir, note, err := s.enter()
	if err != nil {
		return nil, err
	}
	t := &task{id: "b" + random(8), command: clip(c.Text, 300), description: c.Description, dir: dir, note: note,
		taskState: taskState{state: Running}, drained: make(chan struct{}), done: make(chan struct{}),
		came: make(chan struct{}, 1),
		out:  &transcript{max: s.cfg.MaxOutput}}
	theirs, err := s.connect(t, c, background)
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	if err != nil {
		t.abandon()
		return nil, err
	}
	t.start = time.Now()
	env := s.env.list()
	if c.TTY {
		env = forTerminal(env)
	}
	t.tree, err = s.herd.start(job{shell: s.program, dir: dir, env: append(env, "PWD="+dir), text: c.Text,
		stdin: theirs[0], stdout: theirs[1], stderr: theirs[len(theirs)-1], tty: c.TTY})
	if err != nil {
		t.abandon()
		return nil, err
	}
	if !s.follow(t, c, background) {
		t.tree.stop(0, nil)
		t.abandon()
		return nil, errClosed
	}
	return t, nil
}

// connect makes the pipes and logs of t and returns the command's ends: stdin, stdout, and stderr if it is another.
func (s *Shell) connect(t *task, c Command, background bool) (theirs []*os.File, err error) {
	switch {
	case c.TTY:
		ours, tty, err := newTerminal()
		if err != nil {
			return nil, err
		}
		t.input = newInput(ours, true, c)
		return []*os.File{tty, tty}, s.listen(t, "output", ours, background)
	case c.HasStdin || c.OpenStdin:
		r, w, err := newPipe(true)
		if err != nil {
			return nil, err
		}
		theirs, t.input = append(theirs, r), newInput(w, false, c)
	default:
		null, err := os.Open(os.DevNull)
		if err != nil {
			return nil, fmt.Errorf("no command can be started: %v", err)
		}
		theirs = append(theirs, null)
	}
	kinds := []string{"output"}
	if background {
		kinds = []string{"stdout", "stderr"}
	}
	for _, kind := range kinds {
		r, w, err := newPipe(false)
		if err != nil {
			return theirs, err
		}
		theirs = append(theirs, w)
		if err := s.listen(t, kind, r, background); err != nil {
			return theirs, err
		}
	}
	return theirs, nil
}

// listen makes a stream of what t writes to r. With keep it has a log from the start.
func (s *Shell) listen(t *task, kind string, r *os.File, keep bool) error {
	log := &logFile{dir: &s.logs, name: t.id + "." + kind, max: s.cfg.MaxLog}
	st := newStream(r, log, t.out, len(t.streams))
	t.streams = append(t.streams, st)
	if !keep {
		return nil
	}
	st.came = t.came
	_, err := log.keep()
	return err
}

// follow starts what goes on beside a command: reading its output, feeding its input, and waiting for its end. It
// reports false if the session has ended.
func (s *Shell) follow(t *task, c Command, background bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.live[t] = struct{}{}
	if t.input != nil {
		s.wg.Go(func() { t.input.feed(c.Stdin, c.OpenStdin || c.TTY) })
	}
	var reading sync.WaitGroup
	for _, st := range t.streams {
		reading.Go(st.run)
	}
	s.wg.Go(func() {
		reading.Wait()
		close(t.drained)
	})
	var limit time.Duration
	if background { // else Run keeps the time
		limit = c.Timeout
	}
	s.wg.Go(func() { s.watch(t, limit) })
	return true
}

func nonEmpty(words ...string) []string {
	var out []string
	for _, w := range words {
		if w != "" {
			out = append(out, w)
		}
	}
	return out
}

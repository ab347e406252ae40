package shell

import (
	"os"
	"sync"
	"syscall"
	"time"

	"ferrule/shell/internal/clean"
)

// A Cleaner turns what a program wrote for a terminal into plain text.
type Cleaner = clean.Cleaner

// NewCleaner returns a Cleaner that hands cleaned text to emit, which must not keep the slice.
func NewCleaner(emit func([]byte)) *Cleaner { return clean.New(emit) }

// A job is what a herd starts. The files are the command's ends; the caller closes them after the start.
type job struct {
	shell                 shellProgram
	dir                   string
	env                   []string
	text                  string
	stdin, stdout, stderr *os.File
	tty                   bool // they are a terminal, which becomes that of the command's session
}

// An ending tells how a shell ended.
type ending struct {
	code   int            // 128 and the number of the signal, if one ended it
	signal syscall.Signal // 0: none
	dir    string         // where it was; "": nowhere, the directory is gone
	left   []Process      // what still ran at that moment
	lost   bool           // nobody saw the end: the helper was killed, or this system cannot tell the directory
	err    error          // it never began
}

// A stream carries the output of a command: from a pipe into its log as it is, and cleaned into the transcript. It is
// drained as long as anybody holds the pipe, also after the call has returned, for a closed pipe kills its writer and a
// full one stops it.
type stream struct {
	r    *os.File
	log  *logFile
	out  *transcript
	mark int           // which stream of the transcript
	came chan struct{} // has something in it since the last piece of output came; nil: nobody wants to know

	mu    sync.Mutex // guards what follows
	buf   []byte
	clean *Cleaner
	eof   bool
}

func newStream(r *os.File, log *logFile, out *transcript, mark int) *stream {
	s := &stream{r: r, log: log, out: out, mark: mark, buf: make([]byte, 64<<10)}
	s.clean = NewCleaner(func(p []byte) { out.write(mark, p) })
	return s
}

// run reads to the end of the output.
func (s *stream) run() {
	s.pump()
	s.r.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.eof = true
	s.clean.Close()
	s.buf, s.clean = nil, nil // a task is remembered for long
}

// use takes a piece of output. The caller holds s.mu.
func (s *stream) use(p []byte) {
	s.log.write(p)
	s.clean.Write(p)
	select {
	case s.came <- struct{}{}:
	default:
	}
}

// flush puts an unfinished line, such as a prompt, into the transcript.
func (s *stream) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clean != nil {
		s.clean.Flush()
	}
}

// lastLine returns the unfinished line as it stands now, or "".
func (s *stream) lastLine() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clean == nil {
		return ""
	}
	return clip(string(s.clean.Line()), 200)
}

// within waits until done is closed, at most for d and not longer than until hurry is closed, and says whether it was.
func within(done <-chan struct{}, d time.Duration, hurry <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
	case <-hurry:
	}
	return false
}

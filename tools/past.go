package tools

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ferrule/tools/internal/atomicfile"
	"ferrule/tools/internal/history"
	"ferrule/tools/internal/roots"
	"ferrule/tools/internal/text"
)

// A past is the history of one root, as this session has opened it. It is not
// changed once made.
type past struct {
	path string // of the root
	log  *history.Log
	torn []history.Entry // found when it was opened
	err  error           // why there is none
}

// past returns the history of the root, which has the given path. It is opened
// once; what a crash left open is settled then.
func (s *Session) past(root *os.Root, path string) *past {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pasts[path]
	if p == nil {
		p = &past{path: path}
		s.pasts[path] = p
		if s.cfg.State == "" {
			p.err = errors.New("no history is kept")
		} else if p.log, p.err = history.Open(s.historyDir(path), 0); p.err == nil {
			p.torn, p.err = p.log.Settle(root)
		}
	}
	return p
}

// historyDir is where the history of the root with the given path is kept.
func (s *Session) historyDir(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(s.cfg.State, "history", hex.EncodeToString(sum[:12]))
}

// settle ends what a crash of an earlier process left open in the roots that
// may be changed: it removes temporary files. Roots without a history are left
// alone, so that a session that changes nothing leaves no trace.
func (s *Session) settle() {
	if s.cfg.State == "" {
		return
	}
	for _, dir := range s.rootDirs() {
		if _, err := os.Stat(s.historyDir(dir)); err != nil {
			continue
		}
		if p, err := s.roots.Resolve(dir); err == nil {
			s.past(p.Root, rootOf(p))
		}
	}
}

// record makes the change that o describes one that can be taken back. It
// returns a note for the case that it cannot.
func (s *Session) record(o *atomicfile.Options, tool string, p roots.Place) (note func() string) {
	past := s.past(p.Root, rootOf(p))
	if past.log == nil {
		return func() string { return "(not undoable: " + reason(past.err) + ")" }
	}
	e := &history.Entry{Session: s.id, Tool: tool, Path: filepath.ToSlash(p.Rel)}
	past.log.Record(o, e)
	return func() string {
		if e.NotKept {
			return "(not undoable: the old content is over " + size(history.MaxContent) + ")"
		}
		return ""
	}
}

// UndoOptions say what to take back.
type UndoOptions struct {
	File    string // a path as a tool takes it; "" means the newest changes of any file
	Session string // changes of this session only; "" means of all
	Steps   int    // at least 1
	Redo    bool   // take back what Undo did instead

	may func(path string) error // asked about every file before anything is changed; nil: all may
}

// Undo takes back changes and says what it did. Either all steps are possible
// or nothing is changed.
func (s *Session) Undo(ctx context.Context, o UndoOptions) (string, error) {
	q := history.Query{Session: o.Session, Steps: o.Steps, Redo: o.Redo}
	past, root, err := s.pastOf(o, &q)
	if err != nil {
		return "", err
	}
	steps, err := past.log.Plan(q, func(path string) (*atomicfile.Sum, error) { return history.Sum(root, path) })
	if err != nil {
		return "", s.undoError(err, past, o)
	}
	if o.may != nil {
		for _, step := range steps {
			if err := o.may(past.file(step.Path)); err != nil {
				return "", err
			}
		}
	}
	var done []string
	for _, step := range steps {
		out, err := past.log.Apply(ctx, s.files, root, step, &history.Entry{Session: s.id, Tool: "Undo"})
		if err != nil {
			err = writeError(err, s.shown(past.file(step.Path)))
			if len(done) > 0 {
				err = fmt.Errorf("%s\nbut %v", strings.Join(done, "\n"), err)
			}
			return "", err
		}
		s.restored(past, step, out)
		done = append(done, s.took(past, step, out))
	}
	return strings.Join(done, "\n"), nil
}

// file returns the path of a file in the root.
func (p *past) file(rel string) string { return filepath.Join(p.path, filepath.FromSlash(rel)) }

// restored records what a step has made of a file. A file that the model knew
// it knows after Undo as well: it asked for the change itself.
func (s *Session) restored(p *past, step history.Step, out atomicfile.Outcome) {
	path := p.file(step.Path)
	switch {
	case !out.Written:
	case step.Restore == nil:
		s.seen.forget(path)
	case s.seen.knows(path):
		data, err := p.log.Blob(*step.Restore)
		if err != nil {
			s.seen.forget(path) // it has to be read again
			return
		}
		s.seen.written(path, out.Stamp, text.Lines(text.Decode(data, "").View()), false)
	}
}

// pastOf finds the history that o is about: that of the file's root, or the
// one with the newest change. It completes q.
func (s *Session) pastOf(o UndoOptions, q *history.Query) (newest *past, root *os.Root, err error) {
	if o.File != "" {
		p, err := s.writable(o.File)
		if err != nil {
			return nil, nil, err
		}
		q.Path = filepath.ToSlash(p.Rel)
		past := s.past(p.Root, rootOf(p))
		return past, p.Root, past.err
	}
	err = errNoRoot
	var at time.Time
	for past, r := range s.all() {
		if past.err != nil {
			return nil, nil, past.err
		}
		entries, err := past.log.Entries("", o.Session)
		if err != nil {
			return nil, nil, err
		}
		if newest == nil {
			newest, root = past, r
		}
		if len(entries) > 0 && entries[0].Time.After(at) {
			newest, root, at = past, r, entries[0].Time
		}
	}
	if newest != nil {
		err = nil
	}
	return newest, root, err
}

// all gives the roots that may be changed, with their histories.
func (s *Session) all() iter.Seq2[*past, *os.Root] {
	return func(yield func(*past, *os.Root) bool) {
		for _, dir := range s.rootDirs() {
			if p, err := s.resolve(dir, toChange); err == nil && !yield(s.past(p.Root, rootOf(p)), p.Root) {
				return
			}
		}
	}
}

func (s *Session) undoError(err error, p *past, o UndoOptions) error {
	var refused *history.Refused
	switch {
	case errors.As(err, &refused):
		return fmt.Errorf("%s: %s", s.shown(p.file(refused.Path)), refused.Why)
	case errors.Is(err, history.ErrNothing):
		what, of := "change", ""
		if o.Redo {
			what = "undo"
		}
		if o.File != "" {
			of = " of " + printable(o.File)
		}
		return fmt.Errorf("there is no %s%s left to take back", what, of)
	}
	return err
}

// took says what a step has done.
func (s *Session) took(p *past, step history.Step, out atomicfile.Outcome) string {
	name := s.shown(p.file(step.Path))
	e := step.Undoes[len(step.Undoes)-1]
	what := fmt.Sprintf("%s of %s", e.Tool, clock(e.Time))
	if n := len(step.Undoes); n > 1 {
		what = fmt.Sprintf("%d changes since %s", n, clock(e.Time))
	}
	switch {
	case step.Restore == nil:
		return fmt.Sprintf("removed %s, which was created by %s", name, what)
	case step.Expect == nil:
		return fmt.Sprintf("took back %s: %s is there again, %s", what, name, count(int(out.Stamp.Size), "byte"))
	}
	return fmt.Sprintf("took back %s: %s holds again what it held before, %s", what, name, count(int(out.Stamp.Size), "byte"))
}

func clock(t time.Time) string { return t.Local().Format("15:04:05") }

// Torn returns the paths of files that a crash left half written.
func (s *Session) Torn() (names []string) {
	for p := range s.all() {
		for _, e := range p.torn {
			names = append(names, s.roots.Display(p.file(e.Path)))
		}
	}
	return names
}

// WriteChanges lists the changes that can be looked at, newest first.
func (s *Session) WriteChanges(w io.Writer, o UndoOptions) error {
	path := ""
	if o.File != "" {
		p, err := s.writable(o.File)
		if err != nil {
			return err
		}
		path = filepath.ToSlash(p.Rel)
	}
	for p := range s.all() {
		if p.err != nil {
			return p.err
		}
		entries, err := p.log.Entries(path, o.Session)
		if err != nil {
			return err
		}
		for _, e := range entries {
			what := "changed"
			switch {
			case e.Before == nil:
				what = "created"
			case e.After == nil:
				what = "removed"
			}
			if _, err := fmt.Fprintf(w, "%s  session %s  %-9s  %-7s  %s\n", e.Time.Local().Format(time.DateTime),
				cmp.Or(e.Session, "-"), e.Tool, what, s.shown(p.file(e.Path))); err != nil {
				return err
			}
		}
	}
	return nil
}

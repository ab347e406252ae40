package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ferrule/tools/internal/atomicfile"
)

// Query says what to take back.
type Query struct {
	Path    string // one file; "" means all files
	Session string // only changes of this session; "" means of all
	Steps   int    // how many changes, at least 1
	Redo    bool   // take back undos instead: each one counts as a step, however many changes it took back
}

// Step is what must be done to one file.
type Step struct {
	Path     string
	Expect   *atomicfile.Sum // what the file must hold; nil: it must not exist
	Restore  *atomicfile.Sum // the blob to write; nil: remove the file
	MadeDirs []string        // folders to remove with it if they are empty
	Undoes   []Entry         // what is taken back, newest first
}

// ErrNothing says that there is nothing to take back.
var ErrNothing = errors.New("there is no change left to take back")

// Refused is the error for a step that would destroy something, or that has nothing to bring back.
type Refused struct {
	Path  string
	Why   string // a sentence without the path
	Entry Entry  // the change that was to be taken back
}

func (r *Refused) Error() string { return r.Path + ": " + r.Why }

// track is the history of one file: the stack of changes that count, and that of the undos that can be redone.
type track struct {
	newest     *Entry
	live, redo []*Entry
}

// tracks builds the stacks. l.mu is held.
func (l *Log) tracks() map[string]*track {
	all := map[string]*track{}
	for _, e := range l.entries {
		if e.State != Done {
			continue
		}
		t := all[e.Path]
		if t == nil {
			t = &track{}
			all[e.Path] = t
		}
		t.newest = e
		switch l.kind(e) {
		case change:
			t.live, t.redo = append(t.live, e), nil
		case undo:
			t.live = slices.DeleteFunc(t.live, func(x *Entry) bool { return slices.Contains(e.Undoes, x.ID) })
			t.redo = append(t.redo, e)
		case redo:
			t.redo = slices.DeleteFunc(t.redo, func(x *Entry) bool { return slices.Contains(e.Undoes, x.ID) })
			for _, u := range e.Undoes {
				if x := l.byID[u]; x != nil {
					t.live = append(t.live, l.oldestFirst(x.Undoes)...)
				}
			}
		}
	}
	return all
}

type kind int

const (
	change kind = iota
	undo
	redo
)

func (l *Log) kind(e *Entry) kind {
	if len(e.Undoes) == 0 {
		return change
	}
	if x := l.byID[e.Undoes[0]]; x != nil && len(x.Undoes) > 0 {
		return redo
	}
	return undo
}

func (l *Log) oldestFirst(ids []string) (es []*Entry) {
	for _, id := range slices.Backward(ids) {
		if e := l.byID[id]; e != nil {
			es = append(es, e)
		}
	}
	return es
}

// Plan says what an undo or redo must do. now tells what a file holds at present, as [Sum] does. Nothing is planned
// unless every step is possible; else the error is ErrNothing or a *Refused. Steps are in the order of the newest
// change first, one per file.
func (l *Log) Plan(q Query, now func(path string) (*atomicfile.Sum, error)) ([]Step, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(); err != nil {
		return nil, err
	}
	all := l.tracks()
	wanted := l.choose(q, all)
	if len(wanted) == 0 {
		return nil, ErrNothing
	}
	var steps []Step
	for _, es := range wanted {
		s, err := l.step(all[es[0].Path], es, q.Redo)
		if err != nil {
			return nil, err
		}
		held, err := now(s.Path)
		if err != nil {
			return nil, &Refused{s.Path, "it cannot be compared with what the change left: " + err.Error(), s.Undoes[0]}
		}
		if !equal(held, s.Expect) {
			return nil, &Refused{s.Path, differs(held, all[s.Path].newest), s.Undoes[0]}
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// choose picks the newest changes and groups them by file, newest first.
func (l *Log) choose(q Query, all map[string]*track) (groups [][]*Entry) {
	counts := map[*Entry]bool{}
	for _, t := range all {
		stack := t.live
		if q.Redo {
			stack = t.redo
		}
		for _, e := range stack {
			counts[e] = true
		}
	}
	left := max(q.Steps, 1)
	at := map[string]int{}
	for _, e := range slices.Backward(l.entries) {
		if left == 0 {
			break
		}
		if !counts[e] || q.Path != "" && e.Path != q.Path || q.Session != "" && e.Session != q.Session {
			continue
		}
		left--
		i, ok := at[e.Path]
		if !ok {
			i = len(groups)
			at[e.Path] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], e)
	}
	return groups
}

// step checks that es are the newest of their file and follow each other without a gap, and sums them up.
func (l *Log) step(t *track, es []*Entry, redo bool) (Step, error) {
	stack := t.live
	if redo {
		stack = t.redo
	}
	s := Step{Path: es[0].Path, Expect: t.newest.After, Restore: t.newest.After}
	for i, e := range es {
		refuse := func(why string) (Step, error) { return s, &Refused{e.Path, why, *e} }
		if top := stack[len(stack)-1-i]; top != e {
			return refuse(fmt.Sprintf("it was changed later by another session (%s at %s); take that back first",
				top.Tool, clock(top.Time)))
		}
		if !equal(e.After, s.Restore) {
			return refuse(fmt.Sprintf("between the change at %s and the next one something else changed it; take back fewer steps",
				clock(e.Time)))
		}
		if e.Before != nil && (e.NotKept || !l.has(*e.Before)) {
			return refuse(fmt.Sprintf("its content from before the change at %s is not kept", clock(e.Time)))
		}
		s.Restore = e.Before
		if e.Before == nil {
			s.MadeDirs = e.MadeDirs
		}
		s.Undoes = append(s.Undoes, *e)
	}
	return s, nil
}

func differs(held *atomicfile.Sum, e *Entry) string {
	what := "changed"
	switch {
	case held == nil:
		what = "removed"
	case e.After == nil:
		what = "made anew"
	}
	return fmt.Sprintf("it was %s by something else after the last recorded change (%s at %s), so nothing is taken back",
		what, e.Tool, clock(e.Time))
}

func clock(t time.Time) string { return t.Local().Format(time.DateTime) }

// Apply does a step, if the file still holds what the step expects, and records it with Session and Tool of e, which
// holds the whole entry afterwards. If the file has changed since Plan, the error is [atomicfile.ErrStale].
func (l *Log) Apply(ctx context.Context, files *atomicfile.Files, root *os.Root, s Step, e *Entry) (atomicfile.Outcome, error) {
	e.Path, e.Undoes = s.Path, nil
	for _, u := range s.Undoes {
		e.Undoes = append(e.Undoes, u.ID)
	}
	if equal(s.Restore, s.Expect) {
		return atomicfile.Outcome{}, l.note(root, s, e)
	}
	o := atomicfile.Options{Parents: true}
	l.Record(&o, e)
	rel := filepath.FromSlash(s.Path)
	if s.Restore == nil {
		return files.Remove(ctx, root, rel, o, local(s.MadeDirs), func(old atomicfile.Content) error {
			if !equal(&old.Stamp.Sum, s.Expect) {
				return atomicfile.ErrStale
			}
			return nil
		})
	}
	data, err := l.Blob(*s.Restore)
	if err != nil {
		return atomicfile.Outcome{}, err
	}
	return files.Update(ctx, root, rel, o, func(old *atomicfile.Content) ([]byte, error) {
		if old == nil && s.Expect != nil || old != nil && !equal(&old.Stamp.Sum, s.Expect) {
			return nil, atomicfile.ErrStale
		}
		return data, nil
	})
}

// note records a step after which the file is as before, such as two changes of which the second took back the first.
func (l *Log) note(root *os.Root, s Step, e *Entry) error {
	now, err := Sum(root, s.Path)
	if err != nil {
		return err
	}
	if !equal(now, s.Expect) {
		return atomicfile.ErrStale
	}
	var content []byte
	if now != nil {
		if content, err = l.Blob(*now); err != nil {
			return err
		}
	}
	e.Before, e.After = now, now
	if *e, err = l.Begin(*e, content); err != nil {
		return err
	}
	e.State = Done
	return l.End(e.ID, Done)
}

package history

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// model is what the history should be, told with strings: each file is its content ("-": none), what the last recorded
// change left, the changes that count and the undos that can be redone.
type model struct {
	files map[string]*modelFile
	seq   int
}

type modelFile struct {
	content, left string
	live, undone  []modelChange
}

type modelChange struct {
	before, after, session string
	seq                    int
	took                   []modelChange // by an undo, newest first
}

func (m *model) write(path, content, session string) {
	f := m.files[path]
	if f.content == content {
		return
	}
	m.seq++
	f.live = append(f.live, modelChange{before: f.content, after: content, session: session, seq: m.seq})
	f.content, f.left, f.undone = content, content, nil
}

// take does what Plan and Apply should, or nothing and false.
func (m *model) take(q Query) bool {
	type pick struct {
		path string
		c    modelChange
	}
	var picks []pick
	for path, f := range m.files {
		stack := f.live
		if q.Redo {
			stack = f.undone
		}
		for _, c := range stack {
			if (q.Path == "" || q.Path == path) && (q.Session == "" || q.Session == c.session) {
				picks = append(picks, pick{path, c})
			}
		}
	}
	slices.SortFunc(picks, func(a, b pick) int { return b.c.seq - a.c.seq })
	picks = picks[:min(len(picks), q.Steps)]
	if len(picks) == 0 {
		return false
	}
	taken := map[string][]modelChange{}
	var order []string
	for _, p := range picks {
		if taken[p.path] == nil {
			order = append(order, p.path)
		}
		taken[p.path] = append(taken[p.path], p.c)
	}
	for path, cs := range taken {
		f := m.files[path]
		stack := f.live
		if q.Redo {
			stack = f.undone
		}
		at := f.left
		if f.content != f.left {
			return false
		}
		for i, c := range cs {
			if stack[len(stack)-1-i].seq != c.seq || c.after != at {
				return false
			}
			at = c.before
		}
	}
	for _, path := range order {
		m.applied(m.files[path], taken[path], q)
	}
	return true
}

func (m *model) applied(f *modelFile, cs []modelChange, q Query) {
	m.seq++
	was := f.content
	f.content = cs[len(cs)-1].before
	f.left = f.content
	if !q.Redo {
		f.live = f.live[:len(f.live)-len(cs)]
		f.undone = append(f.undone, modelChange{before: was, after: f.content, session: q.Session, seq: m.seq, took: cs})
		return
	}
	f.undone = f.undone[:len(f.undone)-len(cs)]
	for _, u := range cs {
		for _, c := range slices.Backward(u.took) {
			f.live = append(f.live, c)
		}
	}
}

// FuzzHistory compares sequences of writes of two sessions, of another program, of undos and redos with the model. Each
// step is two bytes.
func FuzzHistory(f *testing.F) {
	f.Add([]byte("\x00\x01\x00\x02\x04\x00\x04\x00\x05\x00"))
	f.Add([]byte("\x00\x01\x08\x02\x10\x03\x06\x01\x07\x01\x06\x02\x03\x00\x04\x00"))
	f.Add([]byte("\x00\x01\x00\x02\x00\x03\x04\x02\x05\x00\x04\x00\x04\x00\x05\x01\x04\x02\x09\x00"))
	f.Add([]byte("\x00\x01\x40\x02\x46\x00\x06\x00\x02\x00\x04\x00\x01\x01\x00\x01\x04\x01\x05\x01"))
	f.Add([]byte("\x00\x01\x00\x02\x00\x01\x04\x01\x04\x00\x05\x00\x05\x00\x0a\x01\x0b\x05\x0c\x00"))
	src := rand.NewChaCha8([32]byte{})
	for range 20 {
		ops := make([]byte, 80)
		src.Read(ops)
		f.Add(ops)
	}
	f.Fuzz(func(t *testing.T, ops []byte) {
		ops = ops[:min(len(ops), 80)]
		b := newBench(t)
		paths := []string{"f", "d/g", "d/e/h"}
		m := &model{files: map[string]*modelFile{}}
		for _, p := range paths {
			m.files[p] = &modelFile{content: "-", left: "-"}
		}
		for i := 0; i+1 < len(ops); i += 2 {
			m.compare(t, b, paths, ops[i], ops[i+1])
		}
		b.reopen(0)
		if torn, err := b.log.Settle(b.root); err != nil || len(torn) > 0 {
			t.Fatal(torn, err)
		}
		for _, e := range b.entries("", "") {
			if e.State != Done {
				t.Fatalf("%+v", e)
			}
			if e.Before != nil {
				if _, err := b.log.Blob(*e.Before); err != nil {
					t.Fatal(fmt.Sprint(e), err)
				}
			}
		}
	})
}

// compare does one step on both sides.
func (m *model) compare(t *testing.T, b *bench, paths []string, op, arg byte) {
	path, session := paths[int(op>>3)%3], string("st"[op>>6&1])
	q := Query{Path: path, Steps: 1 + int(arg)%3}
	content := string("abc"[arg%3])
	switch op & 7 {
	case 0, 1:
		m.write(path, content, session)
		b.write(path, content, session)
		return
	case 2:
		m.files[path].content = content
		b.foreign(path, content)
		return
	case 3:
		m.files[path].content = "-"
		b.remove(path)
		return
	case 5:
		q.Redo = true
	case 6:
		q.Path, q.Session = "", session
	case 7:
		q.Path, q.Session, q.Redo = "", session, true
	}
	if arg > 200 {
		b.reopen(0)
	}
	want := m.take(q)
	err := b.take(q)
	var r *Refused
	if (err == nil) != want || err != nil && !errors.Is(err, ErrNothing) && !errors.As(err, &r) {
		t.Fatalf("%+v: got %v, want done %v", q, err, want)
	}
	for _, p := range paths {
		if got, want := b.get(p), m.files[p].content; got != want {
			t.Fatalf("%+v: %s holds %q, want %q", q, p, got, want)
		}
	}
}

package history

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"ferrule/tools/internal/atomicfile"
)

// Settle decides what became of the changes that a dead process left open, by looking at the files below root, and
// removes its temporary files. Changes in work, by this process or another that lives, are left alone. It returns the
// torn ones among them: those whose file holds neither the old nor the new content, and those whose temporary file
// holds somebody else's version, which stays.
func (l *Log) Settle(root *os.Root) (torn []Entry, err error) {
	unlock, err := l.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(); err != nil {
		return nil, err
	}
	living := map[string]bool{}
	for _, e := range l.entries {
		if e.State != Pending {
			continue
		}
		alive, asked := living[e.Owner]
		if !asked {
			alive = l.lives(e.Owner)
			living[e.Owner] = alive
		}
		if alive {
			continue
		}
		s := settle(root, e)
		if err := l.append(event{What: string(s), Entry: e}); err != nil {
			return torn, err
		}
		if s == Torn {
			t := *e
			t.State = Torn
			torn = append(torn, t)
		}
	}
	return torn, l.refresh()
}

func settle(root *os.Root, e *Entry) State {
	now, err := Sum(root, e.Path)
	state := Torn
	switch {
	case err != nil:
	case equal(now, e.Before):
		state = Void
	case equal(now, e.After):
		state = Done
	}
	if e.Temp != "" && !sweep(root, e, state) {
		state = Torn
	}
	if state == Void {
		atomicfile.RemoveDirs(root, local(e.MadeDirs))
	}
	return state
}

// sweep removes the temporary file of a change, unless it holds somebody else's version: that can only be when the
// exchange has taken place and was not looked at yet, so that the name does not hold the old content. It reports
// whether nothing is left.
func sweep(root *os.Root, e *Entry, s State) bool {
	if !atomicfile.IsTemp(e.Temp) {
		return false
	}
	name := path.Join(path.Dir(e.Path), e.Temp)
	sum, err := Sum(root, name)
	if err == nil && sum == nil {
		return true
	}
	if err != nil || s != Void && !equal(sum, e.Before) && !equal(sum, e.After) {
		return false
	}
	err = root.Remove(filepath.FromSlash(name))
	return err == nil || errors.Is(err, fs.ErrNotExist)
}

// Sum returns the hash of the present content of a file, nil if there is none. rel is as in Entry.Path.
func Sum(root *os.Root, rel string) (*atomicfile.Sum, error) {
	f, err := atomicfile.Open(root, filepath.FromSlash(rel))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, st, err := atomicfile.Read(f, atomicfile.MaxSize)
	return &st.Sum, err
}

func equal(a, b *atomicfile.Sum) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func local(dirs []string) []string {
	out := make([]string, len(dirs))
	for i, d := range dirs {
		out[i] = filepath.FromSlash(d)
	}
	return out
}

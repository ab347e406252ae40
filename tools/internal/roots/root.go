package roots

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// maxReplaced is how many replaced folders of a root stay open for places that still point into them.
const maxReplaced = 4

// root is one root and the folder that is held for it. The folder is held by descriptor, so renaming it changes
// nothing. Before each use the root's name is looked at again (1–2 µs): if another real folder stands there now, as
// after a fresh checkout, that one is opened instead. It is not opened if the name has become a link to somewhere,
// since a root must not be widened by whoever can make links.
type root struct {
	real      string // absolute, clean, without links at the time of Open
	prefix    string // real with a separator at its end
	readOnly  bool
	nested    bool       // another root lies inside
	aliases   []string   // absolute names it was given by, where they differ from real
	spellings [][]string // components of real and of aliases

	mu       sync.Mutex // guards what follows
	held     *held      // nil once closed
	replaced []*held
	told     string // the last note, so that it is told once
}

// held is an open folder: once for work through os.Root, once as a descriptor for openat2, which os.Root hides.
type held struct {
	real string
	root *os.Root
	dir  *os.File
	info fs.FileInfo
}

func openRoot(name string, readOnly bool) (*root, error) {
	if name == "" || strings.IndexByte(name, 0) >= 0 {
		return nil, fmt.Errorf("%q is not the name of a folder", name)
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, explain(name, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, explain(name, err)
	}
	fi, err := os.Stat(real)
	if err != nil {
		return nil, explain(name, err)
	}
	if !fi.IsDir() { // looked at first, because opening a FIFO would wait
		return nil, &KindError{Given: name, Kind: kindOf(fi.Mode()), dir: true}
	}
	h, err := hold(real)
	if err != nil {
		return nil, explain(name, err)
	}
	r := &root{real: real, readOnly: readOnly, held: h}
	r.prefix = strings.TrimSuffix(real, string(filepath.Separator)) + string(filepath.Separator)
	r.spellings = [][]string{withoutEmpty(parts(real))}
	if abs != real {
		r.aliases = []string{abs}
		r.spellings = append(r.spellings, withoutEmpty(parts(abs)))
	}
	return r, nil
}

func withoutEmpty(names []string) []string {
	return slices.DeleteFunc(names, func(c string) bool { return c == "" })
}

func hold(real string) (*held, error) {
	h := &held{real: real}
	var err error
	if h.root, err = os.OpenRoot(real); err != nil {
		return nil, err
	}
	if h.dir, err = h.root.Open("."); err != nil {
		return nil, errors.Join(err, h.root.Close())
	}
	if h.info, err = h.dir.Stat(); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// lstat looks at a name below, which need not but should be free of links before its last component: then it takes
// one system call and not one for each component.
func (h *held) lstat(rel string) (fs.FileInfo, error) {
	fi, err := lstatDirect(h.dir, rel)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return fi, err
	}
	return h.root.Lstat(rel)
}

func (h *held) close() error { return errors.Join(h.dir.Close(), h.root.Close()) }

// holdAgain opens the folder that stands at real now, and fails if a link is on the way to it.
func holdAgain(real string) (*held, error) {
	h, err := hold(real)
	if err != nil {
		return nil, err
	}
	now, err := statDirect(nil, real)
	if errors.Is(err, errors.ErrUnsupported) {
		// The portable look is two steps, and a swap between them goes unseen.
		var end string
		if end, err = filepath.EvalSymlinks(real); err == nil && end != real {
			err = errLink
		}
		if err == nil {
			now, err = os.Lstat(real)
		}
	}
	if err == nil && !os.SameFile(now, h.info) {
		err = errLink
	}
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// below returns the name of a real path relative to the root, "." for the root itself.
func (r *root) below(abs string) (rel string, ok bool) {
	if abs == r.real {
		return ".", true
	}
	return strings.CutPrefix(abs, r.prefix)
}

// is says whether fi is the folder that is held.
func (r *root) is(fi fs.FileInfo) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held != nil && os.SameFile(fi, r.held.info)
}

// current returns the folder to use and, once for each change, a sentence if it is not simply the one that was opened
// under the root's name. It returns nil once the root is closed.
func (r *root) current() (*held, string) {
	r.mu.Lock()
	h := r.held
	r.mu.Unlock()
	if h == nil {
		return nil, ""
	}
	fi, err := os.Stat(r.real)
	if err != nil {
		return h, r.tell(fmt.Sprintf("the folder %s is no longer found under that name; the folder opened there before "+
			"is still used", Quoted(r.real)))
	}
	if !os.SameFile(fi, h.info) {
		return r.renew(h)
	}
	for _, alias := range r.aliases {
		if fi, err := os.Stat(alias); err == nil && !os.SameFile(fi, h.info) {
			return h, r.tell(fmt.Sprintf("%s now leads to another folder; %s is still used for it", Quoted(alias),
				Quoted(r.real)))
		}
	}
	return h, r.tell("")
}

func (r *root) renew(before *held) (*held, string) {
	h, err := holdAgain(r.real)
	if err != nil {
		return before, r.tell(fmt.Sprintf("%s now leads elsewhere; the folder opened there before is still used",
			Quoted(r.real)))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held != before { // closed, or renewed by another goroutine, which tells it
		_ = h.close() // only read from, nothing can be lost
		return r.held, ""
	}
	r.held, r.told = h, ""
	if r.replaced = append(r.replaced, before); len(r.replaced) > maxReplaced {
		_ = r.replaced[0].close() // as above
		r.replaced = slices.Delete(r.replaced, 0, 1)
	}
	return h, fmt.Sprintf("the folder %s was replaced by another one, which is used from now on", Quoted(r.real))
}

// tell returns the note if it is a new one.
func (r *root) tell(note string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if note == r.told {
		return ""
	}
	r.told = note
	return note
}

func (r *root) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held == nil {
		return nil
	}
	var err error
	for _, h := range append(r.replaced, r.held) {
		err = errors.Join(err, h.close())
	}
	r.held, r.replaced = nil, nil
	return err
}

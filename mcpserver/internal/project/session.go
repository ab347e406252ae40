package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ferrule/prompts"
)

// WorkingDir returns the working directory that a client named, and the roots, all
// free of links. Without a name it is the first root, or "" when there is none.
func WorkingDir(roots []string, name string) (real []string, cwd string, err error) {
	for _, root := range roots {
		if r, err := filepath.EvalSymlinks(root); err == nil {
			real = append(real, r)
		}
	}
	if name == "" && len(real) == 0 {
		return nil, "", nil
	}
	if len(real) == 0 {
		return nil, "", errors.New("there is no project folder in which cwd could be: start ferrule in a project's directory or with --root DIR")
	}
	path := filepath.FromSlash(cmp.Or(name, "."))
	if !filepath.IsAbs(path) {
		path = filepath.Join(real[0], path)
	}
	if cwd, err = filepath.EvalSymlinks(path); err != nil {
		return nil, "", fmt.Errorf("cwd %s does not exist; give a directory inside the project folders", name)
	}
	if fi, err := os.Stat(cwd); err != nil || !fi.IsDir() {
		return nil, "", fmt.Errorf("cwd %s is not a directory; give a directory inside the project folders", name)
	}
	if !slices.ContainsFunc(real, func(root string) bool { return Within(root, cwd) }) {
		return nil, "", fmt.Errorf("cwd %s is outside of the project folders, which are %s", name, strings.Join(roots, ", "))
	}
	return real, cwd, nil
}

// IfThere makes of open one that answers fs.ErrNotExist for a file that is not
// there, which most instruction files are not. The errors of open may be made for
// a model, with names that are near.
func IfThere(open func(path string) ([]byte, error)) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, fs.ErrNotExist
		}
		return open(path)
	}
}

const (
	frozenDirs  = 64
	frozenFiles = 4096 // paths of instruction files, and of directories touched, that are kept
)

// A Frozen keeps what the prompts of one session say of its beginning, so that a
// later request gets the same bytes: the date, and the state of git and the memory
// index of each directory. It also knows which instruction files the client has got. The zero
// value is ready; it may be used concurrently.
type Frozen struct {
	mu      sync.Mutex
	today   string
	repos   map[string]func() repoFacts // for at most frozenDirs directories; others are looked at anew
	indexes map[string]func() string    // likewise
	given   map[string]bool             // instruction files, by path
	touched map[string]bool             // directories
}

type repoFacts struct {
	text string
	repo bool
}

// Date returns the day of the first call.
func (f *Frozen) Date(now func() time.Time) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.today == "" {
		f.today = now().Format(time.DateOnly)
	}
	return f.today
}

// Git returns what snapshot says of dir when it is asked first. The end of ctx
// does not end it, since others may wait for the same answer; it has a limit of
// its own.
func (f *Frozen) Git(ctx context.Context, dir string, snapshot func(context.Context, string) (string, bool)) (text string, repo bool) {
	r := first(f, &f.repos, dir, func() repoFacts {
		text, repo := snapshot(context.WithoutCancel(ctx), dir)
		return repoFacts{text, repo}
	})
	return r.text, r.repo
}

// Index returns what read says when it is first asked for dir: what is remembered
// of earlier sessions does not change by what this one adds.
func (f *Frozen) Index(dir string, read func(dir string) string) string {
	return first(f, &f.indexes, dir, func() string { return read(dir) })
}

// first returns what make returned for key when it was first called for it. Who
// comes meanwhile waits for that.
func first[T any](f *Frozen, known *map[string]func() T, key string, make func() T) T {
	f.mu.Lock()
	once := (*known)[key]
	if once == nil {
		once = sync.OnceValue(make)
		if *known == nil {
			*known = map[string]func() T{}
		}
		if len(*known) < frozenDirs {
			(*known)[key] = once
		}
	}
	f.mu.Unlock()
	return once()
}

// Give records that the client has got these files.
func (f *Frozen) Give(files []prompts.File) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range files {
		remember(&f.given, x.Path)
	}
}

// Has reports whether the client has got the file at path.
func (f *Frozen) Has(path string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.given[path]
}

// Touch reports whether dir is touched for the first time.
func (f *Frozen) Touch(dir string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return remember(&f.touched, dir)
}

// remember puts s into a set and reports whether it was not there. A set that is
// full takes nothing more.
func remember(set *map[string]bool, s string) bool {
	if *set == nil {
		*set = make(map[string]bool)
	}
	if (*set)[s] || len(*set) >= frozenFiles {
		return false
	}
	(*set)[s] = true
	return true
}

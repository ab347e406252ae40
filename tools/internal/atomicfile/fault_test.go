package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// faulty lets the n-th call fail, before or after it has done its work. Calls named in lacks are never known. Flushing
// is not waited for: the machine does not lose its power here.
type faulty struct {
	n, count int
	err      error
	after    bool
	lacks    string
	ops      []string
}

func (s *faulty) call(op string, f func() error) error {
	if strings.Contains(s.lacks, op) {
		return syscall.EOPNOTSUPP
	}
	if op == "fsync" {
		f = func() error { return nil }
	}
	s.count++
	s.ops = append(s.ops, op)
	if s.count == s.n {
		if s.after {
			_ = (kernel{}).call(op, f)
		}
		return s.err
	}
	return (kernel{}).call(op, f)
}

const faultOld, faultNew = "old content, the longer of the two\n", "new\n"

// faultCase is one way through the package.
type faultCase struct {
	name, lacks string
	missing     bool // there is no old file
	link        bool // the old file has two names
	remove      bool
}

// TestFaultAtEveryCall lets every single call fail with every error: the file holds the old or the new content, the
// result says which, and nothing else is left in the folder.
func TestFaultAtEveryCall(t *testing.T) {
	t.Parallel()
	errnos := []syscall.Errno{syscall.EIO, syscall.EACCES, syscall.EPERM, syscall.ENOENT, syscall.EINVAL}
	if nightly() {
		errnos = append(errnos, syscall.ENOSPC, syscall.EROFS, syscall.EEXIST, syscall.EXDEV, syscall.EBUSY, syscall.EMFILE,
			syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EISDIR, syscall.EDQUOT)
	}
	believed := []string{"unlinkat", "remove", "fstatat", "lstat"} // if they answer that a name is not there
	for _, c := range []faultCase{
		{name: "replace"},
		{name: "replace, named", lacks: "tmpfile"},
		{name: "replace, no exchange", lacks: "exchange"},
		{name: "in place", link: true},
		{name: "create", missing: true},
		{name: "create, named", missing: true, lacks: "tmpfile"},
		{name: "create, named, no rename", missing: true, lacks: "tmpfile noreplace"},
		{name: "create, named, only rename", missing: true, lacks: "tmpfile noreplace linkat"},
		{name: "remove", remove: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.link && runtime.GOOS == "windows" {
				t.Skip("hard links are not seen here")
			}
			dry := &faulty{lacks: c.lacks}
			c.try(t, dry)
			runs := 1
			for n, op := range dry.ops {
				for _, err := range errnos {
					if err == syscall.ENOENT && slices.Contains(believed, op) {
						continue
					}
					c.try(t, &faulty{n: n + 1, err: err, lacks: c.lacks})
					c.try(t, &faulty{n: n + 1, err: err, lacks: c.lacks, after: true})
					runs += 2
				}
			}
			t.Logf("%d runs over %v", runs, dry.ops)
		})
	}
}

// try makes one run in a folder of its own.
func (c *faultCase) try(t *testing.T, s *faulty) {
	dir := t.TempDir()
	f := filepath.Join(dir, "d", "f")
	if !c.missing {
		put(t, f, faultOld)
	}
	if c.link {
		if err := os.Link(f, filepath.Join(dir, "d", "l")); err != nil {
			t.Skip("no hard links:", err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	begun, ended := 0, 0
	o := Options{Parents: true, Begin: func(Plan) error { begun++; return nil }, End: func(Outcome, error) { ended++ }}
	w, rel := &Files{sync: SyncFull, sys: s}, filepath.Join("d", "f")
	var out Outcome
	if c.remove {
		out, err = w.Remove(t.Context(), root, rel, o, nil, func(Content) error { return nil })
	} else {
		out, err = w.Update(t.Context(), root, rel, o, to(faultNew))
	}
	same(t, "calls of End", ended, begun)
	if err == nil && !out.Written {
		t.Error("neither error nor written")
	}
	names, content := []string{"d", "d/f"}, faultNew
	switch {
	case c.remove && out.Written:
		names = []string{"d"}
	case c.missing && !out.Written:
		names = nil // the folder was made for it
	case c.link:
		names = append(names, "d/l")
	}
	if !out.Written {
		content = faultOld
	}
	same(t, "names", list(t, dir), names)
	if len(names) > 1 {
		same(t, "content", get(t, f), content)
	}
	if t.Failed() {
		t.Fatalf("call %d of %v with %v (after: %v): %+v, %v", s.n, s.ops, s.err, s.after, out, err)
	}
}

// TestTorn: only if the old bytes cannot be put back either, the file is damaged, and this is told.
func TestTorn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("old"); err != nil {
		t.Fatal(err)
	}
	complete, err := rewrite(brokenFrom{op: "ftruncate"}, f, []byte("old"), []byte("n"), SyncNone)
	if complete || !errors.Is(err, ErrTorn) || !errors.Is(err, syscall.EIO) {
		t.Error(complete, err)
	}
	same(t, "message", bare(err), fmt.Sprintf("%v: %v", ErrTorn, syscall.EIO))
}

// brokenFrom never does one kind of call.
type brokenFrom struct{ op string }

func (s brokenFrom) call(op string, f func() error) error {
	if op == s.op {
		return syscall.EIO
	}
	return f()
}

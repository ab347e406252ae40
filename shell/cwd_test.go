//go:build linux && !portable

package shell

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ferrule/shell/internal/clean"
)

// place makes the folders that the commands of these tests go to.
func place(t *testing.T, root string) {
	t.Helper()
	for _, d := range []string{"a/b", "sub", "a b", "with\nnewline", "raw\xff"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a/b", filepath.Join(root, "ln")); err != nil {
		t.Fatal(err)
	}
}

// S082–S101, H071–H073: where the next command runs, in every form of leaving.
func TestDirectory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		command, dir string
		code         int
		reset        bool
	}{
		{"cd a", "a", 0, false},                                         // S082
		{"cd a/b && exit 3", "a/b", 3, false},                           // S083
		{"(cd a/b)", "", 0, false},                                      // S084
		{"cd a | cat", "", 0, false},                                    // S085
		{"cd a & wait", "", 0, false},                                   // S086
		{"cd ln", "a/b", 0, false},                                      // S087
		{"cd $'with\\nnewline'", "with\nnewline", 0, false},             // S088
		{"cd a; false", "a", 1, false},                                  // S089
		{"cd a; syntax error here (", "", 2, false},                     // S090
		{"pushd a/b >/dev/null", "a/b", 0, false},                       // S091
		{"set -e; cd a; false; cd b", "a", 1, false},                    // S092
		{"cd a; exec true", "a", 0, false},                              // S093
		{"cd a; kill -9 $$", "a", 137, false},                           // S094
		{"cd a; trap 'echo mine' EXIT", "a", 0, false},                  // S095
		{"cd a; exec 3>&-", "a", 0, false},                              // S096
		{"cd a; exec 1>&- 2>&- 3>&-", "a", 0, false},                    // S097
		{"mkdir gone; cd gone; rmdir ../gone", "", 0, true},             // S098
		{"cd /", "", 0, true},                                           // S099
		{"cd nowhere", "", 1, false},                                    // nothing happened
		{"cd 'a b'; exec true", "a b", 0, false},                        // H073
		{"trap 'echo bye' EXIT; cd sub", "sub", 0, false},               // H073
		{"cd $'raw\\xff'", "raw\xff", 0, false},                         // a name that is no UTF-8
		{"cd a; cd .. ; cd ./sub/../a", "a", 0, false},                  //
		{"cd a; kill -9 $PPID; sleep 5", "", 137, true},                 // the helper is killed: nobody can tell
		{"mkdir g; cd g; mv ../g ../h; cd .", "h", 0, false},            // renamed meanwhile
		{"cd a; sleep 60 >/dev/null 2>&1 & cd ../sub", "sub", 0, false}, // a child with another directory
	} {
		s, root := newShell(t, Config{pace: faster})
		place(t, root)
		r := do(t, s, c.command)
		want := filepath.Join(root, c.dir)
		if r.Dir != want || r.Code != c.code || c.reset != (r.DirNote != "") {
			t.Errorf("%q: in %q with code %d and note %q, output %q; want %q, %d", c.command, r.Dir, r.Code, r.DirNote,
				r.Output, want, c.code)
		}
		if r := do(t, s, "pwd"); r.Output != clean.String(want)+"\n" || r.DirNote != "" {
			t.Errorf("%q: next in %q, note %q", c.command, r.Output, r.DirNote)
		}
	}
}

// S100, S101: a time limit loses neither the directory nor the output.
func TestDirectoryAfterTimeout(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"cd a; echo partial; sleep 30",
		"cd a; trap '' TERM; echo partial; while :; do sleep .05; done",
	} {
		s, root := newShell(t, Config{pace: faster})
		place(t, root)
		r := doWithin(t, s, command, 1500*time.Millisecond)
		if !r.TimedOut || r.Dir != filepath.Join(root, "a") || r.Output != "partial\n" || r.Wall > 5*time.Second {
			t.Errorf("%q: %+v", command, r)
		}
	}
}

// H071: somebody else removes the working directory.
func TestDirectoryRemoved(t *testing.T) {
	t.Parallel()
	s, root := newShell(t, Config{})
	do(t, s, "mkdir t; cd t")
	if err := os.RemoveAll(filepath.Join(root, "t")); err != nil {
		t.Fatal(err)
	}
	if r := do(t, s, "echo hi; pwd"); r.Output != "hi\n"+root+"\n" || !strings.Contains(r.DirNote, "/t is gone") {
		t.Errorf("%q, note %q", r.Output, r.DirNote)
	}
}

// H072: leaving the project is told once, and has no effect.
func TestDirectoryOutside(t *testing.T) {
	t.Parallel()
	s, root := newShell(t, Config{})
	if r := do(t, s, "cd /tmp; pwd"); r.Dir != root || r.Output != "/tmp\n" || !strings.Contains(r.DirNote, "/tmp is outside") {
		t.Errorf("%+v", r)
	}
	for range 2 {
		if r := do(t, s, "pwd"); r.Output != root+"\n" || r.DirNote != "" {
			t.Errorf("%q, note %q", r.Output, r.DirNote)
		}
	}
	place(t, root)
	do(t, s, "cd a/b") // and then the folder becomes a way out
	if err := os.Rename(filepath.Join(root, "a"), filepath.Join(root, "was")); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	if err := os.Mkdir(filepath.Join(out, "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(out, filepath.Join(root, "a")); err != nil {
		t.Fatal(err)
	}
	if r := do(t, s, "pwd"); r.Output != root+"\n" || !strings.Contains(r.DirNote, "outside") {
		t.Errorf("%q, note %q", r.Output, r.DirNote)
	}
}

// A root known by a symbolic link keeps that name, and a second root is as good as the first.
func TestDirectoryNames(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	second := t.TempDir()
	if err := os.MkdirAll(filepath.Join(top, "real", "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(top, "link")
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	s, _ := newShell(t, Config{Roots: func() []string { return []string{link, second} }})
	for _, c := range []struct{ command, output, dir string }{
		{"pwd", link, link},
		{"cd sub; pwd", filepath.Join(link, "sub"), filepath.Join(link, "sub")},
		{"pwd", filepath.Join(link, "sub"), filepath.Join(link, "sub")},
		{"cd ..; pwd", link, link},
		{"cd " + second, "", second},
		{"pwd", second, second},
	} {
		if r := do(t, s, c.command); r.Dir != c.dir || strings.TrimSpace(r.Output) != c.output || r.DirNote != "" {
			t.Errorf("%q: %q in %q, note %q; want %q in %q", c.command, r.Output, r.Dir, r.DirNote, c.output, c.dir)
		}
	}
	if err := os.RemoveAll(second); err != nil {
		t.Fatal(err)
	}
	if r := do(t, s, "pwd"); r.Output != link+"\n" || !strings.Contains(r.DirNote, "is gone") {
		t.Errorf("%+v", r)
	}
}

// A call that stays where it was leaves another's cd alone, and a task moves nobody.
func TestDirectoryParallel(t *testing.T) {
	t.Parallel()
	s, root := newShell(t, Config{})
	place(t, root)
	var wg sync.WaitGroup
	wg.Go(func() { do(t, s, "touch started; until [ -e moved ]; do sleep .01; done") })
	do(t, s, "until [ -e started ]; do sleep .01; done; cd a")
	if err := os.WriteFile(filepath.Join(root, "moved"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if r := do(t, s, "pwd"); r.Output != filepath.Join(root, "a")+"\n" {
		t.Errorf("in %q", r.Output)
	}
	outcome(t, s, launch(t, s, "cd b").ID)
	if r := do(t, s, "pwd"); r.Output != filepath.Join(root, "a")+"\n" {
		t.Errorf("after a task in %q", r.Output)
	}
}

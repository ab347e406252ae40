//go:build unix

package walk

import (
	"path/filepath"
	"syscall"
	"testing"
)

func TestSpecial(t *testing.T) {
	t.Parallel()
	root := tree(t, names("a d/b"))
	for _, p := range []string{"pipe", ".gitignore", "d/.ignore"} {
		if err := syscall.Mkfifo(filepath.Join(root, p), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if l := run(t, Options{Top: root}); paths(l) != "a d/b" || l.Special != 3 {
		t.Errorf("%+v", l)
	}
	// A pipe in the place of a rule file above blocks nobody, either.
	if l := run(t, Options{Top: root, Dir: filepath.Join(root, "d")}); paths(l) != "b" {
		t.Errorf("%+v", l)
	}
}

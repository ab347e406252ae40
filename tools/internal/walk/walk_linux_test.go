package walk

import "testing"

// A name need not be UTF-8, on systems that do not see to it.
func TestStrayBytes(t *testing.T) {
	t.Parallel()
	root := tree(t, names("a\xffb/c\xfe.go"))
	for _, p := range []string{"**", "a?b/*.go", "*.go", "a*b/c[!x].go"} {
		if got := paths(run(t, Options{Top: root, Globs: glob(t, p)})); got != "a\xffb/c\xfe.go" {
			t.Errorf("%s: %q", p, got)
		}
	}
}

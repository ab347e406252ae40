package memory

import "testing"

func TestExcerpt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, query string
		n           int
		want        string
	}{
		{"short", "x", 10, "short"},
		{"one two three four five six seven eight", "seven", 12, "…ve six seven…"},
		{"one two three four five six seven eight", "nothing", 12, "one two thre…"},
		{"one two three four five six seven eight", "four", 12, "…o three four…"},
		{"端口改成了六三八零，日志统一用另一个库，部署在周五", "部署 周五", 8, "…个库，部署在周五"},
	} {
		if got := Excerpt(c.text, c.query, c.n); got != c.want {
			t.Errorf("%q for %q: %q, want %q", c.text, c.query, got, c.want)
		}
	}
	if got := oneLine("a\n\tb  c\x1b[2J"); got != "a b c[2J" {
		t.Errorf("%q", got)
	}
}

package roots

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestNear(t *testing.T) {
	t.Parallel()
	r := scratch(t)
	for _, f := range []string{
		"src/index.ts", "src/index.test.ts", "src/server.go", "src/Makefile", "src/deep/utils/strings.go",
		"Screenshot 2025-01-02 at 9.41.00\u202fAM.png", "caf\u00e9.md", "it\u2019s.txt", "config.yaml", ".env.local",
		"test_utils.py", "q\u200bw", "ab", "ac", "zz",
	} {
		put(t, "", r, f)
	}
	s := open(t, []string{r}, nil)
	for _, c := range []struct {
		name string
		want []string
	}{
		{"src/index.js", []string{"src/index.ts", "src/index.test.ts"}}, {"src/indxe.ts", []string{"src/index.ts"}},
		{"src/makefile", []string{"src/Makefile"}}, {"src/sever.go", []string{"src/server.go"}},
		{"src/deep/util/strings.go", []string{"src/deep/utils/strings.go"}},
		{"src/deep/util/none.go", []string{"src/deep/utils"}},
		{"scr/deep/utils/strings.go", []string{"src/deep/utils/strings.go"}},
		{"Screenshot 2025-01-02 at 9.41.00 AM.png", []string{"Screenshot 2025-01-02 at 9.41.00\u202fAM.png"}},
		{"cafe\u0301.md", []string{"caf\u00e9.md"}}, {"CAFE\u0301.md", []string{"caf\u00e9.md"}},
		{"it's.txt", []string{"it\u2019s.txt"}}, {"config.yml", []string{"config.yaml"}}, {"config", []string{"config.yaml"}},
		{".env", []string{".env.local"}}, {"utils.py", []string{"test_utils.py"}},
		{"qw", []string{"q\u200bw"}},
		{"aa", nil}, {"unrelated", nil}, {"src/index.test.js", []string{"src/index.test.ts", "src/index.ts"}},
	} {
		var got []string
		for _, abs := range Near(resolve(t, s, c.name), 3) {
			got = append(got, s.Display(abs))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("near %q: %q, want %q", c.name, got, c.want)
		}
	}
	if got := Near(resolve(t, s, "src/index.test.js"), 1); len(got) != 1 {
		t.Errorf("more than one: %q", got)
	}
	if got := Near(resolve(t, s, "src/index.js"), 0); got != nil {
		t.Errorf("more than none: %q", got)
	}
}

// TestDistance compares the band with the whole table.
func TestDistance(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	random := func() []rune {
		s := make([]rune, r.IntN(9))
		for i := range s {
			s[i] = 'a' + rune(r.IntN(3))
		}
		return s
	}
	for range 20_000 {
		a, b := random(), random()
		want := plainDistance(a, b)
		for limit := range 5 {
			if got := distance(a, b, limit); got != min(want, limit+1) {
				t.Fatalf("%q %q limit %d: %d, want %d", string(a), string(b), limit, got, want)
			}
		}
	}
}

func plainDistance(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j-1], d[i-1][j], d[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

func BenchmarkNear(b *testing.B) {
	r := scratch(b)
	for i := range maxNames {
		if err := os.WriteFile(filepath.Join(r, fmt.Sprintf("component-%05d.tsx", i)), nil, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	p := resolve(b, open(b, []string{r}, nil), "component-0500.tsx")
	for b.Loop() {
		Near(p, 3)
	}
}

package roots

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkOpen compares resolving and opening with opening alone, at two depths, and with a link on the way.
func BenchmarkOpen(b *testing.B) {
	r := scratch(b)
	shallow, deep := "a/f", strings.Repeat("d/", 8)+"f"
	put(b, "x", r, shallow)
	put(b, "x", r, deep)
	link(b, "a", r, "l")
	link(b, "d", r, "m")
	s := open(b, []string{r}, nil)
	for _, c := range []struct{ label, name string }{
		{"depth2", shallow}, {"depth9", deep}, {"depth2link", "l/f"}, {"depth9link", "m" + deep[1:]},
	} {
		abs := filepath.Join(r, c.name)
		b.Run(c.label+"/os", func(b *testing.B) {
			for b.Loop() {
				f, err := os.Open(abs)
				if err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
		})
		b.Run(c.label+"/roots", func(b *testing.B) {
			for b.Loop() {
				p, err := s.Resolve(abs)
				if err != nil {
					b.Fatal(err)
				}
				f, err := p.Open()
				if err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
		})
		b.Run(c.label+"/resolve", func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Resolve(abs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

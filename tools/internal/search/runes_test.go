package search

import (
	"slices"
	"testing"
	"unicode"
)

// TestFoldable compares the list with every rune there is.
func TestFoldable(t *testing.T) {
	t.Parallel()
	var want []rune
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if unicode.SimpleFold(r) != r {
			want = append(want, r)
		}
	}
	if got := foldable(); !slices.Equal(got, want) {
		t.Errorf("%d runes, want %d", len(got), len(want))
	}
}

func TestSetOperations(t *testing.T) {
	t.Parallel()
	a, b := runes{1, 5, 9, 9, 20, 30}, runes{3, 4, 9, 25}
	for _, c := range []struct {
		name      string
		got, want runes
	}{
		{"union", a.union(b), runes{1, 5, 9, 30}},
		{"and", a.and(b), runes{3, 4, 9, 9, 20, 25}},
		{"minus", a.minus(b), runes{1, 2, 5, 5, 26, 30}},
		{"minus none", a.minus(nil), a},
		{"not", a.not(runes{0, 40}), runes{0, 0, 6, 8, 10, 19, 31, 40}},
		{"not all", anyRune.not(anyRune), nil},
		{"not none", runes(nil).not(anyRune), anyRune},
		{"normal", normal(runes{5, 6, 1, 2, 3, 3, 5, 9}), runes{1, 3, 5, 9}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	for r := rune(0); r < 40; r++ {
		if got, want := a.has(r), r >= 1 && r <= 5 || r == 9 || r >= 20 && r <= 30; got != want {
			t.Errorf("has %d: %v", r, got)
		}
	}
}

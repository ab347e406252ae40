package roots

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxNames is how many names of a folder Near looks at: 10,000 take about 50 ms, most of it for folding them.
const maxNames = 10_000

// Near returns up to n absolute paths that exist and that a missing place may have been meant to be, the likeliest
// first. It looks only in the deepest folder on the way that exists, for names that resemble the component that is
// missing there, and completes them with what followed it if that exists too.
//
// Alike are, in this order: names that differ only in case, in Unicode form, in the kind of blank, quote or dash; the
// same name with another extension; names within one mistyped character per three, three at most; names of which one
// holds the other. The caller must leave out what may not be told.
func Near(p Place, n int) []string {
	dir, rest, names := deepest(p)
	if n <= 0 || len(names) == 0 {
		return nil
	}
	type candidate struct {
		name string
		rank int
	}
	var found []candidate
	want := fold(rest[0])
	for _, name := range names {
		if rank := unlikeness(want, fold(name)); rank >= 0 && name != rest[0] {
			found = append(found, candidate{name, rank})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.name, b.name))
	})
	var paths []string
	for _, c := range found[:min(n, len(found))] {
		rel := filepath.Join(dir, c.name)
		if len(rest) > 1 {
			whole := filepath.Join(rel, filepath.Join(rest[1:]...))
			if _, err := p.Root.Lstat(whole); err == nil {
				rel = whole
			}
		}
		paths = append(paths, filepath.Join(p.held.real, rel))
	}
	return paths
}

// deepest finds the deepest folder on the way to a missing place, what is missing below it, and the names in it. There
// are no names if the root itself is missing or the folder may not be listed.
func deepest(p Place) (dir string, rest, names []string) {
	for dir = p.Rel; dir != "."; {
		rest = append(rest, filepath.Base(dir))
		dir = filepath.Dir(dir)
		f, err := p.Root.OpenFile(dir, dirFlags, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			names, _ = f.Readdirnames(maxNames) // what was read before an error is as good
			_ = f.Close()                       // nothing was written
		}
		break
	}
	slices.Reverse(rest)
	return dir, rest, names
}

// fold makes names equal that look the same: one Unicode form, one case, one kind of blank, quote and dash, and
// nothing that cannot be seen.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Zs, r):
			return ' '
		case r == '‘' || r == '’' || r == 'ʼ':
			return '\''
		case r == '“' || r == '”':
			return '"'
		case unicode.Is(unicode.Pd, r) || r == '−':
			return '-'
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFC.String(name))
}

// unlikeness ranks a folded name: 0 is the same, -1 is too far.
func unlikeness(want, have string) int {
	if want == have {
		return 0
	}
	if a, b := stem(want), stem(have); a == b {
		return 1
	}
	runes := []rune(want)
	limit := min(3, len(runes)/3)
	if d := distance(runes, []rune(have), limit); d <= limit {
		return 1 + d
	}
	within := func(part, whole string) bool { return len(part) >= 4 && strings.Contains(whole, part) }
	if within(stem(want), have) || within(stem(have), want) {
		return 5
	}
	return -1
}

// stem is the name without its extension; ".env" is a stem, and so is "env" of "env.go".
func stem(name string) string {
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[:i]
	}
	return name
}

// distance counts the characters to insert, delete, replace or swap with their neighbour to get from a to b, or returns
// limit+1 if it takes more. Only the band of the table around its diagonal that the limit leaves is filled, with one
// cell of limit+1 on either side of it; so it costs len(a)·(2·limit+1).
func distance(a, b []rune, limit int) int {
	if max(len(a), len(b))-min(len(a), len(b)) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(b)+2), make([]int, len(b)+2), make([]int, len(b)+2)
	for j := range last {
		last[j] = min(j, limit+1)
	}
	for i := 1; i <= len(a); i++ {
		from, to := max(1, i-limit), min(len(b), i+limit)
		row[from-1], row[to+1] = limit+1, limit+1
		if from == 1 {
			row[0] = min(i, limit+1)
		}
		least := row[from-1]
		for j := from; j <= to; j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change, limit+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

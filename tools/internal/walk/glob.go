package walk

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A glob is compiled to alternatives, one for each way its braces can be read, and an alternative to segments. It is
// followed while descending: a position is (alternative, next segment), a directory has a set of them, and entering a
// subdirectory moves each position that the name fits. An empty set means that nothing below can match.

// Globs chooses files by their paths. It is not changed by use and may be shared. A nil *Globs lets everything through.
type Globs struct {
	include, exclude set
	all              bool // there are only exclusions
}

type set []alternative

type alternative struct {
	segs []segment
	from anchor
}

// anchor is where the path that an alternative is compared with begins.
type anchor uint8

const (
	fromDir  anchor = iota // at the directory that is listed
	fromTop                // there, and at the root when the first segment names the way down from it
	fromDisk               // at the root of the file system
)

// segment is one part of a path.
type segment struct {
	name string // as written, composed: a name that is spelled like the pattern fits it
	deep bool   // **
	toks []token
	ext  string // what follows the star when the segment is a star and plain text
	star bool
}

// fits reports whether the segment takes a composed name.
func (s *segment) fits(name string) bool {
	switch {
	case s.name == name:
		return true
	case s.star:
		return strings.HasSuffix(name, s.ext)
	}
	return s.toks != nil && match(s.toks, name, true)
}

const (
	maxPattern      = 8192 // bytes
	maxAlternatives = 1000
)

// ParseGlob compiles one pattern, in which blanks and commas are ordinary. The error names the character that is
// wrong. The caller asks Literal first, and takes the front off a pattern for which SplitPattern has one.
func ParseGlob(pattern string) (*Globs, error) {
	g := &Globs{}
	if err := g.include.add(pattern, fromDir); err != nil {
		return nil, fmt.Errorf("pattern %w", err)
	}
	return g, nil
}

// ParseFilter compiles a list of patterns with commas or blanks between them, also when braces or brackets hold some.
// The whole text is one more pattern, since names hold blanks and commas, too. A leading ! excludes what the rest
// matches, with everything below a directory it matches, and wins; when all do, everything else passes. A pattern may
// also be written from the root downwards when it begins with the name of a directory on the way to the directory that
// is listed, and as an absolute path. An empty list is nil, which lets everything through.
func ParseFilter(list string) (*Globs, error) {
	parts := splitList(list)
	if len(parts) == 0 {
		return nil, nil
	}
	whole := strings.TrimSpace(list)
	g := &Globs{}
	for _, p := range parts {
		if err := g.add(p); err != nil {
			if e := check(whole); e != nil && len(parts) > 1 {
				err = e // the pattern as it was written: a brace that is not closed does not hold its commas
			}
			return nil, fmt.Errorf("glob %w", err)
		}
	}
	if len(parts) > 1 {
		_ = g.add(whole) // when it is no pattern it is only a list
	}
	g.all = len(g.include) == 0
	return g, nil
}

// add compiles one pattern of a list.
func (g *Globs) add(p string) error {
	if rest, out := strings.CutPrefix(p, "!"); out {
		return g.exclude.addFilter(rest)
	}
	return g.include.addFilter(p)
}

func (s *set) addFilter(p string) error {
	if strings.HasPrefix(p, "/") {
		if err := s.add(p, fromDisk); err != nil {
			return err
		}
		p = "." + p
	}
	if filepath.VolumeName(p) != "" {
		return s.add(filepath.ToSlash(p), fromDisk)
	}
	if q := squeeze(p); q != p {
		if err := s.add(q, fromTop); err != nil {
			return err
		}
	}
	return s.add(p, fromTop)
}

// add compiles a pattern into the set.
func (s *set) add(p string, from anchor) error {
	if err := check(p); err != nil {
		return err
	}
	whole := strings.TrimSuffix(p, "/.")
	if whole != p || p == "." || strings.HasSuffix(p, "/") { // a directory stands for everything below it
		whole = strings.TrimSuffix(strings.TrimSuffix(whole, "."), "/") + "/**"
	}
	alts, err := expand(composed(whole))
	if err != nil {
		return fmt.Errorf("%q %w", p, err)
	}
	if len(*s)+len(alts) > maxAlternatives {
		return fmt.Errorf("%q %w", p, errTooMany)
	}
	for _, a := range alts {
		if segs := segments(a); segs != nil {
			*s = append(*s, alternative{segs, from})
		}
	}
	return nil
}

// segments splits an alternative. One without a slash stands for a base name at any depth. One that braces make end in
// a slash or a dot stands for no file: nil.
func segments(p string) []segment {
	if last := p[strings.LastIndexByte(p, '/')+1:]; last == "" || last == "." {
		return nil
	}
	var out []segment
	if !strings.Contains(p, "/") {
		out = append(out, segment{name: "**", deep: true})
	}
	for name := range strings.SplitSeq(p, "/") {
		if name == "" || name == "." {
			continue
		}
		s := segment{name: name, deep: name == "**"}
		rest, star := strings.CutPrefix(name, "*")
		switch {
		case s.deep && len(out) > 0 && out[len(out)-1].deep:
			continue
		case s.deep || !strings.ContainsAny(name, special):
		case star && !strings.ContainsAny(rest, special):
			s.star, s.ext = true, rest
		default:
			s.toks = compileGlob(name)
		}
		out = append(out, s)
	}
	return out
}

// compileGlob compiles one segment; nil when it is none of the dialect and only stands for itself.
func compileGlob(p string) []token {
	var toks []token
	for i := 0; i < len(p); {
		r, w := utf8.DecodeRuneInString(p[i:])
		i += w
		switch r {
		case '*':
			if n := len(toks); n == 0 || toks[n-1].op != opStar {
				toks = append(toks, token{op: opStar})
			}
			continue
		case '?':
			toks = append(toks, token{op: opAny})
			continue
		case '[':
			c, n, err := globClass(p[i:])
			if err != nil {
				return nil
			}
			toks = append(toks, token{op: opClass, class: c})
			i += n
			continue
		case '\\':
			if i == len(p) {
				return nil
			}
			r, w = utf8.DecodeRuneInString(p[i:])
			i += w
		}
		toks = append(toks, token{r: r})
	}
	return toks
}

// state is the positions that a directory has been reached with: alternative<<16 | segment.
type state struct{ in, out []uint32 }

// start is the state at dir, which lies at top or below it.
func (g *Globs) start(top, dir string) state {
	if g == nil {
		return state{}
	}
	disk := strings.Split(slashPath(dir), "/")
	if disk[0] == "" {
		disk = disk[1:]
	}
	var way []string
	if within(top, dir) && slashPath(dir) != slashPath(top) {
		way = strings.Split(slashPath(dir)[len(slashPath(top))+1:], "/")
	}
	return state{g.include.start(disk, way), g.exclude.start(disk, way)}
}

func (s set) start(disk, way []string) []uint32 {
	var out []uint32
	for i, a := range s {
		at := s.move(nil, i, 0)
		from := func(names []string) {
			ps := at
			for _, n := range names {
				ps = s.dir(ps, composed(n))
			}
			for _, p := range ps {
				out = s.move(out, int(p>>16), int(p&0xffff))
			}
		}
		switch {
		case a.from == fromDisk:
			from(disk)
			continue
		case a.from == fromTop && len(way) > 0 && len(a.segs) > 0 && a.segs[0].name == composed(way[0]):
			from(way)
		}
		from(nil)
	}
	return out
}

// move adds a position, and the one behind a ** that may stand for nothing.
func (s set) move(to []uint32, alt, seg int) []uint32 {
	p := uint32(alt<<16 | seg)
	for i := len(to) - 1; i >= 0 && int(to[i]>>16) == alt; i-- { // those of an alternative stand together
		if to[i] == p {
			return to
		}
	}
	to = append(to, p)
	if segs := s[alt].segs; seg < len(segs)-1 && segs[seg].deep {
		to = s.move(to, alt, seg+1)
	}
	return to
}

// dir moves the positions into a subdirectory with this composed name.
func (s set) dir(at []uint32, name string) []uint32 {
	var out []uint32
	for _, p := range at {
		alt, seg := int(p>>16), int(p&0xffff)
		switch segs := s[alt].segs; {
		case segs[seg].deep:
			out = s.move(out, alt, seg)
		case seg+1 < len(segs) && segs[seg].fits(name):
			out = s.move(out, alt, seg+1)
		}
	}
	return out
}

// file reports whether a file with this composed name matches.
func (s set) file(at []uint32, name string) bool {
	for _, p := range at {
		segs, seg := s[p>>16].segs, int(p&0xffff)
		if seg == len(segs)-1 && (segs[seg].deep || segs[seg].fits(name)) {
			return true
		}
	}
	return false
}

// whole reports whether everything below matches.
func (s set) whole(at []uint32) bool {
	for _, p := range at {
		if segs, seg := s[p>>16].segs, int(p&0xffff); seg == len(segs)-1 && segs[seg].deep {
			return true
		}
	}
	return false
}

// descend moves the state into a subdirectory; false when nothing below it can match.
func (g *Globs) descend(st state, name string) (state, bool) {
	if g == nil {
		return st, true
	}
	name = composed(name)
	next := state{g.include.dir(st.in, name), g.exclude.dir(st.out, name)}
	if g.exclude.file(st.out, name) || g.exclude.whole(next.out) {
		return next, false
	}
	return next, g.all || len(next.in) > 0
}

// file reports whether a file with this name passes in a directory with this state.
func (g *Globs) file(st state, name string) bool {
	if g == nil {
		return true
	}
	name = composed(name)
	return (g.all || g.include.file(st.in, name)) && !g.exclude.file(st.out, name)
}

// SplitPattern takes the front off a pattern that says where to look: an absolute one, one that begins with ~, or one
// with ".." before its first wildcard. dir is the front as it was written, for the caller to resolve, rest a pattern
// for the directory it leads to. dir is empty when the pattern has no such front.
func SplitPattern(pattern string) (dir, rest string) {
	if runtime.GOOS == "windows" && filepath.VolumeName(pattern) != "" {
		pattern = filepath.ToSlash(pattern)
	}
	front := pattern
	if i := strings.IndexAny(pattern, special+"{"); i >= 0 {
		front = pattern[:i]
	}
	cut := strings.LastIndexByte(front, '/') + 1
	if i := strings.LastIndex(front, "/.."); i >= 0 && i+3 == len(pattern) || pattern == ".." || pattern == "~" {
		cut = len(pattern) // a directory alone
	}
	front, rest = pattern[:cut], pattern[cut:]
	outside := strings.HasPrefix(front, "/") || strings.HasPrefix(front, "~/") || front == "~" ||
		filepath.VolumeName(front) != "" || strings.Contains("/"+front+"/", "/../")
	if !outside {
		return "", pattern
	}
	if len(front) > 1 && !strings.HasSuffix(front, ":/") {
		front = strings.TrimSuffix(front, "/")
	}
	if !strings.Contains(rest, "/") {
		rest = "./" + rest
	}
	return front, rest
}

// Literal reports whether a pattern, taken letter by letter, is the path of a regular file below dir that Glob should
// answer with at once: without a walk, though the pattern may be malformed and the file ignored. A plain name is not
// such a pattern, since it stands for files at any depth. Links are not followed.
func Literal(dir, pattern string) bool {
	p := filepath.FromSlash(pattern)
	if !filepath.IsLocal(p) || !strings.ContainsAny(pattern, special+"/{") {
		return false
	}
	names := strings.Split(filepath.Clean(p), string(filepath.Separator))
	for i, name := range names {
		dir = filepath.Join(dir, name)
		info, err := os.Lstat(dir)
		last := i == len(names)-1
		if err != nil || last && !info.Mode().IsRegular() || !last && !info.IsDir() {
			return false
		}
	}
	return true
}

// composed is a name in the form in which names are compared: old archives and macOS store letters and their accents
// apart.
func composed(name string) string {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return norm.NFC.String(name)
		}
	}
	return name
}

package permit

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// A pattern is bound to folders as soon as these are known: its plain beginning becomes part of the folder's path and the
// rest a glob for what is below. So a rule that names a folder through a link finds the folder itself as well.

type anchor uint8

const (
	anywhere  anchor = iota // at any depth below each root
	fromRoots               // from each root
	fromDisk                // from base
)

// pattern is a path pattern that is not bound to a workspace yet.
type pattern struct {
	from    anchor
	base    string   // absolute; where the plain part begins
	also    string   // another base: deny and ask rules written /x hold for the file system's /x, too, unless that holds a root
	plain   []string // components without wildcards
	glob    []string // the components that follow, each a pattern of path.Match, or **
	dirOnly bool     // holds for a folder and what is below, not for a file of that name
}

// place is a pattern bound to a folder.
type place struct {
	base    string // slash path, without a slash at its end; folded unless the rule allows
	glob    []component
	dirOnly bool
	outside bool   // only for what lies in no root
	literal string // the path itself, if the pattern is one
}

// parsePattern reads a gitignore pattern. The names that it begins at are project and home.
func parsePattern(spec, project, home string, wary bool) (*pattern, error) {
	p := &pattern{from: fromRoots}
	rest := spec
	switch {
	case strings.HasPrefix(spec, "!"):
		return nil, errors.New("a pattern here takes nothing back; write a rule for what is meant")
	case strings.HasPrefix(spec, "//"):
		p.from, p.base, rest = fromDisk, "/", spec[2:]
		if runtime.GOOS == "windows" {
			p.base, rest, _ = strings.Cut(rest, "/")
			p.base += `\`
		}
	case spec == "~", strings.HasPrefix(spec, "~/"):
		if p.from, p.base, rest = fromDisk, home, strings.TrimPrefix(spec[1:], "/"); home == "" {
			return nil, errors.New("the home folder is not known; give the full path with // in front")
		}
	case runtime.GOOS == "windows" && filepath.IsAbs(spec):
		vol := filepath.VolumeName(spec)
		p.from, p.base, rest = fromDisk, vol+`\`, filepath.ToSlash(spec)[len(vol):]
	case strings.HasPrefix(spec, "/"):
		rest = spec[1:]
		if wary {
			p.also = "/"
		}
		if project != "" {
			p.from, p.base = fromDisk, project
		}
	case strings.HasPrefix(spec, "**/"), !strings.Contains(strings.TrimSuffix(spec, "/"), "/"):
		p.from = anywhere
	}
	return p, p.split(rest)
}

// split cuts the text behind the anchor into plain components and a glob.
func (p *pattern) split(text string) error {
	if strings.Contains(text, "[:") {
		return errors.New("named classes such as [:alpha:] are not known here")
	}
	var parts []string
	for c := range strings.SplitSeq(text, "/") {
		switch c {
		case "", ".":
			continue
		case "..":
			return errors.New(`".." cannot be part of a pattern; begin with // to name a path from the top`)
		}
		parts = append(parts, c)
	}
	p.dirOnly = strings.HasSuffix(text, "/")
	for len(parts) > 0 && parts[len(parts)-1] == "**" { // everything in a folder: the folder, as far as rules go
		p.dirOnly, parts = true, parts[:len(parts)-1]
	}
	if len(parts) == 0 {
		p.dirOnly = true
		if p.from == anywhere {
			p.from = fromRoots
		}
	}
	for p.from != anywhere && len(parts) > 0 && !strings.ContainsAny(parts[0], special) {
		p.plain, parts = append(p.plain, parts[0]), parts[1:]
	}
	if len(parts) == 0 {
		return nil
	}
	for _, c := range parts {
		c = classes(c)
		for _, form := range []string{c, fold(c)} {
			if _, err := path.Match(form, ""); err != nil {
				return fmt.Errorf("%q is no pattern: a bracket or a backslash is left open", c)
			}
		}
		p.glob = append(p.glob, c)
	}
	return nil
}

// special are the characters that make a component more than a name.
const special = `*?[]\`

// classes writes the brackets of a component as path.Match has them: ^ negates, and a bracket that closes is escaped.
func classes(c string) string {
	var b strings.Builder
	for i := 0; i < len(c); i++ {
		b.WriteByte(c[i])
		switch {
		case c[i] == '\\' && i+1 < len(c):
			i++
			b.WriteByte(c[i])
		case c[i] == '[':
			if i+1 < len(c) && (c[i+1] == '!' || c[i+1] == '^') {
				i++
				b.WriteByte('^')
			}
			if i+1 < len(c) && c[i+1] == ']' {
				i++
				b.WriteString(`\]`)
			}
			for i+1 < len(c) && c[i+1] != ']' {
				i++
				b.WriteByte(c[i])
				if c[i] == '\\' && i+1 < len(c) {
					i++
					b.WriteByte(c[i])
				}
			}
			if i+1 < len(c) {
				i++
				b.WriteByte(']')
			}
		}
	}
	return b.String()
}

// bind returns the pattern's places in a workspace. wary is the way of deny and ask rules: names are folded, and the
// folder that a name really leads to counts besides the name. An allow rule counts for that folder only as far as
// nothing in the workspace has a say in where it is.
func (p *pattern) bind(roots []Root, wary bool) (places []place) {
	glob := p.compile(wary)
	add := func(base string) {
		full := filepath.Join(append([]string{base}, p.plain...)...)
		for _, b := range slices.Compact([]string{full, realPath(full, roots, wary)}) {
			pl := place{base: slashed(b), glob: glob, dirOnly: p.dirOnly}
			if wary {
				pl.base = fold(pl.base)
				if len(glob) == 0 && (len(p.plain) > 0 || p.from == fromDisk) {
					pl.literal = b
				}
			}
			places = append(places, pl)
		}
	}
	if p.from == fromDisk {
		add(p.base)
	} else {
		for _, r := range roots {
			add(r.Path)
		}
	}
	if also := filepath.Join(append([]string{p.also}, p.plain...)...); p.also != "" && !holdsAny(also, roots) {
		add(p.also)
	}
	if p.from == anywhere && wary {
		places = append(places, place{glob: glob, dirOnly: p.dirOnly, outside: true})
	}
	return places
}

// slashed is a path as patterns are compared with it.
func slashed(path string) string {
	return strings.TrimSuffix(filepath.ToSlash(filepath.Clean(path)), "/")
}

// A component of a glob. Most are plain or have one star at an end, which need no matcher.
type component struct {
	kind componentKind
	text string // without that star
}

type componentKind uint8

const (
	isPattern componentKind = iota // of path.Match
	isDeep                         // **
	isPlain
	isSuffix
	isPrefix
)

// compile returns the components of the glob, folded for wary rules.
func (p *pattern) compile(wary bool) (glob []component) {
	if p.from == anywhere {
		glob = append(glob, component{kind: isDeep})
	}
	plain := func(s string) bool { return !strings.ContainsAny(s, special) }
	for _, text := range p.glob {
		if wary {
			text = fold(text)
		}
		c := component{isPattern, text}
		switch {
		case text == "**":
			c.kind = isDeep
		case plain(text):
			c.kind = isPlain
		case text[0] == '*' && plain(text[1:]):
			c = component{isSuffix, text[1:]}
		case text[len(text)-1] == '*' && plain(text[:len(text)-1]):
			c = component{isPrefix, text[:len(text)-1]}
		}
		glob = append(glob, c)
	}
	return glob
}

func (c *component) takes(name string) bool {
	switch c.kind {
	case isPlain:
		return name == c.text
	case isSuffix:
		return strings.HasSuffix(name, c.text)
	case isPrefix:
		return strings.HasPrefix(name, c.text)
	}
	ok, _ := path.Match(c.text, name) // the pattern was checked when it was read
	return ok
}

// matches reports whether the place holds a slash path: itself, or a folder on the way to it.
func (pl *place) matches(path string, isDir, inRoots bool) bool {
	if pl.outside && inRoots || !within(path, pl.base) {
		return false
	}
	return prefixed(strings.TrimPrefix(path[len(pl.base):], "/"), pl.glob, pl.dirOnly && !isDir)
}

// prefixed reports whether the glob takes a path or a folder on the way to it; strictly, only such a folder. On a
// mismatch the last ** takes one component more. Earlier ones need not be tried again: the last can take what they could.
func prefixed(rest string, glob []component, strictly bool) bool {
	at, deep, deepRest := 0, -1, ""
	for {
		if at == len(glob) {
			return rest != "" || !strictly
		}
		if glob[at].kind == isDeep {
			at++
			deep, deepRest = at, rest
			continue
		}
		if rest == "" {
			return false
		}
		name, after, _ := strings.Cut(rest, "/")
		if glob[at].takes(name) {
			at, rest = at+1, after
			continue
		}
		if deep < 0 {
			return false
		}
		_, deepRest, _ = strings.Cut(deepRest, "/")
		at, rest = deep, deepRest
	}
}

// within reports whether path is base or lies below it.
func within(path, base string) bool {
	if !strings.HasPrefix(path, base) {
		return false
	}
	return len(path) == len(base) || base == "" || os.IsPathSeparator(path[len(base)]) || os.IsPathSeparator(base[len(base)-1])
}

// fold returns the one spelling of a name that file systems may take for the same: composed, without case, without
// characters that some leave out of account.
func fold(s string) string {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] < 0x80 && (s[i] < 'A' || s[i] > 'Z')
	}
	if plain {
		return s
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 }) {
		return strings.ToLower(s)
	}
	s = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}, s)
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(s)))
}

// foldedNames returns a path and what it really leads to, folded; nothing for "".
func foldedNames(path string) []string {
	if path == "" {
		return nil
	}
	return slices.Compact([]string{fold(slashed(path)), fold(slashed(realPath(path, nil, true)))})
}

// realPath replaces the links of a path as far as it exists. Unless wary, it stops at the first folder that lies in a
// root: links in the workspace are the project's.
func realPath(path string, roots []Root, wary bool) string {
	path = filepath.Clean(path)
	real, rest := "", ""
	for dir := path; ; dir = filepath.Dir(dir) {
		r, err := filepath.EvalSymlinks(dir)
		switch {
		case err != nil:
		case real == "", !wary && inAny(r, roots):
			real, rest = r, strings.TrimPrefix(path, dir)
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if real == "" {
		return path
	}
	return filepath.Join(real, rest)
}

func inAny(path string, roots []Root) bool {
	return slices.ContainsFunc(roots, func(r Root) bool { return within(path, r.Path) })
}

func holdsAny(path string, roots []Root) bool {
	return slices.ContainsFunc(roots, func(r Root) bool { return within(r.Path, path) })
}

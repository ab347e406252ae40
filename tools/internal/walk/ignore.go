package walk

import (
	"path"
	"strings"
)

// maxRuleFile is how much of a file of rules is read, in bytes. What stands behind it does not count.
const maxRuleFile = 1 << 20

// maxRule is the length of the longest rule that counts, in bytes; a path is never longer.
const maxRule = 4096

// rule is one line of an ignore file.
type rule struct {
	negated bool // takes back what an earlier rule left out
	dirOnly bool
	whole   bool    // matched against the path, not the base name
	text    string  // without the marks above
	toks    []token // nil when text is a plain name or path
}

// rules is one ignore file. The last rule that fits decides. Most lines of real files are a name, *.ext or a path
// without wildcards, so those are found by one map look-up each, keyed by what the base name must be.
type rules struct {
	list  []rule
	names map[string][]int // plain names, and plain paths by their last segment
	exts  map[string][]int // *.ext by ext
	other []int
}

type verdict int

const (
	noRule    verdict = iota // none fits
	leftOut                  // ignored
	takenBack                // by a ! rule
)

// parseRules reads the text of an ignore file; nil when it holds no rule.
func parseRules(text []byte) *rules {
	s := string(text)
	if len(s) > maxRuleFile {
		s = s[:maxRuleFile]
		s = s[:strings.LastIndexByte(s, '\n')+1]
	}
	rs := &rules{}
	for line := range strings.SplitSeq(strings.TrimPrefix(s, "\ufeff"), "\n") {
		if r, ok := parseRule(line); ok {
			rs.add(r)
		}
	}
	if len(rs.list) == 0 {
		return nil
	}
	return rs
}

func parseRule(line string) (r rule, ok bool) {
	line = strings.TrimSuffix(line, "\r")
	if strings.HasPrefix(line, "#") || len(line) > maxRule {
		return r, false
	}
	line = trimBlanks(line)
	line, r.negated = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	r.whole = strings.Contains(line, "/")
	r.text = strings.TrimPrefix(line, "/")
	if r.text == "" {
		return r, false
	}
	if strings.ContainsAny(r.text, special) {
		r.toks, ok = compileRule(r.text, r.whole)
		return r, ok
	}
	return r, true
}

// trimBlanks drops trailing blanks, but not one that a backslash protects.
func trimBlanks(s string) string {
	for strings.HasSuffix(s, " ") {
		before := s[:len(s)-1]
		slashes := len(before) - len(strings.TrimRight(before, `\`))
		if slashes%2 == 1 {
			break
		}
		s = before
	}
	return s
}

func (rs *rules) add(r rule) {
	i := len(rs.list)
	rs.list = append(rs.list, r)
	ext, isExt := strings.CutPrefix(r.text, "*.")
	switch {
	case r.toks == nil:
		if rs.names == nil {
			rs.names = map[string][]int{}
		}
		base := path.Base(r.text)
		rs.names[base] = append(rs.names[base], i)
	case !r.whole && isExt && ext != "" && !strings.ContainsAny(ext, special+"."):
		if rs.exts == nil {
			rs.exts = map[string][]int{}
		}
		rs.exts[ext] = append(rs.exts[ext], i)
	default:
		rs.other = append(rs.other, i)
	}
}

// target is an entry that rules are asked about.
type target struct {
	dir   string // slash path of its directory
	name  string
	isDir bool
	full  string // dir/name, built when a rule needs it
}

// below is the path from the directory whose slash path has from-1 bytes.
func (t *target) below(from int) string {
	if t.full == "" {
		t.full = t.dir + "/" + t.name
	}
	return t.full[from:]
}

// match decides for t; the rules' paths are relative to the directory whose slash path has from-1 bytes.
func (rs *rules) match(t *target, from int) verdict {
	best := -1
	last := func(list []int, fits func(*rule) bool) {
		for k := len(list) - 1; k >= 0 && list[k] > best; k-- {
			if r := &rs.list[list[k]]; (t.isDir || !r.dirOnly) && fits(r) {
				best = list[k]
			}
		}
	}
	if rs.names != nil {
		last(rs.names[t.name], func(r *rule) bool { return !r.whole || r.text == t.below(from) })
	}
	if i := strings.LastIndexByte(t.name, '.'); i >= 0 && rs.exts != nil {
		last(rs.exts[t.name[i+1:]], func(*rule) bool { return true })
	}
	last(rs.other, func(r *rule) bool {
		if r.whole {
			return match(r.toks, t.below(from), false)
		}
		return match(r.toks, t.name, false)
	})
	switch {
	case best < 0:
		return noRule
	case rs.list[best].negated:
		return takenBack
	}
	return leftOut
}

package command

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// places are the directories in which the shell may be at some point of the text, as seen from where it starts; nil says
// that it may be anywhere.
type places []string

const maxPlaces = 8

// or joins what holds on either of two ways to a point.
func (p places) or(q places) places {
	if p == nil || q == nil {
		return nil
	}
	out := p
	for _, dir := range q {
		if !slices.Contains(out, dir) {
			out = append(slices.Clip(out), dir)
		}
	}
	if len(out) > maxPlaces {
		return nil
	}
	return out
}

// after tells where the shell is after a command that succeeds, and after one that fails.
func (p places) after(words []word) (yes, no places) {
	for len(words) > 1 && (words[0].text == "command" || words[0].text == "builtin") && words[0].fixed() {
		words = words[1:]
	}
	if words[0].vague() && words[0].text != "[" {
		return nil, nil
	}
	switch name := words[0].text; name {
	case "cd", "pushd":
		return p.enter(words[1:]), p
	case "popd", "source", ".", "eval", "shopt", "trap":
		return nil, nil
	case "set":
		if slices.ContainsFunc(words, func(w word) bool { return w.vague() || strings.ContainsAny(w.text, "Pp") }) {
			return nil, nil // a physical cd goes another way behind a link
		}
	}
	return p, p
}

// enter follows the arguments of cd. As the shell does it, .. takes away the last name of the way here, link or not.
func (p places) enter(args []word) places {
	for len(args) > 0 && args[0].text != "-" && strings.HasPrefix(args[0].text, "-") {
		if args[0].text != "-L" && args[0].text != "--" {
			return nil
		}
		args = args[1:]
	}
	if p == nil || len(args) != 1 || !args[0].fixed() {
		return nil
	}
	to := args[0].text
	if to == "" || to == "-" || to[0] == '+' {
		return nil
	}
	out := make(places, 0, len(p))
	for _, dir := range p {
		if !path.IsAbs(to) {
			out = append(out, path.Join(dir, to))
		} else {
			out = append(out, path.Clean(to))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// moves tells whether a construct holds a command that may change the directory.
func moves(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			var words []word
			for _, w := range c.Args {
				words = append(words, readWord(w))
			}
			yes, no := places{"."}.after(words)
			found = found || yes == nil || no == nil || yes[0] != "."
		}
		return !found
	})
	return found
}

var (
	delimiter = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	number    = regexp.MustCompile(`^\d+-?$`)
)

// redirect takes a redirect into account: what it opens, and whether it is one of the few that do nothing but read.
func (r *reader) redirect(rd *syntax.Redirect, in places) {
	if rd.N != nil && (len(rd.N.Value) != 1 || rd.N.Value > "2") {
		r.question("it redirects " + rd.N.Value) // {NAME} would set a variable
	}
	if !plain(rd.Word) {
		r.inside(rd.Word, in)
	}
	w := readWord(rd.Word)
	switch rd.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if !usual(rd) {
			r.question("it has an unusual here-document")
		}
		if rd.Hdoc != nil && !quoted(rd.Word) {
			r.inside(rd.Hdoc, in)
		}
		return
	case syntax.WordHdoc:
		if !w.fixed() {
			r.question("its input is only known when it runs")
		}
		return
	case syntax.DplIn, syntax.DplOut:
		if w.fixed() && (w.text == "-" || number.MatchString(w.text)) {
			if len(w.text) != 1 || w.text != "-" && w.text > "2" {
				r.question("it redirects to the descriptor " + w.text)
			}
			return
		}
		if rd.Op == syntax.DplIn {
			r.question("it redirects to a descriptor that is only known when it runs")
			return
		}
	}
	write := rd.Op != syntax.RdrIn
	name := r.text[rd.Word.Pos().Offset():rd.Word.End().Offset()]
	switch home, ok := r.home(name); {
	case ok:
		r.targets = append(r.targets, Target{Name: home, Write: write})
		r.question("it redirects to a file in the home folder")
		return
	case !w.fixed():
		r.targets = append(r.targets, Target{Name: name, Write: write, Dynamic: true})
		r.question("it redirects to a file that is only known when it runs")
		return
	case w.text == "/dev/null":
		return
	case write:
		r.question("it writes to " + w.text)
	case strings.HasPrefix(w.text, "/dev/"): // /dev/tcp opens a connection
		r.question("it reads " + w.text)
	}
	if w.text != "/dev/stdout" && w.text != "/dev/stderr" && w.text != "/dev/tty" {
		r.open(w.text, write, in)
	}
}

// open notes a target, for each of the directories it may be in.
func (r *reader) open(name string, write bool, in places) {
	paths := r.paths(name, in)
	if paths == nil {
		r.targets = append(r.targets, Target{Name: name, Write: write, Dynamic: true})
	}
	for _, full := range paths {
		r.targets = append(r.targets, Target{Name: full, Write: write})
	}
}

// paths are what a name may stand for in one of the directories in, nil if that is not known. The name itself is not
// cleaned: where .. leads behind a link is for the file system to say.
func (r *reader) paths(name string, in places) []string {
	switch {
	case path.IsAbs(name):
		return []string{name}
	case strings.HasPrefix(name, "~"): // which was quoted
		name = "./" + name
	}
	switch {
	case in == nil || r.adrift && !slices.Equal(in, places{""}):
		return nil
	}
	var out []string
	for _, dir := range in {
		if dir == "" || dir == "." {
			out = append(out, name)
		} else {
			out = append(out, strings.TrimSuffix(dir, "/")+"/"+name)
		}
	}
	return out
}

// atHome is a word for a file in the home folder, as it stands in the text.
var atHome = regexp.MustCompile(`^(?:~|"?\$(?:HOME|\{HOME\})"?)(/[\w./@%+,:-]*)?"?$`)

// home returns such a word with a tilde for the folder, unless the text may make another folder of it.
func (r *reader) home(source string) (string, bool) {
	m := atHome.FindStringSubmatch(source)
	if m == nil || strings.Contains(r.whole, "HOME") && strings.Contains(r.whole, "=") {
		return "", false
	}
	return "~" + m[1], true
}

// usual tells whether bash and the parser agree for sure on where a here-document ends and what it says.
func usual(rd *syntax.Redirect) bool {
	if rd.Op != syntax.Hdoc || rd.Hdoc == nil || len(rd.Word.Parts) != 1 || !delimiter.MatchString(readWord(rd.Word).text) {
		return false
	}
	if quoted(rd.Word) {
		return true
	}
	for _, part := range rd.Hdoc.Parts {
		if l, ok := part.(*syntax.Lit); !ok || strings.ContainsAny(l.Value, "\\$`") {
			return false
		}
	}
	return true
}

// quoted tells whether a here-document's delimiter is quoted, so that nothing in it is expanded.
func quoted(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(part syntax.WordPart) bool {
		l, ok := part.(*syntax.Lit)
		return !ok || strings.Contains(l.Value, `\`)
	})
}

// add takes a redirect into account for what the command reads.
func (s *stdin) add(rd *syntax.Redirect) {
	first := rd.N == nil || rd.N.Value == "0"
	text, static := "", false
	switch rd.Op {
	case syntax.WordHdoc:
		w := readWord(rd.Word)
		text, static = w.text+"\n", w.fixed()
	case syntax.Hdoc, syntax.DashHdoc:
		static = true
		if rd.Hdoc != nil {
			for _, part := range rd.Hdoc.Parts {
				l, ok := part.(*syntax.Lit)
				if !ok {
					static = false
					continue
				}
				if quoted(rd.Word) {
					text += l.Value
				} else {
					text += unescape(l.Value, "$`\\\n")
				}
			}
		}
	case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn:
	default:
		return
	}
	s.known = first && static && s.redirs == 0
	s.redirs++
	s.text += text
}

package command

import (
	"slices"
	"strings"
)

// An Operand is a file or a folder that a command which is known to read is given. A relative Name counts from the
// directory in which the text starts, as that of a Target does.
//
// A word that no table tells to be something else counts as a file: to take a pattern for a file costs a question, the
// opposite would show one.
type Operand struct {
	Name     string // after quote removal; of a dynamic one as it was written, for showing only
	Dynamic  bool   // it may be any file
	Pattern  bool   // Name is a pattern of file names, in which a quoted * looks like one that is not
	Deep     bool   // of a folder, everything in it is read
	Follows  bool   // and what links in it lead to
	Top      bool   // Name counts from the top of git's working tree
	Tracked  bool   // of a folder, only what git knows is read
	Revision bool   // if there is no such file, it stands for all that git knows
	Named    bool   // an allow rule names the command
}

// usage says what the words of a command are, beside what its table tells of its options.
type usage struct {
	none  bool   // no operand is a file
	first string // options that say what its first operand says without them: a pattern, a script, a filter
	file  string // short options whose argument is a file
	here  bool   // without operands it reads the folder where it is
	deep  bool   // it reads what is in a folder
}

// usages are those of the commands whose operands are not just files.
var usages = func() map[string]usage {
	m := map[string]usage{
		"rg": {first: "-e --regexp -f --file --files --type-list", file: "f", deep: true}, "sed": {first: "-e --expression"},
		"jq": {first: "-f --from-file"}, "date": {none: true, file: "r"}, "du": {here: true, file: "X"}, "diff": {deep: true},
		"ls": {here: true}, "find": {here: true}, "tree": {here: true},
	}
	for _, name := range []string{"grep", "egrep", "fgrep"} {
		m[name] = usage{first: "-e --regexp -f --file", file: "f"}
	}
	for name := range set("echo pwd true false : basename dirname tr seq expr nproc uname whoami id groups printenv which " +
		"type sleep ps uptime free df printf command test [") {
		m[name] = usage{none: true}
	}
	return m
}()

// operands finds the files that a command is given; none if it is not known to do nothing but read.
func (r *reader) operands(words []word, in places) []Operand {
	words = slices.Clone(words)
	words[0].text = baseName(words[0].text)
	name := words[0].text
	if name == "git" {
		return r.gitOperands(words, in)
	}
	u := usages[name]
	t, first, known := tableOf(words)
	if !known || u.none && u.file == "" || !t.reads(words, first) {
		return nil
	}
	s := scan{table: t, usage: u}
	deep, follows := u.deep, name == "diff"
	if name == "find" {
		s.find(words[first:])
	} else {
		s.words(words[first:])
	}
	if u.first != "" && strings.HasSuffix(name, "grep") {
		deep, follows = s.has("rRd", "--rec", "--der", "--di"), s.has("R", "--der")
	} else if name == "rg" {
		follows = s.has("L", "--follow")
	}
	if empty := len(s.files) == 0 || u.first != "" && s.unknown; empty && (u.here || deep && name != "diff" && !(name == "rg" && r.fed)) {
		s.files = append(s.files, word{text: "."})
	}
	var out []Operand
	for _, w := range s.files {
		for _, o := range r.locate(w, in) {
			o.Deep, o.Follows = deep, deep && follows
			out = append(out, o)
		}
	}
	return out
}

// reads collects the operands of all commands. A rule that names a command answers for what that runs, too.
func (r *reader) reads(allow []Rule) (list []Operand) {
	named := func(c *call) bool {
		return slices.ContainsFunc(allow, func(rule Rule) bool { return rule.every() || rule.covers(c.words) > 0 })
	}
	add := func(c *call, named bool) {
		for _, o := range c.files {
			o.Named = named
			list = append(list, o)
		}
	}
	all := true
	for i := range r.calls {
		yes := named(&r.calls[i])
		all = all && (yes || len(r.calls[i].files) > 0)
		add(&r.calls[i], yes)
	}
	for i := range r.inner {
		add(&r.inner[i], all)
	}
	return list
}

// reads tells whether a command does nothing but read, whatever the words are that are only known when it runs.
func (t table) reads(words []word, first int) bool {
	known := slices.DeleteFunc(slices.Clone(words), func(w word) bool { return w.dynamic || w.brace })
	for i := range known {
		known[i].dollar = false // its text is known
	}
	return t.readOnly && len(known) >= first && t.refuse(known, first, 0) == ""
}

// scan parts the words of a command.
type scan struct {
	table
	usage
	options []string
	files   []word

	given, unknown bool // an option gives what the first operand else is; an option is on no list
}

// words sorts the arguments. If an option is not known, its argument may stand where the first operand seems to, so that
// nothing is left out.
func (s *scan) words(args []word) {
	var operands []word
	ended := false
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case w.text == "--" && !ended:
			ended = true
		case !ended && len(w.text) > 1 && w.text[0] == '-':
			takes, file := s.option(w.text)
			if i++; file && i < len(args) {
				s.files = append(s.files, args[i])
			} else if !takes {
				i--
			}
		case w.text == "-" && !w.vague():
		default:
			operands = append(operands, w)
		}
	}
	if s.first != "" && !s.given && !s.unknown && len(operands) > 0 {
		operands = operands[1:]
	}
	if !s.none {
		s.files = append(s.files, operands...)
	}
}

// option tells whether the next word is the argument of an option, and whether that is a file.
func (s *scan) option(w string) (takes, file bool) {
	s.options = append(s.options, w)
	if name, value, has := strings.Cut(w, "="); strings.HasPrefix(w, "--") {
		file = strings.Contains(name, "file") || strings.Contains(name, "from") || name == "--reference"
		s.given = s.given || listed(s.first, name)
		ok, takes := s.table.option(w)
		switch {
		case has && file:
			s.files = append(s.files, word{text: value})
		case !ok:
			s.unknown = true
		}
		takes = takes && ok && !has
		return takes, takes && file
	}
	for i := 1; i < len(w); i++ {
		letter := w[i : i+1]
		s.given = s.given || listed(s.first, "-"+letter)
		switch {
		case strings.Contains(s.file, letter):
			if i+1 < len(w) {
				s.files = append(s.files, word{text: w[i+1:]})
				return false, false
			}
			return true, true
		case strings.Contains(s.args, letter):
			return i+1 == len(w), false
		case !strings.Contains(s.flags, letter) && (letter < "0" || letter > "9"):
			s.unknown = true
		}
	}
	return false, false
}

// has tells whether one of the short options, or a long one that begins so, may be among the options.
func (s *scan) has(letters string, long ...string) bool {
	return slices.ContainsFunc(s.options, func(w string) bool {
		if strings.HasPrefix(w, "--") {
			return slices.ContainsFunc(long, func(l string) bool { return strings.HasPrefix(w, l) })
		}
		return strings.ContainsAny(w[1:], letters)
	})
}

// find takes what stands before the first test for folders, and the files that tests compare with.
func (s *scan) find(args []word) {
	before := true
	for i, w := range args {
		switch {
		case before && listed("-L -H -P", w.text):
		case i > 0 && listed("-newer -anewer -cnewer -samefile", args[i-1].text):
			s.files = append(s.files, w)
		case strings.HasPrefix(w.text, "-"), w.text == "(", w.text == "!":
			if before && len(s.files) == 0 {
				s.files = []word{{text: "."}}
			}
			before = false
		case before:
			s.files = append(s.files, w)
		}
	}
}

// locate is a word as a file, once for each of the directories it may be in.
func (r *reader) locate(w word, in places) []Operand {
	home, ok := r.home(w.source)
	switch {
	case ok:
		return []Operand{{Name: home}}
	case w.tilde && !w.dynamic && !w.brace && !w.slot && strings.HasPrefix(w.text, "~/"):
		return []Operand{{Name: w.text, Pattern: w.pattern}}
	case w.dynamic, w.brace, w.slot, w.tilde:
		return []Operand{{Name: w.quote(), Dynamic: true}}
	}
	names := r.paths(w.text, in)
	if names == nil {
		return []Operand{{Name: w.text, Dynamic: true}}
	}
	var out []Operand
	for _, name := range names {
		out = append(out, Operand{Name: name, Pattern: w.pattern})
	}
	return out
}

package command

import (
	"slices"
	"strings"
)

// What git shows of files: of those that a command names, or of all that it knows. Names of files and what commits say
// of themselves are left out of account.

// gitOperands finds the files of which a command of git shows what is in them.
func (r *reader) gitOperands(words []word, in places) []Operand {
	for len(words) > 2 && strings.HasPrefix(words[1].text, "-") {
		switch words[1].text {
		case "-C":
			in = in.enter(words[2:3])
			words = words[1:]
		case "--no-pager", "--no-optional-locks":
		default:
			return nil
		}
		words = words[1:]
	}
	if len(words) < 2 {
		return nil
	}
	sub := words[1].text
	t := gitTables[sub]
	t.readOnly = true
	s := scan{table: t, usage: usage{first: "-e"}}
	named, paths := s.git(words[2:])
	switch known := t.reads(append([]word{{text: "git"}}, words[1:]...), 2); {
	case !known || !s.shows(sub):
		return nil
	case sub == "cat-file":
		named = slices.DeleteFunc(named, func(w word) bool { return !strings.Contains(w.text, ":") })
	case sub == "grep" && !s.given && len(named) > 0:
		named = named[1:]
	}
	revision := len(paths)+len(s.files) == 0 && sub != "blame"
	switch {
	case len(paths) > 0 && sub != "blame":
		named = paths
	case len(named)+len(paths)+len(s.files) > 0 || sub == "cat-file":
		named = slices.Concat(named, paths, s.files)
	case sub == "grep":
		named = []word{{text: "."}}
	default:
		return []Operand{{Top: true, Deep: true, Tracked: true}}
	}
	var out []Operand
	for _, w := range named {
		for _, o := range r.object(w, in) {
			o.Deep, o.Tracked = true, !s.has("", "--untracked", "--no-index")
			o.Revision = revision && o.Tracked && !strings.Contains(w.text, ":") && w.text != "."
			out = append(out, o)
		}
	}
	return out
}

// git parts the arguments in those before and those behind a --.
func (s *scan) git(args []word) (named, paths []word) {
	for i := 0; i < len(args); i++ {
		switch w := args[i]; {
		case w.text == "--":
			return named, args[i+1:]
		case len(w.text) > 1 && w.text[0] == '-':
			value := w.text
			if takes, _ := s.option(w.text); takes {
				if i++; i < len(args) {
					value = args[i].text
				}
			}
			if _, file, ok := strings.Cut(value, ":"); ok && strings.HasPrefix(w.text, "-L") { // lines of a file
				s.files = append(s.files, word{text: file[strings.LastIndexByte(file, ':')+1:]})
			}
		default:
			named = append(named, w)
		}
	}
	return named, nil
}

// shows tells whether a subcommand shows what is in files, with the options that it is given.
func (s *scan) shows(sub string) bool {
	patch := s.has("pucUWL", "--patch", "--unified", "--word-diff", "--function-context", "--cc")
	brief := s.has("s", "--stat", "--numstat", "--shortstat", "--summary", "--name-only", "--name-status", "--raw", "--dirstat",
		"--compact-summary", "--quiet")
	switch sub {
	case "grep", "blame", "cat-file":
		return true
	case "log":
		return patch
	case "show", "diff":
		return patch || !brief
	}
	return false
}

// object is a name that git is given: a path, a revision, or a path in a revision.
func (r *reader) object(w word, in places) []Operand {
	i := strings.LastIndexAny(w.text, ":)")
	switch name := w.text[i+1:]; {
	case w.vague() && !w.pattern:
		return []Operand{{Name: w.quote(), Dynamic: true}}
	case strings.ContainsAny(name, "*?[\\"): // git's own patterns reach into folders
		return []Operand{{Top: true}}
	case i < 0 || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../"):
		w.text = name
		return r.locate(w, in)
	default:
		return []Operand{{Name: strings.TrimLeft(name, "/"), Top: true}}
	}
}

package command

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Rule is the specifier of a Bash rule: the words of one command, or the words it must begin with. The zero Rule speaks
// of every command.
type Rule struct {
	text   string
	words  []string
	prefix bool
	loose  []string // the words as scan sees those of a text that cannot be read
}

// ParseRule reads what stands between the parentheses of Bash(…): `npm run build` is exactly this command, `git log:*`
// and `git log *` are the commands that begin with these words, and nothing at all is every command. The words are those
// of the shell, so quotes and backslashes work as there. An error says at which character the mistake is.
func ParseRule(specifier string) (Rule, error) {
	r := Rule{text: specifier}
	if specifier == "" {
		return r, nil
	}
	body := specifier
	for _, suffix := range []string{":*", " *"} {
		if b, ok := strings.CutSuffix(specifier, suffix); ok {
			body, r.prefix = b, true
			break
		}
	}
	wrong := func(offset uint, format string, args ...any) (Rule, error) {
		at := utf8.RuneCountInString(specifier[:min(int(offset), len(specifier))]) + 1
		return Rule{}, fmt.Errorf("rule %q: at character %d: %s", specifier, at, fmt.Sprintf(format, args...))
	}
	if i, c := oddCharacter(body); i >= 0 {
		return wrong(uint(i), "the character %U cannot stand in a rule", c)
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(body), "")
	if bad, ok := err.(syntax.ParseError); ok {
		return wrong(bad.Pos.Offset(), "%s", bad.Text)
	} else if err != nil {
		return wrong(0, "%v", err)
	}
	if len(file.Stmts) == 0 {
		return wrong(0, "there is no command; a rule for every command is written Bash, without parentheses")
	}
	if len(file.Stmts) > 1 {
		return wrong(file.Stmts[1].Pos().Offset(), "a rule is one simple command; write a rule for each")
	}
	stmt := file.Stmts[0]
	call, simple := stmt.Cmd.(*syntax.CallExpr)
	switch {
	case len(stmt.Redirs) > 0:
		return wrong(stmt.Redirs[0].Pos().Offset(), "a rule cannot hold a redirect")
	case !simple || stmt.Negated || stmt.Background || stmt.Semicolon.IsValid():
		return wrong(stmt.Pos().Offset(), "a rule is one simple command")
	case len(call.Assigns) > 0:
		return wrong(call.Assigns[0].Pos().Offset(), "a rule cannot set a variable")
	}
	for _, w := range call.Args {
		word := readWord(w)
		switch {
		case strings.ContainsAny(word.text, "*?") && word.pattern:
			return wrong(w.Pos().Offset(), "a star stands only at the end of a rule, behind a colon or a space; "+
				"in quotes it is the character itself")
		case !word.fixed() && word.text != "[":
			return wrong(w.Pos().Offset(), "the word changes when it runs; write it out, or quote it")
		}
		r.words = append(r.words, word.text)
	}
	if r.words[0] == "" {
		return wrong(0, "the name of the command is empty")
	}
	r.loose = scanWords(strings.Join(r.words, " "))
	if len(r.loose) == 0 {
		r.loose = []string{baseName(r.words[0])}
	}
	return r, nil
}

// String returns the specifier as it was written.
func (r Rule) String() string { return r.text }

func (r Rule) name() string {
	if r.text == "" {
		return "Bash"
	}
	return "Bash(" + r.text + ")"
}

func (r Rule) every() bool { return len(r.words) == 0 }

// covers tells how many words of a command an allow rule names: all of an exact rule's, none if it does not apply.
func (r Rule) covers(words []word) int {
	n := len(r.words)
	if n > len(words) || !r.prefix && n != len(words) {
		return 0
	}
	if !slices.EqualFunc(r.words, words[:n], func(s string, w word) bool { return w.fixed() && w.text == s }) {
		return 0
	}
	return n
}

// match tells whether a rule that must not be dodged applies to a command: the name counts without its directory, and
// the further words stand anywhere behind it in their order. Perhaps says that words which are only known at run time
// could make it so.
func (r Rule) match(words []word) (hit, perhaps bool) {
	if r.every() {
		return true, false
	}
	if words[0].dynamic || baseName(words[0].text) != baseName(r.words[0]) {
		return false, false
	}
	args := words[1:]
	want := r.words[1:]
	if slices.ContainsFunc(want, isBundle) {
		want = slices.DeleteFunc(slices.Clone(want), func(w string) bool { return isBundle(w) && bundled(w, args) })
	}
	rest := want
	for i := range args {
		if len(rest) > 0 && !args[i].dynamic && sameWord(rest[0], args[i].text) {
			rest = rest[1:]
		}
	}
	vague := slices.ContainsFunc(args, word.vague)
	if !r.prefix && len(words) != len(r.words) {
		return false, vague && couldHold(want, args)
	}
	if len(rest) == 0 {
		return true, false
	}
	return false, vague && couldHold(want, args)
}

// couldHold tells whether words that are only known at run time could stand for those of want. Once a plain word other
// than the wanted one stands where a subcommand does, the rest of the line is about something else: in `git commit -m
// "$x"` no value makes a push of it. A word behind an option may be the option's argument.
func couldHold(want []string, args []word) bool {
	settled, option := false, false
	for i := range args {
		w := &args[i]
		switch {
		case len(want) == 0:
			return true
		case !w.dynamic && sameWord(want[0], w.text):
			want, option = want[1:], false
		case w.couldBe(want[0]):
			if w.dynamic && (!settled || strings.HasPrefix(want[0], "-")) {
				return true // unquoted, it can become any number of words
			}
			if !w.dynamic {
				want = want[1:]
			}
		case strings.HasPrefix(w.text, "-"):
			option = !strings.Contains(w.text, "=")
		case option:
			option = false
		default:
			settled = true
		}
	}
	return len(want) == 0
}

func sameWord(want, have string) bool {
	return want == have || strings.HasPrefix(want, "--") && strings.HasPrefix(have, want+"=")
}

// isBundle tells whether a word of a rule is a few short options in one, such as -rf.
func isBundle(w string) bool {
	return len(w) > 1 && len(w) <= 4 && w[0] == '-' && !strings.ContainsFunc(w[1:], func(c rune) bool {
		return c > 'z' || c < 'A' || c > 'Z' && c < 'a'
	})
}

// bundled tells whether the options of w are all given, in whatever grouping. Long words with one dash are names, not
// bundles.
func bundled(w string, args []word) bool {
	for i := 1; i < len(w); i++ {
		if !slices.ContainsFunc(args, func(a word) bool {
			return len(a.text) <= 6 && strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") &&
				strings.IndexByte(a.text, w[i]) > 0
		}) {
			return false
		}
	}
	return true
}

// baseName is a command's name without its directory, folded and without the endings of Windows: on some systems
// these all name one program.
func baseName(name string) string {
	if strings.Contains(name, "/") {
		name = path.Base(name)
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; c >= 'A' && c <= 'Z' || c == '.' || c >= 0x80 {
			name = strings.ToLower(name)
			for _, ending := range []string{".exe", ".cmd", ".bat", ".com"} {
				if s, ok := strings.CutSuffix(name, ending); ok && s != "" {
					return s
				}
			}
			break
		}
	}
	return name
}

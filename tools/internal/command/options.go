package command

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// table lists the options of a command that do no harm. Anything else is a reason to ask. The lists are in tables.go.
type table struct {
	readOnly bool   // may run without any rule
	harmless bool   // no option of this command does harm, so none is looked at
	flags    string // short options without an argument, as letters
	args     string // short options with an argument
	long     string // long options: "name", or "name=" if it takes an argument
	words    string // options of several letters behind one dash, as find has them
	number   bool   // -5
	operands int    // at most so many; 0: any; none: not one
	check    func(args []word) string
}

const none = -1

// permit tells which rule allows a command, nil if it needs none because it only reads, or why it is not allowed.
func permit(c *call, allow []Rule) (rule *Rule, why string) {
	words := direct(c.words)
	name := words[0].text
	if c.reads {
		return nil, name + " runs what it reads"
	}
	t, first, known := tableOf(words)
	if known && t.readOnly {
		if why = t.refuse(words, first, 0); why == "" {
			return nil, ""
		}
	}
	n := 0
	for i := range allow {
		m := max(allow[i].covers(c.words), allow[i].covers(words))
		if m > 0 && !allow[i].prefix {
			return &allow[i], "" // the user wrote exactly this
		}
		if m > n {
			n, rule = m, &allow[i]
		}
	}
	switch {
	case stateful[name]:
		return nil, name + " changes the shell"
	case n == 0 && why != "":
		return nil, why
	case n == 0:
		return nil, "no rule allows " + name
	case slices.ContainsFunc(words, func(w word) bool { return w.dynamic || w.brace }):
		return nil, "an argument is only known when it runs"
	case subcommands(name) && n == 1 && len(words) > 1 && strings.HasPrefix(words[1].text, "-"):
		return nil, "an option before the subcommand of " + name + " needs a rule that names it"
	case !known:
		return rule, ""
	}
	return rule, t.refuse(words, first, n)
}

// direct is a command of git without those options before its subcommand that change nothing.
func direct(words []word) []word {
	for words[0].text == "git" && len(words) > 2 && words[1].fixed() &&
		(words[1].text == "--no-pager" || words[1].text == "--no-optional-locks") {
		words = slices.Delete(slices.Clone(words), 1, 2)
	}
	return words
}

func subcommands(name string) bool { return name == "git" || name == "go" }

// tableOf finds the table of a command, and where its arguments begin.
func tableOf(words []word) (t table, first int, known bool) {
	name := words[0].text
	if !subcommands(name) {
		t, known = tables[name]
		return t, 1, known
	}
	if len(words) > 1 && words[1].fixed() {
		t, known = tables[name+" "+words[1].text]
	}
	return t, 2, known
}

// refuse tells what there is to ask about the arguments, which begin at first. The options among the first n words are
// named by the user's own rule.
//
// A word that begins with a dash must be a harmless option wherever it stands, also where it seems to be the argument of
// another one or follows a --: git takes `--format --output=x` for two options, and blame takes `-L -- --output=x` so.
func (t table) refuse(words []word, first, n int) string {
	operands, skip, ended := 0, false, false
	for i, w := range words {
		dash := len(w.text) > 1 && w.text[0] == '-'
		switch {
		case w.dynamic || w.brace:
			return "an argument is only known when it runs"
		case i < first || t.harmless:
		case w.dollar:
			return "an argument is not written out"
		case w.lead && !ended:
			return "a file name may be taken for an option"
		case w.text == "--" && !skip:
			ended = true
		case dash:
			var ok bool
			if ok, skip = t.option(w.text); !ok && i >= n {
				return words[0].text + " " + w.text + " is not on the list of harmless options"
			}
		case skip:
			skip = false
		default:
			operands++
		}
	}
	if t.operands > 0 && operands > t.operands || t.operands == none && operands > 0 {
		return fmt.Sprintf("%s with the operand %s may do more than read", words[0].text, words[len(words)-1].quote())
	}
	if t.check != nil {
		return t.check(words[min(first, len(words)):])
	}
	return ""
}

// count matches what find takes for a number or a mode: -7, -5k, -u+w.
var count = regexp.MustCompile(`^-(\d+[a-zA-Z]?|[ugoa]+[=+-][rwxst]+)$`)

// option tells whether a word is a harmless option, letter by letter if it is a bundle, and whether its argument is the
// next word.
func (t table) option(w string) (ok, takesNext bool) {
	if name, long := strings.CutPrefix(w, "--"); long {
		name, _, has := strings.Cut(name, "=")
		switch {
		case has:
			return listed(t.long, name+"="), false
		case listed(t.long, name):
			return true, false
		}
		return listed(t.long, name+"="), true
	}
	if t.words != "" {
		name, _, has := strings.Cut(w, "=")
		return listed(t.words, w) || has && listed(t.words, name) || count.MatchString(w), false
	}
	if t.number && strings.Trim(w[1:], "0123456789") == "" {
		return true, false
	}
	for i := 1; i < len(w); i++ {
		switch {
		case strings.IndexByte(t.args, w[i]) >= 0:
			return true, i == len(w)-1
		case strings.IndexByte(t.flags, w[i]) < 0:
			return false, false
		}
	}
	return true, false
}

func listed(list, name string) bool {
	for s := range strings.FieldsSeq(list) {
		if s == name {
			return true
		}
	}
	return false
}

// dateOperands lets date only print: any operand but a format sets the clock.
func dateOperands(args []word) string {
	for i, w := range args {
		if strings.HasPrefix(w.text, "+") || strings.HasPrefix(w.text, "-") {
			continue
		}
		before := ""
		if i > 0 {
			before = args[i-1].text
		}
		switch before {
		case "-d", "-ud", "-Rd", "--date", "-r", "-ur", "--reference":
		default:
			return "date with an operand sets the clock"
		}
	}
	return ""
}

// sedSafe is all of sed that runs unasked: substitute, print, delete and quit, with plain addresses.
var sedSafe = func() *regexp.Regexp {
	var substitute []string
	for _, d := range []string{"/", `\|`, ","} {
		part := `(?:[^` + d + `\\\n]|\\[^\n])*`
		substitute = append(substitute, "s"+d+part+d+part+d+"[gIip0-9]*")
	}
	const address = `(?:\d+|\$|/(?:[^/\\\n]|\\[^\n])*/)`
	return regexp.MustCompile(`^(?:` + address + `(?:,` + address + `)?)?(?:[pdq]|` + strings.Join(substitute, "|") + `)$`)
}()

// sedScripts looks at every script of a call of sed.
func sedScripts(args []word) string {
	given := false
	for i := 0; i < len(args); i++ {
		script := ""
		switch a := args[i].text; {
		case a == "-e" || a == "--expression":
			if i++; i == len(args) {
				return "sed has no script"
			}
			script = args[i].text
		case strings.HasPrefix(a, "--expression="):
			script = strings.TrimPrefix(a, "--expression=")
		case len(a) > 1 && a[0] == '-':
			if a[1] != '-' && strings.Contains(a, "e") {
				return "sed has a script inside an option"
			}
			continue
		case given:
			continue
		default:
			script = a
		}
		given = true
		if !args[i].fixed() || !sedSafe.MatchString(script) {
			return "the script of sed is not one of the simple ones"
		}
	}
	return ""
}

// printfFormat keeps printf from its only option, which sets a variable and can run what stands in its index.
func printfFormat(args []word) string {
	if len(args) > 0 && (args[0].lead || args[0].text != "--" && strings.HasPrefix(args[0].text, "-")) {
		return "printf sets a variable"
	}
	return ""
}

// only makes a check that wants one of the words of list among the arguments.
func only(list string) func(args []word) string {
	return func(args []word) string {
		if slices.ContainsFunc(args, func(w word) bool { return listed(list, w.text) }) {
			return ""
		}
		return "it only reads with " + strings.Join(strings.Fields(list), " or ")
	}
}

// begins makes a check that wants the first argument to be one of the words of list.
func begins(list string) func(args []word) string {
	check := only(list)
	return func(args []word) string { return check(args[:min(1, len(args))]) }
}

package command

import (
	"regexp"
	"slices"
	"strings"
)

// forms are the commands that may be run by a command, as places in its words.
type forms struct {
	full   []word // its words, with what others may add to them; nil if nothing is run
	starts []int  // words that begin a further command
	from   int    // from this word on, any may begin one; 0 if none
	reads  bool   // it runs what it reads from its input
}

// unfolding finds the forms of one command, and reads the texts among its words.
type unfolding struct {
	*reader
	c    *call
	in   places
	done []bool          // the words that were looked at as the beginning of a command
	read map[string]bool // texts that were read, and whether that counts in full
	soft bool
}

// maxStarts bounds the work on a text that is made of nothing but wrappers.
const maxStarts = 64

const meta = " \t\n;|&()<>$`'\"\\{*" // a word with one of these is a text rather than a name

func (r *reader) unfold(c *call, in places) {
	if runnerOf(baseName(c.words[0].text)).kind == 0 {
		return
	}
	c.full = c.words
	for _, w := range c.words { // the command is run in another directory
		switch {
		case w.text == "-C", w.text == "-D", w.text == "-execdir", w.text == "-okdir", strings.HasPrefix(w.text, "--chdir"):
			in = nil
		}
	}
	u := &unfolding{reader: r, c: c, in: in, done: make([]bool, len(c.words)+1), read: make(map[string]bool)}
	u.start(0)
}

// within reads a text, but no text twice.
func (u *unfolding) within(text string) {
	if full, known := u.read[text]; !known || !full && !u.soft {
		u.read[text] = !u.soft
		u.reader.within(text, u.in)
	}
}

func (u *unfolding) softly(read func()) {
	before := u.soft
	u.soft = true
	u.reader.softly(read)
	u.soft = before
}

// start looks at the words from i on as a command.
func (u *unfolding) start(i int) {
	if i >= len(u.c.full) || u.done[i] {
		return
	}
	u.done[i] = true
	if len(u.c.starts) == maxStarts {
		u.hide("it has too many places where a command may begin")
		u.anyFrom(i)
		return
	}
	if i > 0 {
		u.c.starts = append(u.c.starts, i)
	}
	w := u.c.full[i]
	if w.vague() && w.text != "[" {
		u.hide("what " + u.c.words[0].text + " runs is only known when it runs")
		return
	}
	name := baseName(w.text)
	switch r := runnerOf(name); r.kind {
	case shell:
		u.shell(i, name)
	case language:
		u.language(i, name)
	case wrapper:
		u.wrapper(i, name, r)
	case carrier:
		u.carrier(i, name, r.markers)
	}
}

// shell looks at `sh -c text`, `sh file` and `sh`.
func (u *unfolding) shell(i int, name string) {
	text, options := false, true
	for j := i + 1; j < len(u.c.full); j++ {
		w := u.c.full[j]
		if options && !w.vague() && len(w.text) > 1 && (w.text[0] == '-' || w.text[0] == '+') {
			switch t := w.text; {
			case t == "--":
				options = false
			case t == "--version", t == "--help":
				return
			case t == "--rcfile", t == "--init-file":
				j++
			case strings.HasPrefix(t, "--command"):
				text = true
				u.text(w)
			case t[0] == '-' && t[1] != '-' && strings.Contains(t, "c"):
				text = true
				fallthrough
			case t[1] != '-' && strings.ContainsAny(t, "oO"):
				if strings.ContainsAny(t, "oO") {
					j++
				}
			}
			continue
		}
		if w.text == ";" { // of find
			break
		}
		if w.vague() {
			u.hide("what " + name + " runs is only known when it runs")
		}
		switch {
		case text:
			u.run(w)
			u.softly(func() {
				for _, w := range u.c.full[j+1:] { // in case the options were not what they seemed
					u.text(w)
				}
			})
		case standsForInput(w.text):
			u.input(name)
		}
		return
	}
	if !text {
		u.input(name)
	}
}

func standsForInput(file string) bool {
	return file == "-" || strings.HasPrefix(file, "/dev/") || strings.HasPrefix(file, "/proc/")
}

// input takes into account that a shell runs what it reads.
func (u *unfolding) input(name string) {
	u.c.reads = true
	u.feed()
	if !u.c.stdin.known {
		u.hide(name + " runs what it reads")
	}
}

// feed reads the here-documents and here-strings of the command as commands.
func (u *unfolding) feed() {
	if u.c.stdin.text != "" {
		u.within(u.c.stdin.text)
	}
}

var codeOption = regexp.MustCompile(`^-\w*[ceErRp]$|^--(eval|exec|print|command|execute|run|code)$`)

// language looks at interpreters of other languages: of their texts, the words are compared.
func (u *unfolding) language(i int, name string) {
	args := u.c.full[i+1:]
	if end := slices.IndexFunc(args, func(w word) bool { return w.text == ";" }); end >= 0 {
		args = args[:end] // of find
	}
	if len(args) == 1 && (args[0].text == "--version" || args[0].text == "--help" || args[0].text == "-V" ||
		args[0].text == "-v" && !strings.HasPrefix(name, "python")) {
		return
	}
	awk := strings.HasSuffix(name, "awk") // its first operand is the text
	code, settled := false, awk
	for _, w := range args {
		if w.vague() && (code || !settled) {
			u.hide("what " + name + " runs is only known when it runs")
		}
		if code || (!settled || awk) && strings.ContainsAny(w.text, meta) {
			u.compare(w.text)
			settled = true
		}
		if len(w.text) > 1 && w.text[0] == '-' {
			code = codeOption.MatchString(w.text)
			continue
		}
		code, settled = w.text == "eval" && !settled, settled || !standsForInput(w.text)
	}
	if !settled {
		u.c.reads = true
		if u.c.stdin.text != "" {
			u.compare(u.c.stdin.text)
		}
		if !u.c.stdin.known {
			u.hide(name + " runs what it reads")
		}
	}
}

// wrapper looks at commands such as env and xargs. For the rules, any of their words may be the command; what is hidden
// is only asked where the command really may begin, or nearly all would be.
func (u *unfolding) wrapper(i int, name string, r runner) {
	if name == "command" && i+1 < len(u.c.full) && (u.c.full[i+1].text == "-v" || u.c.full[i+1].text == "-V") {
		return // it only prints
	}
	if name == "xargs" || name == "parallel" {
		u.fill(i)
	}
	split := func(w word) bool { return strings.HasPrefix(w.text, "-S") || strings.HasPrefix(w.text, "--split") }
	if r.evaluates || name == "env" && slices.ContainsFunc(u.c.full[i+1:], split) {
		for _, w := range u.c.full[i+1:] {
			if strings.ContainsAny(w.text, meta) {
				u.run(w)
			}
		}
		u.feed()
	}
	u.anyFrom(i + 1)
	if name == "eval" && i+1 < len(u.c.full) {
		var texts []string
		for _, w := range u.c.full[i+1:] {
			texts = append(texts, w.text)
		}
		u.within(strings.Join(texts, " "))
	}
	if n := u.commands(i+1, r.leading); listed("at batch crontab", name) || n == 0 && idle(name, u.c.full[i+1:]) {
		u.feed()
		if !u.c.stdin.known {
			u.hide(name + " may run what it reads")
		}
	}
}

// commands looks at all words from i on that may be the command a wrapper runs, and counts them.
func (u *unfolding) commands(i, leading int) (n int) {
	option := false
	for j := i; j < len(u.c.full); j++ {
		w := u.c.full[j]
		switch {
		case w.text == ";": // of find
			return n
		case assignment.MatchString(w.text):
			option = false
		case len(w.text) > 1 && w.text[0] == '-':
			option = !strings.Contains(w.text, "=") && w.text != "--" && !strings.ContainsAny(w.text, "0123456789")
			if w.vague() {
				u.start(j)
			}
		case leading < 0 || option || w.vague():
			u.start(j) // perhaps only the argument of the option
			option = false
			n++
		case leading > 0:
			leading--
		default:
			u.start(j)
			return n + 1
		}
	}
	return n
}

// idle tells whether a wrapper starts a shell if it is given no command.
func idle(name string, args []word) bool {
	if name == "sudo" || name == "doas" {
		return slices.ContainsFunc(args, func(w word) bool { return listed("-s -i --shell --login", w.text) })
	}
	return listed(idleNames, name)
}

// anyFrom says that any word from i on may begin a command, or be a text of commands.
func (u *unfolding) anyFrom(i int) {
	if u.c.from > 0 && u.c.from <= i {
		return
	}
	u.softly(func() {
		for _, w := range u.c.full[min(i, len(u.c.full)):] {
			u.text(w)
		}
	})
	u.c.from = i
}

// fill takes into account that xargs and parallel add words of their input, at the end or at a mark.
func (u *unfolding) fill(i int) {
	marks := []string{"{}"}
	words := slices.Clone(u.c.full)
	for j, w := range words[i+1:] {
		if s, ok := strings.CutPrefix(w.text, "-I"); ok && s != "" {
			marks = append(marks, s)
		} else if ok && i+j+2 < len(words) {
			marks = append(marks, words[i+j+2].text)
		}
		if _, s, ok := strings.Cut(w.text, "--replace="); ok && s != "" {
			marks = append(marks, s)
		}
	}
	u.slots(words[i+1:], marks)
	if !words[len(words)-1].dynamic {
		words = append(words, word{dynamic: true})
		u.done = append(u.done, false)
	}
	u.c.full = words
}

func (u *unfolding) slots(words []word, marks []string) {
	for j := range words {
		for _, m := range marks {
			words[j].slot = words[j].slot || m != "" && strings.Contains(words[j].text, m)
		}
	}
}

// carrier looks at commands that run what follows one of their markers.
func (u *unfolding) carrier(i int, name string, markers []string) {
	switch name {
	case "find", "fd", "fdfind":
		words := slices.Clone(u.c.full)
		u.slots(words[i+1:], []string{"{}"})
		u.c.full = words
	case "git":
		u.git(i)
	case "sed":
		u.sed(i)
	}
	read := func(w word) {
		w.text = strings.TrimPrefix(w.text, "exec=") // an action of tar
		if listed(editorNames, name) {
			u.softly(func() { u.run(w) })
		} else {
			u.run(w)
		}
	}
	for j := i + 1; j < len(u.c.full); j++ {
		for _, m := range markers {
			rest, found := strings.CutPrefix(u.c.full[j].text, m)
			switch {
			case !found:
			case rest == "" && m[0] == '-':
				if j+1 < len(u.c.full) {
					u.start(j + 1)
					if strings.ContainsAny(u.c.full[j+1].text, meta) {
						read(u.c.full[j+1])
					}
				}
			case rest == "":
				u.anyFrom(j + 1)
				leading := 0
				if listed("docker podman nerdctl kubectl oc ip", name) {
					leading = 1 // the container comes first
				}
				u.commands(j+1, leading)
				return
			case rest[0] == '=' && len(m) > 2:
				read(word{text: rest[1:]})
			case m == "+", len(m) == 2 && m[0] == '-' && m[1] != '-':
				read(word{text: rest})
			}
		}
	}
}

// git looks for settings that hold commands, above all aliases.
func (u *unfolding) git(i int) {
	set := func(key, value string) {
		v, runs := strings.CutPrefix(value, "!")
		switch {
		case value == "":
		case runs:
			u.within(v)
		case strings.HasPrefix(key, "alias."):
			u.within("git " + value)
		default: // perhaps a program, perhaps a name
			u.softly(func() { u.within(value) })
		}
	}
	words := u.c.full
	for j := i + 1; j < len(words); j++ {
		w := words[j]
		key, value, ok := strings.Cut(w.text, "=")
		given := words[j-1].text == "-c" || words[j-1].text == "--config"
		alias := strings.HasPrefix(strings.ToLower(key), "alias.")
		if w.vague() && (given && !ok || alias) {
			u.hide("a setting of git is only known when it runs")
		}
		switch {
		case ok && (given || alias):
			set(strings.ToLower(key), value)
		case alias && j+1 < len(words):
			set(strings.ToLower(key), words[j+1].text)
		}
	}
}

// sedRuns is a script of sed with the command or the flag that executes.
var sedRuns = regexp.MustCompile(`(^|[;{}\s\d$/!])e(\s|$)|[^\w\s][a-zA-Z0-9]*e[a-zA-Z0-9]*(\s|;|\}|$)`)

func (u *unfolding) sed(i int) {
	for _, w := range u.c.full[i+1:] {
		if strings.ContainsAny(w.text, meta+"/") && sedRuns.MatchString(w.text) {
			u.compare(w.text)
		}
	}
}

// text reads a word of a wrapper if it is a text, and what an option or a setting in it may hold.
func (u *unfolding) text(w word) {
	if strings.ContainsAny(w.text, meta) || w.dynamic {
		u.run(w)
	}
	if len(w.text) > 2 && w.text[0] == '-' && w.text[1] != '-' {
		u.within(w.text[2:])
	}
}

// run reads a word as commands. Of one that is only known at run time, what was written is read.
func (u *unfolding) run(w word) {
	text := w.text
	if n := len(w.source); w.dynamic && n > 1 && w.source[0] == '"' && w.source[n-1] == '"' {
		text = unescape(w.source[1:n-1], "$`\"\\\n")
	}
	text = strings.TrimLeft(text, ":!| ")
	if text == "" {
		return
	}
	u.within(text)
	if key, value, ok := strings.Cut(text, "="); ok && value != "" && !strings.ContainsAny(key, " \t\n") {
		u.softly(func() { u.within(value) })
	}
}

// holds tells whether a rule applies to anything in the text.
func (r *reader) holds(rule Rule) (hit, perhaps bool) {
	if rule.every() {
		return true, false
	}
	for _, list := range [][]call{r.calls, r.inner} {
		for i := range list {
			h, p := list[i].holds(rule)
			if h {
				return true, false
			}
			perhaps = perhaps || p
		}
	}
	return slices.ContainsFunc(r.code, func(have []string) bool { return subsequence(rule.loose, have) }), perhaps
}

func (c *call) holds(rule Rule) (hit, perhaps bool) {
	try := func(words []word) bool {
		h, p := rule.match(words)
		perhaps = perhaps || p
		return h
	}
	if c.full == nil {
		return rule.match(c.words)
	}
	if try(c.full) || slices.ContainsFunc(c.starts, func(i int) bool { return try(c.full[i:]) }) {
		return true, false
	}
	if c.from > 0 {
		for i := c.from; i < len(c.full); i++ {
			if try(c.full[i:]) {
				return true, false
			}
		}
	}
	return false, perhaps
}

func subsequence(want, have []string) bool {
	for _, h := range have {
		if len(want) > 0 && want[0] == h {
			want = want[1:]
		}
	}
	return len(want) == 0
}

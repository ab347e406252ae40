package command

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxBytes    = 16 << 10     // of a text that is parsed
	maxNesting  = 250          // of brackets: 16,000 of "(" take the parser 0.1 s, 100,000 take it 2.8 s
	maxCommands = 50           // of a text that is allowed; deny and ask rules have no such limit
	maxDepth    = 6            // texts within texts
	maxWithin   = 2 * maxBytes // of all texts within a text
)

// reader is what can be said about a text before it runs.
type reader struct {
	calls   []call     // the commands of the text itself, in its order
	inner   []call     // the commands of texts that it hands to a shell
	code    [][]string // the words of texts that cannot be read, or are written in another language
	targets []Target

	doubt  string // the first reason why it must not run unasked
	hidden string // the first reason why it may hold a command that is in none of the lists
	unread string // the first reason why bash may read the text in another way

	parser *syntax.Parser
	whole  string
	file   *syntax.File // the whole as it was parsed
	text   string       // what is being read: the whole, or a text within it
	depth  int          // of texts within texts
	spent  int          // bytes of texts within the whole
	around
}

// around is what holds where a reader is.
type around struct {
	adrift bool // relative directories are not looked up where the shell is
	fed    bool // a pipe gives input
	maybe  int  // texts around this one that may be commands or not
}

// call is a simple command.
type call struct {
	words []word
	forms // the other commands it may run
	stdin stdin
	files []Operand // what it is given to read
}

// stdin says what a command reads if nothing else feeds it.
type stdin struct {
	text   string // of all here-documents and here-strings
	known  bool   // the text is all it reads
	redirs int
}

func read(text string) *reader {
	return readWith(syntax.NewParser(syntax.Variant(syntax.LangBash)), text)
}

func readWith(parser *syntax.Parser, text string) *reader {
	r := &reader{parser: parser, whole: text}
	if i, c := oddCharacter(text); i >= 0 {
		r.unsure(fmt.Sprintf("it holds the character %U", c))
	}
	if strings.Contains(text, "\\\n") && strings.Contains(text, "#") {
		r.unsure("it has a comment sign and a continued line") // bash and the parser join lines differently there
	}
	r.parse(text, places{""})
	if len(r.calls) > maxCommands {
		r.question(fmt.Sprintf("it holds more than %d commands", maxCommands))
	}
	return r
}

func (r *reader) question(why string) {
	if r.doubt == "" {
		r.doubt = why
	}
}

func (r *reader) hide(why string) {
	r.question(why)
	if r.hidden == "" {
		r.hidden = why
	}
}

func (r *reader) unsure(why string) {
	r.hide(why)
	if r.unread == "" {
		r.unread = why
	}
}

// parse reads a text that starts in one of the directories in.
func (r *reader) parse(text string, in places) {
	fail := func(why string) {
		r.unsure(why)
		r.compare(text)
		if strings.Contains(text, ">") {
			r.targets = append(r.targets, Target{Name: text, Write: true, Dynamic: true})
		}
	}
	if len(text) > maxBytes {
		fail(fmt.Sprintf("it is longer than %d bytes", maxBytes))
		return
	}
	if nesting(text) > maxNesting {
		fail("it is nested too deeply")
		return
	}
	file, err := r.parser.Parse(strings.NewReader(text), "")
	if err != nil {
		fail(fmt.Sprintf("it cannot be parsed (%v)", err))
		return
	}
	if r.depth == 0 {
		r.file = file
	}
	outer := r.text
	r.text = text
	r.list(file.Stmts, in)
	r.text = outer
}

// nesting returns how deep the brackets of a text stand in one another at most.
func nesting(text string) (deepest int) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '[':
			depth++
			deepest = max(deepest, depth)
		case ')', '}', ']':
			depth = max(0, depth-1)
		}
	}
	return deepest
}

// softly reads texts that may be commands or not: what they hold counts for the rules, but that they cannot be read is
// no reason for anything.
func (r *reader) softly(read func()) {
	doubt, hidden, unread, targets := r.doubt, r.hidden, r.unread, r.targets
	r.maybe++
	read()
	r.maybe--
	r.doubt, r.hidden, r.unread, r.targets = doubt, hidden, unread, targets
}

// compare has a text compared with the rules by its words.
func (r *reader) compare(text string) { r.code = append(r.code, scanWords(text)) }

// within reads a text that the text being read hands to a shell. What it may hide matters; whether there is doubt about
// it does not: who allows `bash -c` allows its texts.
func (r *reader) within(text string, in places) {
	if r.spent += len(text); r.depth == maxDepth || r.spent > maxWithin {
		r.hide("it holds too many texts within texts")
		if r.spent < math.MaxInt/2 {
			r.spent = math.MaxInt / 2 // nothing more will be read, but its words are among those of the whole
			r.compare(r.whole)
		}
		return
	}
	doubt, unread := r.doubt, r.unread
	r.depth++
	r.parse(text, in)
	r.depth--
	r.doubt, r.unread = doubt, unread
}

// list reads statements that follow one another. Like all that read commands, it returns in which directories the shell
// may be if the last one succeeds, and if it fails.
func (r *reader) list(stmts []*syntax.Stmt, in places) (yes, no places) {
	yes, no = in, in
	for _, s := range stmts {
		yes, no = r.stmt(s, yes.or(no))
	}
	return yes, no
}

func (r *reader) stmt(s *syntax.Stmt, in places) (yes, no places) {
	yes, no = in, in
	if s.Background || s.Coprocess || s.Disown {
		r.question("it runs in the background")
	}
	for _, rd := range s.Redirs {
		r.redirect(rd, in)
	}
	if s.Cmd != nil {
		yes, no = r.command(s.Cmd, s.Redirs, in)
	}
	switch {
	case s.Background:
		return in, in
	case s.Negated:
		return no, yes
	}
	return yes, no
}

func (r *reader) command(cmd syntax.Command, redirs []*syntax.Redirect, in places) (yes, no places) {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		return r.call(c, redirs, in)
	case *syntax.BinaryCmd:
		switch c.Op {
		case syntax.AndStmt, syntax.OrStmt:
			yes, no = r.stmt(c.X, in)
			if c.Op == syntax.AndStmt {
				y, n := r.stmt(c.Y, yes)
				return y, no.or(n)
			}
			y, n := r.stmt(c.Y, no)
			return yes.or(y), n
		}
		r.stmt(c.X, in)
		fed := r.fed
		r.fed = true
		r.stmt(c.Y, in)
		r.fed = fed
		return in, in
	case *syntax.Block:
		return r.list(c.Stmts, in)
	case *syntax.Subshell:
		r.list(c.Stmts, in)
		return in, in
	case *syntax.IfClause:
		yes, no = r.list(c.Cond, in)
		y, n := r.list(c.Then, yes)
		if c.Else == nil {
			return y.or(no), n
		}
		y2, n2 := r.command(c.Else, nil, no)
		return y.or(y2), n.or(n2)
	case *syntax.TimeClause:
		if c.Stmt == nil {
			return in, in
		}
		return r.stmt(c.Stmt, in)
	case *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause, *syntax.FuncDecl:
		// Such a body may run any number of times, or elsewhere.
		if in != nil && moves(c) {
			in = nil
		}
	case *syntax.DeclClause:
		r.declare(c)
	}
	if fn, ok := cmd.(*syntax.FuncDecl); ok {
		r.question("it defines a function")
		r.stmt(fn.Body, nil)
		return in, in
	}
	r.inside(cmd, in)
	return in, in
}

// inside reads what is below a node: further commands, and what makes a text depend on more than its words.
func (r *reader) inside(n syntax.Node, in places) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			r.stmt(n, in)
			return false
		case *syntax.ForClause:
			r.loop(n)
		case *syntax.ParamExp:
			if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps {
				r.hide("a parameter expansion with @ can run what the value holds")
			}
		case *syntax.Word:
			r.delayed(readWord(n).text, in)
		}
		if why := construct(n); why != "" {
			r.question(why)
		}
		return true
	})
}

// construct names what makes the outcome depend on more than the words. What it does not know is no reason to go on.
func construct(n syntax.Node) string {
	switch n.(type) {
	case nil, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted, *syntax.WhileClause, *syntax.ForClause,
		*syntax.WordIter, *syntax.CaseClause, *syntax.CaseItem:
		return ""
	case *syntax.CmdSubst:
		return "it has a command substitution"
	case *syntax.ProcSubst:
		return "it has a process substitution"
	case *syntax.ParamExp:
		return "it has a parameter expansion"
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.TestClause, *syntax.CStyleLoop:
		return "it evaluates arithmetic, where an array index can run commands"
	case *syntax.ExtGlob:
		return "it has an extended pattern"
	case *syntax.DeclClause, *syntax.Assign, *syntax.ArrayExpr:
		return "it declares a variable"
	case *syntax.CoprocClause:
		return "it starts a coprocess"
	}
	return "it has an unusual construct"
}

// loopVariable is a name that no program takes notice of: not PATH, and not http_proxy.
var loopVariable = regexp.MustCompile(`^[a-z][a-z0-9]{0,9}$`)

func (r *reader) loop(n *syntax.ForClause) {
	iter, ok := n.Loop.(*syntax.WordIter)
	switch {
	case n.Select:
		r.question("it asks with select")
	case ok && (!loopVariable.MatchString(iter.Name.Value) || iter.Name.Value == "histchars"):
		r.question("its loop sets " + iter.Name.Value)
	case ok && slices.ContainsFunc(iter.Items, func(w *syntax.Word) bool { return readWord(w).brace }):
		r.question("it has a brace expansion")
	}
}

// call reads a simple command.
func (r *reader) call(n *syntax.CallExpr, redirs []*syntax.Redirect, in places) (yes, no places) {
	for _, a := range n.Assigns {
		r.assign(a, len(n.Args) > 0, in)
		if a.Value != nil {
			r.inside(a.Value, in)
		}
		if a.Index != nil {
			r.inside(a.Index, in)
		}
		if a.Array != nil {
			r.inside(a.Array, in)
		}
	}
	if len(n.Args) == 0 {
		return in, in
	}
	c := call{words: make([]word, len(n.Args))}
	for i, w := range n.Args {
		c.words[i] = readWord(w)
		if !c.words[i].fixed() {
			c.words[i].source = r.text[w.Pos().Offset():w.End().Offset()]
			if c.words[i].brace {
				r.question("it has a brace expansion")
			}
		}
		if plain(w) {
			r.delayed(c.words[i].text, in)
		} else {
			r.inside(w, in)
		}
	}
	r.add(c, redirs, in)
	return in.after(c.words)
}

// add takes a command into account, and what it may run in its turn.
func (r *reader) add(c call, redirs []*syntax.Redirect, in places) {
	if name := c.words[0]; name.dynamic || name.pattern && name.text != "[" || name.brace ||
		name.tilde && !strings.Contains(name.text, "/") {
		r.hide("the command itself is only known when it runs")
	} else if !name.fixed() && name.text != "[" {
		r.question("the name of the command is not written out")
	}
	for _, rd := range redirs {
		c.stdin.add(rd)
	}
	r.unfold(&c, in)
	if r.maybe == 0 {
		fed := r.fed
		r.fed = r.fed && c.stdin.redirs == 0
		c.files = r.operands(c.words, in)
		for _, i := range c.starts {
			c.files = append(c.files, r.operands(c.full[i:], in)...)
		}
		r.fed = fed
	}
	if r.depth == 0 {
		r.calls = append(r.calls, c)
	} else {
		r.inner = append(r.inner, c)
	}
}

// plain tells whether a word is one literal, as nearly all are.
func plain(w *syntax.Word) bool {
	_, ok := w.Parts[0].(*syntax.Lit)
	return ok && len(w.Parts) == 1
}

// declare makes a command of a clause that the parser does not take for one.
func (r *reader) declare(n *syntax.DeclClause) {
	c := call{words: []word{{text: n.Variant.Value}}}
	for _, a := range n.Args {
		if a.Naked && a.Name == nil && a.Value != nil {
			c.words = append(c.words, readWord(a.Value))
			continue
		}
		w := word{text: a.Name.Value, dynamic: !a.Naked}
		if a.Value != nil {
			w = readWord(a.Value)
			w.text = a.Name.Value + "=" + w.text
		}
		w.source = r.text[a.Pos().Offset():a.End().Offset()]
		c.words = append(c.words, w)
	}
	for _, a := range n.Args {
		if a.Name != nil {
			r.assign(a, false, nil)
		}
	}
	r.add(c, nil, nil)
}

var (
	safeVariable = regexp.MustCompile(`^(LANG|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|CI|TERM|NODE_ENV|GOOS|GOARCH|CGO_ENABLED|` +
		`RUST_BACKTRACE|RUST_LOG)$`)
	// runVariable is a name whose value some program or the shell runs.
	runVariable = regexp.MustCompile(`(PAGER|EDITOR|VISUAL|BROWSER|_SSH|_COMMAND|_CMD|ASKPASS|EXTERNAL_DIFF|LESSOPEN|` +
		`LESSCLOSE|_RSH|PS[0-4])$`)
)

// assign looks at a variable that is set for one command, or for all that follow.
func (r *reader) assign(a *syntax.Assign, forCommand bool, in places) {
	name := a.Name.Value
	r.adrift = r.adrift || name == "CDPATH"
	if !forCommand || !safeVariable.MatchString(name) || a.Append || a.Index != nil || a.Array != nil {
		r.question("it sets " + name)
	}
	if a.Value != nil {
		w := readWord(a.Value)
		if runVariable.MatchString(name) {
			switch {
			case w.dynamic:
				r.hide("what " + name + " makes run is only known when it runs")
			case strings.HasPrefix(name, "PS"):
				r.within(`"`+w.text+`"`, in)
			case w.text != "":
				r.within(strings.TrimLeft(w.text, "|-! "), in)
			}
		}
	}
}

// index is a quoted array index with a substitution: whatever evaluates it as a variable's name runs that.
var index = regexp.MustCompile("[A-Za-z_]\\w*\\[[^]]*(\\$\\(|`)")

// delayed looks into a quoted word for a substitution that is run when the word is used as a variable's name.
func (r *reader) delayed(text string, in places) {
	if strings.Contains(text, "[") && index.MatchString(text) {
		r.softly(func() { r.within(`"`+strings.ReplaceAll(text, `"`, ``)+`"`, in) })
	}
}

func (r *reader) names() []string {
	var names []string
	for i := range r.calls {
		var sb strings.Builder
		for j, w := range r.calls[i].words {
			if j > 0 {
				sb.WriteByte(' ')
			}
			sb.WriteString(w.quote())
		}
		names = append(names, sb.String())
	}
	return names
}

// canonical is the text as it was understood. It holds only if printing and reading it again comes back to the same
// print and the same commands.
func (r *reader) canonical() (string, bool) {
	if ordinary(r.whole) {
		return r.whole, true
	}
	printer := syntax.NewPrinter()
	show := func(file *syntax.File) string {
		var sb strings.Builder
		if err := printer.Print(&sb, file); err != nil {
			return ""
		}
		return strings.TrimRight(sb.String(), "\n")
	}
	once := show(r.file)
	again := readWith(r.parser, once)
	if again.doubt != "" || show(again.file) != once {
		return "", false
	}
	return once, slices.EqualFunc(r.calls, again.calls, func(a, b call) bool { return slices.Equal(a.words, b.words) })
}

// ordinary tells whether a text is words and single spaces in characters that mean nothing to a shell. It is its own
// canonical print.
func ordinary(text string) bool {
	space := true
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' && !space:
			space = true
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_./:,@%+", c) >= 0:
			space = false
		default:
			return false
		}
	}
	return !space
}

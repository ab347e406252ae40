// Package command judges texts of bash: which simple commands a text holds, what rules such as Bash(git diff:*) say of
// them, whether the text provably only reads, which files its redirects open, and which files the commands that only read
// are given (operands.go). Begin with Judge; ParseRule makes its rules. A text for another shell goes to JudgeForeign.
//
// It is a convenience against accidents, not a wall: a name says little about what a program does, and `make` or
// `go test` run what the project says. It knows nothing of paths that rules protect, asks nobody and runs nothing.
//
// Two questions are answered with opposite care. Deny and ask rules must not be dodged: every command counts wherever
// it stands (rule.go), also behind wrappers and in texts that are handed to a shell (unfold.go, runners.go), and what
// cannot be read is compared by words. Allowing must not be won by a trick: there it takes the absence of any doubt
// (read.go), a rule or a table entry for every command, and options that are known to be harmless (options.go). Lists of
// harmful options are no help for that: options can be bundled, abbreviated, and added by the next release.
package command

import (
	"fmt"
	"slices"
	"strings"
)

// Decision is what the rules say of a text. The zero value is the one that is always safe.
type Decision int

const (
	Ask       Decision = iota // an ask rule applies, or the text may hide a command from the deny and ask rules there are
	Deny                      // a deny rule applies
	Allow                     // every command is allowed by a rule or only reads, and there is no doubt
	ReadOnly                  // the text provably only reads, whatever the rules
	Unmatched                 // no rule speaks of it: the mode decides
)

func (d Decision) String() string {
	return [...]string{"ask", "deny", "allow", "read-only", "unmatched"}[d]
}

// Rules are those of one tool, in the order in which they are asked. An empty list says nothing.
type Rules struct{ Deny, Ask, Allow []Rule }

// Verdict is the answer of Judge.
type Verdict struct {
	Decision Decision
	Rule     string    // the rule that decided, as it was written; empty if none did
	Reason   string    // one clause for the user and the model: why the decision is not Allow
	Text     string    // what must be run: the text in its canonical print if it was allowed on its words, else as given
	Commands []string  // the simple commands in the order of the text, quoted where needed; none if it cannot be read
	Targets  []Target  // the files that redirects open, in the order of the text, wherever they stand
	Reads    []Operand // what commands that only read are given, wherever they stand
}

// Target is a file that a redirect opens. A relative Name counts from the directory in which the text starts: a cd
// before the redirect is applied. If it is unsure whether that cd succeeds, there is a target for either case.
type Target struct {
	Name    string // after quote removal; of a dynamic one as it was written, for showing only
	Write   bool
	Dynamic bool // the name depends on the state of the shell: it may be any file
}

// Judge applies the rules to a text of bash. It holds no state and may be called concurrently.
//
// What it allows is only right for a bash that reads no startup files and has no aliases or functions of its own.
// Whatever the decision, the caller has to judge Targets and Reads.
func Judge(text string, rules Rules) Verdict {
	r := read(text)
	v := Verdict{Decision: Unmatched, Text: text, Commands: r.names(), Targets: r.targets, Reads: r.reads(rules.Allow)}
	if v.decideByForce(r, rules) {
		return v
	}
	if i := slices.IndexFunc(rules.Allow, Rule.every); i >= 0 && r.unread == "" {
		v.Decision, v.Rule = Allow, rules.Allow[i].text
		return v
	}
	v.decideByProof(r, rules)
	return v
}

// JudgeForeign is Judge for a text of another shell than bash (zsh, PowerShell, cmd). Nothing is allowed, deny and ask
// rules are compared by words, and where there are any, the text asks.
func JudgeForeign(text string, rules Rules) Verdict {
	r := &reader{}
	r.compare(text)
	r.compare(strings.NewReplacer("`", "", "^", "").Replace(text)) // what these shells have for a backslash
	r.unsure("it is not written for bash")
	v := Verdict{Decision: Unmatched, Text: text, Reason: r.doubt}
	if strings.Contains(text, ">") {
		v.Targets = []Target{{Name: text, Write: true, Dynamic: true}}
	}
	v.decideByForce(r, rules)
	return v
}

// decideByForce applies the rules that hold against every appearance, and tells whether one of them decided.
func (v *Verdict) decideByForce(r *reader, rules Rules) bool {
	hidden := r.hidden
	for _, list := range []struct {
		rules    []Rule
		decision Decision
		reason   string
	}{
		{rules.Deny, Deny, "the rule %s forbids it"},
		{rules.Ask, Ask, "the rule %s asks for it"},
	} {
		for _, rule := range list.rules {
			hit, perhaps := r.holds(rule)
			if hit {
				v.Decision, v.Rule, v.Reason = list.decision, rule.text, fmt.Sprintf(list.reason, rule.name())
				return true
			}
			if perhaps && hidden == "" {
				hidden = "an argument is only known when it runs, and could make it a command of the rule " + rule.name()
			}
		}
	}
	if hidden == "" || len(rules.Deny)+len(rules.Ask) == 0 {
		return false
	}
	v.Decision, v.Reason = Ask, hidden
	return true
}

// decideByProof allows a text whose every command is known to be all right.
func (v *Verdict) decideByProof(r *reader, rules Rules) {
	switch {
	case r.doubt != "":
		v.Reason = r.doubt
		return
	case len(r.calls) == 0:
		v.Reason = "it holds no command"
		return
	}
	decision, by := ReadOnly, ""
	for i := range r.calls {
		rule, why := permit(&r.calls[i], rules.Allow)
		if why != "" {
			v.Reason = why
			return
		}
		if rule != nil {
			decision = Allow
			if by == "" {
				by = rule.text
			}
		}
	}
	text, ok := r.canonical()
	if !ok {
		v.Reason = "it can be read in more than one way"
		return
	}
	v.Decision, v.Rule, v.Text = decision, by, text
}

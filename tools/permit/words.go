package permit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ferrule/tools/internal/roots"
)

// Everything that a model or a user reads of a decision is written here.

// object names what an access is about.
func object(a *Access) string {
	switch a.Kind {
	case ReadPath, WritePath:
		if a.Given != "" {
			return roots.Quoted(a.Given)
		}
		return roots.Quoted(a.Path)
	case RunCommand:
		return "this command"
	case FetchURL:
		return roots.Quoted(a.URL)
	}
	return a.Tool
}

// refusal tells the model what is wrong and what would allow it.
func (p *Policy) refusal(f *finding, c cause, r *rule) string {
	a := f.access
	what := object(a)
	if f.target != nil {
		a = f.target
		what = "this command " + f.verb + " " + object(a) + ", which"
	}
	byRule := "the user would have to allow it" + p.withRule(a)
	switch c {
	case isState:
		return what + " lies in ferrule's own folder, which no tool reads or changes"
	case isProtected:
		return fmt.Sprintf("%s is protected, because %s decides what runs on this machine; %s (--allow or settings.json)",
			what, f.protected, byRule)
	case isOutside:
		return fmt.Sprintf("%s %s; %s, or start ferrule with %s", what, p.where(a), byRule, dirFlag(a))
	case isNewHost:
		return fmt.Sprintf("no rule allows pages of %s; %s (--allow or settings.json)", roots.Quoted(f.what), byRule)
	case isPlan:
		return a.Tool + " is not available while planning (--permission-mode plan): only what changes nothing is; " +
			"write down what you would do and let the user decide"
	case isDontAsk:
		return fmt.Sprintf("no rule allows %s, and --permission-mode dontAsk refuses what would have to be asked; %s",
			what, byRule)
	case isUnlisted:
		return fmt.Sprintf("no rule allows %s; %s (--allow or settings.json)", what, byRule)
	case isUnclear:
		if a.Kind == FetchURL {
			return fmt.Sprintf("%s cannot be fetched: %s", what, f.what)
		}
		return p.unclear(f)
	case isUnknown:
		return p.unclear(f)
	case isBelow, isLinked, isUncounted:
		return p.belowRefusal(f, c, r)
	}
	if f.denied != none {
		return fmt.Sprintf("%s is denied by the rule %s; do without it, or tell the user what it is needed for", what, r)
	}
	return fmt.Sprintf("%s has to be asked about by the rule %s, and %s; do without it, or let the user change the rule",
		what, r, p.noQuestion())
}

// noQuestion says why what should be asked is not.
func (p *Policy) noQuestion() string {
	if p.cfg.Mode == DontAsk || p.cfg.Mode == Plan {
		return "--permission-mode " + p.cfg.Mode.String() + " refuses that"
	}
	return "nobody can be asked"
}

// withRule names the rules that would allow an access.
func (p *Policy) withRule(a *Access) string {
	switch rule := p.suggest(a); {
	case rule == "":
		return ""
	case strings.Contains(rule, " and Bash("):
		return " with the rules " + rule
	case rule == a.Tool && a.Kind == RunCommand:
		return " with the rule " + rule + ", which is for every command"
	default:
		return " with the rule " + rule
	}
}

// unclear is the refusal of a command that rules cannot be applied to. It names them.
func (p *Policy) unclear(f *finding) string {
	what, advice := "checked against the rules", "write it plainly, one command at a time"
	rules := slices.Concat(p.deny.commands, p.ask.commands)
	switch {
	case f.near != nil:
		what = "checked against the rule " + f.near.String()
	case f.asked == isUnknown:
		what, advice = "shown to read only what may be read", "name the files plainly, or the user would have to allow it"+p.withRule(f.access)
		if r := p.anyFor(false); r != nil {
			what = "checked against the rule " + r.String()
		}
	case len(rules) == 1:
		what = "checked against the rule " + rules[0].String()
	case len(rules) > 1:
		what = fmt.Sprintf("checked against the rule %s and %d more", rules[0], len(rules)-1)
	}
	return fmt.Sprintf("this command cannot be %s (%s); %s", what, visible(f.what), advice)
}

// belowRefusal is the refusal of a command that reads a folder with all that is in it.
func (p *Policy) belowRefusal(f *finding, c cause, r *rule) string {
	where := fmt.Sprintf("this command %s %s", f.verb, object(f.target))
	why := fmt.Sprintf(", and %s there lies in ferrule's own folder", roots.Quoted(f.what))
	if near := p.anyFor(false); c == isUncounted && near != nil {
		why = fmt.Sprintf(", which is too much to look through for what the rule %s speaks of", near)
	} else if c == isUncounted {
		why = ", which is too much to look through for links that lead outside the workspace"
	}
	switch {
	case c == isLinked:
		why = fmt.Sprintf(", and the link %s there leads to a folder, outside the workspace or to what may not be read", roots.Quoted(f.what))
	case r != nil && r.Effect == Deny:
		why = fmt.Sprintf(", and %s there is denied by the rule %s", roots.Quoted(f.what), r)
	case r != nil:
		why = fmt.Sprintf(", and %s there has to be asked about by the rule %s", roots.Quoted(f.what), r)
	}
	return where + why + "; name the files it should read, or use Grep, which leaves out what may not be read; the user would have to allow it" +
		p.withRule(f.access)
}

// where says where a path lies that is outside.
func (p *Policy) where(a *Access) string {
	if p.inside(a.Path, false) {
		return "lies in a folder that may only be read"
	}
	return "lies outside the workspace"
}

func dirFlag(a *Access) string {
	if a.Kind == WritePath {
		return "--add-dir DIR"
	}
	return "--read-dir DIR (to read there) or --add-dir DIR (to change it, too)"
}

// question asks the user. What is going to be used stands there as it is, a command at the end so that nothing in it
// can pass for a part of the question.
func (p *Policy) question(f *finding, c cause, r *rule) string {
	a := f.access
	why := map[cause]string{
		isUnclear:   "It cannot be checked against the rules: " + visible(f.what) + ".",
		isUnknown:   "It is not sure that it reads only what may be read: " + visible(f.what) + ".",
		isBelow:     "There, " + roots.Quoted(f.what) + " may not be read.",
		isLinked:    "There, the link " + roots.Quoted(f.what) + " leads elsewhere.",
		isUncounted: "That is too much to look through for what may not be read.",
		isProtected: "It is protected: " + f.protected + " decides what runs on this machine.",
		isOutside:   "It " + p.where(a) + ".",
		isNewHost:   "No rule allows this host yet.",
		isUnlisted:  "No rule allows it.",
	}[c]
	switch {
	case c == isBelow && r != nil:
		why = fmt.Sprintf("There, %s is what the rule %s is about.", roots.Quoted(f.what), visible(r.String()))
	case r != nil:
		why = "The rule " + visible(r.String()) + " asks."
	}
	if f.target != nil {
		why = "It " + f.verb + " " + roots.Quoted(f.target.Path) + ". " + why
	}
	switch a.Kind {
	case ReadPath:
		return fmt.Sprintf("May %s read %s? %s", a.Tool, roots.Quoted(a.Path), why)
	case WritePath:
		return fmt.Sprintf("May %s change %s? %s", a.Tool, roots.Quoted(a.Path), why)
	case FetchURL:
		return fmt.Sprintf("May %s fetch %s? %s The host is %s.", a.Tool, visible(a.URL), why, roots.Quoted(f.what))
	case RunCommand:
		return fmt.Sprintf("May %s run this in %s? %s\n\n%s", a.Tool, roots.Quoted(a.Dir), why, visible(a.Command))
	}
	return fmt.Sprintf("May %s be used? %s", visible(a.Tool), why)
}

// visible is text with everything escaped that cannot be seen, or that moves other text about; lines stay lines.
func visible(s string) string {
	seen := func(r rune) bool { return r == '\n' || strconv.IsPrint(r) }
	if !strings.ContainsFunc(s, func(r rune) bool { return !seen(r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if seen(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRune(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}

package permit

import (
	"fmt"
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
		what = "this command redirects to " + object(a) + ", which"
		if a.Kind == ReadPath {
			what = "this command redirects from " + object(a) + ", which"
		}
	}
	rule := p.suggest(a)
	byRule := "the user would have to allow it"
	if rule != "" {
		byRule += " with the rule " + rule
	}
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
		return fmt.Sprintf("this command cannot be checked against the rules (%s); write it plainly, one command at a time",
			visible(f.what))
	}
	if f.denied != none {
		return fmt.Sprintf("%s is denied by the rule %s; do without it, or tell the user what it is needed for", what, r)
	}
	return fmt.Sprintf("%s has to be asked about by the rule %s, and nobody can be asked; do without it, or let the user change the rule",
		what, r)
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
		isProtected: "It is protected: " + f.protected + " decides what runs on this machine.",
		isOutside:   "It " + p.where(a) + ".",
		isNewHost:   "No rule allows this host yet.",
		isUnlisted:  "No rule allows it.",
	}[c]
	if r != nil {
		why = "The rule " + visible(r.String()) + " asks."
	}
	if f.target != nil {
		why = "It opens " + roots.Quoted(f.target.Path) + ". " + why
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

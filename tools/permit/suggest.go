package permit

import (
	"slices"
	"strings"

	"ferrule/tools/internal/command"
)

// maxSuggested is how many rules for one command are offered.
const maxSuggested = 5

// suggest names the rules that together would allow an access; "" if none can be named.
func (p *Policy) suggest(a *Access) string {
	switch a.Kind {
	case ReadPath, WritePath:
		name := "Read"
		if a.Kind == WritePath {
			name = "Edit"
		}
		return name + "(" + p.patternFor(a) + ")"
	case RunCommand:
		if list := p.suggestCommands(a); len(list) > 0 {
			return strings.Join(list, " and ")
		}
		return a.Tool
	case FetchURL:
		if h, err := hostOf(a.URL); err == nil {
			return "WebFetch(domain:" + h.name + ")"
		}
		return ""
	}
	return a.Tool
}

// suggestCommands finds rules for the simple commands in a text that are not allowed yet. They were tried out: a text with
// a redirect, for one, is allowed only by a rule for every command.
func (p *Policy) suggestCommands(a *Access) (list []string) {
	if !a.Bash {
		return nil
	}
	allowed := func(text string, rules []command.Rule) bool {
		d := command.Judge(text, command.Rules{Allow: rules}).Decision
		return d == command.Allow || d == command.ReadOnly
	}
	rules := slices.Clip(p.allow.judge)
	for _, text := range command.Judge(a.Command, command.Rules{}).Commands {
		spec := "Bash(" + text + ")"
		if allowed(text, rules) || slices.Contains(list, spec) {
			continue
		}
		r, err := parse(Rule{Effect: Allow, Text: spec}, "")
		if err != nil || r.command == nil || len(list) == maxSuggested || strings.Contains(text, "\n") {
			return nil
		}
		list, rules = append(list, spec), append(rules, *r.command)
	}
	if !allowed(a.Command, rules) {
		return nil
	}
	return list
}

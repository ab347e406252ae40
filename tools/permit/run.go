package permit

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"ferrule/tools/internal/command"
)

// run judges a command. What is allowed by rule, or because it only reads, runs in the form that was judged; everything
// else as it was written.
func (p *Policy) run(f *finding, a *Access) {
	f.reads = false
	f.listed = len(p.allow.commands) > 0
	rules := command.Rules{Deny: p.deny.judge, Ask: p.ask.judge}
	judge := command.JudgeForeign
	if a.Bash {
		judge = command.Judge
		rules.Allow = p.allow.judge
	}
	v := judge(a.Command, rules)
	f.what = v.Reason
	switch v.Decision {
	case command.Deny:
		f.refuse(p.deny.command(v.Rule), byRule)
		f.refuse(nil, isUnclear) // if it should name none of ours
	case command.Ask:
		f.must(p.ask.command(v.Rule), byRule)
		f.must(nil, isUnclear) // if no rule asks
	case command.Allow:
		f.allow, f.run = p.allow.command(v.Rule), v.Text
	case command.ReadOnly:
		f.reads, f.run = true, v.Text
	}
	for i := range v.Targets {
		p.target(f, a, &v.Targets[i])
	}
}

// command returns the rule that the judge has named.
func (l *list) command(specifier string) *rule {
	i := slices.IndexFunc(l.commands, func(r *rule) bool { return r.command.String() == specifier })
	if i < 0 {
		return nil
	}
	return l.commands[i]
}

// family returns the rule that speaks of everything that reads, or writes, files.
func (l *list) family(name string) *rule {
	i := slices.IndexFunc(l.named, func(r *rule) bool { return r.fits(name) })
	if i < 0 {
		return nil
	}
	return l.named[i]
}

// target judges a file that a redirect opens. Outside of the workspace it is judged by rules alone: a command can reach
// anything there without a redirect as well.
func (p *Policy) target(f *finding, a *Access, t *command.Target) {
	family, deny, ask := "Read", p.deny.read, p.ask.read
	if t.Write { // what must not be read must not be changed either
		family, deny, ask = "Edit", slices.Concat(p.deny.edit, deny), slices.Concat(p.ask.edit, ask)
	}
	denyAll, askAll := p.deny.family(family), p.ask.family(family)
	unruled := len(deny)+len(ask) == 0 && denyAll == nil && askAll == nil
	if t.Dynamic {
		if !unruled {
			f.what = "where it redirects to is only known when it runs"
			f.must(nil, isUnclear)
		}
		return
	}
	name := p.abs(t.Name)
	if !filepath.IsAbs(t.Name) && !strings.HasPrefix(t.Name, "~") {
		name = filepath.Join(a.Dir, t.Name)
	}
	if within(name, "/dev") && !within(name, "/dev/shm") {
		return // no files
	}
	file := &Access{Tool: a.Tool, Kind: ReadPath, Given: t.Name, Path: realPath(name, nil, true)}
	if t.Write {
		file.Kind = WritePath
	}
	n := p.namesOf(&Access{Path: file.Path, Given: name})
	denied := p.hidden(&n) && (t.Write || !p.ownLog(&n)) && f.refuse(nil, isState)
	denied = f.refuse(cmp.Or(denyAll, hit(deny, &n)), byRule) || denied
	asked := f.must(cmp.Or(askAll, hit(ask, &n)), byRule)
	if c := p.protected(&n); t.Write && c != "" && p.allows(p.allow.edit, &n, !p.inside(n.path, true), c) == nil && f.must(nil, isProtected) {
		f.protected, asked = c, true
	}
	if denied || asked && f.denied == none {
		f.target = file
	}
}

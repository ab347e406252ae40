package permit

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"

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
	p.operands(f, a, &v)
}

// command returns the rule that the judge has named.
func (l *list) command(specifier string) *rule {
	i := slices.IndexFunc(l.commands, func(r *rule) bool { return r.command.String() == specifier })
	if i < 0 {
		return nil
	}
	return l.commands[i]
}

// family returns the rule that speaks of everything that reads files, or writes them.
func (l *list) family(write bool) *rule {
	i := slices.IndexFunc(l.named, func(r *rule) bool { return write && r.fits("Edit") || r.fits("Read") })
	if i < 0 {
		return nil
	}
	return l.named[i]
}

// target judges a file that a redirect opens.
func (p *Policy) target(f *finding, a *Access, t *command.Target) {
	if t.Dynamic {
		if r := p.anyFor(t.Write); r != nil && f.must(nil, isUnclear) {
			f.what, f.near = "where it redirects to is only known when it runs", r
		}
		return
	}
	path := p.at(a.Dir, t.Name)
	file := &Access{Tool: a.Tool, Kind: ReadPath, Given: t.Name, Path: resolve(path)}
	verb := "redirects from"
	if t.Write {
		file.Kind, verb = WritePath, "redirects to"
	}
	p.touch(f, file, path, verb, false)
}

// anyFor returns a rule that asks about files or denies them, for reading or also for writing.
func (p *Policy) anyFor(write bool) *rule {
	for _, l := range []*list{&p.deny, &p.ask} {
		rules := l.read
		if write { // what must not be read must not be changed either
			rules = slices.Concat(l.edit, l.read)
		}
		if r := l.family(write); r != nil {
			return r
		}
		if len(rules) > 0 {
			return rules[0]
		}
	}
	return nil
}

// touch judges a file that a command opens by a redirect or is given to read, as path. Somebody who has allowed the
// command by name is answered for everything but what is denied.
func (p *Policy) touch(f *finding, file *Access, path, verb string, named bool) {
	if within(filepath.ToSlash(file.Path), "/dev") && !within(filepath.ToSlash(file.Path), "/dev/shm") {
		return // no files
	}
	write := file.Kind == WritePath
	if fi, err := os.Stat(file.Path); err == nil {
		file.Info = fi
	}
	n := p.namesOf(&Access{Path: file.Path, Given: path, Info: file.Info})
	own := !write && p.ownLog(&n)
	before := f.denied
	if p.hidden(&n) && !own {
		f.refuse(nil, isState)
	}
	f.refuse(cmp.Or(p.deny.family(write), hit(p.deny.read, &n)), byRule)
	if write {
		f.refuse(hit(p.deny.edit, &n), byRule)
	}
	asked := false
	if !named {
		asked = p.mustTouch(f, &n, write, own)
	}
	if f.denied != before || asked && f.denied == none {
		f.target, f.verb = file, verb
	}
}

// mustTouch notes what asks about such a file, and reports whether it is this that asks.
func (p *Policy) mustTouch(f *finding, n *names, write, own bool) (asked bool) {
	asked = f.must(cmp.Or(p.ask.family(write), hit(p.ask.read, n)), byRule)
	rules := p.allow.read
	if write {
		rules = p.allow.edit
		asked = f.must(hit(p.ask.edit, n), byRule) || asked
	}
	outside := !p.inside(n.path, write)
	free := own || !write && p.cfg.Mode == BypassPermissions // then commands need no proof that they only read
	if outside && !free && p.allows(rules, n, true, "") == nil {
		asked = f.must(nil, isOutside) || asked
	}
	if c := p.protected(n); write && c != "" && p.allows(rules, n, outside, c) == nil && f.must(nil, isProtected) {
		f.protected, asked = c, true
	}
	return asked
}

package permit

import "cmp"

// A finding is what the rules say of an access, before the mode is looked at.
type finding struct {
	access    *Access
	denied    cause
	asked     cause
	denyRule  *rule
	askRule   *rule
	allow     *rule   // an allow rule names the access
	what      string  // why a command is unclear, or the host
	protected string  // the component that is protected
	target    *Access // the file or folder that a command opens or reads, if that asks or is refused
	verb      string  // what the command does with it
	near      *rule   // a rule that cannot be checked
	run       string  // what a command runs as
	reads     bool    // provably changes nothing
	edit      bool    // writes a file
	listed    bool    // allow rules for this tool exist: what is not on the list asks
}

// A cause is why a call is refused or asked about.
type cause uint8

const (
	none cause = iota
	byRule
	isState     // our own folder
	isUnclear   // a host or a command that cannot be told
	isUnknown   // what a command reads that does nothing else
	isProtected // a protected file
	isOutside   // a path outside of the workspace
	isNewHost
	isBelow     // a folder that is read as a whole holds what may not be read
	isLinked    // or a link that leads elsewhere
	isUncounted // or more than can be looked through
	isPlan      // the mode refuses
	isDontAsk
	isUnlisted // no allow rule names it
)

// refuse notes that a rule, or a cause that is none, denies the access. The first one stays. It reports whether it is
// this one.
func (f *finding) refuse(r *rule, c cause) bool {
	if f.denied != none || r == nil && c == byRule {
		return false
	}
	f.denied, f.denyRule = c, r
	return true
}

// must notes what asks. A path outside and a protected file weigh more than a rule: the host's own dialogue does not
// answer for them.
func (f *finding) must(r *rule, c cause) bool {
	heavier := f.asked != isOutside && (c == isOutside || c == isProtected)
	if r == nil && c == byRule || f.asked != none && !heavier {
		return false
	}
	f.asked, f.askRule = c, r
	return true
}

// settle is the table:
//
//	                        default        acceptEdits    plan        dontAsk     bypassPermissions
//	deny rule, state folder refused        refused        refused     refused     refused
//	changes something       -              -              refused     -           -
//	path outside            asks           asks           asks        refused     refused
//	protected file          asks           asks           refused     refused     runs
//	ask rule, new host      asks           asks           asks        refused     runs
//	allow rule, read-only   runs           runs           runs        runs        runs
//	edit in the workspace   runs (a)       runs           refused     refused     runs
//	anything else           runs (a)       runs (a)       refused     refused     runs
//
// (a) but asks if there are allow rules for this tool, or with Config.AskUnmatched.
//
// With Config.HostAnswers the host's dialogue has asked: where the table says asks the call runs, except for a path
// outside and a protected file, which are refused unless a rule allows them.
func (p *Policy) settle(f *finding) Decision {
	mode := p.cfg.Mode
	switch {
	case f.denied != none:
		return p.no(f, f.denied, f.denyRule)
	case mode == Plan && !f.reads:
		return p.no(f, isPlan, nil)
	case mode == Plan && f.asked != none && f.access.Kind == RunCommand: // not known to read only what may be read
		return p.no(f, f.asked, f.askRule)
	case f.asked != none:
		return p.asks(f, f.asked, f.askRule)
	case f.allow != nil:
		return Decision{Verdict: Allow, Rule: f.allow.String(), Run: f.run}
	case f.reads, mode == BypassPermissions, mode == AcceptEdits && f.edit:
		return Decision{Verdict: Allow, Run: f.run}
	case mode == DontAsk:
		return p.no(f, isDontAsk, nil)
	case f.listed, p.cfg.AskUnmatched:
		return p.asks(f, isUnlisted, nil)
	}
	return Decision{Verdict: Allow, Run: f.run}
}

// asks is the answer to what must be asked.
func (p *Policy) asks(f *finding, c cause, r *rule) Decision {
	run := Decision{Verdict: Allow, Run: f.run}
	switch {
	case p.cfg.Mode == BypassPermissions && c != isOutside:
		return run
	case p.cfg.Mode == BypassPermissions, p.cfg.Mode == DontAsk:
		return p.no(f, c, r)
	case p.cfg.HostAnswers && c != isOutside && c != isProtected:
		if r != nil {
			run.Rule = r.String()
		}
		return run
	case p.cfg.HostAnswers:
		return p.no(f, c, r)
	}
	d := Decision{
		Refusal: p.refusal(f, c, r), Offer: p.suggest(cmp.Or(f.target, f.access)), Question: p.question(f, c, r),
		Key: key(f.access), Run: f.access.Command,
	}
	if r != nil {
		d.Rule = r.String()
	}
	return d
}

// no is a refusal.
func (p *Policy) no(f *finding, c cause, r *rule) Decision {
	d := Decision{Verdict: Deny, Refusal: p.refusal(f, c, r)}
	if r != nil {
		d.Rule = r.String()
	}
	return d
}

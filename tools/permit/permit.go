// Package permit decides what a call of a tool may do: at once, only after a question, or not at all.
//
// Begin at New, which makes a Policy of rules, a mode and the workspace, and at Policy.Decide, which is asked before
// anything has an effect. Policy.Hides answers for the files that a search comes by. Grants remembers what the user
// has answered, Audit writes down what was decided.
//
// The order is fixed: deny rules and the state folder, then what must be asked (an ask rule, a protected file, a path
// outside of the workspace, a new host), then allow rules and what provably changes nothing, then the mode (settle.go
// has the table). Deny and ask rules hold for every name of a file that the caller knows, in any case and Unicode form;
// allow rules only for the resolved path, letter by letter.
//
// What it does not do: it asks nobody, and opens no file but a small .git that names a folder and an index of git; for a
// command that reads a whole folder it lists what is in it (operand.go). Rules on commands are a
// convenience against accidents; a program that is allowed can do anything. A rule that names one file or folder,
// without wildcards, also holds for its other names (hard links, bind mounts); a pattern does not, since it cannot know
// what a hard link was made from.
package permit

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"ferrule/tools/internal/command"
)

// A Verdict is what comes of a decision, and what a rule says. The zero value is the careful one.
type Verdict int

const (
	Ask Verdict = iota
	Deny
	Allow
)

func (v Verdict) String() string { return [...]string{"ask", "deny", "allow"}[v] }

// A Mode says what is asked; see the table in settle.go.
type Mode int

const (
	Default Mode = iota
	AcceptEdits
	Plan
	DontAsk
	BypassPermissions
)

var modes = [...]string{"default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"}

func (m Mode) String() string { return modes[m] }

// ParseMode reads the name of a mode as settings and flags have it.
func ParseMode(s string) (Mode, error) {
	i := slices.Index(modes[:], s)
	if i < 0 {
		return 0, fmt.Errorf("%q is no mode; use default, acceptEdits, plan, dontAsk or bypassPermissions", s)
	}
	return Mode(i), nil
}

// A Root is a folder of the workspace: an absolute path without links.
type Root struct {
	Path     string
	ReadOnly bool
}

// Config is what a Policy is made of. The zero value is a server without rules in the default mode that has no
// workspace.
type Config struct {
	Rules        []Rule
	Mode         Mode
	HostAnswers  bool   // the host's own dialogue has asked: what asks is allowed, but not protected files and paths outside
	AskUnmatched bool   // what no rule speaks of asks unless it is read-only, as in the companion; a server lets it run
	Roots        []Root // relative names start at the first
	State        string // our own folder: neither read nor written; "" if there is none
	Logs         string // the folder in State that holds what this session's commands have put out, which may be read
	Home         string // what ~ stands for; "" means os.UserHomeDir
}

// A Policy is the rules that one session lives by. It never changes and may be used by several goroutines at once.
type Policy struct {
	cfg       Config
	parsed    []*rule
	deny      list
	ask       list
	allow     list
	state     []string // the names of the state folder, folded
	logs      []string
	nearState bool // a root holds the state folder or lies in it
	plain     bool // no rule speaks of reading files
}

// list is the rules of one effect.
type list struct {
	named    []*rule // a tool as a whole
	read     []*rule // Read(pattern)
	edit     []*rule
	hosts    []*rule
	commands []*rule
	judge    []command.Rule // those of commands
}

// New makes a policy. The error names the first rule that cannot be read, and where it stands.
func New(c Config) (*Policy, error) {
	if c.Home == "" {
		c.Home, _ = os.UserHomeDir() // without one, "~/" in a rule is an error below
	}
	p := &Policy{cfg: c}
	for _, raw := range c.Rules {
		r, err := parse(raw, c.Home)
		if err != nil {
			return nil, err
		}
		p.parsed = append(p.parsed, r)
	}
	p.prepare()
	return p, nil
}

// With returns the policy for another workspace: that of a session, or roots that the client has changed.
func (p *Policy) With(roots []Root, logs string) *Policy {
	q := &Policy{cfg: p.cfg, parsed: p.parsed}
	q.cfg.Roots, q.cfg.Logs = slices.Clone(roots), logs
	q.prepare()
	return q
}

// Mode returns the mode the policy was made with.
func (p *Policy) Mode() Mode { return p.cfg.Mode }

// prepare sorts the rules by what they speak of and binds their patterns to the workspace.
func (p *Policy) prepare() {
	for _, r := range p.parsed {
		l := map[Verdict]*list{Deny: &p.deny, Ask: &p.ask, Allow: &p.allow}[r.Effect]
		switch {
		case r.command != nil:
			l.commands = append(l.commands, r)
			l.judge = append(l.judge, *r.command)
		case r.host != nil:
			l.hosts = append(l.hosts, r)
		case r.pattern != nil:
			bound := *r
			bound.places = r.pattern.bind(p.cfg.Roots, r.Effect != Allow)
			if r.tool == "Read" {
				l.read = append(l.read, &bound)
			} else {
				l.edit = append(l.edit, &bound)
			}
		default:
			l.named = append(l.named, r)
		}
	}
	p.plain = len(p.deny.named)+len(p.deny.read)+len(p.ask.named)+len(p.ask.read) == 0
	p.state, p.logs = foldedNames(p.cfg.State), foldedNames(p.cfg.Logs)
	for _, root := range p.cfg.Roots {
		for _, s := range p.state {
			r := fold(filepath.ToSlash(root.Path))
			p.nearState = p.nearState || within(r, s) || within(s, r)
		}
	}
}

// A Kind is what an access does to its object.
type Kind int

const (
	Other      Kind = iota // nothing beside what the tool itself is
	ReadPath               // reads a file, or lists or searches a folder
	WritePath              // makes, changes or removes a file
	RunCommand             // runs a command
	FetchURL               // gets a page
)

// An Access is what a call is about to do. A call that does several things asks for each.
type Access struct {
	Tool     string
	ReadOnly bool // the caller vouches that the tool changes nothing; what a foreign server says of itself is no reason
	Kind     Kind

	Given   string      // the path as the model wrote it
	Path    string      // where it leads: absolute, without links
	Aliases []string    // further names that are known of it, such as the links on the way; absolute or below the first root
	Info    fs.FileInfo // what stands there, if anything

	Command string
	Dir     string // where the shell stands; absolute
	Bash    bool   // bash runs the command; for another shell no command is allowed by rule

	URL string
}

// A Decision is the answer to an Access.
type Decision struct {
	Verdict  Verdict
	Rule     string // the rule that decided, with its source; "" if none did
	Refusal  string // for the model, if the call is refused or nobody can be asked: what is wrong and what would allow it
	Offer    string // of what has to be asked: the rules that would allow it, joined by " and "; "" if none can be named
	Question string // for the user, if the verdict is Ask; a command stands at its end as it will run
	Key      string // what an answer for the session is bound to, see Grants; set if the verdict is Ask
	Run      string // the text to run, byte for byte what was judged and shown
}

// Decide says what becomes of an access. Without rules a path inside of the workspace costs a few comparisons.
func (p *Policy) Decide(a Access) Decision {
	if a.Kind == ReadPath && a.ReadOnly && p.plain && !p.nearState && p.readable(a.Path) {
		return Decision{Verdict: Allow}
	}
	return p.decide(a)
}

func (p *Policy) decide(a Access) Decision {
	f := finding{access: &a, reads: a.ReadOnly, run: a.Command}
	f.refuse(p.deny.byTool(&a), byRule)
	f.must(p.ask.byTool(&a), byRule)
	f.allow = p.allow.byTool(&a)
	switch a.Kind {
	case ReadPath, WritePath:
		p.path(&f, &a)
	case RunCommand:
		p.run(&f, &a)
	case FetchURL:
		p.fetch(&f, &a)
	}
	return p.settle(&f)
}

// readable reports whether a path lies in the workspace.
func (p *Policy) readable(path string) bool {
	for i := range p.cfg.Roots {
		if within(path, p.cfg.Roots[i].Path) {
			return true
		}
	}
	return false
}

// byTool returns the rule that names the tool of an access as a whole.
func (l *list) byTool(a *Access) *rule {
	for _, r := range l.named {
		if r.names(a) {
			return r
		}
	}
	return nil
}

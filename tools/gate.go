package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"ferrule/shell"
	"ferrule/tools/internal/roots"
	"ferrule/tools/permit"
)

// Before a tool has any effect it asks here whether it may. Reading, writing and
// running each have their function; none of them has an effect of its own, since
// a question to the user can mean that the tool is called again.

// policy returns what the session lives by with the roots as they stand now, or
// nil if everything is allowed. With an error nothing is.
func (s *Session) policy() (*permit.Policy, error) {
	if s.cfg.Policy == nil {
		return nil, nil
	}
	set := s.roots.set.Load()
	if b := s.gate.bound.Load(); b != nil && b.set == set {
		return b.policy, nil
	}
	p, err := s.cfg.Policy(set.First())
	if err != nil {
		return nil, fmt.Errorf("nothing may be done, because the permission settings cannot be used: %v; the user has to mend that", err)
	}
	var dirs []permit.Root
	for _, d := range set.Dirs() {
		dirs = append(dirs, permit.Root{Path: d.Path, ReadOnly: d.ReadOnly})
	}
	b := &bound{set, p.With(dirs, s.logDir())}
	s.gate.bound.Store(b)
	return b.policy, nil
}

// gate is what a session knows of its permissions.
type gate struct {
	bound  atomic.Pointer[bound] // see policy
	grants permit.Grants         // what the user has said yes to for the session
}

// bound is a policy for certain roots.
type bound struct {
	set    *roots.Set
	policy *permit.Policy
}

// may decides about an access and asks the user if need be. It returns the
// command to run, if it is one. The error is for the model.
func (r *request) may(ctx context.Context, a permit.Access) (run string, err error) {
	p, err := r.policy()
	if p == nil {
		return a.Command, err
	}
	a.Tool, a.ReadOnly = r.tool.Name, r.tool.Hints.ReadOnly
	d := p.Decide(a)
	entry := permit.EntryOf(r.id, a, d)
	switch {
	case d.Verdict == permit.Allow:
	case d.Verdict == permit.Deny:
		err = errors.New(d.Refusal)
	case r.gate.grants.Has(d.Key):
		entry.Decision = "allowed for this session"
	default:
		entry.Decision, err = r.ask(ctx, d)
	}
	if !errors.Is(err, ErrPending) {
		if told := r.cfg.Audit.Add(entry); told != nil && err == nil {
			return "", fmt.Errorf("the audit log cannot be written (%v), so nothing may run; the user has to mend that", told)
		}
	}
	if err != nil {
		return "", err
	}
	return d.Run, nil
}

// nobodyToAsk is what the log says of a question that could not be asked.
const nobodyToAsk = "nobody to ask"

// ask puts a question to the user and words the answer, for the log and, if it
// is no yes, for the model.
func (r *request) ask(ctx context.Context, d permit.Decision) (decision string, err error) {
	answer, err := askPermission(ctx, r.host, d.Question)
	switch {
	case errors.Is(err, ErrNoUser):
		return nobodyToAsk, errors.New(d.Refusal)
	case err != nil:
		return "not answered", err
	}
	switch answer.decision {
	case allowedOnce:
		return "allowed once", nil
	case allowedSession:
		r.gate.grants.Add(d.Key)
		return "allowed for this session", nil
	case denied:
		if answer.reason != "" {
			return "denied by the user", fmt.Errorf("the user does not allow it and says: %s", answer.reason)
		}
		return "denied by the user", errors.New("the user does not allow it; do without it, or ask what to do instead")
	}
	return "not answered", errors.New("the user has put the question aside without an answer, so it was not done; go on without it or ask again later")
}

// mayShow returns an error unless a file of the workspace may be read without a
// question: prompts hold files, too, and a model can choose which.
func (s *Session) mayShow(p roots.Place) error {
	policy, err := s.policy()
	if policy == nil {
		return err
	}
	a := permit.Access{Tool: Read.Name, ReadOnly: true, Kind: permit.ReadPath, Given: p.Given, Path: p.Path, Info: p.Info}
	for _, l := range p.Links {
		a.Aliases = append(a.Aliases, l.Name)
	}
	d := policy.Decide(a)
	if told := s.cfg.Audit.Add(permit.EntryOf(s.id, a, d)); told != nil {
		return told
	}
	if d.Verdict != permit.Allow {
		return errors.New(d.Refusal)
	}
	return nil
}

// toRead returns the place of a path that must exist and may be read.
func (r *request) toRead(ctx context.Context, name string) (roots.Place, error) {
	p, err := r.reach(ctx, name, permit.ReadPath)
	if err == nil && p.Info == nil {
		err = r.missing(p)
	}
	return p, err
}

// fileToRead returns the place of a path that must be a regular file.
func (r *request) fileToRead(ctx context.Context, name string) (roots.Place, error) {
	p, err := r.toRead(ctx, name)
	if err != nil {
		return p, err
	}
	return p, regular(p.Info, name)
}

// folderToRead returns the place of a path that must be a directory; "" stands
// for the first root.
func (r *request) folderToRead(ctx context.Context, name string) (roots.Place, error) {
	p, err := r.toRead(ctx, orHere(name))
	if err != nil {
		return p, err
	}
	return p, folder(p.Info, name)
}

// toWrite returns the place of a path that may be written: a regular file or
// one that does not exist yet.
func (r *request) toWrite(ctx context.Context, name string) (roots.Place, error) {
	p, err := r.reach(ctx, name, permit.WritePath)
	if err != nil {
		return p, err
	}
	return p, writable(p, name)
}

// reach resolves a path and decides about it. A path outside of the workspace
// is reached if a rule or the user allows it.
func (r *request) reach(ctx context.Context, name string, kind permit.Kind) (roots.Place, error) {
	way := toRead
	if kind == permit.WritePath {
		way = toChange
	}
	p, err := r.resolve(name, way)
	var outside *roots.OutsideError
	switch {
	case errors.As(err, &outside) && r.cfg.Policy != nil:
		return r.reachOutside(ctx, outside, kind, err)
	case err != nil:
		return p, err
	case kind == permit.WritePath && p.ReadOnly:
		return p, nil // which is refused anyway
	}
	a := permit.Access{Kind: kind, Given: name, Path: p.Path, Info: p.Info}
	for _, l := range p.Links {
		a.Aliases = append(a.Aliases, l.Name)
	}
	_, err = r.may(ctx, a)
	return p, err
}

// reachOutside decides about a path outside of the workspace. refusal is what
// the model is told if nothing speaks for it.
func (r *request) reachOutside(ctx context.Context, o *roots.OutsideError, kind permit.Kind, refusal error) (roots.Place, error) {
	path, err := realPath(o.Path)
	if err != nil {
		return roots.Place{}, refusal
	}
	if _, err := r.roots.Resolve(path); err == nil {
		return roots.Place{}, refusal // out and in again: whoever swaps a link on the way decides where it leads
	}
	a := permit.Access{Kind: kind, Given: o.Given, Path: path, Aliases: []string{o.Path}}
	if fi, err := os.Lstat(path); err == nil {
		a.Info = fi
	}
	a.Tool, a.ReadOnly = r.tool.Name, r.tool.Hints.ReadOnly
	policy, err := r.policy()
	if err != nil {
		return roots.Place{}, err
	}
	if d := policy.Decide(a); d.Verdict == permit.Ask && !r.host.CanAsk() && !r.gate.grants.Has(d.Key) {
		entry := permit.EntryOf(r.id, a, d)
		entry.Decision = nobodyToAsk
		r.cfg.Audit.Add(entry)                                                                    // if that fails it is refused all the same
		return roots.Place{}, fmt.Errorf("%v; the rule %s would allow it, too", refusal, d.Offer) // it tells more than the policy knows: the link
	}
	if _, err := r.may(ctx, a); err != nil {
		return roots.Place{}, err
	}
	p, err := r.openOutside(path)
	if err != nil {
		return roots.Place{}, fmt.Errorf("%s cannot be reached: %s", printable(o.Given), reason(err))
	}
	p.Given, p.ReadOnly = o.Given, kind == permit.ReadPath
	return p, nil
}

// maxOutside bounds the folders outside of the workspace that are held open.
const maxOutside = 256

// openOutside returns the place of a path without links outside of the
// workspace, which somebody has allowed.
func (s *Session) openOutside(path string) (roots.Place, error) {
	dir := filepath.Dir(path)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return roots.Place{}, errors.New("the session is closed")
	}
	set := s.outside[dir]
	if set == nil {
		if len(s.outside) >= maxOutside {
			return roots.Place{}, errors.New("too many folders outside of the workspace are in use; let the user add one with --add-dir DIR")
		}
		var err error
		if set, err = roots.Open([]string{dir}, nil); err != nil {
			return roots.Place{}, err
		}
		if s.outside == nil {
			s.outside = make(map[string]*roots.Set)
		}
		s.outside[dir] = set
	}
	return set.Resolve(path)
}

// realPath returns a path without links. The last part need not exist.
func realPath(path string) (string, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// toRun decides about a command and returns the text to run.
func (r *request) toRun(ctx context.Context, command string) (string, error) {
	r.mu.Lock()
	dir := r.dir
	r.mu.Unlock()
	if dir == "" {
		dir = r.roots.First()
	}
	return r.may(ctx, permit.Access{Kind: permit.RunCommand, Command: command, Dir: dir, Bash: shell.Name() == "bash"})
}

// visibleIn returns what tells the files below a folder that may be seen, or
// nil if all may. The folder itself was asked about before.
func (s *Session) visibleIn(dir string) func(path string, isDir bool) bool {
	p, _ := s.policy()
	if p == nil {
		return nil
	}
	hides := p.Hides(dir)
	if hides == nil {
		return nil
	}
	return func(path string, isDir bool) bool { return !hides(path, isDir) }
}

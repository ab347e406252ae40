package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"

	"ferrule/cmd/internal/settings"
	"ferrule/mcpserver"
	"ferrule/mcpserver/auth"
	"ferrule/memory"
	"ferrule/tools"
	"ferrule/tools/permit"
)

// permissionFlags binds the flags about permissions.
func permissionFlags(to *settings.Flags, f *flag.FlagSet) {
	f.StringVar(&to.Mode, "permission-mode", "", "")
	f.StringVar(&to.Answers, "permission", "", "")
	f.Func("allow", "", list(&to.Allow))
	f.Func("ask", "", list(&to.Ask))
	f.Func("deny", "", list(&to.Deny))
}

// governed is the action of a command that calls tools: before it begins, the
// settings are read, their mistakes and warnings told, and the audit log is
// opened.
func governed(act action) action {
	return func(ctx context.Context, e environment, o options, args []string) error {
		s, err := o.settings()
		if err != nil {
			return err
		}
		for _, w := range s.Warnings {
			fmt.Fprintf(e.err, "ferrule: %s\n", w)
		}
		for _, d := range s.Dirs {
			if fi, err := os.Stat(d.V); err != nil || !fi.IsDir() {
				fmt.Fprintf(e.err, "ferrule: %s: %s is not a directory, so it is left out\n", d.From, d.V)
				continue
			}
			if !slices.Contains(o.workspace.Roots, d.V) {
				o.more = append(o.more, d.V)
				o.workspace.Roots = append(o.workspace.Roots, d.V)
			}
		}
		if _, err := o.workspace.Sandbox.Check(); err != nil {
			return err
		}
		o.workspace.Policy = o.policyWith(o.permissions)
		if o.workspace.State != "" {
			if o.workspace.Audit, err = permit.OpenAudit(o.workspace.State); err != nil {
				return fmt.Errorf("the audit log cannot be opened: %v", err)
			}
			defer o.workspace.Audit.Close()
		}
		o.workspace.Documents = tools.NewDocuments(o.workspace.State)
		defer o.workspace.Documents.Close()
		closeMemory, err := o.useMemory(e)
		if err != nil {
			return err
		}
		return errors.Join(act(ctx, e, o, args), closeMemory())
	}
}

// governedBy is a command whose action is governed.
func governedBy(c command) command {
	return func(f *flag.FlagSet) action { return governed(c(f)) }
}

// settings reads the settings for the first folder of the workspace. Rules that
// cannot be used are an error, too.
func (o *options) settings() (*settings.Settings, error) {
	project := ""
	if len(o.workspace.Roots) > 0 {
		project = o.workspace.Roots[0]
	}
	s, err := settings.Load(settings.Options{Home: o.workspace.State, Project: project, Flags: o.permissions})
	if err != nil {
		return nil, err
	}
	_, err = permit.New(s.Config())
	return s, err
}

// policyWith returns what makes the policy of a session. A client can open
// another project, whose deny and ask rules count from then on.
func (o options) policyWith(flags settings.Flags) func(project string) (*permit.Policy, error) {
	state := o.workspace.State
	return func(project string) (*permit.Policy, error) {
		s, err := settings.Load(settings.Options{Home: state, Project: project, Flags: flags})
		if err != nil {
			return nil, err
		}
		c := s.Config()
		c.State = state
		return permit.New(c)
	}
}

// configFor is what a principal is served: what the flags say, narrowed by what
// was fixed when the token was made.
func configFor(o options, p auth.Principal) (mcpserver.Config, error) {
	if len(p.Roots)+len(p.ReadDirs) > 0 {
		o.workspace.Roots, o.workspace.ReadDirs, o.more = p.Roots, p.ReadDirs, nil
	}
	if p.Name != auth.Main {
		o.workspace.MemoryUser = memory.UserScope + ":" + p.Name // what the user told his own models is not for others
	}
	o.selection.ReadOnly = o.selection.ReadOnly || p.ReadOnly
	flags := o.permissions
	flags.Allow = slices.Concat(flags.Allow, p.Allow)
	flags.Ask = slices.Concat(flags.Ask, p.Ask)
	flags.Deny = slices.Concat(flags.Deny, p.Deny)
	o.workspace.Policy = o.policyWith(flags)
	if _, err := o.workspace.Policy(""); err != nil {
		return mcpserver.Config{}, err
	}
	c := configOf(o)
	c.Guessed = false // who is not on this machine's standard input does not choose the folders
	return c, nil
}

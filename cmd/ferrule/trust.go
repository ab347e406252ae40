package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"ferrule/cmd/internal/settings"
	"ferrule/mcpserver"
	"ferrule/tools/permit"
)

// trust shows what a project's settings would allow and remembers the yes to this very content.
func trust(f *flag.FlagSet) action {
	list := f.Bool("list", false, "")
	remove := f.Bool("remove", false, "")
	return func(_ context.Context, e environment, o options, args []string) error {
		if len(args) > 1 || *list && (*remove || len(args) > 0) {
			return errors.New("usage: ferrule trust [--remove] [DIR], or ferrule trust --list")
		}
		home := o.workspace.State
		t, err := settings.OpenTrust(home)
		if err != nil {
			return err
		}
		if *list {
			return listTrust(e.out, t, home)
		}
		dir := "."
		if len(args) == 1 {
			dir = args[0]
		} else if len(o.workspace.Roots) > 0 {
			dir = o.workspace.Roots[0]
		}
		if *remove {
			return removeTrust(e.out, t, dir)
		}
		p, err := settings.ReadProject(dir, home)
		if err != nil {
			return err
		}
		return addTrust(e.out, t, p)
	}
}

func addTrust(out io.Writer, t *settings.Trust, p *settings.Project) error {
	if p.Hash == "" {
		_, err := fmt.Fprintf(out, "%s has no settings, so there is nothing to trust.\n", shown(p.Dir))
		return err
	}
	if _, err := permit.New(permit.Config{Rules: slices.Concat(p.Narrowing, p.Allow)}); err != nil {
		return err
	}
	known := t.Trusts(p)
	for _, f := range p.Files {
		fmt.Fprintf(out, "%s: %s\n", shown(f.Path), f.State)
	}
	writeRules(out, "Rules that hold in any case:", p.Narrowing)
	writeRules(out, "Rules that hold when you trust it, which let tools run without a question:", p.Allow)
	for _, w := range p.Warnings {
		fmt.Fprintln(out, w)
	}
	if known {
		_, err := fmt.Fprintln(out, "You trust this already.")
		return err
	}
	if err := t.TrustProject(p); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "Trusted as it is now; when a file changes, its allow rules stop until you trust it again. "+
		"ferrule trust --remove takes it back.")
	return err
}

func writeRules(out io.Writer, head string, rules []permit.Rule) {
	if len(rules) == 0 {
		return
	}
	fmt.Fprintln(out, head)
	for _, r := range rules {
		fmt.Fprintf(out, "  %-5s %s  (%s)\n", r.Effect, shown(r.Text), shown(r.At))
	}
}

func removeTrust(out io.Writer, t *settings.Trust, dir string) error {
	name, err := settings.ProjectDir(dir)
	if err != nil { // a folder that is gone can still be trusted
		if name, err = filepath.Abs(dir); err != nil {
			return err
		}
	}
	was, err := t.Remove(name)
	switch {
	case err != nil:
		return err
	case !was:
		return fmt.Errorf("%s is not trusted; ferrule trust --list shows what is", shown(name))
	}
	_, err = fmt.Fprintf(out, "%s is no longer trusted.\n", shown(name))
	return err
}

func listTrust(out io.Writer, t *settings.Trust, home string) error {
	records := t.Records()
	if len(records) == 0 {
		_, err := fmt.Fprintln(out, "No project is trusted.")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PROJECT\tWHAT\tSINCE\tNOW")
	for _, r := range records {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", shown(r.Project), shown(r.Subject), r.Time.Local().Format(time.DateTime), standing(r, home))
	}
	return w.Flush()
}

// standing says whether a yes still counts.
func standing(r settings.TrustRecord, home string) string {
	hash := ""
	if dir, err := settings.ProjectDir(r.Project); err != nil || dir != r.Project {
		return "does not count: the folder is gone"
	}
	switch r.Subject {
	case settings.OfSettings:
		if p, err := settings.ReadProject(r.Project, home); err == nil { // what cannot be read any more has changed
			hash = p.Hash
		}
	case promptSubject:
		_, hash = mcpserver.WrittenPrompts(r.Project)
	default:
		return "does not count: it is about nothing that this version knows"
	}
	if hash != r.Hash {
		return "does not count: it has changed since"
	}
	return "counts"
}

// shown is text of others for the terminal: in quotes if it holds what cannot be seen.
func shown(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

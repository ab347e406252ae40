package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"ferrule/mcpserver/auth"
)

// token makes, lists and revokes the named tokens of ferrule http. What the
// flags say of folders, of reading only and of permissions is fixed for whoever
// shows the token.
func token(f *flag.FlagSet) action {
	var p auth.Principal
	wordsLast(f.Args()[1:])
	return func(_ context.Context, e environment, o options, args []string) error {
		state := o.workspace.State
		switch {
		case slices.Equal(args, []string{"list"}):
			return listTokens(e, state)
		case len(args) == 2 && args[1] == "revoke":
			return auth.Revoke(state, args[0])
		case len(args) != 2 || args[1] != "add":
			return errors.New("usage: ferrule token add NAME [--root DIR] [--read-dir DIR] [--read-only] [--allow RULE] [--ask RULE] [--deny RULE], ferrule token list, or ferrule token revoke NAME")
		}
		if o.selection.Tools != "" || o.selection.Toolsets != "" || o.permissions.Mode != "" || o.permissions.Answers != "" {
			return errors.New("a token has folders, --read-only and rules of its own; tools and modes are those of the server: give --tools, --toolsets, --permission-mode and --permission to ferrule http")
		}
		p.Name, p.ReadOnly = args[0], o.selection.ReadOnly
		p.Allow, p.Ask, p.Deny = o.permissions.Allow, o.permissions.Ask, o.permissions.Deny
		if _, err := o.settings(); err != nil { // a rule that cannot be used is no rule
			return err
		}
		p.Roots, p.ReadDirs = folders(f, o)
		for _, dir := range slices.Concat(p.Roots, p.ReadDirs) {
			if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
				return fmt.Errorf("%s is not a directory", dir)
			}
		}
		text, err := auth.Add(state, p)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.err, "ferrule: this is the token of %s; it is not shown again\n", p.Name)
		_, err = fmt.Fprintln(e.out, text)
		return err
	}
}

// wordsLast puts the words before the first flag behind everything else, the
// first of them last, because the parsing of flags ends at the first word.
func wordsLast(args []string) {
	n := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") })
	if n < 0 {
		n = len(args)
	}
	if n > 0 {
		copy(args, slices.Concat(args[n:], args[1:n], args[:1]))
	}
}

// folders are those that were named by flags: without any, the holder of the
// token gets those of the server.
func folders(f *flag.FlagSet, o options) (roots, readDirs []string) {
	named := make(map[string]bool)
	f.Visit(func(g *flag.Flag) { named[g.Name] = true })
	if named["root"] || named["C"] {
		roots = o.workspace.Roots
	} else {
		roots = o.more
	}
	return roots, o.workspace.ReadDirs
}

func listTokens(e environment, state string) error {
	all, err := auth.List(state)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tMADE\tMAY\tFOLDERS\tRULES")
	fmt.Fprintf(w, "default\t\twhat the flags of ferrule http say\t\t\t(in %s)\n", filepath.Join(state, "token"))
	for _, p := range all {
		may := "read and change"
		if p.ReadOnly {
			may = "read"
		}
		var where []string
		where = append(where, p.Roots...)
		for _, d := range p.ReadDirs {
			where = append(where, d+" (may only be read)")
		}
		if len(where) == 0 {
			where = []string{"those of the server"}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", p.Name, p.Made.Format(time.DateOnly), may, strings.Join(where, ", "), rules(p))
	}
	return w.Flush()
}

func rules(p auth.Principal) string {
	var all []string
	for _, kind := range []struct {
		name  string
		rules []string
	}{{"allow", p.Allow}, {"ask", p.Ask}, {"deny", p.Deny}} {
		for _, r := range kind.rules {
			all = append(all, kind.name+" "+r)
		}
	}
	return strings.Join(all, ", ")
}

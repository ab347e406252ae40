package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"ferrule/cmd/ferrule/internal/clients"
)

// A configuration is what the flags of ferrule config ask for.
type configuration struct {
	name, url                 string
	list, write, http, force  bool
	global, project, showable bool

	flags  []string // for the entry: the shared flags that the user gave
	rooted bool     // among them is --root
}

// config prints the entry with which a client starts this program, or with
// --write merges it into the client's file. The entry alone goes to standard
// output, everything else to standard error.
func config(f *flag.FlagSet) action {
	var c configuration
	f.BoolVar(&c.list, "list", false, "")
	f.BoolVar(&c.write, "write", false, "")
	f.BoolVar(&c.http, "http", false, "")
	f.BoolVar(&c.force, "force", false, "")
	f.BoolVar(&c.global, "global", false, "")
	f.BoolVar(&c.project, "project", false, "")
	f.BoolVar(&c.showable, "show-token", false, "")
	f.StringVar(&c.name, "name", "ferrule", "")
	f.StringVar(&c.url, "url", "http://127.0.0.1:7117/mcp", "")
	if rest := f.Args(); len(rest) > 1 {
		copy(rest[1:], flagsFirst(f, rest[1:])) // what run parses next
	}
	own := []string{"list", "write", "http", "force", "global", "project", "show-token", "name", "url"}
	return func(ctx context.Context, e environment, o options, args []string) error {
		switch {
		case c.list && len(args) == 0:
			return listClients(e.out)
		case len(args) != 1 || c.global && c.project || c.list:
			return errors.New("usage: ferrule config CLIENT [--write [--force]] [--http [--url URL]] [--name NAME] [--global | --project], or ferrule config --list")
		}
		client, err := clients.Find(args[0])
		if err != nil {
			return err
		}
		if c.flags, c.rooted, err = given(f, o, own); err != nil {
			return err
		}
		if !c.global && !c.project {
			c.project = client.HasProject()
		}
		s, err := c.server(e, o, client)
		if err != nil {
			return err
		}
		if c.write {
			return c.merge(e, o, client, s)
		}
		return c.print(e, o, client, s)
	}
}

// flagsFirst puts the arguments that are no flags last, since parsing ends at
// the first of them and the client's name is best written first.
func flagsFirst(f *flag.FlagSet, args []string) []string {
	var flags, others []string
	for len(args) > 0 && args[0] != "--" {
		name, _, whole := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
		n := 1
		if fl := f.Lookup(name); fl != nil && !whole && len(args) > 1 {
			if b, ok := fl.Value.(interface{ IsBoolFlag() bool }); !ok || !b.IsBoolFlag() {
				n = 2 // its value
			}
		}
		if strings.HasPrefix(args[0], "-") {
			flags = append(flags, args[:n]...)
		} else {
			n = 1
			others = append(others, args[0])
		}
		args = args[n:]
	}
	return slices.Concat(flags, args[:min(1, len(args))], others, args[min(1, len(args)):])
}

// given returns the shared flags that were set, as arguments for an entry.
func given(f *flag.FlagSet, o options, own []string) (all []string, rooted bool, err error) {
	add := func(name string, values []string) {
		for _, v := range values {
			all = append(all, "--"+name, v)
		}
	}
	f.Visit(func(fl *flag.Flag) {
		switch {
		case slices.Contains(own, fl.Name):
		case fl.Name == "root", fl.Name == "C":
			if !rooted {
				add("root", o.workspace.Roots[:len(o.workspace.Roots)-len(o.more)])
			}
			rooted = true
		case fl.Name == "add-dir":
			add(fl.Name, o.more)
		case fl.Name == "read-dir":
			add(fl.Name, o.workspace.ReadDirs)
		case fl.Name == "max-result-chars":
			add(fl.Name, []string{strconv.Itoa(o.workspace.MaxResultChars)})
		case fl.Value.String() == "":
			err = fmt.Errorf("--%s cannot be carried over; print the entry without it and put it in by hand", fl.Name)
		case fl.Value.String() == "true":
			all = append(all, "--"+fl.Name)
		default:
			all = append(all, "--"+fl.Name+"="+fl.Value.String())
		}
	})
	return all, rooted, err
}

// projectDir is the workspace that a project's file and a fixed root are
// about, or "".
func projectDir(o options) string {
	if len(o.workspace.Roots) == 0 {
		return ""
	}
	return o.workspace.Roots[0]
}

// server makes the entry.
func (c *configuration) server(e environment, o options, client clients.Client) (clients.Server, error) {
	s := clients.Server{Name: c.name}
	if c.http {
		s.URL, s.TokenFile = c.url, filepath.Join(o.workspace.State, "token")
		if client.NeedsToken() && c.showable {
			token, err := os.ReadFile(s.TokenFile)
			if err != nil {
				return s, fmt.Errorf("there is no token yet (%v); ferrule http makes it at its first start", err)
			}
			s.Token = strings.TrimSpace(string(token))
		}
		return s, client.Check(s)
	}
	var err error
	if s.Command, err = ownPath(); err != nil {
		return s, err
	}
	if home := e.getenv("FERRULE_HOME"); home != "" { // clients do not all hand their environment on
		s.Env = map[string]string{"FERRULE_HOME": o.workspace.State}
	}
	if s.Args, err = client.Args(c.project, projectDir(o), c.flags, c.rooted); err != nil {
		return s, err
	}
	return s, client.Check(s)
}

// ownPath is the path with which this program is started again: as the user
// called it if that leads here, so that a link to the current version stays a
// link, else where the system says that it is.
func ownPath() (string, error) {
	real, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("the path of this program cannot be told: %v", err)
	}
	called, err := exec.LookPath(os.Args[0])
	if err == nil {
		called, err = filepath.Abs(called)
	}
	if err == nil && sameFile(called, real) {
		return called, nil
	}
	return real, nil
}

// passing reports whether a program was built by go run, which removes it when
// it ends.
func passing(path string) bool {
	dir := filepath.Dir(path)
	return strings.Contains(dir, string(filepath.Separator)+"go-build") && filepath.Base(dir) == "exe"
}

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

func machine(e environment) clients.Machine {
	home := e.getenv("HOME")
	if runtime.GOOS == "windows" || home == "" {
		home, _ = os.UserHomeDir()
	}
	return clients.Machine{OS: runtime.GOOS, Home: home, Getenv: e.getenv}
}

func (c *configuration) print(e environment, o options, client clients.Client, s clients.Server) error {
	file, err := client.File(machine(e), projectDir(o), c.name, c.project)
	switch {
	case err == nil:
		fmt.Fprintf(e.err, "%s: for %s (--write puts it there)\n", client.Title, file)
	case client.HasGlobal() || client.HasProject():
		return err
	}
	c.notes(e.err, o, client, s)
	_, err = io.WriteString(e.out, client.Snippet(s))
	return err
}

// notes says what the user has to know or to do.
func (c *configuration) notes(w io.Writer, o options, client clients.Client, s clients.Server) {
	say := func(format string, a ...any) { fmt.Fprintf(w, "- "+format+"\n", a...) }
	if add := client.AddCommand(s, c.project); add != "" && runtime.GOOS != "windows" && !c.write {
		say("The client's own command does the same: %s", add)
	}
	if s.URL == "" {
		if client.FixedRoot() && !c.rooted {
			say("%s does not tell servers its folder: this entry serves %s and nothing else. --root DIR names another.", client.Title, projectDir(o))
		}
		if c.project {
			say("The path of the program is that of this machine; think before you share the file.")
		}
		if passing(s.Command) {
			say("This ferrule was built by go run and will be gone: build it with go build first.")
		}
	} else if client.NeedsToken() {
		say("The client knows no variables, so the token itself must stand in its file. It is in %s; --show-token puts it in.", s.TokenFile)
	} else {
		say("The client takes the token from the variable %s; it is the content of %s, which ferrule http makes.", clients.TokenVar, s.TokenFile)
	}
	for _, n := range client.Notes() {
		if s.URL == "" || !strings.Contains(n, "--permission") {
			say("%s", n)
		}
	}
}

// outside reports whether a path in dir leads out of it through links. What
// does not exist yet leads where the folder above it does.
func outside(path, dir string) bool {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return true
	}
	for at := path; len(at) >= len(dir); at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err != nil {
			continue
		}
		real, err := filepath.EvalSymlinks(at)
		if err != nil {
			return true // a link to nothing, or to itself
		}
		rel, err := filepath.Rel(root, real)
		return err != nil || !filepath.IsLocal(rel)
	}
	return true
}

// merge writes the entry into the client's file.
func (c *configuration) merge(e environment, o options, client clients.Client, s clients.Server) error {
	path, err := client.File(machine(e), projectDir(o), c.name, c.project)
	if err != nil {
		return err
	}
	switch {
	case s.URL != "" && client.NeedsToken() && c.project && client.HasProject():
		return fmt.Errorf("%s would need the token itself in a file of the project, where it does not belong; use --global", client.Title)
	case s.URL != "" && client.NeedsToken() && s.Token == "":
		return fmt.Errorf("%s knows no variables; --show-token puts the token itself into %s", client.Title, path)
	case c.project && outside(path, projectDir(o)):
		return fmt.Errorf("%s leads out of the project through a link; nothing was written", path)
	case passing(s.Command) && !c.force:
		return errors.New("this ferrule was built by go run and will be gone; build it with go build first")
	}
	old, err := clients.Load(path)
	if err != nil {
		return err
	}
	change, err := client.Merge(old, s, c.force)
	if conflict := (*clients.Conflict)(nil); errors.As(err, &conflict) {
		fmt.Fprint(e.err, conflict.Diff)
		return fmt.Errorf("%s has another server named %q; --force puts this one in its place, --name NAME beside it", path, c.name)
	}
	if err != nil {
		fmt.Fprintf(e.err, "Nothing was written. This is the entry:\n%s", client.Snippet(s))
		return fmt.Errorf("%s: %w", path, err)
	}
	if change.New == nil {
		_, err := fmt.Fprintf(e.out, "nothing to do: %s has the entry\n", path)
		return err
	}
	backup, err := clients.Save(path, old, change.New, time.Now())
	if err != nil {
		return err
	}
	fmt.Fprint(e.err, change.Diff)
	c.notes(e.err, o, client, s)
	if backup != "" {
		backup = ", the old content is in " + backup
	}
	_, err = fmt.Fprintf(e.out, "wrote %s%s\n", path, backup)
	return err
}

func listClients(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CLIENT\tTITLE\tFILE IN A PROJECT\tFILE FOR ALL PROJECTS\tKEY\tHTTP")
	for _, c := range clients.All() {
		http := "token in " + clients.TokenVar
		switch {
		case !c.TakesURL():
			http = "no"
		case c.NeedsToken():
			http = "token in the file"
		}
		global := c.GlobalPattern(runtime.GOOS)
		if !c.HasGlobal() && !c.HasProject() {
			global = "none: set up in the application"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", c.Name, c.Title, c.ProjectPattern(), global, c.Key(), http)
	}
	fmt.Fprintf(w, "\nRead in the makers' documents of %s.\n", clients.Checked)
	return w.Flush()
}

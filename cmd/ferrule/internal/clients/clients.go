// Package clients knows where each MCP client keeps its servers and in what
// form, and enters Ferrule there without touching anything else.
//
// Begin with Find and Client.Merge: from the bytes of a client's file it makes
// the bytes with the entry in it. JSON with or without comments, TOML and YAML
// are edited in place, as text: the file is parsed only to find the spot and
// afterwards to prove that nothing but the entry changed; where that proof
// fails the file is refused. Save puts the bytes on disk, with a backup.
// table.go has what is known of each client.
//
// The package starts nothing and never reads a client's file by itself.
package clients

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// TokenVar is the environment variable from which clients take the token of
// ferrule http.
const TokenVar = "FERRULE_TOKEN"

// A Client is one MCP client. The zero value is none.
type Client struct {
	Name, Title string

	layout   layout
	project  []string // in the project, slashes; the first that exists counts, else the first
	global   paths
	stdio    object // the entry for a server that the client starts
	http     object // the entry for a server that runs already; nil if it cannot
	variable string // how a header names TokenVar; "" if the client knows no variables
	root     string
	asks     bool   // asks before every call, and cannot pass a question of ours on
	oneWord  bool   // takes no command with a space in it
	add      string // the client's own command that does the same
	notes    []string
}

type format int

const (
	formatJSON format = iota
	formatTOML
	formatYAML
)

// A layout is where in a file the entries are.
type layout struct {
	format    format
	container []string // keys from the root to the object that holds the servers
	named     bool     // the container is a list and each entry has its name in it
	head      string   // what a new file begins with
}

// paths is the file of each system. A leading ~ is the home directory, a
// leading ${NAME:-default} an environment variable.
type paths struct{ linux, darwin, windows string }

// A Machine is what paths depend on.
type Machine struct {
	OS     string // as runtime.GOOS
	Home   string
	Getenv func(string) string
}

// A Server is what is to be entered.
type Server struct {
	Name    string
	Command string // absolute path of the program
	Args    []string
	Env     map[string]string

	URL       string // if set, the entry is of a server that runs already
	Token     string // put in literally where the client knows no variables
	TokenFile string // named where neither a variable nor Token will do
}

// All returns every client.
func All() []Client { return slices.Clone(table) }

// Find returns the client of a name. The error names those that there are.
func Find(name string) (Client, error) {
	for _, c := range table {
		if c.Name == strings.ToLower(name) {
			return c, nil
		}
	}
	names := make([]string, len(table))
	for i, c := range table {
		names[i] = c.Name
	}
	return Client{}, fmt.Errorf("no client is called %q; there are %s", name, strings.Join(names, ", "))
}

// HasProject reports whether the client reads a file in the project.
func (c Client) HasProject() bool { return len(c.project) > 0 }

// HasGlobal reports whether the client has a file for all projects that can be
// edited.
func (c Client) HasGlobal() bool { return c.global != paths{} }

// NeedsToken reports whether the token itself must stand in a remote entry.
func (c Client) NeedsToken() bool { return c.http != nil && c.variable == "" }

// TakesURL reports whether the client can use a server that runs already.
func (c Client) TakesURL() bool { return c.http != nil }

// FixedRoot reports whether an entry serves one directory only, since the
// client has no workspace of its own.
func (c Client) FixedRoot() bool { return c.root == fixedRoot }

// Key is the path of keys under which the client keeps its servers.
func (c Client) Key() string { return strings.Join(c.layout.container, ".") }

// ProjectFile returns the client's file for the project in dir.
func (c Client) ProjectFile(dir, name string) string {
	return firstThere(c.project, func(p string) string {
		return filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(p, "{name}", name)))
	})
}

// ProjectPattern is the client's file in a project, as documents write it.
func (c Client) ProjectPattern() string {
	return cmp.Or(strings.Join(c.project, " or "), "-")
}

// GlobalFile returns the client's file for all projects.
func (c Client) GlobalFile(m Machine) string {
	p := c.global.on(m.OS)
	all := []string{p}
	if strings.HasSuffix(p, "opencode.json") {
		all = append(all, p+"c")
	}
	return firstThere(all, m.expand)
}

// GlobalPattern is the client's file for all projects on a system, as
// documents write it.
func (c Client) GlobalPattern(system string) string { return cmp.Or(c.global.on(system), "-") }

func (p paths) on(system string) string {
	switch system {
	case "windows":
		return p.windows
	case "darwin", "ios":
		return p.darwin
	}
	return p.linux
}

// firstThere returns the first path that exists, or the first.
func firstThere(list []string, path func(string) string) string {
	for _, p := range list {
		if _, err := os.Lstat(path(p)); err == nil {
			return path(p)
		}
	}
	return path(list[0])
}

// expand puts the home directory and a variable in.
func (m Machine) expand(p string) string {
	if rest, ok := strings.CutPrefix(p, "${"); ok {
		expr, rest, _ := strings.Cut(rest, "}")
		variable, otherwise, _ := strings.Cut(expr, ":-")
		p = cmp.Or(m.Getenv(variable), otherwise) + rest
	}
	if rest, ok := strings.CutPrefix(p, "~"); ok {
		p = m.Home + rest
	}
	return filepath.FromSlash(p)
}

// Args returns the arguments for an entry: the workspace where the client does
// not say it, and the flags that the user gave. Dir is the directory for
// clients that serve one only; rooted says that the flags name one already.
func (c Client) Args(project bool, dir string, flags []string, rooted bool) ([]string, error) {
	var all []string
	switch {
	case rooted || c.root == ownWorkspace:
	case c.root == folderVar, c.root == projectVar && project:
		all = append(all, "--root", folderVar)
	case c.root == fixedRoot && dir == "":
		return nil, fmt.Errorf("%s has no project folder of its own; go to the project's directory or use --root DIR", c.Title)
	case c.root == fixedRoot:
		all = append(all, "--root", dir)
	}
	all = append(all, flags...)
	if c.asks && !slices.ContainsFunc(flags, func(f string) bool { return f == "--permission" || strings.HasPrefix(f, "--permission=") }) {
		all = append(all, "--permission", "host")
	}
	return all, nil
}

// validName is what every client takes as a name, and what still leaves room
// in the names of tools that clients put it before.
var validName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

// Check says what would make an entry useless.
func (c Client) Check(s Server) error {
	if !validName.MatchString(s.Name) {
		return fmt.Errorf("the name %q must be 1 to 40 letters, digits, - or _", s.Name)
	}
	if s.URL != "" {
		if !c.TakesURL() {
			return fmt.Errorf("%s cannot be given an address in its file; leave --http out", c.Title)
		}
		return nil
	}
	for _, text := range slices.Concat([]string{s.Command}, s.Args, slices.Collect(maps.Values(s.Env))) {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return fmt.Errorf("%q is not valid text and cannot be written into a configuration", text)
		}
	}
	if c.oneWord && strings.ContainsAny(s.Command, " \t") {
		return fmt.Errorf("%s cannot start a command with a space in its path (%s); move ferrule to another folder", c.Title, s.Command)
	}
	return nil
}

// Notes is what the user should know of the client, a sentence each.
func (c Client) Notes() []string {
	n := slices.Clone(c.notes)
	if c.asks {
		n = append(n, c.Title+" asks before a call and cannot pass questions of the server on; --permission host takes its dialogue for the answer.")
	}
	return n
}

// AddCommand is the command of the client that does what Merge does, for a
// POSIX shell, or "" if there is none for this scope.
func (c Client) AddCommand(s Server, project bool) string {
	if c.add == "" || s.URL != "" || project && !strings.Contains(c.add, "{scope}") {
		return ""
	}
	scope := "user"
	if project {
		scope = "project"
	}
	words := make([]string, 0, len(s.Args)+1)
	for _, w := range append([]string{s.Command}, s.Args...) {
		words = append(words, quoteShell(w))
	}
	entry := with(object{{"name", s.Name}}, c.entry(s)...)
	return strings.NewReplacer(
		"{scope}", scope, "{name}", s.Name, "{command}", strings.Join(words, " "), "{json}", quoteShell(compactJSON(entry)),
	).Replace(c.add)
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

func quoteShell(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// errPrinted is returned for clients whose file is not known or not ours to
// edit.
var errPrinted = errors.New("it is set up in the application: paste the entry there")

// File returns the file of one scope.
func (c Client) File(m Machine, dir, name string, project bool) (string, error) {
	switch {
	case !c.HasProject() && !c.HasGlobal():
		return "", fmt.Errorf("%s has no file to write; %w", c.Title, errPrinted)
	case project && !c.HasProject():
		return "", fmt.Errorf("%s reads no file in a project; leave --project out", c.Title)
	case !project && !c.HasGlobal():
		return "", fmt.Errorf("%s has no file for all projects that is known; leave --global out", c.Title)
	case project && dir == "":
		return "", errors.New("no project folder is set; go to the project's directory, or use --root DIR or --global")
	case project:
		return c.ProjectFile(dir, name), nil
	}
	if m.Home == "" {
		return "", errors.New("the home directory is not known; set HOME")
	}
	return c.GlobalFile(m), nil
}

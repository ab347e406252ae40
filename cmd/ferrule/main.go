// Command ferrule serves a workspace's coding tools over the Model Context
// Protocol on standard input and output, and has a few small commands around
// them. Every command is one file here; main.go holds the flags they share.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/term"

	"ferrule/cmd/internal/settings"
	"ferrule/mcpserver"
	"ferrule/shell"
	"ferrule/tools"
)

//go:embed usage.txt
var usage string

func main() {
	log.SetFlags(0)
	log.SetPrefix("ferrule: ")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	env := environment{in: os.Stdin, err: os.Stderr, getenv: os.Getenv, terminal: term.IsTerminal(int(os.Stdin.Fd()))}
	out, err := claimStdout()
	if err != nil {
		log.Fatalf("cannot take standard output: %v", err)
	}
	env.out = out
	if err := shell.HideMemory(); err != nil {
		log.Print(err)
	}
	os.Exit(run(ctx, env, os.Args[1:]))
}

// An environment is what a command sees of the world.
type environment struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	terminal bool // somebody types into in
}

// options are the flags that all commands share.
type options struct {
	workspace tools.Config
	more      []string // --add-dir: further roots
	guessed   bool     // nobody has named a root
	selection tools.Selection
	prompts   promptOptions

	permissions settings.Flags
}

// A command is one word after ferrule. It declares the flags that only it has
// and returns what it does.
type command func(*flag.FlagSet) action

type action func(context.Context, environment, options, []string) error

// plain is a command without flags of its own.
func plain(a action) command { return func(*flag.FlagSet) action { return a } }

func commands() map[string]command {
	return map[string]command{
		"call": plain(governed(call)), "tools": listTools, "undo": undo, "config": config, "http": governedBy(serveHTTP), "token": token, "doctor": plain(doctor), "trust": trust, "audit": audit, "memory": remember, "prompt": governedBy(prompt), "version": plain(printVersion), "help": plain(help),
	}
}

// errTold is the error of a command that has said what is wrong.
var errTold = errors.New("told")

// run is the whole program but for the process it runs in. It returns the exit
// code: 1 for what went wrong, 2 for an unknown command or flag.
func run(ctx context.Context, e environment, args []string) int {
	var o options
	flags := o.flags()
	if err := flags.Parse(args); err != nil {
		return usageError(e, err)
	}
	act := governed(serveStdio)
	if name := flags.Arg(0); name != "" {
		c, ok := commands()[name]
		if !ok {
			return usageError(e, fmt.Errorf("unknown command %q", name))
		}
		act = c(flags)
		if err := flags.Parse(flags.Args()[1:]); err != nil { // flags may stand behind the command, too
			return usageError(e, err)
		}
	}
	o.complete(e)
	switch err := act(ctx, e, o, flags.Args()); {
	case err == nil:
		return 0
	case errors.Is(err, errTold):
		return 1
	default:
		fmt.Fprintf(e.err, "ferrule: %v\n", err)
		return 1
	}
}

func usageError(e environment, err error) int {
	if errors.Is(err, flag.ErrHelp) {
		io.WriteString(e.out, usage)
		return 0
	}
	fmt.Fprintf(e.err, "ferrule: %v; see ferrule help\n", err)
	return 2
}

// minResultChars leaves room for notes and a little of the text.
const minResultChars = 1000

// flags binds the options to their flags.
func (o *options) flags() *flag.FlagSet {
	f := flag.NewFlagSet("ferrule", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	add := func(to *[]string) func(string) error {
		return func(s string) error {
			if s == "" {
				return errors.New("the directory is empty")
			}
			abs, err := filepath.Abs(s)
			*to = append(*to, abs)
			return err
		}
	}
	f.Func("root", "", add(&o.workspace.Roots))
	f.Func("C", "", add(&o.workspace.Roots))
	f.Func("add-dir", "", add(&o.more))
	f.Func("read-dir", "", add(&o.workspace.ReadDirs))
	f.StringVar(&o.selection.Toolsets, "toolsets", "", "")
	f.StringVar(&o.selection.Tools, "tools", "", "")
	f.BoolVar(&o.selection.ReadOnly, "read-only", false, "")
	f.BoolVar(&o.workspace.NoImages, "no-images", false, "")
	o.prompts.flags(f)
	o.commandFlags(f)
	permissionFlags(&o.permissions, f)
	o.workspace.MaxResultChars = tools.DefaultResultChars
	f.Func("max-result-chars", "", func(s string) (err error) {
		if o.workspace.MaxResultChars, err = strconv.Atoi(s); err != nil || o.workspace.MaxResultChars < minResultChars {
			return fmt.Errorf("it must be a number of at least %d", minResultChars)
		}
		return nil
	})
	return f
}

// complete fills in what no flag said. Without a root the workspace is the
// project directory that the client names in the environment, or the working
// directory; never the file system's root or the home directory, which nobody
// means to hand to a model.
func (o *options) complete(e environment) {
	home, _ := os.UserHomeDir()
	o.workspace.State = stateDir(e.getenv("FERRULE_HOME"), home)
	defer func() { o.workspace.Roots = append(o.workspace.Roots, o.more...) }()
	if len(o.workspace.Roots) > 0 {
		return
	}
	cwd, _ := os.Getwd()
	named := cmp.Or(e.getenv("CLAUDE_PROJECT_DIR"), e.getenv("WORKSPACE_FOLDER"))
	o.guessed = named == ""
	dir := cmp.Or(named, cwd)
	if abs, err := filepath.Abs(dir); err == nil && abs != home && abs != filepath.Dir(abs) {
		o.workspace.Roots = []string{abs}
	}
}

// stateDir is where history and logs are kept: never in the workspace by
// accident, and nowhere if there is no home to keep them in.
func stateDir(named, home string) string {
	switch {
	case named != "":
		if abs, err := filepath.Abs(named); err == nil {
			return abs
		}
	case home != "":
		return filepath.Join(home, ".ferrule")
	}
	return ""
}

// serveStdio is what ferrule does without a command.
func serveStdio(ctx context.Context, e environment, o options, _ []string) error {
	if e.terminal {
		fmt.Fprintf(e.err, "%s\nWorkspace: %s\nWaiting for a client on standard input; press Ctrl-D to end.\n",
			strings.TrimSpace(usage), cmp.Or(strings.Join(o.workspace.Roots, ", "), "none (use --root DIR)"))
	}
	o.workspace.Login = shell.AskLogin()
	defer o.workspace.Login.Close()
	s, err := newServer(o)
	if err != nil {
		return err
	}
	return s.ServeStdio(ctx, e.in, e.out)
}

func newServer(o options) (*mcpserver.Server, error) { return mcpserver.New(configOf(o)) }

// configOf is what the flags say.
func configOf(o options) mcpserver.Config {
	return withPrompts(mcpserver.Config{Workspace: o.workspace, Selection: o.selection, Version: version(), Guessed: o.guessed, Added: o.more}, o)
}

// version is the version of the module as built, or "devel".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

func help(_ context.Context, e environment, _ options, _ []string) error {
	_, err := io.WriteString(e.out, usage)
	return err
}

func printVersion(_ context.Context, e environment, _ options, _ []string) error {
	_, err := fmt.Fprintf(e.out, "ferrule %s\n", version())
	return err
}

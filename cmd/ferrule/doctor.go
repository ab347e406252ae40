package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"ferrule/tools"
)

// doctor shows what is here and what counts: the workspace, the programs that
// the tools use, and the limits. It exits with 1 if something is missing.
func doctor(ctx context.Context, e environment, o options, _ []string) error {
	w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	defer w.Flush()
	bad := false
	say := func(what, format string, a ...any) { fmt.Fprintf(w, "%s\t%s\n", what, fmt.Sprintf(format, a...)) }
	say("ferrule", "%s, %s, %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)

	s, err := tools.NewSession(o.workspace)
	if err != nil {
		return err
	}
	defer s.Close()
	if len(o.workspace.Roots) == 0 {
		say("workspace", "MISSING: no project folder; start in a project's directory or use --root DIR")
		bad = true
	}
	for _, d := range s.Dirs() {
		kind := "may be read and changed"
		if d.ReadOnly {
			kind = "may be read"
		}
		say("workspace", "%s (%s)", d.Path, kind)
	}
	if err := permissions(o, say); err != nil {
		say("permissions", "BROKEN: %v", err)
		bad = true
	}
	if err := state(o.workspace.State); err != nil {
		say("state", "MISSING: %v; changes cannot be taken back", err)
		bad = true
	} else {
		say("state", "%s", o.workspace.State)
	}
	if err := remembered(ctx, e, o, say); err != nil {
		say("memory", "BROKEN: %v", err)
		bad = true
	}
	for _, t := range s.Torn() {
		say("torn file", "%s: a write was cut off; ferrule undo %s brings the old content back", t, t)
		bad = true
	}
	for _, p := range []struct{ name, without string }{
		{"bash", "Bash runs /bin/sh instead"},
		{"git", "the prompt has no git snapshot"},
	} {
		say(p.name, "%s", program(ctx, p.name, p.without))
	}
	say("sandbox", "%s", o.sandboxed())
	say("ripgrep", "not needed: Grep and Glob are built in")
	say("result cap", "%d characters", cmp.Or(o.workspace.MaxResultChars, tools.DefaultResultChars))
	if os.Geteuid() == 0 {
		say("user", "root: commands of the model can do anything on this machine")
	}
	for _, name := range []string{"LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV"} {
		if v := e.getenv(name); v != "" {
			say(name, "%s", v)
		}
	}
	if !checkClients(ctx, e, o, func(client, found string) { say(client, "%s", found) }) || bad {
		return errTold
	}
	return nil
}

// permissions shows the settings that count and where they come from.
func permissions(o options, say func(what, format string, a ...any)) error {
	s, err := o.settings()
	if err != nil {
		return err
	}
	answers := "the client asks its user"
	if s.HostAnswers.V {
		answers = "the host asks by itself"
	}
	say("permissions", "mode %s (%s); %s (%s)", s.Mode.V, s.Mode.From, answers, s.HostAnswers.From)
	for _, r := range s.Rules {
		say("rule", "%s %s (%s)", r.Effect, r.Text, r.At)
	}
	for _, d := range s.Dirs {
		say("directory", "%s (%s)", d.V, d.From)
	}
	for _, f := range s.Files {
		say("settings", "%s: %s", f.Path, f.State)
	}
	for _, w := range s.Warnings {
		say("note", "%s", w)
	}
	return nil
}

// remembered shows what memory holds, without making a file for it.
func remembered(ctx context.Context, e environment, o options, say func(what, format string, a ...any)) error {
	if o.workspace.State == "" {
		return nil
	}
	set, err := o.memorySettings(e)
	if err != nil {
		return err
	}
	switch _, err := os.Stat(memoryFile(o)); {
	case !set.Enabled:
		say("memory", "switched off in the settings")
		return nil
	case set.Backend == "sqlite" && errors.Is(err, fs.ErrNotExist):
		say("memory", "%s holds nothing yet", memoryFile(o))
		return nil
	}
	c, err := openMemory(e, o)
	if err != nil {
		return err
	}
	defer c.Close()
	st, err := c.Stats(ctx)
	if err != nil {
		return err
	}
	say("memory", "%s: %d memories, %d of them superseded; %d wait for the server, %d were refused by it",
		cmp.Or(st.File, set.Memex.URL), st.Memories, st.Superseded, st.Queued, st.Parked)
	if st.Damaged > 0 {
		return fmt.Errorf("%d memories cannot be read; see them with ferrule memory check", st.Damaged)
	}
	for _, n := range st.Notes {
		say("memory", "%s", n)
	}
	return nil
}

// state reports why nothing can be kept in the state directory.
func state(dir string) error {
	if dir == "" {
		return errors.New("neither FERRULE_HOME nor HOME is set")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}

// program tells where a program is and its version.
func program(ctx context.Context, name, without string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return "not found: " + without
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	first, _, _ := strings.Cut(string(out), "\n")
	if err != nil || first == "" {
		return path + " (does not tell its version)"
	}
	return path + " (" + first + ")"
}

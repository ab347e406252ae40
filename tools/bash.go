package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ferrule/shell"
)

type bashInput struct {
	Command     string `json:"command"`
	Timeout     int    `json:"timeout,omitempty" schema:"min=1,max=7200000"`
	Description string `json:"description,omitempty"`
	Background  bool   `json:"run_in_background,omitempty" schema:"default=false"`
	Stdin       string `json:"stdin,omitempty" schema:"nul"`
	StdinOpen   bool   `json:"stdin_open,omitempty" schema:"default=false"`
	TTY         bool   `json:"tty,omitempty" schema:"default=false"`
}

// Bash runs a command.
var Bash = define(spec{
	name: "Bash", title: "Run a command", toolset: "shell", large: true,
	hints: Hints{Destructive: true, OpenWorld: true},
}, bash)

const (
	defaultTimeout = 120_000 // milliseconds
	maxForeground  = 600_000
)

func bash(ctx context.Context, r *request, in bashInput) (Result, error) {
	sh, err := r.shell()
	if err != nil {
		return Result{}, err
	}
	switch {
	case strings.TrimSpace(in.Command) == "":
		return Result{}, errors.New("the command is empty; give a command line")
	case (in.TTY || in.StdinOpen) && !in.Background:
		return Result{}, errors.New("tty and stdin_open need run_in_background, because TaskInput types into a background command")
	case in.TTY && (in.Stdin != "" || in.StdinOpen):
		return Result{}, errors.New("with tty the terminal is standard input; leave out stdin and stdin_open, and type with TaskInput")
	}
	text, err := r.toRun(ctx, in.Command)
	if err != nil {
		return Result{}, err
	}
	c := shell.Command{
		Text: text, Description: in.Description,
		Timeout: time.Duration(in.Timeout) * time.Millisecond,
		Stdin:   in.Stdin, HasStdin: in.Stdin != "", OpenStdin: in.StdinOpen, TTY: in.TTY,
		Progress: func(d time.Duration, last string) { r.host.Progress(d.Seconds(), last) },
	}
	r.guardFiles()
	if in.Background {
		t, err := sh.Start(ctx, c)
		if err != nil {
			return Result{}, err
		}
		return Result{Text: withNotes(started(t, in.TTY || in.StdinOpen), endedNotes(sh)), Meta: map[string]any{"task": taskMeta(t)}}, nil
	}
	switch {
	case in.Timeout == 0:
		c.Timeout = defaultTimeout * time.Millisecond
	case in.Timeout > maxForeground:
		return Result{}, fmt.Errorf("timeout must be at most %d, not %d; what takes longer belongs in the background: set run_in_background", maxForeground, in.Timeout)
	}
	res, err := sh.Run(ctx, c)
	if err != nil {
		return Result{}, err
	}
	r.standsIn(res.Dir)
	out := r.commandResult(in.Command, c.Timeout, res)
	out.Text = withNotes(out.Text, slices.Concat(r.sandboxNote(sh, res), r.guardNotes(), endedNotes(sh)))
	return out, nil
}

// started says where a background command can be found.
func started(t shell.TaskInfo, typed bool) string {
	text := fmt.Sprintf("started task %s\nstdout_file: %s", t.ID, t.StdoutFile)
	if t.StderrFile == "" {
		text += " (with stderr in it)\n"
	} else {
		text += "\nstderr_file: " + t.StderrFile + "\n"
	}
	if typed {
		return text + "TaskInput types into it, TaskOutput shows what it prints, TaskStop ends it."
	}
	return text + "TaskOutput shows what it prints, TaskStop ends it."
}

// maxEndedNotes bounds how many ended tasks one result names.
const maxEndedNotes = 5

// endedNotes tells, in the result of whatever tool comes next, which background commands have ended meanwhile.
func endedNotes(sh *shell.Shell) (notes []string) {
	for i, t := range sh.Ended() {
		if i == maxEndedNotes {
			return append(notes, "(more background commands have ended)")
		}
		notes = append(notes, fmt.Sprintf("(task %s has %s; TaskOutput shows its output)", t.ID, taskState(t)))
	}
	return notes
}

// commandResult words how a command ended: the exit code first if it tells of
// a failure, then the output, then what else must be known.
func (r *request) commandResult(command string, limit time.Duration, res *shell.Result) Result {
	var head string
	var notes []string
	failed := true
	switch meaning := harmless(command, res.Code); {
	case res.TimedOut:
		head = fmt.Sprintf("Timed out after %v; the command and all it started were ended.", limit)
		notes = append(notes, "(for what takes long set timeout, or run_in_background)")
	case res.Signal != "":
		head = fmt.Sprintf("Exit code %d (killed by %s)", res.Code, res.Signal)
	case res.Code == 0:
		failed = false
	case meaning != "":
		failed = false
		notes = append(notes, fmt.Sprintf("(exit code 1: %s)", meaning))
	default:
		head = fmt.Sprintf("Exit code %d", res.Code)
	}
	switch {
	case res.LogFile != "" && res.LogLimited:
		notes = append(notes, "(more of the output, but not all of it, is in "+res.LogFile+")")
	case res.LogFile != "":
		notes = append(notes, "(the whole output is in "+res.LogFile+")")
	}
	if res.DirNote != "" {
		notes = append(notes, "("+res.DirNote+")")
	}
	meta := map[string]any{"exit": map[string]any{"code": res.Code, "signal": res.Signal, "timed_out": res.TimedOut}}
	if t := res.Left; t != nil {
		notes = append(notes, leftNote(*t))
		meta["task"] = taskMeta(*t)
	}
	if names := r.seen.changed(); len(names) > 0 {
		for i := range names {
			names[i] = r.shown(names[i])
		}
		notes = append(notes, "(changed since you read them: "+strings.Join(names, ", ")+")")
	}
	out := strings.TrimSuffix(res.Output, "\n")
	if out == "" && head == "" {
		out = "(no output)"
	}
	text := head
	if head != "" && out != "" {
		text += "\n"
	}
	return Result{Text: withNotes(text+out, notes), Failed: failed, Meta: meta}
}

// leftNote tells what a command has left running.
func leftNote(t shell.TaskInfo) string {
	var who []string
	for i, p := range t.Left {
		if i == 5 {
			who = append(who, fmt.Sprintf("%d more", len(t.Left)-i))
			break
		}
		who = append(who, fmt.Sprintf("%s (%d)", p.Name, p.PID))
	}
	if t.State != shell.Running {
		return fmt.Sprintf("(the command left %s running; too many tasks run already, so it was ended)", strings.Join(who, ", "))
	}
	return fmt.Sprintf("(still running: %s; it is task %s now and ends with the session)", strings.Join(who, ", "), t.ID)
}

// harmless says what the exit code 1 of a command means if it tells no
// failure, such as grep's that nothing matches. Only a text that is clearly
// such a command counts.
func harmless(command string, code int) string {
	if code != 1 || strings.ContainsAny(command, ";&\n`$(") {
		return ""
	}
	last := command
	if i := strings.LastIndexByte(command, '|'); i >= 0 {
		if strings.ContainsAny(command, `"'\`) {
			return "" // the bar may be part of a word
		}
		last = command[i+1:]
	}
	words := strings.Fields(last)
	if len(words) == 0 {
		return ""
	}
	switch words[0] {
	case "grep", "egrep", "fgrep", "rg":
		return "no match"
	case "diff", "cmp":
		return "the files differ"
	}
	return ""
}

// taskMeta are the facts of a task for programs.
func taskMeta(t shell.TaskInfo) map[string]any {
	return map[string]any{"id": t.ID, "state": string(t.State), "stdout_file": t.StdoutFile, "stderr_file": t.StderrFile}
}

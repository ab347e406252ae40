package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ferrule/shell"
)

type taskOutputInput struct {
	TaskID  string `json:"task_id"`
	Block   bool   `json:"block,omitempty" schema:"default=true"`
	Timeout int    `json:"timeout,omitempty" schema:"min=0,max=600000,default=30000"`
}

// TaskOutput tells how a background command stands.
var TaskOutput = define(spec{
	name: "TaskOutput", title: "Look at a background command", toolset: "shell", large: true,
	hints: Hints{ReadOnly: true},
}, taskOutput)

func taskOutput(ctx context.Context, r *request, in taskOutputInput) (Result, error) {
	sh, err := r.shell()
	if err != nil {
		return Result{}, err
	}
	var wait time.Duration
	if in.Block {
		wait = time.Duration(in.Timeout) * time.Millisecond
	}
	out, err := sh.Output(ctx, in.TaskID, wait)
	if err != nil {
		return Result{}, err
	}
	return r.taskResult(sh, out), nil
}

// taskResult words where a task stands and what it has printed.
func (r *request) taskResult(sh *shell.Shell, out shell.TaskOutput) Result {
	notes := []string{fmt.Sprintf("(stdout_file: %s, stderr_file: %s)", out.StdoutFile, out.StderrFile)}
	if out.StderrFile == "" { // what a command left running has one stream, and so has a terminal
		notes[0] = fmt.Sprintf("(stdout_file: %s, with stderr in it)", out.StdoutFile)
	}
	if out.Limited {
		notes = append([]string{"(output limit reached: a part of the output is in neither file)"}, notes...)
	}
	text := strings.TrimSuffix(out.Output, "\n")
	if text == "" {
		text = "(no new output)"
	}
	notes = slices.Concat(notes, r.guardNotes(), endedNotes(sh))
	return Result{
		Text: withNotes(fmt.Sprintf("task %s %s\n%s", out.ID, taskState(out.TaskInfo), text), notes),
		Meta: map[string]any{"task": taskMeta(out.TaskInfo)},
	}
}

// taskState says where a task stands and since when.
func taskState(t shell.TaskInfo) string {
	wall := t.Wall.Round(100 * time.Millisecond)
	switch {
	case t.State == shell.Running:
		return fmt.Sprintf("running for %v", wall)
	case t.Signal != "":
		return fmt.Sprintf("%s after %v: exit code %d (killed by %s)", t.State, wall, t.Code, t.Signal)
	}
	return fmt.Sprintf("%s after %v: exit code %d", t.State, wall, t.Code)
}

// OnTaskEnd has f called with words for a user once a background command has ended. It reports false, and f is not
// called, if no such command runs. f must not wait, nor use the session.
func (s *Session) OnTaskEnd(id string, f func(words string)) bool {
	s.mu.Lock()
	sh := s.sh
	s.mu.Unlock()
	return sh != nil && sh.WhenOver(id, func() {
		for _, t := range sh.Tasks() {
			if t.ID == id {
				f(fmt.Sprintf("task %s has %s: %s", id, taskState(t), cmp.Or(t.Description, t.Command)))
			}
		}
	})
}

package tools

import (
	"context"
	"fmt"
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
	notes := []string{fmt.Sprintf("(stdout_file: %s, stderr_file: %s)", out.StdoutFile, out.StderrFile)}
	if out.StderrFile == "" { // what a command left running has one stream
		notes[0] = fmt.Sprintf("(stdout_file: %s, with stderr in it)", out.StdoutFile)
	}
	if out.Limited {
		notes = append([]string{"(output limit reached: a part of the output is in neither file)"}, notes...)
	}
	text := strings.TrimSuffix(out.Output, "\n")
	if text == "" {
		text = "(no new output)"
	}
	return Result{
		Text: withNotes(fmt.Sprintf("task %s %s\n%s", out.ID, taskState(out.TaskInfo), text), notes),
		Meta: map[string]any{"task": taskMeta(out.TaskInfo)},
	}, nil
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

package tools

import (
	"context"
	"fmt"
	"slices"
)

type taskStopInput struct {
	TaskID string `json:"task_id"`
}

// TaskStop ends a background command and all that it started.
var TaskStop = define(spec{
	name: "TaskStop", title: "Stop a background command", toolset: "shell",
	hints: Hints{Destructive: true, Idempotent: true},
}, taskStop)

func taskStop(ctx context.Context, r *request, in taskStopInput) (Result, error) {
	sh, err := r.shell()
	if err != nil {
		return Result{}, err
	}
	t, ended, err := sh.Stop(ctx, in.TaskID)
	if err != nil {
		return Result{}, err
	}
	text := fmt.Sprintf("task %s is %s", t.ID, taskState(t))
	if !ended {
		text = fmt.Sprintf("task %s had ended before: %s", t.ID, taskState(t))
	}
	return Result{Text: withNotes(text, slices.Concat(r.guardNotes(), endedNotes(sh))), Meta: map[string]any{"task": taskMeta(t)}}, nil
}

package tools

import (
	"context"
	"errors"
	"strings"

	"ferrule/shell"
	"ferrule/tools/permit"
)

type taskInputInput struct {
	TaskID string `json:"task_id"`
	Text   string `json:"text,omitempty" schema:"nul"`
	EOF    bool   `json:"eof,omitempty" schema:"default=false"`
}

// TaskInput types into a background command.
var TaskInput = define(spec{
	name: "TaskInput", title: "Type into a background command", toolset: "shell", large: true,
	hints: Hints{Destructive: true, OpenWorld: true},
}, taskInput)

func taskInput(ctx context.Context, r *request, in taskInputInput) (Result, error) {
	sh, err := r.shell()
	if err != nil {
		return Result{}, err
	}
	reader, err := sh.Reader(in.TaskID)
	if err != nil {
		return Result{}, err
	}
	text, err := r.toType(ctx, in, reader)
	if err != nil {
		return Result{}, err
	}
	out, err := sh.Send(ctx, in.TaskID, text, in.EOF)
	if err != nil {
		return Result{}, err
	}
	return r.taskResult(sh, out), nil
}

// toType decides about what is typed and returns it as it is to be typed. What a shell may read is judged as a command
// is. So that each text can be judged by itself a shell gets whole lines only.
func (r *request) toType(ctx context.Context, in taskInputInput, reader shell.Reader) (string, error) {
	if in.Text == "" && !in.EOF {
		return "", nil // looks, and does nothing
	}
	line := strings.ReplaceAll(in.Text, "\r", "\n")
	command := strings.TrimRight(line, "\n")
	switch {
	case reader == shell.NoShell, strings.Trim(line, "\x03\x04\n") == "": // ^C, ^D and Enter are no commands
		_, err := r.may(ctx, permit.Access{Kind: permit.Other})
		return in.Text, err
	case r.cfg.Policy == nil:
		return in.Text, nil
	case command == line:
		return "", errors.New(`a shell may read this, so it has to be whole lines, which are judged like commands; end it with \r`)
	case reader == shell.AnyShell, strings.ContainsAny(line, "!^"): // an interactive bash puts earlier commands there
		_, err := r.may(ctx, permit.Access{Kind: permit.RunCommand, Command: command, Dir: r.roots.First()})
		return in.Text, err
	}
	run, err := r.toRun(ctx, command)
	if err != nil || run == command {
		return in.Text, err
	}
	end := in.Text[len(command):]
	return strings.ReplaceAll(run, "\n", end[:1]) + end, nil
}

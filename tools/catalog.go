package tools

import (
	"fmt"
	"slices"
	"strings"
)

// All returns the tools in the order in which they are published. The order is
// part of the prompt: changing it invalidates providers' caches.
func All() []*Tool {
	return []*Tool{Read, Edit, MultiEdit, Write, NotebookEdit, ListDir, Undo, Glob, Grep, Bash, TaskOutput, TaskInput, TaskStop, MemorySearch, MemoryIngest, GitStatus, GitDiff, GitLog, GitShow, GitCommit, AskUserQuestion}
}

// defaultSets are served without being asked for.
var defaultSets = []string{"files", "search", "shell", "memory", "ask"}

// A Selection says which tools are served. The zero value stands for the
// default toolsets.
type Selection struct {
	Toolsets string // "files,search" takes just these, "+extra" adds to the default
	Tools    string // names of tools; if set, Toolsets is not looked at
	ReadOnly bool   // drop every tool that may change something
	NoMemory bool   // drop the memory tools: the settings switch memory off
}

// Select returns the chosen tools in publishing order. An unknown name is an
// error that lists the known ones.
func Select(s Selection) ([]*Tool, error) {
	var chosen func(*Tool) bool
	if s.Tools != "" {
		names := list(s.Tools)
		if err := known("tool", names, toolNames()); err != nil {
			return nil, err
		}
		chosen = func(t *Tool) bool { return slices.Contains(names, t.Name) }
	} else {
		sets, err := toolsets(s.Toolsets)
		if err != nil {
			return nil, err
		}
		chosen = func(t *Tool) bool { return slices.Contains(sets, t.Toolset) }
	}
	var tools []*Tool
	for _, t := range All() {
		if chosen(t) && (t.Hints.ReadOnly || !s.ReadOnly) && !(s.NoMemory && t.Toolset == memoryTools) {
			tools = append(tools, t)
		}
	}
	if len(tools) == 0 {
		return nil, fmt.Errorf("the selection leaves no tool to serve")
	}
	return tools, nil
}

// toolsets reads a list such as "files,search" or "+extra".
func toolsets(s string) ([]string, error) {
	names := list(s)
	var sets []string
	if len(names) == 0 || strings.HasPrefix(names[0], "+") {
		sets = slices.Clone(defaultSets)
	}
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], "+")
	}
	return append(sets, names...), known("toolset", names, setNames())
}

func known(what string, names, all []string) error {
	for _, n := range names {
		if !slices.Contains(all, n) {
			return fmt.Errorf("unknown %s %q; there are %s", what, n, strings.Join(all, ", "))
		}
	}
	return nil
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

func toolNames() (names []string) {
	for _, t := range All() {
		names = append(names, t.Name)
	}
	return names
}

func setNames() (names []string) {
	for _, t := range All() {
		if !slices.Contains(names, t.Toolset) {
			names = append(names, t.Toolset)
		}
	}
	return names
}

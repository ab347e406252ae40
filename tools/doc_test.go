package tools

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/tools.md")

// Every text file belongs to a published tool and every tool has one.
func TestTexts(t *testing.T) {
	var want []string
	for _, tool := range All() {
		want = append(want, strings.ToLower(tool.Name)+".md")
	}
	slices.Sort(want)
	got, _ := fs.Glob(docs, "*.md")
	if !slices.Equal(got, want) {
		t.Errorf("texts %v, tools %v", got, want)
	}
}

// TestDocs holds docs/tools.md, which is made from the catalogue.
func TestDocs(t *testing.T) {
	const file = "../docs/tools.md"
	got := catalogue(t)
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if want, _ := os.ReadFile(file); !bytes.Equal(got, want) {
		t.Errorf("%s is not what the catalogue says; run go test ./tools -run TestDocs -update", file)
	}
}

func catalogue(t *testing.T) []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, "# Tools\n\nMade from the catalogue by `go test ./tools -run TestDocs -update`; do not edit.\n\n")
	fmt.Fprint(&b, "| tool | toolset | served by default | changes something |\n|---|---|---|---|\n")
	yes := map[bool]string{true: "yes", false: "no"}
	for _, x := range All() {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s |\n", x.Name, strings.ToLower(x.Name), x.Toolset,
			yes[slices.Contains(defaultSets, x.Toolset)], yes[!x.Hints.ReadOnly])
	}
	for _, x := range All() {
		fmt.Fprintf(&b, "\n## %s\n\n%s.", x.Name, x.Title)
		h := x.Hints
		for _, hint := range []struct {
			on   bool
			name string
		}{{h.ReadOnly, "Read-only"}, {h.Destructive, "Destructive"}, {h.Idempotent, "Idempotent"}, {h.OpenWorld, "Open-world"}} {
			if hint.on {
				fmt.Fprintf(&b, " %s.", hint.name)
			}
		}
		fmt.Fprintf(&b, "\n\n%s\n", x.Description)
		if rows := parameters(t, x.Input, ""); rows != "" {
			fmt.Fprintf(&b, "\n| parameter | type | default | meaning |\n|---|---|---|---|\n%s", rows)
		}
	}
	return b.Bytes()
}

// parameters writes a row for each property of a schema, in its order.
func parameters(t *testing.T, schema json.RawMessage, prefix string) string {
	var object struct {
		Properties json.RawMessage
		Required   []string
	}
	if err := json.Unmarshal(schema, &object); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	d := json.NewDecoder(bytes.NewReader(object.Properties))
	for d.Token(); d.More(); {
		name, _ := d.Token()
		var p struct {
			Type, Description string
			Enum              []string
			Default           json.RawMessage
			Minimum, Maximum  *int
			Items             json.RawMessage
		}
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		kind := p.Type
		if p.Enum != nil {
			kind = strings.Join(p.Enum, ", ")
		}
		if p.Minimum != nil {
			kind += fmt.Sprintf(" ≥ %d", *p.Minimum)
		}
		if p.Maximum != nil {
			kind += fmt.Sprintf(" ≤ %d", *p.Maximum)
		}
		fallback := strings.Trim(string(p.Default), `"`)
		if slices.Contains(object.Required, name.(string)) {
			fallback = "required"
		}
		fmt.Fprintf(&b, "| %s%s | %s | %s | %s |\n", prefix, name, kind, fallback, p.Description)
		if p.Items != nil && bytes.Contains(p.Items, []byte(`"properties"`)) {
			b.WriteString(parameters(t, p.Items, prefix+name.(string)+"[]."))
		}
	}
	return b.String()
}

func TestSelect(t *testing.T) {
	for _, test := range []struct {
		s    Selection
		want string
	}{
		{Selection{}, "Read Edit Write NotebookEdit Glob Grep Bash TaskOutput TaskInput TaskStop memory_search memory_ingest AskUserQuestion"},
		{Selection{Toolsets: "+extra"}, "Read Edit MultiEdit Write NotebookEdit ListDir Undo Glob Grep Bash TaskOutput TaskInput TaskStop memory_search memory_ingest AskUserQuestion"},
		{Selection{NoMemory: true}, "Read Edit Write NotebookEdit Glob Grep Bash TaskOutput TaskInput TaskStop AskUserQuestion"},
		{Selection{Toolsets: "git"}, "git_status git_diff git_log git_show git_commit"},
		{Selection{Toolsets: "git", ReadOnly: true}, "git_status git_diff git_log git_show"},
		{Selection{Toolsets: "files,search"}, "Read Edit Write NotebookEdit Glob Grep"},
		{Selection{Toolsets: "search", ReadOnly: true}, "Glob Grep"},
		{Selection{ReadOnly: true}, "Read Glob Grep TaskOutput memory_search AskUserQuestion"},
		{Selection{Tools: "Grep, Read"}, "Read Grep"},
		{Selection{Tools: "Read,Grpe"}, `unknown tool "Grpe"; there are Read, Edit, MultiEdit, Write, NotebookEdit, ListDir, Undo, Glob, Grep, Bash, TaskOutput, TaskInput, TaskStop, memory_search, memory_ingest, git_status, git_diff, git_log, git_show, git_commit, AskUserQuestion`},
		{Selection{Toolsets: "+extras"}, `unknown toolset "extras"; there are files, extra, search, shell, memory, git, ask`},
		{Selection{Tools: "Write", ReadOnly: true}, "the selection leaves no tool to serve"},
	} {
		got, err := Select(test.s)
		var names []string
		for _, x := range got {
			names = append(names, x.Name)
		}
		text := strings.Join(names, " ")
		if err != nil {
			text = err.Error()
		}
		if text != test.want {
			t.Errorf("%+v: %s; want %s", test.s, text, test.want)
		}
	}
}

// Package tools holds the coding tools and the state they share.
//
// A [Tool] is declared once, in the file named after it: read.go holds the
// input struct and the handler, read.md beside it every word that a model
// sees. [All] is the list of tools in publishing order, [Select] chooses from
// it. A [Session] owns all state; the package has none. Begin with read.go.
//
// Nothing here knows the protocol: a tool gets JSON and gives a [Result].
package tools

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"log"
	"reflect"
	"runtime/debug"
	"strings"

	"ferrule/tools/internal/schema"
)

//go:embed *.md
var docs embed.FS

// A Tool is one capability offered to a model. Tools are immutable and hold no
// state, so one value serves every session.
type Tool struct {
	Name        string
	Title       string
	Toolset     string          // the group it is chosen by, such as "files"
	Description string          // the head of the tool's .md file
	Input       json.RawMessage // JSON Schema of the arguments
	Hints       Hints
	Large       bool // a result may fill the cap: clients are told its size

	run func(context.Context, *request, json.RawMessage) (Result, error)
}

// Hints describe a tool to clients that decide about permissions.
type Hints struct {
	ReadOnly    bool // changes nothing
	Destructive bool // may overwrite or delete
	Idempotent  bool // repeating the call with the same input adds no effect
	OpenWorld   bool // reaches beyond the workspace
}

// A Result is what comes of a call. Failed marks an outcome that the model
// must not take for success; the text says what is wrong and what to do next.
type Result struct {
	Text   string
	Images []Image
	Failed bool
	Meta   map[string]any // facts for programs, published under "ferrule/…"

	// Structured is the answer as data, for tools whose answer is data; it says
	// all that the text says.
	Structured any
}

// An Image is picture content of a [Result].
type Image struct {
	MIME string
	Data []byte
}

// A request is one call at work: the session it belongs to and its client.
type request struct {
	*Session
	host Host
	tool *Tool
}

// Call decodes args strictly and runs the tool in session s. It always returns
// a result that a model can read: mistakes in the arguments, failures of the
// tool and even its panics become a Result with Failed set. If ctx ends the
// call stops soon and what it returns does not matter.
func (t *Tool) Call(ctx context.Context, s *Session, host Host, args json.RawMessage) (res Result) {
	defer func() {
		if p := recover(); p != nil {
			log.Printf("%s: %v\n%s", t.Name, p, debug.Stack())
			res = Result{Text: "internal error in " + t.Name + ", logged; the call may have had no effect", Failed: true}
		}
	}()
	s.roots.used.Store(true)
	res, err := t.run(ctx, &request{s, host, t}, args)
	if err != nil {
		return Result{Text: clip(err.Error(), maxError), Failed: true, Meta: res.Meta}
	}
	return res
}

// A spec is what the struct of a tool's input and its text do not say.
type spec struct {
	name, title, toolset string
	hints                Hints
	large                bool
}

// define declares a tool. The struct In describes its arguments; the file
// name.md holds its text. A mistake in either panics: it is a bug in this
// package, found by the first test that runs.
func define[In any](d spec, run func(context.Context, *request, In) (Result, error)) *Tool {
	text, err := docs.ReadFile(strings.ToLower(d.name) + ".md")
	if err != nil {
		panic(err)
	}
	body, params := parseDoc(string(text))
	in, err := schema.For(reflect.TypeFor[In](), params)
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", d.name, err))
	}
	return &Tool{
		Name: d.name, Title: d.title, Toolset: d.toolset, Hints: d.hints, Large: d.large,
		Description: body, Input: in.JSON(),
		run: func(ctx context.Context, r *request, args json.RawMessage) (Result, error) {
			var v In
			if err := in.Decode(args, &v); err != nil {
				return Result{}, err
			}
			return run(ctx, r, v)
		},
	}
}

// parseDoc splits a tool's text into its description and the descriptions of
// its parameters, which follow a line "## Parameters" as "- name: text" items.
// Comments (<!-- … -->), which name the scenarios that show what the text
// promises, are left out.
func parseDoc(text string) (body string, params map[string]string) {
	for {
		before, rest, ok := strings.Cut(text, "<!--")
		if !ok {
			break
		}
		_, after, _ := strings.Cut(rest, "-->\n")
		text = before + after
	}
	body, list, _ := strings.Cut(text, "\n## Parameters\n")
	params = make(map[string]string)
	var name string
	for line := range strings.Lines(list) {
		line = strings.TrimRight(line, "\n")
		if item, ok := strings.CutPrefix(line, "- "); ok {
			name, line, _ = strings.Cut(item, ": ")
		}
		if line = strings.TrimSpace(line); line != "" {
			params[name] = strings.TrimSpace(params[name] + " " + line)
		}
	}
	return strings.TrimSpace(body), params
}

// Package prompts puts together what a model is told: instructions, which make
// the system prompt, and facts, which travel as messages.
//
// No file holds the whole prompt. Contributors register named parts with a
// [Scope], [Scope.Assemble] collects the parts that can be seen from it, and
// [Assembly.Render] fills in the variables. Assembling depends on the
// registrations and the [Input] alone: the clock, git and the environment are
// read beforehand, by others, and handed in as [Facts].
//
// Begin with [New], the scope of a stock prompt, and with order.go, which says
// where parts stand; [Prompt.Explain] shows what came of it. The package does not read files, does
// not run programs, and knows nothing of the protocol that carries its texts.
package prompts

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"sync"
)

// A Section is an instruction: one part of the system prompt. What changes
// during a session is no section but a [Context].
type Section struct {
	Name     string // unique in its scope; hides an outer section of that name
	Order    int    // ascending, by the names in order.go
	Text     Text
	From     string // who contributes it, for people
	Literal  bool   // {{ and }} mean nothing in the text
	Complete bool   // the section is the whole system prompt
}

// A Context is a fact of the session. All contexts together become one user
// message, which is sent again only when its text changes, so that what a
// provider has cached stays valid.
type Context struct {
	Name    string
	Order   int
	Text    Text
	From    string
	Literal bool
}

// A Text computes a part for one assembly. An empty text drops the part. It must
// depend on nothing but its arguments, and may be called concurrently.
type Text func(context.Context, Input) (string, error)

// Static returns a Text that is always s.
func Static(s string) Text {
	return func(context.Context, Input) (string, error) { return s, nil }
}

// A Variable computes the value of {{name}}. When it has none, ok is false, and
// a part that uses the variable fails to render.
type Variable func(context.Context, Input) (value string, ok bool, err error)

// Input is what the parts of one assembly may look at.
type Input struct {
	Facts           // as they were when the session began
	Now      *Facts // as they are, if that is known; what differs becomes a context
	Provider string // who serves the model; the agent's loop knows it, the server does not
}

// A Toolset is what a tool provider offers. Known holds the names that it could
// offer, so that a name in a configured order that is hidden now can be told
// from one that is misspelt. The names in Schemas are known anyway.
type Toolset struct {
	Schemas []Schema
	Known   []string
}

// A Schema describes one tool to the model.
type Schema struct {
	Name, Description string
	Input             json.RawMessage
}

// A Stage amends an assembly. It may call next before, after or not at all; the
// assembly that it returns is the result.
type Stage func(ctx context.Context, a *Assembly, next Next) (*Assembly, error)

// Next runs the stages after the current one.
type Next func(context.Context, *Assembly) (*Assembly, error)

type toolProvider func(context.Context, Input) (Toolset, error)

// A Scope is a layer of registrations over an outer layer. What is seen from it
// are its own registrations and those of the layers below it; a name in an inner
// layer hides the same name further out. Scopes may be used concurrently, also
// for registering while others assemble.
type Scope struct {
	name  string
	outer *Scope
	mu    *sync.Mutex // shared by all scopes over one root; guards the fields below

	sections    map[string]Section
	contexts    map[string]Context
	variables   map[string]Variable
	tools       list[toolProvider]
	stages      list[Stage]
	suppressors list[bool] // not struct{}: pointers to values without size may be equal
	toolOrder   []string
}

// NewRoot returns a scope that holds the two persona slots, empty, and nothing
// else.
func NewRoot() *Scope {
	sc := newScope("global", nil, new(sync.Mutex))
	for name, order := range map[string]int{PersonaPrefix: DeploymentPersonaPrefix, PersonaSuffix: DeploymentPersonaSuffix} {
		sc.sections[name] = Section{Name: name, Order: order, Text: Static(""), From: "slot"}
	}
	return sc
}

// New returns an empty scope over sc. The name is for people.
func (sc *Scope) New(name string) *Scope { return newScope(name, sc, sc.mu) }

func newScope(name string, outer *Scope, mu *sync.Mutex) *Scope {
	return &Scope{name: name, outer: outer, mu: mu,
		sections: map[string]Section{}, contexts: map[string]Context{}, variables: map[string]Variable{}}
}

// Section registers s and returns a function that withdraws it. A second section
// of that name in the same scope is an error.
func (sc *Scope) Section(s Section) (withdraw func(), err error) {
	return register(sc, sc.sections, "section", s.Name, s, s.Text == nil)
}

// Context registers c and returns a function that withdraws it. A second context
// of that name in the same scope is an error.
func (sc *Scope) Context(c Context) (withdraw func(), err error) {
	return register(sc, sc.contexts, "context", c.Name, c, c.Text == nil)
}

var variableName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// Variable registers the value of {{name}} and returns a function that withdraws
// it. Names consist of lower case letters, digits and underscores, a letter
// first.
func (sc *Scope) Variable(name string, v Variable) (withdraw func(), err error) {
	if !variableName.MatchString(name) {
		return nil, fmt.Errorf("%q cannot be a variable: names consist of a-z, 0-9 and _, a letter first", name)
	}
	return register(sc, sc.variables, "variable", name, v, v == nil)
}

// Tools registers a provider of tools and returns a function that withdraws it.
func (sc *Scope) Tools(p func(context.Context, Input) (Toolset, error)) (withdraw func()) {
	return sc.tools.add(sc.mu, p)
}

// Waterfall registers a stage and returns a function that withdraws it. Stages
// of outer scopes run first, those of one scope in the order in which they came.
func (sc *Scope) Waterfall(s Stage) (withdraw func()) { return sc.stages.add(sc.mu, s) }

// SuppressRuntimeContext hides every context from assemblies in sc and in the
// scopes over it until release is called; nobody else is affected. Suppressors
// are independent: contexts come back when the last one is gone.
func (sc *Scope) SuppressRuntimeContext() (release func()) {
	return sc.suppressors.add(sc.mu, true)
}

func register[T any](sc *Scope, m map[string]T, kind, name string, v T, lacksFunc bool) (withdraw func(), err error) {
	switch {
	case name == "":
		return nil, fmt.Errorf("a %s needs a name", kind)
	case lacksFunc:
		return nil, fmt.Errorf("%s %q has no function that computes it", kind, name)
	}
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if _, dup := m[name]; dup {
		return nil, fmt.Errorf("%s %q is already registered in scope %s; withdraw it first, or register in a scope over it", kind, name, sc.name)
	}
	m[name] = v
	return sync.OnceFunc(func() {
		sc.mu.Lock()
		defer sc.mu.Unlock()
		delete(m, name)
	}), nil
}

// A list keeps registrations that have no name.
type list[T any] struct{ items []*T }

func (l *list[T]) add(mu *sync.Mutex, v T) (withdraw func()) {
	mu.Lock()
	defer mu.Unlock()
	p := &v
	l.items = append(l.items, p)
	return sync.OnceFunc(func() {
		mu.Lock()
		defer mu.Unlock()
		kept := make([]*T, 0, len(l.items)) // a new slice: an assembly under way holds the old one
		for _, q := range l.items {
			if q != p {
				kept = append(kept, q)
			}
		}
		l.items = kept
	})
}

package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"ferrule/memory"
	"ferrule/tools/permit"
)

// metaKey is where a context carries the metadata of a request.
type metaKey struct{}

// WithMeta returns a context for [Tool.Call] that carries the metadata of the
// client's request, by name. The memory tools read "ferrule/recall" and
// "ferrule/auto" there; no other tool reads any.
func WithMeta(ctx context.Context, meta map[string]any) context.Context {
	return context.WithValue(ctx, metaKey{}, meta)
}

// metaOf reads what the request has under a name into v and reports whether
// there is anything but false and null.
func metaOf(ctx context.Context, name string, v any) (bool, error) {
	meta, _ := ctx.Value(metaKey{}).(map[string]any)
	value, ok := meta[name]
	if !ok || value == nil || value == false {
		return false, nil
	}
	b, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return true, errors.New("_meta." + name + " has not the form that it should have")
	}
	return true, nil
}

// Hinted returns the tool with the hints that it has by this configuration.
func (c Config) Hinted(t *Tool) *Tool {
	if t.Toolset != memoryTools || c.Memory == nil || !c.Memory.Remote() {
		return t
	}
	open := *t
	open.Hints.OpenWorld = true
	return &open
}

const memoryTools = "memory"

// memory returns the store, or an error for the model.
func (s *Session) memory() (*memory.Client, error) {
	if s.cfg.Memory == nil {
		return nil, memory.ErrDisabled
	}
	return s.cfg.Memory, nil
}

// shownMemory returns the store and the scopes of what is shown without a call
// for the project in dir, unless calls would be refused or asked about. No dir
// means the first root.
func (s *Session) shownMemory(dir string) (*memory.Client, []string, error) {
	policy, err := s.policy()
	if err != nil {
		return nil, nil, err
	}
	if policy != nil && policy.Decide(permit.Access{Tool: MemorySearch.Name, ReadOnly: true}).Verdict != permit.Allow {
		return nil, nil, errors.New("a rule keeps memories from being read")
	}
	c, err := s.memory()
	if err != nil {
		return nil, nil, err
	}
	scopes, err := s.scopes("all", cmp.Or(dir, s.roots.First()))
	return c, scopes, err
}

// scopes are those that a word of the tools names for the project in dir: that
// project, the user, or both; never another project.
func (s *Session) scopes(word, dir string) ([]string, error) {
	switch {
	case word == memory.UserScope, word == "all" && dir == "":
		return []string{s.memoryUser()}, nil
	case dir == "":
		return nil, errors.New(`no project folder is set; use scope "user"`)
	case word == "all":
		return []string{memory.ProjectScope(dir), s.memoryUser()}, nil
	}
	return []string{memory.ProjectScope(dir)}, nil
}

// memoryUser is the scope of the user's own memories.
func (s *Session) memoryUser() string { return cmp.Or(s.cfg.MemoryUser, memory.UserScope) }

// scopeWord is the word for a scope that scopes has given.
func (s *Session) scopeWord(scope string) string {
	if scope == s.memoryUser() {
		return memory.UserScope
	}
	return "project"
}

// MemoryIndex returns the facts that a prompt for the project in dir begins
// with, a line each, or "" if there are none. No dir means the first root.
func (s *Session) MemoryIndex(ctx context.Context, dir string) (string, error) {
	c, scopes, err := s.shownMemory(dir)
	if err != nil {
		return "", err
	}
	return c.Index(ctx, scopes)
}

// Memory returns a memory of the first project or of the user as a text, or an
// error if there is none of that id.
func (s *Session) Memory(ctx context.Context, id string) (string, error) {
	c, scopes, err := s.shownMemory("")
	if err != nil {
		return "", err
	}
	for m, err := range c.Walk(ctx, memory.Query{IDs: []string{id}, Scopes: scopes, Superseded: true, Limit: 1}) {
		if err != nil {
			return "", err
		}
		return s.memoryHeading(m, "") + "\n\n" + m.Content + "\n", nil
	}
	return "", errors.New("there is no such memory")
}

// Memories returns the ids of the newest memories of the first project and of
// the user that begin with a prefix, at most n.
func (s *Session) Memories(ctx context.Context, prefix string, n int) ([]string, error) {
	c, scopes, err := s.shownMemory("")
	if err != nil {
		return nil, err
	}
	var ids []string
	for m, err := range c.Walk(ctx, memory.Query{Scopes: scopes}) {
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(m.ID, prefix) {
			if ids = append(ids, m.ID); len(ids) == n {
				break
			}
		}
	}
	return ids, nil
}

// indented puts every line behind the mark of a list, so that no content can
// pass as the heading of another memory.
func indented(text string) string { return "   " + strings.ReplaceAll(text, "\n", "\n   ") }

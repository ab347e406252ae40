package mcpserver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"ferrule/mcpserver/internal/project"
)

// Prompts that the user, or the authors of a project, have written as Markdown
// files. They belong to a session, because the project folders do, and the
// library knows only prompts of a server. So it has one prompt that stands for
// all of them: a filter puts the session's own into every list, and a request for
// any name that is not ours is led to it.

const (
	anyWritten   = "\x00written"   // the name of the one prompt; no client can see or guess it in earnest
	writtenName  = "\x00name"      // the argument that carries the name asked for
	writtenInput = "arguments"     // the one argument that a written prompt can have
	promptsEvery = 2 * time.Second // how often the folders are looked at for a client that has listed prompts
)

// findWritten leads a request for a prompt that is not ours to the one that
// stands for what people have written.
func findWritten(_ context.Context, _ any, r *mcp.GetPromptRequest) {
	if isStock(r.Params.Name) {
		return
	}
	args := maps.Clone(r.Params.Arguments)
	if args == nil {
		args = make(map[string]string)
	}
	args[writtenName] = r.Params.Name
	r.Params.Name, r.Params.Arguments = anyWritten, args
}

// promptFiles are the prompts that people have written, as one session sees them.
// It may be used concurrently.
type promptFiles struct {
	project.Library

	mu      sync.Mutex // guards the fields below
	told    string     // what the client's last list was made from
	watched bool

	watch sync.WaitGroup
}

// listPrompts puts the session's own prompts into the list that the client of a
// request gets. The library also asks whether a single prompt may be used.
func (s *Server) listPrompts(ctx context.Context, list []mcp.Prompt) []mcp.Prompt {
	if len(list) == 1 {
		return list
	}
	list = slices.DeleteFunc(list, func(p mcp.Prompt) bool { return p.Name == anyWritten })
	c := clientOf(ctx)
	if c == nil {
		return list
	}
	ts, err := c.session() // without waiting for the client's folders: this runs where its answers are read
	if err != nil {
		return list
	}
	files, state := c.files.Look(writable(ts))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		list = append(list, declare(files[name]))
	}
	c.files.follow(s, c.state, state)
	return list
}

func declare(f project.PromptFile) mcp.Prompt {
	of := "of the project"
	if f.User {
		of = "your own"
	}
	p := mcp.Prompt{Name: f.Name, Title: f.Title, Description: strings.TrimSpace(f.Description + " (" + of + ")")}
	if f.Hint != "" {
		p.Arguments = []mcp.PromptArgument{{Name: writtenInput, Description: f.Hint}}
	}
	return p
}

// writtenPrompt answers prompts/get for what people have written: the text as it
// stands in the file, and behind it, as a message of its own, what the client has
// to say to it.
func (s *Server) writtenPrompt(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	args := maps.Clone(req.Params.Arguments)
	name := args[writtenName]
	delete(args, writtenName)
	c := clientOf(ctx)
	if c == nil {
		return nil, errNoClient
	}
	ts, err := s.workspace(ctx)
	if err != nil {
		return nil, err
	}
	files, _ := c.files.Look(writable(ts))
	f, ok := files[name]
	if !ok {
		var names []string
		for _, p := range stockPrompts {
			names = append(names, p.Name)
		}
		names = append(names, slices.Sorted(maps.Keys(files))...)
		return nil, fmt.Errorf("there is no prompt %q; there are %s", name, strings.Join(names, ", "))
	}
	if err := checkArguments(declare(f), args); err != nil {
		return nil, err
	}
	r := &mcp.GetPromptResult{Description: f.Description}
	for _, text := range []string{f.Text, strings.TrimSpace(args[writtenInput])} {
		if text != "" {
			r.Messages = append(r.Messages, mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text)))
		}
	}
	return r, nil
}

// follow tells clients when the prompts are no longer those of the list that one
// has got, which was made from state. It goes on until the session ends.
func (w *promptFiles) follow(s *Server, st *state, state string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = state
	if w.watched || st.gone.Err() != nil {
		return
	}
	w.watched = true
	w.watch.Go(func() {
		tick := time.NewTicker(promptsEvery)
		defer tick.Stop()
		for {
			select {
			case <-st.gone.Done():
				return
			case <-tick.C:
			}
			if ts, err := st.session(); err == nil {
				_, now := w.Look(writable(ts))
				if w.news(now) && s.news(now) {
					s.mcp.SendNotificationToAllClients(mcp.MethodNotificationPromptsListChanged, nil)
				}
			}
		}
	})
}

// news reports whether a client has not been told of this state yet, and takes it
// as told.
func (w *promptFiles) news(state string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.told
	w.told = state
	return was != state
}

// news does so for all sessions together: several see the same folders, and every
// client gets what is sent.
func (s *Server) news(state string) bool {
	old := s.announced.Swap(&state)
	return old == nil || *old != state
}

// end waits until nobody looks any more. The session has ended.
func (w *promptFiles) end() {
	w.mu.Lock()
	watched := w.watched // nobody begins any more
	w.mu.Unlock()
	if watched {
		w.watch.Wait()
	}
}

// WrittenPrompts returns the prompts that a project folder brings along, each
// with the path of its file, and a hash of them all, by which they are trusted. It
// is "" when there are none.
func WrittenPrompts(root string) (files []string, hash string) {
	found, _, hash := project.ProjectPrompts(root).Read()
	for _, f := range found {
		files = append(files, f.Name+" ("+f.Path+")")
	}
	return files, hash
}

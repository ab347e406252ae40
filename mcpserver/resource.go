package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"ferrule/shell"
)

// What a client can read beside calling tools: the assembled prompt, for those
// that know no prompts, and the output of background commands, which grows while
// they run. A client that has subscribed to an output hears when its command has
// ended.

const (
	codeURI      = "ferrule://prompt/code"
	memoryScheme = "memory://"
	memoryURI    = memoryScheme + "index"
	taskScheme   = "task://"
)

// taskStreams are the two outputs of a background command.
var taskStreams = []string{"stdout", "stderr"}

func taskURI(id, stream string) string { return taskScheme + id + "/" + stream }

// splitTaskURI takes the URI of an output apart. Whether there is such a task
// remains to be seen.
func splitTaskURI(uri string) (id, stream string) {
	rest, _ := strings.CutPrefix(uri, taskScheme)
	id, stream, _ = strings.Cut(rest, "/")
	return id, stream
}

// addResources publishes the resources.
func (s *Server) addResources(hooks *server.Hooks) {
	s.mcp.AddResource(mcp.NewResource(codeURI, "code", mcp.WithMIMEType("text/markdown"),
		mcp.WithResourceDescription("The prompt code, assembled for the first project folder: system prompt, environment, the project's instruction files, and the state of git.")),
		s.readCode)
	if s.cfg.Workspace.Memory != nil {
		s.mcp.AddResource(mcp.NewResource(memoryURI, "memory", mcp.WithMIMEType("text/plain"),
			mcp.WithResourceDescription("What matters most of what is remembered for the first project folder and its user, a line each, as prompts begin with it.")),
			s.readMemory)
		s.mcp.AddResourceTemplate(mcp.NewResourceTemplate(memoryScheme+"{id}", "a memory", mcp.WithTemplateMIMEType("text/plain"),
			mcp.WithTemplateDescription("A memory of this project or of its user, by the id that memory_search shows.")),
			s.readMemory)
	}
	for _, stream := range taskStreams {
		s.mcp.AddResourceTemplate(mcp.NewResourceTemplate(taskURI("{id}", stream), stream+" of a background command",
			mcp.WithTemplateMIMEType("text/plain"),
			mcp.WithTemplateDescription("The last 48,000 characters of what the command has written.")),
			s.readTask)
	}
	hooks.AddAfterListResources(s.listTasks)
	hooks.AddAfterSubscribe(func(ctx context.Context, _ any, r *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
		follow(ctx, r.Params.URI)
	})
	hooks.AddAfterUnsubscribe(func(ctx context.Context, _ any, r *mcp.UnsubscribeRequest, _ *mcp.EmptyResult) {
		if c := clientOf(ctx); c != nil {
			c.unsubscribe(r.Params.URI)
		}
	})
	hooks.AddBeforeSubscriptionsListen(func(ctx context.Context, id any, r *mcp.SubscriptionsListenRequest) {
		for _, uri := range r.Params.Notifications.ResourceSubscriptions {
			followWhile(ctx, uri, id)
		}
	})
}

// readCode returns the prompt code as one text.
func (s *Server) readCode(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	p, err := s.codePrompt(ctx, mcp.GetPromptRequest{})
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, m := range p.Messages {
		parts = append(parts, strings.TrimSpace(mcp.GetTextFromContent(m.Content)))
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{
		URI: req.Params.URI, MIMEType: "text/markdown", Text: strings.Join(parts, "\n\n") + "\n",
	}}, nil
}

// readMemory returns a memory, or the index of those that matter most.
func (s *Server) readMemory(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	ts, err := session(ctx)
	if err != nil {
		return nil, err
	}
	text := ""
	if uri := req.Params.URI; uri == memoryURI {
		text, err = ts.MemoryIndex(ctx, "")
	} else {
		text, err = ts.Memory(ctx, strings.TrimPrefix(uri, memoryScheme))
	}
	if err != nil {
		return nil, err
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: "text/plain", Text: text}}, nil
}

// errNoResource is answered by the code that the protocol has for it.
var errNoResource = errors.New("there is no such resource in this session")

// readTask returns the end of what a background command has written.
func (s *Server) readTask(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	ts, err := session(ctx)
	if err != nil {
		return nil, err
	}
	text, ok := ts.TaskLog(splitTaskURI(req.Params.URI))
	if !ok {
		return nil, errNoResource
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: "text/plain", Text: text}}, nil
}

// listTasks puts the output of the commands that are running into the list.
func (s *Server) listTasks(ctx context.Context, _ any, _ *mcp.ListResourcesRequest, list *mcp.ListResourcesResult) {
	ts, err := session(ctx)
	if err != nil {
		return
	}
	for _, t := range ts.Tasks() {
		if t.State != shell.Running {
			continue
		}
		for i, file := range []string{t.StdoutFile, t.StderrFile} {
			if file == "" {
				continue
			}
			r := mcp.NewResource(taskURI(t.ID, taskStreams[i]), taskStreams[i]+" of "+t.ID, mcp.WithMIMEType("text/plain"),
				mcp.WithResourceDescription(oneLine(cmp.Or(t.Description, t.Command))))
			list.Resources = append(list.Resources, r)
		}
	}
}

// taskLinks returns links to the output of the background command that a result
// tells of, if it does.
func taskLinks(meta map[string]any) (links []mcp.Content) {
	task, _ := meta["task"].(map[string]any)
	id, _ := task["id"].(string)
	for _, stream := range taskStreams {
		if file, _ := task[stream+"_file"].(string); id != "" && file != "" {
			links = append(links, mcp.NewResourceLink(taskURI(id, stream), stream+" of "+id, "What the command writes; also in "+file, "text/plain"))
		}
	}
	return links
}

// maxSubscriptions bounds what one client can subscribe to at a time.
const maxSubscriptions = 1000

func (c *client) subscribe(uri string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.subscribed == nil {
		c.subscribed = make(map[string]bool)
	}
	if len(c.subscribed) >= maxSubscriptions || c.subscribed[uri] {
		return false
	}
	c.subscribed[uri] = true
	return true
}

// unsubscribe reports whether there was such a subscription.
func (c *client) unsubscribe(uri string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.subscribed[uri]
	delete(c.subscribed, uri)
	return was
}

// follow tells the client of the request in ctx when the command ends whose
// output it has subscribed to, unless it unsubscribes before.
func follow(ctx context.Context, uri string) {
	c := clientOf(ctx)
	if c == nil || !c.subscribe(uri) {
		return
	}
	if !whenEnded(ctx, uri, func() {
		if c.unsubscribe(uri) {
			pass(c.notes, updated(uri, nil))
		}
	}) {
		c.unsubscribe(uri) // it will never change
	}
}

// followWhile does so as long as the request in ctx lasts, which is a
// subscription with this id.
func followWhile(ctx context.Context, uri string, id any) {
	to := server.ClientSessionFromContext(ctx)
	whenEnded(ctx, uri, func() {
		if ctx.Err() == nil {
			pass(to.NotificationChannel(), updated(uri, map[string]any{mcp.MetaKeySubscriptionID: id}))
		}
	})
}

func whenEnded(ctx context.Context, uri string, f func()) bool {
	ts, err := session(ctx)
	if err != nil {
		return false
	}
	id, _ := splitTaskURI(uri)
	return ts.WhenTaskEnds(id, f)
}

func updated(uri string, meta map[string]any) mcp.JSONRPCNotification {
	return mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{
		Method: mcp.MethodNotificationResourceUpdated,
		Params: mcp.NotificationParams{Meta: meta, AdditionalFields: map[string]any{"uri": uri}},
	}}
}

// pass hands a notification over without waiting for a client that is slow.
func pass(to chan<- mcp.JSONRPCNotification, n mcp.JSONRPCNotification) {
	select {
	case to <- n:
	default:
	}
}

// faultCode is the code for what a handler of ours finds wrong with a request,
// which the library calls an internal error.
func faultCode(m *message) int {
	switch mcp.MCPMethod(m.Method) {
	case mcp.MethodPromptsGet, mcp.MethodCompletionComplete:
		return mcp.INVALID_PARAMS
	case mcp.MethodResourcesRead:
		if mcp.IsModernProtocol(m.version()) {
			return mcp.INVALID_PARAMS
		}
		return mcp.RESOURCE_NOT_FOUND
	}
	return mcp.INTERNAL_ERROR
}

package mcpserver

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"ferrule/mcpserver/internal/project"
	"ferrule/prompts"
	"ferrule/shell"
	"ferrule/tools"
)

//go:embed instructions.md
var instructionsText string

//go:embed init.md
var initText string

// serverInstructions returns what a client shows its model about the server as a
// whole, fitted to the tools that are served. It has at most 2,000 characters.
func serverInstructions(tools []string) string { return prompts.Adapt(instructionsText, tools) }

// The prompt that asks a model to write AGENTS.md.
const initPrompt = "init"

var (
	cwdArgument    = mcp.PromptArgument{Name: "cwd", Description: "Working directory: a path inside the project folders, absolute or relative to the first of them. Default: the first project folder."}
	modelArgument  = mcp.PromptArgument{Name: "model", Description: "Name of the model that gets the prompt, as the prompt is to show it."}
	shellArgument  = mcp.PromptArgument{Name: "shell", Description: "Name of the shell that runs commands, as the prompt is to show it. Default: the shell of this server."}
	customArgument = mcp.PromptArgument{Name: "custom_instructions", Description: "Instructions of your own, which are put at the end of the system prompt, word for word."}
)

// stockPrompts declares the prompts that there always are. Their names are taken.
var stockPrompts = []mcp.Prompt{
	{
		Name: string(prompts.Code), Title: "Code",
		Description: "Everything that an agent needs to be told to work on code here: system prompt, environment, " +
			"the project's instruction files, and the state of git.",
		Arguments: []mcp.PromptArgument{cwdArgument, modelArgument, shellArgument, customArgument},
	},
	{
		Name: string(prompts.Chat), Title: "Chat",
		Description: "The system prompt of an assistant for conversation, with the environment and the instruction files.",
		Arguments:   []mcp.PromptArgument{cwdArgument, modelArgument, customArgument},
	},
	{
		Name: string(prompts.Work), Title: "Work",
		Description: "The system prompt of an assistant for texts, tables and plans, with the environment and the instruction files.",
		Arguments:   []mcp.PromptArgument{cwdArgument, modelArgument, customArgument},
	},
	{
		Name: string(prompts.Study), Title: "Study",
		Description: "The system prompt of an assistant for learning, with the environment and the instruction files.",
		Arguments:   []mcp.PromptArgument{cwdArgument, modelArgument, customArgument},
	},
	{
		Name: initPrompt, Title: "Write AGENTS.md",
		Description: "A task: look around in the project and write AGENTS.md, which tells agents how to work on it.",
		Arguments:   []mcp.PromptArgument{cwdArgument},
	},
}

func isStock(name string) bool {
	return slices.ContainsFunc(stockPrompts, func(p mcp.Prompt) bool { return p.Name == name })
}

// checkArguments refuses arguments that a prompt does not have. Errors of this
// file are the caller's fault and say what to do.
func checkArguments(p mcp.Prompt, args map[string]string) error {
	var names []string
	for _, a := range p.Arguments {
		names = append(names, a.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		switch {
		case slices.Contains(names, name):
		case len(names) == 0:
			return fmt.Errorf("the prompt %s has no arguments, and so no %q", p.Name, name)
		default:
			return fmt.Errorf("the prompt %s has no argument %q; it has %s", p.Name, name, strings.Join(names, ", "))
		}
	}
	return nil
}

// addPrompts publishes the stock prompts, and one more under which the library
// finds what people have written (userprompt.go).
func (s *Server) addPrompts(hooks *server.Hooks) {
	for _, p := range stockPrompts {
		handle := s.profilePrompt(prompts.Profile(p.Name))
		if p.Name == initPrompt {
			handle = s.initPrompt
		}
		s.mcp.AddPrompt(p, func(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			if err := checkArguments(p, req.Params.Arguments); err != nil {
				return nil, err
			}
			return handle(ctx, req)
		})
	}
	s.mcp.AddPrompt(mcp.Prompt{Name: anyWritten}, s.writtenPrompt)
	hooks.AddBeforeGetPrompt(findWritten)
}

// noted puts the profile's note behind the description of a tool. The schema
// stays as it is.
func (s *Server) noted(t mcp.Tool) mcp.Tool {
	if note := s.cfg.Profile.Note(t.Name, s.names); note != "" {
		t.Description += "\n\n" + note
	}
	return t
}

// codePrompt puts the prompt code together for the client that asks.
func (s *Server) codePrompt(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return s.profilePrompt(prompts.Code)(ctx, req)
}

func (s *Server) profilePrompt(p prompts.Profile) server.PromptHandlerFunc {
	return func(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		env, err := s.promptEnv(ctx)
		if err != nil {
			return nil, err
		}
		prompt, err := env.assemble(ctx, p, req.Params.Arguments)
		if err != nil {
			return nil, err
		}
		return promptResult(prompt), nil
	}
}

func (s *Server) initPrompt(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	env, err := s.promptEnv(ctx)
	if err != nil {
		return nil, err
	}
	_, cwd, err := project.WorkingDir(env.roots, req.Params.Arguments["cwd"])
	if err != nil {
		return nil, err
	}
	text := prompts.Adapt(initText, env.tools)
	if cwd != "" {
		text += "\n\nThe project is in " + cwd + "."
	}
	return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text))}}, nil
}

// Assemble returns the prompt of a profile for somebody who wants to see it
// whole: as a client gets it that can put questions to its user, in a session of
// its own. The arguments are those of the MCP prompt.
func (s *Server) Assemble(ctx context.Context, p prompts.Profile, args map[string]string) (*prompts.Prompt, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	decl := stockPrompts[slices.IndexFunc(stockPrompts, func(d mcp.Prompt) bool { return d.Name == string(p) })]
	if err := checkArguments(decl, args); err != nil {
		return nil, err
	}
	st := s.newState()
	defer st.close()
	ts, err := st.session()
	if err != nil {
		return nil, err
	}
	env := s.envOf(ts, s.names, &st.frozen)
	env.schemas = s.schemas()
	return env.assemble(ctx, p, args)
}

// schemas are the tools as they are published.
func (s *Server) schemas() (list []prompts.Schema) {
	for name, t := range s.mcp.ListTools() {
		list = append(list, prompts.Schema{Name: name, Description: t.Tool.Description, Input: t.Tool.RawInputSchema})
	}
	return list
}

// A promptEnv is what a prompt needs to know of the server and the session.
type promptEnv struct {
	roots    []string                          // project folders, absolute, the first one being the default
	home     string                            // the state directory, which holds the user's AGENTS.md; may be ""
	open     func(path string) ([]byte, error) // see project.Sources
	tools    []string                          // names of the tools served
	schemas  []prompts.Schema                  // the tools as they are published, if somebody wants to see them
	shell    string                            // name of the shell that runs commands
	identity string                            // who the model is told to be; "" for the profile's own
	memory   func(cwd string) string           // the memory index; nil for none
	goos     string                            // "" is the running system
	now      func() time.Time                  // nil is the clock
	frozen   *project.Frozen                   // of the session
}

// promptEnv is what prompts for the client of a request need to know.
func (s *Server) promptEnv(ctx context.Context) (promptEnv, error) {
	c := clientOf(ctx)
	if c == nil {
		return promptEnv{}, errNoClient
	}
	ts, err := s.workspace(ctx)
	if err != nil {
		return promptEnv{}, err
	}
	return s.envOf(ts, s.toolNames(ctx), &c.frozen), nil
}

func (s *Server) envOf(ts *tools.Session, names []string, f *project.Frozen) promptEnv {
	return promptEnv{
		roots: writable(ts), home: s.cfg.Workspace.State, open: project.IfThere(ts.ReadFile), tools: names, shell: shell.Name(),
		identity: s.cfg.Identity, memory: memoryIndex(ts), frozen: f,
	}
}

// memoryIndex returns what tells a prompt what is remembered for a directory. A
// prompt does without if that takes long.
func memoryIndex(ts *tools.Session) func(cwd string) string {
	return func(cwd string) string {
		ctx, cancel := context.WithTimeout(context.Background(), memoryWait)
		defer cancel()
		text, err := ts.MemoryIndex(ctx, cwd)
		if err != nil {
			return ""
		}
		return text
	}
}

const memoryWait = 2 * time.Second

// writable are the directories that a session may change.
func writable(ts *tools.Session) (dirs []string) {
	for _, d := range ts.Dirs() {
		if !d.ReadOnly {
			dirs = append(dirs, d.Path)
		}
	}
	return dirs
}

// assemble puts the prompt of a profile together from what the session is and
// what a request says.
func (env promptEnv) assemble(ctx context.Context, p prompts.Profile, args map[string]string) (*prompts.Prompt, error) {
	stock, err := prompts.New(p)
	if err != nil {
		return nil, err
	}
	sc := stock.New("server")
	if env.identity != "" {
		if _, err := sc.Section(prompts.Section{Name: "identity", Order: prompts.HarnessIdentity, Literal: true,
			Text: prompts.Static(env.identity), From: "--identity"}); err != nil {
			return nil, err
		}
	}
	sc.Tools(func(context.Context, prompts.Input) (prompts.Toolset, error) {
		return prompts.Toolset{Schemas: env.schemas, Known: env.tools}, nil
	})
	facts, err := env.facts(ctx, p, args)
	if err != nil {
		return nil, err
	}
	a, err := sc.Assemble(ctx, prompts.Input{Facts: facts})
	if err != nil {
		return nil, err
	}
	return a.Render()
}

func (env promptEnv) facts(ctx context.Context, p prompts.Profile, args map[string]string) (prompts.Facts, error) {
	f := prompts.Facts{
		Platform:  cmp.Or(env.goos, runtime.GOOS),
		Shell:     cmp.Or(args["shell"], env.shell),
		OSVersion: project.OSVersion(),
		Model:     args["model"],
		Custom:    args["custom_instructions"],
		Tools:     env.tools,
	}
	now := env.now
	if now == nil {
		now = time.Now
	}
	f.Date = env.frozen.Date(now)
	roots, cwd, err := project.WorkingDir(env.roots, args["cwd"])
	if err != nil {
		return f, err
	}
	f.Instructions, f.LeftOut = project.Sources{Home: env.home, Roots: roots, Cwd: cwd, Open: env.open}.Instructions()
	env.frozen.Give(f.Instructions)
	if env.memory != nil {
		f.MemoryIndex = env.frozen.Index(cwd, env.memory)
	}
	switch {
	case cwd == "":
	case p == prompts.Code:
		f.Cwd = cwd
		f.Snapshot, f.Git = env.frozen.Git(ctx, cwd, project.GitSnapshot)
	default: // nobody who writes letters needs the state of git
		f.Cwd, f.Git = cwd, project.HasGit(cwd)
	}
	return f, nil
}

func within(root, path string) bool { return project.Within(root, path) }

// A promptPart tells a client that knows us what a message is.
type promptPart struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"` // section, context, instructions, git
	Order int    `json:"order"`
	From  string `json:"from"`
	Block int    `json:"block,omitempty"` // of a section: which of at most three blocks it is in
	Cache bool   `json:"cache,omitempty"` // a cache breakpoint belongs behind it
}

// promptResult makes messages of a prompt. The protocol knows no role for a
// system prompt, so there is one user message for each part, in order: sections,
// contexts, instruction files, git. A client that knows nothing of us gets
// readable text. One that does finds in _meta an entry for each message, under
// "ferrule/parts", and can put the system prompt together again.
func promptResult(p *prompts.Prompt) *mcp.GetPromptResult {
	parts := p.Parts()
	r := new(mcp.GetPromptResult)
	entries := make([]promptPart, 0, len(parts))
	for _, x := range parts {
		r.Messages = append(r.Messages, mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(x.Text)))
		entries = append(entries, promptPart{x.Name, x.Kind, x.Order, x.From, x.Block, x.Cache})
	}
	r.Description = fmt.Sprintf("The first %d of %d messages belong into the system prompt, the others in front of the user's first words.",
		len(p.Sections), len(parts))
	r.Meta = mcp.NewMetaFromMap(map[string]any{"ferrule/parts": entries})
	return r
}

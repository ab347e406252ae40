package mcpserver

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"ferrule/prompts"
)

//go:embed instructions.md
var instructionsText string

// serverInstructions returns what a client shows its model about the server as a
// whole, fitted to the tools that are served. It has at most 2,000 characters.
func serverInstructions(tools []string) string { return prompts.Adapt(instructionsText, tools) }

// The arguments of the prompt code, with what they mean.
var codeArguments = []mcp.PromptArgument{
	{Name: "cwd", Description: "Working directory: a path inside the project folders, absolute or relative to the first of them. Default: the first project folder."},
	{Name: "model", Description: "Name of the model that gets the prompt, as the prompt is to show it."},
	{Name: "shell", Description: "Name of the shell that runs commands, as the prompt is to show it. Default: the shell of this server."},
	{Name: "custom_instructions", Description: "Instructions of your own, which are put at the end of the system prompt, word for word."},
}

// codePromptDecl declares the prompt code.
func codePromptDecl() mcp.Prompt {
	return mcp.Prompt{
		Name:  "code",
		Title: "Code",
		Description: "Everything that an agent needs to be told to work on code here: system prompt, environment, " +
			"the project's instruction files, and the state of git.",
		Arguments: codeArguments,
	}
}

// A promptEnv is what a prompt needs to know of the server and the session.
type promptEnv struct {
	roots  []string                          // project folders, absolute, the first one being the default
	home   string                            // the state directory, which holds the user's AGENTS.md; may be ""
	open   func(path string) ([]byte, error) // see instructionSources; its error for a missing file may be any
	tools  []string                          // names of the tools served
	shell  string                            // name of the shell that runs commands
	goos   string                            // "" is the running system
	now    func() time.Time                  // nil is the clock
	frozen *frozen                           // of the session
}

// codePrompt answers prompts/get for the prompt code. The protocol knows no role
// for a system prompt, so there is one user message for each part, in order:
// sections, contexts, instruction files, git. A client that knows nothing of us
// gets readable text. One that does finds in _meta an entry for each message,
// under "ferrule/parts", and can put the system prompt together again.
//
// Errors are the caller's fault and say what to do.
func codePrompt(ctx context.Context, env promptEnv, args map[string]string) (*mcp.GetPromptResult, error) {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !slices.ContainsFunc(codeArguments, func(a mcp.PromptArgument) bool { return a.Name == name }) {
			return nil, fmt.Errorf("the prompt code has no argument %q; its arguments are cwd, model, shell and custom_instructions", name)
		}
	}
	facts, err := env.facts(ctx, args)
	if err != nil {
		return nil, err
	}
	a, err := prompts.NewCode().Assemble(ctx, prompts.Input{Facts: facts})
	if err != nil {
		return nil, err
	}
	p, err := a.Render()
	if err != nil {
		return nil, err
	}
	return promptResult(slices.Concat(p.Sections, p.Contexts, facts.Attachments())), nil
}

func (env promptEnv) facts(ctx context.Context, args map[string]string) (prompts.Facts, error) {
	f := prompts.Facts{
		Platform:  cmp.Or(env.goos, runtime.GOOS),
		Shell:     cmp.Or(args["shell"], env.shell),
		OSVersion: osVersion(),
		Model:     args["model"],
		Custom:    args["custom_instructions"],
		Tools:     env.tools,
	}
	now := env.now
	if now == nil {
		now = time.Now
	}
	f.Date = env.frozen.date(now)
	roots, cwd, err := workingDir(env.roots, args["cwd"])
	if err != nil {
		return f, err
	}
	f.Instructions, f.LeftOut = instructions(instructionSources{home: env.home, roots: roots, cwd: cwd, open: env.read})
	if cwd != "" {
		f.Cwd = cwd
		f.Snapshot, f.Git = env.frozen.git(ctx, cwd, gitSnapshot)
	}
	return f, nil
}

// read opens a file that is there. Most instruction files are not, and the error
// of open is made for a model, with names that are near.
func (env promptEnv) read(path string) ([]byte, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fs.ErrNotExist
	}
	return env.open(path)
}

// workingDir returns the working directory that a client named, and the roots, all
// free of links. Without a name it is the first root, or "" when there is none.
func workingDir(roots []string, name string) (real []string, cwd string, err error) {
	for _, root := range roots {
		if r, err := filepath.EvalSymlinks(root); err == nil {
			real = append(real, r)
		}
	}
	if name == "" && len(real) == 0 {
		return nil, "", nil
	}
	if len(real) == 0 {
		return nil, "", errors.New("there is no project folder in which cwd could be: start ferrule in a project's directory or with --root DIR")
	}
	path := filepath.FromSlash(cmp.Or(name, "."))
	if !filepath.IsAbs(path) {
		path = filepath.Join(real[0], path)
	}
	if cwd, err = filepath.EvalSymlinks(path); err != nil {
		return nil, "", fmt.Errorf("cwd %s does not exist; give a directory inside the project folders", name)
	}
	if fi, err := os.Stat(cwd); err != nil || !fi.IsDir() {
		return nil, "", fmt.Errorf("cwd %s is not a directory; give a directory inside the project folders", name)
	}
	if !slices.ContainsFunc(real, func(root string) bool { return within(root, cwd) }) {
		return nil, "", fmt.Errorf("cwd %s is outside of the project folders, which are %s", name, strings.Join(roots, ", "))
	}
	return real, cwd, nil
}

// A promptPart tells a client that knows us what a message is.
type promptPart struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"` // section, context, instructions, git
	Order int    `json:"order"`
	From  string `json:"from"`
	Block int    `json:"block,omitempty"` // of a section: which of at most three blocks it is in
	Cache bool   `json:"cache,omitempty"` // a cache breakpoint belongs behind it
}

func promptResult(parts []prompts.Part) *mcp.GetPromptResult {
	r := new(mcp.GetPromptResult)
	entries := make([]promptPart, 0, len(parts))
	system := 0
	for _, p := range parts {
		r.Messages = append(r.Messages, mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(p.Text)))
		entries = append(entries, promptPart{p.Name, p.Kind, p.Order, p.From, p.Block, p.Cache})
		if p.Block > 0 {
			system++
		}
	}
	r.Description = fmt.Sprintf("The first %d of %d messages belong into the system prompt, the others in front of the user's first words.", system, len(parts))
	r.Meta = mcp.NewMetaFromMap(map[string]any{"ferrule/parts": entries})
	return r
}

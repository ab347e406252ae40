package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"ferrule/cmd/internal/settings"
	"ferrule/mcpserver"
	"ferrule/prompts"
)

// promptSubject is what trust in the prompts of a project is recorded under.
const promptSubject = "prompts"

// promptOptions are the flags about prompts that all commands share.
type promptOptions struct {
	profile  prompts.Profile
	identity string
}

func (o *promptOptions) flags(f *flag.FlagSet) {
	f.StringVar((*string)(&o.profile), "profile", "", "") // checked by the server
	f.StringVar(&o.identity, "identity", "", "")
}

// withPrompts puts into a server's configuration what the flags and the user's
// yeses say about prompts.
func withPrompts(c mcpserver.Config, o options) mcpserver.Config {
	c.Profile, c.Identity = o.prompts.profile, o.prompts.identity
	c.TrustsPrompts = func(root, hash string) bool {
		dir, err := settings.ProjectDir(root)
		if err != nil {
			return false
		}
		t, err := settings.OpenTrust(o.workspace.State) // a yes given while the server runs counts, too
		return err == nil && t.Holds(dir, promptSubject, hash)
	}
	return c
}

// A promptCommand is what the flags of ferrule prompt ask for.
type promptCommand struct {
	model, custom, shell, cwd string
	explain, asJSON, trust    bool
	diff, html                string
}

// prompt shows an assembled prompt as a client would get it, or explains it.
func prompt(f *flag.FlagSet) action {
	var c promptCommand
	if rest := f.Args(); len(rest) > 2 && !strings.HasPrefix(rest[1], "-") { // parsing ends at the profile: put it last
		copy(rest[1:], append(slices.Clone(rest[2:]), rest[1]))
	}
	f.StringVar(&c.model, "model", "", "")
	f.StringVar(&c.custom, "custom", "", "")
	f.StringVar(&c.shell, "shell", "", "")
	f.StringVar(&c.cwd, "cwd", "", "")
	f.BoolVar(&c.explain, "explain", false, "")
	f.BoolVar(&c.asJSON, "json", false, "")
	f.BoolVar(&c.trust, "trust", false, "")
	f.StringVar(&c.diff, "diff", "", "")
	f.StringVar(&c.html, "html", "", "")
	return func(ctx context.Context, e environment, o options, args []string) error {
		forms := 0
		for _, asked := range []bool{c.explain, c.asJSON, c.trust, c.diff != "", c.html != ""} {
			if asked {
				forms++
			}
		}
		if forms > 1 || len(args) > 1 || c.diff != "" && len(args) != 1 || c.trust && len(args) > 0 {
			return errors.New("usage: ferrule prompt [PROFILE] [--model M] [--custom TEXT] [--cwd DIR] [--explain | --json | --html FILE], " +
				"ferrule prompt --diff A B, or ferrule prompt --trust")
		}
		switch {
		case c.trust:
			return trustPrompts(e.out, o)
		case c.diff != "":
			return c.compare(ctx, e.out, o, c.diff, args[0])
		}
		name := string(cmp.Or(o.prompts.profile, prompts.Code))
		if len(args) == 1 {
			name = args[0]
		}
		p, err := c.assemble(ctx, o, prompts.Profile(name))
		if err != nil {
			return err
		}
		switch {
		case c.html != "":
			return writePage(e.out, c.html, name, p)
		case c.asJSON:
			b, err := json.MarshalIndent(shownOf(name, p), "", " ")
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(e.out, "%s\n", b)
			return err
		case c.explain:
			_, err = io.WriteString(e.out, p.Explain())
			return err
		}
		return printPrompt(e.out, p)
	}
}

// assemble makes the prompt by the server that a client would talk to.
func (c *promptCommand) assemble(ctx context.Context, o options, p prompts.Profile) (*prompts.Prompt, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	s, err := newServer(o)
	if err != nil {
		return nil, err
	}
	args := make(map[string]string)
	for name, value := range map[string]string{"model": c.model, "custom_instructions": c.custom, "shell": c.shell, "cwd": c.cwd} {
		if value != "" {
			args[name] = value
		}
	}
	return s.Assemble(ctx, p, args)
}

// printPrompt writes the texts as the resource ferrule://prompt/code has them.
func printPrompt(out io.Writer, p *prompts.Prompt) error {
	var texts []string
	for _, x := range p.Parts() {
		texts = append(texts, x.Text)
	}
	_, err := fmt.Fprintln(out, strings.Join(texts, "\n\n"))
	return err
}

// A shownPrompt is a prompt as --json writes it.
type shownPrompt struct {
	Profile string      `json:"profile"`
	System  string      `json:"system"`
	Parts   []shownPart `json:"parts"`
	Omitted []shownPart `json:"omitted"`
	Tools   []shownTool `json:"tools"`
}

type shownPart struct {
	Kind       string   `json:"kind"`
	Name       string   `json:"name"`
	Order      int      `json:"order"`
	Block      int      `json:"block,omitempty"`
	Cache      bool     `json:"cache,omitempty"`
	From       string   `json:"from"`
	Scope      string   `json:"scope,omitempty"`
	Hides      string   `json:"hides,omitempty"`
	Uses       []string `json:"uses,omitempty"`
	Reason     string   `json:"reason,omitempty"` // of an omitted part
	Characters int      `json:"characters"`
	Tokens     int      `json:"tokens"` // an estimate
	Text       string   `json:"text"`
}

type shownTool struct {
	Name       string `json:"name"`
	Characters int    `json:"characters"`
	Tokens     int    `json:"tokens"`
}

func shownOf(name string, p *prompts.Prompt) shownPrompt {
	s := shownPrompt{Profile: name, System: p.System(), Parts: []shownPart{}, Omitted: []shownPart{}, Tools: []shownTool{}}
	show := func(x prompts.Part) shownPart {
		return shownPart{x.Kind, x.Name, x.Order, x.Block, x.Cache, x.From, x.Scope, x.Hides, x.Uses, x.Omitted, x.Characters(), x.Tokens(), x.Text}
	}
	for _, x := range p.Parts() {
		s.Parts = append(s.Parts, show(x))
	}
	for _, x := range p.Omitted {
		s.Omitted = append(s.Omitted, show(x))
	}
	for _, t := range p.Tools {
		x := prompts.Part{Text: t.Name + t.Description + string(t.Input)}
		s.Tools = append(s.Tools, shownTool{t.Name, x.Characters(), x.Tokens()})
	}
	return s
}

// compare says how the prompt b differs from a. Each is a profile, or a file that
// --json has written.
func (c *promptCommand) compare(ctx context.Context, out io.Writer, o options, a, b string) error {
	var sides [2]shownPrompt
	for i, name := range []string{a, b} {
		data, err := os.ReadFile(name)
		switch {
		case prompts.Profile(name).Check() == nil:
			p, err := c.assemble(ctx, o, prompts.Profile(name))
			if err != nil {
				return err
			}
			sides[i] = shownOf(name, p)
		case err != nil:
			return fmt.Errorf("%s is neither a profile (code, chat, work, study) nor a file that can be read", name)
		default:
			if err := json.Unmarshal(data, &sides[i]); err != nil || sides[i].Parts == nil {
				return fmt.Errorf("%s was not written by ferrule prompt --json", name)
			}
		}
	}
	_, err := io.WriteString(out, differences(a, b, sides[0].Parts, sides[1].Parts))
	return err
}

// differences goes through the parts of two prompts in their order.
func differences(nameA, nameB string, a, b []shownPart) string {
	var w strings.Builder
	find := func(parts []shownPart, like shownPart) *shownPart {
		i := slices.IndexFunc(parts, func(p shownPart) bool { return p.Kind == like.Kind && p.Name == like.Name })
		if i < 0 {
			return nil
		}
		return &parts[i]
	}
	for _, x := range a {
		switch y := find(b, x); {
		case y == nil:
			fmt.Fprintf(&w, "%s %s: only in %s, %d characters\n", x.Kind, x.Name, nameA, x.Characters)
		case y.Text == x.Text && y.Order == x.Order && y.Block == x.Block:
			fmt.Fprintf(&w, "%s %s: the same\n", x.Kind, x.Name)
		default:
			fmt.Fprintf(&w, "%s %s: %d characters in %s, %d in %s\n", x.Kind, x.Name, x.Characters, nameA, y.Characters, nameB)
			if y.Order != x.Order || y.Block != x.Block {
				fmt.Fprintf(&w, "  order %d, block %d, then order %d, block %d\n", x.Order, x.Block, y.Order, y.Block)
			}
			w.WriteString(lineDiff(x.Text, y.Text))
		}
	}
	for _, y := range b {
		if find(a, y) == nil {
			fmt.Fprintf(&w, "%s %s: only in %s, %d characters\n", y.Kind, y.Name, nameB, y.Characters)
		}
	}
	return w.String()
}

// maxDiff bounds the table of lineDiff; texts with more lines are shown whole.
const maxDiff = 4_000_000

// lineDiff shows the lines that are in a and not in b with "- ", and the reverse
// with "+ ", in their order, by the longest common subsequence of lines.
func lineDiff(a, b string) string {
	var w strings.Builder
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	width := len(y) + 1
	var common []int32 // of x[i:] and y[j:]
	if (len(x)+1)*width <= maxDiff {
		common = make([]int32, (len(x)+1)*width)
		for i := len(x) - 1; i >= 0; i-- {
			for j := len(y) - 1; j >= 0; j-- {
				if x[i] == y[j] {
					common[i*width+j] = common[(i+1)*width+j+1] + 1
				} else {
					common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
				}
			}
		}
	}
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		switch {
		case common != nil && i < len(x) && j < len(y) && x[i] == y[j]:
			i, j = i+1, j+1
		case i < len(x) && (j == len(y) || common == nil || common[(i+1)*width+j] >= common[i*width+j+1]):
			fmt.Fprintf(&w, "- %s\n", x[i])
			i++
		default:
			fmt.Fprintf(&w, "+ %s\n", y[j])
			j++
		}
	}
	return w.String()
}

// trustPrompts shows the prompts that the project brings along and records the
// user's yes to them as they are.
func trustPrompts(out io.Writer, o options) error {
	if len(o.workspace.Roots) == 0 {
		return errors.New("there is no project folder; name it with -C DIR")
	}
	t, err := settings.OpenTrust(o.workspace.State)
	if err != nil {
		return err
	}
	for _, root := range o.workspace.Roots {
		dir, err := settings.ProjectDir(root)
		if err != nil {
			return err
		}
		files, hash := mcpserver.WrittenPrompts(root)
		if hash == "" {
			fmt.Fprintf(out, "%s brings no prompts along.\n", shown(dir))
			continue
		}
		if err := t.Add(dir, promptSubject, hash); err != nil {
			return err
		}
		fmt.Fprintf(out, "Trusted the prompts of %s as they are now; when a file changes, none is served until you trust them again:\n", shown(dir))
		for _, f := range files {
			fmt.Fprintf(out, "  %s\n", shown(f))
		}
	}
	return nil
}

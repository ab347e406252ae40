package prompts

import (
	"fmt"
	"strings"
)

// A Prompt is a rendered assembly.
type Prompt struct {
	Sections []Part // in order; block and cache are set
	Contexts []Part
	Tools    []Schema
}

// Render fills in the variables. A part that uses an unknown variable, or one
// without a value, is an error that names the part.
func (a *Assembly) Render() (*Prompt, error) {
	p := &Prompt{Tools: a.Tools}
	var err error
	if p.Sections, err = a.render(kindSection, a.Sections); err != nil {
		return nil, err
	}
	if p.Contexts, err = a.render(kindContext, a.Contexts); err != nil {
		return nil, err
	}
	setBlocks(p.Sections)
	return p, nil
}

func (a *Assembly) render(kind string, parts []Part) ([]Part, error) {
	var out []Part
	for _, p := range parts {
		p.Kind = kind // a stage may have left it out
		if !p.Literal {
			text, err := interpolate(p.Text, a.Variables)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", p.Kind, p.Name, err)
			}
			p.Text = text
		}
		if p.Text = strings.TrimSpace(p.Text); p.Text != "" {
			out = append(out, p)
		}
	}
	return out, nil
}

// interpolate replaces each {{name}} by its value. Values are not looked at
// again, and there is no way to escape. A closed group that is no variable is an
// error, since a prompt that shows its own markup is worse than none; "{{" that
// is never closed is text.
func interpolate(s string, values map[string]string) (string, error) {
	var b strings.Builder
	for {
		before, rest, open := strings.Cut(s, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		if !open || !closed {
			b.WriteString(s)
			return b.String(), nil
		}
		value, ok := values[name]
		switch {
		case !variableName.MatchString(name):
			return "", fmt.Errorf("{{%s}} is not a variable", name)
		case !ok:
			return "", fmt.Errorf("variable %s has no value", name)
		}
		b.WriteString(before)
		b.WriteString(value)
		s = after
	}
}

// setBlocks says of each section in which block it stands. Blocks never go back,
// whatever the order into which a stage has put the sections: so they are always
// a division of the prompt. The last block of three holds what is of this session
// only, and the end of it is no use as a cache breakpoint. A complete section is
// one block.
func setBlocks(sections []Part) {
	if len(sections) == 1 && sections[0].Complete {
		sections[0].Block, sections[0].Cache = 1, true
		return
	}
	block := 1
	for i := range sections {
		s := &sections[i]
		switch {
		case s.Order >= tailStarts:
			block = 3
		case s.Order >= coreStarts:
			block = max(block, 2)
		}
		s.Block, s.Cache = block, false
		if i > 0 && sections[i-1].Block < block {
			sections[i-1].Cache = true
		}
	}
	if n := len(sections); n > 0 && block < 3 {
		sections[n-1].Cache = true
	}
}

// System returns the system prompt as one text.
func (p *Prompt) System() string { return join(p.Sections) }

// Blocks returns the system prompt as at most three texts: who the model is,
// what holds always, and what holds for this session. Providers may cache the
// first two apart. Joined by an empty line they are the system prompt.
func (p *Prompt) Blocks() []string {
	var out []string
	for i, j := 0, 0; i < len(p.Sections); i = j {
		for j < len(p.Sections) && p.Sections[j].Block == p.Sections[i].Block {
			j++
		}
		out = append(out, join(p.Sections[i:j]))
	}
	return out
}

const (
	snapshotHead  = "Present state of this session. It replaces every earlier statement of this kind."
	snapshotEnded = "What was said earlier about the present state of this session no longer holds."
)

// Snapshot returns the contexts as the text of one user message, or "".
func (p *Prompt) Snapshot() string {
	if len(p.Contexts) == 0 {
		return ""
	}
	return snapshotHead + "\n\n" + join(p.Contexts)
}

// Update returns the message about the contexts that is due, and whether one is.
// last is the text of the last such message that the conversation still holds;
// "" says that there never was one or that a summary has swallowed it. Nothing
// is due when the text is the same; when the contexts have gone, the message
// says once that the earlier ones no longer hold.
func (p *Prompt) Update(last string) (text string, due bool) {
	now := p.Snapshot()
	if now == "" && last != "" {
		now = snapshotEnded
	}
	return now, now != "" && now != last
}

func join(parts []Part) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n\n")
}

package prompts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Prompt is a rendered assembly.
type Prompt struct {
	Sections    []Part // in order; block and cache are set
	Contexts    []Part
	Attachments []Part // what stands before the user's first words, see [Facts.Attachments]
	Tools       []Schema
	Omitted     []Part // what was registered and is not in the prompt, each with the reason
}

// Render fills in the variables. A part that uses an unknown variable, or one
// without a value, is an error that names the part.
func (a *Assembly) Render() (*Prompt, error) {
	p := &Prompt{Tools: a.Tools, Attachments: a.attachments, Omitted: slices.Clone(a.omitted)}
	var err error
	if p.Sections, err = a.render(kindSection, a.Sections, &p.Omitted); err != nil {
		return nil, err
	}
	if p.Contexts, err = a.render(kindContext, a.Contexts, &p.Omitted); err != nil {
		return nil, err
	}
	slices.SortStableFunc(p.Omitted, func(a, b Part) int { // sections first
		return cmp.Or(strings.Compare(b.Kind, a.Kind), byOrder(a, b))
	})
	setBlocks(p.Sections)
	return p, nil
}

func (a *Assembly) render(kind string, parts []Part, omitted *[]Part) ([]Part, error) {
	var out []Part
	for _, p := range parts {
		p.Kind = kind // a stage may have left it out
		if !p.Literal {
			text, uses, err := interpolate(p.Text, a.Variables)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", p.Kind, p.Name, err)
			}
			p.Text, p.Uses = text, uses
		}
		if p.Text = strings.TrimSpace(p.Text); p.Text != "" {
			out = append(out, p)
		} else {
			p.Omitted = "its variables are empty"
			*omitted = append(*omitted, p)
		}
	}
	return out, nil
}

// interpolate replaces each {{name}} by its value and returns the names, each
// once. Values are not looked at again, and there is no way to escape. A closed
// group that is no variable is an error, since a prompt that shows its own markup
// is worse than none; "{{" that is never closed is text.
func interpolate(s string, values map[string]string) (text string, uses []string, err error) {
	var b strings.Builder
	for {
		before, rest, open := strings.Cut(s, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		if !open || !closed {
			b.WriteString(s)
			return b.String(), uses, nil
		}
		value, ok := values[name]
		switch {
		case !variableName.MatchString(name):
			return "", nil, fmt.Errorf("{{%s}} is not a variable", name)
		case !ok:
			return "", nil, fmt.Errorf("variable %s has no value; register it, or give it one", name)
		}
		b.WriteString(before)
		b.WriteString(value)
		if !slices.Contains(uses, name) {
			uses = append(uses, name)
		}
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

// Parts returns all parts in the order in which a client gets them: sections,
// contexts, attachments.
func (p *Prompt) Parts() []Part { return slices.Concat(p.Sections, p.Contexts, p.Attachments) }

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

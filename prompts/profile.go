package prompts

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed sections/*.md
var sections embed.FS

// A Profile names a stock prompt. It chooses texts and nothing else: which
// tools are offered, and what memory does, is settled without it.
//
// Whoever needs a profile gets it by an explicit choice, never from the name of
// a model, a path, or what the user wrote.
type Profile string

// The profiles. Code stands alone; the other three share the desktop prompt and
// differ by one paragraph.
const (
	Code  Profile = "code"
	Chat  Profile = "chat"
	Work  Profile = "work"
	Study Profile = "study"
)

// Profiles returns all profiles, the server's default first.
func Profiles() []Profile { return []Profile{Code, Chat, Work, Study} }

// Check returns an error that lists the profiles if there is no profile p.
func (p Profile) Check() error {
	if slices.Contains(Profiles(), p) {
		return nil
	}
	return fmt.Errorf("there is no profile %q; there are code, chat, work and study", string(p))
}

// OrDesktop returns p, or Chat when there is no profile p. It is for sessions
// that were stored with a mode that is absent or unknown, and for tasks that no
// session stands behind: none of them becomes a coding session by accident.
func (p Profile) OrDesktop() Profile {
	if p.Check() != nil {
		return Chat
	}
	return p
}

// Workspace returns the directory in which a session of the profile works. A
// project that was chosen must exist and be trusted, which the two functions
// say; a coding session without a project works in own, a directory that nobody
// else uses. A desktop session without a project has no directory: "".
func (p Profile) Workspace(project, own string, exists, trusted func(dir string) bool) (string, error) {
	switch {
	case project == "" && p == Code && own == "":
		return "", errors.New("a coding session needs a project, or a folder of its own")
	case project == "" && p == Code:
		return own, nil
	case project == "":
		return "", nil
	case !exists(project):
		return "", fmt.Errorf("the project folder %s does not exist; choose another one", oneLine(project))
	case !trusted(project):
		return "", fmt.Errorf("the project folder %s is not trusted; trust it first, or choose another one", oneLine(project))
	}
	return project, nil
}

// Note returns what the profile adds to the description of a tool, or "". The
// tool's schema is the same in every profile. A note mentions only tools that
// are offered.
func (p Profile) Note(tool string, offered []string) string {
	if p != Code {
		return ""
	}
	text, err := sections.ReadFile("sections/code-notes.md")
	if err != nil {
		panic(err)
	}
	var notes []string
	for line := range strings.Lines(Adapt(string(text), offered)) {
		if note, ok := strings.CutPrefix(line, "- "+tool+": "); ok {
			notes = append(notes, strings.TrimSpace(note))
		}
	}
	if notes == nil {
		return ""
	}
	return "Code mode: " + strings.Join(notes, " ")
}

// New returns a root scope with the stock prompt of a profile. Each part can be
// hidden or replaced by one of the same name in a scope over it. The sections
// are
//
//	identity, memory, environment, additional-instructions   in every profile
//	code, file-reference                                     in Code
//	desktop, mode                                            in the others
//
// and there are the context environment-changes and the variables cwd, model and
// provider, for parts of others.
func New(p Profile) (*Scope, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	return stockScope(p, sections), nil
}

// stockScope makes the scope of a profile that is known, with texts from files.
func stockScope(p Profile, files fs.FS) *Scope {
	sc := NewRoot()
	file := func(name string, order int, path string) {
		stock(sc.Section(Section{Name: name, Order: order, Text: fromFile(files, path), From: path}))
	}
	if p == Code {
		file("identity", HarnessIdentity, "sections/identity-code.md")
		file("code", codeRules, "sections/code.md")
		file("file-reference", fileReference, "sections/file-reference.md")
	} else {
		file("identity", HarnessIdentity, "sections/identity-desktop.md")
		file("desktop", desktopRules, "sections/desktop.md")
		file("mode", mode, "sections/mode-"+string(p)+".md")
	}
	stock(sc.Section(Section{Name: "memory", Order: memoryGuidance, Text: memoryText(fromFile(files, "sections/memory.md")), From: "sections/memory.md"}))
	stock(sc.Section(Section{Name: "environment", Order: environment, Text: environmentText, From: "facts", Literal: true}))
	stock(sc.Section(Section{Name: "additional-instructions", Order: additionalInstructions, Text: customText, From: "the request", Literal: true}))
	stock(sc.Context(Context{Name: "environment-changes", Order: environmentChanges, Text: changesText, From: "facts", Literal: true}))
	stockVariable(sc, "cwd", func(in Input) string { return in.Cwd })
	stockVariable(sc, "model", func(in Input) string { return in.Model })
	stockVariable(sc, "provider", func(in Input) string { return in.Provider })
	return sc
}

// stockVariable registers a fact, which has no value when it is not known.
func stockVariable(sc *Scope, name string, of func(Input) string) {
	stock(sc.Variable(name, func(_ context.Context, in Input) (string, bool, error) {
		value := oneLine(of(in))
		return value, value != "", nil
	}))
}

// stock registers what is ours for good; an error is a mistake in this file.
func stock(_ func(), err error) {
	if err != nil {
		panic(err)
	}
}

// memoryText leaves the guidance out where there is no memory: neither a tool
// for it nor anything remembered.
func memoryText(guidance Text) Text {
	return func(ctx context.Context, in Input) (string, error) {
		isTool := func(name string) bool { return strings.HasPrefix(name, "memory_") }
		if in.MemoryIndex == "" && !slices.ContainsFunc(in.Tools, isTool) {
			return "", nil
		}
		return guidance(ctx, in)
	}
}

package prompts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Facts are what is known of the session when its prompt is made. Whoever fills
// them in reads the clock, git and the file system once; what is not known stays
// empty and is not mentioned.
//
// Nothing in them is trusted to be well-formed: texts are never interpolated,
// values of one line stay on one line, and tags that could end a wrapper are
// escaped.
type Facts struct {
	Cwd       string // absolute path of the working directory
	Git       bool   // Cwd belongs to a git repository
	Platform  string // linux, darwin, windows
	Shell     string
	OSVersion string
	Model     string
	Date      string   // as it is to be shown, 2006-01-02
	Custom    string   // the request's own text
	Tools     []string // names of the tools offered; others are not mentioned

	Instructions []File   // outermost first
	LeftOut      []string // instruction files that were not taken, with the reason
	Snapshot     string   // state of git when the session began
}

// A File is a file of instructions.
type File struct {
	Path string
	Text string
	User bool // the user's own, not the project's
}

// maxValue limits values that stand on one line, in characters.
const maxValue = 1000

// environmentText lists the facts that do not change during a session.
func environmentText(_ context.Context, in Input) (string, error) {
	git := "no"
	if in.Git {
		git = "yes"
	}
	if in.Cwd == "" {
		git = ""
	}
	var b strings.Builder
	for _, f := range [][2]string{
		{"Working directory", in.Cwd},
		{"Git repository", git},
		{"Platform", in.Platform},
		{"Shell", in.Shell},
		{"OS version", in.OSVersion},
		{"Model", in.Model},
		{"Date", in.Date},
	} {
		if value := oneLine(f[1]); value != "" {
			fmt.Fprintf(&b, "\n- %s: %s", f[0], escape(value))
		}
	}
	if b.Len() == 0 {
		return "", nil
	}
	return "# Environment\n" + b.String(), nil
}

func customText(_ context.Context, in Input) (string, error) {
	text := strings.TrimSpace(clean(in.Custom))
	if text == "" {
		return "", nil
	}
	return "<additional_instructions>\n" + escape(text) + "\n</additional_instructions>", nil
}

// Attachments returns what stands before the user's first words: the instruction
// files, and the state of git. Both are facts of the time when the session began;
// they are kept with that message and not brought up to date.
func (f Facts) Attachments() []Part {
	var parts []Part
	add := func(kind string, order int, from, text string) {
		if text != "" {
			parts = append(parts, Part{Kind: kind, Name: kind, Text: text, Order: order, From: from, Literal: true})
		}
	}
	add(kindInstructions, instructionsFirst, "instruction files", f.instructionsText())
	add(kindGit, gitSecond, "git", f.gitText())
	return parts
}

func (f Facts) instructionsText() string {
	if len(f.Instructions)+len(f.LeftOut) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Instructions for this project follow. They come from files, which the user or the project's authors wrote, " +
		"and hold as long as the user says nothing else; a file that is deeper in the project goes before one above it.")
	for _, x := range f.Instructions {
		of := "project"
		if x.User {
			of = "user"
		}
		fmt.Fprintf(&b, "\n\n<instruction_file path=\"%s\" of=%q>\n%s\n</instruction_file>",
			attribute(x.Path), of, escape(strings.TrimSpace(clean(x.Text))))
	}
	if len(f.LeftOut) > 0 {
		b.WriteString("\n\nLeft out; read them when they matter:")
		for _, s := range f.LeftOut {
			b.WriteString("\n- " + escape(oneLine(s)))
		}
	}
	return b.String()
}

func (f Facts) gitText() string {
	text := strings.TrimSpace(clean(f.Snapshot))
	if text == "" {
		return ""
	}
	return "State of git when this session began. It is not brought up to date.\n\n<git_snapshot>\n" +
		escape(text) + "\n</git_snapshot>"
}

var wrappers = []string{"additional_instructions", "instruction_file", "git_snapshot"}

// escape makes a text unable to end, or to imitate, one of our wrappers, however
// the tag is spaced and whatever its case. All else stays as it is.
func escape(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "<")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if startsWrapper(after) {
			b.WriteString("&lt;")
		} else {
			b.WriteByte('<')
		}
		s = after
	}
}

func startsWrapper(afterBracket string) bool {
	s := strings.TrimLeftFunc(afterBracket, unicode.IsSpace)
	s = strings.TrimLeftFunc(strings.TrimPrefix(s, "/"), unicode.IsSpace)
	return slices.ContainsFunc(wrappers, func(name string) bool {
		return len(s) >= len(name) && strings.EqualFold(s[:len(name)], name)
	})
}

func attribute(s string) string {
	return strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;").Replace(oneLine(s))
}

// clean makes a text of a user or a file fit to be sent: valid UTF-8, line feeds
// only, and no control characters, which a terminal would obey and which hide
// from people what a model reads.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && hidden(r) {
			return -1
		}
		return r
	}, s)
}

// oneLine makes a value stay on its line, and cuts it if it is absurdly long.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '\u2028' || r == '\u2029':
			return ' '
		case hidden(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.TrimSpace(s)
	if utf8.RuneCountInString(s) > maxValue {
		s = string([]rune(s)[:maxValue]) + "…"
	}
	return s
}

// hidden reports whether r changes how a text is shown without being seen: a
// control character, a change of direction, or a tag character.
func hidden(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r >= 0xE0000 && r <= 0xE007F
}

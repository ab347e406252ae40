package permit

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ferrule/tools/internal/command"
)

// A Rule is a line of the settings or the value of a flag:
//
//	Tool                    the tool as a whole; a name may end in *
//	Bash(npm run build)     exactly these words
//	Bash(git log:*)         these words first; also written Bash(git log *)
//	Read(pattern)           everything that reads files: Read, Grep, Glob, ListDir, and what changes a file as well
//	Edit(pattern)           everything that writes files, and the files that redirects of commands open
//	WebFetch(domain:HOST)   that host; *.HOST the names below it, HOST:PORT only that port
//	mcp__server__tool       a tool of another server; mcp__server__* all of them
//
// A pattern is one of gitignore: //path from the root of the file system, ~/path from the home folder, /path from the
// project of the settings file, anything else from the roots of the workspace; without a slash in it, at any depth.
type Rule struct {
	Effect  Verdict
	Text    string
	At      string // where it stands, such as /home/me/.ferrule/settings.json:4:15 or --deny
	Project string // the folder of a project's settings; "" for the user's own
}

// rule is a Rule that was read. Exactly one of the pointers is set, or none if it speaks of the tool as a whole.
type rule struct {
	Rule
	tool    string // without the star
	star    bool
	command *command.Rule
	pattern *pattern
	host    *hostRule
	places  []place // of the pattern in a workspace
}

func (r *rule) String() string {
	if r.At == "" {
		return r.Text
	}
	return r.Text + " (" + r.At + ")"
}

// tools are the names that a rule may have, so that a slip of the pen is no silent hole. Known tells whether a new tool
// is missing here.
var tools = strings.Fields("Read Edit MultiEdit Write NotebookEdit Undo Glob Grep ListDir Bash TaskOutput TaskInput " +
	"TaskStop WebFetch WebSearch AskUserQuestion memory_search memory_ingest git_status git_diff git_log git_show git_commit " +
	"Agent EnterPlanMode ExitPlanMode CronCreate CronDelete CronList ScheduleWakeup ListAgents SendMessage Skill TodoWrite")

// Known reports whether a rule may name the tool.
func Known(tool string) bool { return slices.Contains(tools, tool) || strings.HasPrefix(tool, foreign) }

// foreign begins the names of other servers' tools.
const foreign = "mcp__"

// maxRule is the length of the longest rule, in bytes.
const maxRule = 4096

// parse reads a rule. The error says where it stands.
func parse(raw Rule, home string) (*rule, error) {
	r := &rule{Rule: raw}
	err := r.read(home)
	if err == nil {
		return r, nil
	}
	at := raw.At
	if at == "" {
		at = raw.Effect.String()
	}
	return nil, fmt.Errorf("%s: the rule %q cannot be used: %v", at, raw.Text, err)
}

func (r *rule) read(home string) error {
	name, spec, has := strings.Cut(r.Text, "(")
	if len(r.Text) > maxRule {
		return fmt.Errorf("it is longer than %d bytes", maxRule)
	}
	if strings.ContainsRune(r.Text, 0) {
		return errors.New("it holds a NUL character")
	}
	if r.tool, r.star = strings.CutSuffix(name, "*"); !isName(r.tool) && !(r.tool == "" && r.star) {
		return errors.New("it has to begin with the name of a tool, such as Bash(git log:*) or Read(./.env)")
	}
	if !r.star && !Known(r.tool) {
		return fmt.Errorf("there is no tool %q; names of tools are written like Bash, WebFetch or mcp__server__tool", r.tool)
	}
	if r.star && !strings.HasPrefix(r.tool, foreign) && !slices.ContainsFunc(tools, r.fits) {
		return fmt.Errorf("no tool has a name that begins with %q", r.tool)
	}
	if !has {
		return nil
	}
	spec, closed := strings.CutSuffix(spec, ")")
	if !closed {
		return errors.New("the closing bracket is missing")
	}
	return r.specify(name, spec, home)
}

func (r *rule) specify(name, spec, home string) (err error) {
	if spec == "" {
		return errors.New("nothing stands between the brackets; leave them out to mean the whole tool")
	}
	switch name {
	case "Bash":
		if spec == "*" {
			return nil
		}
		c, err := command.ParseRule(spec)
		r.command = &c
		if err != nil {
			return errors.New(strings.TrimPrefix(err.Error(), fmt.Sprintf("rule %q: ", spec)))
		}
		return nil
	case "Read", "Edit":
		r.pattern, err = parsePattern(spec, r.Project, home, r.Effect != Allow)
		return err
	case "WebFetch":
		r.host, err = parseHost(spec)
		return err
	case "Grep", "Glob", "ListDir":
		return fmt.Errorf("rules for reading are written %q and hold for %s as well", "Read("+spec+")", name)
	case "Write", "MultiEdit", "NotebookEdit":
		return fmt.Errorf("rules for changing files are written %q and hold for %s as well", "Edit("+spec+")", name)
	}
	return fmt.Errorf("only Bash, Read, Edit and WebFetch take something in brackets; write %s", name)
}

func isName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.'
	})
}

// names reports whether a rule without specifier holds for the access. Read and Edit stand for all that read and write
// files; only deny and ask rules reach so far with a star.
func (r *rule) names(a *Access) bool {
	if r.fits(a.Tool) {
		return true
	}
	if r.star && r.Effect == Allow {
		return false
	}
	switch a.Kind {
	case ReadPath:
		return r.fits("Read")
	case WritePath: // a file that must not be read is not changed either: results show what is in it
		return r.fits("Edit") || r.fits("Read") && r.Effect != Allow
	}
	return false
}

func (r *rule) fits(tool string) bool {
	if r.star {
		return strings.HasPrefix(tool, r.tool)
	}
	return tool == r.tool
}

// patternFor is a pattern that matches the path of an access and nothing else.
func (p *Policy) patternFor(a *Access) string {
	path := filepath.ToSlash(a.Path)
	prefix := "/"
	if len(p.cfg.Roots) > 0 {
		if root := filepath.ToSlash(p.cfg.Roots[0].Path); within(path, root) && path != root {
			path, prefix = strings.TrimPrefix(strings.TrimPrefix(path, root), "/"), "./"
		}
	}
	if !strings.HasPrefix(path, "/") && prefix == "/" {
		prefix = "//" // a Windows volume
	}
	var b strings.Builder
	for _, c := range path {
		if strings.ContainsRune(`*?[]\{}`, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	if a.Info != nil && a.Info.IsDir() {
		return strings.TrimSuffix(prefix+b.String(), "/") + "/**"
	}
	return prefix + b.String()
}

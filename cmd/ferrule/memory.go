package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ferrule/memory"
)

const memoryUsage = `usage: ferrule memory search QUERY | list | add TEXT|- | forget ID... | export [FILE] | import FILE|- | stats | check
  search, list    --limit N --scope project|user|all|every|KEY --kind fact|note|turn --tags A,B
                  --since DATE --until DATE --min_importance N; list also --all, with superseded ones
  add             --kind K --importance N --tags A,B --scope project|user --supersedes ID,ID --source S
                  --session S --time DATE
  forget          --session S, --scope S, --before DATE or --all instead of ids; --yes does not ask
  check           --rebuild makes the index again
  Each takes --json for one object a line`

// remember runs the commands around memory. People see and remove everything
// with them, whatever the settings say to models.
func remember(*flag.FlagSet) action {
	return func(ctx context.Context, e environment, o options, args []string) error {
		verbs := map[string]func(*memoryCommand, context.Context) error{
			"search": (*memoryCommand).search, "list": (*memoryCommand).list, "add": (*memoryCommand).add, "forget": (*memoryCommand).forget,
			"export": (*memoryCommand).export, "import": (*memoryCommand).load, "stats": (*memoryCommand).stats, "check": (*memoryCommand).check,
		}
		switch {
		case len(args) > 0 && (args[0] == "help" || slices.Contains(args, "--help") || slices.Contains(args, "-h")):
			_, err := fmt.Fprintln(e.out, memoryUsage)
			return err
		case len(args) == 0 || verbs[args[0]] == nil:
			return errors.New(memoryUsage)
		}
		m := &memoryCommand{environment: e}
		if err := m.parse(args[1:]); err != nil {
			return fmt.Errorf("%v\n%s", err, memoryUsage)
		}
		if len(o.workspace.Roots) > 0 {
			m.project = memory.ProjectScope(o.workspace.Roots[0])
		}
		var err error
		if m.client, err = openMemory(e, o); err != nil {
			return err
		}
		err = verbs[args[0]](m, ctx)
		if note := m.client.Note(); note != "" {
			fmt.Fprintln(e.err, note)
			err = cmp.Or(err, errTold) // whoever keeps copies by a script must not take this for a success
		}
		return errors.Join(err, m.client.Close())
	}
}

// useMemory gives the tools the store that the settings name. Without a home,
// or if they switch it off, the tools are not served. The caller must call the
// function it returns.
func (o *options) useMemory(e environment) (closeMemory func() error, err error) {
	if o.workspace.State == "" {
		o.selection.NoMemory = true
		return func() error { return nil }, nil
	}
	s, err := o.memorySettings(e)
	if err != nil {
		return nil, err
	}
	c, err := memory.New(memory.Config{Settings: s, File: memoryFile(*o), Key: e.getenv(s.Memex.KeyEnv)})
	if err != nil {
		return nil, err
	}
	if o.selection.NoMemory = !s.Enabled; s.Enabled {
		o.workspace.Memory = c
	}
	return c.Close, nil
}

func memoryFile(o options) string { return filepath.Join(o.workspace.State, "memory", "memory.db") }

// openMemory opens the store of the settings, also if it is switched off.
func openMemory(e environment, o options) (*memory.Client, error) {
	if o.workspace.State == "" {
		return nil, errors.New("memory has no place to be kept: set FERRULE_HOME or HOME")
	}
	s, err := o.memorySettings(e)
	if err != nil {
		return nil, err
	}
	s.Enabled = true
	return memory.New(memory.Config{Settings: s, File: memoryFile(o), Key: e.getenv(s.Memex.KeyEnv)})
}

// memorySettings reads the settings of memory.
func (o *options) memorySettings(e environment) (memory.Settings, error) {
	s, err := o.settings()
	if err != nil {
		return memory.Settings{}, err
	}
	return memory.LoadSettings(s.Memory, s.ProjectMemory, e.getenv)
}

// A memoryCommand is one command with its flags.
type memoryCommand struct {
	environment
	client  *memory.Client
	project string // the scope of this project, "" outside of one
	args    []string

	query      memory.Query
	one        memory.Memory
	importance float64
	scope      string
	json       bool
	all, yes   bool
	rebuild    bool
	traces     bool
}

// parse reads flags and arguments in any order.
func (m *memoryCommand) parse(args []string) error {
	f := flag.NewFlagSet("memory", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	day := func(into *time.Time) func(string) error {
		return func(s string) (err error) {
			*into, err = memory.ParseTime(s)
			return err
		}
	}
	words := func(into ...*[]string) func(string) error {
		return func(s string) error {
			for _, p := range into {
				*p = strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
			}
			return nil
		}
	}
	f.IntVar(&m.query.Limit, "limit", 0, "")
	f.StringVar(&m.scope, "scope", "", "")
	f.StringVar(&m.query.Kind, "kind", "", "")
	f.Func("tags", "", words(&m.query.Tags, &m.one.Tags))
	f.Func("since", "", day(&m.query.Since))
	f.Func("until", "", day(&m.query.Until))
	f.Func("before", "", day(&m.query.Until))
	f.Float64Var(&m.query.MinImportance, "min_importance", 0, "")
	f.Float64Var(&m.importance, "importance", -1, "")
	f.Func("supersedes", "", words(&m.one.Supersedes))
	f.StringVar(&m.one.Source, "source", "", "")
	f.StringVar(&m.query.Session, "session", "", "")
	f.Func("time", "", day(&m.one.Time))
	f.BoolVar(&m.json, "json", false, "")
	f.BoolVar(&m.all, "all", false, "")
	f.BoolVar(&m.yes, "yes", false, "")
	f.BoolVar(&m.rebuild, "rebuild", false, "")
	f.BoolVar(&m.traces, "traces", false, "")
	for {
		if err := f.Parse(args); err != nil {
			return err
		}
		rest := f.Args()
		if len(rest) == 0 {
			return nil
		}
		if n := len(args) - len(rest); n > 0 && args[n-1] == "--" {
			m.args = append(m.args, rest...)
			return nil
		}
		m.args, args = append(m.args, rest[0]), rest[1:]
	}
}

// scopes are those that a word names.
func (m *memoryCommand) scopes(word string) ([]string, error) {
	switch word {
	case "every":
		return nil, nil
	case memory.UserScope:
		return []string{memory.UserScope}, nil
	case "", "all":
		return slices.DeleteFunc([]string{m.project, memory.UserScope}, func(s string) bool { return s == "" }), nil
	case "project":
		if m.project == "" {
			return nil, errors.New("no project folder is set; go to the project's directory or use --root DIR")
		}
		return []string{m.project}, nil
	}
	return []string{word}, nil
}

// scopeName is a scope in words.
func (m *memoryCommand) scopeName(scope string) string {
	if scope == m.project {
		return "project"
	}
	return scope
}

func (m *memoryCommand) search(ctx context.Context) (err error) {
	m.query.Text = strings.TrimSpace(strings.Join(m.args, " "))
	if m.query.Text == "" || m.query.Limit < 0 || m.query.Limit > 50 {
		return errors.New("usage: ferrule memory search QUERY [--limit 1–50]")
	}
	if m.query.Scopes, err = m.scopes(m.scope); err != nil {
		return err
	}
	f, err := m.client.Search(ctx, m.query)
	if f.Note != "" {
		fmt.Fprintln(m.err, f.Note)
	}
	if err != nil {
		return err
	}
	for _, h := range f.Hits {
		if m.json {
			type result struct {
				memory.Memory
				Score    float64 `json:"score"`
				Coverage float64 `json:"coverage"`
			}
			if err := m.line(result{h.Memory, h.Score, h.Coverage}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintln(m.out, m.head(h.Memory))
		for line := range strings.Lines(memory.Excerpt(h.Content, m.query.Text, 600)) {
			fmt.Fprintf(m.out, "    %s\n", shown(strings.TrimRight(line, "\n")))
		}
	}
	if len(f.Hits) == 0 && !m.json {
		fmt.Fprintln(m.out, "No memories match.")
	}
	return nil
}

func (m *memoryCommand) list(ctx context.Context) (err error) {
	if len(m.args) > 0 {
		return errors.New("ferrule memory list takes no argument; search finds memories by their words")
	}
	if m.query.Scopes, err = m.scopes(m.scope); err != nil {
		return err
	}
	m.query.Superseded = m.all
	for x, err := range m.client.Walk(ctx, m.query) {
		if err != nil {
			return err
		}
		if m.json {
			err = m.line(x)
		} else {
			_, err = fmt.Fprintf(m.out, "%s  %s\n", m.head(x), shown(strings.Join(strings.Fields(memory.Excerpt(x.Content, "", 100)), " ")))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// head is a memory without its text.
func (m *memoryCommand) head(x memory.Memory) string {
	s := fmt.Sprintf("%s  %s  %s  %s  %.2f", x.ID, x.Time.Local().Format(time.DateOnly), shown(m.scopeName(x.Scope)), x.Kind, x.Importance)
	if x.Source != "" {
		s += "  " + shown(x.Source)
	}
	if x.SupersededBy != "" {
		s += "  superseded by " + x.SupersededBy
	}
	return s
}

func (m *memoryCommand) add(ctx context.Context) error {
	text := strings.Join(m.args, " ")
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(m.in, maxLine))
		if err != nil {
			return err
		}
		text = string(b)
	}
	scopes, err := m.scopes(cmp.Or(m.scope, "project"))
	if err != nil {
		return err
	}
	if len(scopes) != 1 || m.scope != "" && scopes[0] == m.scope && m.scope != memory.UserScope {
		return errors.New("a memory belongs to one scope: project or user")
	}
	m.one.Content, m.one.Scope, m.one.Kind, m.one.Session = text, scopes[0], m.query.Kind, m.query.Session
	if m.one.Importance = m.importance; m.importance < 0 {
		m.one.Importance = memory.Asked(text)
	}
	out, err := m.client.Ingest(ctx, m.one)
	if err != nil {
		return err
	}
	st := out[0]
	switch {
	case st.Note != "":
		fmt.Fprintln(m.err, st.Note)
	case st.Status == memory.Rejected:
		return errors.New(st.Reason)
	}
	if m.json {
		return m.line(outcome{ID: st.ID, Status: st.Status, Redactions: st.Redactions})
	}
	fmt.Fprintf(m.out, "%s %s\n", st.ID, st.Status)
	if len(st.Redactions) > 0 {
		fmt.Fprintf(m.out, "removed before storing: %s\n", strings.Join(st.Redactions, ", "))
	}
	for _, x := range st.Similar {
		fmt.Fprintf(m.out, "similar: %s (--supersedes if this one replaces it)\n", x.ID)
	}
	return nil
}

// An outcome is what --json tells of a memory that was given.
type outcome struct {
	Line       int           `json:"line,omitempty"`
	ID         string        `json:"id,omitempty"`
	Status     memory.Status `json:"status"`
	Reason     string        `json:"reason,omitempty"`
	Redactions []string      `json:"redactions,omitempty"`
}

// forget removes memories for good.
func (m *memoryCommand) forget(ctx context.Context) (err error) {
	chosen := m.all || m.scope != "" || m.query.Session != "" || !m.query.Until.IsZero()
	if chosen == (len(m.args) > 0) && !m.traces {
		return errors.New("say what to forget: ids, or --session S, --scope S, --before DATE or --all")
	}
	m.query.IDs, m.query.Superseded = m.args, true
	if m.query.Scopes, err = m.scopes(cmp.Or(m.scope, "every")); err != nil {
		return err
	}
	var ids []string
	if !m.traces {
		for x, err := range m.client.Walk(ctx, m.query) {
			if err != nil {
				return err
			}
			ids = append(ids, x.ID)
		}
		for _, id := range m.args {
			if !slices.Contains(ids, id) {
				fmt.Fprintf(m.err, "there is no memory %s\n", id)
			}
		}
		if len(ids) == 0 {
			return errors.New("nothing to forget")
		}
		if err := m.confirm(len(ids)); err != nil {
			return err
		}
	}
	n, err := m.client.Delete(ctx, ids...)
	if n > 0 || err == nil {
		fmt.Fprintf(m.out, "%d forgotten\n", n)
	}
	if st, serr := m.client.Stats(ctx); serr == nil {
		for _, note := range st.Notes {
			if strings.HasPrefix(note, "an older copy") {
				fmt.Fprintf(m.err, "it may be in %s\n", note)
			}
		}
	}
	return err
}

func (m *memoryCommand) confirm(n int) error {
	switch {
	case m.yes:
		return nil
	case !m.terminal:
		return fmt.Errorf("%d memories would be forgotten for good; --yes does it", n)
	}
	fmt.Fprintf(m.err, "Forget %d memories for good? [y/N] ", n)
	answer, _ := bufio.NewReader(m.in).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return errors.New("nothing was forgotten")
	}
	return nil
}

// export writes everything, in the order in which it came.
func (m *memoryCommand) export(ctx context.Context) (err error) {
	if len(m.args) > 1 {
		return errors.New("usage: ferrule memory export [FILE]")
	}
	if len(m.args) == 1 {
		f, err := os.OpenFile(m.args[0], os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		if err := f.Chmod(0o600); err != nil {
			f.Close()
			return err
		}
		w := bufio.NewWriter(f)
		m.out = w
		defer func() { err = errors.Join(err, w.Flush(), f.Close()) }()
	}
	m.query.Oldest, m.query.Superseded = true, true
	if m.query.Scopes, err = m.scopes(cmp.Or(m.scope, "every")); err != nil {
		return err
	}
	for x, err := range m.client.Walk(ctx, m.query) {
		if err = cmp.Or(err, m.line(x)); err != nil {
			return err
		}
	}
	return nil
}

// line writes v as one line of JSON.
func (m *memoryCommand) line(v any) error {
	enc := json.NewEncoder(m.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func (m *memoryCommand) stats(ctx context.Context) error {
	st, err := m.client.Stats(ctx)
	if err != nil {
		return err
	}
	if m.json {
		return m.line(st)
	}
	say := func(what, format string, a ...any) { fmt.Fprintf(m.out, "%-12s %s\n", what, fmt.Sprintf(format, a...)) }
	say("backend", "%s", st.Backend)
	if st.File != "" {
		say("file", "%s (%d bytes, schema %d, journal %s)", shown(st.File), st.Bytes, st.Schema, cmp.Or(st.Journal, "-"))
	}
	say("memories", "%d, and %d superseded", st.Memories, st.Superseded)
	for _, group := range []struct {
		name   string
		counts map[string]int
	}{{"kind", st.Kinds}, {"scope", st.Scopes}} {
		for _, k := range slices.Sorted(maps.Keys(group.counts)) {
			say("  "+group.name, "%s: %d", shown(m.scopeName(k)), group.counts[k])
		}
	}
	if st.Damaged > 0 {
		say("damaged", "%d rows cannot be read and are passed over", st.Damaged)
	}
	if st.Queued+st.Parked > 0 {
		say("waiting", "%d for the server, %d refused by it", st.Queued, st.Parked)
	}
	for _, n := range st.Notes {
		say("note", "%s", shown(n))
	}
	return nil
}

func (m *memoryCommand) check(ctx context.Context) error {
	faults, err := m.client.Check(ctx, m.rebuild)
	if err != nil {
		return err
	}
	for _, f := range faults {
		if m.json {
			err = errors.Join(err, m.line(map[string]string{"fault": f}))
		} else {
			fmt.Fprintln(m.out, f)
		}
	}
	switch {
	case err != nil:
		return err
	case len(faults) > 0:
		return errTold
	case !m.json:
		fmt.Fprintln(m.out, "Everything is in order.")
	}
	return nil
}

package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"ferrule/memory"
	"ferrule/tools/permit"
)

type memoryIngestInput struct {
	Content    string   `json:"content"`
	Kind       string   `json:"kind,omitempty" schema:"enum=fact|note|turn,default=fact"`
	Importance *float64 `json:"importance,omitempty" schema:"min=0,max=1"`
	Tags       []string `json:"tags,omitempty"`
	Scope      string   `json:"scope,omitempty" schema:"enum=project|user,default=project"`
	Supersedes []string `json:"supersedes,omitempty"`
	Source     string   `json:"source,omitempty"`

	// For programs: no model needs these two, and every request pays for what it
	// is told of.
	Session string `json:"session,omitempty" schema:"unlisted"`
	Time    string `json:"time,omitempty" schema:"unlisted"`
}

// MemoryIngest stores a memory.
var MemoryIngest = define(spec{
	name: "memory_ingest", title: "Remember", toolset: "memory",
	hints: Hints{Idempotent: true},
}, memoryIngest)

func memoryIngest(ctx context.Context, r *request, in memoryIngestInput) (Result, error) {
	c, err := r.memory()
	if err != nil {
		return Result{}, err
	}
	if _, err := r.may(ctx, permit.Access{}); err != nil {
		return Result{}, err
	}
	scopes, err := r.scopes(in.Scope, r.roots.First())
	if err != nil {
		return Result{}, err
	}
	m := memory.Memory{
		Content: in.Content, Kind: in.Kind, Tags: in.Tags, Scope: scopes[0], Supersedes: in.Supersedes, Source: in.Source,
		Session: cmp.Or(in.Session, r.id),
	}
	if in.Time != "" {
		if m.Time, err = memory.ParseTime(in.Time); err != nil {
			return Result{}, fmt.Errorf("time: %v", err)
		}
	}
	var auto bool
	if _, err := metaOf(ctx, "ferrule/auto", &auto); err != nil {
		return Result{}, err
	}
	st, err := r.store(ctx, c, m, in.Importance, auto)
	if err != nil {
		return Result{}, err
	}
	res := Result{Meta: map[string]any{"memory": ingestFacts(st)}}
	if st.Status == memory.Rejected {
		return res, errors.New(st.Reason)
	}
	res.Text = ingestText(st, cmp.Or(in.Kind, "fact"), in.Scope, in.Content)
	return res, nil
}

// store weighs a memory and stores it.
func (r *request) store(ctx context.Context, c *memory.Client, m memory.Memory, given *float64, auto bool) (memory.Stored, error) {
	switch {
	case given != nil:
		m.Importance = *given
	case auto:
		m.Importance = memory.Importance(m.Content)
	default:
		m.Importance = memory.Asked(m.Content)
	}
	if auto {
		return c.Record(ctx, m)
	}
	out, err := c.Ingest(ctx, m)
	if err != nil {
		return memory.Stored{}, err
	}
	return out[0], nil
}

// ingestFacts is what programs get.
func ingestFacts(st memory.Stored) map[string]any {
	facts := map[string]any{"status": st.Status}
	if st.ID != "" && st.Status != memory.Rejected {
		facts["id"] = st.ID
	}
	similar := make([]string, 0, len(st.Similar))
	for _, x := range st.Similar {
		similar = append(similar, x.ID)
	}
	for name, list := range map[string][]string{"redactions": st.Redactions, "similar": similar, "superseded": st.Superseded, "unknown": st.Unknown} {
		if len(list) > 0 {
			facts[name] = list
		}
	}
	return facts
}

func ingestText(st memory.Stored, kind, scope, content string) string {
	var lines []string
	add := func(format string, a ...any) { lines = append(lines, fmt.Sprintf(format, a...)) }
	switch st.Status {
	case memory.Disabled:
		return "Not stored: automatic recording is switched off."
	case memory.BelowThreshold:
		return "Not stored: it weighs too little to be recorded."
	case memory.Duplicate:
		add("Stored before as %s; noted that it came again.", st.ID)
	case memory.Queued:
		add("Kept as %s until the memory server answers.", st.ID)
	default:
		add("Stored %s (%s, %s, importance %.2f).", st.ID, scope, kind, st.Importance)
	}
	if len(st.Redactions) > 0 {
		add("Removed before storing: %s.", strings.Join(st.Redactions, ", "))
	}
	if len(st.Superseded) > 0 {
		add("Superseded: %s.", strings.Join(st.Superseded, ", "))
	}
	if len(st.Unknown) > 0 {
		add("Unknown in supersedes: %d of the ids; nothing here has them.", len(st.Unknown))
	}
	if len(st.Similar) > 0 {
		add("Similar memories; pass supersedes if this replaces one:")
		for _, x := range st.Similar {
			line := "[" + x.ID + "]"
			if !x.Time.IsZero() {
				line += " " + x.Time.Local().Format(time.DateOnly)
			}
			if utf8.RuneCountInString(x.Content) > 0 {
				line += " · " + strings.Join(strings.Fields(memory.Excerpt(x.Content, content, similarExcerpt)), " ")
			}
			add("- %s", line)
		}
	}
	if st.Note != "" {
		add("Note: %s", st.Note)
	}
	return strings.Join(lines, "\n")
}

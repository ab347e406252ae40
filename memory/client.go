package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ferrule/memory/internal/redact"
)

// A Client is how everybody reaches memory: it checks and weighs what comes in,
// cuts secrets out of what comes in and goes out, and keeps to the settings. It
// may be used concurrently. Nothing is opened before the first call.
type Client struct {
	settings Settings
	back     backend
}

// Config says where memories are.
type Config struct {
	Settings Settings
	File     string // of the database; with the HTTP backend it holds what waits for the server
	Key      string // for the HTTP backend
}

// ErrDisabled is the error of every call if the settings switch memory off.
var ErrDisabled = errors.New("memory is switched off in the settings")

// New returns a client. The caller must call Close.
func New(c Config) (*Client, error) {
	if err := c.Settings.check(); err != nil {
		return nil, err
	}
	switch {
	case !c.Settings.Enabled:
		return &Client{settings: c.Settings}, nil
	case c.File == "":
		return nil, errors.New("memory has no place to be kept: set FERRULE_HOME or HOME")
	case c.Settings.Backend == memexBackend:
		return &Client{c.Settings, newRemote(c.Settings.Memex.URL, c.Key, newStore(c.File))}, nil
	}
	return &Client{c.Settings, newStore(c.File)}, nil
}

// Settings returns what New was given.
func (c *Client) Settings() Settings { return c.settings }

// Close ends what the client does in the background and waits for calls at
// work.
func (c *Client) Close() error {
	if c.back == nil {
		return nil
	}
	return c.back.Close()
}

// Note returns what is to be told of the store and no answer has told yet, such
// as that the file was damaged; "" if there is nothing.
func (c *Client) Note() string {
	if s, local := c.back.(*store); local {
		return s.takeNote()
	}
	return ""
}

// Remote reports whether memories are kept by a server.
func (c *Client) Remote() bool { return c.settings.Backend == memexBackend }

// Search answers a search that somebody asked for: best memories first, at most
// q.Limit, or as many as the settings say.
func (c *Client) Search(ctx context.Context, q Query) (Found, error) {
	if c.back == nil {
		return Found{}, ErrDisabled
	}
	q.Limit = cmp.Or(q.Limit, c.settings.Limit)
	f, err := c.back.Search(ctx, q)
	for i := range f.Hits { // old rows, and servers that do not cut
		f.Hits[i].Memory = clean(f.Hits[i].Memory)
	}
	return f, err
}

// recallWait is how long a turn may wait for what it did not ask for.
const recallWait = 2 * time.Second

// Recall answers automatic recall for the text of a user's message: few
// memories, or none unless one of them covers enough of it. It is never an
// error: what goes wrong is told in the note.
func (c *Client) Recall(ctx context.Context, q Query) Found {
	if c.back == nil || !c.settings.AutoSearch {
		return Found{}
	}
	ctx, cancel := context.WithTimeout(ctx, recallWait)
	defer cancel()
	q.Limit, q.Gate = c.settings.RecallLimit, c.settings.RecallGate
	if rs := []rune(q.Text); len(rs) > MaxQuery {
		q.Text = string(rs[:MaxQuery])
	}
	f, err := c.Search(ctx, q)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("memory did not answer in time")
	}
	if err != nil {
		return Found{Note: err.Error(), Backend: f.Backend}
	}
	return f
}

// Ingest stores memories, a thousand at a time at most. The answer has one
// entry for each; an error means that nothing is known to be stored.
func (c *Client) Ingest(ctx context.Context, ms ...Memory) ([]Stored, error) {
	if c.back == nil {
		return nil, ErrDisabled
	}
	out := make([]Stored, len(ms))
	var good []Memory
	var at []int
	for i, m := range ms {
		m, kinds, reason := c.prepare(m)
		out[i] = Stored{ID: m.ID, Status: Rejected, Reason: reason, Redactions: kinds, Importance: m.Importance}
		if reason == "" {
			good, at = append(good, m), append(at, i)
		}
	}
	if len(good) == 0 {
		return out, nil
	}
	stored, err := c.back.Ingest(ctx, good)
	if err != nil {
		return nil, err
	}
	for k, st := range stored {
		st.Redactions = out[at[k]].Redactions
		for j := range st.Similar {
			st.Similar[j] = clean(st.Similar[j])
		}
		out[at[k]] = st
	}
	return out, nil
}

// Record stores a memory that nobody asked for, unless the settings are against
// it or it weighs too little.
func (c *Client) Record(ctx context.Context, m Memory) (Stored, error) {
	switch {
	case c.back == nil || !c.settings.AutoIngest:
		return Stored{Status: Disabled}, nil
	case m.Importance < c.settings.ImportanceThreshold:
		return Stored{Status: BelowThreshold, Importance: m.Importance}, nil
	}
	m.Auto = true
	out, err := c.Ingest(ctx, m)
	if err != nil {
		return Stored{}, err
	}
	return out[0], nil
}

// Delete forgets memories for good and returns how many there were. Without ids
// it removes what an earlier Delete had to leave behind.
func (c *Client) Delete(ctx context.Context, ids ...string) (int, error) {
	if c.back == nil {
		return 0, ErrDisabled
	}
	return c.back.Delete(ctx, ids)
}

// Walk yields the memories that q chooses.
func (c *Client) Walk(ctx context.Context, q Query) iter.Seq2[Memory, error] {
	return func(yield func(Memory, error) bool) {
		if c.back == nil {
			yield(Memory{}, ErrDisabled)
			return
		}
		for m, err := range c.back.Walk(ctx, q) {
			if !yield(clean(m), err) || err != nil {
				return
			}
		}
	}
}

// Stats describes the store.
func (c *Client) Stats(ctx context.Context) (Stats, error) {
	if c.back == nil {
		return Stats{}, ErrDisabled
	}
	return c.back.Stats(ctx)
}

// Check looks for damage in the file and returns what it finds, a sentence
// each. With rebuild it makes the index again first.
func (c *Client) Check(ctx context.Context, rebuild bool) ([]string, error) {
	switch b := c.back.(type) {
	case *store:
		return b.Check(ctx, rebuild)
	case *remote:
		return b.box.Check(ctx, rebuild)
	}
	return nil, ErrDisabled
}

// The memory index of a prompt.
const (
	indexChars      = 2000
	indexLine       = 200
	indexImportance = 0.8
)

// Index returns the facts that somebody asked to keep and that matter most, a
// line each, for the beginning of a prompt: no turns, and nothing automatic. It
// is the same as long as they are.
func (c *Client) Index(ctx context.Context, scopes []string) (string, error) {
	var facts []Memory
	for m, err := range c.Walk(ctx, Query{Scopes: scopes, Kind: "fact", MinImportance: indexImportance}) {
		if err != nil {
			return "", err
		}
		if !m.Auto {
			facts = append(facts, m)
		}
	}
	slices.SortStableFunc(facts, func(a, b Memory) int { return cmp.Compare(b.Importance, a.Importance) })
	var b strings.Builder
	chars := 0
	for _, m := range facts {
		line := fmt.Sprintf("- %s: %s\n", m.ID, Excerpt(oneLine(m.Content), "", indexLine))
		if chars += utf8.RuneCountInString(line); chars > indexChars {
			break
		}
		b.WriteString(line)
	}
	return b.String(), nil
}

// kinds are what a memory can be.
var kinds = [...]string{"fact", "note", "turn"}

// prepare checks a memory, cuts secrets out of all its texts, and fills in what
// was not given. The reason, if there is one, is why it is not stored.
func (c *Client) prepare(m Memory) (_ Memory, cut []string, reason string) {
	m.Content = strings.TrimSpace(plainText(m.Content))
	m.Source, m.Session = oneLine(plainText(m.Source)), oneLine(plainText(m.Session))
	m.Kind = cmp.Or(m.Kind, "fact")
	m.Tags = slices.Clone(m.Tags)
	for i := range m.Tags {
		m.Tags[i] = oneLine(plainText(m.Tags[i]))
	}
	now := time.Now()
	if m.Time.IsZero() {
		m.Time = now
	}
	if reason = check(m, now); reason != "" {
		return m, nil, reason
	}
	content, cut, reason := redact.Redact(m.Content)
	if reason != "" {
		return m, cut, "not stored: " + reason
	}
	m.Content = content
	for _, s := range append([]*string{&m.Source, &m.Session}, pointers(m.Tags)...) {
		var more []string
		*s, more, _ = redact.Redact(*s)
		for _, k := range more {
			if !slices.Contains(cut, k) {
				cut = append(cut, k)
			}
		}
	}
	return m, cut, ""
}

func pointers(list []string) (out []*string) {
	for i := range list {
		out = append(out, &list[i])
	}
	return out
}

// check says what is wrong with a memory, without repeating its content.
func check(m Memory, now time.Time) string {
	chars := utf8.RuneCountInString(m.Content)
	if chars > MaxContent {
		chars -= utf8.RuneCountInString(strings.Join(redact.Marks(m.Content), "")) // an export brings these
	}
	long := func(s string, most int) bool { return utf8.RuneCountInString(s) > most }
	switch {
	case m.Content == "":
		return "content must not be empty"
	case chars > MaxContent:
		return fmt.Sprintf("content has %s characters; %s are allowed: store a summary", thousands(chars), thousands(MaxContent))
	case !slices.Contains(kinds[:], m.Kind):
		return "kind must be one of fact, note, turn"
	case !(m.Importance >= 0 && m.Importance <= 1):
		return fmt.Sprintf("importance must be from 0 to 1, not %v", m.Importance)
	case m.Scope == "" || long(m.Scope, maxTag):
		return "the scope is missing or too long"
	case len(m.Tags) > maxTags:
		return fmt.Sprintf("tags must hold at most %d items, not %d", maxTags, len(m.Tags))
	case slices.ContainsFunc(m.Tags, func(t string) bool { return t == "" || long(t, maxTag) }):
		return fmt.Sprintf("every tag must have 1 to %d characters", maxTag)
	case len(m.Supersedes) > maxSupersedes:
		return fmt.Sprintf("supersedes must hold at most %d ids, not %d", maxSupersedes, len(m.Supersedes))
	case long(m.Source, maxSource):
		return fmt.Sprintf("source must have at most %d characters", maxSource)
	case long(m.Session, maxSession):
		return fmt.Sprintf("session must have at most %d characters", maxSession)
	case m.ID != "" && !validID.MatchString(m.ID):
		return "the id must be 1 to 64 letters, digits, - or _"
	case m.Time.After(now.Add(24 * time.Hour)):
		return "time must not be more than a day ahead"
	case m.Time.UnixMilli() < earliest:
		return "time must not be before the year 1"
	}
	return ""
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// clean cuts secrets out of a memory on its way out.
func clean(m Memory) Memory {
	m.Content, _, _ = redact.Redact(m.Content)
	m.Source, _, _ = redact.Redact(oneLine(m.Source))
	m.Session, _, _ = redact.Redact(oneLine(m.Session))
	m.Tags = slices.Clone(m.Tags)
	for i := range m.Tags {
		m.Tags[i], _, _ = redact.Redact(oneLine(m.Tags[i]))
	}
	return m
}

// plainText makes a text valid UTF-8 without control characters other than tab
// and line feed.
func plainText(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

// ParseTime reads an RFC 3339 time, or a date, which means its local midnight.
func ParseTime(s string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, time.Local); err == nil {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%q is neither a date such as 2026-06-11 nor an RFC 3339 time such as 2026-06-11T14:30:00Z", s)
}

// Package memory keeps what should outlive a conversation and finds it again:
// facts, notes and turns, in English, Chinese and most other languages, in one
// local SQLite file, or behind a server that speaks the contract of remote.go.
//
// Begin with [New] and [Client]: everything goes through it, so that secrets
// are cut in one place, before a text is hashed, indexed, stored or sent.
// store.go keeps the file, search.go ranks, importance.go weighs what is worth
// keeping, remote.go speaks to a server; package terms turns text into index
// terms, package redact knows what a secret looks like.
//
// The package knows no projects, sessions or protocols: it gets them as
// strings. It calls no model and, with the default backend, no network.
package memory

import (
	"context"
	"crypto/rand"
	"iter"
	"regexp"
	"time"
)

// UserScope is the scope of memories that belong to the user instead of one
// project.
const UserScope = "user"

// Limits of a memory and of a query, in characters or items.
const (
	MaxContent    = 8000
	MaxQuery      = 4000
	maxTags       = 16
	maxTag        = 64
	maxSource     = 500
	maxSession    = 128
	maxSupersedes = 16
)

// A Memory is one stored text. Its JSON form is a line of import and export.
type Memory struct {
	ID         string    `json:"id,omitempty"`
	Content    string    `json:"content"`
	Kind       string    `json:"kind,omitempty"`  // fact, note or turn
	Scope      string    `json:"scope,omitempty"` // the key of a project, or UserScope
	Session    string    `json:"session,omitempty"`
	Source     string    `json:"source,omitempty"` // where it comes from; not searched
	Tags       []string  `json:"tags,omitempty"`
	Importance float64   `json:"importance"` // 0–1
	Time       time.Time `json:"time,omitzero"`
	Auto       bool      `json:"auto,omitempty"` // recorded without being asked for

	Supersedes   []string  `json:"supersedes,omitempty"` // ids that this one replaces; only on the way in
	SupersededBy string    `json:"superseded_by,omitempty"`
	Updated      time.Time `json:"updated,omitzero"` // when the same words came last
	Seen         int       `json:"seen,omitempty"`   // how often they came
}

// A Query is a search, or with an empty Text the choice of what to list. The
// zero value of every other field asks for no restriction.
type Query struct {
	Text          string
	Limit         int
	Scopes        []string
	Kind          string
	Tags          []string // all of them
	MinImportance float64
	Since, Until  time.Time // Until is exclusive
	Exclude       []string  // ids that the caller has already
	Gate          float64   // what one of the first results must cover, see [Settings]; 0 for a search somebody asked for

	IDs        []string // only when listing, as the fields below
	Session    string
	Superseded bool // these too
	Oldest     bool // in the order in which they came, instead of newest first
}

// A Hit is one result of a search.
type Hit struct {
	Memory
	Score    float64 // comparable within one answer only
	Coverage float64 // share of the query's information that the memory itself holds, 0–1

	row  int64
	last time.Time // when it was said last
}

// Found is the answer to a search.
type Found struct {
	Hits       []Hit // best first
	Candidates int   // how many there were to choose from
	Note       string
	Backend    string // sqlite or memex
}

// A Status says what became of a memory.
type Status string

// What [Client.Ingest] and [Client.Record] report.
const (
	Kept           Status = "stored"
	Duplicate      Status = "duplicate" // the id is that of the older one
	Queued         Status = "queued"    // the server is away; it is sent when it is back
	Rejected       Status = "rejected"  // Reason says why
	BelowThreshold Status = "below_threshold"
	Disabled       Status = "disabled"
)

// Stored is what became of one memory.
type Stored struct {
	ID         string
	Status     Status
	Reason     string // of a rejection: one sentence that does not repeat the text
	Importance float64
	Redactions []string // kinds of secrets that were cut out
	Similar    []Memory // stored memories that say nearly the same; only when one was given
	Superseded []string
	Unknown    []string // ids to supersede that name nothing in this scope
	Note       string   // what else the user should know of the store
}

// Stats describes a store.
type Stats struct {
	Backend    string         `json:"backend"`
	File       string         `json:"file,omitempty"`
	Memories   int            `json:"memories"`
	Superseded int            `json:"superseded"`
	Kinds      map[string]int `json:"kinds,omitempty"`
	Scopes     map[string]int `json:"scopes,omitempty"`
	Bytes      int64          `json:"bytes,omitempty"`
	Schema     int            `json:"schema,omitempty"`
	Analyzer   int            `json:"analyzer,omitempty"`
	Journal    string         `json:"journal,omitempty"` // wal, or delete where the file system allows no more
	Damaged    int            `json:"damaged"`           // rows that cannot be read and are skipped
	Queued     int            `json:"queued"`            // memories that wait for the server
	Parked     int            `json:"parked"`            // memories that the server refused
	Notes      []string       `json:"notes,omitempty"`
}

// A backend keeps memories. It may be used concurrently. What reaches it has
// been checked and holds no secrets.
type backend interface {
	Search(context.Context, Query) (Found, error)

	// Ingest stores all of ms or, if it returns an error, none that it has not
	// reported.
	Ingest(ctx context.Context, ms []Memory) ([]Stored, error)

	Delete(ctx context.Context, ids []string) (int, error)
	Walk(context.Context, Query) iter.Seq2[Memory, error]
	Stats(context.Context) (Stats, error)
	Close() error
}

// validID is what is taken as an id from outside.
var validID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// newID returns m and 50 random bits in lower-case base 32, without letters
// that are easily taken for others.
func newID() string {
	const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	var b [10]byte
	rand.Read(b[:])
	for i := range b {
		b[i] = alphabet[b[i]&31]
	}
	return "m" + string(b[:])
}

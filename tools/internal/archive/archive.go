// Package archive shows what is in files that hold other files or data:
// listings of zip and tar archives, the schema of SQLite databases, and the
// text of docx, xlsx and epub documents as Markdown.
//
// Begin with [Detect] and [Read]. Nothing is unpacked to disk. A hostile file
// costs at most 100 MB unpacked, 2 seconds and the text that was asked for;
// what was read until then is shown, with a note. Formats that are not read
// have a name and a way by the shell ([Kind.Way]).
package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits for one file.
const (
	maxUnpacked = 100 << 20 // bytes
	maxListed   = 256 << 20 // bytes unpacked of a tar.gz, whose list is spread over it
	maxIndex    = 16 << 20  // bytes of the index of a zip
	maxRows     = 1000      // of a listing
	maxTime     = 2 * time.Second
)

// A File is the open file that is read.
type File struct {
	io.ReaderAt
	Size int64
	WAL  bool // a -wal file of SQLite stands beside it
}

// Options say how a file is shown.
type Options struct {
	MaxChars int                               // of the text, about; 0 means 48,000
	HTML     func(html []byte) (string, error) // makes Markdown of a page of an epub
}

// Content is what is shown of a file.
type Content struct {
	Text  string
	Notes []string // what is missing, each a sentence without its full stop
}

// ErrDamaged is wrapped by errors about content that does not fit the format.
var ErrDamaged = errors.New("is damaged")

// Read shows a file of a kind that Detect has found. An error is a predicate
// for the file's name.
func Read(ctx context.Context, f File, k Kind, o Options) (Content, error) {
	if o.MaxChars == 0 {
		o.MaxChars = 48_000
	}
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	out := &writer{max: o.MaxChars}
	b := &budget{ctx: limited, left: maxUnpacked}
	err := k.read(b, f, out, o)
	if ctx.Err() != nil {
		return Content{}, ctx.Err()
	}
	c := Content{Text: out.String(), Notes: out.notes}
	switch {
	case err == nil || errors.Is(err, errFull):
	case errors.Is(err, context.DeadlineExceeded):
		c.Notes = append(c.Notes, fmt.Sprintf("reading it ended after %v; this is not all of it", maxTime))
	case errors.Is(err, errBudget):
		c.Notes = append(c.Notes, "it is too large unpacked; this is not all of it")
	default:
		return Content{}, err
	}
	if c.Text == "" && err != nil {
		return Content{}, errors.New("is too large to be shown")
	}
	return c, nil
}

// errBudget ends the reading of a file that unpacks to too much.
var errBudget = errors.New("unpacks to too much")

// A budget counts what a file unpacks to and watches the time.
type budget struct {
	ctx  context.Context
	left int64
}

func (b *budget) spend(n int) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	if b.left -= int64(n); b.left < 0 {
		return errBudget
	}
	return nil
}

// reader counts what is read of r.
func (b *budget) reader(r io.Reader) io.Reader { return &spender{b, r} }

type spender struct {
	b *budget
	r io.Reader
}

func (s *spender) Read(p []byte) (int, error) {
	if err := s.b.spend(0); err != nil {
		return 0, err
	}
	n, err := s.r.Read(p)
	if spent := s.b.spend(n); spent != nil {
		return 0, spent
	}
	return n, err
}

// errFull ends the reading when the text has reached its size.
var errFull = errors.New("the text is full")

// A writer collects text up to a number of characters.
type writer struct {
	strings.Builder
	max, chars int
	notes      []string
}

// add appends whole pieces of text and returns errFull if one has no room.
func (w *writer) add(s string) error {
	n := utf8.RuneCountInString(s)
	if w.chars+n > w.max {
		return errFull
	}
	w.chars += n
	w.WriteString(s)
	return nil
}

// addCut appends what has room of a text, cut at a line's end if one is near.
func (w *writer) addCut(s string) error {
	if err := w.add(s); err == nil {
		return nil
	}
	room, cut := w.max-w.chars, 0
	for i := range s {
		if room == 0 {
			cut = i
			break
		}
		room--
	}
	if nl := strings.LastIndexByte(s[:cut], '\n'); nl > cut/2 {
		cut = nl + 1
	}
	w.add(s[:cut])
	return errFull
}

func (w *writer) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

// quoted is a name as it can stand in a line.
func quoted(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// number writes n with commas.
func number[T int | int64 | uint64](n T) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if stem, ok := strings.CutSuffix(what, "y"); ok {
		return number(n) + " " + stem + "ies"
	}
	return number(n) + " " + what + "s"
}

// damaged wraps ErrDamaged with what a decoder says, unless the reading was
// ended from outside.
func damaged(err error) error {
	for _, ours := range []error{errBudget, errFull, context.DeadlineExceeded, context.Canceled} {
		if errors.Is(err, ours) {
			return ours
		}
	}
	return fmt.Errorf("%w: %v", ErrDamaged, err)
}

// Package atomicfile replaces a file whole or not at all, and keeps what must be kept: mode, owner, extended
// attributes, hard links, and the work of others who write the same file.
//
// Begin at [Files.Update]. One call goes through these steps:
//
//	folder     opened name by name below the root, no link is followed; missing parents are made if asked for
//	locks      one in the process and flock between processes, both on the folder: updates queue, none is lost
//	read       the version that will be replaced; its descriptor stays open to the end, since a freed inode
//	           number is handed out again at once
//	change     the caller's function sees that version, compares it with what it knows, and makes the new one
//	Begin      the caller records what is about to happen; an error stops everything
//	write      a second file beside the first: content, owner, attributes, mode, fsync
//	publish    a new file is linked to its name, which fails if somebody was faster. An old one is exchanged and
//	           what came out is looked at: if it is not the version that was read, it is put back
//	End        the caller records what came of it
//
// Three ways of writing, each tried where the one before is refused by the system: an unnamed temporary file, which
// a killed process cannot leave behind; a named one; and in place, for a file with several names or in a folder that
// cannot be written. In place is not atomic against a crash: space is reserved first, failures put the old bytes back,
// and [Plan.InPlace] lets the caller save the old content on disk before the first byte changes.
//
// The package keeps no history, knows no model and phrases no advice: errors are sentinels or bare system errors, to
// which the caller adds the path as it was given. Whether a path may be written is decided before.
package atomicfile

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MaxSize is the largest file, in bytes, that is read to be changed.
const MaxSize = 256 << 20

// Errors that a caller branches on.
var (
	ErrStale    = errors.New("the file changed while it was being written")
	ErrSpecial  = errors.New("not a regular file")
	ErrChanging = errors.New("the file is being written by another program")
	// ErrTorn says that writing in place failed and the old bytes could not be put back.
	ErrTorn = errors.New("the file is damaged: writing in place stopped half way and could not be taken back")
)

// ErrTooLarge tells the size of a file and the limit it exceeds, both in bytes.
type ErrTooLarge struct{ Size, Max int64 }

func (e ErrTooLarge) Error() string {
	return fmt.Sprintf("the file has %d bytes, the limit is %d", e.Size, e.Max)
}

// Sync says how much is flushed to the disk before a call returns. A killed process never needs it, a power cut does.
type Sync uint8

const (
	SyncFile Sync = iota // the content, before the new file takes the name
	SyncNone
	SyncFull // the content, and the folder afterwards
)

// UnmarshalText reads "file", "none" (or "off") and "full".
func (s *Sync) UnmarshalText(text []byte) error {
	switch string(text) {
	case "file", "":
		*s = SyncFile
	case "none", "off":
		*s = SyncNone
	case "full":
		*s = SyncFull
	default:
		return fmt.Errorf("unknown fsync mode %q; use off, file or full", text)
	}
	return nil
}

// Options belong to one call.
type Options struct {
	Parents bool  // make missing folders, mode 0777 less umask
	Max     int64 // limit for the size of the old content in bytes; 0 means MaxSize
	// Begin is called under the locks before anything is written that could outlive a crash; its error stops the
	// call. End is then called exactly once with the result. If one way of writing turns out to be refused by the
	// system, the pair is called once more for the next way.
	Begin func(Plan) error
	End   func(Outcome, error)
}

// Content is one version of a file. Data must not be modified.
type Content struct {
	Data  []byte
	Stamp Stamp
}

// Plan is what Begin is told.
type Plan struct {
	Old      *Content // nil: there is no file
	Data     []byte   // the new content
	Sum      Sum      // of Data
	Remove   bool     // the file will be removed; Data and Sum mean nothing
	Temp     string   // name of a temporary file in the same folder that a crash may leave behind, or ""
	InPlace  string   // the reason for writing in place, or ""
	MadeDirs []string // folders made for this file, outermost first, relative to the root
}

// Outcome is what a caller must mention or remember. If Written is true the change has happened even when an error is
// returned with it: then only its safety against a power cut is in doubt.
type Outcome struct {
	Written   bool
	Created   bool
	InPlace   string // why the file was overwritten instead of replaced, "" if it was replaced
	OwnerLost bool   // the new file belongs to us, or to our group, since the system refused the old owner
	Stamp     Stamp  // of the version that is there now; of the old one if nothing was written
	MadeDirs  []string
	Left      string // a file beside it that could not be removed, or that holds a foreign version
}

// Files changes files for one process. It is safe for concurrent use; all callers that may write the same files should
// share one value, since its locks are what queues them.
type Files struct {
	sync  Sync
	sys   system
	locks locks
}

// NewFiles returns a Files that flushes as sync says.
func NewFiles(sync Sync) *Files { return &Files{sync: sync, sys: kernel{}} }

// system stands between this package and the calls of the operating system, so that a test can let any of them fail.
// op names the call.
type system interface {
	call(op string, f func() error) error
}

// Update reads the file rel below root, lets change make the new content, and writes it. old is nil when there is no
// file, which is then created. Nothing is written when change returns an error, or the old bytes.
//
// rel must be local, clean and free of links: a link on the way, also one swapped in meanwhile, is an error. Reading,
// changing and writing happen under one lock, so change must not call Update for the same folder. A canceled ctx stops
// the wait for the locks and everything before the first write, not a write that has begun.
func (w *Files) Update(ctx context.Context, root *os.Root, rel string, o Options,
	change func(old *Content) ([]byte, error)) (Outcome, error) {
	t, err := w.target(ctx, root, rel, o.Parents)
	if err != nil {
		return Outcome{}, err
	}
	defer t.close()
	out, err := t.update(ctx, w.sync, o, change)
	if !out.Written {
		t.dropMade()
		out.MadeDirs = nil
	}
	return out, err
}

func (t *target) update(ctx context.Context, sync Sync, o Options, change func(*Content) ([]byte, error)) (Outcome, error) {
	old, err := t.read(ctx, o.limit())
	if err != nil {
		return Outcome{}, err
	}
	data, err := change(old)
	if err != nil {
		return Outcome{}, err
	}
	if old != nil && bytes.Equal(old.Data, data) {
		return Outcome{Stamp: old.Stamp}, nil
	}
	if err := ctx.Err(); err != nil {
		return Outcome{}, err
	}
	j := &job{o: o, sync: sync, old: old, made: t.made, data: data, sum: sha256.Sum256(data)}
	out, err := t.write(j)
	var f *fallback
	if errors.As(err, &f) {
		err = f.err // no way was left
	}
	return out, err
}

// Remove removes the file rel if check agrees with its content, and then those of dirs (relative to root, outermost
// first) that are empty. Locks, Begin and End are those of Update. A missing file is fs.ErrNotExist.
func (w *Files) Remove(ctx context.Context, root *os.Root, rel string, o Options, dirs []string,
	check func(old Content) error) (Outcome, error) {
	t, err := w.target(ctx, root, rel, false)
	if err != nil {
		return Outcome{}, err
	}
	defer t.close()
	old, err := t.read(ctx, o.limit())
	if err != nil {
		return Outcome{}, err
	}
	if old == nil {
		return Outcome{}, fs.ErrNotExist
	}
	if err := check(*old); err != nil {
		return Outcome{}, err
	}
	if err := ctx.Err(); err != nil {
		return Outcome{}, err
	}
	out, err := t.remove(&job{o: o, sync: w.sync, old: old, remove: true})
	if out.Written {
		RemoveDirs(root, dirs)
	}
	return out, err
}

// RemoveDirs removes those of dirs, innermost last, that are empty folders reached without a link. Others stay.
func RemoveDirs(root *os.Root, dirs []string) {
	for i := len(dirs) - 1; i >= 0; i-- {
		if checkRel(dirs[i]) == nil {
			removeDir(root, dirs[i])
		}
	}
}

func (o Options) limit() int64 {
	if o.Max > 0 {
		return o.Max
	}
	return MaxSize
}

// job is one change on its way through the ways of writing.
type job struct {
	o      Options
	sync   Sync
	old    *Content
	data   []byte
	sum    Sum
	remove bool
	made   []string
}

func (j *job) begin(temp, inPlace string) error {
	if j.o.Begin == nil {
		return nil
	}
	return j.o.Begin(Plan{Old: j.old, Data: j.data, Sum: j.sum, Remove: j.remove, Temp: temp, InPlace: inPlace,
		MadeDirs: j.made})
}

func (j *job) end(out Outcome, err error) {
	if j.o.End != nil {
		j.o.End(out, err)
	}
}

// outcome is that of a change which has taken place.
func (j *job) outcome(st Stamp) Outcome {
	st.Sum = j.sum
	return Outcome{Written: true, Created: j.old == nil, Stamp: st, MadeDirs: j.made}
}

// way is how a file is written.
type way int

const (
	unnamed way = iota
	named
	inPlace
)

// fallback is the error of a way that the system refuses here; to is the next one.
type fallback struct {
	to  way
	why string // in the words of Outcome.InPlace
	err error
}

func (f *fallback) Error() string { return f.err.Error() }
func (f *fallback) Unwrap() error { return f.err }

// write goes through the ways until one is accepted. Ways only move forward, so this ends.
func (t *target) write(j *job) (Outcome, error) {
	how, why := t.first(j)
	for {
		var out Outcome
		var err error
		if how == inPlace {
			out, err = t.overwrite(j, why)
		} else {
			out, err = t.replace(j, how)
		}
		var f *fallback
		if out.Written || !errors.As(err, &f) || f.to <= how || f.to == inPlace && j.old == nil {
			return out, err
		}
		how, why = f.to, f.why
	}
}

// bare takes the operation and the path off an error: the caller knows the path as it was given.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) && !errors.Is(err, ErrTorn) {
		return pe.Err
	}
	return err
}

// checkRel refuses names that a resolver would not have handed out.
func checkRel(rel string) error {
	if !filepath.IsLocal(rel) || rel == "." || filepath.Clean(rel) != rel {
		return fmt.Errorf("%w: path %q", fs.ErrInvalid, rel)
	}
	return nil
}

const tempPrefix, tempSuffix = ".ferrule-", ".tmp"

func tempName() string {
	var b [8]byte
	rand.Read(b[:])
	return tempPrefix + hex.EncodeToString(b[:]) + tempSuffix
}

// IsTemp reports whether name, without its folder, is one that this package gives to temporary files.
func IsTemp(name string) bool {
	mid, ok := strings.CutPrefix(name, tempPrefix)
	if !ok {
		return false
	}
	mid, ok = strings.CutSuffix(mid, tempSuffix)
	b, err := hex.DecodeString(mid)
	return ok && err == nil && len(b) == 8
}

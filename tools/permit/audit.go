package permit

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// The audit log is one JSON object a line in audit.jsonl, written in one call to the end of the file, so that several
// processes may write. A file that has grown to maxLog gets a name with its time and a new one is begun; the newest
// keepLogs of them stay.

const (
	logName  = "audit.jsonl"
	oldLogs  = "audit-" // and the time, which sorts by name
	maxLog   = 8 << 20  // bytes
	keepLogs = 3
	maxField = 500 // bytes of a field in the log
)

// An Entry is one decision. It holds no arguments, only a hash that tells equal ones apart from others.
type Entry struct {
	Time     time.Time `json:"time"`
	Session  string    `json:"session,omitempty"`
	Tool     string    `json:"tool"`
	Decision string    `json:"decision"` // deny, ask or allow, or in a few words what the user answered
	Rule     string    `json:"rule,omitempty"`
	Args     string    `json:"args,omitempty"` // the first half of SHA-256, in hex
}

// EntryOf is the entry for a decision about an access.
func EntryOf(session string, a Access, d Decision) Entry {
	e := Entry{Session: session, Tool: a.Tool, Decision: d.Verdict.String(), Rule: d.Rule}
	if about := argument(&a); about != "" {
		sum := sha256.Sum256([]byte(about))
		e.Args = hex.EncodeToString(sum[:16])
	}
	return e
}

// Audit writes the log. It may be used by several goroutines at once; a nil Audit writes nothing.
type Audit struct {
	dir   *os.Root
	limit int64

	mu   sync.Mutex // guards file
	file *os.File
}

// OpenAudit opens the log in the state folder, which is made if it is not there. The caller must call Close.
func OpenAudit(state string) (*Audit, error) {
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(state)
	if err != nil {
		return nil, err
	}
	return &Audit{dir: dir, limit: maxLog}, nil
}

// Close ends the log.
func (l *Audit) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if l.file != nil {
		err = l.file.Close()
	}
	return errors.Join(err, l.dir.Close())
}

// Add writes an entry. Its time is now if it has none; long fields are cut.
func (l *Audit) Add(e Entry) error {
	if l == nil {
		return nil
	}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Time = e.Time.UTC().Round(time.Millisecond)
	for _, s := range []*string{&e.Session, &e.Tool, &e.Decision, &e.Rule} {
		*s = strings.ToValidUTF8((*s)[:min(len(*s), maxField)], "")
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.open(); err != nil {
		return err
	}
	_, err = l.file.Write(append(line, '\n'))
	return err
}

// open makes sure that file is the log and has room.
func (l *Audit) open() error {
	for range 3 { // other processes turn it over as well
		if l.file != nil {
			held, err := l.file.Stat()
			named, gone := l.dir.Lstat(logName)
			current := err == nil && gone == nil && os.SameFile(held, named)
			if current && held.Size() < l.limit {
				return nil
			}
			_ = l.file.Close() // every line was written in full or told as an error
			l.file = nil
			if current {
				l.turnOver()
			}
		}
		if fi, err := l.dir.Lstat(logName); err == nil && !fi.Mode().IsRegular() {
			return errors.New(logName + " in the state folder is no regular file; remove it")
		}
		f, err := l.dir.OpenFile(logName, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		l.file = f
		if fi, err := f.Stat(); err != nil || fi.Size() < l.limit {
			return err
		}
	}
	return nil // it cannot be turned over: rather too long than without a line
}

// turnOver puts a full log aside and drops the oldest. Two processes may do so at once; then the second puts aside a log
// that is hardly begun, and nothing is lost.
func (l *Audit) turnOver() {
	if l.dir.Rename(logName, oldLogs+time.Now().UTC().Format("20060102T150405.000000000")+".jsonl") != nil {
		return // open goes on with the long one
	}
	old := logs(l.dir.FS())
	for _, name := range old[:max(0, len(old)-1-keepLogs)] {
		_ = l.dir.Remove(name) // another process may have
	}
}

// logs lists the files of the log, the oldest first.
func logs(dir fs.FS) []string {
	old, _ := fs.Glob(dir, oldLogs+"*.jsonl") // the only error is one of the pattern
	slices.Sort(old)
	return append(old, logName)
}

// Entries reads the log in the state folder, the oldest entry first. A line that is no entry, such as one that a crash
// cut off, is left out. An error ends the sequence; that there is no log is none.
func Entries(state string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		dir, err := os.OpenRoot(state)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(Entry{}, err)
			return
		}
		defer dir.Close()
		for _, name := range logs(dir.FS()) {
			more, err := readLog(dir, name, yield)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				yield(Entry{}, err)
			}
			if !more || err != nil && !errors.Is(err, fs.ErrNotExist) {
				return
			}
		}
	}
}

func readLog(dir *os.Root, name string, yield func(Entry, error) bool) (more bool, err error) {
	if fi, err := dir.Lstat(name); err != nil || !fi.Mode().IsRegular() {
		return true, err
	}
	f, err := dir.Open(name)
	if err != nil {
		return true, err
	}
	defer f.Close()
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadBytes('\n')
		var e Entry
		if json.Unmarshal(line, &e) == nil && e.Tool != "" && !yield(e, nil) {
			return false, nil
		}
		if err != nil {
			return true, dropEOF(err)
		}
	}
}

func dropEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

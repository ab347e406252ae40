package tools

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ferrule/memory"
	"ferrule/shell"
	"ferrule/tools/internal/atomicfile"
	"ferrule/tools/internal/roots"
	"ferrule/tools/permit"
)

// Config is what the user fixed for the life of a [Session]. No argument of a
// call changes it.
type Config struct {
	Roots          []string // directories the tools may read and change; relative paths start at the first
	ReadDirs       []string // directories they may only read
	State          string   // where history and logs are kept; "" keeps none
	MaxResultChars int      // cap of a result's text; 0 means DefaultResultChars

	// Memory is what outlives sessions; nil: it is switched off. Whoever made it
	// closes it, after the sessions.
	Memory     *memory.Client
	MemoryUser string // scope of what belongs to nobody's project; "" means memory.UserScope

	// Commands: what the login shell says of the environment, nil for asking it
	// once for each session; variables that they get although they look like
	// secrets; and what they may reach.
	Login   *shell.Login
	EnvPass []string
	Sandbox shell.Sandbox

	// Documents reads PDFs and pictures; nil: the session has its own. Whoever
	// made it closes it, after the sessions.
	Documents *Documents
	NoImages  bool // results hold no pictures, only the lines that say what they are

	// Policy makes what says what calls may do in a project, the first root or
	// ""; nil: everything in the roots.
	Policy func(project string) (*permit.Policy, error)
	Audit  *permit.Audit // where decisions are written down; nil: nowhere
}

// A Session owns everything that outlives one call: the roots, the record of
// what the model has seen, the history of changes, and the shell with its
// working directory and background commands. Its methods may be called
// concurrently.
type Session struct {
	cfg   Config
	id    string
	roots workspace
	files *atomicfile.Files
	seen  seen

	gate  gate
	guard guard

	mu     sync.Mutex       // guards the fields below
	pasts  map[string]*past // by the path of the root
	sh     *shell.Shell     // started when the first command comes
	dir    string           // where the shell stands, "" before the first command
	notes  []string         // of changes of a root that no result has told yet
	closed bool
	logs   *roots.Set // the folder that commands leave output in, once one has

	outside map[string]*roots.Set // folders in use that are not of the workspace, by path
}

// NewSession opens the roots. The caller must call Close.
func NewSession(cfg Config) (*Session, error) {
	cfg.MaxResultChars = cmp.Or(cfg.MaxResultChars, DefaultResultChars)
	set, err := roots.Open(cfg.Roots, cfg.ReadDirs)
	if err != nil {
		return nil, err
	}
	if cfg.Documents == nil {
		cfg.Documents = NewDocuments(cfg.State)
		cfg.Documents.own = true
	}
	s := &Session{
		cfg: cfg, id: newID(),
		files: atomicfile.NewFiles(atomicfile.SyncFile),
		seen:  seen{files: make(map[string]record)},
		pasts: make(map[string]*past),
	}
	s.roots.set.Store(set)
	s.settle()
	return s, nil
}

// workspace are the roots as they stand now.
type workspace struct {
	set  atomic.Pointer[roots.Set]
	used atomic.Bool // a tool has been called: the model may know them
}

func (w *workspace) Resolve(name string) (roots.Place, error) { return w.set.Load().Resolve(name) }
func (w *workspace) Display(abs string) string                { return w.set.Load().Display(abs) }
func (w *workspace) First() string                            { return w.set.Load().First() }
func (w *workspace) Dirs() []roots.Dir                        { return w.set.Load().Dirs() }
func (w *workspace) Close() error                             { return w.set.Load().Close() }

// ChangeRoots makes dirs the directories that the tools may read and change,
// for a client whose user has opened others; those that may only be read stay.
// If one cannot be opened nothing changes. What was shown of files counts on,
// by their paths. The shell moves into the first root with its next command,
// unless it stands in one of them, and the next result that names a file tells
// the model.
//
// Calls at work may hold places in the roots from before, which are therefore
// not closed: their descriptors go with the last place that refers to them.
func (s *Session) ChangeRoots(dirs []string) error {
	set, err := roots.Open(dirs, s.cfg.ReadDirs)
	if err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed || slices.Equal(set.Dirs(), s.roots.Dirs()) {
		s.mu.Unlock()
		return set.Close()
	}
	s.roots.set.Store(set)
	if s.roots.used.Load() {
		const moved = "the project folders are others now: "
		s.notes = slices.DeleteFunc(s.notes, func(n string) bool { return strings.HasPrefix(n, moved) })
		s.notes = append(s.notes, moved+cmp.Or(strings.Join(s.rootDirs(), ", "), "none"))
	}
	s.mu.Unlock()
	s.settle()
	return nil
}

// shell returns the shell of the session, which is started when the first
// command comes: many sessions have none.
func (s *Session) shell() (*shell.Shell, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errors.New("the session is closed")
	case len(s.rootDirs()) == 0:
		return nil, errNoRoot
	case s.sh != nil:
		return s.sh, nil
	}
	sweepLogs(filepath.Dir(filepath.Dir(s.logDir())), time.Now())
	var err error
	s.sh, err = shell.New(shell.Config{
		Roots: s.rootDirs, LogDir: s.logDir(), MaxOutput: s.cfg.MaxResultChars,
		Login: s.cfg.Login, EnvPass: s.cfg.EnvPass, Sandbox: s.cfg.Sandbox.Limits(s.rootDirs, s.cfg.Login),
	})
	return s.sh, err
}

// Close ends every command that the session has started, waits for them, and
// removes their logs.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var err error
	if s.sh != nil {
		err = s.sh.Close()
		os.Remove(filepath.Dir(s.logDir())) // empty now
	}
	if s.logs != nil {
		s.logs.Close()
	}
	if s.cfg.Documents.own {
		s.cfg.Documents.Close()
	}
	for _, set := range s.outside {
		set.Close()
	}
	for _, p := range s.pasts {
		if p.log != nil {
			err = cmp.Or(err, p.log.Close())
		}
	}
	return cmp.Or(err, s.roots.Close())
}

// EndTasks ends the background commands, for a client that has gone away and
// will not ask for them; calls at work go on.
func (s *Session) EndTasks() {
	s.mu.Lock()
	sh := s.sh
	s.mu.Unlock()
	if sh != nil {
		sh.EndTasks()
	}
}

// Dirs returns the directories of the workspace, with links resolved.
func (s *Session) Dirs() []roots.Dir { return s.roots.Dirs() }

// ID is the name of the session in history and logs.
func (s *Session) ID() string { return s.id }

func (s *Session) rootDirs() (dirs []string) {
	for _, d := range s.roots.Dirs() {
		if !d.ReadOnly {
			dirs = append(dirs, d.Path)
		}
	}
	return dirs
}

func (s *Session) logDir() string {
	state := cmp.Or(s.cfg.State, filepath.Join(os.TempDir(), "ferrule"))
	return filepath.Join(state, "sessions", s.id, "tasks")
}

// maxLogAge is how long logs are kept that a killed server could not remove.
const maxLogAge = 7 * 24 * time.Hour

// sweepLogs removes the folders of sessions in which nothing has happened for
// maxLogAge. What cannot be removed stays: it is in nobody's way.
func sweepLogs(sessions string, now time.Time) {
	entries, _ := os.ReadDir(sessions)
	for _, e := range entries {
		dir := filepath.Join(sessions, e.Name())
		fi, err := os.Lstat(filepath.Join(dir, "tasks"))
		if err == nil && e.IsDir() && fi.IsDir() && now.Sub(fi.ModTime()) > maxLogAge {
			os.RemoveAll(dir)
		}
	}
}

func newID() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// ReadFile returns the content of a file of the workspace, at most 1 MiB, for
// text that goes into a prompt.
func (s *Session) ReadFile(name string) ([]byte, error) {
	p, err := s.file(name)
	if err != nil {
		return nil, err
	}
	if err := s.mayShow(p); err != nil {
		return nil, err
	}
	f, err := p.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, _, err := atomicfile.Read(f, 1<<20)
	return data, err
}

package settings

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// OfSettings is what the trust in a project's settings files is about. Hooks and servers of a project have their own.
const OfSettings = "settings"

// Trust is what the user has said yes to: content of a project, by its hash. Changed content is other content. It is
// kept in trust.json of our own folder. Use it from one goroutine.
type Trust struct {
	home string
	book trustBook
}

// trustBook is the file.
type trustBook struct {
	Projects map[string]map[string]trustEntry `json:"projects"` // by folder and subject
}

type trustEntry struct {
	Hash string    `json:"hash"`
	Time time.Time `json:"time"`
}

// A TrustRecord is one yes. It counts as long as the content has its hash.
type TrustRecord struct {
	Project string
	Subject string
	Hash    string
	Time    time.Time
}

// OpenTrust reads what is trusted. Without a home nothing is.
func OpenTrust(home string) (*Trust, error) {
	t := &Trust{home: home}
	return t, t.load()
}

func (t *Trust) path() string { return filepath.Join(t.home, "trust.json") }

func (t *Trust) load() error {
	t.book = trustBook{}
	if t.home == "" {
		return nil
	}
	fi, err := os.Lstat(t.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && runtime.GOOS != "windows" && fi.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s can be changed by others; look through it, then: chmod 600 %[1]s", t.path())
	}
	data, err := readFile(t.path())
	if err != nil {
		return fmt.Errorf("%s: %v", t.path(), err)
	}
	if err := json.Unmarshal(data, &t.book); err != nil {
		return fmt.Errorf("%s is damaged (%v); remove it and trust your projects again", t.path(), err)
	}
	return nil
}

// Holds reports whether the user has said yes to content with this hash.
func (t *Trust) Holds(project, subject, hash string) bool {
	e, ok := t.book.Projects[project][subject]
	return ok && hash != "" && e.Hash == hash
}

// Add records a yes to content with this hash. Of two processes that do so at the same moment one may be lost, which
// asks again.
func (t *Trust) Add(project, subject, hash string) error {
	if t.home == "" {
		return errors.New("there is no place to remember it; set FERRULE_HOME")
	}
	return t.change(func() {
		if t.book.Projects == nil {
			t.book.Projects = make(map[string]map[string]trustEntry)
		}
		if t.book.Projects[project] == nil {
			t.book.Projects[project] = make(map[string]trustEntry)
		}
		t.book.Projects[project][subject] = trustEntry{hash, time.Now().UTC().Round(time.Second)}
	})
}

// Remove takes back every yes to a project, and reports whether there was one.
func (t *Trust) Remove(project string) (bool, error) {
	if err := t.load(); err != nil || len(t.book.Projects[project]) == 0 {
		return false, err
	}
	return true, t.change(func() { delete(t.book.Projects, project) })
}

// Records lists what the user has said yes to, by project. Whether a yes still counts is for the caller to see.
func (t *Trust) Records() (list []TrustRecord) {
	for _, project := range slices.Sorted(maps.Keys(t.book.Projects)) {
		for _, subject := range slices.Sorted(maps.Keys(t.book.Projects[project])) {
			e := t.book.Projects[project][subject]
			list = append(list, TrustRecord{project, subject, e.Hash, e.Time})
		}
	}
	return list
}

// change applies f to what the file holds now and replaces it whole.
func (t *Trust) change(f func()) error {
	if err := os.MkdirAll(t.home, 0o700); err != nil {
		return err
	}
	if err := t.load(); err != nil {
		return err
	}
	f()
	data, err := json.MarshalIndent(t.book, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(t.home, ".trust-") // exclusive, with a name that nobody can guess, 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(append(data, '\n'))
	err = cmp.Or(err, tmp.Sync())
	if err = cmp.Or(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), t.path())
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // the error is told
	}
	return err
}

// Hash is the hash of content in several parts. Where one part ends is part of it.
func Hash(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":"))
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// TrustProject records a yes to the settings files of a project as they were read.
func (t *Trust) TrustProject(p *Project) error { return t.Add(p.Dir, OfSettings, p.Hash) }

// Trusts reports whether the settings files of a project as they were read are trusted.
func (t *Trust) Trusts(p *Project) bool { return t.Holds(p.Dir, OfSettings, p.Hash) }

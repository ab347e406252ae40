package auth

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Principal is who a bearer token belongs to, and what is served to whoever
// shows it.
type Principal struct {
	Name     string    `json:"name"`
	Roots    []string  `json:"roots,omitempty"`
	ReadDirs []string  `json:"read_dirs,omitempty"`
	ReadOnly bool      `json:"read_only,omitempty"`
	Allow    []string  `json:"allow,omitempty"` // permission rules, as the user wrote them
	Ask      []string  `json:"ask,omitempty"`
	Deny     []string  `json:"deny,omitempty"`
	Made     time.Time `json:"made"`
	Sum      string    `json:"sum"` // SHA-256 of the token, in hexadecimal
}

// Main is the name of who shows the token of the file "token", which is the user
// himself: he is served what the flags say.
const Main = "default"

// Owner tells principals apart, also two that have had the same name.
func (p Principal) Owner() string { return p.Name + "#" + p.Sum[:min(16, len(p.Sum))] }

const (
	minToken  = 32 // characters of a token that is taken
	maxTokens = 64 // principals
)

// Tokens are the bearer tokens kept in a state directory: one in the file
// "token", made when it is first needed, and named ones in "tokens.json", of
// which only sums are kept. Changes by other processes count from the next
// request on. It may be used concurrently.
type Tokens struct {
	dir, file string    // file is tokens.json
	own       Principal // of the file "token"

	mu   sync.Mutex // guards the fields below
	list []Principal
	sums [][sha256.Size]byte // of list
	seen fs.FileInfo         // of tokens.json when it was read, nil if there was none
	read time.Time
	n    uint64 // how often it was read
	err  error
}

// Open returns the tokens kept in dir. If there is no token yet it makes
// one and returns the path of its file.
func Open(dir string) (t *Tokens, made string, err error) {
	if t, err = namedTokens(dir); err != nil {
		return nil, "", err
	}
	unlock, err := lockFile(t.lock())
	if err != nil {
		return nil, "", err
	}
	token, fresh, err := ownToken(t.ownFile())
	unlock()
	if err != nil {
		return nil, "", err
	}
	if fresh {
		made = t.ownFile()
	}
	sum := sha256.Sum256([]byte(token))
	t.own = Principal{Name: Main, Sum: hex.EncodeToString(sum[:])}
	t.reload()
	return t, made, t.err
}

// namedTokens are the tokens of dir without the one of the file "token".
func namedTokens(dir string) (*Tokens, error) {
	if dir == "" {
		return nil, errors.New("there is no place for tokens; set FERRULE_HOME to a directory of your own")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	fi, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && fi.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%s holds the tokens and others can write to it; make it private with chmod 700", dir)
	}
	return &Tokens{dir: dir, file: filepath.Join(dir, "tokens.json")}, nil
}

func (t *Tokens) ownFile() string { return filepath.Join(t.dir, "token") }
func (t *Tokens) lock() string    { return filepath.Join(t.dir, "tokens.lock") }

// newToken returns 32 random bytes as text.
func newToken() string {
	var b [32]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// ownToken returns the token in file. If there is no such file it makes one that
// only the user can read.
func ownToken(file string) (token string, fresh bool, err error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		token = newToken()
		_, err = f.WriteString(token + "\n")
		if err = cmp.Or(err, f.Close()); err != nil {
			os.Remove(file)
		}
		return token, true, err
	case !errors.Is(err, fs.ErrExist):
		return "", false, err
	}
	data, _, err := readPrivate(file)
	if err != nil {
		return "", false, err
	}
	token = strings.TrimSpace(string(data))
	if len(token) < minToken {
		return "", false, fmt.Errorf("%s holds no token of at least %d characters; remove it and start again", file, minToken)
	}
	return token, false, nil
}

// readPrivate returns a file that only its owner can read, and refuses others:
// what is in them may be known to anybody.
func readPrivate(file string) ([]byte, fs.FileInfo, error) {
	link, err := os.Lstat(file)
	if err != nil {
		return nil, nil, err
	}
	if !link.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s must be a regular file", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !os.SameFile(link, fi) {
		return nil, nil, fmt.Errorf("%s was replaced while it was opened; try again", file)
	}
	if runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0 {
		return nil, nil, fmt.Errorf("others can read %s; make new tokens, as these may be known (or chmod 600 it, if they are not)", file)
	}
	data, err := io.ReadAll(io.LimitReader(f, 1<<20))
	return data, fi, err
}

// find returns who a token belongs to. The time it takes does not depend on how
// much of a token is right.
func (t *Tokens) find(token string) (who Principal, ok bool) {
	sum := sha256.Sum256([]byte(token))
	own, err := hex.DecodeString(t.own.Sum)
	if err == nil && subtle.ConstantTimeCompare(sum[:], own) == 1 {
		return t.own, true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reload()
	at := -1
	for i := range t.sums {
		if subtle.ConstantTimeCompare(sum[:], t.sums[i][:]) == 1 {
			at = i
		}
	}
	if at < 0 {
		return Principal{}, false
	}
	return t.list[at], true
}

// Valid reports whether the token of a principal is still good.
func (t *Tokens) Valid(owner string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reload()
	return owner == t.own.Owner() || slices.ContainsFunc(t.list, func(p Principal) bool { return p.Owner() == owner })
}

// Version returns another number whenever the named tokens may have changed. It
// costs one look at the time of a file.
func (t *Tokens) Version() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reload()
	return t.n
}

// settled is the age from which a file's time of change tells it apart from the
// next version of it.
const settled = time.Second

// reload reads tokens.json if it may have changed. A file that cannot be read
// or understood holds no good token.
func (t *Tokens) reload() {
	fi, err := os.Lstat(t.file)
	if err != nil {
		fi = nil
	}
	switch {
	case fi == nil && t.seen == nil && errors.Is(err, fs.ErrNotExist):
		t.err = nil
		return
	case fi != nil && t.seen != nil && os.SameFile(fi, t.seen) && fi.Size() == t.seen.Size() &&
		fi.ModTime().Equal(t.seen.ModTime()) && t.read.Sub(fi.ModTime()) > settled:
		return
	}
	t.read = time.Now()
	t.n++
	t.list, t.seen, t.err = loadTokens(t.file)
	t.sums = t.sums[:0]
	for _, p := range t.list {
		var sum [sha256.Size]byte
		hex.Decode(sum[:], []byte(p.Sum)) // loadTokens has seen that it is one
		t.sums = append(t.sums, sum)
	}
}

type tokenFile struct {
	Tokens []Principal `json:"tokens"`
}

// loadTokens reads tokens.json; one that is not there is empty.
func loadTokens(file string) ([]Principal, fs.FileInfo, error) {
	data, fi, err := readPrivate(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, fi, err
	}
	var f tokenFile
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, fi, fmt.Errorf("%s cannot be understood: %v", file, err)
	}
	for _, p := range f.Tokens {
		if sum, err := hex.DecodeString(p.Sum); err != nil || len(sum) != sha256.Size || !isName(p.Name) {
			return nil, fi, fmt.Errorf("%s: the entry %q is not whole", file, p.Name)
		}
	}
	return f.Tokens, fi, nil
}

// List returns the named tokens kept in dir, in order of their names.
func List(dir string) ([]Principal, error) {
	t, err := namedTokens(dir)
	if err != nil {
		return nil, err
	}
	list, _, err := loadTokens(t.file)
	return list, err
}

// Add makes a token for p, keeps its sum in dir and returns it. It cannot
// be learned again later.
func Add(dir string, p Principal) (string, error) {
	switch {
	case !isName(p.Name):
		return "", fmt.Errorf("the name %q must be 1 to %d letters, digits, - or _", p.Name, maxName)
	case p.Name == Main:
		return "", fmt.Errorf("%q is the name of the token that is made by itself; take another", p.Name)
	}
	token := newToken()
	sum := sha256.Sum256([]byte(token))
	p.Sum, p.Made = hex.EncodeToString(sum[:]), time.Now().UTC().Truncate(time.Second)
	err := changeTokens(dir, func(list []Principal) ([]Principal, error) {
		if len(list) >= maxTokens {
			return nil, fmt.Errorf("there are already %d tokens; revoke one first", len(list))
		}
		at, found := slices.BinarySearchFunc(list, p.Name, byName)
		if found {
			return nil, fmt.Errorf("there is already a token %s; revoke it first", p.Name)
		}
		return slices.Insert(list, at, p), nil
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// Revoke removes the token of this name from dir. Servers that are running
// refuse it from then on.
func Revoke(dir, name string) error {
	return changeTokens(dir, func(list []Principal) ([]Principal, error) {
		at, found := slices.BinarySearchFunc(list, name, byName)
		if !found {
			var names []string
			for _, p := range list {
				names = append(names, p.Name)
			}
			return nil, fmt.Errorf("there is no token %q; there are: %s", name, cmp.Or(strings.Join(names, ", "), "none"))
		}
		return slices.Delete(list, at, at+1), nil
	})
}

const maxName = 64

// isName reports whether s may name a principal.
func isName(s string) bool {
	return s != "" && len(s) <= maxName && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

func byName(p Principal, name string) int { return cmp.Compare(p.Name, name) }

// changeTokens replaces tokens.json as a whole, one process after the other.
func changeTokens(dir string, change func([]Principal) ([]Principal, error)) error {
	t, err := namedTokens(dir)
	if err != nil {
		return err
	}
	unlock, err := lockFile(t.lock())
	if err != nil {
		return err
	}
	defer unlock()
	list, _, err := loadTokens(t.file)
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b Principal) int { return byName(a, b.Name) })
	if list, err = change(list); err != nil {
		return err
	}
	data, err := json.MarshalIndent(tokenFile{list}, "", " ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".tokens-") // private from the start
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	err = cmp.Or(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), t.file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

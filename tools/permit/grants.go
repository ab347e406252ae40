package permit

import (
	"strings"
	"sync"
)

// maxGrants is how many answers a session remembers. What comes after is asked again each time.
const maxGrants = 10_000

// Grants is what the user has allowed for the rest of a session. The zero value is empty. It may be used by several
// goroutines at once.
type Grants struct {
	mu   sync.Mutex // guards keys
	keys map[string]struct{}
}

// Add remembers that what a Decision with this key asked was allowed.
func (g *Grants) Add(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.keys == nil {
		g.keys = make(map[string]struct{})
	}
	if key != "" && len(g.keys) < maxGrants {
		g.keys[key] = struct{}{}
	}
}

// Has reports whether the key was added.
func (g *Grants) Has(key string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.keys[key]
	return ok && key != ""
}

// key binds an answer to the tool and what it is about: the resolved path, the command as it stands and where, the
// host.
func key(a *Access) string {
	about := argument(a)
	if a.Kind == FetchURL {
		if h, err := hostOf(a.URL); err == nil {
			about = h.name + ":" + h.port
		}
	}
	return strings.Join([]string{a.Tool, string('0' + rune(a.Kind)), about}, "\x00")
}

// argument is what an access is about, letter by letter.
func argument(a *Access) string {
	switch a.Kind {
	case ReadPath, WritePath:
		return a.Path
	case RunCommand:
		return a.Dir + "\x00" + a.Command
	case FetchURL:
		return a.URL
	}
	return ""
}

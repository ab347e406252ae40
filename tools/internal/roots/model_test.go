package roots

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// model is a file system in memory and the kernel's walk through it, restricted to roots: a second way to the answers
// of Resolve. It knows absolute paths only. A walk from the top passes the folders above the roots on its way down and
// may stand in no other place outside of them.
type model struct {
	kind  map[string]byte   // path → 'd', 'f' or 'l'
	text  map[string]string // link → what it holds
	roots []string          // /r is the first; relative names begin there
}

type modelWalk struct {
	*model
	at    string
	links int
}

func (m *model) inside(p string) bool {
	return slices.ContainsFunc(m.roots, func(r string) bool { return p == r || strings.HasPrefix(p, r+"/") })
}

func (m *model) above(p string) bool {
	return p == "/" || slices.ContainsFunc(m.roots, func(r string) bool { return strings.HasPrefix(r, p+"/") })
}

// walk goes where text leads from the present place and returns the class of the error.
func (w *modelWalk) walk(text string) string {
	if strings.HasPrefix(text, "/") {
		w.at = "/"
	}
	for c := range strings.SplitSeq(text, "/") {
		if k, ok := w.kind[w.at]; ok && k != 'd' {
			return "file"
		}
		next := path.Join(w.at, c)
		switch {
		case c == "" || c == ".":
			continue
		case c == ".." && !w.inside(w.at), !w.inside(next) && (c == ".." || !w.above(next)):
			return "outside"
		case w.kind[next] == 'l':
			if w.links++; w.links > maxLinks {
				return "loop"
			}
			if class := w.walk(w.text[next]); class != "ok" {
				return class
			}
		default:
			w.at = next
		}
	}
	if !w.inside(w.at) {
		return "outside"
	}
	return "ok"
}

func (m *model) resolve(name string) (at, class string) {
	w := &modelWalk{model: m, at: m.roots[0]}
	class = w.walk(name)
	return w.at, class
}

// script reads decisions from bytes; it goes on with zeros when they are used up.
type script []byte

func (s *script) n(below int) int {
	if len(*s) == 0 {
		return 0
	}
	b := (*s)[0]
	*s = (*s)[1:]
	return int(b) % below
}

func (s *script) name() string {
	starts := []string{"", "", "", "", "", "/r/", "/r/a/", "/q/", "/", "/x/", "/r", "/r/../", "//r/./", "/rr/"}
	pieces := []string{"a", "b", "c", "a", "b", "..", "..", ".", "", "x"}
	name := starts[s.n(len(starts))]
	for i := range s.n(6) {
		if i > 0 {
			name += "/"
		}
		name += pieces[s.n(len(pieces))]
	}
	return name
}

// build makes a small tree, in memory and below the folder top.
func build(t testing.TB, s *script, top string) *model {
	m := &model{
		kind:  map[string]byte{"/": 'd', "/r": 'd', "/q": 'd', "/x": 'd', "/rr": 'd', "/rr/a": 'f'},
		text:  map[string]string{},
		roots: []string{"/r", "/q"},
	}
	mkdir(t, top, "r")
	mkdir(t, top, "q")
	mkdir(t, top, "x")
	put(t, "/rr/a", top, "rr/a")
	for range s.n(16) {
		dir := "/"
		for range s.n(4) {
			dir = path.Join(dir, []string{"r", "a", "b", "c", "q"}[s.n(5)])
		}
		p := path.Join(dir, []string{"a", "b", "c"}[s.n(3)])
		if _, taken := m.kind[p]; taken || m.kind[dir] != 'd' {
			continue
		}
		switch k := s.n(5); k {
		case 0, 1:
			m.kind[p] = 'd'
			mkdir(t, top, p)
		case 2:
			m.kind[p] = 'f'
			put(t, p, top, p)
		default:
			text := s.name()
			if text == "" {
				continue
			}
			m.kind[p], m.text[p] = 'l', text
			if strings.HasPrefix(text, "/") {
				text = top + text
			}
			link(t, text, top, p)
		}
	}
	return m
}

func checkScript(t testing.TB, data []byte) {
	s := script(data)
	top := scratch(t)
	m := build(t, &s, top)
	var readOnly []string
	if m.kind["/r/a"] == 'd' && s.n(2) == 1 {
		m.roots = append(m.roots, "/r/a")
		readOnly = []string{top + "/r/a"}
	}
	set := open(t, []string{top + "/r", top + "/q"}, readOnly)
	for range 8 {
		name := s.name()
		real := name
		if strings.HasPrefix(name, "/") {
			real = top + name
		}
		if name == "" {
			continue
		}
		at, class := m.resolve(name)
		checkName(t, set, m, real, top, at, class)
	}
}

func checkName(t testing.TB, set *Set, m *model, name, top, at, want string) {
	p, err := set.Resolve(name)
	if got := class(err); got != want {
		t.Fatalf("Resolve(%q): %s, want %s: %v\n%v %q", name, got, want, err, m.roots, m.text)
	}
	if err != nil {
		return
	}
	_, exists := m.kind[at]
	readOnly := len(m.roots) == 3 && (at == "/r/a" || strings.HasPrefix(at, "/r/a/"))
	if p.Path != filepath.Join(top, at) || exists != (p.Info != nil) || p.ReadOnly != readOnly {
		t.Fatalf("Resolve(%q): %+v, want %s, there %t, read only %t\n%v %q", name, p, at, exists, readOnly, m.roots, m.text)
	}
	if r := filepath.Join(p.held.real, p.Rel); r != p.Path {
		t.Fatalf("Resolve(%q): %s below its root is not %s", name, p.Rel, p.Path)
	}
	// The way by steps and the way in one call lead to the same place.
	full, start, rest := name, set.first, split(name)
	if filepath.IsAbs(full) {
		start, rest = set.locate(full)
	}
	w := &walk{set: set, given: name}
	err = w.enter(start)
	for err == nil && len(rest) > 0 {
		rest, err = w.follow(rest)
	}
	if err != nil {
		t.Fatalf("step by step, %q: %v", name, err)
	}
	if q := w.place(); q.Path != p.Path || q.Rel != p.Rel || (q.Info == nil) != (p.Info == nil) ||
		!slices.Equal(q.Links, p.Links) {
		t.Fatalf("%q: step by step %+v\nin one %+v", name, q, p)
	}
	// The kernel itself, which is not lenient about ".." after what is missing.
	if !filepath.IsAbs(full) {
		full = set.First() + "/" + full
	}
	fi, err := os.Stat(full)
	if p.Info == nil && !errors.Is(err, fs.ErrNotExist) ||
		p.Info != nil && err == nil && !os.SameFile(fi, p.Info) ||
		p.Info != nil && err != nil && !strings.Contains(name+strings.Join(texts(p.Links), ""), "..") {
		t.Fatalf("%q: the kernel finds %v, %v", name, fi, err)
	}
	if m.kind[at] == 'f' {
		if text, _, err := read(set, name); text != at || err != nil {
			t.Fatalf("%q: read %q, want %q: %v", name, text, at, err)
		}
	}
}

func texts(links []Link) (all []string) {
	for _, l := range links {
		all = append(all, l.Target)
	}
	return all
}

func TestModel(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the model is of Unix")
	}
	r := rand.New(rand.NewPCG(1, 2))
	n := 150
	if os.Getenv("FERRULE_NIGHTLY") == "1" {
		n = 20_000
	}
	for i := range n {
		data := make([]byte, 220)
		for j := range data {
			data[j] = byte(r.Uint32())
		}
		// Every trial cleans up after itself, so that the folders do not pile up.
		if !t.Run(itoa(i%676), func(t *testing.T) { checkScript(t, data) }) {
			t.Fatalf("trial %d: %x", i, data)
		}
	}
}

func FuzzResolve(f *testing.F) {
	if runtime.GOOS == "windows" {
		f.Skip("the model is of Unix")
	}
	f.Add([]byte("\x0f\x01\x00\x00\x03\x05\x02\x00\x01\x02\x00\x01\x00\x02\x01\x04\x05\x01\x00\x01\x02"))
	f.Add([]byte("\x05\x01\x00\x00\x00\x01\x00\x01\x04\x00\x02\x05\x02\x01\x00\x02\x03\x07\x01\x00"))
	f.Fuzz(func(t *testing.T, data []byte) { checkScript(t, data) })
}

// FuzzNames throws any string at Resolve: it must answer without leaving the root.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"a/f", "../x", "l/../f", "~/x", "\x00", "a//.\xff", "/", `\\?\C:\x`, "a\u202eb"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		r := scratch(t)
		put(t, "x", r, "a/f")
		link(t, "a", r, "l")
		s := open(t, []string{r}, nil)
		p, err := s.Resolve(name)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\x00\n\x1b") {
				t.Errorf("%q", err)
			}
			return
		}
		if p.Path != r && !strings.HasPrefix(p.Path, r+string(filepath.Separator)) {
			t.Errorf("%q leads to %q", name, p.Path)
		}
		Near(p, 3)
		// What is shown leads to the same place.
		if q, err := s.Resolve(s.Display(p.Path)); err != nil || q.Path != p.Path {
			t.Errorf("%q: shown as %q, which leads to %q, %v", name, s.Display(p.Path), q.Path, err)
		}
		if err := CheckWindowsName(name); err != nil && strings.ContainsAny(err.Error(), "\x00\n\x1b") {
			t.Errorf("%q", err)
		}
	})
}

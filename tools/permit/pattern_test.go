package permit

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// need ends a test that lacks a program; the checks demand them all.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("FERRULE_CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

func put(t testing.TB, root string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("K=1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func link(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(filepath.FromSlash(target), name); err != nil {
		t.Skip("no links here: ", err)
	}
}

// follow is an access as a tool with a resolver makes it.
func follow(t testing.TB, kind Kind, root, given string) Access {
	t.Helper()
	full := given
	if !filepath.IsAbs(full) {
		full = root + string(filepath.Separator) + filepath.FromSlash(given)
	}
	real, err := filepath.EvalSymlinks(full) // not cleaned before: ".." behind a link is the parent of its target
	if err != nil {
		real = realPath(full, nil, true)
	}
	a := Access{Tool: "Read", ReadOnly: kind == ReadPath, Kind: kind, Given: given, Path: real}
	a.Info, _ = os.Stat(real)
	return a
}

// TestGitOracle compares patterns with git, over a tree of real folders and files. What git does not have: a pattern
// that ends in /** means the folder itself, too.
func TestGitOracle(t *testing.T) {
	t.Parallel()
	need(t, "git")
	root := folder(t)
	put(t, root, "a/b/c", "a/b/ab", "b/a", "c", "ab/c/a/b", "abc", ".a", "a.b/c.a", "b/.a/b", "a/bb/a", "{a,b}", "b/a b")
	if out, err := exec.Command("git", "init", "-q", root).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	var paths []string
	dirs := map[string]bool{}
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if rel = filepath.ToSlash(rel); rel != "." && !strings.HasPrefix(rel, ".git") {
			paths = append(paths, rel)
			dirs[rel] = d.IsDir()
		}
		return nil
	})
	patterns := []string{"a", "a/", "/a", "a/b", "**/a", "a/**/c", "**/b/**/a", "*.a", ".*", "a?", "[!a]b", "[^b]*", "a/*", "*/c",
		"{a,b}", `\a`, "a/**/", "**/a/", "*/", "?", "a b", "b/a?b", "**/**/c", "[a-c]/b", "[]a]", "a**", "a**b"}
	rnd := rand.New(rand.NewPCG(1, 2))
	tokens := []string{"a", "b", "c", "*", "?", "/", "/**/", "[ab]", "[!c]", ".", "ab", "**/", "*"}
	for len(patterns) < 150 {
		var b strings.Builder
		for range 1 + rnd.IntN(6) {
			b.WriteString(tokens[rnd.IntN(len(tokens))])
		}
		patterns = append(patterns, b.String())
	}
	checked := 0
	for _, pattern := range patterns {
		if strings.HasPrefix(pattern, "//") || strings.Contains(pattern, "//") || strings.Contains(pattern, "/./") ||
			strings.HasPrefix(pattern, "./") || strings.HasSuffix(pattern, "/.") || strings.Contains(pattern, "..") || strings.HasSuffix(pattern, "/**") ||
			strings.Trim(pattern, "/.") == "" || strings.Contains(pattern, "***") || strings.HasSuffix(pattern, "**/") || strings.HasSuffix(pattern, "./") {
			continue // not the same by intent, or nothing that anybody writes
		}
		p, err := New(Config{Rules: rules("deny Read(" + pattern + ")"), Roots: []Root{{Path: root}}})
		if err != nil {
			t.Errorf("%q: %v", pattern, err)
			continue
		}
		if err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte(pattern+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "-C", root, "-c", "core.excludesFile=", "check-ignore", "--no-index", "--stdin", "-z")
		cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
		out, _ := cmd.Output() // 1: none is ignored
		ignored := map[string]bool{}
		for f := range strings.SplitSeq(string(out), "\x00") {
			ignored[f] = true
		}
		hides := p.Hides(root)
		for _, path := range paths {
			a := reading(filepath.Join(root, path))
			a.Info = info(t, a.Path)
			if got := p.Decide(a).Verdict == Deny; got != ignored[path] {
				t.Errorf("%q on %s: denied %v, git %v", pattern, path, got, ignored[path])
			}
			if got := hides(a.Path, dirs[path]); got != ignored[path] {
				t.Errorf("%q on %s: hidden %v, git %v", pattern, path, got, ignored[path])
			}
			checked++
		}
	}
	if checked < 2000 {
		t.Errorf("only %d compared", checked)
	}
}

// TestAliases reads denied files by other names: S007, S008, S009, S010, S037, H109, H125.
func TestAliases(t *testing.T) {
	t.Parallel()
	root := folder(t)
	put(t, root, "secrets/k", "secrets/deep/k", "sub/x", ".env", "s.txt", "Mixed.TXT", "caf\u00e9", "open.txt")
	link(t, "secrets/k", root+"/a")
	link(t, "secrets", root+"/d")
	link(t, "sub", root+"/e")
	link(t, ".env", root+"/link")
	link(t, "open.txt", root+"/alias")
	os.Mkdir(root+"/x", 0o755)
	hard := func(old, name string) {
		if err := os.Link(root+"/"+old, root+"/"+name); err != nil {
			t.Skip("no hard links here: ", err)
		}
	}
	hard("secrets/k", "sub/hard")
	hard("s.txt", "sub/s-hard")
	abs := "/" + slashed(root)
	for _, c := range []struct {
		rule, path string
		denied     bool
	}{
		{"Read(./secrets/**)", "secrets/k", true},
		{"Read(./secrets/**)", "secrets", true},
		{"Read(./secrets/**)", "secretsx", false},
		{"Read(./secrets/**)", "a", true},              // S007
		{"Read(./secrets/**)", "d/k", true},            // S008
		{"Read(./secrets/**)", "d/deep/k", true},       // S008
		{"Read(./secrets/**)", "e/../secrets/k", true}, // S009
		{"Read(./secrets/**)", "d/../secrets/k", true}, // S009
		{"Read(./secrets/**)", "sub/hard", false},      // S010: a pattern cannot know
		{"Read(./s.txt)", "sub/s-hard", true},          // one path: device and inode are compared
		{"Read(s.txt)", "sub/s-hard", false},           // a name at any depth is no path
		{"Read(./d)", "secrets/k", true},               // the rule's own path goes through a link
		{"Read(./d/**)", "secrets/k", true},
		{"Read(./alias)", "open.txt", true},
		{"Read(./.env)", root + "/.env", true}, // H109
		{"Read(./.env)", "./x/../.env", true},
		{"Read(./.env)", "link", true},
		{"Read(**/.env*)", "link", true},
		{"Read(./.env)", ".ENV", true}, // S037, also where the disk tells them apart
		{"Read(mixed.txt)", "Mixed.TXT", true},
		{"Read(MIXED.*)", "Mixed.TXT", true},
		{"Read(./cafe\u0301)", "caf\u00e9", true},
		{"Read(caf\u00c9)", "cafe\u0301", true},
		{"Read(STRASSE)", "stra\u00dfe", true},
		{"Read(.env)", ".e\u200dnv", true},                   // some file systems leave such characters out of account
		{"Read(" + slashed(root) + "/s.txt)", "s.txt", true}, // H125, as people write absolute paths
		{"Read(" + abs + "/s.txt)", "s.txt", true},
		{"Read(" + abs + "/sub/)", "sub/x", true},
		{"Read(" + abs + "/d/k)", "secrets/k", true},
		{"Read(~/sub/**)", "sub/x", true},
		{"Read(~)", "sub/x", true},
		{"Read(/sub)", "sub/x", true},
		{"Read(/x)", "sub/x", false},
		{"Read(x)", "sub/x", true},
		{"Read(sub/)", "sub/x", true},
		{"Read(s.txt/)", "s.txt", false},
		{"Read(**)", "s.txt", true},
		{"Read(*)", "sub/x", true},
		{"Read", "sub/x", true},
		{"Edit", "sub/x", false},
		{"Edit(**)", "sub/x", false},
	} {
		p := policy(t, Config{Rules: rules("deny " + c.rule), Roots: []Root{{Path: root}}, Home: root})
		for _, kind := range []Kind{ReadPath, WritePath} {
			a := follow(t, kind, root, c.path)
			if d := p.Decide(a); (d.Verdict == Deny) != (c.denied || kind == WritePath && strings.HasPrefix(c.rule, "Edit")) {
				t.Errorf("deny %s, %s, kind %d: %+v", c.rule, c.path, kind, d)
			}
			if kind == ReadPath && c.rule != "Read" && a.Info != nil {
				if hides := p.Hides(root); (hides != nil && hides(a.Path, a.Info.IsDir())) != c.denied &&
					c.path != ".ENV" && c.rule != "Read(~)" && c.rule != "Read(**)" {
					t.Errorf("deny %s, %s: hidden %v", c.rule, c.path, !c.denied)
				}
			}
		}
	}
}

// Links that the caller followed are names of the file, too.
func TestLinksOnTheWay(t *testing.T) {
	t.Parallel()
	root := folder(t)
	p := policy(t, Config{Rules: rules("deny Read(private)"), Roots: []Root{{Path: root}}})
	a := reading(filepath.Join(root, "plain"))
	if p.Decide(a).Verdict != Allow {
		t.Fatal("denied without reason")
	}
	a.Aliases = []string{"other", "private/x"}
	if p.Decide(a).Verdict != Deny {
		t.Error("a link of the name was followed")
	}
}

// H125: a file under two absolute names, here a folder that is mounted twice.
func TestBindMount(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("mounting takes root on Linux")
	}
	root, second := folder(t), folder(t)
	put(t, root, "s.txt", "dir/k", "open")
	if out, err := exec.Command("mount", "--bind", root, second).CombinedOutput(); err != nil {
		t.Skipf("cannot mount here: %v %s", err, out)
	}
	defer exec.Command("umount", second).Run()
	p := policy(t, Config{Rules: rules("deny Read(/"+root+"/s.txt)", "deny Read(/"+root+"/dir)"), Roots: []Root{{Path: root}, {Path: second}}})
	hides := p.Hides(second)
	for name, want := range map[string]bool{"s.txt": true, "dir/k": true, "dir": true, "open": false} {
		a := follow(t, ReadPath, second, filepath.Join(second, name))
		if got := p.Decide(a).Verdict == Deny; got != want {
			t.Errorf("%s: denied %v", name, got)
		}
		if got := hides(a.Path, a.Info.IsDir()); got != want && name != "dir/k" { // its folder is not entered
			t.Errorf("%s: hidden %v", name, got)
		}
	}
}

// An allow rule is not widened by a link that the project has put in its way.
func TestAllowThroughLinks(t *testing.T) {
	t.Parallel()
	root, out := folder(t), folder(t)
	put(t, root, "real/x")
	put(t, out, "x")
	link(t, out, filepath.Join(root, "build"))
	link(t, "real", filepath.Join(root, "inner"))
	link(t, root, filepath.Join(out, "way")) // a link of the user's to the workspace
	abs := "/" + slashed(root)
	for _, c := range []struct {
		rule, path string
		want       Verdict
	}{
		{"Edit(build/**)", "build/x", Ask},
		{"Edit(" + abs + "/build/**)", "build/x", Ask},
		{"Edit(" + abs + "/build/**)", filepath.Join(out, "x"), Ask},
		{"Edit(./inner/**)", "inner/x", Ask}, // the file is real/x
		{"Edit(./real/**)", "inner/x", Allow},
		{"Edit(REAL/**)", "real/x", Ask}, // allowed is only what is named letter by letter
		{"Edit(/" + slashed(out) + "/way/real/x)", "real/x", Allow},
	} {
		p := policy(t, Config{Rules: rules("allow " + c.rule), Roots: []Root{{Path: root}}})
		if d := p.Decide(follow(t, WritePath, root, c.path)); d.Verdict != c.want {
			t.Errorf("allow %s, %s: %+v", c.rule, c.path, d)
		}
	}
}

// Rules count from where they are written.
func TestAnchors(t *testing.T) {
	t.Parallel()
	one, two := folder(t), folder(t)
	top, _, _ := strings.Cut(strings.TrimPrefix(slashed(one), "/"), "/")
	project := filepath.Join(two, "p")
	for _, c := range []struct {
		rule Rule
		path string
		want Verdict
	}{
		{Rule{Deny, "Read(/x)", "", project}, filepath.Join(project, "x"), Deny},
		{Rule{Deny, "Read(/x)", "", project}, filepath.Join(two, "x"), Allow},
		{Rule{Deny, "Read(/x)", "", ""}, filepath.Join(two, "x"), Deny}, // from every root
		{Rule{Deny, "Read(./x)", "", project}, filepath.Join(one, "x"), Deny},
		{Rule{Deny, "Read(.env)", "", ""}, "/elsewhere/.env", Deny}, // also outside, which may be allowed by a rule
		{Rule{Deny, "Read(./.env)", "", ""}, "/elsewhere/.env", Ask},
		{Rule{Deny, "Read(tmp)", "", ""}, filepath.Join(one, "y"), Allow}, // what is above a root does not count
		{Rule{Deny, "Read(/" + top + "/**)", "", ""}, filepath.Join(one, "y"), Allow},
		{Rule{Deny, "Read(//" + top + "/**)", "", ""}, filepath.Join(one, "y"), Deny},
	} {
		p := policy(t, Config{Rules: []Rule{c.rule}, Roots: []Root{{Path: one}, {Path: two, ReadOnly: true}}})
		if d := p.Decide(reading(c.path)); d.Verdict != c.want {
			t.Errorf("%+v, %s: %+v", c.rule, c.path, d)
		}
	}
	if d := policy(t, Config{Rules: []Rule{{Allow, "Read(//elsewhere/**)", "", project}}, Roots: []Root{{Path: one}}}).Decide(reading("/elsewhere/x")); d.Verdict != Ask {
		t.Errorf("a project's rule has opened a path outside: %+v", d)
	}
	p := policy(t, Config{Roots: []Root{{Path: one}, {Path: two, ReadOnly: true}, {Path: filepath.Join(two, "w")}}})
	for path, want := range map[string]Verdict{one: Allow, two: Ask, filepath.Join(two, "w"): Allow} {
		if d := p.Decide(writing(filepath.Join(path, "f"))); d.Verdict != want {
			t.Errorf("writing in %s: %+v", path, d)
		}
	}
	if d := p.With([]Root{{Path: two}}, "").Decide(writing(filepath.Join(one, "f"))); d.Verdict != Ask {
		t.Errorf("after the roots were changed: %+v", d)
	}
}

func TestStateFolder(t *testing.T) {
	t.Parallel()
	root := folder(t)
	state := filepath.Join(root, "home")
	logs := filepath.Join(state, "sessions", "1", "tasks")
	put(t, root, "home/token", "home/sessions/1/tasks/out", "home/sessions/2/tasks/out")
	link(t, "home/token", root+"/t")
	p := policy(t, Config{Roots: []Root{{Path: root}}, State: state, Logs: logs, Rules: rules("allow Edit(**)")})
	for path, want := range map[string]Verdict{
		"home/token": Deny, "t": Deny, "HOME/token": Deny, "home": Deny, "home/sessions/2/tasks/out": Deny,
		"home/sessions/1/tasks/out": Allow, "home/sessions/1/tasks/../../2/tasks/out": Deny, "homeless": Allow,
	} {
		if d := p.Decide(follow(t, ReadPath, root, path)); d.Verdict != want {
			t.Errorf("reading %s: %+v", path, d)
		}
		w := follow(t, WritePath, root, path)
		if d := p.Decide(w); (d.Verdict == Allow) != (path == "homeless") {
			t.Errorf("writing %s: %+v", path, d)
		}
	}
	if hides := p.Hides(root); hides == nil || !hides(filepath.Join(state, "token"), false) || hides(filepath.Join(root, "homeless"), false) {
		t.Error("the state folder shows in searches")
	}
	if policy(t, Config{Roots: []Root{{Path: root + "/x"}}, State: state}).Hides(root+"/x") != nil {
		t.Error("nothing is hidden where no rule hides and the state lies elsewhere")
	}
	outside := policy(t, Config{Roots: []Root{{Path: root + "/x"}}, State: state, Logs: logs})
	if d := outside.Decide(reading(filepath.Join(logs, "out"))); d.Verdict != Allow {
		t.Errorf("own log outside of the workspace: %+v", d)
	}
}

// What would have to be asked does not show in a search either, unless the search of that very folder was asked about.
func TestHides(t *testing.T) {
	t.Parallel()
	root := folder(t)
	put(t, root, "keys/k.pem", "a.go")
	p := policy(t, Config{Roots: []Root{{Path: root}}, Rules: rules("ask Read(*.pem)", "ask Read(/keys/**)")})
	pem := filepath.Join(root, "keys", "k.pem")
	for top, want := range map[string]bool{root: true, filepath.Join(root, "keys"): true, pem: false} {
		if hides := p.Hides(top); hides != nil && hides(pem, false) != want || hides == nil && want {
			t.Errorf("from %s: want %v", top, want)
		}
	}
	p = policy(t, Config{Roots: []Root{{Path: root}}, Rules: rules("ask Read(/keys/**)")})
	if p.Hides(filepath.Join(root, "keys")) != nil {
		t.Error("asked twice")
	}
	if policy(t, Config{Roots: []Root{{Path: root}}, Rules: rules("ask Read(*.pem)"), HostAnswers: true}).Hides(root) != nil {
		t.Error("the host has asked")
	}
}

// BenchmarkHides is what a search pays for each file.
func BenchmarkHides(b *testing.B) {
	root := folder(b)
	put(b, root, "internal/parser/parser.go", ".env")
	path := filepath.Join(root, "internal/parser/parser.go")
	for name, list := range map[string][]string{
		"names":    {"deny Read(.env*)", "deny Read(**/*.pem)"},
		"folder":   {"deny Read(./secrets/**)"},
		"one path": {"deny Read(./.env)"},
	} {
		hides := policy(b, Config{Roots: []Root{{Path: root}}, Rules: rules(list...)}).Hides(root)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				hides(path, false)
			}
		})
	}
}

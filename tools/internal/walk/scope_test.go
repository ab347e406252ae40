package walk

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each case lists dir below the files. A name that begins with top/ lies below the root, others above it. The empty
// .git directory that a case may have is a repository: its top counts, not what is in it.
var scopeCases = []struct {
	name, dir string
	files     map[string]string
	want      string
	dropped   bool
}{
	{"no repository: from the root downwards", "", map[string]string{
		".gitignore": "*", "top/.gitignore": "a", "top/a": "", "top/b": "", "top/d/.gitignore": "/b", "top/d/b": "", "top/d/c": "",
	}, ".gitignore b d/.gitignore d/c", false},
	{"no repository, below the root", "d", map[string]string{
		".gitignore": "*", "top/.gitignore": "a", "top/d/a": "", "top/d/b": "",
	}, "b", false},
	{"repository above the root", "", map[string]string{
		".git/": "", ".gitignore": "a\ntop/b\n/c\n", "top/a": "", "top/b": "", "top/c": "",
	}, "c", false},
	{"what lies above a repository", "", map[string]string{
		".gitignore": "*", "top/.git/": "", "top/a": "",
	}, "a", false},
	{"nested repository", "", map[string]string{
		"top/.git/": "", "top/.gitignore": "a\n", "top/.git/info/exclude": "b\n", "top/n/.git/": "", "top/n/a": "", "top/n/b": "",
		"top/n/c": "", "top/n/.git/info/exclude": "c\n", "top/a": "", "top/b": "", "top/c": "",
	}, ".gitignore c n/a n/b", false},
	{"nested repository that is ignored", "", map[string]string{
		"top/.git/": "", "top/.gitignore": "n\n", "top/n/.git/": "", "top/n/a": "",
	}, ".gitignore", false},
	{"nested repository, named", "n", map[string]string{
		"top/.git/": "", "top/.gitignore": "n\na\n", "top/n/.git/": "", "top/n/a": "",
	}, "a", false},
	{"directory in a nested repository", "n/d", map[string]string{
		"top/.git/": "", "top/.gitignore": "n\na\n", "top/n/.git/": "", "top/n/.gitignore": "b\n", "top/n/d/a": "", "top/n/d/b": "",
	}, "a", false},
	{".ignore counts everywhere", "", map[string]string{
		".ignore": "a\n", "top/.git/": "", "top/n/.git/": "", "top/n/a": "", "top/b": "", "top/d/.ignore": "c\n", "top/d/c": "",
	}, "b d/.ignore", false},
	{".ignore is stronger than .gitignore", "", map[string]string{
		"top/.git/": "", "top/.ignore": "!a\nb\n", "top/d/.gitignore": "a\n!b\n", "top/d/a": "", "top/d/b": "",
	}, ".ignore d/.gitignore d/a", false},
	{".rgignore is stronger than .ignore", "", map[string]string{
		"top/.rgignore": "!a\nb\n", "top/d/.ignore": "a\n!b\n", "top/d/a": "", "top/d/b": "",
	}, ".rgignore d/.ignore d/a", false},
	{"deeper .ignore wins", "", map[string]string{
		"top/.ignore": "a\n", "top/d/.ignore": "!a\n", "top/d/a": "", "top/a": "",
	}, ".ignore d/.ignore d/a", false},
	{"ignored directory, named", "build", map[string]string{
		"top/.git/": "", "top/.gitignore": "build/\n*.o\n", "top/build/a.o": "", "top/build/b": "", "top/build/.gitignore": "b\n",
	}, ".gitignore a.o", true},
	{"directory in an ignored one, named", "build/d", map[string]string{
		"top/.git/": "", "top/.gitignore": "build/\n", "top/build/d/a": "",
	}, "a", true},
	{"H057: all it holds is ignored", "scripts", map[string]string{
		"top/.git/": "", "top/.gitignore": "scripts/*\n", "top/scripts/a.py": "", "top/scripts/d/b.py": "",
	}, "a.py d/b.py", true},
	{"some of it is kept", "scripts", map[string]string{
		"top/.git/": "", "top/.gitignore": "scripts/*\n!scripts/b\n", "top/scripts/a": "", "top/scripts/b": "",
	}, "b", false},
	{"all is ignored from inside", "d", map[string]string{
		"top/.git/": "", "top/.gitignore": "d/*.o\n", "top/d/.gitignore": "*\n", "top/d/a": "",
	}, "", false},
	{"kept again from inside", "d", map[string]string{
		"top/.git/": "", "top/.gitignore": "d/*\n", "top/d/.gitignore": "!a\n", "top/d/a": "", "top/d/b": "",
	}, "a", false},
	{"ignored by .ignore", "d", map[string]string{
		"top/.ignore": "d\n", "top/d/.git/": "", "top/d/a": "",
	}, "a", true},
	{"root that is ignored", "", map[string]string{
		".git/": "", ".gitignore": "top\n", "top/a": "",
	}, "a", true},
	{"empty directory", "d", map[string]string{
		"top/.gitignore": "d/*\n", "top/d/": "",
	}, "", false},
	{"ignored directory, not named", "", map[string]string{
		"top/build/a": "", "top/.gitignore": "build\n",
	}, ".gitignore", false},
	{".git as a link", "", map[string]string{
		".gitignore": "*", "real/": "", "top/.git": "->../real", "top/a": "", "real/info/exclude": "b", "top/b": "",
	}, "a", false},
	{"worktree", "", map[string]string{
		"main/.git/info/exclude": "a\n", "main/.git/worktrees/w/commondir": "../..\n", "top/.git": "gitdir: ../main/.git/worktrees/w\n",
		"main/.git/worktrees/w/info/exclude": "b\n", "top/a": "", "top/b": "",
	}, "b", false},
	{"submodule", "s", map[string]string{
		"top/.git/modules/s/info/exclude": "a\n", "top/s/.git": "gitdir: ../.git/modules/s\n", "top/s/a": "", "top/s/b": "",
		"top/.gitignore": "b\n",
	}, "b", false},
	{"broken .git file", "", map[string]string{
		".gitignore": "*", "top/.git": "nothing\n", "top/a": "",
	}, "a", false},
	{"excludesFile of the repository", "", map[string]string{
		"top/.git/config": "[core]\n\tbare = false\n\texcludesFile = /nowhere\n\texcludesfile = ../\\\nmine ; comment\n", "mine": "a\n",
		"home/.gitconfig": "[core]\nexcludesFile=~/own\n", "home/own": "b\n", "top/a": "", "top/b": "",
	}, "b", false},
	{"the user's rules hold in repositories", "", map[string]string{
		"home/.config/git/ignore": "a\n", "top/r/.git/": "", "top/r/a": "", "top/r/b": "", "top/a": "",
	}, "a r/b", false},
}

func TestScopes(t *testing.T) {
	t.Parallel()
	for _, c := range scopeCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			base := tree(t, map[string]string{"top/": ""})
			write(t, base, c.files)
			top := filepath.Join(base, "top")
			l := run(t, Options{Top: top, Dir: filepath.Join(top, c.dir), Home: filepath.Join(base, "home")})
			if got := paths(l); got != c.want || l.Dropped != c.dropped {
				t.Errorf("got %s (dropped: %t), want %s", got, l.Dropped, c.want)
			}
		})
	}
}

// Rules hold before globs: no pattern brings an ignored file back.
func TestFilterKeepsRules(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{".gitignore": "*.log\nout/\n", "a.log": "", "out/b.log": "", "c.go": "", "d/e.log": ""})
	for _, p := range []string{"*.log", "a.log", "out/b.log", "out/**"} {
		l := run(t, Options{Top: root, Globs: filter(t, p)})
		if len(l.Files) > 0 || l.Ignored.Files+l.Ignored.Dirs == 0 {
			t.Errorf("%s: %+v", p, l)
		}
	}
}

func TestIgnored(t *testing.T) {
	t.Parallel()
	root := tree(t, names("a.o b.o d/c.o x.c out/a z/out/b z/y.o z/out2/c"))
	write(t, root, map[string]string{".gitignore": "*.o\nout/\n"})
	l := run(t, Options{Top: root})
	want := Ignored{Files: 4, Dirs: 2, Names: []string{"out/", "z/out/", "a.o", "b.o", "d/c.o"}}
	if fmt.Sprint(l.Ignored) != fmt.Sprint(want) {
		t.Errorf("got %+v, want %+v", l.Ignored, want)
	}
	l = run(t, Options{Top: root, Globs: glob(t, "z/*.o")})
	if got := fmt.Sprint(l.Ignored); got != "{1 0 [z/y.o]}" {
		t.Errorf("what the glob would not show counts: %s", got)
	}
	write(t, root, names("n0/out/a n1/out/a n2/out/a n3/out/a"))
	if l = run(t, Options{Top: root}); strings.Join(l.Ignored.Names, " ") != "out/ n0/out/ n1/out/ n2/out/ n3/out/" {
		t.Errorf("%v", l.Ignored.Names)
	}
}

func TestIgnoredIn(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{".git/": "", ".gitignore": "*.o\nout/\n", "d/.gitignore": "a\n", "d/a": "", "d/b": "", "d/c.o": "",
		"d/out/": "", "d/.hg/": "", "out/d/x": ""})
	for dir, want := range map[string]string{"d": ".hg a c.o out", "out": "d", "": ".git out"} {
		o := Options{Top: root, Dir: filepath.Join(root, dir), Home: filepath.Join(root, ".no-home")}
		entries, err := os.ReadDir(o.Dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for name, ignored := range IgnoredIn(o, entries) {
			if ignored {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %s, want %s", dir, got, want)
		}
	}
}

// A worktree made by git itself.
func TestWorktreeAsGit(t *testing.T) {
	t.Parallel()
	git := tool(t, "git", "GIT")
	repo := repository(t)
	write(t, repo, map[string]string{".git/info/exclude": "a\n", "tracked": ""})
	gitRun(t, git, repo, "add", "tracked")
	gitRun(t, git, repo, "-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "m")
	work := filepath.Join(filepath.Dir(repo), "work")
	gitRun(t, git, repo, "worktree", "add", "-q", work)
	write(t, work, names("a b d/a"))
	if got, want := ourFiles(t, work), gitFiles(t, git, work); got != want || want != "b|tracked" {
		t.Errorf("git %s, ours %s", want, got)
	}
}

// Random trees with all kinds of rule files, against ripgrep. The rules are such as ripgrep and git read alike.
func TestAsRipgrep(t *testing.T) {
	t.Parallel()
	rg := tool(t, "rg", "RG")
	rnd := rand.New(rand.NewPCG(3, 4))
	for round := range 15 {
		files := map[string]string{".git/": ""}
		for range 60 {
			parts := make([]string, 1+rnd.IntN(4))
			for i := range parts {
				parts[i] = pick(rnd, "a", "b", "c", "d")
			}
			parts[len(parts)-1] += pick(rnd, "1", "2.x", "3.y", ".z")
			files[strings.Join(parts, "/")] = ""
		}
		for range 6 {
			dir := pick(rnd, "", "a/", "b/", "a/b/", "c/a/", "d/d/")
			var lines []string
			for range 1 + rnd.IntN(4) {
				lines = append(lines, pick(rnd, "", "", "!", "/")+pick(rnd, "a", "b1", "*.x", "*.y", "a/b", "**/c", "d/", "c*", "?.z", "a/**", "[ab]3.*"))
			}
			files[dir+pick(rnd, ".gitignore", ".gitignore", ".ignore", ".rgignore")] = strings.Join(lines, "\n")
		}
		if rnd.IntN(3) == 0 {
			files[pick(rnd, "a", "b", "c/a")+"/.git/"] = ""
		}
		root := tree(t, files)
		got := strings.Split(paths(run(t, Options{Top: root})), " ")
		out := rgFiles(t, rg, root)
		slices.Sort(got)
		if !slices.Equal(got, out) {
			rules := maps.Clone(files)
			maps.DeleteFunc(rules, func(name, _ string) bool {
				return !strings.HasSuffix(name, "ignore") && !strings.Contains(name, ".git/")
			})
			t.Fatalf("round %d: %q\nripgrep %s\nours    %s", round, rules, out, got)
		}
	}
}

func rgFiles(t *testing.T, rg, dir string) []string {
	t.Helper()
	l := strings.Split(strings.TrimSuffix(output(t, rg, dir, "--files", "--no-config", "--hidden", "--no-ignore-global", "-0", "-g", "!.git"), "\x00"), "\x00")
	slices.Sort(l)
	return l
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ferrule/mcpserver/mcpclient"
)

// args are the arguments of a call.
type args map[string]any

// with returns a copy that has more.
func (a args) with(more args) args {
	out := args{}
	for _, m := range []args{a, more} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// entries returns the entries of a search without the notes behind them, and
// the facts for programs.
func entries(t testing.TB, c *mcpclient.Conn, tool string, a args) (lines []string, facts map[string]any) {
	t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Call(t.Context(), tool, raw)
	if err != nil || res.IsError {
		t.Fatalf("%s %s: %+v %v", tool, raw, res, err)
	}
	facts, _ = res.Meta["ferrule/search"].(map[string]any)
	if facts["shown"] == 0.0 {
		return nil, facts
	}
	text, _, _ := strings.Cut(res.Content[0].Text, "\n\n(")
	return strings.Split(text, "\n"), facts
}

// connect serves a directory inside this process.
func connect(t testing.TB, dir string, flags ...string) *mcpclient.Conn {
	t.Helper()
	var o options
	f := o.flags()
	if err := f.Parse(append([]string{"-C", dir}, flags...)); err != nil {
		t.Fatal(err)
	}
	o.complete(environment{getenv: func(string) string { return filepath.Join(t.TempDir(), "home") }})
	s, err := newServer(o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// plant makes a file and the folders above it.
func plant(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// words make lines that the patterns of the oracle match now and then.
var words = strings.Fields(`func import return err nil TODO FIXME foo food bar baz é ü naïve été 中文 αβγ x xx a.b a b 3.14 0xFF
	SNAKE_case _q { } if != ; kelvin sKip Kelvin 😀 ß needle -o interface{} abc Abc`)

// sourceTree makes some sixty files of random text with rules that leave out
// some of them.
func sourceTree(t testing.TB, seed uint64) (dir string) {
	dir = t.TempDir()
	r := rand.New(rand.NewPCG(seed, 0))
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	places := []string{"", "src/", "src/a/", "src/a-b/", "src/a.b/", "lib/deep/er/", ".hidden/", "out/", "über mut/"}
	kinds := []string{".go", ".c", ".md", ".log", "", ".txt"}
	for i := range 60 {
		var b strings.Builder
		end := "\n"
		if i%7 == 0 {
			end = "\r\n"
		}
		for range r.IntN(40) {
			for k := range r.IntN(8) {
				if k > 0 {
					b.WriteString([]string{" ", "\t", "", ", "}[r.IntN(4)])
				}
				b.WriteString(words[r.IntN(len(words))])
			}
			b.WriteString(end)
		}
		text := b.String()
		if i%3 == 0 {
			text = strings.TrimSuffix(text, end)
		}
		plant(t, filepath.Join(dir, places[i%len(places)]+fmt.Sprintf("f%02d", i)+kinds[r.IntN(len(kinds))]), text)
	}
	plant(t, filepath.Join(dir, ".gitignore"), "*.log\nout/\n!keep.log\n/src/a/*.txt\n")
	plant(t, filepath.Join(dir, "src", ".ignore"), "*.c\n!f*.log\n")
	plant(t, filepath.Join(dir, "keep.log"), "needle\nfunc\n")
	return dir
}

// TestSearchPages puts pages together: they are the whole, in every mode and
// for every size of a page.
func TestSearchPages(t *testing.T) {
	t.Parallel()
	c := connect(t, sourceTree(t, 1))
	for _, mode := range []args{
		{"output_mode": "files_with_matches"}, {"output_mode": "count"}, {"output_mode": "content"},
		{"output_mode": "content", "-C": 1}, {"output_mode": "content", "-A": 3}, {"output_mode": "content", "-o": true},
		{"output_mode": "content", "-B": 2, "multiline": true},
	} {
		query := args{"pattern": "func|err\\b|x"}.with(mode)
		whole, facts := entries(t, c, "Grep", query.with(args{"head_limit": 0}))
		total, ok := facts["total"].(float64)
		if !ok || facts["cut"] != false || total < 20 {
			t.Fatalf("%v: %v", query, facts)
		}
		for _, size := range []int{7, 50, int(total) - 1, int(total), int(total) + 1} {
			var got []string
			for offset := 0; ; offset += size {
				page, facts := entries(t, c, "Grep", query.with(args{"head_limit": size, "offset": offset}))
				got = append(got, page...)
				left := int(total) - offset - size
				if facts["cut"] != (left > 0) || facts["shown"] != float64(min(size, size+left)) {
					t.Errorf("%v, %d from %d of %v on: %v", query, size, offset, total, facts)
				}
				if left <= 0 {
					break
				}
			}
			if !slices.Equal(got, whole) {
				t.Errorf("%v in pages of %d:\n%s\nwant\n%s", query, size, strings.Join(got, "\n"), strings.Join(whole, "\n"))
			}
		}
	}
}

// TestSearchPagesByLength is the same where the length of the result cuts.
func TestSearchPagesByLength(t *testing.T) {
	t.Parallel()
	dir := sourceTree(t, 2)
	large, small := connect(t, dir), connect(t, dir, "--max-result-chars", "2000")
	for _, mode := range []args{{}, {"output_mode": "count"}, {"output_mode": "content", "-C": 2}, {"output_mode": "content", "-o": true}} {
		query := args{"pattern": "[a-z]{4}", "head_limit": 0}.with(mode)
		whole, facts := entries(t, large, "Grep", query)
		if facts["cut"] != false {
			t.Fatalf("%v: %v", query, facts)
		}
		var got []string
		offset, pages := 0, 0
		for more := true; more; pages++ {
			page, facts := entries(t, small, "Grep", query.with(args{"offset": offset}))
			got = append(got, page...)
			offset += int(facts["shown"].(float64))
			more = facts["cut"].(bool)
			if more && facts["shown"] == 0.0 {
				t.Fatalf("%v from %d on: a page without entries", query, offset)
			}
		}
		if !slices.Equal(got, whole) || mode["output_mode"] == "content" && pages < 3 {
			t.Errorf("%v in %d pages:\n%s\nwant\n%s", query, pages, strings.Join(got, "\n"), strings.Join(whole, "\n"))
		}
	}
}

// TestSearchSettings: what the user has set for other programs counts as far
// as it is about ignoring files, and ~ is the home folder. H051 H058
func TestSearchSettings(t *testing.T) { // not parallel: it sets the environment
	home := t.TempDir()
	dir := filepath.Join(home, "project")
	for name, text := range map[string]string{
		"project/.git/config": "[core]\n\tbare = false\n", "project/f": "needle\n", "project/f.swp": "needle\n", "project/f.mine": "needle\n",
		"rc": "--max-count=0\n--glob=!*\n", ".config/git/ignore": "*.swp\n", "mine": "*.mine\n",
	} {
		plant(t, filepath.Join(home, name), text)
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("RIPGREP_CONFIG_PATH", filepath.Join(home, "rc"))
	c := connect(t, dir)
	found := func(tool string, a args) string {
		lines, _ := entries(t, c, tool, a)
		slices.Sort(lines)
		return strings.Join(lines, " ")
	}
	if got := found("Grep", args{"pattern": "needle"}); got != "f f.mine" {
		t.Errorf("with ~/.config/git/ignore: %s", got)
	}
	plant(t, filepath.Join(home, ".gitconfig"), "[core]\n\texcludesFile = ~/mine\n")
	if got := found("Grep", args{"pattern": "needle"}); got != "f f.swp" {
		t.Errorf("with core.excludesFile: %s", got)
	}
	for _, a := range []args{{"pattern": "~/project/f*"}, {"pattern": "f*", "path": "~/project"}} {
		if got := found("Glob", a); got != "f f.swp" {
			t.Errorf("%v: %s", a, got)
		}
	}
	for glob, want := range map[string]string{"~/project/*.swp": "f.swp", "!~/project/f.*": "f", "*.go, ~/project/f": "f"} {
		if got := found("Grep", args{"pattern": "needle", "glob": glob}); got != want {
			t.Errorf("glob %s: %s", glob, got)
		}
	}
	if got := found("Grep", args{"pattern": "needle", "path": "~/project/f.swp", "output_mode": "content"}); got != "1:needle" {
		t.Errorf("~ in path: %s", got)
	}
}

// TestSearchShowsWhatReadShows: lines and their numbers are the same, whatever
// the encoding and the line ends.
func TestSearchShowsWhatReadShows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := connect(t, dir)
	coded := strings.NewReplacer("\r", `\x0d`, "\f", `\x0c`, "\v", `\x0b`, "\u0085", `\x85`) // Grep shows control characters by their codes
	for i, text := range []string{
		"a\nb\n", "a\nb", "a\r\nb\r\n", "a\rb\r", "a\r\r\nb", "\n\n", "a\x0cb\x0bc\n", "a\u2028b\u2029c\u0085d\n", "\xef\xbb\xbfa\n\nb\n",
		"\xff\xfea\x00\n\x00b\x00", "\xfe\xff\x00a\x00\r\x00\n\x4e\x2d\x00\n", "caf\xe9 cr\xe8me\nbr\xfbl\xe9e\n", "\xd6\xd0\xce\xc4\xb1\xe0\xc2\xeb\xb2\xe2\xca\xd4\n\xce\xc4\xbc\xfe\n",
		"\xff\xfe\x00\x00a\x00\x00\x00\n\x00\x00\x00", "tab\tb\n", "a\u00a0b\u200bc\n",
	} {
		plant(t, filepath.Join(dir, "f"), text)
		lines, _ := entries(t, c, "Grep", args{"pattern": "", "path": "f", "output_mode": "content"})
		res, err := c.Call(t.Context(), "Read", json.RawMessage(`{"file_path": "f"}`))
		if err != nil || res.IsError {
			t.Fatalf("%d: %+v %v", i, res, err)
		}
		read, _, _ := strings.Cut(res.Content[0].Text, "\n\n(")
		var want []string
		for line := range strings.SplitSeq(strings.TrimSuffix(read, "\n"), "\n") {
			number, text, _ := strings.Cut(line, "\t")
			want = append(want, number+":"+coded.Replace(strings.TrimSuffix(text, "\r")))
		}
		if !slices.Equal(lines, want) {
			t.Errorf("%q: Grep shows %q, Read %q", text, lines, want)
		}
	}
}

// ripgrep returns the path of the oracle, which .ci/run installs.
func ripgrep(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("FERRULE_TOOLS")
	if dir == "" {
		dir = filepath.Join("..", "..", ".tools")
	}
	found, _ := filepath.Glob(filepath.Join(dir, "node_modules", "@vscode", "ripgrep*", "bin", "rg"))
	rg := os.Getenv("RG")
	if rg == "" && len(found) > 0 {
		rg, _ = filepath.Abs(found[0])
	}
	if rg == "" {
		rg, _ = exec.LookPath("rg")
	}
	out, _ := exec.Command(rg, "--version").Output()
	if !bytes.HasPrefix(out, []byte("ripgrep 15.")) {
		if os.Getenv("FERRULE_CI") == "1" {
			t.Fatalf("%q is no ripgrep 15; .ci/run installs it, RG names it", rg)
		}
		t.Skip("no ripgrep 15: RG does not name it")
	}
	return rg
}

// runRipgrep returns the lines that ripgrep prints in dir, without the breaks
// between groups.
func runRipgrep(t testing.TB, rg, dir string, flags ...string) (lines []string) {
	t.Helper()
	cmd := exec.Command(rg, append([]string{"--no-config", "--hidden", "-g", "!.git", "--crlf", "--color=never", "--no-heading"}, flags...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("rg %q: %v", flags, err)
	}
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimRight(line, "\r\n"); line != "--" {
			lines = append(lines, line)
		}
	}
	return lines
}

var treeName = regexp.MustCompile(`^.*?(?:f\d\d(?:\.[a-z]+)?|keep\.log|\.gitignore|\.ignore)`)

// byName sorts lines by the file that they begin with, so that it does not
// matter in which order files come.
func byName(lines []string) []string {
	out := slices.DeleteFunc(slices.Clone(lines), func(s string) bool { return s == "--" })
	slices.SortStableFunc(out, func(a, b string) int { return strings.Compare(treeName.FindString(a), treeName.FindString(b)) })
	return out
}

// TestSearchOracle compares what Grep and Glob show with what ripgrep prints.
func TestSearchOracle(t *testing.T) {
	t.Parallel()
	rg := ripgrep(t)
	dir := sourceTree(t, 3)
	c := connect(t, dir)
	compare := func(tool string, a args, flags ...string) {
		t.Helper()
		got, facts := entries(t, c, tool, a)
		want := runRipgrep(t, rg, dir, flags...)
		if facts["cut"] != false || !slices.Equal(byName(got), byName(want)) {
			t.Errorf("%s %v (%v):\n%s\nrg %q:\n%s", tool, a, facts, strings.Join(byName(got), "\n"), flags, strings.Join(byName(want), "\n"))
		}
	}
	compare("Glob", args{"pattern": "**"}, "--files")
	compare("Glob", args{"pattern": "**", "path": "src"}, "--files", "src")
	for i, p := range []string{
		"func", "TODO|FIXME", `\berr\b`, `^import`, `nil$`, `[^;]$`, `\d+\.\d+`, `[A-Z]{3,}`, `\p{Greek}`, `中`, `\w+é\b`, `(foo|ba[rz])\s+x`,
		`^\s*$`, `a.b`, `0x[0-9A-F]{2}`, `\{ ?\}?`, `-o`, `x{2,}`, `\<a\>`, `[a-z&&[^aeiou]]{3}`, `absent`,
	} {
		a := args{"pattern": p, "head_limit": 0}
		content := a.with(args{"output_mode": "content"})
		compare("Grep", a, "-l", "-e", p)
		compare("Grep", a.with(args{"output_mode": "count"}), "-c", "--with-filename", "-e", p)
		compare("Grep", content, "-n", "-e", p)
		switch i % 5 {
		case 0:
			compare("Grep", content.with(args{"-C": 1}), "-n", "-C1", "-e", p)
			compare("Grep", content.with(args{"path": "src/a"}), "-n", "-e", p, "src/a")
		case 1:
			compare("Grep", content.with(args{"-A": 2, "-B": 0, "-i": true}), "-n", "-A2", "-i", "-e", p)
			compare("Grep", a.with(args{"type": "go"}), "-l", "-t", "go", "-e", p)
		case 2:
			compare("Grep", content.with(args{"-B": 3, "-n": false}), "-B3", "-e", p)
		case 3:
			compare("Grep", content.with(args{"-o": true}), "-n", "-o", "-e", p)
		case 4:
			compare("Grep", content.with(args{"multiline": true}), "-n", "-U", "--multiline-dotall", "-e", p)
		}
	}
	for _, p := range []string{`func.*?\n.*?err`, `x\s+a`, `\}.*;`} {
		a := args{"pattern": p, "head_limit": 0, "multiline": true}
		compare("Grep", a, "-l", "-U", "--multiline-dotall", "-e", p)
		compare("Grep", a.with(args{"output_mode": "content"}), "-n", "-U", "--multiline-dotall", "-e", p)
	}
}

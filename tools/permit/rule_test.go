package permit

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode"
)

// S294 and its like: what cannot be read stops the start, with its place.
func TestBadRules(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       "name of a tool",
		"(x)":                    "name of a tool",
		"Bash git":               "name of a tool",
		"read(x)":                `no tool "read"`,
		"Raed":                   `no tool "Raed"`,
		"Foo*":                   "begins with",
		"Bash(":                  "closing bracket",
		"Bash(git":               "closing bracket",
		"Bash()":                 "nothing stands between",
		"Read()":                 "nothing stands between",
		"Bash(a && b)":           "",
		"Bash(a > b)":            "",
		"Bash($x)":               "",
		"Write(x)":               "Edit(x)",
		"Grep(x)":                "Read(x)",
		"Undo(x)":                "only Bash",
		"mcp__a__b(x)":           "only Bash",
		"Read*(x)":               "only Bash",
		"WebFetch(example.com)":  "domain:",
		"WebFetch(domain:)":      "no usual name",
		"WebFetch(domain:*)":     "no usual name",
		"WebFetch(domain:a/b)":   "nothing else",
		"WebFetch(domain:a:b)":   "no number",
		"WebFetch(domain:u@a)":   "nothing else",
		"WebFetch(domain:*.1.2)": "",
		"Read(!x)":               "takes nothing back",
		"Read(../x)":             `".."`,
		"Read(a/../b)":           `".."`,
		"Read([a)":               "left open",
		`Read(a\)`:               "left open",
		"Read([[:alpha:]])":      "named classes",
		"Read(a\x00b)":           "NUL",
		"Read(" + strings.Repeat("a", 5000) + ")": "longer",
	} {
		for _, effect := range []Verdict{Deny, Ask, Allow} {
			_, err := New(Config{Rules: []Rule{{Effect: effect, Text: "Bash(ls)", At: "x:1:1"}, {Effect: effect, Text: text, At: "/p/settings.json:3:7"}}})
			if err == nil || !strings.HasPrefix(err.Error(), "/p/settings.json:3:7: ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
	if _, err := parse(Rule{Text: "Read(~/x)"}, ""); err == nil {
		t.Error("~ without a home")
	}
	for _, text := range []string{"Bash", "Bash(*)", "Bash(git log:*)", "Read(a)", "Read((a))", "Read(a b/{c})", "mcp__x__y", "mcp__x__*", "mcp__*", "*", "memory_*", "WebFetch"} {
		if _, err := New(Config{Rules: []Rule{{Text: text}}}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// An empty list says nothing, and a name with a star says no more than the names it begins.
func TestToolNames(t *testing.T) {
	t.Parallel()
	root := folder(t)
	in := filepath.Join(root, "a")
	for _, c := range []struct {
		rule   string
		access Access
		want   Verdict
	}{
		{"deny mcp__x__*", Access{Tool: "mcp__x__y"}, Deny},
		{"deny mcp__x__*", Access{Tool: "mcp__xy__y"}, Allow},
		{"deny mcp__x__y", Access{Tool: "mcp__x__yz"}, Allow},
		{"deny Edit", Access{Tool: "MultiEdit", Kind: WritePath, Path: in}, Deny},
		{"deny Read", Access{Tool: "Grep", Kind: ReadPath, ReadOnly: true, Path: in}, Deny},
		{"deny Read", writing(in), Deny},
		{"deny Write", writing(in), Deny},
		{"deny Write", Access{Tool: "Edit", Kind: WritePath, Path: in}, Allow},
		{"deny Edit", running("make", root), Allow},
		{"deny Bash(*)", running("make", root), Deny},
		{"deny *", reading(in), Deny},
		{"deny Ed*", writing(in), Deny},
		{"allow Bash(*)", running("make && x", root), Allow},
	} {
		p := policy(t, Config{Rules: rules(c.rule), Roots: []Root{{Path: root}}})
		if d := p.Decide(c.access); d.Verdict != c.want {
			t.Errorf("%s, %+v: %+v", c.rule, c.access, d)
		}
	}
	p := policy(t, Config{Rules: rules("allow Ed*"), Mode: DontAsk, Roots: []Root{{Path: root}}})
	if d := p.Decide(writing(in)); d.Verdict != Deny {
		t.Errorf("a star in an allow rule reaches too far: %+v", d)
	}
	if !Known("Read") || Known("Reed") {
		t.Error("Known")
	}
}

// FuzzRule demands that no rule makes trouble, that an accepted one says the same when it is read again, and that what a
// plain path is denied by folds like it.
func FuzzRule(f *testing.F) {
	for _, s := range []string{"Bash(git log:*)", "Read(./secrets/**)", "Edit(//abs/x)", "Read(~/x)", "WebFetch(domain:*.e.com)", "mcp__a__b",
		"Read([a-b]?{x}\\*)", "Read(**/)", "*", "Edit(/a/**/b)", "Read(a/../b)", "Read(É)"} {
		f.Add(s, "a/b")
	}
	root := "/w/root"
	if runtime.GOOS == "windows" {
		root = `C:\w\root`
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		for _, effect := range []Verdict{Deny, Ask, Allow} {
			raw := Rule{Effect: effect, Text: text, At: "f:1:1", Project: "/w/root"}
			p, err := New(Config{Rules: []Rule{raw}, Roots: []Root{{Path: root}}, Home: "/h"})
			if err != nil {
				if strings.ContainsFunc(err.Error(), unicode.IsControl) {
					t.Errorf("%q", err)
				}
				return
			}
			a := reading(filepath.Join(root, name))
			d := p.Decide(a)
			a.Path = strings.ToUpper(a.Path)
			if effect == Deny && d.Verdict == Deny && strings.IndexFunc(name, func(r rune) bool { return r >= 0x80 }) < 0 &&
				strings.HasPrefix(a.Path, strings.ToUpper(root)) && p.Decide(Access{Tool: "Read", ReadOnly: true, Kind: ReadPath, Path: a.Path}).Verdict != Deny {
				t.Errorf("%q denies %q, but not in capitals", text, name)
			}
			if hides := p.Hides(root); hides != nil {
				hides(filepath.Join(root, name), true)
			}
			p.Decide(Access{Tool: "Write", Kind: WritePath, Path: filepath.Join(root, name), Given: name})
			p.Decide(fetching("https://" + name))
		}
	})
}

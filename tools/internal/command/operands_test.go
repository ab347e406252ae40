package command

import (
	"slices"
	"strings"
	"testing"
)

// show writes an operand as: its name, then a letter for what holds of it.
func show(o Operand) string {
	s := o.Name
	for _, m := range []struct {
		is   bool
		mark string
	}{{o.Pattern, "*"}, {o.Dynamic, "?"}, {o.Deep, "d"}, {o.Follows, "f"}, {o.Top, "t"}, {o.Tracked, "g"}, {o.Revision, "r"}, {o.Named, "n"}} {
		if m.is {
			s += " " + m.mark
		}
	}
	return s
}

// Which files a command that only reads is given: these are judged as if Read named them.
func TestOperands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"cat .env":                         ".env",
		"cat -n a -- -b":                   "a|-b",
		"cat < x":                          "",
		"cat - a":                          "a",
		"head -5 ../x":                     "../x",
		"head -n 5 x | tail -c 3 /etc/y":   "x|/etc/y",
		"/bin/cat .env":                    ".env",
		"\\cat '.e'nv":                     ".env",
		"cat $'.env'":                      ".env",
		"cat ~/x ~ '~/y' ~u/z ~+/a":        "~/x|~|./~/y|~u/z ?|~+/a ?",
		"cat $HOME/x \"$HOME\"":            "~/x|~",
		"cat *.go 'a*' s/*":                "*.go *|a*|s/* *",
		"cat \"$f\"":                       "\"$f\" ?",
		"cat {a,b}":                        "{a,b} ?",
		"ls":                               ".",
		"ls -la src":                       "src",
		"ls ..":                            "..",
		"cd sub && cat ../.env":            "sub/../.env",
		"cd sub; cat a":                    "a|sub/a",
		"cd $x && cat a":                   "a ?",
		"(cd sub && ls); ls b":             "sub/.|b",
		"while true; do cd x; cat a; done": "a ?",

		// Words that are no files.
		"echo .env /etc":              "",
		"printf /x":                   "",
		"test -f .env && [ -d /etc ]": "",
		"grep -n /api src/a":          "src/a",
		"grep -A 3 -e /api src":       "src",
		"grep -nf pats x":             "pats|x",
		"grep -fpats x":               "pats|x",
		"grep --file=p x":             "p|x",
		"grep --regexp /x y":          "y",
		"grep --reg /x y":             "/x|y",
		"grep --exclude-from=e p y":   "e|y",
		"grep p":                      "",
		"cut -d / -f1 x":              "x",
		"sort -t / -k2 x":             "x",
		"sed -n '/a/p' x":             "x",
		"sed -n -e '/a/p' x":          "x",
		"jq .env x":                   "x",
		"jq -f .env x":                ".env|x",
		"jq --rawfile a /x . y":       "a|/x|.|y",
		"tr / _":                      "",
		"date -r x":                   "x",
		"du -sh -X p d":               "p|d",
		"find . -name .env -newer n":  ".|n",
		"find -L a b -type f":         "a|b",
		"find -name x":                ".",
		"find":                        ".",
		"wc --files0-from=l":          "l",
		"diff a b":                    "a d f|b d f",
		"which go; type x":            "",

		// What reads a folder reads what is in it.
		"grep -r x":                      ". d",
		"grep -rn x src lib":             "src d|lib d",
		"grep -R x src":                  "src d f",
		"grep -drecurse x src":           "src d",
		"grep --directories=recurse x s": "s d",
		"grep --dir=recurse S":           "S d|. d",
		"git diff --no-index a ~/x":      "a d|~/x d",
		"rg foo":                         ". d",
		"rg -n foo a -g '*.go'":          "a d",
		"rg --files":                     ". d",
		"rg -e a b":                      "b d",
		"rg -L foo":                      ". d f",
		"ls | grep -r foo":               ".|. d",
		"ls | rg foo":                    ".",
		"rg foo < /dev/null":             ". d",

		// git tells what it keeps.
		"git status":                   "",
		"git log --oneline -5 -- a":    "",
		"git log -5":                   "",
		"git log -p":                   " d t g",
		"git diff":                     " d t g",
		"git diff --stat":              "",
		"git diff a.go":                "a.go d g r",
		"git diff HEAD~1 -- a.go b":    "a.go d g|b d g",
		"git diff -- '*.go'":           " d t g",
		"git show HEAD:.env":           ".env d t g",
		"git show HEAD:./.env":         "./.env d g",
		"git show :/x":                 "x d t g",
		"git show v1":                  "v1 d g r",
		"git show":                     " d t g",
		"git blame -L 3,5 x":           "x d g",
		"git log -L1,5:x.go":           "x.go d g",
		"git grep -n K":                ". d g",
		"git grep K -- s":              "s d g",
		"git grep --no-index K s":      "s d",
		"git cat-file -p HEAD:s/k":     "s/k d t g",
		"git -C sub show HEAD:./k":     "sub/./k d g",
		"git branch -a; git remote -v": "",
		"git diff --no-index a b":      "a d|b d",

		// Commands within commands, and such as are none.
		"timeout 5 cat .env":          ".env",
		"env X=1 cat .env":            ".env",
		"bash -c 'cat .env'":          ".env",
		"echo $(cat .env)":            ".env",
		"sudo grep 'cat .env' x":      "x",
		"make; cat .env":              ".env",
		"python3 -c 'open(\".env\")'": "",
		"head .env &":                 ".env",
	} {
		var got []string
		for _, o := range Judge(text, Rules{}).Reads {
			got = append(got, show(o))
		}
		slices.Sort(got)
		expected := strings.Split(want, "|")
		slices.Sort(expected)
		if strings.Join(got, "|") != strings.Join(expected, "|") {
			t.Errorf("%s: got %q, want %q", text, got, expected)
		}
	}
}

// An allow rule that names the command answers for it.
func TestOperandsNamed(t *testing.T) {
	t.Parallel()
	rules := Rules{Allow: parse(t, "cat:*", "grep -r x .", "bash:*", "timeout:*")}
	for text, want := range map[string]string{
		"cat a | head b":      "a n|b",
		"grep -r x .":         ". d n",
		"grep -r y .":         ". d",
		"bash -c 'head a'":    "a n",
		"timeout 5 head a":    "a n",
		"bash -c 'x'; head a": "a",
	} {
		var got []string
		for _, o := range Judge(text, rules).Reads {
			got = append(got, show(o))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

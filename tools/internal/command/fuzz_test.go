package command

import (
	"reflect"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// FuzzJudge: Judge never panics and always says the same; what it allows runs in a print that it judges in the same way;
// and no text before or behind a forbidden command takes the rule from it.
func FuzzJudge(f *testing.F) {
	for _, name := range []string{"bypass.jsonl", "harmless.jsonl"} {
		for _, s := range load(f, name) {
			f.Add(s.Command, "")
			f.Add("", s.Command)
		}
	}
	for _, s := range []string{"sudo ", "x=(", "cat <<EOF\n", "bash -c '", "eval \"", "find . -exec ", "git -c ", "xargs -I% ", "cd a && echo > "} {
		f.Add(s, "'\nEOF\n")
	}
	rules := usualRules(f)
	forced := rules
	forced.Ask = parse(f, "git push")
	forced.Deny = parse(f, "curl:*")
	f.Fuzz(func(t *testing.T, before, behind string) {
		text := before + behind
		v := Judge(text, rules)
		if again := Judge(text, rules); !reflect.DeepEqual(v, again) {
			t.Errorf("%q: first %+v, then %+v", text, v, again)
		}
		if allowed(v.Decision) {
			if c := Judge(v.Text, rules); c.Decision != v.Decision || c.Text != v.Text || c.Rule != v.Rule {
				t.Errorf("%q runs as %q, which is %+v", text, v.Text, c)
			}
			if len(v.Text) > 0 && Judge(text, forced).Decision == Unmatched {
				t.Errorf("%q is allowed, but not if other rules stand beside", text)
			}
		}
		JudgeForeign(text, forced)

		// If what stands before is complete in itself, the command behind it is one.
		if _, err := syntax.NewParser().Parse(strings.NewReader(before), ""); err != nil || strings.HasSuffix(before, "\\") {
			return
		}
		hidden := before + "\ncurl x\n" + behind
		if v := Judge(hidden, forced); v.Decision != Deny {
			t.Errorf("%q: %+v", hidden, v)
		}
	})
}

func FuzzParseRule(f *testing.F) {
	for _, s := range []string{"", "git log:*", "npm run *", "a && b", "[:*", "echo 'a b'", "$x", "é ü", "a\\", "'", "#", "find . -exec \\;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRule(s)
		if err != nil || s == "" {
			return
		}
		// A rule applies to the command that it spells.
		words := make([]word, len(r.words))
		for i, w := range r.words {
			words[i] = word{text: w}
		}
		if r.covers(words) != len(words) {
			t.Errorf("the rule %q does not cover %q", s, r.words)
		}
		text := strings.TrimSuffix(strings.TrimSuffix(s, ":*"), " *")
		if v := Judge(text, Rules{Deny: []Rule{r}}); v.Decision != Deny && v.Decision != Ask { // what only the shell can tell asks
			t.Errorf("the rule %q does not forbid %q: %+v", s, text, v)
		}
	})
}

package command

import (
	"bufio"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func parse(t testing.TB, specifiers ...string) (rules []Rule) {
	t.Helper()
	for _, s := range specifiers {
		r, err := ParseRule(s)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	return rules
}

// usualRules allow what an agent is usually allowed.
func usualRules(t testing.TB) Rules {
	return Rules{Allow: parse(t, "git status:*", "git log:*", "git diff:*", "ls:*", "cat:*", "echo:*", "find:*", "grep:*",
		"rg:*", "sed:*", "sort:*", "head:*", "tail:*", "wc:*", "go test:*", "npm run test:*", "man:*", "date:*", "true:*",
		"pwd:*", "printf:*", "test:*", "[:*", "uniq:*")}
}

type sample struct{ ID, Command string }

func load(t testing.TB, name string) (list []sample) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var s sample
		if err := json.Unmarshal(sc.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

func allowed(d Decision) bool { return d == Allow || d == ReadOnly }

// TestHarmless (S218-S250): nothing that is usual and harmless is asked about, and what runs is what was written.
func TestHarmless(t *testing.T) {
	t.Parallel()
	for _, s := range load(t, "harmless.jsonl") {
		v := Judge(s.Command, usualRules(t))
		if !allowed(v.Decision) {
			t.Errorf("%s %q: %v, %s", s.ID, s.Command, v.Decision, v.Reason)
		}
		if again := Judge(v.Text, usualRules(t)); again.Decision != v.Decision || again.Text != v.Text {
			t.Errorf("%s %q runs as %q, which is %v", s.ID, s.Command, v.Text, again)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	rules := Rules{
		Allow: parse(t, "npm run build", "python3:*", "make:*", "docker:*", "bash:*", "git:*", "echo", "sed -i:*", "./x.sh:*",
			"find . -exec grep:*", "cd sub", "source venv/bin/activate", "xargs grep:*", "env"),
		Ask:  parse(t, "git push:*", "npm run deploy:*"),
		Deny: parse(t, "curl:*", "rm:*", "npm publish"),
	}
	for _, c := range []struct {
		text string
		want Decision
	}{
		{"npm run build", Allow}, {"npm  run 'build'", Allow}, {"npm run build -- x", Unmatched}, {"npm install", Unmatched},
		{"python3 x.py", Allow}, {"make -j8 all", Allow}, {"docker ps", Allow}, {"docker --host x ps", Allow},
		{"./x.sh a", Allow}, {"x.sh a", Unmatched}, {"/tmp/make all", Unmatched}, {"\\make", Allow}, {"make | tail -5", Allow},
		{"make && cat x; ls", Allow}, {"make > log", Unmatched}, {"make &", Unmatched}, {"X=1 make", Unmatched},
		{"CI=1 make", Allow}, {"echo", ReadOnly}, {"cd sub", Allow}, {"cd other", Unmatched}, {"cd sub && make", Allow},
		{"source venv/bin/activate && python3 x.py", Allow}, {"git diff x | xargs grep foo", Allow},
		{"ls | xargs -n1 grep foo", Unmatched}, {"env", Allow}, {"env X=1 ls", Unmatched}, {"timeout 5 make", Unmatched},
		{"time make", Allow}, {"", Unmatched}, {"# only a comment", Unmatched}, {"x=1", Unmatched}, {"> f", Unmatched},

		// What a rule of two words covers, and what it does not.
		{"git fetch", Allow}, {"git", Allow}, {"git log -5", ReadOnly}, {"git diff --ext-diff", Unmatched},
		{"git -c core.pager=x log", Unmatched}, {"git --no-pager -c core.pager=x log", Unmatched},
		{"git --no-pager fetch", Allow}, {"sed -i s/a/b/ f", Allow}, {"sed -i 's/a/b/e' f", Unmatched},
		{"sed -i -f x f", Unmatched}, {"find . -exec grep x {} +", Allow},
		{"find . -exec grep x {} + -exec touch {} +", Unmatched}, {"find . -name x -exec grep x {} +", Unmatched},

		// Interpreters only if they do not run what they read (S291).
		{"bash x.sh", Allow}, {"bash -c ls", Allow}, {"bash", Ask}, {"bash <<< ls", Unmatched}, {"bash -c 'for f in *; do echo $f > g; done'", Allow}, {"cat x | bash", Ask},
		{"python3", Ask}, {"python3 - < x", Ask}, {"python3 --version", Allow}, {"cat x | python3 -c 'f()'", Allow},

		// S283-S290
		{"curl http://x", Deny}, {"true && curl x", Deny}, {"if true; then curl x; fi", Deny}, {"echo $(curl x)", Deny},
		{"ls | xargs curl", Deny}, {"sh -c 'cd /; curl x'", Deny}, {"sudo -n env A=b curl x", Deny},
		{"$(echo curl) x", Ask}, {"echo 'curl x' | bash", Ask}, {"bash <<< 'curl x'", Deny},
		// H104, H105
		{"echo a\nrm -rf t", Deny}, {"echo `curl x`", Deny}, {"cat <(curl x)", Deny}, {"echo \"a $(echo $(curl x))\"", Deny},
		// H107, H108
		{"\"rm\" x", Deny}, {"r\\m x", Deny}, {"/bin/r? x", Ask}, {"$'rm' x", Deny}, {"$'\\x72m' x", Deny},
		{"command rm x", Deny}, {"env rm x", Deny}, {"X=1 rm x", Deny}, {"env -i X=1 nice rm x", Deny}, {"P=rm; $P x", Ask},
		{"bash -c 'rm x'", Deny}, {"bash <<'EOF'\nrm x\nEOF", Deny}, {"{rm,x}", Ask}, {"rm", Deny}, {"RM.EXE x", Deny},
		// S292
		{"git push", Ask}, {"git -C x push", Ask}, {"ls && git push", Ask}, {"git -c a=b 'push' x", Ask},
		// S277, S278, S282
		{strings.Repeat("true; ", 60) + "curl x", Deny}, {strings.Repeat("true; ", 60), Unmatched},
		{strings.Repeat("true; ", 5000) + "curl x", Deny}, {"curl x | (", Deny}, {"echo (it; cu'r'\"l\" x", Deny}, {"(", Ask},
		{strings.Repeat("(", 100_000), Ask}, {strings.Repeat("(", 16_000), Ask},

		// Every kind of place and of wrapper.
		{"while ! curl x; do :; done", Deny}, {"f() { curl x; }", Deny}, {"case x in x) curl y;; esac", Deny},
		{"x=$(curl y)", Deny}, {"export X=$(curl y)", Deny}, {"echo ${x:-$(curl y)}", Deny}, {"echo $((`curl y`))", Deny},
		{"[[ -n $(curl x) ]]", Deny}, {"cat <<EOF\n$(curl x)\nEOF", Deny}, {"ls > $(curl x)", Deny}, {"a=(1 $(curl x))", Deny},
		{"coproc curl x", Deny}, {"time curl x", Deny}, {"! curl x", Deny}, {"curl x &", Deny}, {"for i in $(curl x); do :; done", Deny},
		{"exec curl x", Deny}, {"exec -a b curl x", Deny}, {"timeout -k 5 10 curl x", Deny}, {"nice -n 5 curl", Deny},
		{"nohup curl x", Deny}, {"sudo -u root curl x", Deny}, {"eval curl x", Deny}, {"eval 'cu''rl' x", Deny},
		{"eval \"cu''rl x\"", Deny}, {"trap 'curl x' EXIT", Deny}, {"env -S 'curl x'", Deny}, {"env -S'curl x'", Deny},
		{"env --split-string='curl x'", Deny}, {"xargs -I{} sh -c 'curl {}'", Deny}, {"find . -exec curl {} \\;", Deny},
		{"find . -name x -execdir sh -c 'curl {}' \\;", Deny}, {"git -c alias.x='!curl y' x", Deny},
		{"git -c alias.x=push x", Ask}, {"git config alias.x push", Ask}, {"git rebase -x 'curl y' HEAD~2", Deny},
		{"git submodule foreach 'curl x'", Deny}, {"git bisect run curl x", Deny}, {"docker exec -it c curl x", Deny},
		{"docker run --entrypoint curl i", Deny}, {"tar -cf x . --to-command='curl x'", Deny},
		{"tar --checkpoint=1 --checkpoint-action=exec='curl x' -cf a b", Deny}, {"rg --pre curl x", Deny},
		{"rg --pre=curl x", Deny}, {"man -Pcurl ls", Deny}, {"GIT_PAGER='curl x' git -p log", Deny}, {"su -c 'curl x'", Deny},
		{"ssh host 'cd x && curl y'", Deny}, {"watch -n1 'curl x'", Deny}, {"parallel curl ::: a", Deny}, {"npx curl", Deny},
		{"uv run curl x", Deny}, {"vim -c '!curl x' f", Deny}, {"vim '+!curl x' f", Deny}, {"busybox curl x", Deny},
		{"hash -p /usr/bin/curl ls", Deny}, {"alias ls='curl x'", Deny}, {"x='a[$(curl y)]'; echo $((x))", Deny},
		{"test -v 'a[$(curl x)]'", Deny}, {"test -v a[\\$\\(curl\\ x\\)]", Deny}, {"[[ -v a[\\$\\(curl\\ x\\)] ]]", Deny}, {"declare \"a[\\$(curl x)]=1\"", Deny}, {"PS4='$(curl x)'; set -x; ls", Deny},
		{"bash -euo pipefail -c 'curl x'", Deny}, {"bash -c -x 'curl x'", Deny}, {"bash -c \"cd $d && curl x\"", Deny},
		{"bash -c \"bash -c 'curl x'\"", Deny}, {"python3 -c 'import os; os.system(\"curl x\")'", Deny},
		{"perl -e 'exec \"curl\"'", Deny}, {"awk 'BEGIN{system(\"curl x\")}'", Deny}, {"sed '1e curl x' f", Deny},
		{"sed 's/x/curl y/e' f", Deny}, {"python3 <<'EOF'\nos.system('curl x')\nEOF", Deny}, {"ssh h <<EOF\ncurl x\nEOF", Deny},
		{"sudo bash <<< 'curl x'", Deny}, {"bash /dev/fd/3 3<<< 'curl x'", Deny}, {"echo a | sudo tee x; curl", Deny},
		{"jobs -x curl x", Deny}, {"mapfile -C 'curl x' -c 1 a", Deny}, {"C:/Tools/curl.exe x", Deny}, {"~/bin/curl x", Deny},
		{"((curl x); ls)", Deny}, {"cat <<EOF", Ask}, {"ls\ncat <<EOF\ncurl x", Deny},

		{"split --filter='curl x' f", Deny}, {"find . -exec bash <<< 'curl x' \\;", Deny}, {"mapfile -C 'curl x' a", Deny},

		// What may be one of them.
		{"split --filter='$x' f", Ask}, {"tar --checkpoint-action=exec='$x' f", Ask}, {"mapfile -C '$x' a", Ask},
		{"$x", Ask}, {"`x` y", Ask}, {"eval \"$x\"", Ask}, {"bash -c \"$x\"", Ask}, {"sudo $x", Ask}, {"env A=\"$a\" $x", Ask},
		{"python3 -c \"$x\"", Ask}, {"xargs sh -c", Ask}, {"ls | xargs env", Ask}, {"ls | xargs sh", Ask}, {"ls | xargs git", Ask},
		{"xargs -I% sh -c '%'", Ask}, {"find . -exec {} \\;", Ask}, {"find . -exec sh -c '{}' \\;", Ask}, {"parallel", Ask},
		{"git $x", Ask}, {"git -C d $x", Ask}, {"git {push,x}", Ask}, {"npm run $x", Ask}, {"bash <(cat x)", Ask}, {"bash -s < x", Ask},
		{". /dev/stdin", Ask}, {"x='$(y)'; echo ${x@P}", Ask}, {"EDITOR=\"$x\" git commit", Ask}, {"while read l; do $l; done", Ask},
		{"npm publish $x", Ask}, {"npm $x", Ask}, {"git -c alias.x=\"$y\" x", Ask}, {"nohup env $x", Ask}, {"echo curl x | ssh h", Ask}, {"echo x | sudo -s", Ask},
		{"ls | at now", Ask}, {"echo x | python3 /dev/stdin", Ask}, {"su -c '$x'", Ask}, {"ssh h '$x'", Ask}, {"env -S '$x y'", Ask}, {"docker exec c $x", Ask},
		{"uv run $x", Ask}, {"deno eval 'f(\"curl\")'", Deny}, {"timeout 5 $x", Ask},

		// What is not.
		{"echo curling", ReadOnly}, {"grep curl f", ReadOnly}, {"echo 'curl x'", ReadOnly}, {"command -v curl", ReadOnly},
		{"which rm", ReadOnly}, {"find . -name curl", ReadOnly}, {"find . -name rm -type f", ReadOnly}, {"git rm x", Allow},
		{"git commit -m \"$(cat x)\"", Unmatched}, {"git commit -m 'rm curl'", Allow}, {"docker rm x", Allow}, {"npm test $x", Unmatched}, {"git -C d log $x", Unmatched},
		{"env A=\"$a\" ls \"$x\"", Unmatched}, {"nohup ls \"$x\"", Unmatched}, {"timeout 5 ls $x", Unmatched}, {"npm publish x", Unmatched},
		{"python3 x.py \"$x\"", Unmatched}, {"bash x.sh \"$x\"", Unmatched}, {"bash -c 'ls \"$1\"' _ \"$x\"", Unmatched},
		{"ls | xargs sh -c 'ls \"$1\"' _", Unmatched}, {"export PATH=$PATH:/x; go build", Unmatched}, {"sed s/curl/wget/ f", ReadOnly},
		{"sudo grep \"it's\" f", Unmatched}, {"timeout 5 grep 'a > b(' f", Unmatched}, {"python3 x.py 'rm this'", Allow}, {"sudo -n ls", Unmatched},
		{"git -c user.name=\"O'Brien\" commit", Unmatched}, {"ssh -p 22 h ls", Unmatched}, {"awk '{print $1}' f", Unmatched}, {"grep 'a[`' f", ReadOnly},
		{"bash -c 'x=$y; ls'", Allow}, {"uv run pytest $x", Unmatched}, {"npx prettier $x", Unmatched}, {"docker exec c ls $x", Unmatched},
	} {
		start := time.Now()
		v := Judge(c.text, rules)
		if v.Decision != c.want {
			t.Errorf("%.60q: %v (%s), want %v", c.text, v.Decision, v.Reason, c.want)
		}
		if !allowed(v.Decision) && v.Reason == "" || allowed(v.Decision) && v.Reason != "" {
			t.Errorf("%.60q: %v with the reason %q", c.text, v.Decision, v.Reason)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%.60q took %v", c.text, took)
		}
	}
}

// TestAsks: what the usual rules do not cover (S252-S263, S267-S276, S279-S281), and what must only be judged here, as it
// would change this machine.
func TestAsks(t *testing.T) {
	t.Parallel()
	forced := Rules{Deny: parse(t, "nosuchcommand")}
	for _, text := range []string{
		"sed -nibak s/a/b/ f", "sed -f script f", "sed --in-place s/a/b/ f", "sed -e s/a/b/ -e 's/a/b/w M' f", "sed --in-pl s/a/b/ f",
		"find . -exec touch M \\;", "find . -execdir touch M \\;", "find . -ok touch M \\;", "find . -okdir touch M \\;",
		"find . -delete", "find . -fprint M", "find . -fprint0 M", "find . -fprintf M x", "find -D exec .", "find *.go",
		"ping -c1 example.com", "nslookup example.com", "dig example.com", "host example.com", "getent hosts example.com",
		"whois example.com", "curl example.com", "wget example.com", "nc example.com", "ssh example.com",
		"echo ok > >(touch M)", "cat <(touch M)", "ls\x00", "ls\x1b[2K", "ls \u0085x", "ls\u00a0x", "ls \u200bx", "ls \u202ex",
		"ls\rx", "ls \ufeff", "ls \u2028", "ls \xff", "ls \ufffd", "ls \u3000x",
		"date -s 2000-01-01", "date 010100002030", "date -I 010100002030", "date -u 010100002030", "date --set=2000-01-01",
		"date -d x 0101", "date -Id 0101", "date -- 0101", "date +x 0101", "date -d +x 0101", "hostname x", "kill 1", "shutdown",
		"git clone --recurse-submodules x", // S133
		"cat < /dev/tcp/127.0.0.1/1", "cat 3< x", "cat <&3", "echo >&3", "echo >&$x", "cat < x*", "cat <<< $x", "cat < {a,b}",
		"sort *.txt", "uniq -- -c a b", "sort -- -o f", "sort -k -- *.txt", "echo {1..3}", "cat $'a' $x", "tail $x", "git log $'--output=M'",
	} {
		v := Judge(text, usualRules(t))
		if allowed(v.Decision) {
			t.Errorf("%q: %v as %q", text, v.Decision, v.Text)
		}
		if c, _ := oddCharacter(text); c >= 0 && Judge(text, forced).Decision != Ask {
			t.Errorf("%q does not ask although there is a rule", text)
		}
	}
}

// TestEveryCommand: a rule without words speaks of every text, but what cannot be read is not allowed by it.
func TestEveryCommand(t *testing.T) {
	t.Parallel()
	every := parse(t, "")
	for _, c := range []struct {
		text  string
		rules Rules
		want  Decision
	}{
		{"rm -rf x", Rules{Allow: every}, Allow},
		{"echo $(x) > $y &", Rules{Allow: every}, Allow},
		{strings.Repeat("true; ", 60), Rules{Allow: every}, Allow},
		{"echo x > .git/hooks/post-commit\n(", Rules{Allow: every}, Unmatched},
		{"ls \u200b", Rules{Allow: every}, Unmatched},
		{strings.Repeat("true; ", 5000), Rules{Allow: every}, Unmatched},
		{"rm x", Rules{Allow: every, Deny: parse(t, "rm:*")}, Deny},
		{"$x", Rules{Allow: every, Deny: parse(t, "rm:*")}, Ask},
		{"ls", Rules{Allow: every, Ask: every}, Ask},
		{"ls", Rules{Ask: every, Deny: every}, Deny},
		{"(", Rules{Deny: every}, Deny},
		{"", Rules{Deny: every}, Deny},
	} {
		if v := Judge(c.text, c.rules); v.Decision != c.want {
			t.Errorf("%.40q: %v (%s), want %v", c.text, v.Decision, v.Reason, c.want)
		}
	}
}

// TestOptionsInRules: short options of a deny rule are found in every grouping.
func TestOptionsInRules(t *testing.T) {
	t.Parallel()
	rules := Rules{Deny: parse(t, "rm -rf:*", "git push --force:*", "git reset --hard", "git push -f *")}
	for text, want := range map[string]Decision{
		"rm -rf x": Deny, "rm -fr x": Deny, "rm -r -f x": Deny, "rm -r x -vf": Deny, "rm -r x": Unmatched, "rm f -- r": Unmatched,
		"rm $x": Ask, "rm -r \"$x\"": Ask, "rm *.o": Unmatched, "rm *": Ask, "git push --force": Deny, "git push x --force=y": Deny,
		"git push -uf": Deny, "git push": Unmatched, "git reset --hard": Deny, "git reset --hard x": Unmatched, "git reset $x": Ask,
		"git push -f": Deny, "git add -f x": Unmatched,
	} {
		if v := Judge(text, rules); v.Decision != want {
			t.Errorf("%q: %v (%s), want %v", text, v.Decision, v.Reason, want)
		}
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	rules := Rules{Allow: parse(t, "make:*", "npm run *"), Ask: parse(t, "git push:*"), Deny: parse(t, "rm -rf *")}
	for _, c := range []struct {
		text string
		want Verdict
	}{
		{"ls   -l;make  x   # comment", Verdict{Decision: Allow, Rule: "make:*", Text: "ls -l\nmake x", Commands: []string{"ls -l", "make x"}}},
		{"ls|cat", Verdict{Decision: ReadOnly, Text: "ls | cat", Commands: []string{"ls", "cat"}}},
		{"rm -rf 'a b'", Verdict{Decision: Deny, Rule: "rm -rf *", Reason: "the rule Bash(rm -rf *) forbids it", Text: "rm -rf 'a b'",
			Commands: []string{"rm -rf 'a b'"}}},
		{"git push $x", Verdict{Decision: Ask, Rule: "git push:*", Reason: "the rule Bash(git push:*) asks for it", Text: "git push $x",
			Commands: []string{"git push $x"}}},
		{"foo  $(bar \\a)", Verdict{Decision: Unmatched, Reason: "it has a command substitution", Text: "foo  $(bar \\a)",
			Commands: []string{"bar a", "foo $(bar \\a)"}}},
		{"foo \"it's\"", Verdict{Decision: Unmatched, Reason: "no rule allows foo", Text: "foo \"it's\"", Commands: []string{`foo 'it'\''s'`}}},
	} {
		v := Judge(c.text, rules)
		v.Reads = nil // see TestOperands
		if !reflect.DeepEqual(v, c.want) {
			t.Errorf("%q:\n got %+v\nwant %+v", c.text, v, c.want)
		}
	}
}

// TestForeign (S266): for another shell nothing is allowed, and rules that forbid are compared by words.
func TestForeign(t *testing.T) {
	t.Parallel()
	allow := Rules{Allow: parse(t, "echo:*", "")}
	if v := JudgeForeign("echo x", allow); v.Decision != Unmatched || v.Reason == "" {
		t.Errorf("echo x in zsh: %+v", v)
	}
	rules := Rules{Allow: allow.Allow, Deny: parse(t, "curl:*", "git push:*")}
	for text, want := range map[string]Decision{"echo x": Ask, "curl x": Deny, "& 'curl.exe' x": Deny, "cu`rl x": Deny, "cu^rl x": Deny,
		"C:/bin/curl.exe x": Deny, "git -C x push": Deny, "=curl x": Deny} {
		if v := JudgeForeign(text, rules); v.Decision != want {
			t.Errorf("%q: %v, want %v", text, v.Decision, want)
		}
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	in := func(name string) Target { return Target{Name: name} }
	out := func(name string) Target { return Target{Name: name, Write: true} }
	any := func(name string) Target { return Target{Name: name, Write: true, Dynamic: true} }
	for _, c := range []struct {
		text string
		want []Target
	}{
		{"ls", nil},
		{"echo x > f", []Target{out("f")}}, // H106
		{"echo x >> 'a b'", []Target{out("a b")}},
		{"echo x >| \\f; cat <> g", []Target{out("f"), out("g")}},
		{"echo x &> f; echo y &>> g; echo z >& h; echo 2> i", []Target{out("f"), out("g"), out("h"), out("i")}},
		{"ls > /dev/null 2>&1 < /dev/null; ls 2>&-; echo >&2; echo > /dev/stderr", nil},
		{"cat < f <<< g <<EOF\nx\nEOF", []Target{in("f")}},
		{"echo > $x", []Target{any("$x")}},
		{"echo > ~/f; echo > \"$HOME/f\"; echo > ${HOME}/f", []Target{out("~/f"), out("~/f"), out("~/f")}},
		{"echo > '~/f'; echo > ~u/f; echo > $HOMES/f", []Target{out("./~/f"), any("~u/f"), any("$HOMES/f")}},
		{"HOME=/x; echo > ~/f", []Target{any("~/f")}},
		{"echo > f*", []Target{any("f*")}},
		{"echo > >(cat > f)", []Target{out("f"), any(">(cat > f)")}},
		{"echo $(cat > f) ${x:-$(cat > g)}", []Target{out("f"), out("g")}},
		{"f() { echo > x; echo > /y; }", []Target{any("x"), out("/y")}},
		{"if a > f; then b > g; fi > h", []Target{out("h"), out("f"), out("g")}},
		{"echo > a/../b", []Target{out("a/../b")}},

		// S264, S265
		{"cd .claude && echo x > settings.json", []Target{out(".claude/settings.json")}},
		{"pushd .git/hooks; echo x > pre-commit", []Target{out(".git/hooks/pre-commit"), out("pre-commit")}},
		{"cd .git && echo > hooks/x", []Target{out(".git/hooks/x")}},
		{"cd a && cd b && echo > x && echo > /y", []Target{out("a/b/x"), out("/y")}},
		{"cd a && cd .. && echo > x", []Target{out("x")}},
		{"cd ../a && echo > ../x", []Target{out("../a/../x")}},
		{"cd /a/b && cd ../c && echo > x", []Target{out("/a/c/x")}},
		{"cd / && echo > x", []Target{out("/x")}},
		{"cd a || cd b; echo > x", []Target{out("a/x"), out("b/x"), out("x")}},
		{"cd a || exit; echo > x", []Target{out("a/x"), out("x")}},
		{"! cd a && echo > x", []Target{out("x")}},
		{"(cd a && echo > x); echo > y", []Target{out("a/x"), out("y")}},
		{"{ cd a && echo > x; }; echo > y", []Target{out("a/x"), out("a/y"), out("y")}},
		{"cd a | echo > x", []Target{out("x")}},
		{"cd a & echo > x", []Target{out("x")}},
		{"if cd a; then echo > x; else echo > y; fi", []Target{out("a/x"), out("y")}},
		{"command cd a && builtin cd -- b && echo > x", []Target{out("a/b/x")}},
		{"cd a && echo $(cd b && echo > x) > y", []Target{out("a/y"), out("a/b/x")}},
		{"cd a && bash -c 'cd b && echo > x'", []Target{out("a/b/x")}},
		{"bash -c 'echo > .git/config'", []Target{out(".git/config")}},
		{"bash <<'EOF'\necho > x\nEOF", []Target{out("x")}},
		{"sudo env sh -c 'echo > /etc/x'", []Target{out("/etc/x")}},
		{"env -C a sh -c 'echo > x'", []Target{any("x")}},
		{"find . -execdir sh -c 'echo > x' \\;", []Target{any("x")}},
		{"eval 'echo > x'; echo > y", []Target{out("x"), any("y")}},
		{"trap 'echo > x' EXIT", []Target{out("x")}},
		{"cd $x && echo > f", []Target{any("f")}},
		{"cd && echo > f", []Target{any("f")}},
		{"cd - && echo > f", []Target{any("f")}},
		{"cd -P a && echo > f", []Target{any("f")}},
		{"cd ~/a && echo > f", []Target{any("f")}},
		{"popd; echo > f", []Target{any("f")}},
		{"$x a; echo > f", []Target{any("f")}},
		{"CDPATH=.git; cd hooks && echo > f", []Target{any("f")}},
		{"export CDPATH=.git; cd hooks && echo > f", []Target{any("f")}},
		{"for i in a b; do cd $i; echo > f; done; echo > g", []Target{any("f"), any("g")}},
		{"while cd a; do echo > f; done", []Target{any("f")}},
		{"g() { cd a; }; g; echo > f", []Target{any("f")}},
		{"for i in a b; do echo > f; done; echo > g", []Target{out("f"), out("g")}},
		{"echo > f; (", []Target{any("echo > f; (")}},
		{"bash -c 'echo > f; ('", []Target{any("echo > f; (")}},
		{"(", nil},
		{"sudo grep 'a > b' f", nil},
		{"ssh h 'a > b'", []Target{out("b")}},
		{"su -c 'cd a; (' > b", []Target{out("b")}},
	} {
		if v := Judge(c.text, Rules{}); !reflect.DeepEqual(v.Targets, c.want) {
			t.Errorf("%q:\n got %+v\nwant %+v", c.text, v.Targets, c.want)
		}
	}
}

// TestParseRule (S294): a rule that is no simple command is refused with the position of the mistake.
func TestParseRule(t *testing.T) {
	t.Parallel()
	for s, at := range map[string]string{
		"a && b": "character 1:", "a; b": "character 4:", "a\nb": "character 3:", "$x": "character 1:", "git $x:*": "character 5:",
		"a > b": "character 3:", "(": "character ", "*": "character 1:", ":*": "character 1:", "git * x": "character 5:",
		"git log*": "character 5:", "X=1 make": "character 1:", "make &": "character 1:", "! make": "character 1:", "é $x": "character 3:",
		"ls ~": "character 4:", "echo {a,b}": "character 6:", "ls \u200b": "character 4:", "''": "character 1:", " ": "character 1:",
		"# x": "character 1:", "if a; then b; fi": "character 1:", "a 'b": "character ", "echo $'x'": "character 6:", "ls [ab]": "character 4:",
	} {
		_, err := ParseRule(s)
		if err == nil {
			t.Errorf("%q is taken for a rule", s)
		} else if !strings.Contains(err.Error(), at) {
			t.Errorf("%q: %v, want it to name %s", s, err, at)
		}
	}
	for _, s := range []string{"", "npm run build", "git log:*", "git log *", "[:*", "bash", "echo '*' 'a b'", "find . -exec grep:*", "./x.sh",
		"a 'b *'", "npm run test:unit"} {
		if r, err := ParseRule(s); err != nil || r.String() != s {
			t.Errorf("%q: %v, %v", s, r, err)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	rules := usualRules(b)
	rules.Deny = parse(b, "curl:*", "rm -rf:*")
	rules.Ask = parse(b, "git push:*")
	for _, c := range []struct{ name, text string }{
		{"read", "git log --oneline -5"}, {"allowed", "go test ./... 2>&1 | tail -20"}, {"unmatched", "npm install left-pad"},
		{"wrapped", "timeout 60 bash -c 'cd x && make'"},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				Judge(c.text, rules)
			}
		})
	}
	list := load(b, "harmless.jsonl")
	b.Run("harmless", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			Judge(list[i%len(list)].Command, rules)
		}
	})
}

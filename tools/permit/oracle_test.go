package permit

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestReadOnlyOracle runs what is allowed while planning and demands that no secret comes out: many commands, and many
// ways to name a file that must not be read.
func TestReadOnlyOracle(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		if os.Getenv("FERRULE_CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	top := folder(t)
	root, state := filepath.Join(top, "w"), filepath.Join(top, "state")
	put(t, root, "a", "d/.env", ".env", "secrets/k", "secrets/deep/k2", "src/b", "list")
	put(t, top, "x", "state/token")
	for _, name := range []string{"w/.env", "w/d/.env", "w/secrets/k", "w/secrets/deep/k2", "x", "state/token"} {
		if err := os.WriteFile(filepath.Join(top, name), []byte("SECRET=1\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put(t, root, "src/links/x")
	for name, target := range map[string]string{"l": ".env", "ld": "secrets", "src/links/up": "../../../x", "src/links/dir": "../../secrets/deep", "src/links/s": "../../secrets"} {
		link(t, target, filepath.Join(root, name))
	}
	if err := os.WriteFile(filepath.Join(root, "list"), []byte(".env\x00"), 0o666); err != nil {
		t.Fatal(err)
	}
	p := policy(t, Config{Mode: Plan, Roots: []Root{{Path: root}}, State: state, Rules: rules("deny Read(.env)", "deny Read(./secrets/**)")})
	commands := strings.Split("cat @|cat -- @|cat -n a @|head -n 1 @|head -1 @|tail -c +1 @|tail -n +1 -- @|nl @|tac @|rev @|paste -d / @ a|paste a @|cut -d= -f1- @|"+
		"cut -d / -f1 @|fold -w 80 @|fmt @|expand @|sort @|sort -t / -k1 @|sort -u -o - @|uniq @|uniq -c @|comm @ a|comm a @|join @ @|join -t / @ a|diff a @|diff @ a|"+
		"diff -u @ src/b|diff -r @ src|grep S @|grep -e S @|grep -eS @|grep -r S @|grep -rh S -- @|grep -R S @|grep -f a @ @|grep -A 1 S @|grep -A1 -e S @|"+
		"grep --regexp S @|grep --regexp=S @|grep --reg S @|grep -d recurse S @|grep -ndrecurse S @|grep --dir=recurse S @|grep -nf @ @|grep --include='*' -r S @|"+
		"egrep S @|fgrep S @|rg S @|rg -uu S @|rg -L -uuu S @|rg -e S @|rg -g '*' --hidden S @|sed -n p @|sed -e p @|sed -n '/S/p' @|sed s/x/y/ @|sed -s -n '$p' a @|"+
		"od -c @|od -A n -c @|xxd @|hexdump -C @|jq -R . @|jq -Rr --arg a b . @|jq -n --rawfile a @ '$a'|jq -R -f a @|jq -n --slurpfile a @ '$a'|base64 @|"+
		"cat < @|cat a - < @|while read -r x; do echo \"$x\"; done < @|for f in @; do cat @; done|(cat @)|{ cat @; }|! cat @|if cat @; then pwd; fi|cat @ | head -3|"+
		"cat a | cat - @|ls | grep -r S @|pwd && cat @|cat a; cat @|echo \"$(cat @)\"|cat @ 2>/dev/null || ls|time cat @|git diff --no-index a @|git --no-pager diff --no-index -- a @|"+
		"git grep --no-index S @|wc --files0-from=@|cksum --check @|find @ -type f -printf '%p'|find . -newer @|date -r @|file @|tree @|ls -R @|stat @|case a in a) cat @;; esac", "|")
	if _, err := exec.LookPath("git"); err == nil { // commands with || in them are cut, which is as good
		for _, args := range [][]string{{"init", "-q"}, {"add", "-f", "."}, {"-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "m"}} {
			c := exec.Command("git", args...)
			c.Dir = root
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		commands = append(commands, "git show HEAD:@", "git show HEAD:./@", "git cat-file -p HEAD:@", "git cat-file -p :@", "git log -p -- @", "git log -p @", "git log -p",
			"git show", "git show -- @", "git show HEAD", "git log -L1,1:@", "git log -L 1,+1:@", "git blame @", "git blame -L 1,1 -- @", "git grep S", "git grep S -- @",
			"git grep S HEAD -- @", "git grep S HEAD", "git grep -e S @", "git diff 4b825dc642cb6eb9a060e54bf8d69288fbee4904", "git diff 4b825dc642cb6eb9a060e54bf8d69288fbee4904 HEAD -- @",
			"git diff 4b825dc642cb6eb9a060e54bf8d69288fbee4904 HEAD -- ':/@'", "git log -p -- ':(top)@'", "git log -u", "git log -U3", "git log --patch-with-stat -1", "git log -1 -c -m -p")
	}
	names := []string{".env", "./.env", "'.env'", "\".env\"", `\.env`, "$'.env'", "$'\\x2eenv'", "a .env", "l", "ld/k", "secrets/k", "ld/deep/../k", "ld/../.env", "secrets/*", "s*/k", "se[c]rets/k", "*/k",
		"secrets", ".", "", "*", ".*", ".e*", "[.]env", "?env", ".en?", "d/.*", "d", "d/.env", "../x", top + "/x", "../?", "../state/*", state + "/token", "~/x", "src", "src/links/*", "src/links",
		"src/links/up", "src/links/dir/k2", "src/links/s/k", "list", "-", "--", "src/../.env", "./*/.env", "secrets//k", "\"secrets\"/k", "secrets/deep", root, root + "/.env", "//" + root + "/.env",
		"/proc/self/cwd/.env", "/dev/../" + root + "/.env", "nope .env", "{a,.env}", "$HOME/x", "$PWD/.env"}
	runs, read, tries, every := 0, 0, 0, 13
	if os.Getenv("FERRULE_NIGHTLY") != "" {
		every = 1
	}
	for _, c := range commands {
		for _, name := range names {
			if tries++; tries%every != 0 {
				continue
			}
			text := strings.ReplaceAll(c, "@", name)
			d := p.Decide(running(text, root))
			if d.Verdict != Allow {
				continue
			}
			runs++
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			cmd := exec.CommandContext(ctx, bash, "-c", d.Run)
			cmd.Dir, cmd.Env = root, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + top, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_PAGER=cat"}
			out, _ := cmd.CombinedOutput() // many fail, since there is no such file or option
			cancel()
			if strings.Contains(string(out), "SECRET") || strings.Contains(string(out), "U0VDUkVU") || strings.Contains(string(out), "5345 4352") {
				t.Errorf("%s shows a secret: %.200q", text, out)
			}
			if strings.Contains(string(out), "K=1") {
				read++
			}
		}
	}
	t.Logf("%d of %d run, %d of them show what may be read", runs, tries/every, read)
	if runs < 1000/every || read < 100/every {
		t.Errorf("only %d are allowed, of which %d read something", runs, read)
	}
}

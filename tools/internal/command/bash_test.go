package command

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func nightly() bool { return os.Getenv("FERRULE_NIGHTLY") == "1" }

// scene is a place where a text can prove that it did more than read: by making the file M, by removing victim, or by
// changing anything else there.
type scene struct{ dir, bash string }

// missing is how a test ends that has no program to compare with.
func missing(t testing.TB) func(format string, args ...any) {
	if os.Getenv("FERRULE_CI") == "1" {
		return t.Fatalf
	}
	return t.Skipf
}

func newScene(t testing.TB) scene {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS == "windows" {
		missing(t)("there is no bash to compare with: %v", err)
	}
	s := scene{t.TempDir(), bash}
	for name, content := range map[string]string{"in.txt": "data\n", "big": strings.Repeat("some line\n", 30_000), "victim": "",
		"x.sh": "#!/bin/sh\ntouch " + s.dir + "/M\ncat\n", "bin/ls": "#!/bin/sh\n/usr/bin/touch " + s.dir + "/M\n",
		"rgrc": "--pre=" + s.dir + "/x.sh\n", ".gitconfig": "[core]\n\tfsmonitor = " + s.dir + "/x.sh\n"} {
		if err := os.MkdirAll(filepath.Dir(s.dir+"/"+name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.dir+"/"+name, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"/home", "/repo"} {
		if err := os.Mkdir(s.dir+dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// commit makes a repository of the scene's working directory.
func (s scene) commit(t *testing.T) {
	t.Helper()
	c := exec.Command(s.bash, "--norc", "-c", "git init -q . && git config user.email a@b && "+
		"git config user.name n && echo a > f && git add f && git commit -qm x && echo b >> f")
	c.Dir, c.Env = s.dir+"/repo", s.env()
	if out, err := c.CombinedOutput(); err != nil {
		missing(t)("there is no git to compare with: %v %s", err, out)
	}
}

func (s scene) env() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir + "/home"}
}

func (s scene) fill(text string) string {
	mark := s.dir + "/M"
	return strings.NewReplacer("{ME}", strings.ReplaceAll(mark, "/", `\/`), "{M}", mark, "{X}", s.dir+"/x.sh", "{D}", s.dir).
		Replace(text)
}

// driver runs each of its arguments as a text of its own and prints the numbers of those that acted; then it puts things
// right again. A process for each would take ten times as long, and still a fork for each is most of the time: together
// runs them one after the other in one shell.
const (
	driver = `M=$1 V=$2 i=0; shift 2
rm -rf "$M"; : >"$V"
for t; do
	(eval "set --; unset t M V i"$'\n'"$t"; wait) </dev/null >/dev/null 2>&1
	if [ -e "$M" ] || [ ! -e "$V" ]; then echo $i; rm -rf "$M"; : >"$V"; fi
	i=$((i+1))
done
echo end`
	together = `_M=$1 _V=$2; shift 2
for _t; do
	eval "$_t" </dev/null >/dev/null 2>&1
	if [ -e "$_M" ] || [ ! -e "$_V" ]; then exit; fi
done
echo end`
)

func (s scene) bashWith(script string, texts []string) (lines []string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	args := []string{"--norc", "--noprofile", "-c", script, "bash", s.dir + "/M", s.dir + "/victim"}
	cmd := exec.CommandContext(ctx, s.bash, append(args, texts...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.dir+"/repo", s.env(), time.Second
	out, _ := cmd.Output() // how far it came is in what it printed
	return strings.Fields(string(out))
}

// acted runs texts as the product does, without startup files and without input, and returns those that made the mark or
// removed the victim.
func (s scene) acted(t testing.TB, texts ...string) (acting []string) {
	t.Helper()
	lines := s.bashWith(driver, texts)
	if len(lines) == 0 || lines[len(lines)-1] != "end" {
		t.Errorf("bash did not come to the end of %q", texts)
		return nil
	}
	for _, line := range lines[:len(lines)-1] {
		i, err := strconv.Atoi(line)
		if err != nil || i >= len(texts) {
			t.Errorf("bash says %q", line)
			return nil
		}
		acting = append(acting, texts[i])
	}
	return acting
}

// anyActed is acted for texts that leave the shell as it is.
func (s scene) anyActed(t testing.TB, texts ...string) (acting []string) {
	t.Helper()
	if slices.Equal(s.bashWith(together, texts), []string{"end"}) {
		return nil
	}
	return s.acted(t, texts...)
}

// listing is what lies in the scene, with sizes.
func (s scene) listing(t testing.TB) string {
	t.Helper()
	var sb strings.Builder
	for _, dir := range []string{"", "/repo", "/home", "/bin"} {
		entries, err := os.ReadDir(s.dir + dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			size := int64(0)
			if info, err := e.Info(); err == nil && !e.IsDir() {
				size = info.Size()
			}
			fmt.Fprintln(&sb, dir, e.Name(), size)
		}
	}
	return sb.String()
}

// TestBypass (S155-S217): texts that begin with something allowed and do something else. None that is allowed acts.
func TestBypass(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.commit(t)
	rules := usualRules(t)
	list := load(t, "bypass.jsonl")
	var texts, through []string
	for i, c := range list {
		text := s.fill(c.Command)
		if nightly() || i%10 == 0 {
			texts = append(texts, text)
		}
		if v := Judge(text, rules); allowed(v.Decision) {
			through = append(through, text, v.Text)
		}
	}
	for _, text := range s.acted(t, through...) {
		t.Errorf("allowed, and it acts: %q", text)
	}
	act := s.acted(t, texts...)
	t.Logf("%d texts; of %d tried, %d act here; let through: %q", len(list), len(texts), len(act), through)
	if len(act) < len(texts)*3/4 {
		t.Errorf("only %d of %d texts act, so the test shows little", len(act), len(texts))
	}
}

// pieces of texts. Those of the first list are allowed as they are.
var (
	good = []string{"true", "echo a", "cat in", ": x", "printf x", "test -n a", "[ a ]", "echo 'touch {M}'", "pwd", "false",
		"echo \"touch {M}\"", "echo touch {M}", "echo \\touch {M}", "true <<'EOF'\ntouch {M}\nEOF\n",
		"true <<EOF\ntouch {M}\nEOF\n", "# touch {M}\n", "echo a#touch {M}", "echo '#' touch {M}", "echo a\\ touch {M}",
		"echo 'a\n' touch {M}", ": <<< 'touch {M}'", "NO_COLOR=1 true", "if true; then echo a; fi", "(echo touch {M})",
		"{ echo touch {M}; }", "for x in touch {M}; do true; done", "test touch = {M}", "while false; do echo touch {M}; done",
		"! true", "case x in touch) true;; esac", "echo \"a\\\"\" touch {M}", "echo 'a'\\''b' touch {M}", "test ! touch",
		"echo [touch {M}", "time true", "echo \"a\n# b\" 'touch {M}'", "echo {touch {M}}", "echo ~ touch {M}", "echo a* touch {M}"}
	joints = []string{";", " && ", " || ", " | ", "\n", " ", " ; ", "\n\n", " 2>&1 ", " 2>/dev/null ", " < /dev/null ", "; ", " |\n",
		" &&\n", " \\\n", ";\n", "", "\t", " # ", " #\n"}
	raw = []string{"true", "touch {M}", "echo", "#", "\\", "\n", ";", "&", "&&", "|", "'", "\"", "$", "(", ")", "{", "}", " ", "<<",
		"<<-", "<<<", "EOF", "`", "!", "[[", "]]", "${", "x", "=", "*", "?", "~", "$'", "$\"", "[", "]", ">", "<", "/dev/null", "2>&1",
		"\t", "if", "then", "fi", "case", "in", "esac", ";;", "for", "do", "done", "function", "#!", "@", "-", "%", ",", "\\\n",
		"'EOF'", "\\EOF", "<<EOF\n", "\nEOF\n", "<<'EOF'\n", "cat", "time", "eval", "-c", "sh", "{a,b}", "((", "))", "$((", "|&", "&>",
		"<(", ">(", ";&", "+(", "while", "until", "select", "coproc", "\\'", "\\\"", "$x", "${x}", "x=1", "a[", "let", "-v", "--"}
)

// random makes a text. With noise, arbitrary pieces are strewn in.
func random(rnd *rand.Rand, noise float64) string {
	var sb strings.Builder
	for range 1 + rnd.IntN(4) {
		if rnd.Float64() < noise {
			for range 1 + rnd.IntN(4) {
				sb.WriteString(raw[rnd.IntN(len(raw))])
				if rnd.IntN(3) == 0 {
					sb.WriteByte(' ')
				}
			}
		} else {
			sb.WriteString(good[rnd.IntN(len(good))])
		}
		sb.WriteString(joints[rnd.IntN(len(joints))])
	}
	text := sb.String()
	if noise > 0 && rnd.IntN(4) == 0 { // a byte less or double
		i := rnd.IntN(len(text) + 1)
		text = text[:i] + text[min(len(text), i+rnd.IntN(2)):]
	}
	return text
}

// search runs random texts until goal of them were run or the time is over, on all processors. Next makes a text and says
// what to run of it, if anything; run returns those that acted.
func search(t *testing.T, goal int, limit time.Duration, run func(s scene, t testing.TB, texts ...string) []string,
	next func(s scene, rnd *rand.Rand) []string) (made, ran int) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	seen := make(map[string]bool)
	seed := uint64(time.Now().UnixNano())
	end := time.Now().Add(limit)
	for worker := range uint64(runtime.GOMAXPROCS(0)) {
		s := newScene(t)
		if got := run(s, t, "true", s.fill("touch {M}"), "true"); len(got) != 1 {
			t.Fatalf("what acts is not noticed: %q", got)
		}
		before := s.listing(t)
		rnd := rand.New(rand.NewPCG(seed, worker))
		wg.Go(func() {
			for done := false; !done; {
				var batch []string
				for tries := 0; len(batch) < 25 && tries < 20_000 && time.Now().Before(end); tries++ {
					texts := next(s, rnd)
					mu.Lock()
					made++
					for _, text := range texts {
						if !seen[text] {
							seen[text] = true
							batch = append(batch, text)
						}
					}
					mu.Unlock()
				}
				for _, text := range run(s, t, batch...) {
					t.Errorf("seed %d: it acts: %q", seed, text)
				}
				if after := s.listing(t); after != before {
					t.Errorf("seed %d: one of these changes files: %q\n%s\n%s", seed, batch, before, after)
					before = after
				}
				mu.Lock()
				ran += len(batch)
				done = ran >= goal || time.Now().After(end)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return made, ran
}

// TestDifferential (S293): random texts that are allowed are run by bash, as given and in the print that was judged. None
// acts.
func TestDifferential(t *testing.T) {
	t.Parallel()
	goal, least, limit := 600, 1, 4*time.Second
	if nightly() {
		goal, least, limit = 24_000, 20_000, 8*time.Minute
	}
	rules := usualRules(t)
	made, ran := search(t, goal, limit, scene.anyActed, func(s scene, rnd *rand.Rand) []string {
		text := random(rnd, 0.4)
		if !strings.Contains(text, "{M}") {
			return nil
		}
		text = s.fill(text)
		v := Judge(text, rules)
		if !allowed(v.Decision) {
			return nil
		}
		if v.Text == text {
			return []string{text}
		}
		return []string{text, v.Text}
	})
	t.Logf("%d texts made, %d allowed and run", made, ran)
	if ran < least {
		t.Errorf("only %d texts were run", ran)
	}
}

// TestDifferentialDeny: whatever bash makes of a random text, it does not run a command that a rule forbids unless Judge
// denies the text or asks.
func TestDifferentialDeny(t *testing.T) {
	t.Parallel()
	goal, limit := 100, 2*time.Second
	if nightly() {
		goal, limit = 10_000, 2*time.Minute
	}
	rules := Rules{Deny: parse(t, "touch:*")}
	made, ran := search(t, goal, limit, scene.acted, func(s scene, rnd *rand.Rand) []string {
		text := random(rnd, 0.8)
		if !strings.Contains(text, "{M}") || strings.ContainsAny(text, ">") {
			return nil
		}
		text = s.fill(text)
		if v := Judge(text, rules); v.Decision == Deny || v.Decision == Ask {
			return nil
		}
		return []string{text}
	})
	t.Logf("%d texts made, %d neither denied nor asked about and run", made, ran)
	if ran == 0 {
		t.Error("no text was run")
	}
}

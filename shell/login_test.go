//go:build linux && !portable

package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// withProfile makes a home folder with a profile and has the login shell use it. The test cannot be parallel.
func withProfile(t *testing.T, profile string) (home string) {
	t.Helper()
	home = t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".bash_profile"), []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	return home
}

func answered(t *testing.T, l *Login) {
	t.Helper()
	eventually(t, 10*time.Second, l.known, func() string { return "the login shell does not answer" })
}

// The profile's PATH and variables reach commands once they are known, not what would change the meaning of a command,
// whatever the profile prints; and what it starts lives as long as the Login.
func TestLogin(t *testing.T) {
	tag := tag()
	withProfile(t, `echo "welcome"; printf 'A=1\0B=2\0'
export PATH=/from/profile:$PATH ODD=$'a\nb' NEW_TOKEN=secret OK_TOKEN=fine PAGER=less
export BASH_ENV=/tmp/evil PROMPT_COMMAND=evil
env() { echo fooled; }; export -f env; alias exec=false
sleep 9`+tag+` &
test -t 0 || read x; echo "read $x"`)
	t.Setenv("UNSEEN_API_KEY", "1")
	l := AskLogin()
	defer l.Close()
	s, _ := newShell(t, Config{Login: l, EnvPass: []string{"OK_TOKEN"}})
	do(t, s, "true") // does not wait
	answered(t, l)
	r := do(t, s, `echo "$PATH" | cut -d: -f1; echo "$ODD"; command env | grep -cE '_API_KEY|NEW_TOKEN|BASH_ENV|PROMPT_COMMAND|BASH_FUNC|welcome|^A=1'; echo $OK_TOKEN $PAGER $SHLVL; pwd`)
	if want := "/from/profile\na\nb\n0\nfine cat 1\n" + s.dir + "\n"; r.Output != want {
		t.Errorf("%q, want %q", r.Output, want)
	}
	if len(tagged(tag)) == 0 {
		t.Error("what the profile started is gone")
	}
	l.Close()
	if a := tagged(tag); len(a) > 0 {
		t.Errorf("what the profile started is still there: %q", a)
	}
}

// Without an answer commands go on with our own environment, and nothing stays.
func TestLoginFails(t *testing.T) {
	for name, profile := range map[string]string{"hangs": "trap '' TERM; sleep 600", "ends": "exit 3", "breaks": "exec 1>&-"} {
		withProfile(t, profile)
		l := AskLogin()
		s, _ := newShell(t, Config{Login: l})
		if r := do(t, s, "echo $HOME"); r.Output != os.Getenv("HOME")+"\n" {
			t.Errorf("%s: %+v", name, r)
		}
		start := time.Now()
		if name != "hangs" {
			<-l.done
		}
		l.Close()
		if took := time.Since(start); l.known() || took > 5*time.Second {
			t.Errorf("%s: known %v after %v", name, l.known(), took)
		}
		if r := do(t, s, "echo still"); r.Output != "still\n" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if nightly {
		withProfile(t, "sleep 600")
		start := time.Now()
		l := AskLogin()
		defer l.Close()
		<-l.done
		if took := time.Since(start); l.known() || took < loginLimit || took > loginLimit+2*time.Second {
			t.Errorf("known %v after %v", l.known(), took)
		}
	}
}

// A Shell without an environment asks by itself, and ends what it asked.
func TestLoginOwn(t *testing.T) {
	withProfile(t, "export FROM_PROFILE=yes")
	root := t.TempDir()
	s, err := New(Config{Roots: func() []string { return []string{root} }, LogDir: filepath.Join(t.TempDir(), "logs")})
	if err != nil {
		t.Fatal(err)
	}
	answered(t, s.own)
	if r := do(t, s, "echo $FROM_PROFILE"); r.Output != "yes\n" {
		t.Errorf("%+v", r)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestParseLogin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"junk mark\x00A=1\x00B=x=y\nz\x00_=/bin/env\x00SHLVL=2\x00", "A=1|B=x=y\nz"},
		{"A=1\x00", ""},
		{"mark\x00A=1\x00B=", ""},
		{"mark\x00", ""},
		{"", ""},
	} {
		if got := strings.Join(parseLogin([]byte(c.in), "mark"), "|"); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

// umask, limits, the treatment of signals, niceness and locale are those of this process, to the letter.
func TestInherited(t *testing.T) {
	t.Parallel()
	const look = "umask; ulimit -a; ulimit -aH; trap -p; grep -E '^(SigBlk|SigIgn|SigCgt|Seccomp|NoNewPrivs|Cap)' /proc/self/status; nice; echo $LC_ALL $LANG"
	want, err := exec.Command("/bin/bash", "--norc", "--noprofile", "-c", look).Output()
	if err != nil {
		t.Fatal(err)
	}
	s, _ := newShell(t, Config{})
	if r := do(t, s, look); r.Output != string(want) {
		t.Errorf("got\n%s\nwant\n%s", r.Output, want)
	}
}

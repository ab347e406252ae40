package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for _, p := range []Policy{
		{Mode: Off}, {Mode: Off, Offline: true}, {Mode: Auto, Write: []string{"/a b", "/--network=off", "/\xff\n"}},
		{Mode: Require, Offline: true, wrapped: true}, {Mode: Bubblewrap, Write: []string{"/"}},
	} {
		got, err := Parse(p.Words())
		if err != nil || got.Mode != p.Mode || got.Offline != p.Offline || got.wrapped != p.wrapped || !slices.Equal(got.Write, p.Write) && runtime.GOOS != "windows" {
			t.Errorf("%+v became %+v, %v", p, got, err)
		}
	}
	for _, words := range [][]string{
		{""}, {"--"}, {"--sandbox=auto"}, {"--sandbox=", "--"}, {"--sandbox=Auto", "--"}, {"--sandbox=auto", "--network=on", "--"},
		{"--sandbox=auto", "--", "a"}, {"--sandbox=auto", "--", ""}, {"--", "--sandbox=auto"},
	} {
		if p, err := Parse(words); err == nil {
			t.Errorf("%q became %+v", words, p)
		}
	}
}

// S150, S151: what each mode makes of a system.
func TestCheck(t *testing.T) {
	t.Parallel()
	missing := errors.New("no bwrap")
	for _, c := range []struct {
		mode    Mode
		offline bool
		s       system
		says    string
		refuses string
	}{
		{Auto, false, system{landlock: 7, seccomp: true, bwrap: missing}, "only in the workspace, in folders for temporary files and in caches (Landlock 7)", ""},
		{Auto, true, system{landlock: 3, seccomp: true}, "no network (seccomp)", ""},
		{Auto, false, system{seccomp: true}, "no sandbox; this kernel has no Landlock", ""},
		{Auto, false, system{landlock: 1}, "no sandbox; this kernel's Landlock is too old", ""},
		{Auto, false, system{landlock: 2}, "(Landlock 2); they may read everything; this kernel's Landlock does not keep files from being emptied", ""},
		{Auto, false, system{why: "this system has none"}, "no sandbox; this system has none", ""},
		{Auto, true, system{landlock: 7}, "Landlock 7", "--network=off"},
		{Auto, true, system{seccomp: true}, "taking over another process", ""},
		{Require, false, system{landlock: 3}, "Landlock 3", ""},
		{Require, false, system{landlock: 2}, "Landlock 2", "--sandbox=require"},
		{Require, false, system{}, "no sandbox", "has no Landlock"},
		{Require, false, system{why: "this system has none"}, "no sandbox", "this system has none"},
		{Require, true, system{landlock: 7, seccomp: true}, "seccomp", ""},
		{Bubblewrap, false, system{landlock: 7}, "(Landlock 7, bubblewrap)", ""},
		{Bubblewrap, false, system{}, "(bubblewrap)", ""},
		{Bubblewrap, false, system{landlock: 7, bwrap: missing}, "Landlock 7", "no bwrap"},
		{Off, false, system{landlock: 7, seccomp: true}, "write everywhere: no sandbox", ""},
		{Off, true, system{landlock: 7, seccomp: true}, "no sandbox; they have no network (seccomp)", ""},
	} {
		l, err := Policy{Mode: c.mode, Offline: c.offline}.check(c.s)
		if !strings.Contains(l.String(), c.says) || (err != nil) != (c.refuses != "") || err != nil && !strings.Contains(err.Error(), c.refuses) {
			t.Errorf("%s %v %+v:\n%s, %v\nwant %q, %q", c.mode, c.offline, c.s, l, err, c.says, c.refuses)
		}
	}
}

func TestParseMode(t *testing.T) {
	t.Parallel()
	for _, m := range []Mode{Auto, Require, Bubblewrap, Off} {
		if got, err := ParseMode(string(m)); got != m || err != nil {
			t.Errorf("%s: %s, %v", m, got, err)
		}
	}
	for _, bad := range []string{"", "on", "OFF"} {
		if _, err := ParseMode(bad); err == nil {
			t.Errorf("%q is a mode", bad)
		}
	}
}

// tree makes folders, and links of the form "name -> target", below a new one without links in its path.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("paths of Unix")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		link, target, is := strings.Cut(name, " -> ")
		if is {
			err = os.Symlink(strings.ReplaceAll(target, "TOP", top), filepath.Join(top, link))
		} else {
			err = os.MkdirAll(filepath.Join(top, name), 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return top
}

// S017: no link that a command can make widens what is open.
func TestSettle(t *testing.T) {
	t.Parallel()
	top := tree(t, "home/p/sub", "home/secret", "data/c/tmp", "home/.cache -> TOP/data/c", "home/p/link -> TOP/home",
		"home/p/.gocache -> ../secret", "data/c/t -> TOP/home", "loop -> loop", "abs/x", "abs/y -> x/../x", "p2 -> home/p")
	for _, c := range []struct{ in, want string }{
		{"home/p home/p", "home/p"},
		{"home/p/sub home/p", "home/p"},
		{"home/p home/p2 gone", "home/p"},
		{"home/p p2 home/secret", "home/p home/secret"},
		{"home/.cache", "data/c"},
		{"home/.cache data/c/tmp", "data/c"},
		{"abs/y", "abs/x"},
		{"loop", ""},
		// Links in folders that are open could have been made by a command.
		{"home/p home/p/link", "home/p"},
		{"home/p home/p/.gocache", "home/p"},
		{"home/p home/p/link/secret", "home/p"},
		{"home/p p2/.gocache", "home/p"},
		{"home/.cache data/c/t", ""}, // rather too little than too much
		{"home/.cache home/.cache/t/secret", "data/c"},
		{"p2/.gocache home/p", "home/p"},
	} {
		var in []string
		for name := range strings.FieldsSeq(c.in) {
			in = append(in, filepath.Join(top, name))
		}
		var got []string
		for _, path := range settle(append(in, "", ".", "x")) {
			rel, _ := filepath.Rel(top, path)
			got = append(got, rel)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
	}
}

func TestFor(t *testing.T) {
	t.Parallel()
	top := tree(t, "p", "own", "home/.cargo/registry", "home/go/pkg/mod", "bin", "modules", "extra", "home/.config/go")
	for _, program := range []string{"go", "npm"} {
		if err := os.WriteFile(filepath.Join(top, "bin", program), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(top, "home/.config/go/env"), []byte("# x\nGOMODCACHE="+top+"/modules\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := func(env ...string) string {
		p := For(Auto, false, Surroundings{
			Roots: []string{top + "/p"}, Own: []string{top + "/own"}, Extra: []string{top + "/extra", "/dev/full"},
			Env: append([]string{"HOME=" + top + "/home", "PATH=" + top + "/bin"}, env...),
		})
		var out []string
		for _, path := range p.Write {
			if rel, err := filepath.Rel(top, path); err == nil && filepath.IsLocal(rel) {
				path = rel
			}
			out = append(out, path)
		}
		return strings.Join(out, " ")
	}
	// The test's own folder lies in the system's temporary one as a rule; what is open anyway is not named again.
	if strings.HasPrefix(top, "/tmp/") {
		if want := "/dev/full /tmp /var/tmp"; got() != want {
			t.Errorf("in /tmp: %s, want %s", got(), want)
		}
	}
	for _, dir := range []string{"home/.cache", "home/.npm", "home/go/pkg/sumdb"} {
		if _, err := os.Stat(filepath.Join(top, dir)); err != nil {
			t.Errorf("a cache was not made: %v", err)
		}
	}
	if _, err := os.Stat(filepath.Join(top, "home/.cargo/git")); err == nil {
		t.Error("a cache was made for a tool that is not installed")
	}
	list := func(env ...string) []string {
		env = append([]string{"HOME=" + top + "/home", "PATH=" + top + "/bin"}, env...)
		return caches(variables(env))
	}
	for _, c := range []struct{ env, want string }{
		{"", "modules"}, {"GOMODCACHE=" + top + "/x", "x"}, {"GOENV=off", "home/go/pkg/mod"},
		{"", "home/.cache/go-build"}, {"XDG_CACHE_HOME=" + top + "/c", "c/go-build"}, {"GOCACHE=" + top + "/g", "g"},
		{"GOPATH=" + top + "/a:" + top + "/b", "a/pkg/sumdb"}, {"", "home/.npm"}, {"npm_config_cache=" + top + "/n", "n"},
		{"CARGO_HOME=" + top + "/k", "k/.package-cache"},
	} {
		if dirs := list(c.env); !slices.Contains(dirs, filepath.Join(top, c.want)) {
			t.Errorf("%s: %s lacks %s", c.env, dirs, c.want)
		}
	}
	for _, env := range []string{"TMPDIR=/", "TMPDIR=", "TMPDIR=" + top, "TMPDIR=" + top + "/home", "XDG_CACHE_HOME=/", "GOCACHE=" + top, "HOME=", "HOME=/", "HOME=x"} {
		for _, path := range For(Auto, false, Surroundings{Env: []string{"HOME=" + top + "/home", env}}).Write {
			if path == "/" || path == top || path == top+"/home" {
				t.Errorf("%s opens %s", env, path)
			}
		}
	}
	if fi, err := os.Lstat("/dev/shm"); err == nil && fi.IsDir() {
		if p := For(Auto, false, Surroundings{Env: []string{"TMPDIR=/dev/shm"}}); !slices.Contains(p.Write, "/dev/shm") {
			t.Errorf("TMPDIR is not open: %s", p.Write)
		}
	}
	if p := For(Off, true, Surroundings{Roots: []string{top}}); p.Write != nil || !p.Offline || p.Mode != Off {
		t.Errorf("off: %+v", p)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	top := tree(t, "p/sub", "out/a b", "p/link -> ../out")
	for name, mode := range map[string]os.FileMode{"out/secret": 0o644, "out/closed": 0o000, "p/x.sh": 0o644} {
		path := filepath.Join(top, name)
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	p := Policy{Mode: Auto, Offline: true, Write: []string{top + "/p"}}
	root := os.Geteuid() == 0
	for _, c := range []struct{ output, want string }{
		{"bash: line 1: OUT/new: Permission denied", "OUT/new"},
		{"bash: line 1: ../out/new: Permission denied", "OUT/new"},
		{"bash: line 1: link/new: Permission denied", "/p/link/new"},
		{"some text\ntouch: cannot touch 'OUT/secret': Permission denied\nmore", "OUT/secret"},
		{"mkdir: cannot create directory ‘OUT/a b/c d’: Permission denied", "OUT/a b/c d"},
		{"bash: OUT/a b/c d: Permission denied", "OUT/a b/c d"},
		{"Error: EACCES: permission denied, open 'OUT/x.json'", "OUT/x.json"},
		{"PermissionError: [Errno 13] Permission denied: 'OUT/x'", "OUT/x"},
		{"open OUT/x: permission denied", "OUT/x"},
		{"mv: cannot move 'f' to 'OUT/f': Invalid cross-device link", "OUT/f"},
		{"touch: cannot touch 'OUT/x': Read-only file system", "OUT/x"},
		{"sudo: The \"no new privileges\" flag is set, which prevents sudo from running as root.", "sudo"},
		{"curl: (6) Could not resolve host: example.org", "no network"},
		{"dial udp: socket: operation not permitted", "no network"},
		{"bash: ./x.sh: Permission denied", ""},
		{"bash: TOP/p/x.sh: Permission denied", ""},
		{"cat: /nowhere/at/all: Permission denied", ""},
		{"Permission denied", ""},
		{"Permission denied (publickey).", ""},
		{"grep: OUT/secret: No such file or directory", ""},
		{"everything is fine in OUT/secret", ""},
		{"", ""},
	} {
		in := strings.NewReplacer("OUT", top+"/out", "TOP", top).Replace(c.output)
		want := strings.NewReplacer("OUT", top+"/out").Replace(c.want)
		got := p.Explain(in, top+"/p", top+"/p/sub")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s:\n%s\nwant %q", in, got, want)
		}
		if strings.Contains(want, "/out") && (!strings.Contains(got, "--sandbox-write DIR") || !strings.Contains(got, "only in "+top+"/p;")) {
			t.Errorf("%s", got)
		}
	}
	if got := p.Explain("cat: "+top+"/out/closed: Permission denied", top); !root && got != "" {
		t.Errorf("a file that is closed anyway: %s", got)
	}
	if got := (Policy{Mode: Off}).Explain("bash: "+top+"/out/new: Permission denied", top); got != "" {
		t.Errorf("without a sandbox: %s", got)
	}
}

func FuzzExplain(f *testing.F) {
	f.Add("bash: /etc/x: Permission denied", "/tmp")
	f.Fuzz(func(t *testing.T, output, dir string) {
		Policy{Mode: Auto, Offline: true, Write: []string{"/tmp"}}.Explain(output, dir)
	})
}

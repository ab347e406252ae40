package sandbox

import (
	"bufio"
	"cmp"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Surroundings are what a policy is made for.
type Surroundings struct {
	Roots []string // of the workspace
	Own   []string // further folders that commands of this session may write
	Extra []string // those the user has named; files, such as a device, as well
	Env   []string // of the commands
}

// For returns the policy of a session. Commands may write in its roots, in folders for temporary files, and in the
// caches of common tools, whose places the environment can change. A cache that does not exist yet is made if its tool
// is installed: no rule can name what is not there, and the tool could not make it itself. What else does not exist is
// left out.
//
// A folder that a command has exchanged with a link does not take the sandbox to where the link leads: links that lie
// in folders of the policy are not followed.
func For(mode Mode, offline bool, s Surroundings) Policy {
	p := Policy{Mode: mode, Offline: offline}
	if mode == Off {
		return p
	}
	env := variables(s.Env)
	chosen := slices.DeleteFunc(append(caches(env), env["TMPDIR"]), func(dir string) bool {
		return dir == filepath.Dir(dir) || within(env["HOME"], filepath.Clean(dir)) // a variable that would open everything
	})
	p.Write = settle(slices.Concat(s.Roots, s.Own, s.Extra, []string{"/tmp", "/var/tmp"}, chosen))
	return p
}

func variables(environ []string) map[string]string {
	env := make(map[string]string)
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			env[name] = value
		}
	}
	return env
}

// caches returns where common tools keep what they can fetch or make again.
func caches(env map[string]string) (dirs []string) {
	home := env["HOME"]
	if !filepath.IsAbs(home) {
		return nil
	}
	add := func(program string, names ...string) {
		if program != "" && !installed(program, env["PATH"]) {
			return
		}
		for _, name := range names {
			if within(filepath.Clean(name), home) {
				os.MkdirAll(name, 0o700) // what cannot be made is left out
			}
			dirs = append(dirs, name)
		}
	}
	config := cmp.Or(env["XDG_CONFIG_HOME"], filepath.Join(home, ".config"))
	cache := cmp.Or(env["XDG_CACHE_HOME"], filepath.Join(home, ".cache"))
	add("", cache)
	goEnv := goSettings(env, filepath.Join(config, "go", "env"))
	gopath := cmp.Or(filepath.SplitList(goEnv("GOPATH") + string(filepath.ListSeparator))[0], filepath.Join(home, "go"))
	add("go", cmp.Or(goEnv("GOCACHE"), filepath.Join(cache, "go-build")),
		cmp.Or(goEnv("GOMODCACHE"), filepath.Join(gopath, "pkg", "mod")),
		filepath.Join(gopath, "pkg", "sumdb")) // without it no module can be fetched
	add("npm", cmp.Or(env["npm_config_cache"], env["NPM_CONFIG_CACHE"], filepath.Join(home, ".npm")))
	cargo := cmp.Or(env["CARGO_HOME"], filepath.Join(home, ".cargo"))
	add("cargo", filepath.Join(cargo, "registry"), filepath.Join(cargo, "git"))
	for _, lock := range []string{".package-cache", ".package-cache-mutate", ".global-cache"} { // cargo's, files beside them
		dirs = append(dirs, filepath.Join(cargo, lock))
	}
	return dirs
}

// goSettings returns what go env says of a name: the environment, else the file that go env -w writes.
func goSettings(env map[string]string, file string) func(string) string {
	written := make(map[string]string)
	if f, err := os.Open(cmp.Or(env["GOENV"], file)); err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(io.LimitReader(f, 1<<20)); lines.Scan(); {
			if name, value, ok := strings.Cut(strings.TrimSpace(lines.Text()), "="); ok {
				written[name] = value
			}
		}
	}
	return func(name string) string { return cmp.Or(env[name], written[name]) }
}

func installed(program, path string) bool {
	return slices.ContainsFunc(filepath.SplitList(path), func(dir string) bool {
		_, err := exec.LookPath(filepath.Join(dir, program))
		return err == nil && filepath.IsAbs(dir)
	})
}

// settle resolves the paths, and leaves out what lies in another one or does not exist. What remains has no parent in
// which a command could write, so nobody who is held to it can put something else in its place.
func settle(paths []string) []string {
	paths = slices.DeleteFunc(paths, func(path string) bool { return !filepath.IsAbs(path) })
	var open []string // by its letters, and as resolved without further thought
	for i, path := range paths {
		paths[i] = filepath.Clean(path)
		open = append(open, paths[i])
		if real, err := filepath.EvalSymlinks(path); err == nil {
			open = append(open, real)
		}
	}
	inOpen := func(path string) bool {
		return slices.ContainsFunc(open, func(o string) bool { return within(path, o) })
	}
	var found []string
	for _, path := range paths {
		if real, ok := resolve(path, inOpen); ok {
			found = append(found, real)
		}
	}
	var out []string
	for i, path := range found {
		if !slices.ContainsFunc(found, func(o string) bool { return o != path && within(path, o) }) && !slices.Contains(found[:i], path) {
			out = append(out, path)
		}
	}
	return out
}

// resolve follows the links of an absolute path, except those that lie in a folder of which untrusted speaks.
func resolve(path string, untrusted func(dir string) bool) (real string, ok bool) {
	rest, at, links := path, string(filepath.Separator), 0
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(strings.TrimPrefix(rest, string(filepath.Separator)), string(filepath.Separator))
		if name == "" {
			continue
		}
		if name == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		fi, err := os.Lstat(next)
		if err != nil {
			return "", false
		}
		if fi.Mode()&os.ModeSymlink == 0 {
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if links++; err != nil || links > 40 || untrusted(at) {
			return "", false
		}
		if filepath.IsAbs(target) {
			at = string(filepath.Separator)
		}
		rest = target + string(filepath.Separator) + rest
	}
	return at, true
}

// within reports whether a clean path is dir or lies below it.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator)))
	return ok && dir != "" && (rest == "" || rest[0] == filepath.Separator)
}

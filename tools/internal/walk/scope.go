package walk

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// layer is one ignore file in force, linked to the next weaker one.
type layer struct {
	up    *layer
	from  int // where paths relative to the file's directory begin in a slash path
	rules *rules
}

// scope is what holds in one directory: three chains of ignore files, the strongest chain first. Within a chain the
// deeper file wins. A scope is not changed once made, so directories share their parents' layers.
type scope struct {
	dir    string // slash path, "" for /
	strong *layer // .rgignore
	plain  *layer // .ignore
	git    *layer // .gitignore, then .git/info/exclude and the user's own file
}

// ignores decides for an entry of the directory; byGit says that a rule of the git chain decided.
func (s *scope) ignores(name string, isDir bool) (out, byGit bool) {
	t := target{dir: s.dir, name: name, isDir: isDir}
	for i, l := range [...]*layer{s.strong, s.plain, s.git} {
		for ; l != nil; l = l.up {
			if v := l.rules.match(&t, l.from); v != noRule {
				return v == leftOut, i == 2
			}
		}
	}
	return false, false
}

// enter is the scope of a directory below s. hasGit says that it holds .git, load returns the text of a rule file in
// it or nil.
func (e *env) enter(s scope, dir string, hasGit bool, load func(name string) []byte) scope {
	s.dir = slashPath(dir)
	from := len(s.dir) + 1
	push := func(chain **layer, text []byte) {
		if rs := parseRules(text); rs != nil {
			*chain = &layer{*chain, from, rs}
		}
	}
	if hasGit {
		s.git = nil
		global, exclude := e.repository(dir)
		push(&s.git, global)
		push(&s.git, exclude)
	}
	push(&s.git, load(".gitignore"))
	push(&s.plain, load(".ignore"))
	push(&s.strong, load(".rgignore"))
	return s
}

func slashPath(p string) string { return strings.TrimSuffix(filepath.ToSlash(p), "/") }

// above is the scope that the directories above dir hand down to it. ignored says that a rule among them leaves out dir
// itself, or a directory that it lies in. Outside a repository .gitignore files count from top downwards.
func (e *env) above(top, dir string) (s scope, ignored bool) {
	var line []string // the directories above dir, / first
	for d := dir; d != filepath.Dir(d); {
		d = filepath.Dir(d)
		line = append([]string{d}, line...)
	}
	inRepo, byGit := false, false
	for i, d := range line {
		hasGit := isRepository(d)
		inRepo = inRepo || hasGit
		s = e.enter(s, d, hasGit, func(name string) []byte {
			if name == ".gitignore" && !inRepo && !within(top, d) {
				return nil
			}
			return readRules(filepath.Join(d, name), false)
		})
		next := dir
		if i+1 < len(line) {
			next = line[i+1]
		}
		if !ignored {
			ignored, byGit = s.ignores(filepath.Base(next), true)
		}
		// A nested repository does not care what the one around it ignores.
		if ignored && byGit && isRepository(next) {
			ignored = false
		}
	}
	return s, ignored
}

// within reports whether dir is top or lies below it; both are clean absolute paths.
func within(top, dir string) bool {
	rest, ok := strings.CutPrefix(slashPath(dir), slashPath(top))
	return ok && (rest == "" || rest[0] == '/')
}

// isRepository reports whether dir holds a .git directory, or the .git file of a worktree or a submodule.
func isRepository(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, ".git"))
	return err == nil && (info.IsDir() || info.Mode().IsRegular())
}

// env is where a user's own git settings lie.
type env struct {
	home   string
	config string // $XDG_CONFIG_HOME
}

func newEnv(home, config string) env {
	if home == "" {
		home = os.Getenv("HOME")
	}
	if home == "" {
		home, _ = os.UserHomeDir() // without a home there are no settings
	}
	if config == "" {
		config = os.Getenv("XDG_CONFIG_HOME")
	}
	if config == "" && home != "" {
		config = filepath.Join(home, ".config")
	}
	return env{home, config}
}

// repository returns the rules that a repository has besides its .gitignore files: the user's own, and info/exclude,
// which worktrees share.
func (e *env) repository(top string) (global, exclude []byte) {
	common := filepath.Join(top, ".git")
	if text := readRules(common, true); text != nil {
		dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
		if !ok {
			return nil, nil
		}
		common = resolve(top, strings.TrimSpace(dir))
		if text := readRules(filepath.Join(common, "commondir"), true); text != nil {
			common = resolve(common, strings.TrimSpace(string(text)))
		}
	}
	if f := e.excludesFile(top, filepath.Join(common, "config")); f != "" {
		global = readRules(f, true)
	}
	return global, readRules(filepath.Join(common, "info", "exclude"), true)
}

func resolve(dir, p string) string {
	if p = filepath.FromSlash(p); filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(dir, p)
}

// excludesFile is core.excludesFile: the last of the user's two files and the repository's that sets it wins. An empty
// value means none. The system's configuration and include directives are not read.
func (e *env) excludesFile(top, repoConfig string) string {
	var files []string
	value, set := "", false
	if e.config != "" {
		files = append(files, filepath.Join(e.config, "git", "config"))
		value = filepath.Join(e.config, "git", "ignore")
	}
	if e.home != "" {
		files = append(files, filepath.Join(e.home, ".gitconfig"))
	}
	for _, f := range append(files, repoConfig) {
		if v, ok := configValue(readRules(f, true), "core", "excludesfile"); ok {
			value, set = v, true
		}
	}
	if rest, ok := strings.CutPrefix(value, "~/"); ok && e.home != "" {
		return filepath.Join(e.home, filepath.FromSlash(rest))
	}
	if !set || value == "" {
		return value
	}
	return resolve(top, value)
}

// configValue returns the last value of a key in a plain section of a git configuration file. Section and key are
// given in lower case.
func configValue(text []byte, section, key string) (value string, ok bool) {
	inside := false
	lines := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	lines.Buffer(nil, maxRuleFile+1)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			name, rest, closed := strings.Cut(line[1:], "]")
			inside = closed && strings.EqualFold(strings.TrimSpace(name), section)
			line = strings.TrimSpace(rest)
		}
		name, rest, _ := strings.Cut(line, "=")
		if !inside || !strings.EqualFold(strings.TrimSpace(name), key) {
			continue
		}
		rest = strings.TrimSpace(rest)
		for strings.HasSuffix(rest, `\`) && !strings.HasSuffix(rest, `\\`) && lines.Scan() {
			rest = rest[:len(rest)-1] + lines.Text()
		}
		value, ok = unquote(rest), true
	}
	return value, ok
}

// unquote reads a value as git does: quotes may stand anywhere, a backslash escapes, # and ; outside quotes start a
// comment, blanks at the end do not count.
func unquote(s string) string {
	var b strings.Builder
	quoted, end := false, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"':
			quoted = !quoted
			end = b.Len()
			continue
		case c == '\\' && i+1 < len(s):
			i++
			switch c = s[i]; c {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			}
			b.WriteByte(c)
			end = b.Len()
			continue
		case !quoted && (c == '#' || c == ';'):
			return b.String()[:end]
		}
		b.WriteByte(c)
		if quoted || c != ' ' && c != '\t' {
			end = b.Len()
		}
	}
	return b.String()[:end]
}

// Package settings reads what the user has fixed before the start: the settings files, what of a project's counts, and
// the flags about permissions, into one struct that says where each value comes from.
//
// Begin at Load. Trust remembers which content of a project the user has said yes to; ReadProject shows what that is
// about.
//
// Files of the user's are taken at their word, and a mistake in them is an error with its place. Files of a project may
// only narrow: their deny and ask rules count at once, their allow rules once the user trusts this very content, and
// everything else never does. The package changes no file but trust.json, and knows nothing of what a rule means.
package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ferrule/tools/permit"
)

// Options is where settings come from.
type Options struct {
	Home    string // our own folder; "" if there is none
	Project string // the folder of the project, the first root; "" if there is none
	Flags   Flags
}

// Flags are those about permissions, as they were given; "" if they were not.
type Flags struct {
	Mode             string // --permission-mode
	Answers          string // --permission: client or host
	Allow, Ask, Deny []string
}

// Settings is what counts. It does not change after Load.
type Settings struct {
	Rules       []permit.Rule // those of the flags first, then the user's, then the project's
	Mode        Value[permit.Mode]
	HostAnswers Value[bool]
	Dirs        []Value[string] // further folders that may be read and changed; absolute
	Files       []File          // every settings file there could be
	Warnings    []string        // one sentence each, for the user

	Memory        json.RawMessage   // the object of that name in the user's file; nil if there is none
	ProjectMemory []json.RawMessage // those in the project's files
}

// A Value is a setting and where it comes from: a place in a file, a flag, or "default".
type Value[T any] struct {
	V    T
	From string
}

// A File is one settings file and what became of it.
type File struct {
	Path  string
	State string
}

// Config returns the part of a policy's configuration that settings decide.
func (s *Settings) Config() permit.Config {
	return permit.Config{Rules: s.Rules, Mode: s.Mode.V, HostAnswers: s.HostAnswers.V}
}

// Load reads everything once. An error is a sentence that begins with the file and the place, or names the flag. Whether
// the rules can be used is for permit.New to say.
func Load(o Options) (*Settings, error) {
	s := &Settings{Mode: Value[permit.Mode]{permit.Default, "default"}, HostAnswers: Value[bool]{false, "default"}}
	for _, l := range []struct {
		effect permit.Verdict
		rules  []string
		flag   string
	}{{permit.Deny, o.Flags.Deny, "--deny"}, {permit.Ask, o.Flags.Ask, "--ask"}, {permit.Allow, o.Flags.Allow, "--allow"}} {
		for _, text := range l.rules {
			s.Rules = append(s.Rules, permit.Rule{Effect: l.effect, Text: text, At: l.flag})
		}
	}
	if err := s.user(o.Home); err != nil {
		return nil, err
	}
	if err := s.project(o); err != nil {
		return nil, err
	}
	if err := s.flags(o.Flags); err != nil {
		return nil, err
	}
	if s.Mode.V == permit.BypassPermissions {
		s.Warnings = append(s.Warnings, "nothing is asked in the mode bypassPermissions ("+s.Mode.From+"); deny rules and the workspace hold")
	}
	return s, nil
}

func (s *Settings) flags(f Flags) error {
	if f.Mode != "" {
		m, err := permit.ParseMode(f.Mode)
		if err != nil {
			return fmt.Errorf("--permission-mode: %v", err)
		}
		s.Mode = Value[permit.Mode]{m, "--permission-mode"}
	}
	switch f.Answers {
	case "":
	case "client", "host":
		s.HostAnswers = Value[bool]{f.Answers == "host", "--permission"}
	default:
		return fmt.Errorf("--permission: %q answers nothing; use client or host", f.Answers)
	}
	return nil
}

// user reads the user's own file.
func (s *Settings) user(home string) error {
	if home == "" {
		return nil
	}
	f := &file{path: filepath.Join(home, "settings.json")}
	data, err := readFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.Files = append(s.Files, File{f.path, "not there"})
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %v", f.path, err)
	}
	if err := f.parse(data); err != nil {
		return err
	}
	s.Files = append(s.Files, File{f.path, "the user's"})
	s.Memory = f.memory
	s.Rules = append(s.Rules, f.rules...)
	for _, d := range f.dirs {
		dir, err := expand(d.V)
		if err != nil {
			return fmt.Errorf("%s: %v", d.From, err)
		}
		s.Dirs = append(s.Dirs, Value[string]{dir, d.From})
	}
	if f.mode.From != "" {
		m, err := permit.ParseMode(f.mode.V)
		if err != nil {
			return fmt.Errorf("%s: %v", f.mode.From, err)
		}
		s.Mode = Value[permit.Mode]{m, f.mode.From}
	}
	return nil
}

// expand makes a folder's name absolute. The current folder has no say in it.
func expand(dir string) (string, error) {
	if dir == "~" || strings.HasPrefix(dir, "~/") {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%q cannot be used because the home folder is not known", dir)
		}
		return filepath.Join(home, dir[1:]), nil
	}
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("the folder %q has to be given in full, or beginning with ~/", dir)
	}
	return filepath.Clean(dir), nil
}

// project reads the project's files and takes over what counts.
func (s *Settings) project(o Options) error {
	if o.Project == "" {
		return nil
	}
	p, err := ReadProject(o.Project, o.Home)
	if err != nil {
		return err
	}
	trust, err := OpenTrust(o.Home)
	if err != nil {
		return err
	}
	s.Files = append(s.Files, p.Files...)
	s.Warnings = append(s.Warnings, p.Warnings...)
	s.Rules = append(s.Rules, p.Narrowing...)
	s.ProjectMemory = p.Memory
	switch {
	case trust.Trusts(p):
		s.Rules = append(s.Rules, p.Allow...)
	case len(p.Allow) > 0:
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d of the project's allow rules do not count yet; see them and say yes with: ferrule trust %s",
			len(p.Allow), p.Dir))
	}
	return nil
}

// A Project is what the settings files of a project say.
type Project struct {
	Dir       string        // without links
	Hash      string        // of all that is in the files; "" if there is none
	Allow     []permit.Rule // what counts once it is trusted
	Narrowing []permit.Rule // deny and ask rules, which count at once
	Files     []File
	Warnings  []string // of keys that have no effect there
	Memory    []json.RawMessage
}

// ReadProject reads the settings files of the project in dir. They are data of strangers: only regular files in the
// project are read, at most 1 MiB of each. A folder that is our own, home, is no project's.
func ReadProject(dir, home string) (*Project, error) {
	dir, err := ProjectDir(dir)
	if err != nil {
		return nil, err
	}
	p := &Project{Dir: dir}
	own, err := os.Stat(filepath.Join(dir, ".ferrule"))
	if err != nil {
		return p, nil // what is no folder holds no files
	}
	if h, err := os.Stat(home); err == nil && os.SameFile(own, h) {
		return p, nil
	}
	var parts [][]byte
	for _, name := range []string{"settings.json", "settings.local.json"} {
		f := &file{path: filepath.Join(dir, ".ferrule", name), project: dir}
		data, err := readWithin(dir, filepath.Join(".ferrule", name))
		if errors.Is(err, fs.ErrNotExist) {
			p.Files = append(p.Files, File{f.path, "not there"})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %v", f.path, err)
		}
		if err := f.parse(data); err != nil {
			return nil, err
		}
		p.Files = append(p.Files, File{f.path, "the project's"})
		p.Warnings = append(p.Warnings, f.ignored...)
		if f.memory != nil {
			p.Memory = append(p.Memory, f.memory)
		}
		for _, r := range f.rules {
			if r.Effect == permit.Allow {
				p.Allow = append(p.Allow, r)
			} else {
				p.Narrowing = append(p.Narrowing, r)
			}
		}
		parts = append(parts, []byte(name), data)
	}
	if len(parts) > 0 {
		p.Hash = Hash(parts...)
	}
	return p, nil
}

// ProjectDir is the one name that a project is trusted by: its absolute path without links.
func ProjectDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("%s is no folder that can be read", abs)
	}
	return real, nil
}

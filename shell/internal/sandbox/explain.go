package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What programs print, in lower case, when the system refuses something.
var (
	refusals   = []string{"permission denied", "operation not permitted", "read-only file system", "cross-device link", "eacces", "eperm", "erofs"}
	privileges = []string{"no new privileges", "effective uid is not 0"} // of sudo
	unreached  = []string{
		"errno 1] operation not permitted", "socket: operation not permitted", "could not resolve", "name resolution", "name or service not known", "nodename nor servname", "eai_again", "enotfound",
		"network is unreachable", "couldn't connect", "unable to connect", "immediate connect fail",
	}
)

// maxShown bounds the folders that an explanation names.
const maxShown = 8

// Explain returns a sentence that says how the sandbox is the reason for what a failed command has printed, "" if it
// does not seem to be. dirs are where the command may have stood, for relative names. A refusal is the sandbox's if it
// is about a file outside of the policy that this process, which is not in the sandbox, could change.
func (p Policy) Explain(output string, dirs ...string) string {
	if p.Mode != Off {
		for line := range strings.Lines(output) {
			lower := strings.ToLower(line)
			if containsAny(lower, privileges) {
				return "in the sandbox no program gains privileges, so sudo and its like cannot work; only the user can change that, by starting ferrule with --sandbox=off"
			}
			if !containsAny(lower, refusals) {
				continue
			}
			for _, name := range namesIn(line) {
				if path := p.outside(name, dirs); path != "" {
					return fmt.Sprintf("the sandbox allows writing only in %s; %s is outside. Only the user can allow it, by starting ferrule with --sandbox-write DIR or with --sandbox=off",
						p.folders(), path)
				}
			}
		}
	}
	if p.Offline && containsAny(strings.ToLower(output), unreached) {
		return "commands have no network; only the user can change that, by starting ferrule without --network=off"
	}
	return ""
}

func containsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// folders lists what may be written, the workspace first.
func (p Policy) folders() string {
	if n := len(p.Write); n > maxShown {
		return fmt.Sprintf("%s and %d more", strings.Join(p.Write[:maxShown], ", "), n-maxShown)
	}
	return strings.Join(p.Write, ", ")
}

// namesIn returns what may be names of files in a message: what stands in quotes, between colons, or is one word.
func namesIn(line string) (names []string) {
	line = strings.TrimSpace(strings.NewReplacer("‘", "'", "’", "'", `"`, "'", "`", "'").Replace(line))
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			names = append(names, part)
		}
	}
	names = append(names, strings.Split(line, ": ")...)
	for word := range strings.FieldsSeq(line) {
		names = append(names, strings.Trim(word, `':;,()[]{}<>`))
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" || len(name) > 4096 })
}

// outside returns the path that a name stands for, if the sandbox keeps it from being written.
func (p Policy) outside(name string, dirs []string) string {
	if filepath.IsAbs(name) {
		dirs = []string{""}
	} else if !strings.Contains(name, "/") {
		return "" // any word would do
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		real, parent := path, filepath.Dir(path)
		_, err := os.Stat(path)
		if err == nil {
			real, err = filepath.EvalSymlinks(path)
		} else if parent, err = filepath.EvalSymlinks(parent); err == nil {
			real = filepath.Join(parent, filepath.Base(path))
		}
		if err != nil || slices.ContainsFunc(p.Write, func(dir string) bool { return within(real, dir) }) {
			continue
		}
		if mayChange(real) {
			return path
		}
	}
	return ""
}

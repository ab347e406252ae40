package shell

import (
	"slices"
	"strings"
	"sync"
)

// fixed is set in every command: no pager, editor or prompt waits for an answer that nobody can give.
var fixed = []string{
	"GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "PAGER=cat", "GIT_EDITOR=true", "DEBIAN_FRONTEND=noninteractive", "FERRULE=1",
}

// An environment is what the commands of a session get: our own, and once it is known that of a login shell.
type environment struct {
	own   []string
	login *Login // nil: only our own
	later func() []string
}

func newEnvironment(c Config) *environment {
	return &environment{own: environ(c.Env, c.EnvPass), login: c.Login,
		later: sync.OnceValue(func() []string { return environ(c.Login.env, c.EnvPass) })}
}

// list returns the variables as they are now. The caller must not change the slice.
func (e *environment) list() []string {
	if e.login.known() {
		return slices.Clip(e.later())
	}
	return slices.Clip(e.own)
}

// environ returns the environment of commands: what the user has, without what changes the meaning of a command line
// and without secrets, except for those named in pass.
func environ(base, pass []string) []string {
	var env []string
	for _, kv := range base {
		name, _, _ := strings.Cut(kv, "=")
		if !alters(name) && (!secret(name) || slices.Contains(pass, name)) {
			env = append(env, kv)
		}
	}
	return append(env, fixed...)
}

// alters reports variables that make a shell run or mean something else, and those that are set anew.
func alters(name string) bool {
	switch name {
	case "BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "PS4", "PWD", "OLDPWD":
		return true
	}
	return strings.HasPrefix(name, "BASH_FUNC_") ||
		slices.ContainsFunc(fixed, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}

func secret(name string) bool {
	return strings.HasPrefix(name, "FERRULE_") || strings.HasSuffix(name, "_API_KEY") || strings.HasSuffix(name, "_TOKEN")
}

// forTerminal adds what programs on a terminal need to know of it.
func forTerminal(env []string) []string {
	for _, kv := range env {
		if term, ok := strings.CutPrefix(kv, "TERM="); ok && term != "" && term != "dumb" {
			return env
		}
	}
	return append(slices.Clip(env), "TERM=xterm-256color")
}

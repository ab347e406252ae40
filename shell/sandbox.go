package shell

import (
	"os"
	"slices"
	"sync"

	"ferrule/shell/internal/sandbox"
)

// A Sandbox is what the user says about what commands may reach. The zero value limits writing as far as this system
// can. It holds for what commands do, not for the login shell that is asked for its environment.
type Sandbox struct {
	Mode      string   // auto, require, bubblewrap or off; "": auto
	Write     []string // further files and folders that commands may write, absolute
	NoNetwork bool
}

// Check says in one line what of it holds on this system. An error is for the user and means that the server must not
// start: the mode is none, or asks for what this system cannot hold.
func (s Sandbox) Check() (line string, err error) {
	mode, err := s.mode()
	if err != nil {
		return "", err
	}
	layers, err := sandbox.Policy{Mode: mode, Offline: s.NoNetwork}.Check()
	return layers.String(), err
}

func (s Sandbox) mode() (sandbox.Mode, error) {
	if s.Mode == "" {
		return sandbox.Auto, nil
	}
	return sandbox.ParseMode(s.Mode)
}

// Limits returns what [Config.Sandbox] of a session needs: roots and login as in Config, own further folders that its
// commands may write. Nothing is looked at before it is called, and again only when the roots have changed or the login
// shell has answered.
func (s Sandbox) Limits(roots func() []string, login *Login, own ...string) func() []string {
	var (
		mu    sync.Mutex // guards what follows
		words []string
		made  bool
		as    []string // the roots that words were made for
		known bool     // likewise: whether the login shell had answered
	)
	return func() []string {
		now, answered := roots(), login.known()
		mu.Lock()
		defer mu.Unlock()
		if made && known == answered && slices.Equal(as, now) {
			return words
		}
		env := os.Environ()
		if answered {
			env = login.env
		}
		mode, err := s.mode()
		if err != nil { // Check was not asked
			mode = sandbox.Require
		}
		p := sandbox.For(mode, s.NoNetwork, sandbox.Surroundings{Roots: now, Own: own, Extra: s.Write, Env: env})
		words, made, as, known = p.Words(), true, slices.Clone(now), answered
		return words
	}
}

// Explain returns a sentence for the model if what a failed command has printed looks like the sandbox's doing, else "".
// dirs are where the command stood.
func (s *Shell) Explain(output string, dirs ...string) string {
	if s.cfg.Sandbox == nil {
		return ""
	}
	p, err := sandbox.Parse(s.cfg.Sandbox())
	if err != nil {
		return ""
	}
	return p.Explain(output, dirs...)
}

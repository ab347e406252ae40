// Package sandbox limits what a process, and all that comes from it, can do to the machine it runs on. Begin with
// [For], which says where commands may write, [Policy.Check], which says what of that this system can hold, and
// [Policy.Apply], which the process calls on itself.
//
// On Linux three layers come from the kernel and one from a program:
//
//	Landlock     writing only below the folders of the policy and to a few devices; no mounts, no tracing of processes
//	             that are not in the same sandbox; no more privileges by set-uid programs
//	seccomp      Offline: no sockets but connected pairs, and none of the system calls that would bring one in another
//	             way. The filter knows the system calls that there are and refuses any other, so a new one is no hole
//	namespaces   Bubblewrap: everything but the folders of the policy is mounted read-only, which also holds what
//	             Landlock does not know (modes, owners, times, attributes); Offline has a loopback interface there
//
// It costs nothing that can be measured while a command runs.
//
// What it does not do: reading stays open, and so does the network unless Offline. It cannot keep a file closed inside
// a folder that is open. A service that acts for whoever asks it by a socket, such as Docker's or a user's own systemd,
// is outside of it. A user with all privileges (root) has ways around, such as loading a kernel module. Other systems
// than Linux have no sandbox here.
package sandbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// A Mode says how much is asked for.
type Mode string

// Modes. The zero value is no mode, so that nobody is without a sandbox by mistake.
const (
	Auto       Mode = "auto"       // what this system can hold
	Require    Mode = "require"    // all of it or nothing starts
	Bubblewrap Mode = "bubblewrap" // the program bwrap as well, or nothing starts
	Off        Mode = "off"
)

// ParseMode reads the name of a mode.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case Auto, Require, Bubblewrap, Off:
		return m, nil
	}
	return "", fmt.Errorf("%q is no kind of sandbox; use auto, require, bubblewrap or off", s)
}

// A Policy says what commands may reach. It travels as words, see [Policy.Words].
type Policy struct {
	Mode    Mode
	Write   []string // files, and folders with all below, that may be written: absolute, without links; see [For]
	Offline bool     // no network

	wrapped bool // this process stands in the namespaces of bubblewrap already
}

// Words that a policy travels as, in this order. Folders follow the last of them.
const (
	wordMode    = "--sandbox="
	wordOffline = "--network=off"
	wordWrapped = "--wrapped"
	wordWrite   = "--"
)

// Words returns the policy as arguments of a process, nil if it limits nothing.
func (p Policy) Words() []string {
	if p.Mode == Off && !p.Offline {
		return nil
	}
	words := []string{wordMode + string(p.Mode)}
	if p.Offline {
		words = append(words, wordOffline)
	}
	if p.wrapped {
		words = append(words, wordWrapped)
	}
	return append(append(words, wordWrite), p.Write...)
}

// Parse is the way back from [Policy.Words].
func Parse(words []string) (Policy, error) {
	p := Policy{Mode: Off}
	if len(words) == 0 {
		return p, nil
	}
	name, ok := strings.CutPrefix(words[0], wordMode)
	if !ok {
		return p, errWords
	}
	var err error
	if p.Mode, err = ParseMode(name); err != nil {
		return p, err
	}
	for i, word := range words[1:] {
		switch word {
		case wordOffline:
			p.Offline = true
		case wordWrapped:
			p.wrapped = true
		case wordWrite:
			p.Write = words[i+2:]
			for _, dir := range p.Write {
				if !filepath.IsAbs(dir) {
					return p, errWords
				}
			}
			return p, nil
		default:
			return p, errWords
		}
	}
	return p, errWords
}

var errWords = errors.New("the sandbox was described in words that this program does not know")

// Layers say what a system can hold of a policy.
type Layers struct {
	Landlock   int      // version of the kernel's Landlock, if it limits writing
	Bubblewrap bool     // writing is limited by mounts
	Seccomp    bool     // the network is closed
	Missing    []string // what the policy asks for and does not get, a sentence each
}

// String says in one line what holds, for a user.
func (l Layers) String() string {
	var names []string
	if l.Landlock > 0 {
		names = append(names, fmt.Sprintf("Landlock %d", l.Landlock))
	}
	if l.Bubblewrap {
		names = append(names, "bubblewrap")
	}
	line := "commands may write everywhere: no sandbox"
	if len(names) > 0 {
		line = "commands may write only in the workspace, in folders for temporary files and in caches (" +
			strings.Join(names, ", ") + "); they may read everything"
	}
	if l.Seccomp {
		line += "; they have no network (seccomp)"
	}
	if len(l.Missing) > 0 {
		line += "; " + strings.Join(l.Missing, "; ")
	}
	return line
}

// Check says what this system can hold of the policy. An error means that it is not enough for the mode, so nothing
// may start: with [Auto] only if the network cannot be closed.
func (p Policy) Check() (Layers, error) { return p.check(thisSystem()) }

// A system is what a kernel and its programs can do.
type system struct {
	why      string // there is no sandbox here at all
	landlock int    // version; 0: none
	seccomp  bool
	bwrap    error // why bubblewrap cannot be used
}

// Versions of Landlock that matter here.
const (
	landlockMoves    = 2 // files can be moved between folders; without, even programs inside of the workspace fail
	landlockTruncate = 3 // emptying a file counts as writing
)

func (p Policy) check(s system) (Layers, error) {
	var l Layers
	if p.Mode != Off {
		p.checkWriting(s, &l)
	}
	var err error
	switch {
	case !p.Offline:
	case !s.seccomp:
		err = errors.New("the network of commands cannot be closed on this system; start without --network=off")
	default:
		l.Seccomp = true
		if l.Landlock == 0 {
			l.Missing = append(l.Missing, "a command may reach the network by taking over another process, since no Landlock keeps them apart")
		}
	}
	if err == nil && len(l.Missing) > 0 && (p.Mode == Require || p.Mode == Bubblewrap) {
		err = fmt.Errorf("--sandbox=%s cannot be held: %s; --sandbox=auto starts with what there is", p.Mode, strings.Join(l.Missing, "; "))
	}
	return l, err
}

func (p Policy) checkWriting(s system, l *Layers) {
	if s.why != "" {
		l.Missing = append(l.Missing, s.why)
		return
	}
	var lack string
	switch {
	case s.landlock == 0:
		lack = "this kernel has no Landlock, or it is switched off"
	case s.landlock < landlockMoves:
		lack = "this kernel's Landlock is too old: it would keep files from being moved between folders"
	default:
		l.Landlock = s.landlock
		if s.landlock < landlockTruncate {
			lack = "this kernel's Landlock does not keep files from being emptied"
		}
	}
	switch {
	case p.Mode == Bubblewrap && s.bwrap == nil: // which needs no Landlock
		l.Bubblewrap = true
		return
	case p.Mode == Bubblewrap:
		l.Missing = append(l.Missing, s.bwrap.Error())
	}
	if lack != "" {
		l.Missing = append(l.Missing, lack)
	}
}

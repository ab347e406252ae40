//go:build !portable

package shell

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// proc is a line of the process table.
type proc struct {
	pid, ppid, session int
	dead               bool
	name               string
}

// processes lists all processes that can be seen.
func processes() []proc {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	var ps []proc
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		if b, err := os.ReadFile("/proc/" + n + "/stat"); err == nil {
			ps = append(ps, parseStat(pid, b))
		}
	}
	return ps
}

// parseStat reads "pid (name) state ppid group session …". The name may hold anything, brackets too.
func parseStat(pid int, b []byte) proc {
	p := proc{pid: pid, dead: true}
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return p
	}
	p.name = string(b[open+1 : end])
	f := bytes.Fields(b[end+1:])
	if len(f) < 4 {
		return p
	}
	p.dead = f[0][0] == 'Z' || f[0][0] == 'X'
	p.ppid, _ = strconv.Atoi(string(f[1]))
	p.session, _ = strconv.Atoi(string(f[3]))
	return p
}

// descendants lists everything below root that is not dead.
func descendants(root int) []proc {
	children := map[int][]proc{}
	for _, p := range processes() {
		children[p.ppid] = append(children[p.ppid], p)
	}
	var out []proc
	queue := []int{root}
	for len(queue) > 0 {
		kids := children[queue[0]]
		queue = queue[1:]
		for _, k := range kids {
			if !k.dead {
				out = append(out, k)
			}
			queue = append(queue, k.pid)
		}
	}
	return out
}

// childrenOf lists the children of a process, also dead ones that it has not waited for; none if the kernel keeps no such
// lists.
func childrenOf(pid int) (pids []int) {
	lists, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, name := range lists {
		b, _ := os.ReadFile(name)
		for f := range bytes.FieldsSeq(b) {
			if n, err := strconv.Atoi(string(f)); err == nil {
				pids = append(pids, n)
			}
		}
	}
	return pids
}

// slay kills what find returns until it finds nothing, or gives up after so many looks: then somebody hangs in the
// kernel, or is always somebody else. It stops everybody before it kills anybody, so that nobody can start a successor
// between two looks.
func slay(find func() []proc, looks int) {
	for range looks {
		ps := find()
		if len(ps) == 0 {
			return
		}
		for _, p := range ps {
			syscall.Kill(p.pid, syscall.SIGSTOP)
		}
		for _, p := range ps {
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// strays lists what is left of a tree whose shepherd was killed: the session of its shell, and everybody who still has
// the mark of the tree in the environment. One that has neither gets away.
func strays(session int, mark string) []proc {
	var out []proc
	for _, p := range processes() {
		if p.dead || p.pid == os.Getpid() {
			continue
		}
		if session > 0 && p.session == session {
			out = append(out, p)
			continue
		}
		env, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/environ")
		if err == nil && bytes.Contains(env, []byte(mark)) {
			out = append(out, p)
		}
	}
	return out
}

//go:build !portable

package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A pen is a control group that holds one tree. Its kernel kills all in it at once, however fast they multiply and
// whether or not the shepherd is still there; who may leave it, such as root, is still the shepherd's. Most processes may
// not make control groups. Where ours may (as root, in a container of its own, in a delegated scope of systemd) each
// tree has one; everything else works without.
type pen struct {
	path      string
	dir, kill *os.File
}

// newPen makes a control group below parent.
func newPen(parent string) (*pen, error) {
	p := &pen{path: filepath.Join(parent, fmt.Sprintf("%s%d-%s", penPrefix, os.Getpid(), random(12)))}
	err := os.Mkdir(p.path, 0o755)
	if err != nil {
		return nil, err
	}
	if p.dir, err = os.Open(p.path); err == nil {
		if p.kill, err = os.OpenFile(filepath.Join(p.path, "cgroup.kill"), os.O_WRONLY, 0); err == nil { // Linux 5.14
			return p, nil
		}
	}
	p.remove()
	return nil, err
}

const penPrefix = "ferrule-"

// clear kills all that is in the pen.
func (p *pen) clear() {
	if p != nil {
		p.kill.WriteString("1")
	}
}

// remove takes the empty pen away, with the groups that the tree may have made in it.
func (p *pen) remove() {
	if p == nil {
		return
	}
	p.dir.Close()
	p.kill.Close()
	removeGroups(p.path, 8)
}

func removeGroups(path string, depth int) {
	if os.Remove(path) == nil || depth == 0 {
		return
	}
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if e.IsDir() {
			removeGroups(filepath.Join(path, e.Name()), depth-1)
		}
	}
	os.Remove(path)
}

// penParent returns the control group of this process, if groups can be made in it, else "". Groups that killed servers
// have left there are taken away: those with processes stay by themselves.
func penParent() string {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	dir := findGroup(string(own), string(mounts))
	if dir == "" {
		return ""
	}
	p, err := newPen(dir)
	if err != nil {
		return ""
	}
	p.remove()
	old, _ := filepath.Glob(filepath.Join(dir, penPrefix+"*"))
	for _, path := range old {
		pid := 0
		fmt.Sscanf(filepath.Base(path), penPrefix+"%d-", &pid)
		if pid > 0 && syscall.Kill(pid, 0) == syscall.ESRCH {
			os.Remove(path)
		}
	}
	return dir
}

// findGroup returns the folder of a process's control group (version 2): own is its /proc/self/cgroup, mounts its
// /proc/self/mountinfo.
func findGroup(own, mounts string) string {
	group := ""
	for line := range strings.Lines(own) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::/"); ok {
			group = "/" + path
		}
	}
	if group == "" || strings.Contains(group, "/..") { // outside of what is mounted
		return ""
	}
	for line := range strings.Lines(mounts) {
		place, kind, _ := strings.Cut(line, " - ")
		fields := strings.Fields(place)
		if !strings.HasPrefix(kind, "cgroup2 ") || len(fields) < 5 {
			continue
		}
		if rel, err := filepath.Rel(fields[3], group); err == nil && filepath.IsLocal(rel) {
			return filepath.Join(fields[4], rel)
		}
	}
	return ""
}

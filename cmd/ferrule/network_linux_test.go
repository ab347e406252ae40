package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNoNetwork has the built command work in a network namespace of its own,
// where the kernel counts every attempt to send something, and looks at the
// counts at the end.
func TestNoNetwork(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary(t), "--root", dir, "--toolsets", "+extra", "--allow", "Read(//proc/**)", "call",
		"Read", `{"file_path": "a.txt"}`, "Edit", `{"file_path": "a.txt", "old_string": "one", "new_string": "two"}`,
		"Grep", `{"pattern": "two"}`, "Glob", `{"pattern": "**"}`, "Undo", `{}`,
		"Bash", `{"command": "cat /proc/net/snmp"}`)
	cmd.Env = append(os.Environ(), "FERRULE_HOME="+home)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Skipf("no network namespace can be made here: %v", err)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sent := snmp(string(out))
	for _, name := range []string{"Ip.OutRequests", "Ip.OutNoRoutes", "Tcp.ActiveOpens", "Udp.OutDatagrams"} {
		if v, ok := sent[name]; !ok || v != "0" {
			t.Errorf("%s is %q: something was to be sent", name, v)
		}
	}
}

// snmp reads the kernel's counters: two lines for each protocol, names and
// values.
func snmp(text string) map[string]string {
	counts := make(map[string]string)
	var names []string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 || !strings.HasSuffix(words[0], ":") {
			continue
		}
		if len(names) == len(words) && names[0] == words[0] {
			for i, n := range names[1:] {
				counts[strings.TrimSuffix(words[0], ":")+"."+n] = words[i+1]
			}
			names = nil
			continue
		}
		names = words
	}
	return counts
}

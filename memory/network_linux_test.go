package memory

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The default backend needs no network: it works where there is none, not even
// a loopback.
func TestWithoutNetwork(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.db")
	cmd := writerProcess(t, path, 1, 20)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
	var told strings.Builder
	cmd.Stderr = &told
	if err := cmd.Start(); err != nil {
		t.Skip("no empty network namespace can be made here:", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, told.String())
	}
	c, _ := open(t, path)
	if n := len(list(t, c, Query{})); n != 20 {
		t.Errorf("%d rows", n)
	}
}

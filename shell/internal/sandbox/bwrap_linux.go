//go:build !portable

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// bwrapPath finds bubblewrap where the system installs programs: the environment of a helper is empty.
func bwrapPath() (string, error) {
	return lookIn("bwrap", "bubblewrap is not installed")
}

func lookIn(program, missing string) (string, error) {
	for _, dir := range []string{"/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"} {
		if path, err := exec.LookPath(dir + "/" + program); err == nil {
			return path, nil
		}
	}
	return "", errors.New(missing)
}

// wrap makes this process bwrap, with this program as its child. It only returns with an error.
//
// The program is handed on as a descriptor, since its file may have been replaced or lie where nobody else can reach it.
// bash gives it its name, which bwrap of before 2024 cannot.
func (p Policy) wrap() error {
	bwrap, err := bwrapPath()
	if err != nil {
		return err
	}
	bash, err := lookIn("bash", "bubblewrap needs bash here, which is not installed")
	if err != nil {
		return err
	}
	self, err := unix.Open("/proc/self/exe", unix.O_RDONLY, 0)
	if err != nil {
		return fmt.Errorf("this program cannot be started again: %v", err)
	}
	p.wrapped = true
	argv := append(p.bwrapOptions(bwrap), bash, "-c", `exec -a "$0" "$@"`, os.Args[0], fmt.Sprintf("/proc/self/fd/%d", self))
	return fmt.Errorf("bubblewrap cannot be started: %v", unix.Exec(bwrap, append(argv, p.Words()...), os.Environ()))
}

// bwrapOptions mounts everything read-only, and over that what may be written.
func (p Policy) bwrapOptions(bwrap string) []string {
	argv := []string{bwrap, "--die-with-parent", "--ro-bind", "/", "/"}
	for _, path := range p.Write {
		argv = append(argv, "--bind-try", path, path)
	}
	argv = append(argv, "--dev", "/dev", "--bind-try", "/dev/shm", "/dev/shm")
	if p.Offline {
		argv = append(argv, "--unshare-net")
	}
	return append(argv, "--")
}

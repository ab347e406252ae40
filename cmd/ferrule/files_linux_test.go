package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// What a scenario cannot set up for the file tools: the server's user, its
// umask, its disk, its memory, and somebody who changes folders all the time.

// A new file gets the mode that the umask leaves, and so do its folders. S049
func TestNewFileUmask(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	s := serveCommand(t, exec.Command("sh", "-c", `umask 027; exec "$0" "$@"`, binary(t), "-C", dir), home)
	s.must(t, "Write", map[string]any{"file_path": "sub/new", "content": "x"})
	s.must(t, "Edit", map[string]any{"file_path": "made", "old_string": "", "new_string": "x"})
	s.close(t)
	for name, want := range map[string]os.FileMode{"sub": 0o750, "sub/new": 0o640, "made": 0o640} {
		if fi, err := os.Stat(filepath.Join(dir, name)); err != nil || fi.Mode().Perm() != want {
			t.Errorf("%s: %v, want mode %o (%v)", name, fi.Mode(), want, err)
		}
	}
}

// TestOrdinaryUser: a folder that may not be written, a file that may not, and
// one that may not be read, as a user who is not root. H039 S045
func TestOrdinaryUser(t *testing.T) {
	t.Parallel()
	top, err := os.MkdirTemp("", "ferrule-user-") // not t.TempDir, which another user cannot enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { exec.Command("chmod", "-R", "u+rwx", top).Run(); os.RemoveAll(top) })
	dir, home := filepath.Join(top, "w"), filepath.Join(top, "home")
	for _, d := range []string{dir, home, dir + "/d"} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	put(t, dir+"/d/f", "x\n")
	put(t, dir+"/d/ro", "x\n")
	put(t, dir+"/ro", "x\n")
	put(t, dir+"/hidden", "x\n")
	modes := []struct {
		name string
		mode os.FileMode
	}{{"d/f", 0o644}, {"d/ro", 0o444}, {"ro", 0o444}, {"hidden", 0}, {"d", 0o555}, {"", 0o755}}
	for _, m := range modes {
		if err := os.Chmod(filepath.Join(dir, m.name), m.mode); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(binary(t), "-C", dir, "--toolsets", "+extra")
	if os.Geteuid() == 0 {
		program, err := os.ReadFile(binary(t))
		if err != nil {
			t.Fatal(err)
		}
		cmd.Path = filepath.Join(top, "ferrule")
		if err := os.WriteFile(cmd.Path, program, 0o755); err != nil {
			t.Fatal(err)
		}
		const nobody = 65534
		if out, err := exec.Command("chown", "-R", fmt.Sprint(nobody), dir, home).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if err := os.Chmod(top, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	s := serveCommand(t, cmd, home)
	edit := func(name string) map[string]any {
		return map[string]any{"file_path": name, "old_string": "x", "new_string": "y"}
	}
	read := func(name string) map[string]any { return map[string]any{"file_path": name} }

	s.must(t, "Read", read("d/f"))
	if text := s.must(t, "Edit", edit("d/f")); !strings.HasSuffix(text, "\n(written in place: folder not writable)") {
		t.Errorf("Edit says %q", text)
	}
	s.must(t, "Undo", read("d/f"))
	s.refuse(t, "d/new cannot be written: permission denied; nothing was changed", "Write", map[string]any{"file_path": "d/new", "content": "x"})
	s.refuse(t, "d/sub/new cannot be written: permission denied; nothing was changed", "Write", map[string]any{"file_path": "d/sub/new", "content": "x"})
	s.must(t, "Read", read("d/ro"))
	s.refuse(t, "d/ro may not be written by this user (its mode is -r--r--r--)", "Edit", edit("d/ro"))
	s.must(t, "Read", read("ro"))
	s.refuse(t, "ro may not be written by this user (its mode is -r--r--r--)", "Edit", edit("ro"))
	s.refuse(t, "ro may not be written by this user", "Write", map[string]any{"file_path": "ro", "content": "x"})
	s.refuse(t, "ro may not be written by this user", "MultiEdit", map[string]any{"file_path": "ro",
		"edits": []any{map[string]any{"old_string": "x", "new_string": "y"}}})
	s.refuse(t, "hidden cannot be opened: permission denied", "Read", read("hidden"))
	s.refuse(t, "hidden may not be written by this user", "Edit", edit("hidden"))
	s.refuse(t, "hidden may not be written by this user", "Write", map[string]any{"file_path": "hidden", "content": "x"})
	s.close(t)
	for name, want := range map[string]string{"d/f": "x\n", "d/ro": "x\n", "ro": "x\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			t.Errorf("%s holds %q, want %q (%v)", name, got, want, err)
		}
	}
	if names := temporary(t, dir); len(names) > 0 {
		t.Errorf("temporary files are left: %v", names)
	}
}

// TestFullDisk writes to a file system of 1,500 kB what does not fit there.
// S043 S044
func TestFullDisk(t *testing.T) {
	t.Parallel()
	flags := "-m"
	if os.Geteuid() != 0 {
		flags = "-rm"
	}
	dir, home := t.TempDir(), t.TempDir()
	const mount = `mount -t tmpfs -o size=1500k none "$0"`
	if out, err := exec.Command("unshare", flags, "sh", "-c", mount, dir).CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here: %v %s", err, out)
	}
	s := serveCommand(t, exec.Command("unshare", flags, "sh", "-c", mount+` && shift && exec "$@" -C "$0"`, dir, "-", binary(t), "--toolsets", "+extra"), home)
	old, bigger := strings.Repeat("old\n", 150_000), strings.Repeat("new\n", 262_144)
	s.must(t, "Write", map[string]any{"file_path": "f", "content": old})
	s.must(t, "Bash", map[string]any{"command": "md5sum < f > sum && head -c 600000 /dev/zero > fill"})
	unchanged := func(what string) {
		t.Helper()
		s.must(t, "Bash", map[string]any{"command": `md5sum < f | cmp - sum && test "$(ls -A | tr '\n' ' ')" = "` + what + `"`})
	}
	full := "f cannot be written: no space left on device; nothing was changed"
	s.refuse(t, full, "Write", map[string]any{"file_path": "f", "content": bigger})
	s.refuse(t, full, "Edit", map[string]any{"file_path": "f", "old_string": "old", "new_string": "newer-and-longer", "replace_all": true})
	unchanged("f fill sum ")
	s.refuse(t, "g cannot be written: no space left on device; nothing was changed", "Write", map[string]any{"file_path": "sub/g", "content": bigger})
	unchanged("f fill sum ")
	s.must(t, "Bash", map[string]any{"command": "ln f link"})
	s.refuse(t, full, "Write", map[string]any{"file_path": "f", "content": bigger})
	s.refuse(t, full, "Edit", map[string]any{"file_path": "f", "old_string": "old", "new_string": "newer-and-longer", "replace_all": true})
	unchanged("f fill link sum ")
	s.must(t, "Bash", map[string]any{"command": "test f -ef link"})
	s.must(t, "Write", map[string]any{"file_path": "f", "content": "small\n"})
	s.must(t, "Bash", map[string]any{"command": `test "$(cat link)" = small`})
	s.close(t)
}

// A file of 1 GiB is refused or searched without filling the memory. S036
func TestLargeFileMemory(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	put(t, filepath.Join(dir, "big"), "needle\n")
	if err := os.Truncate(filepath.Join(dir, "big"), 1<<30); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir, home)
	name := map[string]any{"file_path": "big"}
	s.refuse(t, "big has 1.0 GiB", "Read", name)
	s.refuse(t, "big has 1.0 GiB", "Edit", map[string]any{"file_path": "big", "old_string": "needle", "new_string": "x"})
	s.refuse(t, "big has 1.0 GiB", "Write", map[string]any{"file_path": "big", "content": "x"})
	if nightly() { // it is read to its end, which takes seconds
		s.must(t, "Grep", map[string]any{"pattern": "needle", "path": "big", "output_mode": "content"})
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	var peak int
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(line, &peak); err != nil || peak > 300<<10 {
		t.Errorf("the server has used up to %d KiB, want less than 300 MiB (%v)", peak, err)
	}
	s.close(t)
}

// TestSwappedFolder writes below a folder that somebody exchanges with a link
// to the outside as fast as he can. S039
func TestSwappedFolder(t *testing.T) {
	t.Parallel()
	want := int64(5_000)
	if nightly() {
		want = 100_000
	}
	dir, home, out := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.Mkdir(dir+"/sub", 0o777); err != nil {
		t.Fatal(err)
	}
	notebook := `{"cells": [{"cell_type": "raw", "id": "c", "metadata": {}, "source": ""}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`
	for _, d := range []string{dir + "/sub", out} {
		put(t, d+"/f", "a\n")
		put(t, d+"/n.ipynb", notebook)
	}
	if err := os.Symlink(out, dir+"/evil"); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir, home)
	s.must(t, "Read", map[string]any{"file_path": "sub/f"})
	s.must(t, "Read", map[string]any{"file_path": "sub/n.ipynb"})
	var stop atomic.Bool
	var swaps atomic.Int64
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for !stop.Load() {
			if err := unix.Renameat2(unix.AT_FDCWD, dir+"/sub", unix.AT_FDCWD, dir+"/evil", unix.RENAME_EXCHANGE); err != nil {
				t.Error(err)
				return
			}
			swaps.Add(1)
		}
	})
	written, refused := 0, 0
	letters := []string{"a", "b"}
	for i := 0; (swaps.Load() < want || i < 50) && !t.Failed(); i++ {
		for _, c := range []struct {
			tool string
			args map[string]any
		}{
			{"Edit", map[string]any{"file_path": "sub/f", "old_string": letters[i%2], "new_string": letters[(i+1)%2]}},
			{"Edit", map[string]any{"file_path": fmt.Sprintf("sub/e%d", i), "old_string": "", "new_string": "x"}},
			{"NotebookEdit", map[string]any{"notebook_path": "sub/n.ipynb", "cell_id": "c", "new_source": letters[i%2]}},
			{"Write", map[string]any{"file_path": fmt.Sprintf("sub/w%d", i), "content": "x"}},
			{"Write", map[string]any{"file_path": fmt.Sprintf("sub/d%d/w", i), "content": "x"}},
		} {
			switch _, failed, err := s.call(t.Context(), c.tool, c.args); {
			case err != nil:
				t.Fatal(err)
			case failed:
				refused++
			default:
				written++
			}
		}
	}
	stop.Store(true)
	swapper.Wait()
	s.close(t)
	names, err := filepath.Glob(out + "/*")
	if err != nil || len(names) != 2 {
		t.Errorf("files outside: %v %v", names, err)
	}
	for name, want := range map[string]string{"f": "a\n", "n.ipynb": notebook} {
		if got, err := os.ReadFile(filepath.Join(out, name)); string(got) != want {
			t.Errorf("the file outside holds %q (%v)", got, err)
		}
	}
	t.Logf("%d exchanges, %d writes, %d refused", swaps.Load(), written, refused)
	if written == 0 {
		t.Error("nothing was written, so nothing was tried")
	}
}

//go:build !portable

package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// asNobody runs f as a user without privileges on a thread of its own. Root becomes one for the time.
func asNobody(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with its identity
		if os.Geteuid() == 0 {
			unix.Setfsgid(65534)
			unix.Setfsuid(65534)
		}
		f()
	}()
	<-done
}

// TestInPlace: files that cannot be replaced are overwritten, and this is told. S045, S048, H037, H039.
func TestInPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, why string
		root      bool
		make      func(t *testing.T, dir, f string)
	}{
		{"hard link", "hard link", false, func(_ *testing.T, dir, f string) { os.Link(f, dir+"/second") }},
		{"folder not writable", "folder not writable", false, func(_ *testing.T, dir, f string) { os.Chmod(dir, 0o555) }},
		{"folder not readable", "folder not writable", false, func(_ *testing.T, dir, f string) { os.Chmod(dir, 0o111) }},
		{"sticky folder", "folder forbids replacing the file", true, func(_ *testing.T, dir, f string) { os.Chmod(dir, 0o777|os.ModeSticky) }},
	} {
		for _, data := range []string{"", "n", "longer than before"} {
			t.Run(fmt.Sprintf("%s, %d bytes", c.name, len(data)), func(t *testing.T) {
				if c.root && os.Geteuid() != 0 {
					t.Skip("needs files of another user, which only root can make")
				}
				top := t.TempDir()
				os.Chmod(top, 0o777)
				dir, f := top+"/d", top+"/d/f"
				put(t, f, "old")
				os.Chmod(dir, 0o777)
				os.Chmod(f, 0o666)
				c.make(t, dir, f)
				defer os.Chmod(dir, 0o777)
				var before, after unix.Stat_t
				unix.Stat(f, &before)
				root := openRoot(t, top)
				var told []string
				o := Options{
					Begin: func(p Plan) error {
						told = append(told, "begin "+p.InPlace)
						if p.InPlace != "" {
							same(t, "old content when told", string(p.Old.Data)+readThrough(root, "d/f"), "oldold")
						}
						return nil
					},
					End: func(out Outcome, err error) { told = append(told, "end "+out.InPlace) },
				}
				asNobody(func() {
					out, err := NewFiles(SyncFull).Update(t.Context(), root, "d/f", o, to(data))
					if err != nil || out.InPlace != c.why || !out.Written || out.Created || out.OwnerLost {
						t.Errorf("%+v %v", out, err)
					}
				})
				unix.Stat(f, &after)
				same(t, "inode", after.Ino, before.Ino)
				same(t, "content", get(t, f), data)
				same(t, "told at the end", told[max(0, len(told)-2):], []string{"begin " + c.why, "end " + c.why})
				os.Chmod(dir, 0o777)
				if n := list(t, dir); len(n) > 2 {
					t.Errorf("left behind: %v", n)
				}
			})
		}
	}
}

// readThrough reads as whoever asks for it.
func readThrough(root *os.Root, rel string) string {
	f, err := Open(root, rel)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	b, _, err := Read(f, MaxSize)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// TestNoPermission: what cannot be written at all stays as it is.
func TestNoPermission(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	os.Chmod(top, 0o777)
	for _, d := range []string{"closed", "readonly"} {
		put(t, top+"/"+d+"/f", "old")
		os.Chmod(top+"/"+d+"/f", 0o444)
		os.Chmod(top+"/"+d, 0o555)
		defer os.Chmod(top+"/"+d, 0o755)
	}
	os.Chmod(top+"/closed", 0o000)
	root := openRoot(t, top)
	asNobody(func() {
		for _, rel := range []string{"closed/f", "closed/new", "readonly/f", "readonly/new", "readonly/sub/new"} {
			out, err := NewFiles(SyncNone).Update(t.Context(), root, rel, Options{Parents: true}, to("new"))
			if !errors.Is(err, os.ErrPermission) || out.Written {
				t.Errorf("%s: %+v %v", rel, out, err)
			}
		}
		_, err := NewFiles(SyncNone).Remove(t.Context(), root, "readonly/f", Options{}, nil, func(Content) error { return nil })
		if !errors.Is(err, os.ErrPermission) {
			t.Error(err)
		}
	})
	os.Chmod(top+"/closed", 0o755)
	same(t, "names", list(t, top), "[closed closed/f readonly readonly/f]")
	same(t, "content", get(t, top+"/closed/f")+get(t, top+"/readonly/f"), "oldold")
}

// TestOwnerLost: a file of another user in a folder of ours can be replaced, but not given back to him. Then a set-id
// bit would act for somebody else.
func TestOwnerLost(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs files of another user, which only root can make")
	}
	dir := t.TempDir()
	os.Chmod(dir, 0o777)
	put(t, dir+"/f", "old")
	unix.Chmod(dir+"/f", 0o6777)
	root := openRoot(t, dir)
	asNobody(func() {
		out, err := NewFiles(SyncNone).Update(t.Context(), root, "f", Options{}, to("new"))
		if err != nil || !out.OwnerLost {
			t.Errorf("%+v %v", out, err)
		}
	})
	same(t, "attributes", attributesOf(t, dir+"/f"), "mode 100777 owner 65534:65534 links 1")
}

// TestSpecial: nothing that is no file blocks or is written.
func TestSpecial(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mkfifo(dir+"/fifo", 0o666); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	names := []string{"fifo"}
	if len(dir) < 90 { // the name of a socket is short
		if err := unix.Bind(fd, &unix.SockaddrUnix{Name: dir + "/socket"}); err != nil {
			t.Fatal(err)
		}
		names = append(names, "socket")
	}
	if os.Geteuid() == 0 && unix.Mknod(dir+"/null", unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))) == nil {
		names = append(names, "null")
	}
	root := openRoot(t, dir)
	for _, name := range names {
		start := time.Now()
		_, err := NewFiles(SyncNone).Update(t.Context(), root, name, Options{}, to("new"))
		_, rerr := NewFiles(SyncNone).Remove(t.Context(), root, name, Options{}, nil, func(Content) error { return nil })
		if !errors.Is(err, ErrSpecial) || !errors.Is(rerr, ErrSpecial) || time.Since(start) > time.Second {
			t.Errorf("%s: %v, %v after %v", name, err, rerr, time.Since(start))
		}
	}
	same(t, "names", len(list(t, dir)), len(names))
}

// TestProcFile: files that have a size of 0 and content can be read.
func TestProcFile(t *testing.T) {
	t.Parallel()
	f, err := Open(openRoot(t, "/proc/self"), "status")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, st, err := Read(f, MaxSize); err != nil || len(b) == 0 || st.Size != int64(len(b)) {
		t.Error(len(b), st.Size, err)
	}
	var large ErrTooLarge
	if _, _, err := Read(f, 10); !errors.As(err, &large) {
		t.Error(err)
	}
}

// inNamespace runs f on a thread with mounts of its own and a tmpfs of the given size at dir.
func inNamespace(t *testing.T, dir, size string, f func()) {
	if os.Geteuid() != 0 {
		t.Skip("only root may mount")
	}
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with its namespace
		if err = unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS); err != nil {
			return
		}
		if err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return
		}
		if err = unix.Mount("none", dir, "tmpfs", 0, "size="+size); err != nil {
			return
		}
		defer unix.Unmount(dir, unix.MNT_DETACH)
		f()
	}()
	<-done
	if err != nil {
		t.Skip("mounting is not allowed here:", err)
	}
}

// TestDiskFull: S043, S044.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	old, bigger := strings.Repeat("old-", 150_000), strings.Repeat("new-", 250_000)
	for _, links := range []string{"[fill t]", "[fill l t]"} {
		dir := t.TempDir()
		inNamespace(t, dir, "1500k", func() {
			put(t, dir+"/t", old)
			if links == "[fill l t]" {
				os.Link(dir+"/t", dir+"/l")
			}
			var fs unix.Statfs_t
			unix.Statfs(dir, &fs)
			put(t, dir+"/fill", strings.Repeat("x", int(max(0, int64(fs.Bavail)*fs.Bsize-300_000))))
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer root.Close()
			out, err := NewFiles(SyncFile).Update(t.Context(), root, "t", Options{}, to(bigger))
			if !errors.Is(err, syscall.ENOSPC) || out.Written {
				t.Errorf("%s: %+v %v", links, out, err)
			}
			if get(t, dir+"/t") != old {
				t.Errorf("%s: old content gone", links)
			}
			same(t, "names", list(t, dir), links)
			if out, err := NewFiles(SyncFile).Update(t.Context(), root, "t", Options{}, to("small")); err != nil {
				t.Errorf("%+v %v", out, err)
			}
			same(t, "content", get(t, dir+"/t"), "small")
		})
	}
}

// TestMountPoint: a file that is mounted over, as container tools do, can only be written in place.
func TestMountPoint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inNamespace(t, dir, "1m", func() {
		put(t, dir+"/f", "below")
		put(t, dir+"/mounted", "old")
		if err := unix.Mount(dir+"/mounted", dir+"/f", "", unix.MS_BIND, ""); err != nil {
			t.Error(err)
			return
		}
		defer unix.Unmount(dir+"/f", unix.MNT_DETACH)
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Error(err)
			return
		}
		defer root.Close()
		out, err := NewFiles(SyncFile).Update(t.Context(), root, "f", Options{}, to("new"))
		if err != nil || out.InPlace != "mount point" {
			t.Errorf("%+v %v", out, err)
		}
		same(t, "content", get(t, dir+"/mounted"), "new")
		same(t, "names", list(t, dir), "[f mounted]")
	})
}

// TestEditor has an editor that saves by rename and knows none of our locks. A save of his must never be replaced by
// a version of ours that was made from an older one. S052.
func TestEditor(t *testing.T) {
	t.Parallel()
	length := 300 * time.Millisecond
	if nightly() {
		length = 10 * time.Second
	}
	dir := t.TempDir()
	put(t, dir+"/f", "0 ")
	root, w := openRoot(t, dir), NewFiles(SyncNone)
	var stop atomic.Bool
	var ours, stale int
	var wg sync.WaitGroup
	wg.Go(func() {
		for !stop.Load() {
			_, err := w.Update(t.Context(), root, "f", Options{}, func(old *Content) ([]byte, error) {
				return append(bytes.Clone(old.Data), '+'), nil
			})
			switch {
			case err == nil:
				ours++
			case errors.Is(err, ErrStale), errors.Is(err, ErrChanging):
				stale++
			default:
				t.Error(err)
				return
			}
		}
	})
	saves, lost := 0, 0
	for start := time.Now(); time.Since(start) < length; {
		saves++
		prefix := fmt.Sprintf("%d ", saves)
		put(t, dir+"/other", prefix)
		if err := os.Rename(dir+"/other", dir+"/f"); err != nil {
			t.Fatal(err)
		}
		kept := false
		for since := time.Now(); !kept && time.Since(since) < 2*time.Second; { // a swap may be about to be taken back
			kept = strings.HasPrefix(get(t, dir+"/f"), prefix)
		}
		if !kept {
			lost++
		}
	}
	stop.Store(true)
	wg.Wait()
	t.Logf("his saves %d, lost %d; updates of ours %d, refused %d", saves, lost, ours, stale)
	if lost > 0 || ours == 0 {
		t.Error("saves were lost, or none of ours came through")
	}
	same(t, "names", list(t, dir), "[f]")
}

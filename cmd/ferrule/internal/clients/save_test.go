package clients

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// holds checks a file's content and, where there are modes, its mode.
func holds(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil || string(b) != text {
		t.Errorf("%s holds %q %v, want %q", path, b, err, text)
	}
	if fi, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && fi.Mode().Perm() != mode {
		t.Errorf("%s has mode %v, want %v", path, fi.Mode().Perm(), mode)
	}
}

// only checks that a folder has nothing but these files: no temporary file is
// left.
func only(t *testing.T, dir string, want ...string) {
	t.Helper()
	var got []string
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s has %q, want %q", dir, got, want)
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "c.json")
	write(t, path, "old", 0o640)
	backup, err := Save(path, []byte("old"), []byte("new"), noon)
	if err != nil || backup != path+".bak-20261130-120000" {
		t.Fatalf("%q %v", backup, err)
	}
	holds(t, path, "new", 0o640)
	holds(t, backup, "old", 0o640)
	again, err := Save(path, []byte("new"), []byte("newer"), noon) // in the same second
	if err != nil || again != backup+"-2" {
		t.Fatalf("%q %v", again, err)
	}
	holds(t, again, "new", 0o640)
	holds(t, backup, "old", 0o640)

	if _, err := Save(path, []byte("stale"), []byte("x"), noon); err == nil || !strings.Contains(err.Error(), "changed by another program") {
		t.Errorf("a file that changed: %v", err)
	}
	holds(t, path, "newer", 0o640)
	write(t, path, "newer", 0o440)
	if _, err := Save(path, []byte("newer"), []byte("x"), noon); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a read-only file: %v", err)
	}
	os.Chmod(path, 0o640)
	only(t, dir, "c.json", "c.json.bak-20261130-120000", "c.json.bak-20261130-120000-2")
}

func TestSaveNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "c.json")
	if old, err := Load(path); old != nil || err != nil {
		t.Fatalf("%q %v", old, err)
	}
	if backup, err := Save(path, nil, []byte("new"), noon); err != nil || backup != "" {
		t.Fatalf("%q %v", backup, err)
	}
	holds(t, path, "new", 0o600)
	if _, err := Save(path, nil, []byte("other"), noon); err == nil { // somebody made it in between
		t.Error("a file that is there was overwritten")
	}
	holds(t, path, "new", 0o600)
	if old, err := Load(path); string(old) != "new" || err != nil {
		t.Errorf("%q %v", old, err)
	}
}

func TestSaveLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "real", "c.json"), filepath.Join(dir, "c.json")
	os.Mkdir(filepath.Dir(target), 0o755)
	write(t, target, "old", 0o600)
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	backup, err := Save(link, []byte("old"), []byte("new"), noon)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, target, "new", 0o600)
	holds(t, backup, "old", 0o600)
	if to, err := os.Readlink(link); err != nil || to != target {
		t.Errorf("the link leads to %q %v", to, err)
	}
	only(t, dir, "c.json", "real")

	hard := filepath.Join(dir, "hard")
	if err := os.Link(target, hard); err != nil || runtime.GOOS == "windows" {
		t.Skip(err)
	}
	if _, err := Save(hard, []byte("new"), []byte("x"), noon); err == nil || !strings.Contains(err.Error(), "several names") {
		t.Errorf("a file with two names: %v", err)
	}
	os.Remove(target)
	os.Remove(hard)
	if _, err := Load(link); err == nil || !strings.Contains(err.Error(), "link to nothing") {
		t.Errorf("a link to nothing: %v", err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); err == nil {
		t.Error("a folder was read")
	}
	big := filepath.Join(dir, "big")
	write(t, big, strings.Repeat(" ", maxFile+1), 0o600)
	if _, err := Load(big); err == nil || !strings.Contains(err.Error(), "larger than 4 MiB") {
		t.Errorf("a large file: %v", err)
	}
	empty := filepath.Join(dir, "empty")
	write(t, empty, "", 0o600)
	if b, err := Load(empty); b == nil || len(b) > 0 || err != nil { // nil would mean that there is none
		t.Errorf("an empty file: %v %v", b, err)
	}
}

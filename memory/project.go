package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// ProjectScope returns the scope of the project that dir belongs to: the same
// for all worktrees of a git repository and all directories in them, and for a
// directory outside of any the same whatever path leads there.
func ProjectScope(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	place := dir
	for up := dir; ; up = filepath.Dir(up) {
		if common := commonDir(up); common != "" {
			place = common
			break
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	if runtime.GOOS == "windows" {
		place = strings.ToLower(place)
	}
	sum := sha256.Sum256([]byte(place))
	return "p" + hex.EncodeToString(sum[:10])
}

// commonDir returns the directory that all worktrees of a repository share, or
// "" if top is not the top of one. A worktree counts if its repository names
// it: a file alone, which any archive can bring, must not open the memories of
// another project.
func commonDir(top string) string {
	git := filepath.Join(top, ".git")
	fi, err := os.Lstat(git)
	switch {
	case err != nil:
		return ""
	case fi.IsDir():
		return git
	case !fi.Mode().IsRegular():
		return ""
	}
	own, ok := strings.CutPrefix(firstLine(git), "gitdir: ")
	if !ok {
		return ""
	}
	own = from(top, own)
	back, err := filepath.EvalSymlinks(from(own, firstLine(filepath.Join(own, "gitdir"))))
	if err != nil || back != git {
		return ""
	}
	common, err := filepath.EvalSymlinks(from(own, firstLine(filepath.Join(own, "commondir"))))
	if err != nil {
		return ""
	}
	return common
}

func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// firstLine returns the first line of a small file, or "".
func firstLine(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 4096))
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSuffix(line, "\r")
}

//go:build !nopdf

package pdf

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/tetratelabs/wazero"
)

// codeCache keeps the compiled engine on disk: with it a start takes 0.08 s
// and 53 MB instead of 2.4 s and 345 MB. It only saves time: whatever is wrong
// with the folder means that it is done without. The zero value is no cache.
type codeCache struct {
	handle wazero.CompilationCache
	dir    string // holds a folder for each version of wazero
	name   string // of the folder for this version
}

// openCache opens the cache in dir, which is made if needed. Code of an unknown
// version is not kept: nothing would tell it from that of the next.
func openCache(dir, version string) codeCache {
	if dir == "" || version == "" {
		return codeCache{}
	}
	if os.MkdirAll(dir, 0o700) != nil || !private(dir) {
		return codeCache{}
	}
	handle, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return codeCache{}
	}
	c := codeCache{handle, dir, "wazero-" + version + "-" + runtime.GOARCH + "-" + runtime.GOOS}
	if !private(filepath.Join(dir, c.name)) {
		handle.Close(context.Background())
		return codeCache{}
	}
	return c
}

// private reports whether dir is a folder that only its owner, who must be us,
// can change: what lies in it is run.
func private(dir string) bool {
	fi, err := os.Lstat(dir)
	return err == nil && fi.IsDir() && (runtime.GOOS == "windows" || fi.Mode().Perm()&0o077 == 0 && ours(fi))
}

// wazeroVersion returns the version that compiled code belongs to, "" if this
// program does not know.
func wazeroVersion() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, dep := range info.Deps {
		if dep.Path == "github.com/tetratelabs/wazero" {
			return dep.Version
		}
	}
	return ""
}

// empty reports whether nothing is compiled yet.
func (c codeCache) empty() bool {
	if c.handle == nil {
		return true
	}
	entries, _ := os.ReadDir(filepath.Join(c.dir, c.name))
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".tmp") {
			return false
		}
	}
	return true
}

// discard removes what cannot be used.
func (c codeCache) discard() { os.RemoveAll(filepath.Join(c.dir, c.name)) }

// tidy removes what other versions have left.
func (c codeCache) tidy() {
	if c.handle == nil {
		return
	}
	entries, _ := os.ReadDir(c.dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "wazero-") && e.Name() != c.name {
			os.RemoveAll(filepath.Join(c.dir, e.Name()))
		}
	}
}

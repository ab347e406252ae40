// Package clientdir decides which of the folders that a client has open, its
// roots, are the workspace. Begin with [Choose].
//
// It neither asks the client nor opens anything for good.
package clientdir

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// maxRoots is how many folders are taken from a client.
const maxRoots = 64

// Choose returns the roots of the workspace of a client that has the folders
// with these URIs open, and for each that is not used why. With guess the named
// ones are only what it is without a client's; otherwise the client's choose
// among them.
func Choose(uris []string, named []string, guess bool) (dirs, unused []string) {
	for i, uri := range uris {
		if i == maxRoots {
			unused = append(unused, fmt.Sprintf("of the client's %d folders only %d are used", len(uris), maxRoots))
			break
		}
		dir, err := usable(uri)
		if err == nil && !guess {
			if dir = common(dir, named); dir == "" {
				err = errors.New("it is outside of what --root allows")
			}
		}
		if err != nil {
			unused = append(unused, fmt.Sprintf("the client's folder %q is not used: %v", uri, err))
		} else if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		dirs = named
	}
	return dirs, unused
}

// usable returns the folder that a root names, without links.
func usable(uri string) (string, error) {
	path, err := pathOf(uri, runtime.GOOS)
	if err != nil {
		return "", err
	}
	fi, err := os.Stat(path)
	if err != nil || !fi.IsDir() {
		return "", errors.New("it is not a directory here")
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", errors.New("it cannot be opened")
	}
	if filepath.Dir(real) == real {
		return "", errors.New("a whole file system is never a project; open the project's folder")
	}
	if home, err := os.UserHomeDir(); err == nil {
		if h, err := os.Stat(home); err == nil && os.SameFile(h, fi) {
			return "", errors.New("the home directory is never a project; open the project's folder")
		}
	}
	return real, nil
}

// common returns what a folder and those named have in common: the folder
// itself if it lies in one, or the first that lies in it, else "".
func common(dir string, named []string) string {
	for _, n := range named {
		real, err := filepath.EvalSymlinks(n)
		switch {
		case err != nil:
		case within(real, dir):
			return dir
		case within(dir, real):
			return real
		}
	}
	return ""
}

// pathOf returns the path that the URI of a root names on a system.
func pathOf(uri, goos string) (string, error) {
	rest, ok := cutScheme(uri)
	if !ok {
		return "", errors.New("it is not a file:// URI")
	}
	if strings.ContainsAny(rest, "?#") {
		return "", errors.New("it is not the URI of a folder; ? and # in a name are written %3F and %23")
	}
	host, path, _ := strings.Cut(rest, "/")
	host, err1 := url.PathUnescape(host)
	path, err2 := url.PathUnescape("/" + path)
	if err1 != nil || err2 != nil || strings.ContainsRune(path, 0) {
		return "", errors.New("its percent-encoding is wrong")
	}
	if strings.EqualFold(host, "localhost") {
		host = ""
	}
	if goos != "windows" {
		if host != "" {
			return "", errors.New("it is on another machine")
		}
		return path, nil
	}
	switch drive := strings.TrimPrefix(path, "/"); {
	case isDrive(host): // file://C:/x, which some clients write
		path = host + path
	case host != "":
		path = "//" + host + path
	case strings.HasPrefix(path, "//"): // file:////server/share, likewise
	case len(drive) >= 2 && isDrive(drive[:2]):
		path = drive
	default:
		return "", errors.New("it names no drive")
	}
	if len(path) == 2 {
		path += "/"
	}
	return strings.ReplaceAll(path, "/", `\`), nil
}

func cutScheme(uri string) (rest string, ok bool) {
	const scheme = "file://"
	if len(uri) < len(scheme) || !strings.EqualFold(uri[:len(scheme)], scheme) {
		return "", false
	}
	return uri[len(scheme):], true
}

// isDrive reports whether s is a letter and a colon.
func isDrive(s string) bool {
	return len(s) == 2 && s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z' && s[1] == ':'
}

func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

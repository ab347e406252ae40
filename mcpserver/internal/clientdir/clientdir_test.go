package clientdir

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestPathOf(t *testing.T) {
	for _, test := range []struct{ uri, unix, windows string }{
		{"file:///home/ann/my%20site", "/home/ann/my site", ""},
		{"FILE://localhost/home/%C3%A4", "/home/ä", ""},
		{"file:///a/c%23/100%25", "/a/c#/100%", ""},
		{"file:///c:/x/y", "/c:/x/y", `c:\x\y`},
		{"file:///C%3A/Users/a%20b", "/C:/Users/a b", `C:\Users\a b`},
		{"file:///C:", "/C:", `C:\`},
		{"file://C:/x", "", `C:\x`},
		{"file://server/share/x", "", `\\server\share\x`},
		{"file:////server/share/x", "//server/share/x", `\\server\share\x`},
		{"file:///a#b", "", ""},
		{"file:///a?b", "", ""},
		{"file:///a%0", "", ""},
		{"file:///a%00", "", ""},
		{"https://a/b", "", ""},
		{"/home/ann", "", ""},
		{"", "", ""},
	} {
		for goos, want := range map[string]string{"linux": test.unix, "windows": test.windows} {
			got, err := pathOf(test.uri, goos)
			if got != want || (err == nil) != (want != "") {
				t.Errorf("%s on %s: %q %v; want %q", test.uri, goos, got, err, want)
			}
		}
	}
}

func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// With named roots the client's choose among them; without they are the
// workspace, but for what nobody means to hand over.
func TestChoose(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"named/sub", "cwd", "free", "home/project"} {
		os.MkdirAll(filepath.Join(dir, d), 0o777)
	}
	os.WriteFile(filepath.Join(dir, "file"), nil, 0o666)
	os.Symlink(filepath.Join(dir, "home"), filepath.Join(dir, "homelink"))
	os.Symlink(filepath.Join(dir, "free"), filepath.Join(dir, "named/escape"))
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("USERPROFILE", filepath.Join(dir, "home"))
	top := filepath.VolumeName(dir) + string(filepath.Separator)
	for _, test := range []struct {
		guessed bool
		client  string
		want    string
		unused  string // a part of each message
	}{
		{true, "free", "free", ""},
		{true, "free home/project free", "free home/project", ""},
		{true, "", "cwd", ""},
		{true, "home", "cwd", "the home directory is never a project"},
		{true, "homelink", "cwd", "the home directory is never a project"},
		{true, top, "cwd", "a whole file system is never a project"},
		{true, "missing file", "cwd", "it is not a directory here"},
		{true, "missing free", "free", "it is not a directory here"},
		{false, "named", "named", ""},
		{false, "named/sub", "named/sub", ""},
		{false, ".", "named", ""}, // the folder around: what the user has named of it
		{false, "free", "named", "it is outside of what --root allows"},
		{false, "named/escape", "named", "it is outside of what --root allows"},
		{false, "free named/sub", "named/sub", "it is outside of what --root allows"},
		{false, "", "named", ""},
	} {
		named := filepath.Join(dir, map[bool]string{true: "cwd", false: "named"}[test.guessed])
		var list []string
		for name := range strings.FieldsSeq(test.client) {
			if !filepath.IsAbs(name) {
				name = filepath.Join(dir, name)
			}
			list = append(list, fileURI(name))
		}
		var want []string
		for name := range strings.FieldsSeq(test.want) {
			want = append(want, filepath.Join(dir, name))
		}
		got, unused := Choose(list, []string{named}, test.guessed)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: %q", test, got)
		}
		for _, u := range unused {
			if test.unused == "" || !strings.Contains(u, test.unused) {
				t.Errorf("%+v: %s", test, u)
			}
		}
		if test.unused != "" && len(unused) == 0 {
			t.Errorf("%+v: nothing is told", test)
		}
	}
	many := make([]string, maxRoots+5)
	for i := range many {
		name := filepath.Join(dir, "free", fmt.Sprint(i))
		os.Mkdir(name, 0o777)
		many[i] = fileURI(name)
	}
	if got, unused := Choose(many, nil, true); len(got) != maxRoots || len(unused) != 1 {
		t.Errorf("%d roots, %q", len(got), unused)
	}
}

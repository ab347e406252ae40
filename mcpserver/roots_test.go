package mcpserver

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

const rootsCaps = `{"roots": {"listChanged": true}}`

func rootsAnswer(dirs ...string) map[string]any {
	list := []any{}
	for _, d := range dirs {
		list = append(list, map[string]any{"uri": fileURI(d)})
	}
	return map[string]any{"roots": list}
}

// The roots are asked for once after the handshake, in time for the first
// call, and again when they have changed; never from a client that has none,
// and never of one that has declared them for itself alone in a later era.
func TestClientRoots(t *testing.T) {
	guess := func(c *Config, dir string) {
		c.Guessed = true
		for _, d := range []string{"a", "b"} {
			os.Mkdir(filepath.Join(dir, d), 0o777)
			os.WriteFile(filepath.Join(dir, d, "only_"+d), nil, 0o666)
		}
	}
	glob := func(c *caller) string { return c.round("Glob", `{"pattern": "only*"}`, "", nil).text() }
	c := connect(t, "2025-11-25", rootsCaps, guess)
	if got := glob(c); !strings.Contains(got, "a/only_a") || !strings.Contains(got, "b/only_b") { // it refuses: what the session began with
		t.Errorf("%q", got)
	}
	c.replyWith("roots/list", rootsAnswer(filepath.Join(c.dir, "a")))
	c.Notify("notifications/roots/list_changed", nil)
	if got := glob(c); !strings.HasPrefix(got, "only_a") || strings.Contains(got, "only_b") {
		t.Errorf("%q", got)
	}
	glob(c)
	c.replyWith("roots/list", rootsAnswer(filepath.Join(c.dir, "b")))
	c.Notify("notifications/roots/list_changed", nil)
	if got := glob(c); !strings.HasPrefix(got, "only_b") {
		t.Errorf("%q", got)
	}
	if len(c.asked) != 3 {
		t.Errorf("asked %q", c.asked)
	}
	for _, era := range []string{"2025-11-25", "2026-07-28"} {
		caps := map[bool]string{true: rootsCaps, false: `{}`}[era == "2026-07-28"]
		c := connect(t, era, caps, guess)
		c.replyWith("roots/list", rootsAnswer(filepath.Join(c.dir, "a")))
		c.Notify("notifications/roots/list_changed", nil)
		if glob(c); len(c.asked) != 0 {
			t.Errorf("%s: asked %q", era, c.asked)
		}
	}
}

// A call waits two seconds for a client that does not say its roots, and the
// session ends without waiting for it.
func TestSlowRoots(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, "2025-11-25", rootsCaps, func(cfg *Config, _ string) {
			cfg.Guessed, cfg.Workspace.Roots, cfg.Workspace.State = true, []string{dir}, ""
		})
		c.replyWith("roots/list", nil)
		c.Notify("notifications/roots/list_changed", nil)
		begin := time.Now()
		if o := c.round("Glob", `{"pattern": "*"}`, "", nil); o.IsError || time.Since(begin) != rootsPatience {
			t.Errorf("%v: %+v", time.Since(begin), o)
		}
	})
}

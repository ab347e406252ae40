package clients

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// odd needs every kind of quoting there is.
const odd = `/opt/ä "x"\n'/#: {b}/ferrule`

// wanted is each client's file as its maker describes it: what the reader of
// the format must find. ARGS, CMD and ARGV stand for what changes.
var wanted = map[string]struct{ stdio, http string }{
	"claude-code": {
		`{"mcpServers": {"f": {"type": "stdio", "command": CMD, "args": ["-x", CMD]}}}`,
		`{"mcpServers": {"f": {"type": "http", "url": "http://h/mcp", "headers": {"Authorization": "Bearer ${FERRULE_TOKEN}"}}}}`,
	},
	"claude-desktop": {stdio: `{"mcpServers": {"f": {"command": CMD, "args": ["-x", CMD]}}}`},
	"cursor": {
		`{"mcpServers": {"f": {"type": "stdio", "command": CMD, "args": ["-x", CMD]}}}`,
		`{"mcpServers": {"f": {"url": "http://h/mcp", "headers": {"Authorization": "Bearer ${env:FERRULE_TOKEN}"}}}}`,
	},
	"vscode": {
		`{"servers": {"f": {"type": "stdio", "command": CMD, "args": ["-x", CMD]}}}`,
		`{"servers": {"f": {"type": "http", "url": "http://h/mcp", "headers": {"Authorization": "Bearer ${env:FERRULE_TOKEN}"}}}}`,
	},
	"copilot-cli": {
		`{"mcpServers": {"f": {"type": "stdio", "command": CMD, "args": ["-x", CMD], "tools": ["*"]}}}`,
		`{"mcpServers": {"f": {"type": "http", "url": "http://h/mcp", "headers": {"Authorization": "Bearer ${FERRULE_TOKEN}"}, "tools": ["*"]}}}`,
	},
	"visual-studio": {
		`{"servers": {"f": {"type": "stdio", "command": CMD, "args": ["-x", CMD]}}}`,
		`{"servers": {"f": {"type": "http", "url": "http://h/mcp", "headers": {"Authorization": "Bearer s3cret"}}}}`,
	},
	"zed": {
		`{"context_servers": {"f": {"command": CMD, "args": ["-x", CMD]}}}`,
		`{"context_servers": {"f": {"url": "http://h/mcp", "headers": {"Authorization": "Bearer s3cret"}}}}`,
	},
	"windsurf": {
		`{"mcpServers": {"f": {"command": CMD, "args": ["-x", CMD]}}}`,
		`{"mcpServers": {"f": {"url": "http://h/mcp", "transport": "http", "headers": {"Authorization": "Bearer ${env:FERRULE_TOKEN}"}}}}`,
	},
	"windsurf-1": {
		`{"mcpServers": {"f": {"command": CMD, "args": ["-x", CMD]}}}`,
		`{"mcpServers": {"f": {"serverUrl": "http://h/mcp", "headers": {"Authorization": "Bearer ${env:FERRULE_TOKEN}"}}}}`,
	},
	"cline": {
		`{"mcpServers": {"f": {"command": CMD, "args": ["-x", CMD], "disabled": false, "autoApprove": []}}}`,
		`{"mcpServers": {"f": {"type": "streamableHttp", "url": "http://h/mcp", "headers": {"Authorization": "Bearer s3cret"}, "disabled": false, "autoApprove": []}}}`,
	},
	"continue": {
		`{"name": "f", "version": "0.0.1", "schema": "v1", "mcpServers": [{"name": "f", "type": "stdio", "command": CMD, "args": ["-x", CMD]}]}`,
		`{"name": "f", "version": "0.0.1", "schema": "v1", "mcpServers": [{"name": "f", "type": "streamable-http", "url": "http://h/mcp",
			"requestOptions": {"headers": {"Authorization": "Bearer ${{ secrets.FERRULE_TOKEN }}"}}}]}`,
	},
	"gemini": {
		`{"mcpServers": {"f": {"command": CMD, "args": ["-x", CMD], "timeout": 630000}}}`,
		`{"mcpServers": {"f": {"httpUrl": "http://h/mcp", "headers": {"Authorization": "Bearer ${FERRULE_TOKEN}"}, "timeout": 630000}}}`,
	},
	"codex": {
		`{"mcp_servers": {"f": {"command": CMD, "args": ["-x", CMD], "tool_timeout_sec": 630}}}`,
		`{"mcp_servers": {"f": {"url": "http://h/mcp", "bearer_token_env_var": "FERRULE_TOKEN", "tool_timeout_sec": 630}}}`,
	},
	"opencode": {
		`{"mcp": {"servers": {"f": {"type": "local", "command": [CMD, "-x", CMD]}}}}`,
		`{"mcp": {"servers": {"f": {"type": "remote", "url": "http://h/mcp", "headers": {"Authorization": "Bearer {env:FERRULE_TOKEN}"}}}}}`,
	},
	"opencode-1": {
		`{"mcp": {"f": {"type": "local", "command": [CMD, "-x", CMD], "enabled": true}}}`,
		`{"mcp": {"f": {"type": "remote", "url": "http://h/mcp", "headers": {"Authorization": "Bearer {env:FERRULE_TOKEN}"}, "enabled": true}}}`,
	},
	"goose": {
		`{"extensions": {"f": {"enabled": true, "type": "stdio", "name": "f", "cmd": CMD, "args": ["-x", CMD], "timeout": 630}}}`,
		`{"extensions": {"f": {"enabled": true, "type": "streamable_http", "name": "f", "uri": "http://h/mcp",
			"headers": {"Authorization": "Bearer ${FERRULE_TOKEN}"}, "env_keys": ["FERRULE_TOKEN"], "timeout": 630}}}`,
	},
	"lm-studio": {
		`{"mcpServers": {"f": {"command": CMD, "args": ["-x", CMD]}}}`,
		`{"mcpServers": {"f": {"url": "http://h/mcp", "headers": {"Authorization": "Bearer s3cret"}}}}`,
	},
	"trae": {
		`{"mcpServers": {"f": {"command": CMD, "args": ["-x", CMD]}}}`,
		`{"mcpServers": {"f": {"url": "http://h/mcp", "headers": {"Authorization": "Bearer s3cret"}}}}`,
	},
	"cherry-studio": {
		`{"mcpServers": {"f": {"type": "stdio", "command": CMD, "args": ["-x", CMD]}}}`,
		`{"mcpServers": {"f": {"type": "streamableHttp", "url": "http://h/mcp", "headers": {"Authorization": "Bearer s3cret"}}}}`,
	},
	"jetbrains": {
		`{"mcpServers": {"f": {"command": CMD, "args": ["-x", CMD]}}}`,
		`{"mcpServers": {"f": {"url": "http://h/mcp", "headers": {"Authorization": "Bearer s3cret"}}}}`,
	},
}

// TestSnippets reads each client's snippet back with a reader of its format.
func TestSnippets(t *testing.T) {
	for _, c := range All() {
		w, ok := wanted[c.Name]
		if !ok {
			t.Errorf("%s is not tested", c.Name)
		}
		check := func(s Server, want string) {
			t.Helper()
			q, _ := json.Marshal(s.Command)
			snippet := c.Snippet(s)
			got, want2 := foreignRead(t, c, snippet), foreignRead(t, Client{}, strings.ReplaceAll(want, "CMD", string(q)))
			if !reflect.DeepEqual(got, want2) {
				t.Errorf("%s:\n%s\nreads as %v\nwant     %v", c.Name, snippet, got, want2)
			}
		}
		path := odd
		if c.oneWord {
			path = strings.ReplaceAll(odd, " ", "_")
		}
		check(Server{Name: "f", Command: path, Args: []string{"-x", path}}, w.stdio)
		remote := Server{Name: "f", URL: "http://h/mcp", Token: "s3cret"}
		if err := c.Check(remote); (err == nil) != (w.http != "") {
			t.Errorf("%s: remote form: %v", c.Name, err)
		}
		if w.http != "" {
			check(remote, w.http)
		}
	}
}

// foreignRead parses with the strict reader of the format (encoding/json: no
// comments, no trailing commas), and gives numbers one type.
func foreignRead(t *testing.T, c Client, text string) (v any) {
	t.Helper()
	var err error
	switch c.layout.format {
	case formatTOML:
		err = toml.Unmarshal([]byte(text), &v)
	case formatYAML:
		err = yaml.Unmarshal([]byte(text), &v)
	default:
		err = json.Unmarshal([]byte(text), &v)
	}
	if err != nil {
		t.Fatalf("%s: %v:\n%s", c.Name, err, text)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var same any
	json.Unmarshal(b, &same)
	return same
}

// TestStrings: what is quoted reads as what it was, in all three formats.
func TestStrings(t *testing.T) {
	for _, s := range []string{
		"", "a", "true", "No", "null", "1", "1.5", "-", "--root", "~", "a: b", "a #b", "#", "'", `"`, `\`, `C:\Users\x y\ferrule.exe`,
		"ä€😀", "\u2028", "\u0085", "\u007f", "\ufeff", "\t\r\n", "\x01", "a\nb", " a ", "@x", "%x", "{x}", "[x]", "<&>", "=", "2026-01-01",
	} {
		for _, f := range []format{formatJSON, formatTOML, formatYAML} {
			c := Client{layout: layout{format: f, container: []string{"k"}}, stdio: plainStdio}
			text := c.Snippet(Server{Name: "f", Command: s, Args: []string{s}, Env: map[string]string{"X": s}})
			want := map[string]any{"k": map[string]any{"f": map[string]any{"command": s, "args": []any{s}, "env": map[string]any{"X": s}}}}
			if got := foreignRead(t, c, text); !reflect.DeepEqual(got, want) {
				t.Errorf("format %d: %q reads as %v:\n%s", f, s, got, text)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	find := func(name string) Client { c, _ := Find(name); return c }
	for _, tt := range []struct {
		client string
		s      Server
		want   string
	}{
		{"cursor", Server{Name: "a b", Command: "/f"}, "name"},
		{"cursor", Server{Name: "", Command: "/f"}, "name"},
		{"cursor", Server{Name: "a.b", Command: "/f"}, "name"},
		{"cursor", Server{Name: "f", Command: "/\xff"}, "not valid text"},
		{"cursor", Server{Name: "f", Command: "/f", Args: []string{"a\x00"}}, "not valid text"},
		{"trae", Server{Name: "f", Command: "/a b/f"}, "space"},
		{"claude-desktop", Server{Name: "f", URL: "http://h"}, "leave --http out"},
		{"cursor", Server{Name: "f-1_X", Command: "/a b/f"}, ""},
	} {
		err := find(tt.client).Check(tt.s)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %+v: %v, want %q", tt.client, tt.s, err, tt.want)
		}
	}
	if _, err := Find("emacs"); err == nil || !strings.Contains(err.Error(), "claude-code, claude-desktop") {
		t.Errorf("unknown client: %v", err)
	}
}

func TestArgs(t *testing.T) {
	find := func(name string) Client { c, _ := Find(name); return c }
	for _, tt := range []struct {
		client  string
		project bool
		dir     string
		flags   string
		rooted  bool
		want    string
	}{
		{"claude-code", true, "/p", "", false, ""},
		{"cursor", true, "/p", "", false, "--root ${workspaceFolder}"},
		{"cursor", false, "/p", "", false, ""}, // there the folder would be that of the file
		{"vscode", false, "/p", "--read-only", false, "--root ${workspaceFolder} --read-only"},
		{"vscode", true, "/p", "--root /q", true, "--root /q"},
		{"claude-desktop", false, "/p", "", false, "--root /p --permission host"},
		{"claude-desktop", false, "/p", "--permission ask", false, "--root /p --permission ask"},
		{"gemini", false, "", "", false, "--permission host"},
		{"codex", false, "", "", false, ""},
		{"claude-desktop", false, "", "", false, "ERROR"},
		{"claude-desktop", false, "", "--root /q", true, "--root /q --permission host"},
	} {
		got, err := find(tt.client).Args(tt.project, tt.dir, strings.Fields(tt.flags), tt.rooted)
		if err != nil {
			got = []string{"ERROR"}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%+v: %q %v", tt, got, err)
		}
	}
}

func TestFiles(t *testing.T) {
	vars := map[string]string{"APPDATA": "C:/Users/u/AppData/Roaming"}
	for _, tt := range []struct{ client, system, want string }{
		{"claude-desktop", "linux", "/h/.config/Claude/claude_desktop_config.json"},
		{"claude-desktop", "darwin", "/h/Library/Application Support/Claude/claude_desktop_config.json"},
		{"claude-desktop", "windows", "C:/Users/u/AppData/Roaming/Claude/claude_desktop_config.json"},
		{"claude-code", "linux", "/h/.claude.json"},
		{"vscode", "darwin", "/h/Library/Application Support/Code/User/mcp.json"},
		{"zed", "windows", "C:/Users/u/AppData/Roaming/Zed/settings.json"},
		{"goose", "windows", "C:/Users/u/AppData/Roaming/Block/goose/config/config.yaml"},
		{"codex", "windows", "/h/.codex/config.toml"},
	} {
		c, _ := Find(tt.client)
		m := Machine{OS: tt.system, Home: "/h", Getenv: func(k string) string { return vars[k] }}
		if got, err := c.File(m, "/p", "f", false); err != nil || slash(got) != tt.want {
			t.Errorf("%s on %s: %s %v, want %s", tt.client, tt.system, got, err, tt.want)
		}
	}
	m := Machine{OS: "linux", Home: "/h", Getenv: func(k string) string {
		return map[string]string{"XDG_CONFIG_HOME": "/x", "CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": "/d"}[k]
	}}
	for client, want := range map[string]string{
		"codex": "/c/config.toml", "goose": "/x/goose/config.yaml", "claude-code": "/d/.claude.json", "opencode": "/x/opencode/opencode.json",
	} {
		c, _ := Find(client)
		if got := c.GlobalFile(m); slash(got) != want {
			t.Errorf("%s: %s, want %s", client, got, want)
		}
	}
	for _, tt := range []struct {
		client  string
		project bool
		dir     string
	}{{"jetbrains", false, "/p"}, {"goose", true, "/p"}, {"trae", false, "/p"}, {"cursor", true, ""}} {
		c, _ := Find(tt.client)
		if got, err := c.File(m, tt.dir, "f", tt.project); err == nil {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

func slash(p string) string { return strings.ReplaceAll(p, `\`, "/") }

package clients

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

var (
	small  = Server{Name: "f", Command: "/f"}
	likeCC = Client{Name: "x", Title: "X", layout: mcpServers, stdio: plainStdio, http: plainHTTP}
)

// TestMergeJSON: what is between « and » is new, all else must stay.
func TestMergeJSON(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"other servers", "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\"}«,»«\n    \"f\": {\n      \"command\": \"/f\"\n    }»\n  }\n}\n"},
		{"tabs", "{\n\t\"x\": 1,\n\t\"mcpServers\": {\n\t\t\"a\": {}«,»«\n\t\t\"f\": {\n\t\t\t\"command\": \"/f\"\n\t\t}»\n\t}\n}\n"},
		{"four spaces, key missing", "{\n    \"x\": 1«,»«\n    \"mcpServers\": {\n        \"f\": {\n            \"command\": \"/f\"\n        }\n    }»\n}"},
		{"CRLF", "{\r\n  \"x\": 1«,»«\r\n  \"mcpServers\": {\r\n    \"f\": {\r\n      \"command\": \"/f\"\r\n    }\r\n  }»\r\n}\r\n"},
		{"BOM", "\ufeff{\n  \"x\": 1«,»«\n  \"mcpServers\": {\n    \"f\": {\n      \"command\": \"/f\"\n    }\n  }»\n}\n"},
		{"comments", "// head\n{\n  // one\n  \"x\": 1«,» // two\n  /* three */«\n  \"mcpServers\": {\n    \"f\": {\n      \"command\": \"/f\"\n    }\n  }»\n  }\n// foot\n"},
		{"trailing comma", "{\n  \"mcpServers\": {\n    \"a\": {}, // c«\n    \"f\": {\n      \"command\": \"/f\"\n    },»\n  },\n}\n"},
		{"one line", `{"mcpServers": {"a": {"command": "a"}«, "f": {"command": "/f"}»}}`},
		{"one line, trailing comma", `{"mcpServers": {"a": {},« "f": {"command": "/f"},»}}`},
		{"one line, comment", `{"mcpServers": {"a": {} /* c */«, "f": {"command": "/f"}»}}`},
		{"no members", "{\n  \"mcpServers\": {«\n    \"f\": {\n      \"command\": \"/f\"\n    }\n  »}\n}\n"},
		{"only a comment", "{\n  \"mcpServers\": { // c«\n    \"f\": {\n      \"command\": \"/f\"\n    }»\n  }\n}\n"},
		{"empty object", "{«\n  \"mcpServers\": {\n    \"f\": {\n      \"command\": \"/f\"\n    }\n  }\n»}"},
		{"last on the brace's line", "{ \"a\": 1,\n  \"b\": 2«,»«\n\"mcpServers\": {\n  \"f\": {\n    \"command\": \"/f\"\n  }\n}» }"},
		{"escaped key", "{\"mcpS\\u0065rvers\": {\"a\": {}«, \"f\": {\"command\": \"/f\"}»}}"},
		{"key in a string", "{\"x\": \"mcpServers\"«, \"mcpServers\": {\"f\": {\"command\": \"/f\"}}»}"},
		{"duplicate elsewhere", "{\"x\": 1, \"x\": 2«, \"mcpServers\": {\"f\": {\"command\": \"/f\"}}»}"},
		{"big numbers and escapes", "{\"x\": 123456789012345678901234567890, \"y\": 1.0e+2, \"z\": \"\\/\\u00e4\"«, \"mcpServers\": {\"f\": {\"command\": \"/f\"}}»}"},
	} {
		t.Run(tt.name, func(t *testing.T) { inserted(t, likeCC, tt.want) })
	}
	for name, tt := range map[string]struct{ old, want string }{
		"missing or empty file": {"", "{\n  \"mcpServers\": {\n    \"f\": {\n      \"command\": \"/f\"\n    }\n  }\n}\n"},
		"white space":           {" \n", "{\n  \"mcpServers\": {\n    \"f\": {\n      \"command\": \"/f\"\n    }\n  }\n}\n"},
		"only a BOM":            {"\ufeff", "\ufeff{\n  \"mcpServers\": {\n    \"f\": {\n      \"command\": \"/f\"\n    }\n  }\n}\n"},
		"null":                  {"null\n", "{\n  \"mcpServers\": {\n    \"f\": {\n      \"command\": \"/f\"\n    }\n  }\n}\n"},
		"null inside":           {"{\n \"mcpServers\": null, // c\n \"x\": 1\n}", "{\n \"mcpServers\": {\n  \"f\": {\n   \"command\": \"/f\"\n  }\n }, // c\n \"x\": 1\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			if ch, err := likeCC.Merge([]byte(tt.old), small, false); err != nil || string(ch.New) != tt.want {
				t.Errorf("%q\nbecame %q %v\nwant   %q", tt.old, ch.New, err, tt.want)
			}
		})
	}
}

// inserted merges into want without its «parts».
func inserted(t *testing.T, c Client, want string) {
	t.Helper()
	old := want
	for strings.Contains(old, "«") {
		before, rest, _ := strings.Cut(old, "«")
		_, after, _ := strings.Cut(rest, "»")
		old = before + after
	}
	want = strings.NewReplacer("«", "", "»", "").Replace(want)
	ch, err := c.Merge([]byte(old), small, false)
	if err != nil || string(ch.New) != want {
		t.Fatalf("%q\nbecame %q %v\nwant   %q", old, ch.New, err, want)
	}
	again, err := c.Merge(ch.New, small, false)
	if err != nil || again.New != nil {
		t.Errorf("a second time: %q %v", again.New, err)
	}
}

func TestMergeTOML(t *testing.T) {
	codex, _ := Find("codex")
	for _, want := range []string{
		"model = \"x\" # c\n\n[mcp_servers.a]\ncommand = \"a\" # d\n# e\n«\n[mcp_servers.f]\ncommand = \"/f\"\ntool_timeout_sec = 630\n»",
		"model = \"x\"«\n\n[mcp_servers.f]\ncommand = \"/f\"\ntool_timeout_sec = 630\n»",
		"x = 1\r\n«\r\n[mcp_servers.f]\r\ncommand = \"/f\"\r\ntool_timeout_sec = 630\r\n»",
		"\ufeffx = \"\"\"\n[mcp_servers.f]\n\"\"\"\n«\n[mcp_servers.f]\ncommand = \"/f\"\ntool_timeout_sec = 630\n»",
		"[mcp_servers]\n«\n[mcp_servers.f]\ncommand = \"/f\"\ntool_timeout_sec = 630\n»",
		"# only a comment\n«\n[mcp_servers.f]\ncommand = \"/f\"\ntool_timeout_sec = 630\n»",
	} {
		inserted(t, codex, want)
	}
	old := "a = 1\n# mine\n[ mcp_servers . \"f\" ] # c\ncommand = \"old\"\n[mcp_servers.f.env]\nX = \"1\"\n\n# next\n[b]\nc = 2\n"
	want := "a = 1\n# mine\n[mcp_servers.f]\ncommand = \"/f\"\ntool_timeout_sec = 630\n\n# next\n[b]\nc = 2\n"
	replaced(t, codex, old, want)
	replaced(t, codex, "[mcp_servers.f]\ncommand=\"x\"", "[mcp_servers.f]\ncommand = \"/f\"\ntool_timeout_sec = 630")
	refused(t, codex, map[string]string{
		"mcp_servers = {a = {command = \"a\"}}\n":                             "by hand",
		"mcp_servers.f.command = \"a\"\n":                                     "by hand",
		"[mcp_servers]\nf = {command = \"a\"}\n":                              "by hand",
		"[mcp_servers.f]\ncommand=\"a\"\n[z]\n[mcp_servers.f.env]\nA=\"b\"\n": "several places",
		"[[mcp_servers]]\ncommand=\"a\"\n":                                    "by hand",
		"a = 1\nb = \n":                                                       "line 2, column",
		"a = 1\na = 2\n":                                                      "line 2, column 1",
		"[mcp_servers.a]\nx=1\n[mcp_servers.a]\nx=2\n":                        "line 3, column",
		"a = \"\xff\"\n":                                                      "line 1, column",
		"a = " + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + "\n": "deep",
	})
}

func TestMergeYAML(t *testing.T) {
	goose, _ := Find("goose")
	cont, _ := Find("continue")
	entry := func(indent string) string {
		return strings.ReplaceAll("f:\n  enabled: true\n  type: stdio\n  name: f\n  cmd: /f\n  timeout: 630\n", "\n  ", "\n"+indent+"  ")
	}
	for _, want := range []string{
		"# head\nx: 1 # c\n\nextensions: # d\n«  " + entry("  ") + "»  # e\n  a:\n    enabled: false # g\n# foot\n",
		"extensions:\n«    " + entry("    ") + "»    a: {}\ny: |\n  # text\n  f:\n",
		"x: 1«\nextensions:\n  " + entry("  ") + "»",
		"x: |+\n  t\n\n«extensions:\n  " + entry("  ") + "»",
		"extensions: # none yet\n«  " + entry("  ") + "»# y\nz: 1\n",
		"---\n# c\nx: &a [1, 2]\ny: *a\n«extensions:\n  " + entry("  ") + "»",
		"\ufeff# only a comment\n«extensions:\n  " + entry("  ") + "»",
		"x: 1\r\nextensions:\r\n«" + strings.ReplaceAll("  "+entry("  "), "\n", "\r\n") + "»  a:\r\n    cmd: x\r\n",
	} {
		inserted(t, goose, want)
	}
	item := "- name: f\n    type: stdio\n    command: /f\n"
	for _, want := range []string{
		"name: c\nmcpServers:\n«  " + item + "»  - name: a # c\n    command: a\n",
		"mcpServers:\n«" + strings.ReplaceAll(item, "\n    ", "\n  ") + "»- name: a\n  command: a\nmodels: []\n",
		"name: c\n«mcpServers:\n  " + item + "»",
	} {
		inserted(t, cont, want)
	}
	if ch, err := cont.Merge([]byte("a: 1\nmcpServers: [] # c\nb: 2\n"), small, false); err != nil ||
		string(ch.New) != "a: 1\nmcpServers:\n  - name: f\n    type: stdio\n    command: /f # c\nb: 2\n" {
		t.Errorf("empty list: %q %v", ch.New, err)
	}
	replaced(t, goose, "extensions:\n  a: {}\n  # mine\n  f:\n    cmd: old\n    envs:\n      A: b\n\n  # next\n  z: {}\n",
		"extensions:\n  a: {}\n  # mine\n  "+entry("  ")+"\n  # next\n  z: {}\n")
	replaced(t, cont, "mcpServers:\n- name: a\n- command: x\n  name: f\n- name: z\n",
		"mcpServers:\n- name: a\n- name: f\n  type: stdio\n  command: /f\n- name: z\n")
	refused(t, goose, map[string]string{
		"extensions: {a: {cmd: x}}\n":            "line 1, column 13",
		"{extensions: {}}\n":                     "line 1, column 1",
		"- a\n":                                  "line 1, column 1",
		"extensions: text\n":                     "line 1, column 13",
		"extensions:\n- a\n":                     "line 2, column 1",
		"a: &x {b: 1}\nextensions: *x\n":         "by hand",
		"a: 1\na: 2\n":                           "line 2",
		"a: [\n":                                 "line",
		"\tb: 1\n":                               "not YAML",
		"a: 1\n---\nb: 2\n":                      "several YAML documents",
		"extensions:\r  a: {}\r":                 "by hand",
		"a: \"\xff\"\n":                          "not YAML",
		"a: 1\n...\n":                            "by hand",
		"text\n":                                 "line 1, column 1",
		"? extensions\n: f: {cmd: x}\n  g: {}\n": "by hand",
	})
}

func replaced(t *testing.T, c Client, old, want string) {
	t.Helper()
	_, err := c.Merge([]byte(old), small, false)
	if conflict := (*Conflict)(nil); !errors.As(err, &conflict) || !strings.HasPrefix(conflict.Diff, "- ") || !strings.Contains(conflict.Diff, "\n+ ") {
		t.Errorf("%q without force: %v", old, err)
	}
	ch, err := c.Merge([]byte(old), small, true)
	if err != nil || string(ch.New) != want || ch.Diff == "" {
		t.Errorf("%q\nbecame %q %v\nwant   %q", old, ch.New, err, want)
	}
}

func refused(t *testing.T, c Client, files map[string]string) {
	t.Helper()
	for old, want := range files {
		ch, err := c.Merge([]byte(old), small, true)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %q %v, want an error with %q", old, ch.New, err, want)
		}
	}
}

func TestRefuseJSON(t *testing.T) {
	refused(t, likeCC, map[string]string{
		"[]":                         "line 1, column 1: an object must stand there",
		"\n \"x\"":                   "line 2, column 2: an object",
		"{\n  \"mcpServers\": []\n}": "line 2, column 17: an object must stand there to hold \"f\"",
		"{\n  \"mcpServers\": 7\n}":  "line 2, column 17",
		"{\n  \"a\": }":              "line 2, column 8",
		"{\"a\": 1":                  "line 1, column 8",
		"{\"a\": 1} x":               "line 1, column 10",
		"// only a comment\n":        "line 2, column 1",
		"{\"mcpServers\": {}, \n \"mcpServers\": {}}": "line 2, column 2: the key \"mcpServers\" stands here a second time",
		"{\"mcpServers\": {\"f\": {}, \"f\": {}}}":    "column 26: the key \"f\"",
		"\xff\xfe{\x00}\x00":                          "line 1, column 1",
		strings.Repeat("[", 5000):                     "deep",
		"{'a': 1}":                                    "line 1, column 2",
		"{\"a\": 1}\n{\"b\": 2}":                      "line 2, column 1",
	})
	opencode, _ := Find("opencode")
	older, _ := Find("opencode-1")
	refused(t, opencode, map[string]string{`{"mcp": {"a": {"type": "local"}}}`: "opencode-1"})
	refused(t, older, map[string]string{`{"mcp": {"servers": {}}}`: "use opencode for"})
	if _, err := older.Merge([]byte(`{"mcp": {"servers": {"type": "local"}}}`), small, false); err != nil {
		t.Errorf("a server called servers: %v", err)
	}
}

func TestReplaceJSON(t *testing.T) {
	old := "{\n  \"mcpServers\": {\n    // mine\n    \"f\": {\"command\": \"old\", \"env\": {\"TOKEN\": \"Bearer abcdefghijkl\"}}, // c\n    \"z\": {}\n  }\n}"
	replaced(t, likeCC, old, "{\n  \"mcpServers\": {\n    // mine\n    \"f\": {\n      \"command\": \"/f\"\n    }, // c\n    \"z\": {}\n  }\n}")
	_, err := likeCC.Merge([]byte(old), small, false)
	if conflict := (*Conflict)(nil); !errors.As(err, &conflict) || strings.Contains(conflict.Diff, "abcdefghijkl") {
		t.Errorf("the difference shows a token: %v", conflict.Diff)
	}
	for entry, right := range map[string]bool{
		`{"command": "/f"}`:                                    true,
		`{"command": "/f", "args": []}`:                        true,
		`{"type": "stdio", "command": "/f", "env": {"A":"b"}}`: true, // what the user added stays
		`{"command": "/f", "args": ["--read-only"]}`:           false,
		`{"command": "/f", "url": "http://x"}`:                 false,
		`{"command": "/F"}`:                                    false,
		`{"args": []}`:                                         false,
		`null`:                                                 false,
		`"/f"`:                                                 false,
	} {
		ch, err := likeCC.Merge([]byte(`{"mcpServers": {"f": `+entry+`}}`), small, false)
		if (err == nil && ch.New == nil) != right {
			t.Errorf("%s: %q %v, want right %v", entry, ch.New, err, right)
		}
	}
	cline, _ := Find("cline") // the application writes what the user approved into the entry
	if ch, err := cline.Merge([]byte(`{"mcpServers": {"f": {"command": "/f", "disabled": true, "autoApprove": ["Read"]}}}`), small, false); err != nil || ch.New != nil {
		t.Errorf("cline: %q %v", ch.New, err)
	}
}

// TestEntries reads back what Merge wrote, for every client.
func TestEntries(t *testing.T) {
	for _, c := range All() {
		s := Server{Name: "f", Command: "/f/ferrule", Args: []string{"--root", "/a b"}, Env: map[string]string{"X": "y"}}
		ch, err := c.Merge(nil, s, false)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Entries(ch.New)
		want := []Entry{{Name: "f", Command: s.Command, Args: s.Args, Env: s.Env}}
		if fmt.Sprint(got) != fmt.Sprint(want) || err != nil {
			t.Errorf("%s: %+v %v\nwant %+v", c.Name, got, err, want)
		}
		if !c.TakesURL() {
			continue
		}
		ch, err = c.Merge(nil, Server{Name: "f", URL: "http://h/mcp", Token: "t"}, false)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Entries(ch.New); err != nil || len(got) != 1 || got[0].URL != "http://h/mcp" || got[0].Command != "" {
			t.Errorf("%s: %+v %v", c.Name, got, err)
		}
	}
	for _, junk := range []string{"", "null", "[]", `{"mcpServers": 1}`, `{"mcpServers": {"f": 1}}`, `{"mcpServers": {"f": {"command": 1, "args": {}}}}`} {
		got, err := likeCC.Entries([]byte(junk))
		if err != nil || len(got) > 1 || len(got) == 1 && got[0].Command != "" {
			t.Errorf("%s: %v %v", junk, got, err)
		}
	}
}

// TestProve: a text that lost or changed anything beside the entry, or that
// does not read, is never handed out.
func TestProve(t *testing.T) {
	want := likeCC.entry(small)
	before, err := decodeJSON([]byte(`{"a": [1, {"b": null}], "mcpServers": {"x": {"command": "x"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for made, ok := range map[string]bool{
		`{"a": [1, {"b": null}], "mcpServers": {"x": {"command": "x"}, "f": {"command": "/f"}}}`:                 true,
		`{"mcpServers": {"f": {"command": "/f"}, "x": {"command": "x"}}, "a": [1, {"b": null}], }`:               true,
		`{"a": [1, {"b": null}], "mcpServers": {"f": {"command": "/f"}}}`:                                        false,
		`{"a": [1, {}], "mcpServers": {"x": {"command": "x"}, "f": {"command": "/f"}}}`:                          false,
		`{"a": [1, {"b": null}], "mcpServers": {"x": {"command": "x"}, "f": {"command": "/g"}}}`:                 false,
		`{"a": [1, {"b": null}], "mcpServers": {"x": {"command": "x"}, "f": {"command": "/f", "args": ["-x"]}}}`: false,
		`{"a": [1, {"b": null}], "mcpServers": {"x": {"command": "x"}}}`:                                         false,
		`{"a": [1, {"b": null}], "mcpServers": {"x": {"command": "x"}, "f": {"command": "/f"}}`:                  false,
	} {
		if err := likeCC.layout.prove(before, []byte(made), want, "f"); (err == nil) != ok {
			t.Errorf("%s: %v, want %v", made, err, ok)
		}
	}
}

func TestAddCommand(t *testing.T) {
	s := Server{Name: "f", Command: "/a b/f", Args: []string{"--root", "it's"}}
	for _, tt := range []struct {
		client  string
		project bool
		want    string
	}{
		{"claude-code", true, `claude mcp add --scope project f -- '/a b/f' --root 'it'\''s'`},
		{"claude-code", false, `claude mcp add --scope user f -- '/a b/f' --root 'it'\''s'`},
		{"codex", false, `codex mcp add f -- '/a b/f' --root 'it'\''s'`},
		{"codex", true, ""}, // it writes the file for all projects only
		{"vscode", false, `code --add-mcp '{"name": "f", "type": "stdio", "command": "/a b/f", "args": ["--root", "it'\''s"]}'`},
		{"zed", false, ""},
	} {
		c, _ := Find(tt.client)
		if got := c.AddCommand(s, tt.project); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.client, got, tt.want)
		}
	}
}

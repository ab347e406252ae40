package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ferrule/mcpserver"
	"ferrule/memory"
	"ferrule/prompts"
	"ferrule/tools"
)

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

const handshake = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":%s,"clientInfo":{"name":"t","version":"1"}}}`

// greet does the handshake and drops what is not its answer.
func (p *peer) greet(capabilities string) {
	p.t.Helper()
	p.send(fmt.Sprintf(handshake, capabilities))
	p.want("0", 0)
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// get returns the texts of a prompt, or the error.
func (p *peer) get(name, args string) (texts []string, err string) {
	p.t.Helper()
	quoted, _ := json.Marshal(name)
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":%s,"arguments":%s}}`, quoted, args))
	a := p.recv()
	for a.Method != "" {
		a = p.recv()
	}
	if a.Error != nil {
		return nil, a.Error.Error()
	}
	var r struct {
		Messages []struct{ Content struct{ Text string } }
	}
	if err := json.Unmarshal(a.Result, &r); err != nil {
		p.t.Fatal(err)
	}
	for _, m := range r.Messages {
		texts = append(texts, m.Content.Text)
	}
	return texts, ""
}

// list returns the prompts, as name, description and arguments.
func (p *peer) list() []string {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","id":8,"method":"prompts/list"}`)
	a := p.recv()
	for a.Method != "" {
		a = p.recv()
	}
	var r struct {
		Prompts []struct {
			Name, Title, Description string
			Arguments                []struct{ Name, Description string }
		}
	}
	if err := json.Unmarshal(a.Result, &r); err != nil {
		p.t.Fatal(err)
	}
	var out []string
	for _, x := range r.Prompts {
		line := x.Name
		if !slices.Contains([]string{"code", "chat", "work", "study", "init"}, x.Name) {
			line += "|" + x.Title + "|" + x.Description
			for _, a := range x.Arguments {
				line += "|" + a.Name + "=" + a.Description
			}
		}
		out = append(out, line)
	}
	return out
}

func TestWrittenPrompts(t *testing.T) {
	t.Parallel()
	dir, state := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(state, "prompts", "review.md"), "---\ntitle: Review\ndescription: Look at the change\nargument-hint: what to look at\n---\nRead {{everything}} and $ARGUMENTS.\n")
	writeFile(t, filepath.Join(state, "prompts", "code.md"), "Take the place of code.")
	writeFile(t, filepath.Join(dir, ".ferrule", "prompts", "review.md"), "The project's.")
	writeFile(t, filepath.Join(dir, ".ferrule", "prompts", "release.md"), "Release {{it}}.")
	var trusted atomic.Bool
	var asked atomic.Pointer[string]
	p := serveConfig(t, mcpserver.Config{Workspace: tools.Config{Roots: []string{dir}, State: state},
		TrustsPrompts: func(root, hash string) bool {
			asked.Store(&hash)
			return trusted.Load() && root == dir
		}})
	p.greet(`{}`)
	own := "review|Review|Look at the change (your own)|arguments=what to look at"
	if got := p.list(); !slices.Equal(got, []string{"chat", "code", "init", "study", "work", own}) {
		t.Errorf("got %q", got)
	}
	if texts, err := p.get("review", `{"arguments":"{{a}} go files"}`); err != "" || !slices.Equal(texts, []string{"Read {{everything}} and $ARGUMENTS.", "{{a}} go files"}) {
		t.Errorf("got %q, %s", texts, err)
	}
	if texts, err := p.get("code", `{}`); err != "" || !strings.Contains(texts[0], "deepseek-code") {
		t.Errorf("got %q, %s", texts, err)
	}
	for name, args := range map[string]string{"review": `{"x":"y"}`, "release": `{}`, "nothing": `{}`, "\x00written": `{}`, "Code": `{}`} {
		_, err := p.get(name, args)
		if !strings.Contains(err, "-32602") || !strings.Contains(err, "there are chat") && !strings.Contains(err, "there are code, chat, work, study, init, review") && name != "review" {
			t.Errorf("%s: got %s", name, err)
		}
	}
	if _, hash := mcpserver.WrittenPrompts(dir); hash == "" || asked.Load() == nil || *asked.Load() != hash {
		t.Errorf("asked for trust in %v, want %s", asked.Load(), hash)
	}

	// A yes of the user is heard, and the client is told.
	trusted.Store(true)
	p.heard(t, "notifications/prompts/list_changed")
	if got := p.list(); !slices.Equal(got[5:], []string{"release||(of the project)", "review||(of the project)"}) {
		t.Errorf("got %q", got)
	}
	if texts, err := p.get("release", `{}`); err != "" || !slices.Equal(texts, []string{"Release {{it}}."}) {
		t.Errorf("got %q, %s", texts, err)
	}

	// So is a file that is changed, and one that is removed.
	writeFile(t, filepath.Join(state, "prompts", "more.md"), "More.")
	p.heard(t, "notifications/prompts/list_changed")
	if err := os.RemoveAll(filepath.Join(dir, ".ferrule")); err != nil {
		t.Fatal(err)
	}
	p.heard(t, "notifications/prompts/list_changed")
	if got := p.list(); !slices.Equal(got[5:], []string{"more||(your own)", own}) {
		t.Errorf("got %q", got)
	}
	writeFile(t, filepath.Join(state, "prompts", "more.md"), "More and other.")
	if texts, _ := p.get("more", `{}`); !slices.Equal(texts, []string{"More and other."}) { // at once
		t.Errorf("got %q", texts)
	}
}

// heard waits for a notification.
func (p *peer) heard(t *testing.T, method string) {
	t.Helper()
	defer time.AfterFunc(30*time.Second, func() { p.in.Close() }).Stop() // then recv fails
	if a := p.recv(); a.Method != method {
		t.Fatalf("got %s %s %s, want %s", a.Method, a.Params, a.Result, method)
	}
}

// A client that has said that it wants them gets the instructions of a folder
// with the first result that touches it; others get nothing.
func TestNestedInstructions(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"AGENTS.md": "root", "a/AGENTS.md": "in a {{x}}", "a/b/c/CLAUDE.md": "in c", "a/b/c/x.txt": "x", "a/y.txt": "y", "d/x.txt": "x", "top.txt": "x"} {
		writeFile(t, filepath.Join(dir, filepath.FromSlash(path)), text)
	}
	for _, caps := range []string{`{"experimental":{"ferrule/instructions":{}}}`, `{}`} {
		p := serveConfig(t, mcpserver.Config{Workspace: tools.Config{Roots: []string{dir}}})
		p.greet(caps)
		if _, err := p.get("chat", `{}`); err != "" {
			t.Fatal(err)
		}
		var got []string
		for _, args := range []string{`{"file_path":"top.txt"}`, `{"file_path":"a/b/c/x.txt"}`, `{"file_path":"` + filepath.ToSlash(dir) + `/a/b/c/x.txt"}`,
			`{"file_path":"a/y.txt"}`, `{"file_path":"d/x.txt"}`, `{"file_path":"a/b/none"}`} {
			p.send(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"Read","arguments":` + args + `}}`)
			var r struct {
				Meta struct {
					Files []struct{ Path, Text string } `json:"ferrule/instructions"`
				} `json:"_meta"`
			}
			if err := json.Unmarshal(p.want("9", 0).Result, &r); err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Meta.Files {
				got = append(got, strings.TrimPrefix(f.Path, filepath.ToSlash(dir)+"/")+"="+f.Text)
			}
		}
		want := "a/AGENTS.md=in a {{x}} a/b/c/CLAUDE.md=in c"
		if caps == `{}` {
			want = ""
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: got %q, want %q", caps, s, want)
		}
	}
}

// A profile chooses notes on tools; names and schemas stay as they are, and the
// prompts and the memory index do not depend on it.
func TestProfileOfTheServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	type tool struct {
		Name, Description string
		InputSchema       json.RawMessage
	}
	kept, err := memory.New(memory.Config{Settings: memory.DefaultSettings(), File: filepath.Join(t.TempDir(), "memory.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kept.Close() })
	if _, err := kept.Ingest(t.Context(), memory.Memory{Content: "kept", Importance: 0.9, Scope: memory.ProjectScope(dir)}); err != nil {
		t.Fatal(err)
	}
	listed := make(map[string][]tool)
	for _, profile := range []string{"", "code", "chat", "work", "study"} {
		p := serveConfig(t, mcpserver.Config{Workspace: tools.Config{Roots: []string{dir}, Memory: kept}, Profile: prompts.Profile(profile)})
		p.greet(`{}`)
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		var r struct{ Tools []tool }
		if err := json.Unmarshal(p.want("1", 0).Result, &r); err != nil {
			t.Fatal(err)
		}
		listed[profile] = r.Tools
		for _, name := range []string{"code", "chat"} {
			if texts, err := p.get(name, `{}`); err != "" || !strings.Contains(strings.Join(texts, "\n"), ": kept\n</memory_index>") {
				t.Errorf("%s, %s: %q %s", profile, name, texts, err)
			}
		}
	}
	for profile, list := range listed {
		noted := 0
		for i, x := range list {
			plain := listed["chat"][i]
			if x.Name != plain.Name || string(x.InputSchema) != string(plain.InputSchema) {
				t.Errorf("%s: %s has another schema", profile, x.Name)
			}
			if note, is := strings.CutPrefix(x.Description, plain.Description); !is {
				t.Errorf("%s: %s has another description", profile, x.Name)
			} else if strings.HasPrefix(note, "\n\nCode mode: ") {
				noted++
			}
		}
		want := 0
		if profile == "" || profile == "code" {
			want = 8
		}
		if noted != want {
			t.Errorf("%q: %d notes, want %d", profile, noted, want)
		}
	}
	if _, err := mcpserver.New(mcpserver.Config{Profile: "plan"}); err == nil {
		t.Error("an unknown profile was accepted")
	}
}

package mcpserver_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ferrule/mcpserver"
	"ferrule/tools"
)

// excluded are capabilities of another product that reach for accounts, devices,
// settings or sessions elsewhere, the mark of its servers' tools, and what goes
// with them. computer_use needs a desktop and is not built either.
var excluded = regexp.MustCompile(`(?i)mcp__|ccd_|list_sessions|get_session\b|list_events|session_transcripts|export_transcript|get_usage|` +
	`get_settings|storage_usage|set_remote_control|remote control|DesignSync|computer_use|telemetry|analytics|usage report|\baccounts?\b`)

// Nothing of that is listed or mentioned, by the server with every tool and
// prompt it has, nor in any text that a model may see.
func TestExclusions(t *testing.T) {
	t.Parallel()
	if excluded.FindString("see mcp__ccd_settings__get_settings") == "" {
		t.Fatal("the expression finds nothing")
	}
	files, err := filepath.Glob("../*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../*/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, path := range append(files, more...) {
		if slash := filepath.ToSlash(path); strings.HasPrefix(slash, "../docs/") || strings.Contains(slash, "testdata/") {
			continue // for people, and some say why a capability is not there
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		seen++
		if m := excluded.Find(data); m != nil {
			t.Errorf("%s mentions %q", path, m)
		}
	}
	if seen < 20 {
		t.Fatalf("only %d texts were looked at", seen)
	}

	var all []string
	for _, x := range tools.All() {
		all = append(all, x.Name)
	}
	s := serveConfig(t, mcpserver.Config{Workspace: tools.Config{Roots: []string{t.TempDir()}}, Selection: tools.Selection{Tools: strings.Join(all, ",")}})
	s.send(fmt.Sprintf(handshake, `{"elicitation":{}}`))
	answers := string(s.want("0", 0).Result)
	for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
		s.send(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`)
		answers += string(s.want("1", 0).Result)
	}
	for _, name := range []string{"code", "chat", "work", "study", "init"} {
		texts, err := s.get(name, `{}`)
		if err != "" {
			t.Fatal(err)
		}
		answers += strings.Join(texts, "\n")
	}
	for _, name := range all {
		if !strings.Contains(answers, `"name":"`+name+`"`) {
			t.Errorf("%s is not listed", name)
		}
	}
	if at := excluded.FindStringIndex(answers); at != nil {
		t.Errorf("the server mentions …%s…", answers[max(0, at[0]-80):min(len(answers), at[1]+80)])
	}
}

package clients

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
)

// FuzzMergeJSON: merging into any JSON with comments keeps the bytes of every
// other member, on the way to the entry, and of every comment.
func FuzzMergeJSON(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, "{\n\t\"mcpServers\": {\n\t\t\"a\": {}, // c\n\t},\n}", `{"mcpServers":null}`, `{"mcpServers":{"f":{"command":"x"}}}`,
		"{/*a*/\"x\"/*b*/:/*c*/1/*d*/,/*e*/}", "\ufeff{\r\n \"x\": [1,\r\n 2] // y\r\n}", `{"mcpServers":{"f":{"command":"/f"}}}`, "null // c",
		"{\"\\u006dcpServers\": {\"a\": 1,}}", "// c\n{\"mcpServers\": {} /* z */ }",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, old []byte) {
		ch, err := likeCC.Merge(old, small, true)
		if err != nil || ch.New == nil {
			return
		}
		if _, text := cutBOM(old); len(bytes.TrimSpace(text)) > 0 {
			was, now := others(t, text), others(t, bytes.TrimPrefix(ch.New, utf8BOM))
			if was != now {
				t.Errorf("%q\nbecame %q\nother members: %q\nare now:       %q", old, ch.New, was, now)
			}
		}
		if again, err := likeCC.Merge(ch.New, small, false); err != nil || again.New != nil {
			t.Errorf("%q\nagain: %q %v", ch.New, again.New, err)
		}
	})
}

// others returns what is not the entry: members byte for byte, and comments.
func others(t *testing.T, text []byte) string {
	root, err := hujson.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	var b strings.Builder
	extra := func(e hujson.Extra) { b.WriteString(strings.TrimSpace(string(e))) }
	var walk func(v hujson.Value, keys []string)
	walk = func(v hujson.Value, keys []string) {
		extra(v.BeforeExtra)
		o, ok := v.Value.(*hujson.Object)
		if !ok || len(keys) == 0 {
			if len(keys) > 0 && v.Value.Kind() != 'n' {
				b.Write(text[v.StartOffset:v.EndOffset])
			}
			extra(v.AfterExtra)
			return
		}
		for _, m := range o.Members {
			if m.Name.Value.(hujson.Literal).String() == keys[0] {
				extra(m.Name.BeforeExtra)
				extra(m.Name.AfterExtra)
				walk(m.Value, keys[1:])
				continue
			}
			extra(m.Name.BeforeExtra)
			b.Write(text[m.Name.StartOffset:m.Value.EndOffset])
			b.WriteString(";")
			extra(m.Value.AfterExtra)
		}
		extra(o.AfterExtra)
		extra(v.AfterExtra)
	}
	walk(root, []string{"mcpServers", "f"})
	return b.String()
}

// FuzzMergeTOML and FuzzMergeYAML: every line of the old text is in the new
// one, in order, but for those of an entry that was replaced.
func FuzzMergeTOML(f *testing.F) {
	for _, s := range []string{"a = 1 # c\n[mcp_servers.a]\nx = [\n 1,\n]\n", "[mcp_servers.f]\ncommand=\"x\"\n[b]", "a.b = \"\"\"\n[mcp_servers.f]\n\"\"\"", "[[a]]\r\nb={c=1}"} {
		f.Add([]byte(s))
	}
	codex, _ := Find("codex")
	f.Fuzz(func(t *testing.T, old []byte) { fuzzLines(t, codex, old) })
}

func FuzzMergeYAML(f *testing.F) {
	for _, s := range []string{"extensions:\n  a:\n    cmd: x # c\n", "extensions: {}\n", "# c\n---\nx: |\n  y\n", "extensions:\n  f:\n    cmd: x\n", "a: &b [1]\nc: *b\r\n", "extensions:\n- f\n"} {
		f.Add([]byte(s))
	}
	goose, _ := Find("goose")
	cont, _ := Find("continue")
	f.Fuzz(func(t *testing.T, old []byte) {
		fuzzLines(t, goose, old)
		fuzzLines(t, cont, old)
	})
}

func fuzzLines(t *testing.T, c Client, old []byte) {
	ch, err := c.Merge(old, small, true)
	if err != nil || ch.New == nil {
		return
	}
	now := strings.Split(string(ch.New), "\n")
	if ch.Diff == "" && len(bytes.TrimSpace(old)) > 0 {
		for line := range strings.SplitSeq(string(bytes.TrimSuffix(old, []byte("\n"))), "\n") {
			kept := strings.TrimRight(line, " \t\r{}[]") // the {} of an empty container goes
			for len(now) > 0 && !strings.HasPrefix(now[0], kept) {
				now = now[1:]
			}
			if len(now) == 0 {
				t.Fatalf("%q\nbecame %q\nwithout %q", old, ch.New, line)
			}
			now = now[1:]
		}
	}
	if again, err := c.Merge(ch.New, small, false); err != nil || again.New != nil {
		t.Errorf("%q\nagain: %q %v", ch.New, again.New, err)
	}
}

package tools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// S080: no string that a model sends to another tool than Bash is ever read by
// a shell. Every string argument of every tool holds commands that would make a
// file.
func TestShellTextIsData(t *testing.T) {
	s, dir := open(t, Config{State: t.TempDir()})
	mark := filepath.Join(t.TempDir(), "M")
	t.Setenv("MARK", mark)
	put(t, filepath.Join(dir, "f"), "x\n")
	texts := []string{
		"$(touch " + mark + ")", "`touch " + mark + "`", "; touch " + mark + " #", "| touch " + mark, "&& touch " + mark,
		"\ntouch " + mark + "\n", `"; touch ` + mark + `; "`, "'; touch " + mark + "; '", "--pre=touch " + mark, "-e touch$IFS$MARK",
		"x' $(touch " + mark + ") '", "${x:=$(touch " + mark + ")}", "<(touch " + mark + ")",
	}
	for _, tool := range All() {
		if tool == Bash {
			continue
		}
		var schema struct {
			Properties map[string]struct{ Type string }
			Required   []string
		}
		if err := json.Unmarshal(tool.Input, &schema); err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			call(t, s, tool, filled(schema.Properties, func(string) string { return text }))
			for name := range schema.Properties { // the others as they should be
				call(t, s, tool, filled(schema.Properties, func(other string) string {
					if other == name {
						return text
					}
					return "f"
				}))
			}
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a shell has read an argument")
	}
}

func filled(properties map[string]struct{ Type string }, text func(name string) string) map[string]any {
	args := make(map[string]any)
	for name, p := range properties {
		if p.Type == "string" {
			args[name] = text(name)
		}
	}
	return args
}

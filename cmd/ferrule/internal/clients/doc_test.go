package clients

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/clients.md")

// TestDocs holds docs/clients.md to the table.
func TestDocs(t *testing.T) {
	const path = "../../../../docs/clients.md"
	want := document()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("docs/clients.md is not what the table says (%v); run go test ./cmd/ferrule/internal/clients -run TestDocs -update and look at the difference", err)
	}
}

func document() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Clients

`+"`ferrule config CLIENT`"+` prints the entry with which a client starts Ferrule, and where it goes. `+"`--write`"+` puts it into the
client's file: comments, order, indentation and everybody else's entries stay as they are, byte for byte, and the old
content is kept in a file beside it. A file that cannot be edited so is refused, with the entry to paste. An entry of the
same name that is something else is shown and replaced only with `+"`--force`"+`; `+"`--name NAME`"+` puts a second one beside it.

`+"`--project`"+` (where there is such a file, the default) and `+"`--global`"+` choose the file. Flags such as `+"`--read-only`"+` or
`+"`--root DIR`"+` become part of the entry. `+"`--http`"+` makes the entry for a server that runs already as `+"`ferrule http`"+`
(`+"`--url`"+` if not at http://127.0.0.1:7117/mcp). `+"`ferrule doctor`"+` finds the entries of this machine and starts them.

Clients that ask the user before every call and cannot pass a question of the server on get `+"`--permission host`"+`: their own
dialogue counts as the answer. The token of `+"`ferrule http`"+` comes from the variable FERRULE_TOKEN where a client knows
variables; elsewhere it must stand in the file itself, and only `+"`--show-token`"+` puts it there, never in a project's file.

Paths and forms were read in the makers' documents of %s. `+"`~`"+` is the home directory, `+"`${NAME:-other}`"+` a
variable or what stands for it. This file is made from the table in cmd/ferrule/internal/clients.

| client | key | workspace | `+"`--permission host`"+` | token |
|---|---|---|---|---|
`, Checked)
	for _, c := range All() {
		fmt.Fprintf(&b, "| [%s](#%s) | `%s` | %s | %s | %s |\n", c.Name, c.Name, c.Key(), workspace(c), yes(c.asks), token(c))
	}
	for _, c := range All() {
		describe(&b, c)
	}
	return b.String()
}

func workspace(c Client) string {
	switch c.root {
	case folderVar:
		return "`${workspaceFolder}`"
	case projectVar:
		return "`${workspaceFolder}` in a project's file"
	case fixedRoot:
		return "one directory"
	}
	return "where it is started"
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func token(c Client) string {
	switch {
	case !c.TakesURL():
		return "no remote servers"
	case c.NeedsToken():
		return "in the file"
	}
	return "`" + c.variable + "`"
}

func describe(b *strings.Builder, c Client) {
	fmt.Fprintf(b, "\n## %s\n\n%s.", c.Name, c.Title)
	if c.HasProject() {
		fmt.Fprintf(b, " In a project: `%s`.", strings.Join(c.project, "` or `"))
	}
	if c.HasGlobal() {
		seen := map[string]bool{}
		fmt.Fprintf(b, " For all projects:")
		for _, system := range []string{"linux", "darwin", "windows"} {
			if p := c.GlobalPattern(system); !seen[p] {
				seen[p] = true
				fmt.Fprintf(b, "\n`%s`", p)
				if c.global != everywhere(p) {
					fmt.Fprintf(b, " (%s)", strings.Join(systems(c, p), ", "))
				}
			}
		}
		b.WriteString(".")
	}
	for _, n := range c.notes {
		b.WriteString("\n" + n)
	}
	a, err := c.Args(c.HasProject(), "/path/to/project", nil, false)
	if err != nil {
		panic(err)
	}
	s := Server{Name: "ferrule", Command: "/usr/local/bin/ferrule", Args: a, TokenFile: "~/.ferrule/token"}
	language := []string{"json", "toml", "yaml"}[c.layout.format]
	fmt.Fprintf(b, "\n\n```%s\n%s```\n", language, c.Snippet(s))
	if c.TakesURL() {
		s.URL = "http://127.0.0.1:7117/mcp"
		fmt.Fprintf(b, "\nWith `--http`:\n\n```%s\n%s```\n", language, c.Snippet(s))
	}
}

// systems names those that have a file at p.
func systems(c Client, p string) (all []string) {
	for _, s := range []struct{ name, title string }{{"linux", "Linux"}, {"darwin", "macOS"}, {"windows", "Windows"}} {
		if c.GlobalPattern(s.name) == p {
			all = append(all, s.title)
		}
	}
	return all
}

package permit

import (
	"os"
	"path/filepath"
	"testing"
)

// S037, S063-S068, S070: in every case and form, existing or not.
func TestProtected(t *testing.T) {
	t.Parallel()
	root := folder(t)
	p := policy(t, Config{Roots: []Root{{Path: root}}})
	for _, name := range []string{
		".git/config", ".git/hooks/pre-commit", "sub/.git/HEAD", ".git", ".gitmodules", "deep/er/.gitmodules", ".gitconfig",
		".mcp.json", ".envrc", ".ripgreprc", ".vscode/tasks.json", ".idea/workspace.xml", ".claude/settings.json",
		".cursor/mcp.json", ".codex/config.toml", ".gemini/settings.json", ".ferrule/settings.json", ".ferrule/skills/x/SKILL.md",
		".ssh/authorized_keys", ".bashrc", ".zshenv", ".profile", ".config/git/config", ".config/fish/config.fish",
		"bare.git/hooks/post-update", "x/hooks/pre-commit", ".husky/pre-commit",
		".GIT/config", ".Mcp.Json", ".MCP.JSON", ".VSCode/tasks.json", ".g\u0131t/../.git/x", ".gi\u200ct/config", "\ufeff.git/config",
		".\u017fsh/x", ".\u00dfh/x", ".mcp.j\u017fon", ".claude./x", ".git /config", ".git::$INDEX_ALLOCATION/config", "git~1/config", "GIT~1/x",
		".con\ufb01g/fi\u017fh/x",
	} {
		if d := p.Decide(writing(filepath.Join(root, name))); d.Verdict != Ask {
			t.Errorf("%q: %+v", name, d)
		}
		if d := p.Decide(reading(filepath.Join(root, name))); d.Verdict != Allow {
			t.Errorf("reading %q: %+v", name, d)
		}
	}
	for _, name := range []string{
		".gitignore", ".gitattributes", ".github/workflows/x.yml", "git/config", "hooks/useThing.ts", "hooks/README.md", "pre-commit",
		"mcp.json", ".env", "vscode/x", "a.git.b", "config/git/x", "src/update", "claude.md", "CLAUDE.md", ".mcp.json.md",
	} {
		if d := p.Decide(writing(filepath.Join(root, name))); d.Verdict != Allow {
			t.Errorf("%q: %+v", name, d)
		}
	}
	work := filepath.Join(root, ".claude", "worktrees", "w")
	if d := policy(t, Config{Roots: []Root{{Path: work}}}).Decide(writing(filepath.Join(work, "a.go"))); d.Verdict != Allow {
		t.Errorf("a worktree in .claude: %+v", d)
	}
	if d := policy(t, Config{Roots: []Root{{Path: root}, {Path: work}}}).Decide(writing(filepath.Join(work, "a.go"))); d.Verdict != Ask {
		t.Errorf("below another root it is the project's: %+v", d)
	}
}

// A link to a protected file is that file, and so is the link's own name.
func TestProtectedLinks(t *testing.T) {
	t.Parallel()
	root := folder(t)
	put(t, root, ".git/config", "plain")
	link(t, ".git/config", root+"/conf")
	link(t, "plain", root+"/.mcp.json")
	link(t, ".git", root+"/g")
	p := policy(t, Config{Roots: []Root{{Path: root}}})
	for _, name := range []string{"conf", ".mcp.json", "g/hooks/x", "sub/../.git/config"} {
		if d := p.Decide(follow(t, WritePath, root, name)); d.Verdict != Ask {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// git keeps a repository in folders of other names as well.
func TestGitFolders(t *testing.T) {
	t.Parallel()
	root := folder(t)
	put(t, root, "bare/HEAD", "bare/objects/x", "bare/refs/x", "wt/HEAD", "wt/commondir", "notgit/HEAD", "src/a")
	if err := os.WriteFile(filepath.Join(root, ".git"), []byte("gitdir: meta\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	os.MkdirAll(filepath.Join(root, "sub"), 0o755)
	if err := os.WriteFile(filepath.Join(root, "sub", ".git"), []byte("gitdir: "+root+"/sub/inner/../store\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Verdict{
		"bare/config": Ask, "bare/hooks/x": Ask, "wt/config.worktree": Ask, "meta/config": Ask, "META/config": Allow, "sub/store/config": Ask,
		"notgit/x": Allow, "src/a": Allow, "sub/a": Allow, "metal": Allow,
	} {
		p := policy(t, Config{Roots: []Root{{Path: root}}})
		if d := p.Decide(writing(filepath.Join(root, name))); d.Verdict != want {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

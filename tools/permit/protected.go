package permit

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

func set(text string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(text) {
		m[w] = true
	}
	return m
}

// What is protected runs, or decides what runs, when somebody opens the project, starts a shell or calls git. All names
// are folded.
var (
	protectedDirs = set(".git .ssh .vscode .idea .claude .cursor .codex .gemini .ferrule .husky .githooks " +
		".zed .devin .trae .continue .windsurf .cline .roo .devcontainer")

	protectedFiles = set(".gitmodules .gitconfig .mcp.json .envrc .direnvrc .ripgreprc .npmrc " +
		"opencode.json opencode.jsonc .pre-commit-config.yaml .vimrc .exrc .tmux.conf .gdbinit .lldbinit " +
		".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout " +
		".kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc .xprofile .xinitrc .xsessionrc .xsession .pam_environment " +
		"config.fish profile.ps1 microsoft.powershell_profile.ps1")

	// Below a folder named so: files of these names.
	hookNames = set("applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg " +
		"post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update " +
		"reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman " +
		"post-index-change p4-changelist p4-prepare-changelist p4-post-changelist p4-pre-submit")
)

// protected returns the component that makes one of the names a protected file, folded; "" if none does. Components
// above the workspace do not count: a worktree may lie in a folder such as .claude.
func (p *Policy) protected(n *names) string {
	for _, name := range n.folded {
		rest := name
		for _, r := range p.cfg.Roots { // the outermost root has the longest rest
			if base := fold(slashed(r.Path)); within(name, base) && (rest == name || len(name)-len(base) > len(rest)) {
				rest = name[len(base):]
			}
		}
		if c := protectedPart(rest); c != "" {
			return c
		}
	}
	return p.gitDir(n.path)
}

// protectedPart looks at the components of a folded slash path.
func protectedPart(path string) string {
	before := ""
	for c := range strings.SplitSeq(path, "/") {
		raw := c
		c, _, _ = strings.Cut(c, ":") // a stream of the file, to Windows
		c = strings.TrimRight(c, " .")
		switch {
		case c == "git~1": // what Windows may call .git for short
			return ".git"
		case protectedDirs[c], protectedFiles[c], before == "hooks" && hookNames[c]:
			return c
		case before == ".config" && (c == "git" || c == "fish"):
			return c
		}
		before = raw
	}
	return ""
}

// maxGitFile is how much of a file .git is read, in bytes.
const maxGitFile = 4096

// gitDir finds out whether a path lies in a folder that git keeps a repository in, under whatever name: one that looks
// like it, or one that a file .git on the way names. It returns the folder's name.
func (p *Policy) gitDir(path string) string {
	path = filepath.FromSlash(path)
	for dir := filepath.Dir(path); inAny(dir, p.cfg.Roots); dir = filepath.Dir(dir) {
		if isGitDir(dir) {
			return fold(filepath.Base(dir))
		}
		if named := gitFile(filepath.Join(dir, ".git")); named != "" {
			if !filepath.IsAbs(named) {
				named = filepath.Join(dir, named)
			}
			if named = realPath(named, nil, true); within(path, named) {
				return fold(filepath.Base(named))
			}
		}
	}
	return ""
}

// isGitDir asks what git itself asks: HEAD, and objects and refs of its own or of the repository that it belongs to.
func isGitDir(dir string) bool {
	there := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	return there("HEAD") && (there("objects") && there("refs") || there("commondir"))
}

// gitFile returns the folder that a file .git names, "" if it is no such file.
func gitFile(name string) string {
	fi, err := os.Lstat(name)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > maxGitFile {
		return ""
	}
	flag := os.O_RDONLY
	if runtime.GOOS != "windows" {
		flag |= syscall.O_NONBLOCK // a FIFO put there meanwhile must not hold us
	}
	f, err := os.OpenFile(name, flag, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxGitFile))
	if err != nil {
		return ""
	}
	dir, ok := strings.CutPrefix(string(text), "gitdir: ")
	if !ok {
		return ""
	}
	return strings.TrimRight(dir, "\r\n")
}

package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"ferrule/shell"
)

// Limits of what a prompt says of git, in characters.
const (
	statusLimit = 2000
	lineLimit   = 200 // a branch, or a commit's subject
)

// GitSnapshot describes the state of git in dir, and says whether dir belongs to a
// repository. The text is "" when it does not.
func GitSnapshot(ctx context.Context, dir string) (text string, repo bool) {
	s, err := shell.Snapshot(ctx, dir)
	switch {
	case errors.Is(err, shell.ErrNotRepository):
		return "", false
	case errors.Is(err, shell.ErrGitMissing):
		return "", HasGit(dir)
	case err != nil && !errors.Is(err, context.DeadlineExceeded):
		return "Git was asked and refused: " + head(err.Error(), lineLimit), true
	}
	return describe(s, err != nil), true
}

// describe puts s into words. slow says that git was left before it had answered
// everything.
func describe(s shell.GitState, slow bool) string {
	var b strings.Builder
	if slow && s.Branch == "" && s.Head == "" {
		return "Git needed more than three seconds and was left. Branch, status and commits are not known."
	}
	branch := cmp.Or(head(s.Branch, lineLimit), "none, HEAD is detached at "+s.Head)
	if s.Head == "" && !slow {
		branch += " (no commits yet)"
	}
	fmt.Fprintf(&b, "Branch: %s\n", branch)
	if s.Main != "" {
		fmt.Fprintf(&b, "Main branch: %s\n", head(s.Main, lineLimit))
	}
	switch {
	case slow:
		b.WriteString("Status: not known, git needed more than three seconds and was left\n")
	case s.Status == "":
		b.WriteString("Status: clean\n")
	default:
		fmt.Fprintf(&b, "\nStatus:\n%s\n", cutStatus(s.Status))
	}
	if s.Commits != "" {
		b.WriteString("\nRecent commits:\n")
		for line := range strings.Lines(s.Commits) {
			b.WriteString(head(strings.TrimRight(line, "\n"), lineLimit) + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// cutStatus shortens a status to whole lines, 2,000 characters at most, and says
// how much is missing. A first line that is longer is cut inside.
func cutStatus(status string) string {
	if utf8.RuneCountInString(status) <= statusLimit {
		return status
	}
	const room = 60 // for the last line
	shown := strings.TrimSuffix(head(status, statusLimit-room), "…")
	if i := strings.LastIndexByte(shown, '\n'); i >= 0 {
		shown = shown[:i]
	}
	all, kept := strings.Count(status, "\n")+1, strings.Count(shown, "\n")+1
	return fmt.Sprintf("%s\n… and more: %d of %d lines are shown", shown, kept, all)
}

// head returns at most the first n characters of s, with a mark if some are
// missing.
func head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

// HasGit looks for a repository without asking git.
func HasGit(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

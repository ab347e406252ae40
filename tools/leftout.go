package tools

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"ferrule/tools/internal/walk"
)

// What Glob and Grep show of files, and what they say about those they did not
// look at.

// searchLimit is how long a search may take. What was found by then is shown.
const searchLimit = 20 * time.Second

// below returns how the files below a directory are shown, by their paths in
// it: as Read takes them, and each on one line.
func (s *Session) below(dir string) func(name string) string {
	base := strings.TrimSuffix(s.roots.Display(dir), "/") + "/"
	if base == "./" {
		base = ""
	}
	return func(name string) string {
		if base == "" && strings.HasPrefix(name, "~") {
			name = "./" + name // not the home folder
		}
		return printable(base + name)
	}
}

// leftOut says what rules and kinds kept out of a search that found nothing,
// or was cut: one line for each.
func leftOut(l *walk.Listing, show func(string) string) (notes []string) {
	if n := l.Ignored.Files + l.Ignored.Dirs; n > 0 {
		var what []string
		if l.Ignored.Files > 0 {
			what = append(what, count(l.Ignored.Files, "file"))
		}
		if l.Ignored.Dirs > 0 {
			what = append(what, count(l.Ignored.Dirs, "folder"))
		}
		notes = append(notes, fmt.Sprintf("(ignore rules leave out %s%s; name one as path to search it)",
			strings.Join(what, " and "), named(shown(l.Ignored.Names, show), n)))
	}
	if n := l.Links.Count; n > 0 {
		notes = append(notes, fmt.Sprintf("(%s not followed%s)", count(n, "symbolic link"), named(shown(l.Links.Names, show), n)))
	}
	return notes
}

// always says what is told whether or not something was found.
func always(l *walk.Listing, show func(string) string) (notes []string) {
	if l.Dropped {
		notes = append(notes, "(the directory is ignored by rules from above it; they were left out of account)")
	}
	if l.Denied > 0 {
		notes = append(notes, fmt.Sprintf("(%s may not be read by rule)", count(l.Denied, "entry")))
	}
	if u := l.Unreadable; u.Count > 0 {
		notes = append(notes, fmt.Sprintf("(%s could not be read%s)", count(u.Count, "folder"), named(shown(u.Names, show), u.Count)))
	}
	switch {
	case l.Complete:
	case l.Entries > walk.MaxEntries:
		notes = append(notes, fmt.Sprintf("(stopped after %s names: the listing is incomplete; name a smaller path)", thousands(walk.MaxEntries)))
	default:
		notes = append(notes, fmt.Sprintf("(stopped after %v: the listing is incomplete; name a smaller path)", searchLimit))
	}
	return notes
}

func shown(names []string, show func(string) string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = show(n)
	}
	return out
}

// maxNamed is how many characters the names in a note may have.
const maxNamed = 300

// named lists the first of n names behind a colon, as many as fit.
func named(names []string, n int) string {
	out, chars := "", 0
	for i, name := range names {
		if chars += utf8.RuneCountInString(name) + 2; chars > maxNamed {
			names = names[:i]
			break
		}
		out += ", " + name
	}
	switch {
	case out == "":
		return ""
	case len(names) < n:
		out += ", …"
	}
	return ": " + out[2:]
}

// searchMeta are the facts of a search for programs. total is -1 if it is not
// known.
func searchMeta(start time.Time, shown, total int, complete bool, l *walk.Listing) map[string]any {
	m := map[string]any{
		"engine": "scan", "shown": shown, "cut": total < 0 || shown < total, "complete": complete,
		"ms": time.Since(start).Milliseconds(),
	}
	if total >= 0 {
		m["total"] = total
	}
	if l != nil {
		m["ignored_files"], m["ignored_dirs"], m["unreadable"] = l.Ignored.Files, l.Ignored.Dirs, l.Unreadable.Count
	}
	return map[string]any{"search": m}
}

// withNotes puts notes behind a text, parted by an empty line.
func withNotes(text string, notes []string) string {
	text = strings.TrimSuffix(text, "\n")
	if len(notes) == 0 {
		return text
	}
	if text != "" {
		text += "\n\n"
	}
	return text + strings.Join(notes, "\n")
}

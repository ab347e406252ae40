package tools

import (
	"fmt"
	"strings"
	"time"

	"ferrule/tools/internal/walk"
)

// What Glob and Grep say about the files they did not look at.

// searchLimit is how long a search may take. What was found by then is shown.
const searchLimit = 20 * time.Second

// leftOut says what rules and kinds kept out of a search that found nothing,
// or was cut: one line for each.
func leftOut(l *walk.Listing) (notes []string) {
	if n := l.Ignored.Files + l.Ignored.Dirs; n > 0 {
		var what []string
		if l.Ignored.Files > 0 {
			what = append(what, count(l.Ignored.Files, "file"))
		}
		if l.Ignored.Dirs > 0 {
			what = append(what, count(l.Ignored.Dirs, "folder"))
		}
		names := strings.Join(l.Ignored.Names, ", ")
		if len(l.Ignored.Names) < n {
			names += ", …"
		}
		notes = append(notes, fmt.Sprintf("(ignore rules leave out %s: %s; name one as path to search it)", strings.Join(what, " and "), names))
	}
	if l.Links > 0 {
		notes = append(notes, fmt.Sprintf("(%s not followed)", count(l.Links, "symbolic link")))
	}
	return notes
}

// always says what is told whether or not something was found.
func always(l *walk.Listing) (notes []string) {
	if l.Dropped {
		notes = append(notes, "(the directory is ignored by rules from above it; they were left out of account)")
	}
	if l.Denied > 0 {
		notes = append(notes, fmt.Sprintf("(%s may not be read by rule)", count(l.Denied, "file")))
	}
	if l.Unreadable > 0 {
		notes = append(notes, fmt.Sprintf("(%s could not be read)", count(l.Unreadable, "folder")))
	}
	if !l.Complete {
		notes = append(notes, fmt.Sprintf("(stopped after %v: the listing is incomplete; name a smaller path)", searchLimit))
	}
	return notes
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
		m["ignored_files"], m["ignored_dirs"], m["unreadable"] = l.Ignored.Files, l.Ignored.Dirs, l.Unreadable
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

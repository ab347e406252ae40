package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ferrule/tools/internal/roots"
	"ferrule/tools/internal/walk"
)

type listDirInput struct {
	Path  string `json:"path,omitempty"`
	Limit int    `json:"limit,omitempty" schema:"min=1,max=2000,default=200"`
}

// ListDir lists the entries of a folder.
var ListDir = define(spec{
	name: "ListDir", title: "List a folder", toolset: "extra",
	hints: Hints{ReadOnly: true, Idempotent: true},
}, listDir)

// maxEntries is how many entries of a folder are looked at.
const maxEntries = 100_000

func listDir(ctx context.Context, r *request, in listDirInput) (Result, error) {
	p, err := r.folderToRead(ctx, in.Path)
	if err != nil {
		return Result{}, err
	}
	d, err := p.OpenDir()
	if err != nil {
		return Result{}, openError(err, printable(p.Given))
	}
	defer d.Close()
	entries, err := d.ReadDir(maxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return Result{}, fmt.Errorf("%s cannot be listed: %s", printable(p.Given), reason(err))
	}
	visible := r.visibleIn(p.Path)
	hidden := len(entries)
	if visible != nil {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !visible(filepath.Join(p.Path, e.Name()), e.IsDir()) })
	}
	hidden -= len(entries)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	ignored := walk.IgnoredIn(walk.Options{Top: rootOf(p), Dir: p.Path}, entries)
	var out strings.Builder
	shown, chars := 0, 0
	for _, e := range entries[:min(len(entries), in.Limit)] {
		line := entryLine(p, e, ignored[e.Name()])
		if chars += utf8.RuneCountInString(line) + 1; chars > r.room(p.Given) {
			break
		}
		out.WriteString(line + "\n")
		shown++
	}
	notes := listNotes(shown, len(entries), in.Limit)
	if hidden > 0 {
		notes = append(notes, fmt.Sprintf("(%s may not be read by rule)", count(hidden, "entry")))
	}
	if n := r.followed(p); n != "" {
		notes = append(notes, n)
	}
	return Result{Text: withNotes(out.String(), notes)}, nil
}

// listNotes say how much of a folder is not shown and how to see it.
func listNotes(shown, total, limit int) []string {
	all := count(total, "entry")
	if total == maxEntries {
		all = "more than " + all
	}
	switch {
	case total == 0:
		return []string{"(the folder is empty)"}
	case shown == total:
		return nil
	case shown < limit:
		return []string{fmt.Sprintf("(%s of %s; the rest does not fit: use Glob with a pattern)", thousands(shown), all)}
	}
	return []string{fmt.Sprintf("(%s of %s; set limit to see more, or use Glob with a pattern)", thousands(shown), all)}
}

// entryLine is type, size, time and name of an entry, and where a link leads.
func entryLine(p roots.Place, e fs.DirEntry, ignored bool) string {
	kind, bytes, when := "other", "-", "-"
	name := printable(e.Name())
	info, err := e.Info()
	switch m := e.Type(); {
	case m.IsDir():
		kind = "dir"
		name += "/"
	case m&fs.ModeSymlink != 0:
		kind = "link"
		if target, err := p.Root.Readlink(filepath.Join(p.Rel, e.Name())); err == nil {
			name += " -> " + printable(target)
		}
	case m.IsRegular():
		kind = "file"
		if err == nil {
			bytes = fmt.Sprint(info.Size())
		}
	}
	if err == nil {
		when = info.ModTime().Format(time.DateTime)
	}
	line := fmt.Sprintf("%-5s %10s  %-19s  %s", kind, bytes, when, name)
	if ignored {
		line += "  (ignored)"
	}
	return line
}

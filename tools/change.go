package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"ferrule/tools/internal/atomicfile"
	"ferrule/tools/internal/roots"
	"ferrule/tools/internal/text"
)

// A version is new content of a file on its way to the disk.
type version struct {
	data  []byte
	total int  // lines
	whole bool // the model wrote all of it, so all counts as seen
}

// A change makes the next version of a file; old is nil when there is none. It
// runs while the file is locked.
type change func(old *atomicfile.Content) (version, error)

// write lets a tool change one file: read, check and replace under one lock,
// recorded in history before and in the record of what was seen afterwards.
// name is how to call the file.
func (r *request) write(ctx context.Context, tool string, p roots.Place, name string, make change) (outcome, error) {
	var next version
	o := atomicfile.Options{Parents: true}
	note := r.record(&o, tool, p)
	recorded := o.End
	o.End = func(out atomicfile.Outcome, err error) {
		if recorded != nil {
			recorded(out, err)
		}
		if out.Written {
			r.seen.written(p.Path, out.Stamp, next.total, next.whole)
		}
	}
	out, err := r.files.Update(ctx, p.Root, p.Rel, o, func(old *atomicfile.Content) ([]byte, error) {
		var err error
		next, err = make(old)
		return next.data, err
	})
	if err != nil && !out.Written {
		return outcome{}, writeError(err, name)
	}
	return outcome{out, note()}, err
}

// An outcome is what came of a write.
type outcome struct {
	atomicfile.Outcome
	past string // why it cannot be taken back, or ""
}

// writeError puts what can go wrong while writing into words.
func writeError(err error, name string) error {
	var large atomicfile.ErrTooLarge
	switch {
	case errors.As(err, &large):
		return fmt.Errorf("%s has %s, more than the %s that can be edited; change it with Bash", name, size(large.Size), size(large.Max))
	case errors.Is(err, atomicfile.ErrStale), errors.Is(err, atomicfile.ErrChanging):
		return fmt.Errorf("%s was changed by another program at the same moment; read it again and repeat the edit", name)
	case errors.Is(err, atomicfile.ErrSpecial):
		return fmt.Errorf("%s is not a regular file", name)
	case errors.Is(err, atomicfile.ErrTorn):
		return fmt.Errorf("%s: %v; Undo has the old content", name, err)
	case isSystem(err):
		return fmt.Errorf("%s cannot be written: %s; nothing was changed", name, reason(err))
	}
	return err
}

// isSystem reports whether err came from the operating system, not from a
// check of ours.
func isSystem(err error) bool {
	var path *fs.PathError
	var number syscall.Errno
	return errors.As(err, &path) || errors.As(err, &number)
}

// gone is the error for a file that was to be edited and is not there.
func (r *request) gone(p roots.Place) error {
	if r.seen.knows(p.Path) {
		return fmt.Errorf("%s is gone: it was deleted after it was read; Write makes it anew", printable(p.Given))
	}
	return r.missing(p)
}

// decode returns the text of content that is to be edited.
func decode(old *atomicfile.Content, name string) (*text.File, error) {
	if err := noDocument(old.Data, name); err != nil {
		return nil, err
	}
	f := text.Decode(old.Data, "")
	if f.Binary() {
		return nil, fmt.Errorf("%s is not text: binary content of %s; change it with Bash", name, size(int64(len(old.Data))))
	}
	return f, nil
}

// writeNotes tell what must be said of a change beside its success.
func (r *request) writeNotes(p roots.Place, out outcome, encoding string) string {
	var notes []string
	if n := r.followed(p); n != "" {
		notes = append(notes, n)
	}
	if encoding != "" && encoding != "UTF-8" {
		notes = append(notes, "(encoded as "+encoding+")")
	}
	if out.InPlace != "" {
		notes = append(notes, "(written in place: "+out.InPlace+")")
	}
	if out.OwnerLost {
		notes = append(notes, "(the system did not let the file keep its owner)")
	}
	if out.Left != "" {
		notes = append(notes, "(another program saved at the same time; its version is kept in "+out.Left+")")
	}
	if out.Written && out.past != "" {
		notes = append(notes, out.past)
	}
	if len(notes) == 0 {
		return ""
	}
	return "\n" + strings.Join(notes, "\n")
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"ferrule/tools/permit"
)

// maxEntries is how many entries are shown at most. The whole log has a few hundred thousand.
const maxEntries = 1_000_000

// audit prints what was decided, the oldest first.
func audit(f *flag.FlagSet) action {
	asJSON := f.Bool("json", false, "")
	session := f.String("session", "", "")
	last := f.Int("n", 50, "")
	return func(ctx context.Context, e environment, o options, args []string) error {
		if len(args) > 0 || *last < 1 || *last > maxEntries {
			return fmt.Errorf("usage: ferrule audit [--json] [-n N] [--session ID]; N is 1 to %d", maxEntries)
		}
		if o.workspace.State == "" {
			return errors.New("there is no log, because neither FERRULE_HOME nor HOME is set")
		}
		entries, more, err := tail(ctx, o.workspace.State, *session, *last)
		if err == nil && len(entries) == 0 && *session != "" {
			err = noSession(ctx, o.workspace.State, *session)
		}
		if err != nil {
			return err
		}
		if *asJSON {
			enc := json.NewEncoder(e.out)
			enc.SetEscapeHTML(false)
			for _, x := range entries {
				if err := enc.Encode(x); err != nil {
					return err
				}
			}
			return nil
		}
		return writeAudit(e.out, entries, more)
	}
}

// tail returns the last n entries and how many stand before them.
func tail(ctx context.Context, state, session string, n int) (entries []permit.Entry, more int, err error) {
	for x, err := range permit.Entries(state) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, 0, err
		}
		if session != "" && x.Session != session {
			continue
		}
		if entries = append(entries, x); len(entries) >= 2*n {
			more += len(entries) - n
			entries = append(entries[:0], entries[len(entries)-n:]...)
		}
	}
	if cut := len(entries) - n; cut > 0 {
		more += cut
		entries = entries[cut:]
	}
	return entries, more, nil
}

// noSession is the error for a session of which the log knows nothing. It names
// those that were at work last.
func noSession(ctx context.Context, state, session string) error {
	entries, _, err := tail(ctx, state, "", 1000)
	if err != nil {
		return err
	}
	var last []string
	for _, x := range slices.Backward(entries) {
		if x.Session != "" && !slices.Contains(last, shown(x.Session)) {
			last = append(last, shown(x.Session))
		}
		if len(last) == 5 {
			break
		}
	}
	if len(last) == 0 {
		return fmt.Errorf("there is no session %s in the log, which names none", shown(session))
	}
	return fmt.Errorf("there is no session %s in the log; the last are: %s", shown(session), strings.Join(last, ", "))
}

func writeAudit(out io.Writer, entries []permit.Entry, more int) error {
	if len(entries) == 0 {
		_, err := fmt.Fprintln(out, "Nothing has been decided yet.")
		return err
	}
	if more > 0 {
		fmt.Fprintf(out, "(%d before these; -n N shows more)\n", more)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TIME\tSESSION\tTOOL\tDECISION\tRULE")
	for _, x := range entries {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", x.Time.Local().Format(time.DateTime), shown(cmp.Or(x.Session, "-")), shown(x.Tool),
			shown(x.Decision), shown(cmp.Or(x.Rule, "-")))
	}
	return w.Flush()
}

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"ferrule/tools"
)

// undo takes back changes from outside, also after the session that made them.
func undo(f *flag.FlagSet) action {
	var u tools.UndoOptions
	list := f.Bool("list", false, "")
	f.StringVar(&u.Session, "session", "", "")
	f.IntVar(&u.Steps, "steps", 1, "")
	return func(ctx context.Context, e environment, o options, args []string) error {
		if len(args) > 1 || u.Steps < 1 {
			return errors.New("usage: ferrule undo [--list] [--session ID] [--steps N] [FILE]")
		}
		if len(args) == 1 {
			u.File = args[0]
		}
		s, err := tools.NewSession(o.workspace)
		if err != nil {
			return err
		}
		defer s.Close()
		if *list {
			return s.WriteChanges(e.out, u)
		}
		text, err := s.Undo(ctx, u)
		if text != "" {
			fmt.Fprintln(e.out, text)
		}
		return err
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"

	"ferrule/tools"
)

// listTools prints the catalogue, with --json as a client gets it.
func listTools(f *flag.FlagSet) action {
	asJSON := f.Bool("json", false, "")
	return func(ctx context.Context, e environment, o options, _ []string) error {
		closeMemory, err := o.useMemory(e)
		if err != nil {
			return err
		}
		defer closeMemory()
		if *asJSON {
			return listJSON(ctx, e, o)
		}
		return listText(e, o)
	}
}

func listJSON(ctx context.Context, e environment, o options) error {
	s, err := newServer(o)
	if err != nil {
		return err
	}
	c, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	list, err := c.Request(ctx, "tools/list", nil)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, list, "", " "); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.out, "%s\n", b.Bytes())
	return err
}

func listText(e environment, o options) error {
	chosen, err := tools.Select(o.selection)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TOOL\tSET\tCHANGES\tWHAT IT DOES")
	for _, t := range chosen {
		changes := "yes"
		if t.Hints.ReadOnly {
			changes = "no"
		}
		first, _, _ := strings.Cut(t.Description, "\n")
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Name, t.Toolset, changes, first)
	}
	return w.Flush()
}

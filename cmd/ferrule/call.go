package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"ferrule/mcpserver/mcpclient"
)

// call makes calls through the real server, one after the other in one
// session, so that an Edit can follow the Read it needs:
//
//	ferrule call Read '{"file_path": "a.go"}' Edit '{"file_path": "a.go", …}'
//
// "-" instead of the JSON reads it from standard input. It stops at the first
// call that fails.
func call(ctx context.Context, e environment, o options, args []string) error {
	if len(args) == 0 || len(args)%2 != 0 {
		return fmt.Errorf("usage: ferrule call TOOL JSON [TOOL JSON ...]")
	}
	s, err := newServer(o)
	if err != nil {
		return err
	}
	c, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for len(args) > 0 {
		tool, text := args[0], []byte(args[1])
		args = args[2:]
		if string(text) == "-" {
			if text, err = io.ReadAll(e.in); err != nil {
				return err
			}
		}
		if !json.Valid(text) {
			return fmt.Errorf("the arguments of %s are not JSON: %s", tool, text)
		}
		res, err := c.Call(ctx, tool, text)
		if err != nil {
			return err
		}
		if err := printResult(e, res); err != nil {
			if len(args) > 0 {
				fmt.Fprintf(e.err, "ferrule: %d more calls were not made\n", len(args)/2)
			}
			return err
		}
	}
	return nil
}

func printResult(e environment, res *mcpclient.CallResult) error {
	for _, c := range res.Content {
		if c.Type == "text" {
			fmt.Fprintln(e.out, c.Text)
		} else {
			fmt.Fprintf(e.out, "(%s %s, %d characters of base64)\n", c.Type, c.MIMEType, len(c.Data))
		}
	}
	if res.IsError {
		return errTold
	}
	return nil
}

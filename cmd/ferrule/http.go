package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"slices"

	"ferrule/mcpserver"
	"ferrule/mcpserver/auth"
	"ferrule/shell"
)

// serveHTTP serves many clients over HTTP, each by its token.
func serveHTTP(f *flag.FlagSet) action {
	addr := f.String("addr", "127.0.0.1:7117", "")
	era := f.String("http-era", "all", "")
	var c mcpserver.HTTPConfig
	f.StringVar(&c.Cert, "cert", "", "")
	f.StringVar(&c.Key, "key", "", "")
	f.BoolVar(&c.BehindProxy, "behind-proxy", false, "")
	f.BoolVar(&c.NoAuth, "no-auth", false, "")
	f.Func("host", "", list(&c.Hosts))
	f.Func("origin", "", list(&c.Origins))
	return func(ctx context.Context, e environment, o options, args []string) error {
		if len(args) > 0 || *era != "all" && *era != "legacy" {
			return errors.New("usage: ferrule http [--addr HOST:PORT] [--http-era all|legacy] and other flags; see ferrule help")
		}
		c.Legacy = *era == "legacy"
		c.Log = e.err
		o.workspace.Login = shell.AskLogin()
		defer o.workspace.Login.Close()
		c.Serve = func(p auth.Principal) (mcpserver.Config, error) { return configFor(o, p) }
		if _, err := mcpserver.New(configOf(o)); err != nil { // what is wrong with the flags shows now, not with the first client
			return err
		}
		if !c.NoAuth {
			tokens, made, err := auth.Open(o.workspace.State)
			if err != nil {
				return err
			}
			c.Tokens = tokens
			if made != "" {
				fmt.Fprintf(e.err, "ferrule: made a token for clients; it is in %s\n", made)
			}
		}
		l, err := net.Listen("tcp", *addr)
		if err != nil {
			return err
		}
		c.Ready = func() {
			scheme := "http"
			if c.Cert != "" {
				scheme = "https"
			}
			fmt.Fprintf(e.err, "ferrule: serving %s://%s/mcp\n", scheme, l.Addr())
			fmt.Fprintf(e.err, "ferrule: %s\n", o.sandboxed())
		}
		return mcpserver.ServeHTTP(ctx, l, c)
	}
}

// list returns the function of a flag that may be given several times.
func list(to *[]string) func(string) error {
	return func(s string) error {
		if s == "" {
			return errors.New("it is empty")
		}
		if !slices.Contains(*to, s) {
			*to = append(*to, s)
		}
		return nil
	}
}

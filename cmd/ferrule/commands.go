package main

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
)

// commandFlags binds the flags about what commands get and may reach.
func (o *options) commandFlags(f *flag.FlagSet) {
	f.Func("env-pass", "", list(&o.workspace.EnvPass))
	f.StringVar(&o.workspace.Sandbox.Mode, "sandbox", "", "")
	f.Func("sandbox-write", "", func(s string) error {
		if s == "" {
			return errors.New("the path is empty")
		}
		abs, err := filepath.Abs(s)
		o.workspace.Sandbox.Write = append(o.workspace.Sandbox.Write, abs)
		return err
	})
	f.Func("network", "", func(s string) error {
		if s != "on" && s != "off" {
			return fmt.Errorf("it is on or off, not %q", s)
		}
		o.workspace.Sandbox.NoNetwork = s == "off"
		return nil
	})
}

// sandboxed says in a line what holds commands back.
func (o *options) sandboxed() string {
	line, err := o.workspace.Sandbox.Check()
	if err != nil {
		return err.Error()
	}
	return line
}

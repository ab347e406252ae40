package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// S076: what stands behind call is a tool's name and its arguments, whatever it
// looks like.
func TestCallData(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	settings := filepath.Join(dir, "x")
	if err := os.WriteFile(settings, []byte("not settings"), 0o666); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"call Read -- --settings=" + settings:        "usage: ferrule call",
		"call Read --settings=" + settings:           "the arguments of Read are not JSON",
		"call --settings=" + settings + " {}":        "flag provided but not defined",
		"call -- --settings=" + settings + " {}":     "there is no tool",
		"call Read {\"file_path\":\"--settings=x\"}": "--settings=x does not exist",
	} {
		var said bytes.Buffer
		getenv := func(name string) string { return map[string]string{"FERRULE_HOME": home}[name] }
		code := run(t.Context(), environment{in: strings.NewReader(""), out: &said, err: &said, getenv: getenv},
			append([]string{"--root", dir}, strings.Fields(args)...))
		if code == 0 || !strings.Contains(said.String(), want) {
			t.Errorf("%s: exit code %d, said %q, want %q", args, code, &said, want)
		}
	}
}

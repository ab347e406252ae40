package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"ferrule/cmd/ferrule/internal/clients"
	"ferrule/mcpserver/mcpclient"
)

// startLimit is how long an entry may take to start and to list its tools.
const startLimit = 10 * time.Second

// A place is one file in which a client looks for servers.
type place struct {
	client  clients.Client
	path    string
	project bool
}

// checkClients looks into the clients' files of this machine and this project
// for entries that start ferrule, and starts each as its client would. It
// reports whether all that were to be started work.
//
// A file of the project may be somebody else's, so it decides nothing: no
// program is run but this very one, only to serve, with flags that can do no
// harm and without the variables that the file sets.
func checkClients(ctx context.Context, e environment, o options, say func(client, found string)) bool {
	ok := true
	for _, p := range places(e, o) {
		data, err := clients.Load(p.path)
		if err == nil && data == nil {
			continue
		}
		var entries []clients.Entry
		if err == nil {
			entries, err = p.client.Entries(data)
		}
		if err != nil {
			say(p.client.Name, printable(fmt.Sprintf("%s: %v", p.path, err)))
			continue
		}
		for _, entry := range entries {
			if !isFerrule(entry) {
				continue
			}
			found, works := p.check(ctx, e, o, entry)
			ok = ok && works
			say(p.client.Name, printable(fmt.Sprintf("%q in %s: %s", entry.Name, p.path, found)))
		}
	}
	return ok
}

// printable makes text of files and programs fit for a line on a terminal.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
	if len(s) > 1000 {
		s = strings.ToValidUTF8(s[:1000], "") + "…"
	}
	return s
}

// places returns the files that there may be, each once for each form.
func places(e environment, o options) (all []place) {
	m, dir := machine(e), projectDir(o)
	add := func(p place) {
		same := func(q place) bool { return q.path == p.path && q.client.Key() == p.client.Key() }
		if !slices.ContainsFunc(all, same) {
			all = append(all, p)
		}
	}
	for _, c := range clients.All() {
		if c.HasGlobal() && m.Home != "" {
			add(place{c, c.GlobalFile(m), false})
		}
	}
	for _, c := range clients.All() {
		if c.HasProject() && dir != "" {
			add(place{c, c.ProjectFile(dir, "ferrule"), true})
		}
	}
	return all
}

// isFerrule reports whether an entry starts ferrule, by the name of its
// program, or is called so.
func isFerrule(entry clients.Entry) bool {
	if entry.Command == "" {
		return entry.Name == "ferrule" && entry.URL != ""
	}
	base := strings.ToLower(entry.Command[strings.LastIndexAny(entry.Command, `/\`)+1:])
	return strings.TrimSuffix(base, ".exe") == "ferrule"
}

// check says in a few words what an entry does.
func (p place) check(ctx context.Context, e environment, o options, entry clients.Entry) (found string, works bool) {
	switch {
	case entry.Off:
		return "switched off in the file", true
	case entry.Command == "":
		return "for a server that runs already, at " + entry.URL + "; not tried", true
	}
	path, err := exec.LookPath(entry.Command)
	if err != nil || !filepath.IsAbs(path) {
		return fmt.Sprintf("COMMAND NOT FOUND: %s; ferrule config %s --write --force mends the entry", entry.Command, p.client.Name), false
	}
	args := make([]string, len(entry.Args))
	for i, a := range entry.Args {
		args[i] = strings.ReplaceAll(a, "${workspaceFolder}", projectDir(o))
	}
	if i := slices.IndexFunc(args, func(a string) bool { return strings.Contains(a, "${") }); i >= 0 {
		return fmt.Sprintf("not tried: only the client knows what %s is", args[i]), true
	}
	own, err := os.Executable()
	ours := err == nil && sameFile(path, own)
	if p.project && !ours {
		return fmt.Sprintf("NOT STARTED: a file of the project names a program that is not this one (%s)", path), true
	}
	if ours {
		if err := serves(args, p.project); err != nil {
			return "NOT STARTED: " + err.Error(), p.project
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	v := version()
	if !ours {
		if v, err = versionOf(ctx, path); err != nil {
			return fmt.Sprintf("NOT STARTED: %s %v", path, err), false
		}
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = projectDir(o)
	cmd.Env = os.Environ()
	if home := e.getenv("FERRULE_HOME"); home != "" {
		cmd.Env = append(cmd.Env, "FERRULE_HOME="+home)
	}
	left := ""
	for _, name := range slices.Sorted(maps.Keys(entry.Env)) {
		if p.project {
			left = " (project file: its variables were left out)"
			continue
		}
		cmd.Env = append(cmd.Env, name+"="+entry.Env[name])
	}
	n, err := try(ctx, cmd)
	if err != nil {
		return "DOES NOT WORK: " + err.Error() + left, false
	}
	found = fmt.Sprintf("works, %d tools%s", n, left)
	if v != version() {
		found += fmt.Sprintf("; it is ferrule %s, this is %s", v, version())
	}
	return found, true
}

// harmless are the flags with which a file of the project may have this program
// tried: they neither write nor run anything.
var harmless = []string{
	"root", "C", "add-dir", "read-dir", "toolsets", "tools", "read-only", "max-result-chars", "permission",
}

// serves says why arguments do not make this program a server on standard
// input, or why they are not tried.
func serves(args []string, project bool) (err error) {
	var o options
	f := o.flags()
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("its arguments are wrong: %v", err)
	}
	if f.NArg() > 0 {
		return fmt.Errorf("its arguments %q do not make it a server on standard input", args)
	}
	f.Visit(func(fl *flag.Flag) {
		if project && !slices.Contains(harmless, fl.Name) {
			err = fmt.Errorf("a file of the project gives it the flag --%s", fl.Name)
		}
	})
	return err
}

// versionOf asks a program that is called ferrule whether it is one.
func versionOf(ctx context.Context, path string) (string, error) {
	cmd := exec.CommandContext(ctx, path, "version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	v, is := strings.CutPrefix(strings.TrimSpace(string(out)), "ferrule ")
	if err != nil || !is {
		return "", errors.New("does not say that it is ferrule")
	}
	return v, nil
}

// maxTried is the most that a tried server may answer, in bytes.
const maxTried = 4 << 20

// try starts a server, does the handshake and counts its tools. The process has
// ended when it returns.
func try(ctx context.Context, cmd *exec.Cmd) (tools int, err error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	var said head
	cmd.Stderr = &said
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("it cannot be started: %v", err)
	}
	conn := mcpclient.New(in, io.LimitReader(out, maxTried), nil)
	tools, err = handshake(ctx, conn)
	late := ctx.Err() != nil
	in.Close()
	cmd.Wait() // how it ends does not matter any more; this also ends conn's reading
	conn.Close()
	switch {
	case err == nil:
		return tools, nil
	case late:
		return 0, fmt.Errorf("no answer in %v", startLimit)
	case said.first() != "":
		return 0, errors.New(said.first())
	}
	return 0, err
}

func handshake(ctx context.Context, conn *mcpclient.Conn) (int, error) {
	raw, err := conn.Request(ctx, "initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "ferrule doctor", "version": version()},
	})
	if err != nil {
		return 0, err
	}
	var hello struct {
		ServerInfo struct{ Name string } `json:"serverInfo"`
	}
	if json.Unmarshal(raw, &hello) != nil || hello.ServerInfo.Name != "ferrule" {
		return 0, fmt.Errorf("another server answers: %q", hello.ServerInfo.Name)
	}
	if err := conn.Notify("notifications/initialized", nil); err != nil {
		return 0, err
	}
	if raw, err = conn.Request(ctx, "tools/list", nil); err != nil {
		return 0, err
	}
	var list struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(raw, &list); err != nil {
		return 0, fmt.Errorf("its list of tools cannot be read: %v", err)
	}
	return len(list.Tools), nil
}

// A head keeps the beginning of what a program says on standard error.
type head struct{ text []byte }

func (h *head) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), 2000-len(h.text))]...)
	return len(p), nil
}

func (h *head) first() string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(h.text)), "\n")
	return strings.TrimPrefix(line, "ferrule: ")
}

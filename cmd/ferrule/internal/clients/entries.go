package clients

import (
	"fmt"
	"maps"
	"slices"
)

// An Entry is a server in a client's file, as far as starting it goes.
type Entry struct {
	Name    string
	Command string // "" for a server that runs already
	Args    []string
	Env     map[string]string
	URL     string
	Off     bool // switched off in the file
}

// Entries returns the servers of a file. What has not the form of an entry is
// left out.
func (c Client) Entries(data []byte) ([]Entry, error) {
	_, text := cutBOM(data)
	if len(text) == 0 {
		return nil, nil
	}
	root, err := c.layout.decode(text)
	if err != nil {
		return nil, err
	}
	for _, k := range c.layout.container {
		o, _ := root.(map[string]any)
		root = o[k]
	}
	var all []Entry
	if items, ok := root.([]any); ok && c.layout.named {
		for _, item := range items {
			o, _ := item.(map[string]any)
			if n, ok := o["name"].(string); ok {
				all = append(all, read(n, o))
			}
		}
		return all, nil
	}
	o, _ := root.(map[string]any)
	for _, n := range slices.Sorted(maps.Keys(o)) {
		if e, ok := o[n].(map[string]any); ok {
			all = append(all, read(n, e))
		}
	}
	return all, nil
}

// read takes an entry apart, whatever its client calls the parts.
func read(name string, o map[string]any) Entry {
	e := Entry{Name: name, Env: map[string]string{}, Off: o["disabled"] == true || o["enabled"] == false}
	for _, k := range []string{"command", "cmd"} {
		if s, ok := o[k].(string); ok {
			e.Command = s
		}
	}
	e.Args = texts(o["args"])
	if argv := texts(o["command"]); len(argv) > 0 {
		e.Command, e.Args = argv[0], argv[1:]
	}
	for _, k := range []string{"env", "envs", "environment"} {
		vars, _ := o[k].(map[string]any)
		for name, v := range vars {
			e.Env[name] = fmt.Sprint(v)
		}
	}
	for _, k := range []string{"url", "httpUrl", "serverUrl", "uri"} {
		if s, ok := o[k].(string); ok {
			e.URL = s
		}
	}
	return e
}

func texts(v any) []string {
	items, _ := v.([]any)
	var all []string
	for _, x := range items {
		all = append(all, fmt.Sprint(x))
	}
	return all
}

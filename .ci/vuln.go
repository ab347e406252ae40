// Vuln judges what govulncheck found: every known weakness that our code reaches must stand in the allow-list with the
// reason why it does no harm here.
//
//	govulncheck -format json ./... | go run .ci/vuln.go .ci/vuln-allow.txt
//
// A line of the list is an identifier and its reason. A weakness counts when govulncheck shows a path of calls to it; one
// that is only in a package we import, or in a module, does not. Entries that are not found any more are named, but do no
// harm: which of Go's own weaknesses are found depends on the Go that runs the check.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// message is the part of govulncheck's output that matters here. The trace begins with the vulnerable symbol and ends
// with the function of ours; Function is empty where only the package is imported.
type message struct {
	OSV *struct {
		ID, Summary string
	}
	Finding *struct {
		OSV          string
		FixedVersion string `json:"fixed_version"`
		Trace        []struct {
			Module, Version, Package, Receiver, Function string
			Position                                     *struct {
				Filename string
				Line     int
			}
		}
	}
}

// weakness is one that is reached: what to print about it.
type weakness struct {
	module, fixed, path string
}

func main() {
	if err := judge(os.Stdin, os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func judge(in io.Reader, allowFile string, out io.Writer) error {
	allowed, err := allowList(allowFile)
	if err != nil {
		return err
	}
	reached, summary, err := findings(in)
	if err != nil {
		return err
	}
	bad := 0
	for _, id := range slices.Sorted(maps.Keys(reached)) {
		w := reached[id]
		if reason, ok := allowed[id]; ok {
			fmt.Fprintf(out, "note: %s is allowed: %s\n", id, reason)
			continue
		}
		bad++
		fmt.Fprintf(out, "%s %s\n  in %s, fixed in %s\n  %s\n", id, summary[id], w.module, w.fixed, w.path)
	}
	for _, id := range slices.Sorted(maps.Keys(allowed)) {
		if _, ok := reached[id]; !ok {
			fmt.Fprintf(out, "note: %s stands in %s, but is not reached\n", id, allowFile)
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d known weaknesses are reached and not in %s", bad, allowFile)
	}
	return nil
}

func allowList(name string) (map[string]string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	allowed := map[string]string{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		id, reason, _ := strings.Cut(line, " ")
		if reason = strings.TrimSpace(reason); reason == "" {
			return nil, fmt.Errorf("%s: %s has no reason", name, id)
		}
		allowed[id] = reason
	}
	return allowed, nil
}

// findings reads the whole stream. An empty one is an error: then govulncheck did not run.
func findings(in io.Reader) (reached map[string]weakness, summary map[string]string, err error) {
	reached, summary = map[string]weakness{}, map[string]string{}
	messages := 0
	for d := json.NewDecoder(in); ; messages++ {
		var m message
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, err
		}
		if m.OSV != nil {
			summary[m.OSV.ID] = m.OSV.Summary
		}
		f := m.Finding
		if f == nil || len(f.Trace) == 0 || f.Trace[0].Function == "" {
			continue
		}
		if _, ok := reached[f.OSV]; ok {
			continue
		}
		var steps []string
		for _, t := range slices.Backward(f.Trace) {
			name := strings.TrimPrefix(t.Receiver+"."+t.Function, ".")
			steps = append(steps, t.Package+"."+name)
		}
		reached[f.OSV] = weakness{
			module: f.Trace[0].Module + " " + f.Trace[0].Version,
			fixed:  cmp.Or(f.FixedVersion, "no version yet"),
			path:   strings.Join(steps, " → "),
		}
	}
	if messages == 0 {
		return nil, nil, errors.New("govulncheck said nothing")
	}
	return reached, summary, nil
}

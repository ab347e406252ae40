package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Entries are trees of object, list, string, bool and int, in the order in
// which they are to be written. In the table a slot stands for what only a
// Server knows.
type (
	object []field
	field  struct {
		key   string
		value any
	}
	list []any
	slot int
	// initial is written into a new entry. What the user or the client makes
	// of it later counts as right.
	initial struct{ value any }
)

const (
	command slot = iota
	args
	argv // command and arguments in one list
	env
	name
	url
	bearer // the value of the header Authorization
)

func with(o object, more ...field) object { return slices.Concat(o, object(more)) }

// entry fills in the client's form. Fields that would be empty are left out.
func (c Client) entry(s Server) object {
	form := c.stdio
	if s.URL != "" {
		form = c.http
	}
	return c.fill(form, s).(object)
}

func (c Client) fill(v any, s Server) any {
	switch v := v.(type) {
	case slot:
		return c.slot(v, s)
	case initial:
		return initial{c.fill(v.value, s)}
	case object:
		full := object{}
		for _, f := range v {
			if filled := c.fill(f.value, s); filled != nil {
				full = append(full, field{f.key, filled})
			}
		}
		return full
	}
	return v
}

func (c Client) slot(v slot, s Server) any {
	switch v {
	case command:
		return s.Command
	case args:
		if len(s.Args) == 0 {
			return nil
		}
		return toList(s.Args)
	case argv:
		return toList(append([]string{s.Command}, s.Args...))
	case env:
		if len(s.Env) == 0 {
			return nil
		}
		vars := object{}
		for _, k := range slices.Sorted(maps.Keys(s.Env)) {
			vars = append(vars, field{k, s.Env[k]})
		}
		return vars
	case name:
		return s.Name
	case url:
		return s.URL
	}
	switch {
	case c.variable != "":
		return "Bearer " + c.variable
	case s.Token != "":
		return "Bearer " + s.Token
	}
	return "Bearer <the content of " + s.TokenFile + ">"
}

func toList(s []string) list {
	l := make(list, len(s))
	for i := range s {
		l[i] = s[i]
	}
	return l
}

// under puts an entry below the keys that are missing.
func under(keys []string, v any) any {
	for _, k := range slices.Backward(keys) {
		v = object{{k, v}}
	}
	return v
}

// Snippet is what a file that has no server yet would hold, ending with a
// newline.
func (c Client) Snippet(s Server) string {
	e, l := c.entry(s), c.layout
	switch l.format {
	case formatTOML:
		return tomlTable(append(slices.Clone(l.container), s.Name), e, "\n")
	case formatYAML:
		return strings.ReplaceAll(l.head, "{name}", s.Name) + l.yamlTree(e, s.Name)
	}
	return style{unit: "  ", nl: "\n"}.json(under(append(slices.Clone(l.container), s.Name), e), "") + "\n"
}

func (l layout) yamlTree(e object, name string) string {
	return yamlKeys(l.container) + yamlItem(l, e, name, strings.Repeat("  ", len(l.container)), "\n")
}

func yamlKeys(keys []string) string {
	var b strings.Builder
	for i, k := range keys {
		fmt.Fprintf(&b, "%s%s:\n", strings.Repeat("  ", i), k)
	}
	return b.String()
}

// quote writes a string so that JSON, YAML and TOML read the same from it.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) // writing a string to memory cannot fail
	var out strings.Builder
	for _, r := range strings.TrimSuffix(b.String(), "\n") {
		switch {
		case r >= 0x7f && r <= 0x9f, r == 0xfeff, r == 0xfffe, r == 0xffff: // not printable in YAML, 7f not allowed in TOML
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// A style is how a JSON file is written.
type style struct{ unit, nl string }

// json writes a tree. The first line has no indentation, the last line has
// indent. Lists stay on one line.
func (st style) json(v any, indent string) string {
	o, ok := v.(object)
	if !ok || len(o) == 0 {
		return compactJSON(v)
	}
	var b strings.Builder
	b.WriteString("{")
	for i, f := range o {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(st.nl + indent + st.unit + quote(f.key) + ": " + st.json(plain(f.value), indent+st.unit))
	}
	b.WriteString(st.nl + indent + "}")
	return b.String()
}

func plain(v any) any {
	if i, ok := v.(initial); ok {
		return i.value
	}
	return v
}

// compactJSON writes a tree on one line.
func compactJSON(v any) string {
	switch v := plain(v).(type) {
	case object:
		parts := make([]string, len(v))
		for i, f := range v {
			parts[i] = quote(f.key) + ": " + compactJSON(f.value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case list:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = compactJSON(v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	default:
		return scalar(v)
	}
}

func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	}
	panic(fmt.Sprintf("clients: %T has no place in an entry", v))
}

// tomlTable writes an entry as a table of its own; objects in it are inline.
func tomlTable(keys []string, e object, nl string) string {
	var b strings.Builder
	b.WriteString("[" + strings.Join(keys, ".") + "]" + nl) // keys are bare: see validName
	for _, f := range e {
		b.WriteString(f.key + " = " + tomlValue(f.value) + nl)
	}
	return b.String()
}

func tomlValue(v any) string {
	o, ok := plain(v).(object)
	if !ok {
		return compactJSON(v)
	}
	parts := make([]string, len(o))
	for i, f := range o {
		parts[i] = quote(f.key) + " = " + tomlValue(f.value)
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

// yamlItem writes an entry as an item of its container, each line indented.
func yamlItem(l layout, e object, name, indent, nl string) string {
	if l.named {
		text := yamlFields(e, indent+"  ", nl)
		return indent + "- " + strings.TrimPrefix(text, indent+"  ")
	}
	return indent + name + ":" + nl + yamlFields(e, indent+"  ", nl)
}

func yamlFields(e object, indent, nl string) string {
	var b strings.Builder
	for _, f := range e {
		b.WriteString(indent + yamlScalar(f.key) + ":")
		switch v := plain(f.value).(type) {
		case object:
			b.WriteString(nl + yamlFields(v, indent+"  ", nl))
		case list:
			b.WriteString(nl)
			for _, x := range v {
				b.WriteString(indent + "  - " + yamlScalar(x) + nl)
			}
		default:
			b.WriteString(" " + yamlScalar(v) + nl)
		}
	}
	return b.String()
}

// plainYAML is a string that YAML reads as itself without quotes, unless it is
// one of the words below.
var (
	plainYAML = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./-]*$`)
	wordsYAML = regexp.MustCompile(`^(?i:true|false|yes|no|on|off|y|n|null)$`)
)

func yamlScalar(v any) string {
	if s, ok := v.(string); ok && plainYAML.MatchString(s) && !wordsYAML.MatchString(s) {
		return s
	}
	return scalar(v)
}

package clients

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// A Change is what Merge makes of a file.
type Change struct {
	New  []byte // the whole new file; nil if there is nothing to do
	Diff string // what is replaced and by what, a line each; "" if nothing is
}

// A Conflict is an entry of the same name that is something else.
type Conflict struct{ Diff string }

func (*Conflict) Error() string { return "the file has another server of this name" }

// errUnsure is returned where the edited text does not read as the old one with
// the entry in it.
var errUnsure = errors.New("the file is written in a way that is not edited here; put the entry in by hand")

// A splice replaces the bytes from start to end.
type splice struct {
	start, end int
	text       string
	entry      bool // what is replaced is the entry itself
}

// Merge enters s in the file whose bytes are old; no bytes stand for a file
// that does not exist. Bytes outside of the entry stay as they are. An entry
// of the same name that differs is replaced only with force; else the error is
// a *Conflict. Other errors say why the file cannot be edited, with line and
// column where it is wrong.
func (c Client) Merge(old []byte, s Server, force bool) (Change, error) {
	if err := c.Check(s); err != nil {
		return Change{}, err
	}
	bom, text := cutBOM(old)
	if len(bytes.TrimSpace(text)) == 0 {
		return Change{New: append(bytes.Clone(bom), c.Snippet(s)...)}, nil
	}
	before, err := c.layout.decode(text)
	if err != nil {
		return Change{}, err
	}
	if err := c.foreign(before); err != nil {
		return Change{}, err
	}
	want := c.entry(s)
	now, there := c.layout.lookup(before, s.Name)
	if there && c.right(want, now) {
		return Change{}, nil
	}
	at, err := c.layout.edit(text, want, s)
	if err != nil {
		return Change{}, err
	}
	diff := ""
	if there {
		if !at.entry { // lookup and edit must agree on what is there
			return Change{}, errUnsure
		}
		diff = lines("- ", string(text[at.start:at.end])) + lines("+ ", at.text)
		if !force {
			return Change{}, &Conflict{diff}
		}
	}
	made := append(bytes.Clone(text[:at.start]), at.text...)
	made = append(made, text[at.end:]...)
	if err := c.layout.prove(before, made, want, s.Name); err != nil {
		return Change{}, err
	}
	return Change{New: append(bytes.Clone(bom), made...), Diff: diff}, nil
}

var utf8BOM = []byte("\ufeff")

func cutBOM(b []byte) (bom, rest []byte) {
	if bytes.HasPrefix(b, utf8BOM) {
		return b[:len(utf8BOM)], b[len(utf8BOM):]
	}
	return nil, b
}

// secret is what a terminal should not show of a header.
var secret = regexp.MustCompile(`(?i)(bearer\s+)[A-Za-z0-9._~+/-]{8,}=*`)

func lines(mark, text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\r\n")) {
		b.WriteString(mark + strings.TrimRight(line, "\r\n") + "\n")
	}
	return secret.ReplaceAllString(b.String(), "${1}(hidden)")
}

func (l layout) decode(text []byte) (any, error) {
	if deep(text) {
		return nil, errors.New("the file is nested more than 1,000 deep, which no client writes")
	}
	switch l.format {
	case formatTOML:
		return decodeTOML(text)
	case formatYAML:
		return decodeYAML(text)
	}
	return decodeJSON(text)
}

func (l layout) edit(text []byte, e object, s Server) (splice, error) {
	switch l.format {
	case formatTOML:
		return l.editTOML(text, e, s)
	case formatYAML:
		return l.editYAML(text, e, s)
	}
	return l.editJSON(text, e, s)
}

// deep reports whether brackets may be nested so deep that a parser that calls
// itself could exhaust its stack. Brackets in strings count as well.
func deep(text []byte) bool {
	depth := 0
	for _, b := range text {
		switch b {
		case '{', '[':
			depth++
		case '}', ']':
			depth = max(depth-1, 0)
		}
		if depth > 1000 {
			return true
		}
	}
	return false
}

// lookup returns the entry of a name.
func (l layout) lookup(root any, name string) (any, bool) {
	for _, k := range l.container {
		o, ok := root.(map[string]any)
		if !ok {
			return nil, false
		}
		root = o[k]
	}
	if l.named {
		items, _ := root.([]any)
		for _, item := range items {
			if o, ok := item.(map[string]any); ok && o["name"] == name {
				return o, true
			}
		}
		return nil, false
	}
	o, _ := root.(map[string]any)
	e, ok := o[name]
	return e, ok
}

// right reports whether an entry starts what is wanted: it has every field, and
// no argument or address that is not wanted.
func (c Client) right(want object, there any) bool {
	if !covers(want, there) {
		return false
	}
	o := there.(map[string]any) // or it would not cover an object
	for _, f := range slices.Concat(c.stdio, c.http) {
		_, optional := f.value.(initial)
		wanted := slices.ContainsFunc(want, func(w field) bool { return w.key == f.key })
		if !wanted && !optional && f.value != env && !empty(o[f.key]) {
			return false
		}
	}
	return true
}

func empty(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return v == nil || v == ""
}

// covers reports whether what is there has every field that is wanted. Fields
// beside those are the user's own.
func covers(want, there any) bool {
	switch want := want.(type) {
	case initial:
		return true
	case object:
		o, ok := there.(map[string]any)
		if !ok {
			return false
		}
		for _, f := range want {
			if _, is := f.value.(initial); !is && !covers(f.value, o[f.key]) {
				return false
			}
		}
		return true
	}
	return equal(want, there)
}

// equal compares a part of an entry with what a decoder made of it.
func equal(want, there any) bool {
	switch want := plain(want).(type) {
	case object:
		o, ok := there.(map[string]any)
		if !ok || len(o) != len(want) {
			return false
		}
		for _, f := range want {
			if !equal(f.value, o[f.key]) {
				return false
			}
		}
		return true
	case list:
		l, ok := there.([]any)
		if !ok || len(l) != len(want) {
			return false
		}
		for i := range want {
			if !equal(want[i], l[i]) {
				return false
			}
		}
		return true
	case int:
		return fmt.Sprint(want) == fmt.Sprint(there) // json.Number, int64 or int
	default:
		return want == there
	}
}

// prove compares the new text with the old tree: the entry is what was wanted,
// and everything else is what it was.
func (l layout) prove(before any, made []byte, want object, name string) error {
	after, err := l.decode(made)
	if err != nil {
		return errUnsure
	}
	got, ok := l.lookup(after, name)
	if !ok || !equal(want, got) || !reflect.DeepEqual(l.without(before, l.container, name), l.without(after, l.container, name)) {
		return errUnsure
	}
	return nil
}

// without returns a copy of the tree without the entry, and without what holds
// nothing but it.
func (l layout) without(v any, keys []string, name string) any {
	if len(keys) == 0 && l.named {
		var rest []any
		items, _ := v.([]any)
		for _, item := range items {
			if o, ok := item.(map[string]any); !ok || o["name"] != name {
				rest = append(rest, item)
			}
		}
		if len(rest) == 0 {
			return nil
		}
		return rest
	}
	o, ok := v.(map[string]any)
	if !ok {
		return v
	}
	rest := make(map[string]any, len(o))
	for k, x := range o {
		switch {
		case len(keys) == 0 && k == name:
			continue
		case len(keys) > 0 && k == keys[0]:
			if x = l.without(x, keys[1:], name); x == nil {
				continue
			}
		}
		rest[k] = x
	}
	if len(rest) == 0 {
		return nil
	}
	return rest
}

// foreign refuses a file that is written for the other of the two forms that
// opencode has had, since it refuses to start on a mixture.
func (c Client) foreign(root any) error {
	o, _ := root.(map[string]any)
	mcp, _ := o["mcp"].(map[string]any)
	older := false
	for k, v := range mcp {
		entry, _ := v.(map[string]any)
		older = older || k != "servers" && entry["type"] != nil
	}
	servers, _ := mcp["servers"].(map[string]any)
	newer := servers != nil && servers["type"] == nil
	switch {
	case c.Name == "opencode" && older:
		return errors.New(`the file has its servers directly under "mcp", as opencode 1 wants it; use opencode-1 for the client`)
	case c.Name == "opencode-1" && newer:
		return errors.New(`the file has its servers under "mcp.servers", as opencode 2 wants it; use opencode for the client`)
	}
	return nil
}

// newline returns the line break of a text.
func newline(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// indentation returns the white space at the beginning of the line that has
// the offset at in it.
func indentation(text []byte, at int) string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// place says where an offset is.
func place(text []byte, at int) string {
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	return fmt.Sprintf("line %d, column %d", bytes.Count(text[:at], []byte("\n"))+1, at-start+1)
}

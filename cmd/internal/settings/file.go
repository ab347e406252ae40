package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"ferrule/tools/permit"
)

// A settings file is one JSON object:
//
//	{"permissions": {"allow": [], "ask": [], "deny": [], "additionalDirectories": [], "defaultMode": "default"}, "memory": {}}
//
// It is read exactly: names in their case, once, and known.

// file is a settings file and what was found in it.
type file struct {
	path    string
	project string // the project it belongs to; "" for the user's

	data    []byte
	rules   []permit.Rule
	dirs    []Value[string]
	mode    Value[string]
	memory  json.RawMessage
	ignored []string // what has no effect in a project's file
}

// value is a JSON value with its place in the text.
type value struct {
	at      int
	kind    byte // { [ " or 0 for anything else
	text    string
	list    []*value
	members []member
}

type member struct {
	at    int
	name  string
	value *value
}

// parse reads the text of the file. An error begins with the place.
func (f *file) parse(data []byte) error {
	f.data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(f.data) {
		return fmt.Errorf("%s: the file is not UTF-8", f.path)
	}
	var any any
	var syntax *json.SyntaxError
	if err := json.Unmarshal(f.data, &any); errors.As(err, &syntax) {
		return f.fault(int(syntax.Offset)-1, "%v", syntax)
	} else if err != nil {
		return f.fault(0, "%v", err)
	}
	d := json.NewDecoder(bytes.NewReader(f.data))
	d.UseNumber()
	top, err := f.value(d)
	if err != nil {
		return err
	}
	if top.kind != '{' {
		return f.fault(top.at, "settings are one object, { … }")
	}
	for _, m := range top.members {
		switch m.name {
		case "$schema":
		case "memory": // package memory knows what it means
			f.memory, err = f.object(m, "enabled", "auto_search", "auto_ingest")
		case "permissions":
			err = f.permissions(m)
		default:
			err = f.unknown(m, "", "permissions, memory")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// value reads the next value, whose syntax is known to be right.
func (f *file) value(d *json.Decoder) (*value, error) {
	v := &value{at: f.next(d)}
	tok, err := d.Token()
	if err != nil {
		return nil, f.fault(v.at, "%v", err)
	}
	switch tok := tok.(type) {
	case string:
		v.kind, v.text = '"', tok
		if strings.ContainsAny(tok, "\x00\uFFFD") {
			return nil, f.fault(v.at, "the text holds a NUL or a broken character")
		}
	case json.Delim:
		v.kind = byte(tok)
		for d.More() {
			m := member{at: f.next(d)}
			if tok == '{' {
				name, err := f.value(d)
				if err != nil {
					return nil, err
				}
				for _, o := range v.members {
					if o.name == name.text {
						return nil, f.fault(m.at, "%q stands here twice", name.text)
					}
				}
				m.name = name.text
			}
			if m.value, err = f.value(d); err != nil {
				return nil, err
			}
			v.members, v.list = append(v.members, m), append(v.list, m.value)
		}
		if _, err := d.Token(); err != nil { // the closing bracket
			return nil, f.fault(v.at, "%v", err)
		}
	}
	return v, nil
}

// next is the offset of the next token.
func (f *file) next(d *json.Decoder) int {
	at := int(d.InputOffset())
	for at < len(f.data) && strings.IndexByte(" \t\r\n,:", f.data[at]) >= 0 {
		at++
	}
	return at
}

func (f *file) permissions(m member) error {
	if m.value.kind != '{' {
		return f.fault(m.value.at, `"permissions" has to be an object, { … }`)
	}
	for _, m := range m.value.members {
		var err error
		own := f.project == ""
		switch {
		case m.name == "allow":
			err = f.list(m, permit.Allow)
		case m.name == "ask":
			err = f.list(m, permit.Ask)
		case m.name == "deny":
			err = f.list(m, permit.Deny)
		case m.name == "additionalDirectories" && own:
			err = f.strings(m, func(v *value) { f.dirs = append(f.dirs, Value[string]{v.text, f.place(v.at)}) })
		case m.name == "defaultMode" && own:
			if m.value.kind != '"' {
				return f.fault(m.value.at, `"defaultMode" has to be a text, such as "plan"`)
			}
			f.mode = Value[string]{m.value.text, f.place(m.value.at)}
		default:
			err = f.unknown(m, "permissions.", "allow, ask, deny, additionalDirectories, defaultMode")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// object returns the text of a member that has to be an object, of which a
// project's file may only say what is narrowing.
func (f *file) object(m member, narrowing ...string) (json.RawMessage, error) {
	if m.value.kind != '{' {
		return nil, f.fault(m.value.at, "%q has to be an object, { … }", m.name)
	}
	for _, in := range m.value.members {
		if f.project == "" || slices.Contains(narrowing, in.name) {
			continue
		}
		if other := meant(in, m.name+".", narrowing); other != "" {
			return nil, f.fault(in.at, "there is no setting %q; perhaps %q is meant", m.name+"."+in.name, other)
		}
		f.ignored = append(f.ignored, f.noEffect(in, m.name+"."+in.name))
	}
	var top map[string]json.RawMessage
	err := json.Unmarshal(f.data, &top)
	return top[m.name], err
}

func (f *file) list(m member, effect permit.Verdict) error {
	return f.strings(m, func(v *value) {
		f.rules = append(f.rules, permit.Rule{Effect: effect, Text: v.text, At: f.place(v.at), Project: f.project})
	})
}

// strings reads a list of texts.
func (f *file) strings(m member, add func(*value)) error {
	if m.value.kind != '[' {
		return f.fault(m.value.at, "%q has to be a list of texts, [ … ]", m.name)
	}
	for _, v := range m.value.list {
		if v.kind != '"' {
			return f.fault(v.at, "%q has to be a list of texts", m.name)
		}
		add(v)
	}
	return nil
}

// unknown is what becomes of a key that is not on the list: the user is told at once, a project's has no effect, unless it
// may be meant to be a rule.
func (f *file) unknown(m member, within, known string) error {
	name := within + m.name
	if other := meant(m, within, nil); other != "" {
		return f.fault(m.at, "there is no setting %q; perhaps %q is meant", name, other)
	}
	if f.project == "" || within == "permissions." && m.value.kind == '[' && m.name != "additionalDirectories" {
		return f.fault(m.at, "there is no setting %q; known are: %s", name, known)
	}
	f.ignored = append(f.ignored, f.noEffect(m, name))
	return nil
}

func (f *file) noEffect(m member, name string) string {
	return fmt.Sprintf("%s: %q has no effect in a project's settings", f.place(m.at), name)
}

func (f *file) place(at int) string {
	before := f.data[:min(max(at, 0), len(f.data))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("%s:%d:%d", f.path, line, column)
}

func (f *file) fault(at int, format string, a ...any) error {
	return fmt.Errorf("%s: %s", f.place(at), fmt.Sprintf(format, a...))
}

// maxFile is the size of the largest settings file, in bytes.
const maxFile = 1 << 20

// readFile reads a regular file.
func readFile(path string) ([]byte, error) {
	return read(path, os.Stat, os.OpenFile)
}

// readWithin reads a regular file of a folder, never one outside that a link leads to.
func readWithin(dir, rel string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	data, err := read(rel, root.Lstat, root.OpenFile)
	if errors.Is(err, syscall.ENOTDIR) {
		err = fs.ErrNotExist
	}
	var in *fs.PathError
	if errors.As(err, &in) && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("it cannot be read (%v), so neither can its deny rules; mend or remove it", in.Err)
	}
	return data, err
}

func read(name string, stat func(string) (fs.FileInfo, error), open func(string, int, fs.FileMode) (*os.File, error)) ([]byte, error) {
	special := errors.New("it is no regular file, so its deny rules cannot be read; remove it")
	fi, err := stat(filepath.Clean(name))
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, special
	}
	flag := os.O_RDONLY
	if runtime.GOOS != "windows" {
		flag |= syscall.O_NONBLOCK // a FIFO put there meanwhile must not hold us
	}
	f, err := open(name, flag, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi, err = f.Stat(); err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, special
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if len(data) > maxFile {
		return nil, fmt.Errorf("it is longer than %d bytes; shorten or remove it", maxFile)
	}
	return data, err
}

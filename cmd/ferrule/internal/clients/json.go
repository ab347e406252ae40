package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// parseJSON reads JSON with comments and trailing commas. Offsets in the
// result are those of text.
func parseJSON(text []byte) (hujson.Value, error) {
	v, err := hujson.Parse(text)
	if err != nil {
		msg := strings.TrimPrefix(err.Error(), "hujson: ")
		if len(msg) > 200 {
			msg = msg[:200]
		}
		return v, fmt.Errorf("the file is not JSON: %s", strings.ToValidUTF8(msg, "?"))
	}
	return v, nil
}

func decodeJSON(text []byte) (any, error) {
	v, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	v = v.Clone()
	v.Standardize()
	d := json.NewDecoder(bytes.NewReader(v.Pack()))
	d.UseNumber()
	var tree any
	return tree, d.Decode(&tree)
}

// editJSON finds the place for an entry: its value, or the end of the object
// that should have it, or of the deepest one that exists.
func (l layout) editJSON(text []byte, e object, s Server) (splice, error) {
	root, err := parseJSON(text)
	if err != nil {
		return splice{}, err
	}
	st := styleOf(text, root)
	v, keys := &root, append(l.container[:len(l.container):len(l.container)], s.Name)
	for i, k := range keys {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			if v.Value.Kind() == 'n' { // null holds nothing that could be lost
				return splice{v.StartOffset, v.EndOffset, st.json(under(keys[i:], e), indentation(text, v.StartOffset)), false}, nil
			}
			return splice{}, fmt.Errorf("%s: an object must stand there to hold %q", place(text, v.StartOffset), k)
		}
		next, err := member(text, o, k)
		if err != nil {
			return splice{}, err
		}
		if next == nil {
			return st.insert(text, v, field{k, under(keys[i+1:], e)}), nil
		}
		v = next
	}
	return splice{v.StartOffset, v.EndOffset, st.json(e, indentation(text, v.StartOffset)), true}, nil
}

// member returns the value of a key, or nil.
func member(text []byte, o *hujson.Object, key string) (found *hujson.Value, err error) {
	for i := range o.Members {
		m := &o.Members[i]
		if n, ok := m.Name.Value.(hujson.Literal); !ok || n.String() != key {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%s: the key %q stands here a second time; remove one", place(text, m.Name.StartOffset), key)
		}
		found = &m.Value
	}
	return found, nil
}

// insert adds a member at the end of an object, on a line of its own unless
// the object is written on one line.
func (st style) insert(text []byte, v *hujson.Value, f field) splice {
	o := v.Value.(*hujson.Object)
	brace := v.EndOffset - 1
	after := len(bytes.TrimRight(text[:brace], " \t\r\n")) // behind the last member, comma or comment
	inner := text[v.StartOffset:v.EndOffset]
	if len(o.Members) == 0 {
		indent := indentation(text, v.StartOffset)
		return splice{after, brace, st.nl + indent + st.unit + st.pair(f, indent+st.unit) + st.nl + indent, false}
	}
	last := o.Members[len(o.Members)-1]
	trailing := last.Value.AfterExtra != nil
	if !bytes.ContainsRune(inner, '\n') {
		comma, end := ", ", ""
		if trailing {
			comma, end = " ", ","
		}
		return splice{after, after, comma + quote(f.key) + ": " + compactJSON(f.value) + end, false}
	}
	indent := indentation(text, o.Members[0].Name.StartOffset)
	pair := st.nl + indent + st.pair(f, indent)
	if trailing {
		return splice{after, after, pair + ",", false}
	}
	// The comma goes directly behind the value; comments behind it stay there.
	end := last.Value.EndOffset
	return splice{end, after, "," + string(text[end:after]) + pair, false}
}

func (st style) pair(f field, indent string) string {
	return quote(f.key) + ": " + st.json(f.value, indent)
}

// styleOf tells how a file is indented: as the first member that begins a
// line.
func styleOf(text []byte, root hujson.Value) style {
	st := style{unit: "  ", nl: newline(text)}
	if o, ok := root.Value.(*hujson.Object); ok {
		for _, m := range o.Members {
			indent := indentation(text, m.Name.StartOffset)
			if bytes.ContainsRune(m.Name.BeforeExtra, '\n') && indent != "" {
				st.unit = indent
				break
			}
		}
	}
	return st
}

// Package schema describes the arguments of a call by a Go struct: as the
// JSON Schema that is published, and as the decoder that holds to it.
//
// [For] reads a struct once and returns an [Object]; [Object.JSON] is its
// schema, [Object.Decode] fills the struct from a caller's JSON. Both come
// from one table, so what is published is what is accepted.
//
// It supports what arguments need: strings, booleans, numbers, and slices
// and structs of them. The order of properties is the order of fields. Prose
// never stands in the struct: the caller supplies it, by property name. There
// are no references and no combinators, on purpose: some model providers
// refuse a whole list of tools for one of them at a root.
//
// A field is required unless its json tag says omitempty. A tag such as
// `schema:"min=1,max=600000,default=120000"` or `schema:"enum=a|b"` adds
// constraints. "unlisted" keeps a field out of the published schema, "nul"
// allows a string to hold the NUL character. A pointer field stays nil when
// the argument is absent.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// An Object is the description of one struct type. It is immutable.
type Object struct {
	fields []field
}

type field struct {
	name     string
	index    int
	required bool
	value    value
}

// A value describes what may stand in one place.
type value struct {
	kind     reflect.Kind // String, Bool, Int, Float64, Slice or Struct
	pointer  bool
	text     string // description
	item     *value // of a slice
	object   *Object
	min, max int64
	fallback *reflect.Value // the default
	enum     []string
	unlisted bool
	nul      bool
}

// For describes the struct type t. describe gives the text of every property,
// "edits[].old_string" for one inside a list; every listed property must have
// one and every entry must be used.
func For(t reflect.Type, describe map[string]string) (*Object, error) {
	b := builder{describe: describe, used: make(map[string]bool)}
	o, err := b.object(t, "")
	if err != nil {
		return nil, err
	}
	for name := range describe {
		if !b.used[name] {
			return nil, fmt.Errorf("%v has no property %q", t, name)
		}
	}
	return o, nil
}

type builder struct {
	describe map[string]string
	used     map[string]bool
}

func (b *builder) object(t reflect.Type, prefix string) (*Object, error) {
	o := new(Object)
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			return nil, fmt.Errorf("%v.%s has no json name", t, f.Name)
		}
		v, err := b.value(f.Type, prefix+name, f.Tag.Get("schema"))
		if err != nil {
			return nil, err
		}
		o.fields = append(o.fields, field{name, i, !strings.Contains(opts, "omitempty"), v})
	}
	return o, nil
}

func (b *builder) value(t reflect.Type, path, tag string) (v value, err error) {
	v = value{kind: t.Kind(), min: math.MinInt64, max: math.MaxInt64}
	if v.kind == reflect.Pointer {
		t = t.Elem()
		v.kind, v.pointer = t.Kind(), true
	}
	if err := v.constrain(t, tag); err != nil {
		return v, fmt.Errorf("%s: %v", path, err)
	}
	text, ok := b.describe[path]
	b.used[path] = ok
	v.text = text
	if !ok && !v.unlisted && !strings.HasSuffix(path, "[]") {
		return v, fmt.Errorf("no description for property %q", path)
	}
	switch v.kind {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Float64:
	case reflect.Slice:
		item, err := b.value(t.Elem(), path+"[]", "")
		if err != nil {
			return v, err
		}
		v.item = &item
	case reflect.Struct:
		v.object, err = b.object(t, path+".")
	default:
		err = fmt.Errorf("%s: type %v is not supported", path, t)
	}
	return v, err
}

// constrain reads a schema tag.
func (v *value) constrain(t reflect.Type, tag string) (err error) {
	for c := range strings.SplitSeq(tag, ",") {
		key, val, _ := strings.Cut(c, "=")
		switch key {
		case "":
		case "min":
			v.min, err = strconv.ParseInt(val, 10, 64)
		case "max":
			v.max, err = strconv.ParseInt(val, 10, 64)
		case "enum":
			v.enum = strings.Split(val, "|")
		case "unlisted":
			v.unlisted = true
		case "nul":
			v.nul = true
		case "default":
			d := reflect.New(t).Elem()
			switch v.kind {
			case reflect.String:
				d.SetString(val)
			default:
				err = json.Unmarshal([]byte(val), d.Addr().Interface())
			}
			v.fallback = &d
		default:
			return fmt.Errorf("unknown constraint %q", key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// JSON returns the schema as a JSON object with its properties in order.
func (o *Object) JSON() json.RawMessage {
	var b bytes.Buffer
	o.write(&b)
	return b.Bytes()
}

func (o *Object) write(b *bytes.Buffer) {
	b.WriteString(`{"type":"object","properties":{`)
	var required []string
	n := 0
	for _, f := range o.fields {
		if f.value.unlisted {
			continue
		}
		if n++; n > 1 {
			b.WriteByte(',')
		}
		b.Write(quote(f.name))
		b.WriteByte(':')
		f.value.write(b)
		if f.required {
			required = append(required, f.name)
		}
	}
	b.WriteByte('}')
	if len(required) > 0 {
		r, _ := json.Marshal(required)
		fmt.Fprintf(b, `,"required":%s`, r)
	}
	b.WriteString(`,"additionalProperties":false}`)
}

func (v *value) write(b *bytes.Buffer) {
	if v.kind == reflect.Struct {
		v.object.write(b)
		return
	}
	fmt.Fprintf(b, `{"type":"%s"`, v.typeName())
	if v.text != "" {
		fmt.Fprintf(b, `,"description":%s`, quote(v.text))
	}
	if v.item != nil {
		b.WriteString(`,"items":`)
		v.item.write(b)
	}
	if v.enum != nil {
		e, _ := json.Marshal(v.enum)
		fmt.Fprintf(b, `,"enum":%s`, e)
	}
	switch {
	case v.kind == reflect.Slice && v.min > 0:
		fmt.Fprintf(b, `,"minItems":%d`, v.min)
	case v.min != math.MinInt64:
		fmt.Fprintf(b, `,"minimum":%d`, v.min)
	}
	if v.numeric() && v.max != math.MaxInt64 {
		fmt.Fprintf(b, `,"maximum":%d`, v.max)
	}
	if v.fallback != nil {
		d, _ := json.Marshal(v.fallback.Interface())
		fmt.Fprintf(b, `,"default":%s`, d)
	}
	b.WriteByte('}')
}

func (v *value) numeric() bool { return v.kind == reflect.Int || v.kind == reflect.Float64 }

// typeName is the JSON Schema name of the kind.
func (v *value) typeName() string {
	switch v.kind {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "array"
	}
	return "object"
}

// names returns the listed property names, for messages.
func (o *Object) names() []string {
	var names []string
	for _, f := range o.fields {
		if !f.value.unlisted {
			names = append(names, f.name)
		}
	}
	return names
}

func (o *Object) find(name string) (*field, bool) {
	i := slices.IndexFunc(o.fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return nil, false
	}
	return &o.fields[i], true
}

// quote writes s as JSON without the escapes for HTML, which cost bytes in
// every request that carries a schema.
func quote(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) //nolint:errcheck // a string always encodes
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

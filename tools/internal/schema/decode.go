package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Faults are the mistakes found in a caller's arguments, one sentence each.
type Faults []string

func (f Faults) Error() string { return strings.Join(f, "\n") }

// Decode fills the struct that into points to from args, a JSON object.
// Absent args count as {}. It returns nil or all [Faults] at once, so that a
// caller can mend them in one step; into is to be used only if there are none.
//
// Nothing is dropped or bent in silence. What clients are known to send
// differently and can mean one thing only is taken: a number or a boolean
// written as a string, a list or object written as a string of JSON, null for
// an absent optional argument.
func (o *Object) Decode(args json.RawMessage, into any) error {
	if len(bytes.TrimSpace(args)) == 0 || string(bytes.TrimSpace(args)) == "null" {
		args = json.RawMessage("{}")
	}
	var d decoder
	d.object(o, nested(bytes.TrimSpace(args), '{'), "", reflect.ValueOf(into).Elem())
	if len(d.faults) > 0 {
		return d.faults
	}
	return nil
}

type decoder struct {
	faults Faults
}

// maxFaults bounds the answer to arguments that are wrong in every place.
const maxFaults = 20

func (d *decoder) fault(format string, a ...any) {
	if len(d.faults) < maxFaults {
		d.faults = append(d.faults, fmt.Sprintf(format, a...))
	}
}

func (d *decoder) object(o *Object, raw json.RawMessage, prefix string, into reflect.Value) {
	members, err := split(raw)
	if err != nil {
		place := "the arguments"
		if prefix != "" {
			place = strings.TrimSuffix(prefix, ".")
		}
		d.fault("%s must be a JSON object, but %s", place, err)
		return
	}
	given := make(map[string]bool)
	for _, m := range members {
		f, ok := o.find(m.name)
		switch {
		case !ok:
			d.fault("unknown parameter %s; the parameters are %s", quote(prefix+m.name), strings.Join(o.names(), ", "))
			continue
		case given[m.name]:
			d.fault("parameter %s is given twice", prefix+m.name)
			continue
		}
		given[m.name] = true
		if string(m.value) == "null" {
			given[m.name] = !f.required
			continue
		}
		d.value(&f.value, m.value, prefix+m.name, into.Field(f.index))
	}
	for _, f := range o.fields {
		if f.required && !given[f.name] {
			d.missing(o, prefix+f.name, members)
		}
	}
	for _, f := range o.fields {
		if fill := into.Field(f.index); f.value.fallback != nil && fill.IsZero() && !d.has(members, f.name) {
			fill.Set(*f.value.fallback)
		}
	}
}

func (d *decoder) has(members []member, name string) bool {
	for _, m := range members {
		if m.name == name && string(m.value) != "null" {
			return true
		}
	}
	return false
}

func (d *decoder) missing(o *Object, name string, members []member) {
	if len(members) == 0 {
		d.fault("parameter %s is missing; the parameters are %s", name, strings.Join(o.names(), ", "))
		return
	}
	d.fault("parameter %s is missing", name)
}

func (d *decoder) value(v *value, raw json.RawMessage, path string, into reflect.Value) {
	if v.pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	switch v.kind {
	case reflect.String:
		d.str(v, raw, path, into)
	case reflect.Bool:
		switch unquoted(raw) {
		case "true":
			into.SetBool(true)
		case "false":
			into.SetBool(false)
		default:
			d.wrong(v, raw, path, "true or false")
		}
	case reflect.Int:
		d.integer(v, raw, path, into)
	case reflect.Float64:
		d.number(v, raw, path, into)
	case reflect.Slice:
		d.slice(v, raw, path, into)
	case reflect.Struct:
		d.object(v.object, nested(raw, '{'), path+".", into)
	}
}

func (d *decoder) str(v *value, raw json.RawMessage, path string, into reflect.Value) {
	if raw[0] != '"' {
		d.wrong(v, raw, path, "a string")
		return
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		d.wrong(v, raw, path, "a string")
		return
	}
	switch {
	case !lossless(raw, s):
		d.fault("%s holds half a surrogate pair or bytes that are not UTF-8; send the text as valid Unicode", path)
	case !v.nul && strings.IndexByte(s, 0) >= 0:
		d.fault("%s holds the NUL character: %s", path, show(raw))
	case v.enum != nil && !slices.Contains(v.enum, s):
		d.fault("%s must be one of %s, not %s", path, strings.Join(v.enum, ", "), show(raw))
	default:
		into.SetString(s)
	}
}

func (d *decoder) integer(v *value, raw json.RawMessage, path string, into reflect.Value) {
	s := unquoted(raw)
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		f, ferr := strconv.ParseFloat(s, 64)
		if ferr != nil || f != float64(int64(f)) || f > 1<<53 || f < -1<<53 || raw[0] == '{' || raw[0] == '[' {
			d.wrong(v, raw, path, "a whole number")
			return
		}
		n = int64(f) // 5.0 and 5e3 are whole numbers, too
	}
	switch {
	case n < v.min && v.max < 1<<53 || n > v.max:
		d.fault("%s must be from %d to %d, not %d", path, v.min, v.max, n)
	case n < v.min:
		d.fault("%s must be at least %d, not %d", path, v.min, n)
	default:
		into.SetInt(n)
	}
}

// number reads a number with a fraction. Its bounds are whole numbers.
func (d *decoder) number(v *value, raw json.RawMessage, path string, into reflect.Value) {
	f, err := strconv.ParseFloat(unquoted(raw), 64)
	switch {
	case err != nil || raw[0] == '{' || raw[0] == '[' || math.IsNaN(f) || math.IsInf(f, 0):
		d.wrong(v, raw, path, "a number")
	case f < float64(v.min) || f > float64(v.max):
		d.fault("%s must be from %d to %d, not %v", path, v.min, v.max, f)
	default:
		into.SetFloat(f)
	}
}

func (d *decoder) slice(v *value, raw json.RawMessage, path string, into reflect.Value) {
	var items []json.RawMessage
	if json.Unmarshal(nested(raw, '['), &items) != nil {
		d.wrong(v, raw, path, "a list")
		return
	}
	if int64(len(items)) < v.min && v.min > 0 {
		d.fault("%s must hold at least %d item", path, v.min)
		return
	}
	out := reflect.MakeSlice(into.Type(), len(items), len(items))
	for i, item := range items {
		d.value(v.item, item, fmt.Sprintf("%s[%d]", path, i), out.Index(i))
	}
	into.Set(out)
}

func (d *decoder) wrong(v *value, raw json.RawMessage, path, want string) {
	if v.numeric() && v.max < 1<<53 {
		want += fmt.Sprintf(" from %d to %d", v.min, v.max)
	}
	d.fault("%s must be %s, not %s", path, want, show(raw))
}

type member struct {
	name  string
	value json.RawMessage
}

// split returns the members of a JSON object in order, duplicates included.
func split(raw json.RawMessage) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("%s came", show(raw))
	}
	var members []member
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("it is not valid JSON: %v", err)
		}
		name, _ := t.(string)
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, fmt.Errorf("it is not valid JSON: %v", err)
		}
		members = append(members, member{name, v})
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("it is not valid JSON: %v", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("text follows it")
	}
	return members, nil
}

// unquoted returns the scalar in raw, also if it was written as a string.
func unquoted(raw json.RawMessage) string {
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return strings.TrimSpace(s)
	}
	return string(raw)
}

// nested returns the JSON text inside a string that holds one with the given
// first character, else raw itself.
func nested(raw json.RawMessage, first byte) json.RawMessage {
	var s string
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return raw
	}
	if s = strings.TrimSpace(s); s != "" && s[0] == first {
		return json.RawMessage(s)
	}
	return raw
}

// lossless reports whether the decoded s says all that raw says. The decoder
// puts U+FFFD where raw has invalid UTF-8 or half a surrogate pair.
func lossless(raw json.RawMessage, s string) bool {
	if !utf8.Valid(raw) {
		return false
	}
	n := strings.Count(s, "\uFFFD")
	if n == 0 {
		return true
	}
	n -= bytes.Count(raw, []byte("\uFFFD"))
	for i := 0; i+5 < len(raw) && n > 0; i++ {
		if raw[i] != '\\' {
			continue
		}
		if strings.EqualFold(string(raw[i+1:i+6]), "ufffd") {
			n--
		}
		i++ // the escaped character
	}
	return n == 0
}

// show is a caller's JSON in a message, cut if it is long.
func show(raw json.RawMessage) string {
	const most = 60
	if r := []rune(string(raw)); len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(raw)
}

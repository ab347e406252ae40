package memory

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ParseLine reads a line of an import: an object with the fields of [Memory],
// of which only content is needed. Times may be dates. A scope of "project", or
// none, means the key that is given; a missing importance is weighed as that of
// a memory that somebody asked to keep.
func ParseLine(line []byte, project string) (Memory, error) {
	var in struct {
		Memory
		Importance *float64 `json:"importance"`
		Time       string   `json:"time"`
		Updated    string   `json:"updated"`
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	var wrong *json.UnmarshalTypeError
	switch err := d.Decode(&in); {
	case errors.As(err, &wrong):
		return Memory{}, fmt.Errorf("%s cannot be a %s", cmp.Or(wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:], "the line"), wrong.Value)
	case err != nil && strings.HasPrefix(err.Error(), "json: unknown field"):
		return Memory{}, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	case err != nil || d.More():
		return Memory{}, errors.New("it is not one JSON object")
	}
	m := in.Memory
	m.Importance = Asked(m.Content)
	if in.Importance != nil {
		m.Importance = *in.Importance
	}
	if m.Scope == "" || m.Scope == "project" {
		m.Scope = project
	}
	for _, x := range []struct {
		text string
		into *time.Time
	}{{in.Time, &m.Time}, {in.Updated, &m.Updated}} {
		if x.text == "" {
			continue
		}
		var err error
		if *x.into, err = ParseTime(x.text); err != nil {
			return Memory{}, err
		}
	}
	return m, nil
}

// Package userform puts a [tools.Question] into the form that a client shows to its
// user, and reads what the user has made of it: [Schema] and [Answer].
//
// A form is a flat JSON Schema: clients make input fields of its properties, in
// their order. The package sends nothing and does not know who is asked.
package userform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ferrule/tools"
)

type property struct {
	Type        string    `json:"type,omitempty"`
	Title       string    `json:"title,omitempty"`
	Description string    `json:"description,omitempty"`
	Enum        []string  `json:"enum,omitempty"`
	EnumNames   []string  `json:"enumNames,omitempty"`
	OneOf       []titled  `json:"oneOf,omitempty"`
	AnyOf       []titled  `json:"anyOf,omitempty"`
	MinItems    int       `json:"minItems,omitempty"`
	Items       *property `json:"items,omitempty"`
}

type titled struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// Schema returns the form of a question. A client that is not modern, which is
// one of a protocol before 2025-11-25, knows neither titled choices nor lists:
// it gets the titles beside the values, and instead of a list a field to tick
// for each choice.
func Schema(q tools.Question, modern bool) json.RawMessage {
	var b bytes.Buffer
	var required []string
	b.WriteString(`{"type":"object","properties":{`)
	put := func(name string, p property) {
		if b.Bytes()[b.Len()-1] != '{' {
			b.WriteByte(',')
		}
		key, _ := json.Marshal(name)
		schema, _ := json.Marshal(p) // strings always encode
		b.Write(key)
		b.WriteByte(':')
		b.Write(schema)
	}
	for _, f := range q.Fields {
		if f.Multiple && !modern {
			for i, c := range f.Choices {
				title := titleOf(c)
				if f.Title != "" {
					title = f.Title + ": " + title
				}
				put(tick(f, i), property{Type: "boolean", Title: title, Description: f.Description})
			}
			continue
		}
		put(f.Name, propertyOf(f, modern))
		if !f.Optional {
			required = append(required, f.Name)
		}
	}
	b.WriteByte('}')
	if len(required) > 0 {
		r, _ := json.Marshal(required)
		b.WriteString(`,"required":` + string(r))
	}
	b.WriteByte('}')
	return b.Bytes()
}

func propertyOf(f tools.Field, modern bool) property {
	p := property{Type: "string", Title: f.Title, Description: f.Description}
	var values, titles []string
	var both []titled
	for _, c := range f.Choices {
		values, titles = append(values, c.Value), append(titles, titleOf(c))
		both = append(both, titled{c.Value, titleOf(c)})
	}
	plain := slices.Equal(values, titles)
	switch {
	case f.Multiple:
		p.Type = "array"
		if !f.Optional {
			p.MinItems = 1
		}
		p.Items = &property{AnyOf: both}
		if plain {
			p.Items = &property{Type: "string", Enum: values}
		}
	case plain:
		p.Enum = values
	case !modern:
		p.Enum, p.EnumNames = values, titles
	default:
		p.OneOf = both
	}
	return p
}

func titleOf(c tools.Choice) string {
	if c.Title == "" {
		return c.Value
	}
	return c.Title
}

// tick is the name of the field for one choice of several.
func tick(f tools.Field, i int) string { return fmt.Sprintf("%s_%d", f.Name, i+1) }

// Answer returns what a user has done with a question, from the protocol's name
// of the action and what the form holds. A value that its field does not allow
// is no value, and an accepted form without a value that it must have is no
// answer.
func Answer(q tools.Question, action string, filled any) tools.Answer {
	switch action {
	case "decline":
		return tools.Answer{Action: tools.Declined}
	case "accept":
	default:
		return tools.Answer{}
	}
	content, _ := filled.(map[string]any)
	a := tools.Answer{Action: tools.Accepted, Values: make(map[string][]string)}
	for _, f := range q.Fields {
		switch got := values(f, content); {
		case len(got) > 0:
			a.Values[f.Name] = got
		case !f.Optional:
			return tools.Answer{}
		}
	}
	return a
}

// values returns what was entered into a field, as far as it is allowed there.
func values(f tools.Field, content map[string]any) []string {
	switch v := content[f.Name].(type) {
	case string:
		if len(f.Choices) == 0 {
			if strings.TrimSpace(v) == "" {
				return nil
			}
			return []string{v}
		}
		return allowed(f, []any{v})
	case []any:
		if f.Multiple {
			return allowed(f, v)
		}
	case nil:
		var ticked []any
		for i, c := range f.Choices {
			if f.Multiple && content[tick(f, i)] == true {
				ticked = append(ticked, c.Value)
			}
		}
		return allowed(f, ticked)
	}
	return nil
}

// allowed returns the values in the order of the choices, or none if one of
// them is not a choice.
func allowed(f tools.Field, got []any) (list []string) {
	for _, v := range got {
		if !slices.ContainsFunc(f.Choices, func(c tools.Choice) bool { return c.Value == v }) {
			return nil
		}
	}
	for _, c := range f.Choices {
		if slices.Contains(got, any(c.Value)) {
			list = append(list, c.Value)
		}
	}
	return list
}

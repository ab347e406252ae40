package userform

import (
	"encoding/json"
	"reflect"
	"testing"

	"ferrule/tools"
)

var sample = tools.Question{Text: "t", Fields: []tools.Field{
	{Name: "z", Title: "Z", Description: "first", Choices: []tools.Choice{{Value: "a", Title: "Alpha"}, {Value: "b"}}},
	{Name: "plain", Choices: []tools.Choice{{Value: "a"}, {Value: "b"}}, Optional: true},
	{Name: "many", Title: "Many", Multiple: true, Optional: true, Choices: []tools.Choice{{Value: "a", Title: "Alpha"}, {Value: "b"}}},
	{Name: "some", Multiple: true, Choices: []tools.Choice{{Value: "a"}, {Value: "b"}}},
	{Name: "text", Optional: true},
}}

func TestSchema(t *testing.T) {
	for modern, want := range map[bool]string{
		false: `{"type":"object","properties":{` +
			`"z":{"type":"string","title":"Z","description":"first","enum":["a","b"],"enumNames":["Alpha","b"]},` +
			`"plain":{"type":"string","enum":["a","b"]},` +
			`"many_1":{"type":"boolean","title":"Many: Alpha"},"many_2":{"type":"boolean","title":"Many: b"},` +
			`"some_1":{"type":"boolean","title":"a"},"some_2":{"type":"boolean","title":"b"},` +
			`"text":{"type":"string"}},"required":["z"]}`,
		true: `{"type":"object","properties":{` +
			`"z":{"type":"string","title":"Z","description":"first","oneOf":[{"const":"a","title":"Alpha"},{"const":"b","title":"b"}]},` +
			`"plain":{"type":"string","enum":["a","b"]},` +
			`"many":{"type":"array","title":"Many","items":{"anyOf":[{"const":"a","title":"Alpha"},{"const":"b","title":"b"}]}},` +
			`"some":{"type":"array","minItems":1,"items":{"type":"string","enum":["a","b"]}},` +
			`"text":{"type":"string"}},"required":["z","some"]}`,
	} {
		got := Schema(sample, modern)
		if string(got) != want || !json.Valid(got) {
			t.Errorf("%v: %s\nwant %s", modern, got, want)
		}
	}
}

// What a client sends is looked at: only what the form offers is an answer.
func TestAnswer(t *testing.T) {
	accepted := func(v map[string][]string) tools.Answer { return tools.Answer{Action: tools.Accepted, Values: v} }
	for _, test := range []struct {
		action, content string
		want            tools.Answer
	}{
		{"accept", `{"z": "a", "some": ["b", "a", "b"], "text": " x "}`, accepted(map[string][]string{"z": {"a"}, "some": {"a", "b"}, "text": {" x "}})},
		{"accept", `{"z": "b", "some_2": true, "some_1": false, "many_1": "true"}`, accepted(map[string][]string{"z": {"b"}, "some": {"b"}})},
		{"accept", `{"z": "b", "some": "a", "many": ["c"], "plain": "A", "other": 1}`, accepted(map[string][]string{"z": {"b"}, "some": {"a"}})},
		{"accept", `{"z": "b", "some": ["a"], "many": ["a", {}], "plain": ["a"], "text": 1}`, accepted(map[string][]string{"z": {"b"}, "some": {"a"}})},
		{"accept", `{"z": "Alpha", "some": ["a"]}`, tools.Answer{}}, // the title is not the value
		{"accept", `{"z": "a", "some": []}`, tools.Answer{}},
		{"accept", `{"z": "a"}`, tools.Answer{}},
		{"accept", `{"z": ["a"], "some": ["a"]}`, tools.Answer{}},
		{"accept", `[]`, tools.Answer{}},
		{"accept", `null`, tools.Answer{}},
		{"decline", `{"z": "a", "some": ["a"]}`, tools.Answer{Action: tools.Declined}},
		{"cancel", `{"z": "a", "some": ["a"]}`, tools.Answer{}},
		{"Accept", `{"z": "a", "some": ["a"]}`, tools.Answer{}},
		{"", `{"z": "a", "some": ["a"]}`, tools.Answer{}},
	} {
		var filled any
		if err := json.Unmarshal([]byte(test.content), &filled); err != nil {
			t.Fatal(err)
		}
		if got := Answer(sample, test.action, filled); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s %s: %+v; want %+v", test.action, test.content, got, test.want)
		}
	}
}

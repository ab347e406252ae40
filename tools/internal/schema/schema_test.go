package schema

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

type sample struct {
	Path   string `json:"file_path"`
	Offset *int   `json:"offset,omitempty"`
	Limit  int    `json:"limit,omitempty" schema:"min=1,max=600000,default=250"`
	All    bool   `json:"all,omitempty" schema:"default=false"`
	Mode   string `json:"mode,omitempty" schema:"enum=content|count,default=count"`
	Old    string `json:"old_name,omitempty" schema:"unlisted"`
	Edits  []edit `json:"edits,omitempty" schema:"min=1"`
	Body   string `json:"body,omitempty" schema:"nul"`
}

type edit struct {
	Old string `json:"old"`
	All bool   `json:"all,omitempty"`
}

var words = map[string]string{
	"file_path": "A path, \"quoted\" & <marked>.", "offset": "o", "limit": "l", "all": "a", "mode": "m",
	"edits": "e", "edits[].old": "eo", "edits[].all": "ea", "body": "b",
}

func sampleObject(t testing.TB) *Object {
	o, err := For(reflect.TypeFor[sample](), words)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestJSON(t *testing.T) {
	const want = `{"type":"object","properties":{` +
		`"file_path":{"type":"string","description":"A path, \"quoted\" & <marked>."},` +
		`"offset":{"type":"integer","description":"o"},` +
		`"limit":{"type":"integer","description":"l","minimum":1,"maximum":600000,"default":250},` +
		`"all":{"type":"boolean","description":"a","default":false},` +
		`"mode":{"type":"string","description":"m","enum":["content","count"],"default":"count"},` +
		`"edits":{"type":"array","description":"e","items":{"type":"object","properties":{` +
		`"old":{"type":"string","description":"eo"},"all":{"type":"boolean","description":"ea"}},` +
		`"required":["old"],"additionalProperties":false},"minItems":1},` +
		`"body":{"type":"string","description":"b"}},"required":["file_path"],"additionalProperties":false}`
	got := string(sampleObject(t).JSON())
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !json.Valid([]byte(got)) {
		t.Error("the schema is not valid JSON")
	}
}

// Numbers with a fraction, for which there are whole bounds.
func TestNumber(t *testing.T) {
	type weight struct {
		W *float64 `json:"w,omitempty" schema:"min=0,max=1"`
	}
	o, err := For(reflect.TypeFor[weight](), map[string]string{"w": "Weight."})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"object","properties":{"w":{"type":"number","description":"Weight.","minimum":0,"maximum":1}},"additionalProperties":false}`
	if got := string(o.JSON()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for args, want := range map[string]string{
		`{"w":0.25}`: "", `{"w":"0.25"}`: "", `{"w":1}`: "", `{}`: "", `{"w":null}`: "",
		`{"w":1.5}`:   "w must be from 0 to 1, not 1.5",
		`{"w":"NaN"}`: `w must be a number from 0 to 1, not "NaN"`,
		`{"w":[0.5]}`: "w must be a number from 0 to 1, not [0.5]",
		`{"w":true}`:  "w must be a number from 0 to 1, not true",
	} {
		var v weight
		err := o.Decode([]byte(args), &v)
		if (err != nil) != (want != "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// A struct and its words that do not fit are refused.
func TestMismatch(t *testing.T) {
	without := func(name string) map[string]string {
		m := make(map[string]string)
		for k, v := range words {
			if k != name {
				m[k] = v
			}
		}
		return m
	}
	if _, err := For(reflect.TypeFor[sample](), without("edits[].old")); err == nil {
		t.Error("a property without a description was accepted")
	}
	more := without("")
	more["file_paht"] = "misspelt"
	if _, err := For(reflect.TypeFor[sample](), more); err == nil || !strings.Contains(err.Error(), "file_paht") {
		t.Errorf("a description without a property: %v", err)
	}
	type bad struct {
		X complex64 `json:"x"`
	}
	if _, err := For(reflect.TypeFor[bad](), map[string]string{"x": "x"}); err == nil {
		t.Error("a type that is not supported was accepted")
	}
	type odd struct {
		X int `json:"x" schema:"mnimum=1"`
	}
	if _, err := For(reflect.TypeFor[odd](), map[string]string{"x": "x"}); err == nil {
		t.Error("an unknown constraint was accepted")
	}
}

func TestDecode(t *testing.T) {
	three := 3
	for _, test := range []struct {
		args string
		want sample
	}{
		{`{"file_path":"f"}`, sample{Path: "f", Limit: 250, Mode: "count"}},
		{`{"file_path":"f","offset":"3","limit":"2","all":"false"}`, sample{Path: "f", Offset: &three, Limit: 2, Mode: "count"}},
		{`{"file_path":"f","limit":2.0,"all":true}`, sample{Path: "f", Limit: 2, All: true, Mode: "count"}},
		{`{"file_path":"f","limit":5e3}`, sample{Path: "f", Limit: 5000, Mode: "count"}},
		{`{"file_path":"f","limit":null,"offset":null}`, sample{Path: "f", Limit: 250, Mode: "count"}},
		{`{"file_path":"f","old_name":"x"}`, sample{Path: "f", Old: "x", Limit: 250, Mode: "count"}},
		{`{"file_path":"f","edits":[{"old":"a"}]}`, sample{Path: "f", Limit: 250, Mode: "count", Edits: []edit{{Old: "a"}}}},
		{`{"file_path":"f","edits":"[{\"old\":\"a\",\"all\":true}]"}`, sample{Path: "f", Limit: 250, Mode: "count", Edits: []edit{{"a", true}}}},
		{`{"file_path":"f","body":"a\u0000b \ufffd 💩 \ud83d\udca9"}`, sample{Path: "f", Limit: 250, Mode: "count", Body: "a\x00b \uFFFD 💩 💩"}},
		{`{"file_path":"f","body":"\\ufffd"}`, sample{Path: "f", Limit: 250, Mode: "count", Body: `\ufffd`}},
	} {
		var got sample
		if err := sampleObject(t).Decode(json.RawMessage(test.args), &got); err != nil {
			t.Errorf("%s: %v", test.args, err)
			continue
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", test.args, got, test.want)
		}
	}
}

func TestFaults(t *testing.T) {
	for args, want := range map[string]string{
		``:                                        "parameter file_path is missing; the parameters are file_path, offset, limit, all, mode, edits, body",
		`null`:                                    "parameter file_path is missing; the parameters are file_path, offset, limit, all, mode, edits, body",
		`{"file_path":null}`:                      "parameter file_path is missing",
		`{"offset":1}`:                            "parameter file_path is missing",
		`{"file_path":"f","lmit":1}`:              `unknown parameter "lmit"; the parameters are file_path, offset, limit, all, mode, edits, body`,
		`{"file_path":"f","limit":true}`:          "limit must be a whole number from 1 to 600000, not true",
		`{"file_path":"f","offset":"abc"}`:        `offset must be a whole number, not "abc"`,
		`{"file_path":"f","all":"maybe"}`:         `all must be true or false, not "maybe"`,
		`{"file_path":"f","limit":1.5}`:           "limit must be a whole number from 1 to 600000, not 1.5",
		`{"file_path":"f","limit":-1}`:            "limit must be from 1 to 600000, not -1",
		`{"file_path":"f","limit":0}`:             "limit must be from 1 to 600000, not 0",
		`{"file_path":"f","limit":1e400}`:         "limit must be a whole number from 1 to 600000, not 1e400",
		`{"file_path":"f","limit":600001}`:        "limit must be from 1 to 600000, not 600001",
		`{"file_path":"f","limit":{}}`:            "limit must be a whole number from 1 to 600000, not {}",
		`{"file_path":"f","limit":""}`:            `limit must be a whole number from 1 to 600000, not ""`,
		`{"file_path":5}`:                         "file_path must be a string, not 5",
		`{"file_path":["f"]}`:                     `file_path must be a string, not ["f"]`,
		`{"file_path":"f","file_path":"g"}`:       "parameter file_path is given twice",
		`{"file_path":"a\u0000b"}`:                `file_path holds the NUL character: "a\u0000b"`,
		`{"file_path":"f","mode":"Content"}`:      `mode must be one of content, count, not "Content"`,
		`{"file_path":"f","edits":[]}`:            "edits must hold at least 1 item",
		`{"file_path":"f","edits":{"old":1}}`:     `edits must be a list, not {"old":1}`,
		`{"file_path":"f","edits":[{"new":1}]}`:   "unknown parameter \"edits[0].new\"; the parameters are old, all\nparameter edits[0].old is missing",
		`{"file_path":"f","edits":[7]}`:           "edits[0] must be a JSON object, but 7 came",
		`{"file_path":"f","body":"\ud83d"}`:       "body holds half a surrogate pair or bytes that are not UTF-8; send the text as valid Unicode",
		"{\"file_path\":\"f\",\"body\":\"\xff\"}": "body holds half a surrogate pair or bytes that are not UTF-8; send the text as valid Unicode",
		`[1]`: "the arguments must be a JSON object, but [1] came",
		`"x"`: `the arguments must be a JSON object, but "x" came`,
	} {
		var got sample
		err := sampleObject(t).Decode(json.RawMessage(args), &got)
		if err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", args, err, want)
		}
	}
}

// FuzzDecode compares with the standard decoder: what it takes and we take
// must come out the same, and nothing makes us panic or accept a key that is
// not there.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"file_path":"f","offset":"3","limit":2.0,"edits":[{"old":"a"}]}`))
	f.Add([]byte(`{"file_path":"\ud83d","edits":"[{}]","mode":null}`))
	f.Add([]byte("{\"file_path\":\"\xff\"}"))
	o := sampleObject(f)
	f.Fuzz(func(t *testing.T, args []byte) {
		var got, want sample
		if o.Decode(args, &got) != nil {
			return
		}
		want.Limit, want.Mode = 250, "count"
		d := json.NewDecoder(strings.NewReader(string(args)))
		d.DisallowUnknownFields()
		if len(strings.TrimSpace(string(args))) == 0 || d.Decode(&want) != nil {
			return // taken by coercion
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", args, got, want)
		}
	})
}

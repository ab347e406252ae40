package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// A user answers questions, and remembers the last.
type user struct {
	nobody
	answer Answer
	err    error
	asked  Question
}

func (u *user) CanAsk() bool { return u.err == nil }

func (u *user) Ask(_ context.Context, q Question) (Answer, error) {
	u.asked = q
	return u.answer, u.err
}

func accept(values map[string][]string) Answer { return Answer{Action: Accepted, Values: values} }

// Only an explicit choice allows anything.
func TestAskPermission(t *testing.T) {
	decided := func(d string, reason ...string) Answer {
		return accept(map[string][]string{"decision": {d}, "reason": reason})
	}
	for _, test := range []struct {
		answer Answer
		err    error
		want   permitAnswer
	}{
		{answer: decided("allow_once"), want: permitAnswer{decision: allowedOnce}},
		{answer: decided("allow_session"), want: permitAnswer{decision: allowedSession}},
		{answer: decided("deny"), want: permitAnswer{decision: denied}},
		{answer: decided("deny", " use make \n"), want: permitAnswer{denied, "use make"}},
		{answer: decided("allow"), want: permitAnswer{}},
		{answer: accept(nil), want: permitAnswer{}},
		{answer: Answer{Action: Declined}, want: permitAnswer{decision: denied}},
		{answer: Answer{Action: Declined, Values: map[string][]string{"decision": {"allow_once"}}}, want: permitAnswer{decision: denied}},
		{answer: Answer{}, want: permitAnswer{}},
		{answer: decided("allow_once"), err: ErrNoUser, want: permitAnswer{}},
		{answer: decided("allow_once"), err: ErrPending, want: permitAnswer{}},
	} {
		u := &user{answer: test.answer, err: test.err}
		got, err := askPermission(t.Context(), u, "Run rm -r x?")
		if got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%+v %v: %+v %v; want %+v", test.answer, test.err, got, err, test.want)
		}
	}
}

// A question shows what would hide or reorder a part of it.
func TestAskPermissionShows(t *testing.T) {
	u := new(user)
	if _, err := askPermission(t.Context(), u, "Run:\necho a\x1b[2K\rb\u202ec\u200b\xff?"); err != nil {
		t.Fatal(err)
	}
	if want := "Run:\necho a\\u{1B}[2K\\u{D}b\\u{202E}c\\u{200B}\uFFFD?"; u.asked.Text != want {
		t.Errorf("%q; want %q", u.asked.Text, want)
	}
	if n := len(u.asked.Fields); n != 2 || u.asked.Fields[0].Optional || !u.asked.Fields[1].Optional {
		t.Errorf("%+v", u.asked.Fields)
	}
}

const twoQuestions = `{"questions": [
	{"question": "Which store?", "header": "Store", "options": [{"label": "SQLite", "description": "a file"}, {"label": "Postgres", "description": "a server", "preview": "dsn\u001b"}]},
	{"question": "Which parts?", "header": "Parts", "multiSelect": true, "options": [{"label": "A", "description": ""}, {"label": "B", "description": "b"}, {"label": "C", "description": "c"}]}]}`

func TestAskUserQuestion(t *testing.T) {
	s, _ := open(t, Config{})
	for _, test := range []struct {
		answer Answer
		err    error
		text   string // or its beginning
		data   string
		failed bool
	}{
		{
			answer: accept(map[string][]string{"question1": {"Postgres"}, "question2": {"A", "C"}, "question2_other": {"and D"}}),
			text:   "The user answered:\n- Which store? Postgres\n- Which parts? A, C; in their own words: and D",
			data:   `{"action":"accepted","answers":[{"question":"Which store?","header":"Store","selected":["Postgres"]},{"question":"Which parts?","header":"Parts","selected":["A","C"],"other":"and D"}]}`,
		},
		{
			answer: accept(map[string][]string{"question1_other": {"none"}}),
			text:   "The user answered:\n- Which store? In their own words: none\n- Which parts? (no answer)",
			data:   `{"action":"accepted","answers":[{"question":"Which store?","header":"Store","selected":[],"other":"none"},{"question":"Which parts?","header":"Parts","selected":[]}]}`,
		},
		{answer: Answer{Action: Declined, Values: map[string][]string{"question1": {"SQLite"}}}, text: "The user declined to answer.", data: `{"action":"declined"}`},
		{answer: Answer{}, text: "The user put the questions aside: there is no answer.", data: `{"action":"cancelled"}`},
		{err: ErrNoUser, text: "this client cannot ask its user; decide yourself", data: "null", failed: true},
	} {
		u := &user{answer: test.answer, err: test.err}
		res := AskUserQuestion.Call(t.Context(), s, u, json.RawMessage(twoQuestions))
		data, _ := json.Marshal(res.Structured)
		if !strings.HasPrefix(res.Text, test.text) || string(data) != test.data || res.Failed != test.failed {
			t.Errorf("%+v %v: %q %s %v", test.answer, test.err, res.Text, data, res.Failed)
		}
		if test.answer.Action != Accepted && strings.Contains(res.Text, "SQLite") {
			t.Errorf("an answer of a form that was not accepted: %q", res.Text)
		}
	}
	u := new(user)
	AskUserQuestion.Call(t.Context(), s, u, json.RawMessage(twoQuestions))
	want := Question{Text: "Please answer 2 questions.\n\nStore, Postgres:\ndsn\\u{1B}", Fields: []Field{
		{Name: "question1", Title: "Store", Description: "Which store?", Optional: true, Choices: []Choice{{"SQLite", "SQLite — a file"}, {"Postgres", "Postgres — a server"}}},
		{Name: "question1_other", Title: "Store: something else", Description: "An answer in your own words", Optional: true},
		{Name: "question2", Title: "Parts", Description: "Which parts?", Optional: true, Multiple: true, Choices: []Choice{{"A", "A"}, {"B", "B — b"}, {"C", "C — c"}}},
		{Name: "question2_other", Title: "Parts: something else", Description: "An answer in your own words", Optional: true},
	}}
	if !reflect.DeepEqual(u.asked, want) {
		t.Errorf("asked %+v\nwant %+v", u.asked, want)
	}
}

func TestAskUserQuestionRefuses(t *testing.T) {
	s, _ := open(t, Config{})
	option := func(label string) string { return fmt.Sprintf(`{"label": %q, "description": "d"}`, label) }
	question := func(text, header string, labels ...string) string {
		var options []string
		for _, l := range labels {
			options = append(options, option(l))
		}
		return fmt.Sprintf(`{"question": %q, "header": %q, "options": [%s]}`, text, header, strings.Join(options, ","))
	}
	good := question("q?", "h", "a", "b")
	for _, test := range []struct{ questions, want string }{
		{"", "questions must hold at least 1 item"},
		{strings.Repeat(good+",", 4) + good, "questions must hold 1 to 4 questions, not 5"},
		{question(" ", "h", "a", "b"), "questions[0].question is empty"},
		{question("q?", "", "a", "b"), "questions[0].header is empty"},
		{question("q?", "héééééééééééé", "a", "b"), "questions[0].header must have at most 12 characters, not 13"},
		{question("q?", "h", "a"), "questions[0].options must hold at least 2 item"},
		{good + "," + question("q?", "h", "a", "b", "c", "d", "e"), "questions[1].options must hold 2 to 4 options, not 5"},
		{question("q?", "h", "a", "a"), `the label "a" is there twice`},
		{question("q?", "h", "a", " "), "a label is empty"},
	} {
		u := new(user)
		res := AskUserQuestion.Call(t.Context(), s, u, json.RawMessage(`{"questions": [`+test.questions+`]}`))
		if !res.Failed || !strings.Contains(res.Text, test.want) || u.asked.Fields != nil {
			t.Errorf("%s: %q, want %q", test.questions, res.Text, test.want)
		}
	}
}

// The first lines of README name every tool.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n\n")
	first, _, _ := strings.Cut(rest, "\n\n")
	words := strings.FieldsFunc(first, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) })
	for _, name := range toolNames() {
		if !slices.Contains(words, name) {
			t.Errorf("README does not name %s", name)
		}
	}
}

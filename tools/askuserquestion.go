package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

type askInput struct {
	Questions []askQuestion `json:"questions" schema:"min=1"`
}

type askQuestion struct {
	Question    string      `json:"question"`
	Header      string      `json:"header"`
	Options     []askOption `json:"options" schema:"min=2"`
	MultiSelect bool        `json:"multiSelect,omitempty" schema:"default=false"`
}

type askOption struct {
	Label       string `json:"label"`
	Description string `json:"description"`
	Preview     string `json:"preview,omitempty"`
}

// AskUserQuestion puts questions to the user.
var AskUserQuestion = define(spec{
	name: "AskUserQuestion", title: "Ask the user", toolset: "ask",
	hints: Hints{ReadOnly: true},
}, askUserQuestion)

const (
	maxQuestions = 4
	maxOptions   = 4
	maxHeader    = 12 // characters
)

// An askAnswer is the answer to one question, as programs get it.
type askAnswer struct {
	Question string   `json:"question"`
	Header   string   `json:"header"`
	Selected []string `json:"selected"`
	Other    string   `json:"other,omitempty"` // in the user's own words
}

func askUserQuestion(ctx context.Context, r *request, in askInput) (Result, error) {
	if err := in.check(); err != nil {
		return Result{}, err
	}
	a, err := r.host.Ask(ctx, in.form())
	switch {
	case errors.Is(err, ErrNoUser):
		return Result{}, fmt.Errorf("%v; decide yourself, or put the question at the end of your answer", err)
	case err != nil:
		return Result{}, err
	case a.Action == Declined:
		return noAnswer("declined", "The user declined to answer. Go on without the answer, and do not ask the same again."), nil
	case a.Action == Cancelled:
		return noAnswer("cancelled", "The user put the questions aside: there is no answer. Go on without it, or end your turn and wait."), nil
	}
	var text strings.Builder
	text.WriteString("The user answered:\n")
	answers := make([]askAnswer, 0, len(in.Questions))
	for i, q := range in.Questions {
		one := askAnswer{Question: q.Question, Header: q.Header, Selected: []string{}}
		one.Selected = append(one.Selected, a.Values[fieldName(i)]...)
		one.Other = strings.TrimSpace(strings.Join(a.Values[fieldName(i)+"_other"], "\n"))
		answers = append(answers, one)
		fmt.Fprintf(&text, "- %s %s\n", q.Question, one)
	}
	return Result{
		Text:       clip(strings.TrimSuffix(text.String(), "\n"), r.cfg.MaxResultChars),
		Structured: map[string]any{"action": "accepted", "answers": answers},
	}, nil
}

// String is the answer as a model reads it.
func (a askAnswer) String() string {
	words := strings.Join(a.Selected, ", ")
	switch {
	case a.Other == "":
		return cmp.Or(words, "(no answer)")
	case words == "":
		return "In their own words: " + a.Other
	}
	return words + "; in their own words: " + a.Other
}

// noAnswer is the result of a form that brought no answer.
func noAnswer(action, text string) Result {
	return Result{Text: text, Structured: map[string]any{"action": action}}
}

// check returns what is wrong with the questions beyond what the schema says.
func (in askInput) check() error {
	if n := len(in.Questions); n > maxQuestions {
		return fmt.Errorf("questions must hold 1 to %d questions, not %d; ask the most important first", maxQuestions, n)
	}
	for i, q := range in.Questions {
		at := fmt.Sprintf("questions[%d].", i)
		switch {
		case strings.TrimSpace(q.Question) == "":
			return errors.New(at + "question is empty")
		case strings.TrimSpace(q.Header) == "":
			return errors.New(at + "header is empty")
		case utf8.RuneCountInString(q.Header) > maxHeader:
			return fmt.Errorf("%sheader must have at most %d characters, not %d", at, maxHeader, utf8.RuneCountInString(q.Header))
		case len(q.Options) > maxOptions:
			return fmt.Errorf("%soptions must hold 2 to %d options, not %d", at, maxOptions, len(q.Options))
		}
		labels := make(map[string]bool)
		for _, o := range q.Options {
			switch {
			case strings.TrimSpace(o.Label) == "":
				return errors.New(at + "options: a label is empty")
			case labels[o.Label]:
				return fmt.Errorf("%soptions: the label %q is there twice", at, o.Label)
			}
			labels[o.Label] = true
		}
	}
	return nil
}

// form lays the questions out: for each a field to choose from and one for the
// user's own words. Neither must be filled in, since the other may be.
func (in askInput) form() Question {
	f := Question{Text: in.Questions[0].Question}
	if n := len(in.Questions); n > 1 {
		f.Text = fmt.Sprintf("Please answer %d questions.", n)
	}
	for i, q := range in.Questions {
		field := Field{Name: fieldName(i), Title: visible(q.Header), Description: visible(q.Question), Multiple: q.MultiSelect, Optional: true}
		for _, o := range q.Options {
			title := o.Label
			if o.Description != "" {
				title += " — " + o.Description
			}
			field.Choices = append(field.Choices, Choice{Value: o.Label, Title: visible(title)})
			if o.Preview != "" {
				f.Text += fmt.Sprintf("\n\n%s, %s:\n%s", q.Header, o.Label, o.Preview)
			}
		}
		f.Fields = append(f.Fields, field, Field{
			Name: fieldName(i) + "_other", Title: visible(q.Header) + ": something else",
			Description: "An answer in your own words", Optional: true,
		})
	}
	f.Text = visible(f.Text)
	return f
}

func fieldName(i int) string { return fmt.Sprintf("question%d", i+1) }

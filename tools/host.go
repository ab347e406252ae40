package tools

import (
	"context"
	"errors"
)

// A Host is what only the client of a call can do. Its methods may be called
// concurrently.
type Host interface {
	// Progress says how the call stands: after so many seconds, in one short
	// line. The client hears of it every few seconds if it asked for progress.
	Progress(seconds float64, message string)

	// Ask puts a question to the user and waits for the answer. It returns
	// [ErrNoUser] if the client cannot ask, and [ErrPending] if the answer
	// comes with another call of the tool: the tool must then return that error
	// at once. So whatever asks asks before it has any effect. The same
	// question asked again in one call has the same answer.
	Ask(ctx context.Context, q Question) (Answer, error)

	// CanAsk reports whether the client can put questions to its user.
	CanAsk() bool

	// Complete has the client's model write the text that answers a prompt. It
	// returns [ErrNoModel] if the client offers no model, and [ErrPending] as
	// Ask does.
	Complete(ctx context.Context, prompt string) (string, error)
}

// Errors of [Host].
var (
	ErrNoUser  = errors.New("this client cannot ask its user")
	ErrNoModel = errors.New("this client offers no model")
	ErrPending = errors.New("the question is on its way to the client")
)

// A Question is a form of one or more fields with a text above it.
type Question struct {
	Text   string
	Fields []Field
}

// A Field is one question of a form: free text, or one or several of the
// choices if there are any. Its name is unique in the form.
type Field struct {
	Name        string
	Title       string
	Description string
	Choices     []Choice
	Multiple    bool
	Optional    bool
}

// A Choice is one of the answers a [Field] allows.
type Choice struct {
	Value string
	Title string // what the user sees; "" means the value
}

// An Answer is what the user did with a [Question]. Only an accepted form has
// values, and each is one that its field allows; a declined one is a no, a
// cancelled one no answer at all.
type Answer struct {
	Action Action
	Values map[string][]string // by the field's name; none for a field without an answer
}

// An Action is what became of a question. The zero value is no answer.
type Action int

const (
	Cancelled Action = iota
	Declined
	Accepted
)

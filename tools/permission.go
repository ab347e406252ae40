package tools

import (
	"context"
	"fmt"
	"strings"
	"unicode"
)

// A permitAnswer is what the user says about a call that may not run unasked.
type permitAnswer struct {
	decision permitDecision
	reason   string // in the user's words, for the model; often ""
}

// A permitDecision is the answer itself. The zero value allows nothing.
type permitDecision int

const (
	unanswered     permitDecision = iota // the user put the question aside
	denied                               // a no
	allowedOnce                          // this call
	allowedSession                       // and those like it, as long as the session lives
)

// The values of the form's field "decision".
const (
	allowOnce    = "allow_once"
	allowSession = "allow_session"
	deny         = "deny"
)

// askPermission asks the user whether a call may run. The text says what it is
// about to do and names the command, path or host as it will be used; what
// cannot be seen in it is made visible. The errors are those of [Host.Ask]: with
// any of them the call must not run.
func askPermission(ctx context.Context, host Host, text string) (permitAnswer, error) {
	a, err := host.Ask(ctx, Question{Text: visible(text), Fields: []Field{
		{Name: "decision", Title: "Decision", Choices: []Choice{
			{allowOnce, "Allow once"}, {allowSession, "Allow for this session"}, {deny, "Do not allow"},
		}},
		{Name: "reason", Title: "Reason", Description: "What to do instead, if it is not allowed", Optional: true},
	}})
	switch {
	case err != nil || a.Action == Cancelled:
		return permitAnswer{}, err
	case a.Action == Declined:
		return permitAnswer{decision: denied}, nil
	}
	p := permitAnswer{reason: strings.TrimSpace(strings.Join(a.Values["reason"], " "))}
	switch strings.Join(a.Values["decision"], " ") {
	case allowOnce:
		p.decision = allowedOnce
	case allowSession:
		p.decision = allowedSession
	case deny:
		p.decision = denied
	}
	return p, nil
}

// visible writes a text for the user's eyes: control and format characters,
// which could hide or reorder a part of it, as \u{…}. Lines and tabs stay.
func visible(text string) string {
	hidden := func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp))
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			fmt.Fprintf(&b, `\u{%X}`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

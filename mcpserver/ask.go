package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"ferrule/mcpserver/internal/seal"
	"ferrule/mcpserver/internal/userform"
	"ferrule/tools"
)

// How a tool asks the client: its user, by a form, or its model, by a prompt.
//
// In the era with a handshake a question is a request of ours, and the tool
// waits for the answer. Since 2026-07-28 a question is the result of the call.
// The client makes the call again with the answer, and the tool starts from its
// first line; what it asked before it finds answered. What was asked and
// answered so far travels with the question, as the state that the client sends
// back. It is signed, and bound to the session, the tool and the arguments, so an
// answer can never be used for another call, and it expires. Between the two the
// server keeps only a number of the state, and takes it once: a yes to one call
// is no yes to the next.

const (
	answerTime = 10 * time.Minute // how long a question of the second kind can be answered
	sampleTime = 2 * time.Minute  // how long the client's model may take, if it is waited for
	maxState   = 1 << 20          // bytes of the state that travels
	maxOpen    = 1000             // states on their way at once; of more, the oldest is no longer taken
	maxSample  = 8192             // tokens of a text that the client's model writes
)

// abilities is what the client of a request can do: what the request declares
// in the era without a handshake, else what the handshake did.
func abilities(ctx context.Context) mcp.ClientCapabilities {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		if info.ClientCapabilities == nil {
			return mcp.ClientCapabilities{}
		}
		return *info.ClientCapabilities
	}
	x, ok := server.ClientSessionFromContext(ctx).(*exchange)
	if c := clientOf(ctx); c != nil && (!ok || x.out.events) { // who takes one message as an answer cannot be sent another before it
		return c.GetClientCapabilities()
	}
	return mcp.ClientCapabilities{}
}

// canAsk reports whether the client of a request shows forms to its user. One
// that names no kind means forms; one that names only addresses does not.
func canAsk(ctx context.Context) bool { return hasForms(abilities(ctx)) }

func hasForms(c mcp.ClientCapabilities) bool {
	return c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// mayAsk is canAsk for a request that the library has not seen yet. waits tells
// whether the client can be sent something before the answer.
func mayAsk(m *message, c *client, waits bool) bool {
	if mcp.IsModernProtocol(m.version()) {
		var said mcp.ClientCapabilities
		return json.Unmarshal(m.peek().Meta[mcp.MetaKeyClientCapabilities], &said) == nil && hasForms(said)
	}
	return waits && hasForms(c.GetClientCapabilities())
}

func (h *host) CanAsk() bool { return canAsk(h.ctx) }

// Ask implements [tools.Host].
func (h *host) Ask(ctx context.Context, q tools.Question) (tools.Answer, error) {
	if !h.CanAsk() {
		return tools.Answer{}, tools.ErrNoUser
	}
	params := mcp.ElicitationParams{Message: q.Text, RequestedSchema: userform.Schema(q, server.RequestProtocolVersion(h.ctx) >= mcp.ProtocolVersion20251125)}
	var r mcp.ElicitationResponse
	if h.talk != nil {
		raw, err := h.talk.ask(digest("ask", q), mcp.NewElicitationInputRequest(params))
		if err != nil {
			return tools.Answer{}, err
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			return tools.Answer{}, nil // which is no answer
		}
		return userform.Answer(q, string(r.Action), r.Content), nil
	}
	h.Progress(0, "waiting for the user's answer")
	defer h.Progress(0, "")
	res, err := clientOf(h.ctx).RequestElicitation(ctx, mcp.ElicitationRequest{Params: params})
	if err != nil {
		return tools.Answer{}, unasked(err, tools.ErrNoUser)
	}
	return userform.Answer(q, string(res.Action), res.Content), nil
}

// Complete implements [tools.Host].
func (h *host) Complete(ctx context.Context, prompt string) (string, error) {
	if abilities(h.ctx).Sampling == nil {
		return "", tools.ErrNoModel
	}
	params := mcp.CreateMessageParams{MaxTokens: maxSample, Messages: []mcp.SamplingMessage{
		{Role: mcp.RoleUser, Content: mcp.NewTextContent(prompt)}}}
	if h.talk != nil {
		raw, err := h.talk.ask(digest("complete", prompt), mcp.NewSamplingInputRequest(params))
		if err != nil {
			return "", err
		}
		return written(raw)
	}
	ctx, cancel := context.WithTimeout(ctx, sampleTime)
	defer cancel()
	res, err := clientOf(h.ctx).RequestSampling(ctx, mcp.CreateMessageRequest{CreateMessageParams: params})
	if err != nil {
		return "", unasked(err, tools.ErrNoModel)
	}
	raw, err := json.Marshal(res)
	if err != nil {
		return "", err
	}
	return written(raw)
}

// unasked returns the error of a question that has not come to anybody: the
// client has refused the request, or has let its time pass.
func unasked(err, none error) error {
	var refused *clientError
	switch {
	case errors.As(err, &refused):
		return fmt.Errorf("%w: it says %q", none, refused.text)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: it did not answer in time", none)
	}
	return err
}

// written returns the text of what a model has written.
func written(raw json.RawMessage) (string, error) {
	type block struct{ Type, Text string }
	var m struct{ Content json.RawMessage }
	var one block
	var several []block
	if json.Unmarshal(raw, &m) == nil && json.Unmarshal(m.Content, &several) != nil && json.Unmarshal(m.Content, &one) == nil {
		several = []block{one}
	}
	var text strings.Builder
	for _, b := range several {
		if b.Type == "text" {
			text.WriteString(b.Text)
		}
	}
	if strings.TrimSpace(text.String()) == "" {
		return "", fmt.Errorf("%w: it wrote no text", tools.ErrNoModel)
	}
	return text.String(), nil
}

// digest is the name of a question: the same for the same question.
func digest(kind string, v any) string {
	b, _ := json.Marshal(v) // strings, slices and structs of them always encode
	sum := sha256.Sum256(b)
	return kind + "-" + hex.EncodeToString(sum[:8])
}

// A talk is what one call asks and was answered in the era without a handshake.
// It may be used concurrently.
type talk struct {
	key  *seal.Sealer
	call string // which call this is: session, tool and arguments

	mu      sync.Mutex // guards the fields below
	answers map[string]json.RawMessage
	open    mcp.InputRequests // asked now
}

// travelling is the state between two rounds of a call.
type travelling struct {
	Open    []string                   `json:"open"` // questions on their way
	Answers map[string]json.RawMessage `json:"answers,omitempty"`
}

var errForeign = errors.New("the answer belongs to another question, or to none, was used before or comes too late: make the call again without it")

// newTalk goes on where the rounds before have ended. The error is for the
// model.
func newTalk(key *seal.Sealer, session string, p mcp.CallToolParams) (*talk, error) {
	var args any
	d := json.NewDecoder(strings.NewReader(string(p.RawArguments)))
	d.UseNumber()
	if len(p.RawArguments) > 0 && d.Decode(&args) != nil {
		args = string(p.RawArguments)
	}
	canonical, err := json.Marshal(args) // keys in order
	if err != nil {
		return nil, err
	}
	t := &talk{key: key, call: session + "\x00" + p.Name + "\x00" + string(canonical),
		answers: make(map[string]json.RawMessage), open: make(mcp.InputRequests)}
	if p.RequestState == "" && len(p.InputResponses) == 0 {
		return t, nil
	}
	st, ok := t.unseal(p.RequestState)
	if !ok {
		return nil, errForeign
	}
	maps.Copy(t.answers, st.Answers)
	for _, name := range st.Open {
		if r, ok := p.InputResponses[name]; ok {
			if t.answers[name], err = json.Marshal(r); err != nil {
				return nil, errForeign
			}
		}
	}
	return t, nil
}

// ask returns the answer to a question, or [tools.ErrPending] after noting that
// it is to be asked.
func (t *talk) ask(name string, r mcp.InputRequest) (json.RawMessage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if raw, ok := t.answers[name]; ok {
		return raw, nil
	}
	t.open[name] = r
	return nil, tools.ErrPending
}

// result is the result of a round that has asked something, else nil.
func (t *talk) result() *mcp.CallToolResult {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.open) == 0 {
		return nil
	}
	state, err := t.seal()
	if err != nil {
		return mcp.NewToolResultError(err.Error())
	}
	r := &mcp.CallToolResult{Content: []mcp.Content{}}
	r.ResultType = mcp.ResultTypeInputRequired
	r.InputRequests, r.RequestState = t.open, state
	return r
}

func (t *talk) seal() (string, error) {
	payload, err := json.Marshal(travelling{Open: slices.Sorted(maps.Keys(t.open)), Answers: t.answers})
	if err != nil {
		return "", err
	}
	if len(payload) > maxState {
		return "", errors.New("the answers so far are too long to ask for another one; ask for less at once")
	}
	return t.key.Close(payload, t.call), nil
}

func (t *talk) unseal(s string) (st travelling, ok bool) {
	payload, ok := t.key.Open(s, t.call)
	return st, ok && json.Unmarshal(payload, &st) == nil
}

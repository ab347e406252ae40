package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// The conformance suite calls tools, prompts and resources by name. A fixture
// adds them to a server of ours; they exercise the protocol and are no example
// of good tools.
type fixture struct {
	*server.MCPServer
	srv *Server
}

type (
	object = map[string]any
	result = mcp.CallToolResult
	call   = mcp.CallToolRequest
)

const (
	onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	silence  = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
)

// fill adds all that the suite asks for, also the options that servers of ours
// do without.
func (f fixture) fill() {
	for _, option := range []server.ServerOption{
		server.WithResourceCapabilities(true, true), server.WithPromptCapabilities(true), server.WithToolCapabilities(true),
		server.WithPromptCompletionProvider(completer{}),
		server.WithStrictInputSchemaDefault(), server.WithInputSchemaValidation(),
	} {
		option(f.MCPServer)
	}
	f.EnableSampling()
	f.GetHooks().OnBeforeGetPrompt = nil // which leads unknown names to what people have written
	f.contents()
	f.notices()
	f.changes()
	f.schemas()
	f.waiting()
	f.returning()
	f.prompts()
	f.resources()
}

func (f fixture) tool(name string, h func(context.Context, call) (*result, error), opts ...mcp.ToolOption) {
	f.srv.names = append(f.srv.names, name)
	f.AddTool(mcp.NewTool(name, append(opts, mcp.WithDescription("Conformance: "+name))...), h)
}

// fixed adds a tool that always returns the same content.
func (f fixture) fixed(name string, isError bool, content ...mcp.Content) {
	f.tool(name, func(context.Context, call) (*result, error) {
		return &result{Content: content, IsError: isError}, nil
	})
}

func (f fixture) contents() {
	embedded := func(uri, mime, s string) mcp.Content {
		return mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: uri, MIMEType: mime, Text: s})
	}
	picture := mcp.NewImageContent(onePixel, "image/png")
	f.fixed("test_simple_text", false, mcp.NewTextContent("plain text"))
	f.fixed("test_image_content", false, picture)
	f.fixed("test_audio_content", false, mcp.NewAudioContent(silence, "audio/wav"))
	f.fixed("test_embedded_resource", false, embedded("test://embedded-resource", "text/plain", "embedded"))
	f.fixed("test_multiple_content_types", false, mcp.NewTextContent("several kinds"), picture,
		embedded("test://mixed-content-resource", "application/json", `{"n":1}`))
	f.fixed("test_error_handling", true, mcp.NewTextContent("an error on purpose"))
}

// notices adds tools that send notifications while they run.
func (f fixture) notices() {
	f.tool("test_tool_with_progress", func(ctx context.Context, r call) (*result, error) {
		for i := range 3 {
			if m := r.Params.Meta; m != nil && m.ProgressToken != nil {
				notify(ctx, "notifications/progress", object{"progressToken": m.ProgressToken, "progress": 50 * i, "total": 100})
			}
		}
		return mcp.NewToolResultText("done"), nil
	})
	f.tool("test_tool_with_logging", func(ctx context.Context, _ call) (*result, error) {
		for _, s := range []string{"started", "working", "finished"} {
			notify(ctx, "notifications/message", object{"level": "info", "data": s})
		}
		return mcp.NewToolResultText("logged"), nil
	})
	f.tool("test_logging_tool", func(ctx context.Context, _ call) (*result, error) {
		// An error means that the client asked for a higher level, or for none.
		_ = f.SendLogMessageToClient(ctx, mcp.NewLoggingMessageNotification(mcp.LoggingLevelInfo, "fixture", "message"))
		return mcp.NewToolResultText("logged"), nil
	})
}

// changes adds tools after which a list is another one.
func (f fixture) changes() {
	var n atomic.Int64
	f.tool("test_trigger_tool_change", func(context.Context, call) (*result, error) {
		f.AddTool(mcp.NewTool(fmt.Sprintf("test_passing_%d", n.Add(1)), mcp.WithDescription("Conformance: a new tool")), func(context.Context, call) (*result, error) {
			return mcp.NewToolResultText("here"), nil
		})
		return mcp.NewToolResultText("changed"), nil
	})
	f.tool("test_trigger_prompt_change", func(context.Context, call) (*result, error) {
		f.prompt("test_passing_prompt", func(mcp.GetPromptRequest) []mcp.Content { return nil })
		return mcp.NewToolResultText("changed"), nil
	})
}

func (f fixture) schemas() {
	const schema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},
		"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
		"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
		"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`
	f.srv.names = append(f.srv.names, "json_schema_2020_12_tool")
	f.AddTool(mcp.NewToolWithRawSchema("json_schema_2020_12_tool", "Conformance: schema keywords", json.RawMessage(schema)),
		func(context.Context, call) (*result, error) { return mcp.NewToolResultText("ok"), nil })
}

func form(message, field, kind string) mcp.ElicitationParams {
	return mcp.ElicitationParams{Message: message, RequestedSchema: object{
		"type": "object", "properties": object{field: object{"type": kind}}, "required": []string{field}}}
}

func sampling(question string) mcp.CreateMessageParams {
	return mcp.CreateMessageParams{MaxTokens: 100, Messages: []mcp.SamplingMessage{
		{Role: mcp.RoleUser, Content: mcp.NewTextContent(question)}}}
}

// waiting adds the tools that ask the client and wait, as before 2026-07-28.
func (f fixture) waiting() {
	f.tool("test_sampling", func(ctx context.Context, r call) (*result, error) {
		//lint:ignore SA1019 the suite of the versions that have it asks for it
		m, err := f.RequestSampling(ctx, mcp.CreateMessageRequest{CreateMessageParams: sampling(r.GetString("prompt", ""))})
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultText("LLM response: " + mcp.GetTextFromContent(m.Content)), nil
	}, mcp.WithString("prompt", mcp.Required(), mcp.Description("for the model")))
	f.elicits("test_elicitation", object{
		"username": object{"type": "string", "description": "any name"},
		"email":    object{"type": "string", "description": "any address"},
	}, mcp.WithString("message", mcp.Required(), mcp.Description("for the user")))
	f.elicits("test_elicitation_sep1034_defaults", object{
		"name": object{"type": "string", "default": "John Doe"}, "age": object{"type": "integer", "default": 30},
		"score": object{"type": "number", "default": 95.5}, "verified": object{"type": "boolean", "default": true},
		"status": object{"type": "string", "enum": []string{"active", "inactive", "pending"}, "default": "active"},
	})
	titled := []any{object{"const": "value1", "title": "First"}, object{"const": "value2", "title": "Second"}}
	plain := []string{"option1", "option2"}
	f.elicits("test_elicitation_sep1330_enums", object{
		"untitledSingle": object{"type": "string", "enum": plain},
		"titledSingle":   object{"type": "string", "oneOf": titled},
		"legacyEnum":     object{"type": "string", "enum": plain, "enumNames": []string{"First", "Second"}},
		"untitledMulti":  object{"type": "array", "items": object{"type": "string", "enum": plain}},
		"titledMulti":    object{"type": "array", "items": object{"anyOf": titled}},
	})
}

func (f fixture) elicits(name string, properties object, opts ...mcp.ToolOption) {
	f.tool(name, func(ctx context.Context, r call) (*result, error) {
		e, err := f.RequestElicitation(ctx, mcp.ElicitationRequest{Params: mcp.ElicitationParams{
			Message: r.GetString("message", "Please answer"), RequestedSchema: object{"type": "object", "properties": properties}}})
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultText(fmt.Sprintf("action=%s, content=%v", e.Action, e.Content)), nil
	}, opts...)
}

// A round is one question of a call that returns it and is made again.
type round struct {
	ids []string // of the answers that end it
	ask func(*server.InputRequestBuilder) *server.InputRequestBuilder
}

func elicit(id, message, field, kind string) round {
	return round{[]string{id}, func(b *server.InputRequestBuilder) *server.InputRequestBuilder {
		return b.Elicit(id, form(message, field, kind))
	}}
}

// returning adds the tools that return a question and are called again, as from
// 2026-07-28 on.
func (f fixture) returning() {
	f.rounds("test_input_required_result_elicitation", false, elicit("user_name", "What is your name?", "name", "string"))
	f.rounds("test_input_required_result_sampling", false, round{[]string{"capital_question"}, func(b *server.InputRequestBuilder) *server.InputRequestBuilder {
		return b.Sample("capital_question", sampling("What is the capital of France?"))
	}})
	f.rounds("test_input_required_result_list_roots", false, round{[]string{"client_roots"}, func(b *server.InputRequestBuilder) *server.InputRequestBuilder {
		return b.Roots("client_roots")
	}})
	confirm := elicit("confirm", "Please confirm", "ok", "boolean")
	f.rounds("test_input_required_result_request_state", true, confirm)
	f.rounds("test_input_required_result_tampered_state", true, confirm)
	f.rounds("test_input_required_result_multiple_inputs", true, round{[]string{"user_name", "greeting", "client_roots"}, func(b *server.InputRequestBuilder) *server.InputRequestBuilder {
		return b.Elicit("user_name", form("What is your name?", "name", "string")).Sample("greeting", sampling("Greet me")).Roots("client_roots")
	}})
	f.rounds("test_input_required_result_multi_round", true,
		elicit("step1", "Step 1: What is your name?", "name", "string"), elicit("step2", "Step 2: What is your favorite color?", "color", "string"))
	f.rounds("test_streaming_elicitation", false, elicit("u", "Well?", "x", "string"))
	f.tool("test_input_required_result_capabilities", func(ctx context.Context, _ call) (*result, error) {
		b := server.NewInputRequestBuilder("")
		if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.ClientCapabilities != nil {
			if info.ClientCapabilities.Sampling != nil {
				b.Sample("s", sampling("hi"))
			}
			if info.ClientCapabilities.Elicitation != nil {
				b.Elicit("e", form("Well?", "x", "string"))
			}
		}
		return b.ToolResult(), nil
	})
	f.tool("test_missing_capability", func(ctx context.Context, _ call) (*result, error) {
		info := server.RequestProtocolInfoFromContext(ctx)
		if info != nil && info.Modern && (info.ClientCapabilities == nil || info.ClientCapabilities.Sampling == nil) {
			return nil, mcp.MissingRequiredClientCapabilityError{Capability: "sampling"}
		}
		return mcp.NewToolResultText("ok"), nil
	})
}

// rounds adds a tool that asks round after round. A signed one sends a state
// along that it knows again, and only that.
func (f fixture) rounds(name string, signed bool, rounds ...round) {
	seal := func(i int) string { return fmt.Sprintf("%s/%d/%p", name, i, rounds) }
	f.tool(name, func(_ context.Context, r call) (*result, error) {
		at := 0
		if s := r.Params.RequestState; s != "" {
			for at < len(rounds) && s != seal(at) {
				at++
			}
			if at == len(rounds) {
				return nil, errors.New("the state was changed on its way")
			}
		}
		if answered(r.Params.InputResponses, rounds[at].ids) {
			if at++; at == len(rounds) {
				b, _ := json.Marshal(r.Params.InputResponses)
				return mcp.NewToolResultText("done: " + string(b)), nil
			}
		}
		state := ""
		if signed {
			state = seal(at)
		}
		return rounds[at].ask(server.NewInputRequestBuilder(state)).ToolResult(), nil
	})
}

// answered reports whether every id has an answer of the right form. The
// library decodes any answer as any kind; only its fields tell.
func answered(rs mcp.InputResponses, ids []string) bool {
	for _, id := range ids {
		if e := server.ElicitationResponse(rs, id); e != nil && e.Action != "" {
			m, ok := e.Content.(map[string]any)
			name, has := m["name"]
			if _, text := name.(string); !ok || len(m) == 0 || has && !text {
				return false
			}
		} else if server.SamplingResponse(rs, id) == nil && server.RootsResponse(rs, id) == nil {
			return false
		}
	}
	return true
}

type completer struct{}

func (completer) CompletePromptArgument(context.Context, string, mcp.CompleteArgument, mcp.CompleteContext) (*mcp.Completion, error) {
	return &mcp.Completion{Values: []string{"paris", "park", "party"}, Total: 3}, nil
}

func (f fixture) prompt(name string, h func(mcp.GetPromptRequest) []mcp.Content, opts ...mcp.PromptOption) {
	f.AddPrompt(mcp.NewPrompt(name, append(opts, mcp.WithPromptDescription("Conformance: "+name))...),
		func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			p := &mcp.GetPromptResult{Messages: []mcp.PromptMessage{}}
			for _, c := range h(r) {
				p.Messages = append(p.Messages, mcp.PromptMessage{Role: mcp.RoleUser, Content: c})
			}
			return p, nil
		})
}

func (f fixture) prompts() {
	arg := func(name string) mcp.PromptOption {
		return mcp.WithArgument(name, mcp.ArgumentDescription("any text"), mcp.RequiredArgument())
	}
	f.prompt("test_simple_prompt", func(mcp.GetPromptRequest) []mcp.Content {
		return []mcp.Content{mcp.NewTextContent("plain prompt")}
	})
	f.prompt("test_prompt_with_arguments", func(r mcp.GetPromptRequest) []mcp.Content {
		a := r.Params.Arguments
		return []mcp.Content{mcp.NewTextContent(strings.Join([]string{"arg1='" + a["arg1"] + "'", "arg2='" + a["arg2"] + "'"}, ", "))}
	}, arg("arg1"), arg("arg2"))
	f.prompt("test_prompt_with_embedded_resource", func(r mcp.GetPromptRequest) []mcp.Content {
		return []mcp.Content{mcp.NewEmbeddedResource(mcp.TextResourceContents{
			URI: r.Params.Arguments["resourceUri"], MIMEType: "text/plain", Text: "embedded"})}
	}, arg("resourceUri"))
	f.prompt("test_prompt_with_image", func(mcp.GetPromptRequest) []mcp.Content {
		return []mcp.Content{mcp.NewImageContent(onePixel, "image/png"), mcp.NewTextContent("Look at the image.")}
	})
	f.AddPrompt(mcp.NewPrompt("test_input_required_result_prompt", mcp.WithPromptDescription("Conformance: asks first")),
		func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			if server.ElicitationResponse(r.Params.InputResponses, "user_context") == nil {
				return server.NewInputRequestBuilder("").Elicit("user_context", form("Which context?", "context", "string")).PromptResult(), nil
			}
			return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent("ok")}}}, nil
		})
}

func (f fixture) resources() {
	const text, binary = "test://static-text", "test://static-binary"
	f.AddResource(mcp.NewResource(text, "static-text", mcp.WithMIMEType("text/plain")),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: text, MIMEType: "text/plain", Text: "text"}}, nil
		})
	f.AddResource(mcp.NewResource(binary, "static-binary", mcp.WithMIMEType("image/png")),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.BlobResourceContents{URI: binary, MIMEType: "image/png", Blob: onePixel}}, nil
		})
	f.AddResourceTemplate(mcp.NewResourceTemplate("test://template/{id}/data", "template", mcp.WithTemplateMIMEType("application/json")),
		func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			b, _ := json.Marshal(object{"uri": r.Params.URI, "id": r.Params.Arguments["id"]})
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, MIMEType: "application/json", Text: string(b)}}, nil
		})
}

package notebook

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// A Cell is a cell as it is read.
type Cell struct {
	ID          string // see [Notebook.ID]
	Type        string // "code", "markdown" or "raw"; others as the file has them
	Count       string // execution count, "" if it has none
	Source      string
	Outputs     []Output
	Attachments []Media // in the order of their names
}

// An Output is one thing that a cell has given: a text or a picture, and what
// cannot be shown.
type Output struct {
	Kind string // "stdout", "stderr", "result", "display" or "error"
	Text string // clean: no escape codes of terminals, no overwritten progress
	HTML bool   // Text is HTML

	Picture *Media  // shown instead of a text
	Other   []Media // kinds of data that are neither
}

// Media is data of a kind that is not text.
type Media struct {
	Name string // of an attachment
	MIME string
	Size int    // in bytes
	Data []byte // of a picture in pixels
}

// IsPicture reports whether Data holds a picture.
func (m Media) IsPicture() bool { return m.Data != nil }

// rawCell is a cell of any format: input and prompt_number are of formats before
// 4, text of format 1.
type rawCell struct {
	Source, Input, Text          multiline
	ExecutionCount, PromptNumber json.RawMessage
	Level                        int
	Outputs                      []json.RawMessage
	Attachments                  map[string]map[string]multiline
}

// rawOutput is an output of any format. Formats before 4 hold data beside the
// other keys; those are read from the same bytes once more.
type rawOutput struct {
	OutputType string `json:"output_type"`
	Name       string
	Stream     string // what format 3 calls Name
	Text       multiline
	Ename      string
	Evalue     string
	Traceback  []string
	Data       map[string]json.RawMessage
}

// multiline is a string or a list of strings, which are joined.
type multiline string

// UnmarshalJSON implements [json.Unmarshaler].
func (m *multiline) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		var lines []string
		err := json.Unmarshal(b, &lines)
		*m = multiline(strings.Join(lines, ""))
		return err
	}
	return json.Unmarshal(b, (*string)(m))
}

// Cell reads cell i. What is not as the format wants is left out.
func (n *Notebook) Cell(i int) Cell {
	c := Cell{ID: n.ID(i), Type: n.Type(i)}
	var raw rawCell
	for key, to := range map[string]any{
		"source": &raw.Source, "input": &raw.Input, "text": &raw.Text, "level": &raw.Level,
		"execution_count": &raw.ExecutionCount, "prompt_number": &raw.PromptNumber,
		"outputs": &raw.Outputs, "attachments": &raw.Attachments,
	} {
		if m := n.cells[i].find(key); m != nil {
			_ = json.Unmarshal(n.at(m.value), to) // what does not fit is left out
		}
	}
	c.Source = string(raw.Source)
	count := raw.ExecutionCount
	if n.Major < 4 {
		count = raw.PromptNumber
		c.Source += string(raw.Input)
		if c.Source == "" {
			c.Source = string(raw.Text)
		}
		if c.Type == "heading" { // is markdown since format 4
			c.Type = "markdown"
			c.Source = strings.Repeat("#", min(max(raw.Level, 1), 6)) + " " + c.Source
		}
	}
	if s := string(count); s != "null" {
		c.Count = s
	}
	c.Outputs = outputs(raw.Outputs)
	for _, name := range slices.Sorted(maps.Keys(raw.Attachments)) {
		for _, mime := range slices.Sorted(maps.Keys(raw.Attachments[name])) {
			m := media(mime, string(raw.Attachments[name][mime]))
			m.Name = name
			c.Attachments = append(c.Attachments, m)
		}
	}
	return c
}

// outputs reads outputs. Pieces of one stream in a row are one text.
func outputs(raws []json.RawMessage) (outs []Output) {
	var stream strings.Builder // text of the last of outs, while that is a stream
	end := func() {
		if stream.Len() > 0 {
			outs[len(outs)-1].Text = clean(stream.String())
			stream.Reset()
		}
	}
	for _, b := range raws {
		var raw rawOutput
		if json.Unmarshal(b, &raw) != nil {
			outs = append(outs, Output{Kind: "display", Other: []Media{{MIME: "damaged output", Size: len(b)}}})
			continue
		}
		if raw.OutputType == "stream" {
			kind := raw.Name
			if kind == "" {
				kind = raw.Stream
			}
			if kind != "stderr" {
				kind = "stdout"
			}
			if stream.Len() == 0 || outs[len(outs)-1].Kind != kind {
				end()
				outs = append(outs, Output{Kind: kind})
			}
			stream.WriteString(string(raw.Text))
			continue
		}
		end()
		outs = append(outs, raw.output(b))
	}
	end()
	return outs
}

// output reads what is no stream; b is its JSON.
func (raw rawOutput) output(b []byte) Output {
	switch raw.OutputType {
	case "error", "pyerr":
		text := clean(strings.Join(raw.Traceback, "\n"))
		if text == "" {
			text = strings.TrimSuffix(raw.Ename+": "+raw.Evalue, ": ")
		}
		return Output{Kind: "error", Text: text}
	case "execute_result":
		return bundle("result", raw.Data)
	case "pyout":
		return bundle("result", flat(b))
	}
	if raw.Data == nil {
		raw.Data = flat(b)
	}
	return bundle("display", raw.Data)
}

// flat is the data of an output before format 4, by its type of today.
func flat(b []byte) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(b, &all) != nil {
		return nil
	}
	data := make(map[string]json.RawMessage)
	for key, mime := range map[string]string{
		"text": "text/plain", "html": "text/html", "latex": "text/latex", "png": "image/png", "jpeg": "image/jpeg",
		"svg": "image/svg+xml", "javascript": "application/javascript", "json": "application/json",
	} {
		if v := all[key]; v != nil {
			data[mime] = v
		}
	}
	return data
}

// bundle chooses what is shown of the forms of one output: a picture, else the
// text that is the shortest way to say it.
func bundle(kind string, data map[string]json.RawMessage) Output {
	out := Output{Kind: kind}
	texts := make(map[string]string)
	for _, mime := range slices.Sorted(maps.Keys(data)) {
		var t multiline
		if json.Unmarshal(data[mime], &t) != nil {
			t = multiline(data[mime]) // of another kind, such as a table as JSON
		}
		m := media(mime, string(t))
		switch {
		case m.IsPicture() && out.Picture == nil:
			out.Picture = &m
		case strings.HasPrefix(mime, "text/") || mime == "application/json":
			texts[mime] = string(t)
		default:
			out.Other = append(out.Other, m)
		}
	}
	if out.Picture != nil {
		return out
	}
	for _, mime := range []string{"text/markdown", "text/plain", "text/latex", "text/html", "application/json"} {
		if t, ok := texts[mime]; ok {
			out.HTML = mime == "text/html"
			out.Text = clean(t)
			break
		}
	}
	return out
}

// media is a piece of data as a notebook holds it: pictures in base64.
func media(mime, text string) Media {
	m := Media{MIME: mime, Size: len(text)}
	if !strings.HasPrefix(mime, "image/") || mime == "image/svg+xml" {
		return m
	}
	packed := strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == ' ' {
			return -1
		}
		return r
	}, text)
	data, err := base64.StdEncoding.DecodeString(packed)
	if err == nil && len(data) > 0 {
		m.Data, m.Size = data, len(data)
	}
	return m
}

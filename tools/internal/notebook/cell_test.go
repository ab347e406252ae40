package notebook

import (
	"reflect"
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\ttext\n":                              "plain\ttext\n",
		"\x1b[0;31mNameError\x1b[0m: x":              "NameError: x",
		"\x1b]0;title\aok\x1b]8;;http://x\x1b\\link": "oklink",
		"\x1b(Bcharset\x1b=\x1b":                     "charset",
		"\x1b[31":                                    "",
		"\x1b[3\nnext":                               "\nnext",
		"10%\r50%\r100%\nnext\n":                     "100%\nnext\n",
		"12345\rab\n":                                "ab345\n",
		"loading...\r\x1b[K          \rdone\n":       "done\n",
		"a\r\nb\r\n":                                 "a\nb\n",
		"abc\b\bX\n":                                 "aXc\n",
		"bell\a \x00nul":                             "bell nul",
		"\r\r\n":                                     "\n",
		"日本語\rx":                                     "x本語",
		strings.Repeat("\x1b[1mé\x1b[0m", 3) + "\x7f": "ééé",
	} {
		if got := clean(in); got != want {
			t.Errorf("%q: %q; want %q", in, got, want)
		}
	}
}

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="

func TestCell(t *testing.T) {
	t.Parallel()
	n := parse(t, `{"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"language": "julia"}}, "cells": [
	{"cell_type": "code", "id": "c", "execution_count": 7, "metadata": {}, "source": ["a\n", "b"], "outputs": [
		{"output_type": "stream", "name": "stdout", "text": ["10%\r"]},
		{"output_type": "stream", "name": "stdout", "text": "99%\n"},
		{"output_type": "stream", "name": "stderr", "text": "warn\n"},
		{"output_type": "stream", "name": "stderr", "text": ""},
		{"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\u001b[31mE\u001b[0m", "  at 1"]},
		{"output_type": "error", "ename": "E", "evalue": "v", "traceback": []},
		{"output_type": "execute_result", "execution_count": 7, "metadata": {}, "data": {"text/plain": ["1\n", "2"], "text/html": "<b>1</b>"}},
		{"output_type": "display_data", "metadata": {}, "data": {"image/png": "`+pixel[:8]+`\n`+pixel[8:]+`\n", "text/plain": "<Figure>"}},
		{"output_type": "display_data", "metadata": {}, "data": {"image/svg+xml": ["<svg/>"]}},
		{"output_type": "display_data", "metadata": {}, "data": {"text/html": "<p>x</p>"}},
		{"output_type": "display_data", "metadata": {}, "data": {"application/json": {"a": 1}}},
		{"output_type": "display_data", "metadata": {}, "data": {"image/png": "not base64!"}},
		{"output_type": "display_data", "metadata": {}, "data": {"text/markdown": "# M", "text/plain": "M"}},
		3]},
	{"cell_type": "markdown", "id": "m", "metadata": {}, "source": "![](attachment:b.png)", "attachments": {"b.png": {"image/png": "`+pixel+`"}, "a.txt": {"text/plain": "hi"}}},
	{"cell_type": "code", "id": 3, "execution_count": null, "source": 5, "outputs": {}}
	]}`)
	got := n.Cell(0)
	picture := &Media{MIME: "image/png", Size: 68}
	for i := range got.Outputs {
		if p := got.Outputs[i].Picture; p != nil {
			if !p.IsPicture() || string(p.Data[1:4]) != "PNG" {
				t.Errorf("%+v", p)
			}
			p.Data = nil
		}
	}
	want := Cell{ID: "c", Type: "code", Count: "7", Source: "a\nb", Outputs: []Output{
		{Kind: "stdout", Text: "99%\n"},
		{Kind: "stderr", Text: "warn\n"},
		{Kind: "error", Text: "E\n  at 1"},
		{Kind: "error", Text: "E: v"},
		{Kind: "result", Text: "1\n2"},
		{Kind: "display", Picture: picture},
		{Kind: "display", Other: []Media{{MIME: "image/svg+xml", Size: 6}}},
		{Kind: "display", Text: "<p>x</p>", HTML: true},
		{Kind: "display", Text: `{"a": 1}`},
		{Kind: "display", Other: []Media{{MIME: "image/png", Size: 11}}},
		{Kind: "display", Text: "# M"},
		{Kind: "display", Other: []Media{{MIME: "damaged output", Size: 1}}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	m := n.Cell(1)
	if len(m.Attachments) != 2 || m.Attachments[0].Name != "a.txt" || m.Attachments[0].IsPicture() || !m.Attachments[1].IsPicture() {
		t.Errorf("%+v", m)
	}
	if c := n.Cell(2); !reflect.DeepEqual(c, Cell{ID: "cell-2", Type: "code"}) {
		t.Errorf("%+v", c)
	}
	if l := n.Language(); l != "julia" {
		t.Error(l)
	}
}

// DOC43: formats 2 and 3 are read as if they were of format 4.
func TestOldFormats(t *testing.T) {
	t.Parallel()
	n := parse(t, `{"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [
	{"cells": [{"cell_type": "code", "collapsed": false, "input": ["a\n", "b"], "language": "python", "metadata": {}, "prompt_number": 1, "outputs": [
		{"output_type": "pyout", "prompt_number": 1, "metadata": {}, "text": ["1"], "html": "<b>1</b>"},
		{"output_type": "pyerr", "ename": "E", "evalue": "v", "traceback": ["\u001b[31mt"]},
		{"output_type": "stream", "stream": "stderr", "text": "w"},
		{"output_type": "display_data", "metadata": {}, "svg": "<svg/>", "png": "`+pixel+`"}]}], "metadata": {}},
	{"cells": [{"cell_type": "heading", "level": 2, "metadata": {}, "source": ["H"]}], "metadata": {}}]}`)
	if n.Len() != 2 || n.Editable() == nil {
		t.Fatal(n.Len(), n.Editable())
	}
	c := n.Cell(0)
	var kinds []string
	for _, o := range c.Outputs {
		kinds = append(kinds, o.Kind+" "+o.Text)
	}
	if c.Source != "a\nb" || c.Count != "1" || strings.Join(kinds, "|") != "result 1|error t|stderr w|display " || c.Outputs[3].Picture == nil {
		t.Errorf("%+v", c)
	}
	if h := n.Cell(1); h.Type != "markdown" || h.Source != "## H" || h.ID != "cell-1" {
		t.Errorf("%+v", h)
	}
}

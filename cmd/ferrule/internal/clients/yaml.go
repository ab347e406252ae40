package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

func decodeYAML(text []byte) (any, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var tree, more any
	if err := d.Decode(&tree); err != nil && err != io.EOF { // only comments: there is no document
		return nil, fmt.Errorf("the file is not YAML: %s", strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n", ""), "yaml: "))
	}
	if d.Decode(&more) != io.EOF {
		return nil, errors.New("the file has several YAML documents; put the entry in by hand")
	}
	return tree, nil
}

// oddBreaks are line breaks that YAML counts and nobody else does.
var oddBreaks = regexp.MustCompile("\r[^\n]|\r$|[\u0085\u2028\u2029]")

// editYAML puts the entry first in its container, directly below the
// container's key, or the container at the end of the file. Lines are only put
// between lines, so that comments stay where they are.
func (l layout) editYAML(text []byte, e object, s Server) (splice, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return splice{}, err
	}
	if oddBreaks.Match(text) {
		return splice{}, errUnsure
	}
	nl, starts := newline(text), lineStarts(text)
	if doc.Kind == 0 || doc.Content[0].Tag == "!!null" {
		return atEnd(text, nl, l.yamlText(e, s.Name, nl)), nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode || root.Style&yaml.FlowStyle != 0 || root.Column != 1 {
		return splice{}, fmt.Errorf("line %d, column %d: a mapping must stand there, one key a line", root.Line, root.Column)
	}
	key, container := child(root, l.container[0])
	if key == nil {
		return atEnd(text, nl, l.yamlText(e, s.Name, nl)), nil
	}
	below := starts[key.Line] // of the line after the key's
	if container.Tag == "!!null" && container.Kind == yaml.ScalarNode && container.Value == "" {
		return between(text, below, nl, yamlItem(l, e, s.Name, "  ", nl)), nil
	}
	if len(container.Content) == 0 && container.Style&yaml.FlowStyle != 0 && container.Line == key.Line {
		return emptyFlow(text, starts[key.Line-1]+container.Column-1, nl+strings.TrimSuffix(yamlItem(l, e, s.Name, "  ", nl), nl))
	}
	kind := yaml.MappingNode
	if l.named {
		kind = yaml.SequenceNode
	}
	if container.Kind != kind || container.Style&yaml.FlowStyle != 0 || container.Line <= key.Line {
		return splice{}, fmt.Errorf("line %d, column %d: %s is not written one entry a line; put the entry in by hand",
			container.Line, container.Column, l.container[0])
	}
	indent := strings.Repeat(" ", container.Column-1)
	made := yamlItem(l, e, s.Name, indent, nl)
	at := entryLine(container, s.Name, l.named)
	if at == 0 {
		return between(text, below, nl, made), nil
	}
	start := starts[at-1]
	end := start + yamlBlock(text[start:], len(indent))
	if !bytes.HasSuffix(text[:end], []byte("\n")) {
		made = strings.TrimSuffix(made, nl)
	}
	return splice{start, end, made, true}, nil
}

func (l layout) yamlText(e object, name, nl string) string {
	return l.container[0] + ":" + nl + yamlItem(l, e, name, "  ", nl)
}

// atEnd adds whole lines to a text.
func atEnd(text []byte, nl, made string) splice { return between(text, len(text), nl, made) }

// between puts whole lines at the beginning of a line or at the end of the
// text.
func between(text []byte, at int, nl, made string) splice {
	if at > 0 && text[at-1] != '\n' {
		made = nl + made
	}
	return splice{at, at, made, false}
}

// emptyFlow replaces the {} or [] at an offset.
func emptyFlow(text []byte, at int, made string) (splice, error) {
	end := bytes.IndexAny(text[at:], "}]")
	if end < 0 || bytes.ContainsAny(text[at:at+end], "#\n") {
		return splice{}, errUnsure
	}
	start := len(bytes.TrimRight(text[:at], " "))
	return splice{start, at + end + 1, made, false}, nil
}

func child(mapping *yaml.Node, key string) (k, v *yaml.Node) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i], mapping.Content[i+1]
		}
	}
	return nil, nil
}

// entryLine returns the line on which an entry begins, or 0.
func entryLine(container *yaml.Node, name string, named bool) int {
	if !named {
		if k, _ := child(container, name); k != nil {
			return k.Line
		}
		return 0
	}
	for _, item := range container.Content {
		if _, v := child(item, "name"); v != nil && v.Value == name {
			return item.Line
		}
	}
	return 0
}

// yamlBlock returns the length of the entry that the text begins with: all
// lines that are indented more than it, without comments at its end.
func yamlBlock(text []byte, indent int) (end int) {
	at := 0
	for line := range bytes.Lines(text) {
		t := bytes.TrimSpace(line)
		own := len(line) - len(bytes.TrimLeft(line, " "))
		blank := len(t) == 0 || t[0] == '#'
		if at > 0 && !blank && own <= indent {
			break
		}
		at += len(line)
		if !blank {
			end = at
		}
	}
	return end
}

// lineStarts returns the offset of each line, and the length of the text.
func lineStarts(text []byte) []int {
	all := []int{0}
	for line := range bytes.Lines(text) {
		all = append(all, all[len(all)-1]+len(line))
	}
	return all
}

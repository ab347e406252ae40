package clients

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

func decodeTOML(text []byte) (any, error) {
	var tree map[string]any
	if err := toml.Unmarshal(text, &tree); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			row, col := at.Position()
			return nil, fmt.Errorf("the file is not TOML: line %d, column %d: %s", row, col, strings.TrimPrefix(at.Error(), "toml: "))
		}
		return nil, fmt.Errorf("the file is not TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	return any(tree), nil
}

// A block is a table of a TOML file, from its header to the next one.
type block struct {
	keys       []string
	start, end int
}

// editTOML puts the entry, as a table of its own, at the end of the file or in
// the place of the tables that it has. Written in another way (dotted keys, an
// inline table) it is not edited.
func (l layout) editTOML(text []byte, e object, s Server) (splice, error) {
	keys := append(slices.Clone(l.container), s.Name)
	nl := newline(text)
	made := tomlTable(keys, e, nl)
	blocks, err := tomlBlocks(text)
	if err != nil {
		return splice{}, err
	}
	own := func(b block) bool { return len(b.keys) >= len(keys) && slices.Equal(b.keys[:len(keys)], keys) }
	first := slices.IndexFunc(blocks, own)
	if first < 0 {
		sep := nl
		if !bytes.HasSuffix(text, []byte("\n")) {
			sep += nl
		}
		return splice{len(text), len(text), sep + made, false}, nil
	}
	last := first
	for last+1 < len(blocks) && own(blocks[last+1]) {
		last++
	}
	if slices.ContainsFunc(blocks[last+1:], own) {
		return splice{}, fmt.Errorf("the tables of %s are in several places; put the entry in by hand", strings.Join(keys, "."))
	}
	end := blocks[last].end
	if !bytes.HasSuffix(text[:end], []byte("\n")) {
		made = strings.TrimSuffix(made, nl)
	}
	return splice{blocks[first].start, end, made, true}, nil
}

// tomlBlocks returns the tables of a file. What is empty or a comment before
// the next header belongs to that, not to the table above.
func tomlBlocks(text []byte) ([]block, error) {
	var p unstable.Parser
	p.Reset(text)
	var all []block
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable {
			continue
		}
		var b block
		for it := e.Key(); it.Next(); {
			b.keys = append(b.keys, string(it.Node().Data))
			if len(b.keys) == 1 {
				b.start = bytes.LastIndexByte(text[:it.Node().Raw.Offset], '\n') + 1
			}
		}
		all = append(all, b)
	}
	for i := range all {
		all[i].end = len(text)
		if i+1 < len(all) {
			all[i].end = all[i+1].start
		}
		all[i].end = all[i].start + contentEnd(text[all[i].start:all[i].end])
	}
	return all, p.Error()
}

// contentEnd returns where the last line ends that is neither empty nor a
// comment.
func contentEnd(text []byte) (end int) {
	at := 0
	for line := range bytes.Lines(text) {
		at += len(line)
		if t := bytes.TrimSpace(line); len(t) > 0 && t[0] != '#' {
			end = at
		}
	}
	return end
}

// Package notebook reads Jupyter notebooks and changes single cells of them.
//
// Begin with [Parse]. [Notebook.Cell] gives a cell as it is shown;
// [Notebook.Replace], [Notebook.Insert] and [Notebook.Delete] give the file's
// next version. A change is a splice: the file is checked by json.Valid, then
// the places of its cells and their members are found, and new bytes are put in.
// Everything else stays as it is on disk: indentation, order of keys, text of
// numbers, keys given twice. Decoding and encoding again changes 65 of 143 real
// notebooks, takes four times as long and eleven times the file's size.
//
// Formats before 4 (worksheets, prompt numbers, heading cells) can be read, not
// edited. The package does not run anything, draw pictures, or check a notebook
// against its schema.
package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Notebook is the content of a file and the places of its cells. It is never
// changed, so it may be used concurrently, and it keeps the bytes it was made of.
type Notebook struct {
	// Major and Minor are the version of the format.
	Major, Minor int

	b     []byte
	top   object
	array span // the list of cells, of format 4
	cells []object
	ids   []string       // of the cells, "" where there is none
	known map[string]int // how many cells have an id

	escapes func() bool // see escapesHigh
}

const bom = "\xef\xbb\xbf"

// ErrSyntax says that content is no valid JSON; the error that wraps it tells
// the line.
var ErrSyntax = errors.New("is not valid JSON")

// Parse finds the cells of a notebook of any format. It keeps data, which must
// not change any more. The error's text is a predicate for the file's name,
// such as "is not a notebook: it has no nbformat".
func Parse(data []byte) (*Notebook, error) {
	body := bytes.TrimPrefix(data, []byte(bom))
	if !json.Valid(body) {
		return nil, syntaxError(body)
	}
	n := &Notebook{b: data, known: make(map[string]int), escapes: sync.OnceValue(func() bool { return escapesHigh(data) })}
	s := &scanner{b: data, p: len(data) - len(body)}
	var err error
	if n.top, err = s.object(); err != nil {
		return nil, errors.New("is not a notebook: its JSON is no object")
	}
	n.Major, n.Minor = n.number("nbformat"), n.number("nbformat_minor")
	if n.Major < 1 {
		return nil, errors.New("is not a notebook: it has no nbformat")
	}
	if sheets := n.top.find("worksheets"); n.Major < 4 && sheets != nil {
		s.p = sheets.value.a
		_, err = s.array(func() error { return n.sheet(s) })
	} else {
		n.array, err = n.list(s, n.top.find("cells"))
	}
	if err != nil {
		return nil, errors.New("is not a notebook: it has no list of cells")
	}
	for i := range n.cells {
		var id string
		if m := n.cells[i].find("id"); m != nil && json.Unmarshal(n.at(m.value), &id) == nil {
			n.known[id]++
		}
		n.ids = append(n.ids, id)
	}
	return n, nil
}

// syntaxError tells where JSON is wrong.
func syntaxError(body []byte) error {
	var raw json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(body, &raw); !errors.As(err, &syntax) {
		return ErrSyntax
	}
	line := 1 + bytes.Count(body[:min(int(syntax.Offset), len(body))], []byte("\n"))
	return fmt.Errorf("%w in line %d: %v", ErrSyntax, line, syntax)
}

// list notes the cells of a member that is a list of objects.
func (n *Notebook) list(s *scanner, m *member) (span, error) {
	if m == nil {
		return span{}, errShape
	}
	s.p = m.value.a
	return s.array(func() error {
		c, err := s.object()
		n.cells = append(n.cells, c)
		return err
	})
}

// sheet notes the cells of a worksheet, of format 2 or 3.
func (n *Notebook) sheet(s *scanner) error {
	o, err := s.object()
	if err != nil {
		return err
	}
	_, err = n.list(s, o.find("cells"))
	s.p = o.b
	return err
}

// number is an integer of the top object, 0 if there is none.
func (n *Notebook) number(key string) int {
	var v int
	if m := n.top.find(key); m == nil || json.Unmarshal(n.at(m.value), &v) != nil {
		return 0
	}
	return v
}

func (n *Notebook) at(s span) []byte { return n.b[s.a:s.b] }

// Editable returns nil if cells can be changed. The error's text is a predicate
// for the file's name.
func (n *Notebook) Editable() error {
	switch {
	case n.Major < 4:
		return fmt.Errorf("is a notebook of format %d, which is read-only here; convert it first with Bash: jupyter nbconvert --to notebook --inplace FILE", n.Major)
	case n.Major > 4:
		return fmt.Errorf("is a notebook of format %d, which is not known here; nothing was changed", n.Major)
	}
	return nil
}

// Language is the programming language that the notebook states, "" if none.
func (n *Notebook) Language() string {
	m := n.top.find("metadata")
	if m == nil {
		return ""
	}
	var v struct {
		Kernelspec   struct{ Language string }
		LanguageInfo struct{ Name string } `json:"language_info"`
	}
	if json.Unmarshal(n.at(m.value), &v) != nil {
		return ""
	}
	if v.LanguageInfo.Name != "" {
		return v.LanguageInfo.Name
	}
	return v.Kernelspec.Language
}

// Len is the number of cells.
func (n *Notebook) Len() int { return len(n.cells) }

// HasIDs reports whether the version of the format gives cells an id. Before
// 4.5 a cell must not have one.
func (n *Notebook) HasIDs() bool { return n.Major == 4 && n.Minor >= 5 }

// Type is "code", "markdown" or "raw"; in files that are no valid notebook, and
// in old formats, anything.
func (n *Notebook) Type(i int) string {
	s, _ := n.text(n.cells[i].find("cell_type"))
	return s
}

// text is a member's value that is a string or a list of strings. It reports
// whether it is that.
func (n *Notebook) text(m *member) (string, bool) {
	if m == nil {
		return "", false
	}
	var t multiline
	err := json.Unmarshal(n.at(m.value), &t)
	return string(t), err == nil
}

// ID is how [Notebook.Find] finds a cell: its id, or cell-N, counted from 0, for
// a cell without one or with one that others have, too.
func (n *Notebook) ID(i int) string {
	if id := n.ids[i]; id != "" && n.known[id] == 1 {
		return id
	}
	return position(i)
}

func position(i int) string { return "cell-" + strconv.Itoa(i) }

// Find returns the index of a cell. Ids of the file come first, then cell-N,
// counted from 0.
func (n *Notebook) Find(id string) (int, error) {
	if id != "" && n.known[id] == 1 {
		i := slices.Index(n.ids, id)
		for k := range n.cells {
			if k != i && n.ID(k) == id { // that cell has no other name
				return 0, fmt.Errorf("%q is the id of the cell at index %d and the position of the one at index %d, which has no id of its own; give that one an id first", id, i, k)
			}
		}
		return i, nil
	}
	if id != "" && n.known[id] > 1 {
		var at []string
		for i := range n.ids {
			if n.ids[i] == id {
				at = append(at, position(i))
			}
		}
		return 0, fmt.Errorf("the id %q is not unique: %s have it; name the cell by its position", id, strings.Join(at[:min(len(at), 20)], ", "))
	}
	if s, ok := strings.CutPrefix(id, "cell-"); ok {
		if i, err := strconv.Atoi(s); err == nil && i >= 0 && i < len(n.cells) && position(i) == id {
			return i, nil
		}
	}
	return 0, n.unknown(id)
}

// unknown says which cells there are instead.
func (n *Notebook) unknown(id string) error {
	if len(n.cells) == 0 {
		return fmt.Errorf("there is no cell %q: the notebook has no cells", id)
	}
	var have []string
	for i := range n.cells[:min(len(n.cells), 20)] {
		have = append(have, n.ID(i))
	}
	if slices.ContainsFunc(have, func(s string) bool { return len(s) > 64 }) {
		have = []string{position(0)}
	}
	more := ""
	if len(have) < len(n.cells) {
		more = ", … " + position(len(n.cells)-1)
	}
	return fmt.Errorf("there is no cell %q; there are %s%s", id, strings.Join(have, ", "), more)
}

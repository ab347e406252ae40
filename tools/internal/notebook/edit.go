package notebook

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
)

// A Change is a notebook's next version and what became of the cell.
type Change struct {
	Data  []byte // the file's content
	Index int    // of the cell: of a deleted one the index that it had
	ID    string // by which it is found
	Type  string

	Outputs int  // how many outputs of it were dropped
	Count   bool // its execution count was dropped
}

// A splice puts text in the place of a span.
type splice struct {
	span
	text string
}

// apply returns the file with splices that do not overlap.
func (n *Notebook) apply(splices ...splice) []byte {
	slices.SortStableFunc(splices, func(x, y splice) int { return cmp.Compare(x.a, y.a) })
	size := len(n.b)
	for _, s := range splices {
		size += len(s.text) - (s.b - s.a)
	}
	out := make([]byte, 0, size)
	from := 0
	for _, s := range splices {
		out = append(append(out, n.b[from:s.a]...), s.text...)
		from = s.b
	}
	return append(out, n.b[from:]...)
}

// Replace gives cell i a new source and, unless kind is "", a new type. A code
// cell loses its outputs and its execution count. With the source and the type
// that it has already nothing changes, and Data is the content as it is.
func (n *Notebook) Replace(i int, source, kind string) (Change, error) {
	if err := n.Editable(); err != nil {
		return Change{}, err
	}
	c := &n.cells[i]
	was := n.Type(i)
	kind = cmp.Or(kind, was)
	ch := Change{Data: n.b, Index: i, ID: n.ID(i), Type: kind}
	if was == "" {
		return ch, fmt.Errorf("%s has no cell_type, so the notebook is damaged; replace it as a whole with Write", position(i))
	}
	src := c.find("source")
	if old, ok := n.text(src); ok && old == source && kind == was {
		return ch, nil
	}
	if kind == "code" && c.find("attachments") != nil {
		return ch, errors.New("the cell holds attachments, which a code cell cannot have; delete it and insert a code cell")
	}
	ch.Outputs, ch.Count = n.ran(c)
	var edits []splice
	add := func(key, value string) { edits = append(edits, n.add(c, key, value)) }
	if src != nil {
		edits = append(edits, splice{src.value, n.source(c, src, source)})
	} else {
		add("source", n.source(c, nil, source))
	}
	if kind != was {
		edits = append(edits, splice{c.find("cell_type").value, n.quote(kind)})
	}
	switch kind {
	case "code":
		for _, k := range []struct{ key, empty string }{{"execution_count", "null"}, {"outputs", "[]"}} {
			if m := c.find(k.key); m != nil {
				edits = append(edits, splice{m.value, k.empty})
			} else {
				add(k.key, k.empty)
			}
		}
	case "markdown", "raw": // which must not have them
		edits = append(edits, n.remove(c, "execution_count", "outputs")...)
	}
	ch.Data = n.apply(edits...)
	return ch, nil
}

// ran tells what a cell holds of its last run.
func (n *Notebook) ran(c *object) (outputs int, count bool) {
	if m := c.find("outputs"); m != nil {
		s := &scanner{b: n.b, p: m.value.a}
		s.array(func() error { // another shape has no outputs
			outputs++
			_, err := s.value()
			return err
		})
	}
	m := c.find("execution_count")
	return outputs, m != nil && string(n.at(m.value)) != "null"
}

// Insert makes a new cell with index i, which may be [Notebook.Len].
func (n *Notebook) Insert(i int, kind, source string) (Change, error) {
	if err := n.Editable(); err != nil {
		return Change{}, err
	}
	ch := Change{Index: i, ID: position(i), Type: kind}
	if n.HasIDs() {
		ch.ID = n.newID()
	}
	l, text := n.newCell(i, kind, source, ch.ID)
	switch {
	case len(n.cells) == 0:
		ch.Data = n.apply(splice{n.array, "[" + l.open + text + l.close + "]"})
	case i == len(n.cells):
		end := n.cells[i-1].b
		ch.Data = n.apply(splice{span{end, end}, l.comma + text})
	default:
		start := n.cells[i].a
		ch.Data = n.apply(splice{span{start, start}, text + l.comma})
	}
	return ch, nil
}

// newCell writes a cell in the style of its neighbour, with the keys in the
// order of the alphabet, as most writers do. l is the layout of the list of
// cells.
func (n *Notebook) newCell(i int, kind, source, id string) (l layout, text string) {
	l = n.listLayout()
	var near *object
	if len(n.cells) > 0 {
		near = &n.cells[max(0, min(i, len(n.cells))-1)]
	}
	in := n.cellLayout(near, l)
	var like *member
	if near != nil {
		like = near.find("source")
	}
	pairs := [][2]string{{"cell_type", n.quote(kind)}}
	if kind == "code" {
		pairs = append(pairs, [2]string{"execution_count", "null"})
	}
	if n.HasIDs() {
		pairs = append(pairs, [2]string{"id", n.quote(id)})
	}
	pairs = append(pairs, [2]string{"metadata", "{}"})
	if kind == "code" {
		pairs = append(pairs, [2]string{"outputs", "[]"})
	}
	pairs = append(pairs, [2]string{"source", n.lines(source, n.linesLayout(like, in))})
	var b bytes.Buffer
	b.WriteString("{" + in.open)
	for k, p := range pairs {
		if k > 0 {
			b.WriteString(in.comma)
		}
		b.WriteString(n.quote(p[0]) + in.colon + p[1])
	}
	b.WriteString(in.close + "}")
	return l, b.String()
}

// newID returns an id that no cell has.
func (n *Notebook) newID() string {
	for {
		var random [4]byte
		rand.Read(random[:])
		if id := hex.EncodeToString(random[:]); n.known[id] == 0 {
			return id
		}
	}
}

// Delete removes cell i with one comma.
func (n *Notebook) Delete(i int) (Change, error) {
	if err := n.Editable(); err != nil {
		return Change{}, err
	}
	ch := Change{Index: i, ID: n.ID(i), Type: n.Type(i)}
	switch {
	case len(n.cells) == 1:
		ch.Data = n.apply(splice{n.array, "[]"})
	case i+1 < len(n.cells):
		ch.Data = n.apply(splice{span{n.cells[i].a, n.cells[i+1].a}, ""})
	default:
		ch.Data = n.apply(splice{span{n.cells[i-1].b, n.cells[i].b}, ""})
	}
	return ch, nil
}

// add puts a member before the first one whose key comes after it in the
// alphabet, or behind the last: most writers sort. Two that are put at one place
// stay in the order in which they were added.
func (n *Notebook) add(c *object, key, value string) splice {
	in := n.cellLayout(c, n.listLayout())
	text := n.quote(key) + in.colon + value
	for _, m := range c.members {
		if m.key > key {
			return splice{span{m.name.a, m.name.a}, text + in.comma}
		}
	}
	end := c.members[len(c.members)-1].value.b
	return splice{span{end, end}, in.comma + text}
}

// remove takes out every member of these names, each run of them with one comma.
// It does not take all members of a cell: its type stays.
func (n *Notebook) remove(c *object, keys ...string) (edits []splice) {
	dropped := func(i int) bool { return slices.Contains(keys, c.members[i].key) }
	for i := 0; i < len(c.members); i++ {
		if !dropped(i) {
			continue
		}
		first := i
		for i+1 < len(c.members) && dropped(i+1) {
			i++
		}
		if i+1 < len(c.members) {
			edits = append(edits, splice{span{c.members[first].name.a, c.members[i+1].name.a}, ""})
		} else {
			edits = append(edits, splice{span{c.members[first-1].value.b, c.members[i].value.b}, ""})
		}
	}
	return edits
}

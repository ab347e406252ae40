package archive

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// parts gives the files of an office document or e-book by name.
type parts struct {
	b     *budget
	files map[string]*zip.File
}

func openParts(b *budget, f File) (parts, error) {
	z, err := openZip(b, f)
	if err != nil {
		return parts{}, err
	}
	p := parts{b, make(map[string]*zip.File, len(z.File))}
	for _, e := range z.File {
		if p.files[e.Name] == nil {
			p.files[e.Name] = e
		}
	}
	return p, nil
}

// errNoPart says that a document lacks a file.
var errNoPart = errors.New("a part of it is missing")

// open opens a file; what is read of it is counted.
func (p parts) open(name string) (io.ReadCloser, error) {
	e := p.files[name]
	if e == nil {
		return nil, fmt.Errorf("%w: %w (%s)", ErrDamaged, errNoPart, quoted(name))
	}
	if e.Flags&1 != 0 {
		return nil, errors.New("is encrypted and needs a password")
	}
	r, err := e.Open()
	if err != nil {
		return nil, damaged(err)
	}
	return struct {
		io.Reader
		io.Closer
	}{p.b.reader(r), r}, nil
}

// tokens calls f for each start tag, end tag and text of an XML file. Entities
// that the file declares itself are errors, so none can grow.
func (p parts) tokens(name string, f func(xml.Token) error) error {
	r, err := p.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	d := xml.NewDecoder(r)
	for {
		t, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return damaged(err)
		}
		if err := f(t); err != nil {
			return err
		}
	}
}

// links reads the relations of a part: the targets by id, as names of files or
// URLs.
func (p parts) links(name string) map[string]string {
	dir, file := path.Split(name)
	targets := make(map[string]string)
	p.tokens(dir+"_rels/"+file+".rels", func(t xml.Token) error { // without it there are no links
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "Relationship" {
			target := attr(e, "Target")
			if attr(e, "TargetMode") != "External" {
				target = resolve(dir, target)
			}
			targets[attr(e, "Id")] = target
		}
		return nil
	})
	return targets
}

// resolve returns the name in the zip that a reference in dir leads to.
func resolve(dir, ref string) string {
	if abs, ok := strings.CutPrefix(ref, "/"); ok {
		return abs
	}
	return path.Join(dir, ref)
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

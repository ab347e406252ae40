package archive

import (
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"path"
	"strings"
)

// readEpub writes the pages of an e-book in the order of its spine.
func readEpub(b *budget, f File, w *writer, o Options) error {
	p, err := openParts(b, f)
	if err != nil {
		return err
	}
	pages, err := spine(p)
	if err != nil {
		return err
	}
	if o.HTML == nil {
		return errors.New("is an e-book whose pages cannot be shown")
	}
	for i, name := range pages {
		text, err := page(p, name, o)
		if errors.Is(err, ErrDamaged) {
			w.note("%s cannot be read", quoted(name))
			continue
		}
		if err != nil {
			w.note("pages from %s on are left out", quoted(name))
			return err
		}
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if w.addCut(text+"\n\n") != nil {
			w.note("%s of %d are left out or cut, from %s on; for one use Bash, such as: unzip -p FILE %s", plural(len(pages)-i, "page"), len(pages), quoted(name), quoted(name))
			return errFull
		}
	}
	return nil
}

func page(p parts, name string, o Options) (string, error) {
	r, err := p.open(name)
	if err != nil {
		return "", err
	}
	defer r.Close()
	html, err := io.ReadAll(r)
	if err != nil {
		return "", damaged(err)
	}
	text, err := o.HTML(html)
	if err != nil {
		return "", damaged(err)
	}
	return text, nil
}

// spine returns the names of the pages in reading order.
func spine(p parts) (pages []string, err error) {
	var index string
	err = p.tokens("META-INF/container.xml", func(t xml.Token) error {
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "rootfile" && index == "" {
			index = attr(e, "full-path")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	items := make(map[string]string)
	err = p.tokens(index, func(t xml.Token) error {
		e, ok := t.(xml.StartElement)
		if !ok {
			return nil
		}
		switch e.Name.Local {
		case "item":
			ref := attr(e, "href")
			if plain, err := url.PathUnescape(ref); err == nil {
				ref = plain
			}
			items[attr(e, "id")] = resolve(path.Dir(index), ref)
		case "itemref":
			if name := items[attr(e, "idref")]; name != "" {
				pages = append(pages, name)
			}
		}
		return nil
	})
	return pages, err
}

package archive

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"
)

// openZip reads the index of a zip, which may itself be absurdly large. b may
// be nil.
func openZip(b *budget, f File) (*zip.Reader, error) {
	index := &indexReader{f: f, left: maxIndex, b: b}
	z, err := zip.NewReader(index, f.Size)
	index.done = true
	if index.left < 0 {
		return nil, errors.New("has an index that is too large to be shown")
	}
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, damaged(err)
	}
	return z, nil
}

// An indexReader limits what is read of a zip until its index is read.
type indexReader struct {
	f    File
	left int64
	b    *budget
	done bool
}

func (r *indexReader) ReadAt(p []byte, at int64) (int, error) {
	if r.b != nil && r.b.ctx.Err() != nil {
		return 0, r.b.ctx.Err()
	}
	if !r.done {
		if r.left -= int64(len(p)); r.left < 0 {
			return 0, errBudget
		}
	}
	return r.f.ReadAt(p, at)
}

// readZip lists the files of a zip.
func readZip(b *budget, f File, w *writer, _ Options) error {
	z, err := openZip(b, f)
	if err != nil {
		return err
	}
	var size, packed uint64
	files := 0
	for _, e := range z.File {
		if !e.FileInfo().IsDir() {
			files++
		}
		size, packed = size+e.UncompressedSize64, packed+e.CompressedSize64
	}
	w.add(fmt.Sprintf("%s, %s bytes unpacked, %s packed\n\n%14s  %5s  name\n", plural(files, "file"), number(size), number(packed), "size", "ratio"))
	for i, e := range z.File {
		if i == maxRows {
			w.note("%s more are not listed", number(len(z.File)-i))
			break
		}
		locked := ""
		if e.Flags&1 != 0 {
			locked = "  (encrypted)"
		}
		err := w.add(fmt.Sprintf("%14s  %5s  %s%s\n", number(e.UncompressedSize64), ratio(e.CompressedSize64, e.UncompressedSize64), quoted(e.Name), locked))
		if err != nil {
			w.note("%s more are not listed", number(len(z.File)-i))
			break
		}
	}
	return nil
}

// ratio says how small a file is packed.
func ratio(packed, size uint64) string {
	if size == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(packed)/float64(size))
}

func readTar(b *budget, f File, w *writer, _ Options) error {
	return listTar(b, io.NewSectionReader(f, 0, f.Size), w)
}

func readTarGz(b *budget, f File, w *writer, _ Options) error {
	z, err := gzip.NewReader(io.NewSectionReader(f, 0, f.Size))
	if err != nil {
		return damaged(err)
	}
	b.left = maxListed
	return listTar(b, b.reader(z), w)
}

// listTar lists a tar archive. Its end is not known before: the count comes
// last.
func listTar(b *budget, r io.Reader, w *writer) error {
	w.add(fmt.Sprintf("%14s  %-16s  name\n", "size", "modified"))
	var size int64
	t := tar.NewReader(r)
	for n := 0; ; n++ {
		h, err := t.Next()
		if err == io.EOF {
			w.note("%s, %s bytes unpacked", plural(n, "entry"), number(size))
			return nil
		}
		if err == nil {
			err = b.ctx.Err()
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			if n > 0 {
				w.note("the list is not complete: %s read", plural(n, "entry"))
			}
			if err := damaged(err); n == 0 || !errors.Is(err, ErrDamaged) {
				return err
			}
			w.note("the archive is damaged behind the last of these")
			return nil
		}
		size += h.Size
		if n == maxRows {
			w.note("the list is not complete: %s are listed", number(n))
			return nil
		}
		line := fmt.Sprintf("%14s  %-16s  %s%s\n", number(h.Size), h.ModTime.UTC().Format(time.DateTime[:16]), quoted(h.Name), linkOf(h))
		if err := w.add(line); err != nil {
			w.note("the list is not complete: %s are listed", number(n))
			return nil
		}
	}
}

func linkOf(h *tar.Header) string {
	switch h.Typeflag {
	case tar.TypeSymlink:
		return " -> " + quoted(h.Linkname)
	case tar.TypeLink:
		return " = " + quoted(h.Linkname)
	}
	return ""
}

package tools

import (
	"context"
	"errors"
	"fmt"

	"ferrule/tools/internal/picture"
)

// maxImages is how many pictures one result shows.
const maxImages = 8

// imageBlock makes a picture that a model can see of the content of an image
// file, and a line of text that says what it is. The picture is nil when the
// user wants no pictures in results. The error's text is a predicate for
// whatever holds the picture, such as "is a damaged PNG: it is cut off".
func (s *Session) imageBlock(ctx context.Context, data []byte) (*Image, string, error) {
	p, err := s.cfg.Documents.pictures.Show(ctx, data)
	if err != nil {
		return nil, "", err
	}
	line := pictureLine(p, int64(len(data)))
	if s.cfg.NoImages {
		return nil, line + "; not shown, since pictures are switched off", nil
	}
	return &Image{MIME: p.MIME, Data: p.Data}, line, nil
}

// pictureLine says what a picture is and how it differs from the file.
func pictureLine(p picture.Picture, bytes int64) string {
	line := fmt.Sprintf("%s, %d×%d, %s", p.Format, p.Width, p.Height, size(bytes))
	if p.Turned {
		line += ", turned upright"
	}
	if p.Frames > 1 {
		what := "frame"
		if p.Format == picture.TIFF {
			what = "page"
		}
		line += fmt.Sprintf(", the first of %s", count(p.Frames, what))
	}
	if p.OnWhite {
		line += ", on white instead of transparent"
	}
	if p.ShownWidth != p.Width {
		line += fmt.Sprintf("; shown at %d×%d: multiply coordinates by %.2f", p.ShownWidth, p.ShownHeight, p.Scale())
	}
	return line
}

// pictureError says why a file's picture is not shown, and what to do.
func pictureError(err error, d docFile) error {
	var p *picture.Error
	if !errors.As(err, &p) {
		return err
	}
	about := fmt.Sprintf("%s (%s) %v", d.name, size(d.Info.Size()), p)
	switch p.Format {
	case picture.HEIC:
		return fmt.Errorf("%s; convert it with Bash, such as: heif-convert %s /tmp/picture.png", about, quoteShell(d.Path))
	case picture.AVIF:
		return fmt.Errorf("%s; convert it with Bash, such as: avifdec %s /tmp/picture.png", about, quoteShell(d.Path))
	}
	return errors.New(about)
}

package picture

import (
	"image"
	"image/draw"
)

// shrink averages a picture of size src, in which m lies, into size dst, which
// is not larger. Every source pixel counts by the part of it that a target
// pixel covers, premultiplied: otherwise the colour of transparent pixels
// would show at edges. It reads one row at a time and keeps no second copy of
// the large picture: 48 million pixels take 0.15 s.
func shrink(m image.Image, src, dst image.Point) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, dst.X, dst.Y))
	var (
		rows  = rowReader(m, src)
		line  = make([]uint32, 4*dst.X)
		sum   = make([]uint64, 4*dst.X)
		whole = uint64(src.X) * uint64(src.Y)
		ty    = 0
	)
	flush := func() {
		row := out.Pix[ty*out.Stride:]
		for i, v := range sum {
			row[i] = uint8((v + whole/2) / whole)
		}
		clear(sum)
		ty++
	}
	add := func(weight int) {
		for i, v := range line {
			sum[i] += uint64(v) * uint64(weight)
		}
	}
	// Row y covers y*dst.Y to (y+1)*dst.Y on a scale on which a target row is
	// src.Y high, so all weights are whole numbers.
	for y := range src.Y {
		shrinkRow(line, rows(y), src.X, dst.X)
		from, to, edge := y*dst.Y, (y+1)*dst.Y, (ty+1)*src.Y
		if to < edge {
			add(to - from)
			continue
		}
		add(edge - from)
		flush()
		if to > edge {
			add(to - edge)
		}
	}
	return out
}

// shrinkRow sums the n pixels of row into w target pixels. The weights of each
// add up to n.
func shrinkRow(line []uint32, row []uint8, n, w int) {
	for t := range w {
		from, to := t*n, (t+1)*n
		first, last := from/w, to/w
		var r, g, b, a uint32
		for _, p := 0, first+1; p < last; p++ { // those that lie wholly inside
			q := row[4*p : 4*p+4 : 4*p+4]
			r, g, b, a = r+uint32(q[0]), g+uint32(q[1]), b+uint32(q[2]), a+uint32(q[3])
		}
		k := uint32(w)
		r, g, b, a = r*k, g*k, b*k, a*k
		k = uint32(min((first+1)*w, to) - from)
		q := row[4*first : 4*first+4 : 4*first+4]
		r, g, b, a = r+k*uint32(q[0]), g+k*uint32(q[1]), b+k*uint32(q[2]), a+k*uint32(q[3])
		if k := uint32(to - last*w); k > 0 && last > first {
			q := row[4*last : 4*last+4 : 4*last+4]
			r, g, b, a = r+k*uint32(q[0]), g+k*uint32(q[1]), b+k*uint32(q[2]), a+k*uint32(q[3])
		}
		s := line[4*t : 4*t+4 : 4*t+4]
		s[0], s[1], s[2], s[3] = r, g, b, a
	}
}

// rowReader returns a function that gives a row of m as premultiplied RGBA,
// valid until the next call. Outside of m the picture is transparent: a GIF's
// first frame may be smaller than its screen.
func rowReader(m image.Image, size image.Point) func(y int) []uint8 {
	min := m.Bounds().Min
	if _, ok := m.(*image.Paletted); ok {
		min = image.Point{}
	}
	if rgba, ok := m.(*image.RGBA); ok {
		return func(y int) []uint8 { return rgba.Pix[y*rgba.Stride:] }
	}
	row := image.NewRGBA(image.Rect(0, 0, size.X, 1))
	src, alpha := m, (*image.NYCbCrA)(nil)
	if a, ok := m.(*image.NYCbCrA); ok { // for which draw has no fast way
		src, alpha = &a.YCbCr, a
	}
	return func(y int) []uint8 {
		clear(row.Pix)
		draw.Draw(row, row.Rect, src, image.Pt(min.X, min.Y+y), draw.Src)
		if alpha != nil {
			premultiply(row.Pix, alpha.A[y*alpha.AStride:])
		}
		return row.Pix
	}
}

func premultiply(pix, alpha []uint8) {
	for i := 0; i < len(pix); i += 4 {
		a := uint32(alpha[i/4])
		for k := range 3 {
			pix[i+k] = uint8((uint32(pix[i+k])*a + 127) / 255)
		}
		pix[i+3] = uint8(a)
	}
}

// upright turns a picture that has an EXIF orientation.
func upright(m *image.RGBA, turn int) *image.RGBA {
	if turn <= 1 {
		return m
	}
	w, h := m.Rect.Dx(), m.Rect.Dy()
	size := image.Pt(w, h)
	if turn >= 5 {
		size = image.Pt(h, w)
	}
	out := image.NewRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			from := stored(turn, x, y, w, h)
			copy(out.Pix[y*out.Stride+4*x:][:4], m.Pix[from.Y*m.Stride+4*from.X:])
		}
	}
	return out
}

// stored returns where the pixel is stored, in a picture of w×h, that an
// orientation shows at x, y.
func stored(turn, x, y, w, h int) image.Point {
	switch turn {
	case 2:
		return image.Pt(w-1-x, y)
	case 3:
		return image.Pt(w-1-x, h-1-y)
	case 4:
		return image.Pt(x, h-1-y)
	case 5:
		return image.Pt(y, x)
	case 6:
		return image.Pt(y, h-1-x)
	case 7:
		return image.Pt(w-1-y, h-1-x)
	}
	return image.Pt(w-1-y, x)
}

// onWhite puts a picture on white ground.
func onWhite(m *image.RGBA) {
	for i := 0; i < len(m.Pix); i += 4 {
		rest := 255 - m.Pix[i+3]
		for k := range 3 {
			m.Pix[i+k] += rest
		}
		m.Pix[i+3] = 255
	}
}

package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// corner is white with a red quarter at the top left.
func corner(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(m, m.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(m, image.Rect(0, 0, w/2, h/2), image.NewUniform(color.RGBA{255, 0, 0, 255}), image.Point{}, draw.Src)
	return m
}

func encoded(t testing.TB, f Format, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch f {
	case PNG:
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, m)
	case JPEG:
		err = jpeg.Encode(&b, m, nil)
	case GIF:
		err = gif.Encode(&b, m, nil)
	case BMP:
		err = bmp.Encode(&b, m)
	case TIFF:
		err = tiff.Encode(&b, m, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func show(t testing.TB, data []byte) (Picture, error) {
	t.Helper()
	return NewDecoder().Show(t.Context(), data)
}

func shown(t *testing.T, data []byte) (Picture, image.Image) {
	t.Helper()
	p, err := show(t, data)
	if err != nil {
		t.Fatal(err)
	}
	m, f, err := image.Decode(bytes.NewReader(p.Data))
	if err != nil || "image/"+f != p.MIME || m.Bounds().Size() != image.Pt(p.ShownWidth, p.ShownHeight) {
		t.Fatalf("%+v is %s %v: %v", p.MIME, f, m.Bounds(), err)
	}
	return p, m
}

func near(t *testing.T, what string, m image.Image, x, y int, want color.NRGBA, off int) {
	t.Helper()
	got := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
	for i, d := range []int{int(got.R) - int(want.R), int(got.G) - int(want.G), int(got.B) - int(want.B), int(got.A) - int(want.A)} {
		if max(d, -d) > off {
			t.Errorf("%s: at %d,%d %v, want %v (part %d)", what, x, y, got, want, i)
			return
		}
	}
}

var (
	red   = color.NRGBA{255, 0, 0, 255}
	white = color.NRGBA{255, 255, 255, 255}
)

// exif is an EXIF block that states an orientation.
func exif(order binary.AppendByteOrder, turn uint16) []byte {
	b := []byte("MM\x00*")
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		b = []byte("II*\x00")
	}
	b = order.AppendUint32(b, 8)
	b = order.AppendUint16(b, 1)
	b = order.AppendUint16(b, 0x0112)
	b = order.AppendUint16(b, 3)
	b = order.AppendUint32(b, 1)
	b = order.AppendUint16(b, turn)
	return append(b, 0, 0, 0, 0, 0, 0)
}

func turnedJPEG(t testing.TB, m image.Image, order binary.AppendByteOrder, turn uint16) []byte {
	seg := append([]byte("Exif\x00\x00"), exif(order, turn)...)
	out := binary.BigEndian.AppendUint16([]byte{0xff, 0xd8, 0xff, 0xe1}, uint16(len(seg)+2))
	return append(append(out, seg...), encoded(t, JPEG, m)[2:]...)
}

func pngChunk(name string, content []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(content)))
	b = append(append(b, name...), content...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// withChunk puts a chunk behind the header of a PNG.
func withChunk(data []byte, name string, content []byte) []byte {
	return bytes.Join([][]byte{data[:33], pngChunk(name, content), data[33:]}, nil)
}

// DOC32: all orientations come out upright, in JPEG, PNG and TIFF.
func TestOrientation(t *testing.T) {
	t.Parallel()
	// Where a viewer shows the red quarter, which is stored at the top left.
	at := map[uint16][2]int{0: {0, 0}, 1: {0, 0}, 2: {1, 0}, 3: {1, 1}, 4: {0, 1}, 5: {0, 0}, 6: {1, 0}, 7: {1, 1}, 8: {0, 1}, 9: {0, 0}}
	for turn, quarter := range at {
		for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
			for name, data := range map[string][]byte{
				"jpeg": turnedJPEG(t, corner(64, 32), order, turn),
				"png":  withChunk(encoded(t, PNG, corner(64, 32)), "eXIf", exif(order, turn)),
				"tiff": turnedTIFF(t, corner(64, 32), turn),
			} {
				p, m := shown(t, data)
				size := m.Bounds().Size()
				want := image.Pt(64, 32)
				if turn >= 5 && turn <= 8 {
					want = image.Pt(32, 64)
				}
				if size != want || p.Width != size.X || p.Turned != (turn >= 2 && turn <= 8) {
					t.Errorf("%s, orientation %d: %v, turned %v", name, turn, size, p.Turned)
				}
				for y := range 2 {
					for x := range 2 {
						c := white
						if quarter == [2]int{x, y} {
							c = red
						}
						near(t, name, m, size.X/4+x*size.X/2, size.Y/4+y*size.Y/2, c, 30)
					}
				}
			}
		}
	}
}

// turnedTIFF replaces the tag of the resolution's unit, which the encoder
// writes, by an orientation. Tags must be in order.
func turnedTIFF(t *testing.T, m image.Image, turn uint16) []byte {
	data, le := encoded(t, TIFF, m), binary.LittleEndian
	ifd := data[le.Uint32(data[4:]):]
	entries := slices.Collect(slices.Chunk(bytes.Clone(ifd[2:2+12*int(le.Uint16(ifd))]), 12))
	for _, e := range entries {
		if le.Uint16(e) == 0x0128 {
			le.PutUint16(e, 0x0112)
			le.PutUint16(e[8:], turn)
		}
	}
	slices.SortFunc(entries, func(a, b []byte) int { return int(le.Uint16(a)) - int(le.Uint16(b)) })
	copy(ifd[2:], slices.Concat(entries...))
	return data
}

// Every colour model that can be encoded comes out right, scaled and not.
func TestColourModels(t *testing.T) {
	t.Parallel()
	fill := func(w, h int, m draw.Image, c color.Color) draw.Image {
		draw.Draw(m, image.Rect(0, 0, w, h), image.NewUniform(c), image.Point{}, draw.Src)
		return m
	}
	grey, half := color.NRGBA{80, 80, 80, 255}, color.NRGBA{200, 100, 50, 128}
	blue := color.NRGBA{30, 60, 200, 255}
	for _, w := range []int{60, 1600} {
		r := image.Rect(0, 0, w, 20)
		pal := image.NewPaletted(r, color.Palette{color.Black, blue, color.Transparent})
		ycc := image.NewYCbCr(r, image.YCbCrSubsampleRatio420)
		yy, cb, cr := color.RGBToYCbCr(blue.R, blue.G, blue.B)
		for i := range ycc.Y {
			ycc.Y[i] = yy
		}
		for i := range ycc.Cb {
			ycc.Cb[i], ycc.Cr[i] = cb, cr
		}
		for name, test := range map[string]struct {
			data []byte
			want color.NRGBA
			off  int
		}{
			"png rgba":     {encoded(t, PNG, fill(w, w, image.NewRGBA(r), blue)), blue, 0},
			"png nrgba":    {encoded(t, PNG, fill(w, w, image.NewNRGBA(r), half)), half, 1},
			"png rgba64":   {encoded(t, PNG, fill(w, w, image.NewRGBA64(r), blue)), blue, 0},
			"png nrgba64":  {encoded(t, PNG, fill(w, w, image.NewNRGBA64(r), half)), half, 1},
			"png gray":     {encoded(t, PNG, fill(w, w, image.NewGray(r), grey)), grey, 0},
			"png gray16":   {encoded(t, PNG, fill(w, w, image.NewGray16(r), grey)), grey, 0},
			"png paletted": {encoded(t, PNG, fill(w, w, pal, blue)), blue, 0},
			"gif":          {encoded(t, GIF, fill(w, w, pal, blue)), blue, 0},
			"jpeg gray":    {encoded(t, JPEG, fill(w, w, image.NewGray(r), grey)), grey, 2},
			"jpeg ycbcr":   {encoded(t, JPEG, ycc), blue, 6},
			"bmp":          {encoded(t, BMP, fill(w, w, image.NewRGBA(r), blue)), blue, 0},
			"bmp gray":     {encoded(t, BMP, fill(w, w, image.NewGray(r), grey)), grey, 0},
			"bmp paletted": {encoded(t, BMP, fill(w, w, image.NewPaletted(r, color.Palette{color.Black, blue}), blue)), blue, 0},
			"tiff rgba":    {encoded(t, TIFF, fill(w, w, image.NewRGBA(r), blue)), blue, 0},
			"tiff nrgba":   {encoded(t, TIFF, fill(w, w, image.NewNRGBA(r), half)), half, 1},
			"tiff gray16":  {encoded(t, TIFF, fill(w, w, image.NewGray16(r), grey)), grey, 0},
			"tiff nrgba64": {encoded(t, TIFF, fill(w, w, image.NewNRGBA64(r), half)), half, 1},
		} {
			p, m := shown(t, test.data)
			if p.Width != w || p.ShownWidth != min(w, 1568) {
				t.Errorf("%s: %d shown as %d", name, p.Width, p.ShownWidth)
			}
			near(t, name, m, p.ShownWidth/2, p.ShownHeight/2, test.want, test.off)
		}
	}
}

// A decoded picture of a kind that no encoder here writes.
func TestDecodedKinds(t *testing.T) {
	t.Parallel()
	r := image.Rect(0, 0, 40, 20)
	a := image.NewNYCbCrA(r, image.YCbCrSubsampleRatio444)
	cmyk := image.NewCMYK(r)
	y, cb, cr := color.RGBToYCbCr(200, 100, 50)
	for i := range a.Y {
		a.Y[i], a.Cb[i], a.Cr[i], a.A[i] = y, cb, cr, 128
		copy(cmyk.Pix[4*i:], []uint8{0, 255, 255, 0})
	}
	near(t, "nycbcra", shrink(a, r.Size(), image.Pt(10, 5)), 5, 2, color.NRGBA{200, 100, 50, 128}, 2)
	near(t, "cmyk", shrink(cmyk, r.Size(), image.Pt(10, 5)), 5, 2, red, 0)
}

// DOC34: a picture that fits passes as it is.
func TestUntouched(t *testing.T) {
	t.Parallel()
	for f, pass := range map[Format]bool{PNG: true, JPEG: true, GIF: true, BMP: false, TIFF: false} {
		data := encoded(t, f, corner(40, 30))
		p, _ := shown(t, data)
		if bytes.Equal(p.Data, data) != pass || p.Format != f || p.Scale() != 1 {
			t.Errorf("%s: %+v", f, p.MIME)
		}
	}
}

// Scaling keeps the mean, has no aliasing, and does not draw the colour of
// transparent pixels into edges.
func TestShrink(t *testing.T) {
	t.Parallel()
	m := image.NewNRGBA(image.Rect(0, 0, 301, 203))
	for i := 0; i < len(m.Pix); i += 4 { // columns of opaque white and of transparent red
		if i/4%2 == 0 {
			copy(m.Pix[i:], []uint8{255, 255, 255, 255})
		} else {
			copy(m.Pix[i:], []uint8{255, 0, 0, 0})
		}
	}
	near(t, "edges", shrink(m, m.Rect.Size(), image.Pt(50, 50)), 25, 25, color.NRGBA{255, 255, 255, 127}, 6)

	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		w, h := 1+rng.IntN(60), 1+rng.IntN(60)
		tw, th := 1+rng.IntN(w), 1+rng.IntN(h)
		src := image.NewRGBA(image.Rect(0, 0, w, h))
		for i := range src.Pix {
			src.Pix[i] = 255
			if i%4 != 3 {
				src.Pix[i] = uint8(rng.UintN(256))
			}
		}
		dst := shrink(src, src.Rect.Size(), image.Pt(tw, th))
		for y := range th {
			for x := range tw {
				if got, want := dst.Pix[y*dst.Stride+4*x], boxMean(src, x, y, tw, th); max(int(got)-want, want-int(got)) > 0 {
					t.Fatalf("%d×%d to %d×%d at %d,%d: %d, want %d", w, h, tw, th, x, y, got, want)
				}
			}
		}
	}
}

// boxMean is the mean of the first part over the area of a target pixel, by
// counting little squares.
func boxMean(m *image.RGBA, x, y, tw, th int) int {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	var sum int
	for sy := y * h; sy < (y+1)*h; sy++ {
		for sx := x * w; sx < (x+1)*w; sx++ {
			sum += int(m.Pix[sy/th*m.Stride+4*(sx/tw)])
		}
	}
	return (sum + w*h/2) / (w * h)
}

// What is shown and when it is a JPEG.
func TestOutput(t *testing.T) {
	t.Parallel()
	noise := image.NewNRGBA(image.Rect(0, 0, 1600, 300))
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range noise.Pix {
		noise.Pix[i] = uint8(rng.UintN(256))
	}
	opaque := image.NewNRGBA(noise.Rect)
	copy(opaque.Pix, noise.Pix)
	for i := 3; i < len(opaque.Pix); i += 4 {
		opaque.Pix[i] = 255
	}
	type output struct {
		data    []byte
		mime    string
		onWhite bool
	}
	cases := map[string]output{
		"few colours":            {encoded(t, PNG, corner(1600, 900)), "image/png", false},
		"noise":                  {encoded(t, PNG, opaque), "image/jpeg", false},
		"a large JPEG":           {encoded(t, JPEG, corner(1700, 600)), "image/jpeg", false},
		"a BMP with few colours": {encoded(t, BMP, corner(100, 100)), "image/png", false},
	}
	if os.Getenv("FERRULE_NIGHTLY") == "1" { // it takes seconds
		noise = image.NewNRGBA(image.Rect(0, 0, 1300, 1000))
		for i := range noise.Pix {
			noise.Pix[i] = uint8(rng.UintN(256))
		}
		cases["noise, transparent"] = output{encoded(t, PNG, noise), "image/jpeg", true}
	}
	for name, test := range cases {
		p, _ := shown(t, test.data)
		if p.MIME != test.mime || p.OnWhite != test.onWhite || len(p.Data) > shownBytes ||
			max(p.ShownWidth, p.ShownHeight) > 1568 || p.ShownWidth*p.ShownHeight > 1_150_000 {
			t.Errorf("%s: %s, %d bytes, %d×%d, on white %v", name, p.MIME, len(p.Data), p.ShownWidth, p.ShownHeight, p.OnWhite)
		}
	}
	for _, test := range []struct{ w, h, toW, toH int }{
		{1568, 733, 1568, 733}, {1569, 100, 1568, 99}, {30000, 1, 1568, 1}, {1, 30000, 1, 1568}, {8000, 6000, 1238, 928},
	} {
		if w, h := fit(test.w, test.h); w != test.toW || h != test.toH {
			t.Errorf("%d×%d: %d×%d, want %d×%d", test.w, test.h, w, h, test.toW, test.toH)
		}
	}
}

// sized is a PNG whose header claims a size and a kind of colour.
func sized(t testing.TB, w, h uint32, kind byte, bits byte) []byte {
	data := bytes.Clone(encoded(t, PNG, corner(8, 8)))
	binary.BigEndian.PutUint32(data[16:], w)
	binary.BigEndian.PutUint32(data[20:], h)
	data[24], data[25] = bits, kind
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return data
}

// DOC38: too large a picture is refused by its header, before it takes memory.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		data []byte
		want string
	}{
		{sized(t, 60000, 60000, 2, 8), "is a PNG of 60000×60000, which is too large to show: at most 50 million pixels and 30000 a side"},
		{sized(t, 30001, 1, 2, 8), "is a PNG of 30001×1, which"},
		{sized(t, 7000, 7000, 6, 16), "is a PNG of 7000×7000 that takes 373 MiB of memory to decode, more than the 256 that are spent"},
		{append(sized(t, 9, 9, 2, 8), make([]byte, MaxFile)...), "is a PNG of more than 64 MiB, which is too large to show"},
	} {
		begin := time.Now()
		_, err := show(t, test.data)
		took := time.Since(begin)
		var refused *Error
		if !errors.As(err, &refused) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%v, want %s", err, test.want)
		}
		if took > 10*time.Millisecond && os.Getenv("FERRULE_NIGHTLY") == "1" {
			t.Errorf("it took %v", took)
		}
	}
}

// H047: damaged and cut-off files, also those that would pass as they are.
func TestDamaged(t *testing.T) {
	t.Parallel()
	noise := rand.NewChaCha8([32]byte{1})
	random := make([]byte, 2048)
	noise.Read(random)
	cases := map[string][]byte{
		"png signature and noise":  append([]byte("\x89PNG\r\n\x1a\n"), random...),
		"jpeg signature and noise": append([]byte("\xff\xd8\xff\xe0"), random...),
		"gif signature and noise":  append([]byte("GIF89a"), random...),
		"webp signature and noise": append([]byte("RIFF\x00\x08\x00\x00WEBPVP8 "), random...),
		"tiff signature and noise": append([]byte("II*\x00\x08\x00\x00\x00"), random...),
	}
	for _, f := range []Format{PNG, JPEG, GIF, BMP, TIFF} {
		data := encoded(t, f, corner(300, 200))
		for _, n := range []int{20, len(data) / 2, len(data) - 5} {
			if f != TIFF || n < len(data)-5 { // its last bytes are of the directory
				cases[string(f)+" cut off"] = data[:n]
			}
		}
	}
	for name, data := range cases {
		p, err := show(t, data)
		var damage *Error
		if !errors.As(err, &damage) || p.Data != nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// DOC35: the first frame is shown, and how many there are.
func TestFrames(t *testing.T) {
	t.Parallel()
	g := &gif.GIF{Config: image.Config{Width: 20, Height: 10}}
	for i := range 5 {
		g.Image = append(g.Image, image.NewPaletted(image.Rect(5, 5, 15, 10), color.Palette{color.Transparent, red}))
		g.Image[i].Pix[0] = 1
		g.Delay = append(g.Delay, 1)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}
	p, m := shown(t, b.Bytes())
	if p.Frames != 5 || p.MIME != "image/png" || p.ShownWidth != 20 {
		t.Errorf("%d frames, %s, %d wide", p.Frames, p.MIME, p.ShownWidth)
	}
	near(t, "a frame smaller than the screen", m, 5, 5, red, 0)
	near(t, "outside of the frame", m, 2, 2, color.NRGBA{}, 0)

	apng := withChunk(encoded(t, PNG, corner(8, 8)), "acTL", []byte{0, 0, 0, 3, 0, 0, 0, 0})
	if p, _ := shown(t, apng); p.Frames != 3 {
		t.Errorf("animated PNG: %d frames", p.Frames)
	}
	page := encoded(t, TIFF, corner(8, 8))
	ifd := binary.LittleEndian.Uint32(page[4:])
	next := ifd + 2 + 12*uint32(binary.LittleEndian.Uint16(page[ifd:]))
	two := append(bytes.Clone(page), page[ifd:]...)
	binary.LittleEndian.PutUint32(two[next:], uint32(len(page)))
	if p, _ := shown(t, two); p.Frames != 2 {
		t.Errorf("TIFF: %d pages", p.Frames)
	}
	webp := []byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x07\x00\x00\x07\x00\x00ANIM\x06\x00\x00\x00......ANMF\x02\x00\x00\x00..ANMF\x02\x00\x00\x00..")
	if _, err := show(t, webp); err == nil || err.Error() != "is an animated WebP of 2 frames, which cannot be shown" {
		t.Error(err)
	}
}

// DOC33, DOC37: what a file is, its content says.
func TestFormatOf(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]Format{
		"":      "",
		"GIF89": "", "BM is a text of some length, longer than a header": "", "<svg xmlns=": "",
		"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic":     HEIC,
		"\x00\x00\x00\x1cftypmif1\x00\x00\x00\x00mif1avifmiaf": AVIF,
		"\x00\x00\x00\x18ftypmif1\x00\x00\x00\x00mif1miaf":     HEIC,
		"\x00\x00\x00\x18ftypisom\x00\x00\x00\x00isommp41":     "",
		"RIFF\x00\x00\x00\x00WAVEfmt ":                         "",
		string(encoded(t, BMP, corner(2, 2))):                  BMP,
		string(encoded(t, TIFF, corner(2, 2))):                 TIFF,
	} {
		if got := FormatOf([]byte(head)); got != want {
			t.Errorf("%q: %q, want %q", head[:min(len(head), 40)], got, want)
		}
	}
	for f, what := range map[string]string{"heic": "is a HEIC picture, which cannot be shown", "avif": "is an AVIF picture, which cannot be shown"} {
		if _, err := show(t, []byte("\x00\x00\x00\x18ftyp"+f+"\x00\x00\x00\x00mif1miaf")); err == nil || err.Error() != what {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// Decoding ends with its context, in the queue and at work.
func TestCalledOff(t *testing.T) {
	t.Parallel()
	d := NewDecoder()
	d.slot <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	if _, err := d.Show(ctx, encoded(t, PNG, corner(8, 8))); !errors.Is(err, context.Canceled) {
		t.Error("in the queue:", err)
	}
	<-d.slot
	p, err := head(encoded(t, PNG, corner(800, 800)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decode(ctx, encoded(t, PNG, corner(800, 800)), p); !errors.Is(err, context.Canceled) {
		t.Error("at work:", err)
	}
}

func FuzzShow(f *testing.F) {
	for _, kind := range []Format{PNG, JPEG, GIF, BMP, TIFF} {
		f.Add(encoded(f, kind, corner(9, 7)))
	}
	f.Add(turnedJPEG(f, corner(9, 7), binary.BigEndian, 6))
	d := NewDecoder()
	f.Fuzz(func(t *testing.T, data []byte) {
		if h, err := head(data); err != nil || h.decoded > 1<<22 {
			return // its memory would be what the fuzzing measures
		}
		p, err := d.Show(t.Context(), data)
		if err != nil {
			return
		}
		if p.Data == nil || max(p.ShownWidth, p.ShownHeight) > shownSide || len(p.Data) > shownBytes {
			t.Errorf("%+v", p)
		}
		if _, _, err := image.Decode(bytes.NewReader(p.Data)); err != nil {
			t.Error(err)
		}
	})
}

func FuzzEXIF(f *testing.F) {
	f.Add(exif(binary.BigEndian, 6))
	f.Add(exif(binary.LittleEndian, 3))
	f.Add([]byte("MM\x00*\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, kind := range []Format{TIFF, JPEG, PNG, WebP} {
			if n := orientation(kind, data); n < 1 || n > 8 {
				t.Errorf("%s: %d", kind, n)
			}
			if n := frames(kind, data); n < 1 {
				t.Errorf("%s: %d frames", kind, n)
			}
		}
	})
}

func FuzzGIF(f *testing.F) {
	f.Add(encoded(f, GIF, corner(9, 7)))
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00......\x21\xf9\x04....\x00\x2c"))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, cut := gifBlocks(data)
		if n < 0 || n > len(data) {
			t.Errorf("%d frames of %d bytes", n, len(data))
		}
		g, err := gif.DecodeAll(bytes.NewReader(data))
		if err == nil && len(g.Image) != n {
			t.Errorf("%d frames, the decoder has %d (cut: %v)", n, len(g.Image), cut)
		}
	})
}

// large is a PNG of 8000×6000 that looks like a photo: 48 million pixels.
func large(b testing.TB) []byte {
	m := image.NewRGBA(image.Rect(0, 0, 8000, 6000))
	for i := range m.Pix {
		m.Pix[i] = byte(i>>9) + byte(i*7919>>13&7)
		if i%4 == 3 {
			m.Pix[i] = 255
		}
	}
	var buf bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&buf, m); err != nil {
		b.Fatal(err)
	}
	return buf.Bytes()
}

// BenchmarkLarge holds the whole way of a large PNG against what its decoding
// alone takes.
func BenchmarkLarge(b *testing.B) {
	data := large(b)
	b.Run("show", func(b *testing.B) {
		for b.Loop() {
			if _, err := show(b, data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if _, err := png.Decode(bytes.NewReader(data)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestLarge holds DOC31 in its figures: no more than 1.6 times what image/png
// needs alone, and below 300 MB.
func TestLarge(t *testing.T) {
	if os.Getenv("FERRULE_NIGHTLY") != "1" {
		t.Skip("FERRULE_NIGHTLY is not 1")
	}
	data := large(t)
	runtime.GC()
	took := func(f func()) time.Duration {
		runtime.GC()
		begin := time.Now()
		f()
		return time.Since(begin)
	}
	var alone, whole time.Duration = time.Hour, time.Hour
	for range 5 { // side by side: the machine may have other work
		alone = min(alone, took(func() { png.Decode(bytes.NewReader(data)) }))
		whole = min(whole, took(func() { show(t, data) }))
	}
	t.Logf("%v, decoding alone %v", whole, alone)
	if float64(whole) > 1.6*float64(alone) {
		t.Errorf("%v, decoding alone takes %v", whole, alone)
	}
}

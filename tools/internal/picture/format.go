package picture

import (
	"bytes"
	"encoding/binary"
	"image/color"
	"strings"
)

// A Format is a type of picture by the name that users know; "" is none.
type Format string

// The formats that are told apart.
const (
	PNG  Format = "PNG"
	JPEG Format = "JPEG"
	GIF  Format = "GIF"
	WebP Format = "WebP"
	BMP  Format = "BMP"
	TIFF Format = "TIFF"
	HEIC Format = "HEIC"
	AVIF Format = "AVIF"
)

func (f Format) mime() string { return "image/" + strings.ToLower(string(f)) }

// article is what stands before the name.
func (f Format) article() string {
	if f == AVIF {
		return "an"
	}
	return "a"
}

// HeadSize is how many bytes of a file FormatOf looks at.
const HeadSize = 64

// FormatOf says what a file that begins with head is, by its signature.
func FormatOf(head []byte) Format {
	has := func(prefix string) bool { return bytes.HasPrefix(head, []byte(prefix)) }
	switch {
	case has("\x89PNG\r\n\x1a\n"):
		return PNG
	case has("\xff\xd8\xff"):
		return JPEG
	case has("GIF87a"), has("GIF89a"):
		return GIF
	case has("II*\x00"), has("MM\x00*"):
		return TIFF
	case has("RIFF") && len(head) >= 12 && string(head[8:12]) == "WEBP":
		return WebP
	case has("BM") && isBMP(head):
		return BMP
	case len(head) >= 12 && string(head[4:8]) == "ftyp":
		return brand(head)
	}
	return ""
}

// isBMP looks beyond the two letters of the signature: a text may begin with
// them.
func isBMP(head []byte) bool {
	if len(head) < 18 || binary.LittleEndian.Uint32(head[6:]) != 0 {
		return false
	}
	switch binary.LittleEndian.Uint32(head[14:]) {
	case 12, 40, 52, 56, 64, 108, 124:
		return true
	}
	return false
}

// brand tells the formats apart that are boxes of ISO 14496-12.
func brand(head []byte) Format {
	end := min(len(head), int(binary.BigEndian.Uint32(head)))
	for i := 8; i+4 <= end; i += 4 {
		switch string(head[i : i+4]) {
		case "avif", "avis":
			return AVIF
		case "heic", "heix", "heim", "heis", "hevc", "hevx":
			return HEIC
		}
	}
	if main := string(head[8:12]); main == "mif1" || main == "msf1" {
		return HEIC
	}
	return ""
}

// pixelBytes says how many bytes of memory a pixel takes while it is decoded,
// and whether hosts can be expected to show the colours as they are.
func pixelBytes(f Format, m color.Model, data []byte) (n float64, direct bool) {
	if f == JPEG {
		return jpegBytes(data)
	}
	if _, ok := m.(color.Palette); ok {
		return 1, true
	}
	switch m {
	case color.GrayModel, color.AlphaModel:
		return 1, true
	case color.Gray16Model, color.Alpha16Model:
		return 2, true
	case color.RGBA64Model, color.NRGBA64Model:
		return 8, true
	}
	return 4, true
}

// jpegBytes looks for the frame header of a JPEG: the coefficients of a
// progressive one are kept, four bytes each, until all have come.
func jpegBytes(data []byte) (n float64, direct bool) {
	for marker, seg := range jpegSegments(data) {
		if marker < 0xc0 || marker > 0xc2 || len(seg) < 6 {
			continue
		}
		parts := int(seg[5])
		if len(seg) < 6+3*parts || parts == 0 {
			break
		}
		var sum, most int
		for i := range parts {
			hv := seg[6+3*i+1]
			area := int(hv>>4) * int(hv&15)
			sum, most = sum+area, max(most, area)
		}
		n = float64(sum) / float64(max(1, most))
		if marker == 0xc2 {
			n *= 5
		}
		if parts == 4 {
			n += 4 // a copy as CMYK
		}
		return n, parts < 4
	}
	return 4, true
}
